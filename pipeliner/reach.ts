/**
 * Reads:   tokens and their properties.
 * Gives:   the objects that can be reached from some objects through properties.
 */
import { FunctionFlag } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { everyRequest, type TokenId } from '../analyzer/tokens.js';
import type { LastingObjects } from './lasting-objects.js';

export interface Reached {
  readonly token: TokenId;
  /** The instance whose constructor made it, by which it is told apart; -1 for all else. */
  readonly within: TokenId;
}

const nothing: readonly Reached[] = [];

export class Reach {
  readonly #pipeline: Pipeline;
  readonly #lasting: LastingObjects;
  readonly #span: number;
  /** What is asked again and again: one token, by its number; several, by all of theirs. */
  readonly #ofOne = [new Map<TokenId, readonly Reached[]>(), new Map<TokenId, readonly Reached[]>()] as const;
  readonly #ofMany = [new Map<string, readonly Reached[]>(), new Map<string, readonly Reached[]>()] as const;

  constructor(pipeline: Pipeline, lasting: LastingObjects) {
    this.#pipeline = pipeline;
    this.#lasting = lasting;
    this.#span = pipeline.origins.tokens.length + 1;
  }

  /**
   * Functions close over variables, which have cells of their own. What a constructor makes for its instance is another
   * object for each instance: it is told apart by the instance it was reached through (`within`).
   */
  from(tokens: readonly TokenId[], deep: boolean): readonly Reached[] {
    if (tokens.length === 0) return nothing;
    if (tokens.length > 1) return this.#known(this.#ofMany[deep ? 1 : 0], tokens.join(' '), tokens, deep);
    return this.#known(this.#ofOne[deep ? 1 : 0], tokens[0] as TokenId, tokens, deep);
  }

  #known<Key>(
    memory: Map<Key, readonly Reached[]>,
    key: Key,
    tokens: readonly TokenId[],
    deep: boolean,
  ): readonly Reached[] {
    let reached = memory.get(key);
    if (reached === undefined)
      memory.set(key, (reached = this.#find(tokens, deep && !this.#pipeline.budget.isExhausted)));
    return reached;
  }

  #find(tokens: readonly TokenId[], deep: boolean): readonly Reached[] {
    const { origins, budget } = this.#pipeline;
    const found = new Map<number, Reached>();
    const seen = new Set<TokenId>();
    const queue: Reached[] = tokens.map((token) => ({ token, within: -1 }));
    while (queue.length > 0) {
      const next = queue.pop() as Reached;
      if (!budget.spend(4)) break;
      const token = origins.tokens.get(next.token);
      const isInstance =
        token.kind === 'external' && (token.site !== -1 || origins.tokens.knownProperties(next.token) !== undefined);
      if (!(token.kind === 'object' || token.kind === 'function' || isInstance)) continue;
      const representative = this.#lasting.representative(next.token);
      const key = representative * this.#span + next.within + 1;
      if (found.has(key)) continue;
      // Of a prototype only the data in it is state.
      const isPrototype = token.kind === 'object' && token.type === 'Prototype' && !tokens.includes(next.token);
      if (isPrototype) seen.add(next.token);
      else found.set(key, { token: representative, within: next.within });
      if (!deep) continue;
      const maker = token.kind === 'object' && token.type === 'Instance' ? next.token : next.within;
      const properties = origins.tokens.knownProperties(next.token);
      if (properties !== undefined)
        for (const value of properties.values()) this.#queue(origins.tokensOf(value), maker, seen, queue);
      if (token.kind === 'object' && token.proto !== 0) this.#queue(origins.tokensOf(token.proto), maker, seen, queue);
    }
    return found.size === 0 ? nothing : [...found.values()];
  }

  #queue(tokens: readonly TokenId[], maker: TokenId, seen: ReadonlySet<TokenId>, queue: Reached[]): void {
    for (const token of tokens) {
      if (this.#isPlace(token) && !seen.has(token)) queue.push({ token, within: this.#isOwn(token) ? maker : -1 });
    }
  }

  /** Something that holds state: functions have variables of their own, and requests are not the program's. */
  #isPlace(id: TokenId): boolean {
    const token = this.#pipeline.origins.tokens.get(id);
    return token.kind === 'object' || (token.kind === 'external' && token.site !== everyRequest);
  }

  /** Made by a constructor. */
  #isOwn(id: TokenId): boolean {
    const token = this.#pipeline.origins.tokens.get(id);
    if (token.kind !== 'object' && token.kind !== 'external') return false;
    const maker = token.kind === 'object' ? token.fn : token.site < 0 ? -1 : this.#pipeline.facts.owner.get(token.site);
    return maker >= 0 && (this.#pipeline.facts.fn(maker).flags & FunctionFlag.classConstructor) !== 0;
  }
}
