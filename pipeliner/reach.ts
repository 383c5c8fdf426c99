/**
 * Reads:   tokens and their properties.
 * Gives:   the objects that can be reached from some objects through properties.
 */
import { isCall } from '../analyzer/call-graph.js';
import { FunctionFlag, type FunctionId, Op, type ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { everyRequest, type Token, type TokenId } from '../analyzer/tokens.js';
import type { LastingObjects } from './lasting-objects.js';

export interface Reached {
  readonly token: TokenId;
  /** The instance whose constructor made it, by which it is told apart; -1 for all else. */
  readonly within: TokenId;
}

const nothing: readonly Reached[] = [];
const none: readonly number[] = [];

/** Objects next to an object: each token, and whether a constructor made it, in one number. */
type Neighbours = readonly number[];

export class Reach {
  readonly #pipeline: Pipeline;
  readonly #lasting: LastingObjects;
  readonly #span: number;
  /** What is asked again and again: one token, by its number; several, by all of theirs. */
  readonly #ofOne = [new Map<TokenId, readonly Reached[]>(), new Map<TokenId, readonly Reached[]>()] as const;
  readonly #ofMany = [new Map<string, readonly Reached[]>(), new Map<string, readonly Reached[]>()] as const;
  /** The same by the list itself: a value's list is asked for with each effect on it. */
  readonly #ofLists = [
    new Map<readonly TokenId[], readonly Reached[]>(),
    new Map<readonly TokenId[], readonly Reached[]>(),
  ] as const;
  readonly #neighbours: (Neighbours | undefined)[];
  /** What is reached through no instance, as most is: one object for each token, however often it is found. */
  readonly #plain: (Reached | undefined)[];
  /** Number of the search in which a token was last queued, and found, without an instance. */
  readonly #queued: Int32Array;
  readonly #found: Int32Array;
  #search = 0;
  #patched: ReadonlySet<TokenId> | null = null;
  #members: ReadonlyMap<string, readonly TokenId[]> | null = null;

  constructor(pipeline: Pipeline, lasting: LastingObjects) {
    this.#pipeline = pipeline;
    this.#lasting = lasting;
    const count = pipeline.origins.tokens.length;
    this.#span = count + 1;
    this.#neighbours = new Array<Neighbours | undefined>(count).fill(undefined);
    this.#plain = new Array<Reached | undefined>(count).fill(undefined);
    this.#queued = new Int32Array(count);
    this.#found = new Int32Array(count);
  }

  /**
   * Functions close over variables, which have cells of their own. What a constructor makes for its instance is another
   * object for each instance: it is told apart by the instance it was reached through (`within`).
   */
  from(tokens: readonly TokenId[], deep: boolean): readonly Reached[] {
    if (tokens.length === 0) return nothing;
    if (tokens.length > 1) return this.#fromMany(tokens, deep);
    return this.#known(this.#ofOne[deep ? 1 : 0], tokens[0] as TokenId, tokens, deep);
  }

  #fromMany(tokens: readonly TokenId[], deep: boolean): readonly Reached[] {
    const memory = this.#ofLists[deep ? 1 : 0];
    let reached = memory.get(tokens);
    if (reached === undefined) {
      reached = this.#known(this.#ofMany[deep ? 1 : 0], tokens.join(' '), tokens, deep);
      memory.set(tokens, reached);
    }
    return reached;
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
    this.#search++;
    const found: Reached[] = [];
    const queue: Reached[] = [];
    /** Those within an instance, of which there are few. */
    const queuedWithin = new Set<number>();
    const foundWithin = new Set<number>();
    for (const token of tokens) if (this.#isNew(this.#queued, queuedWithin, token, -1)) queue.push(this.#at(token));
    while (queue.length > 0) {
      const next = queue.pop() as Reached;
      const token = origins.tokens.get(next.token);
      const isInstance =
        token.kind === 'external' && (token.site !== -1 || origins.tokens.knownProperties(next.token) !== undefined);
      if (!(token.kind === 'object' || token.kind === 'function' || isInstance)) continue;
      // Of a prototype only the data in it is state.
      const isPrototype =
        token.kind === 'object' &&
        token.type === 'Prototype' &&
        !tokens.includes(next.token) &&
        !this.#isPatched(next.token);
      const representative = this.#lasting.representative(next.token);
      if (!isPrototype && this.#isNew(this.#found, foundWithin, representative, next.within))
        found.push(next.within === -1 ? this.#at(representative) : { token: representative, within: next.within });
      if (!deep) continue;
      const maker = token.kind === 'object' && token.type === 'Instance' ? next.token : next.within;
      const neighbours = this.#neighboursOf(next.token);
      if (!budget.spend(1 + (neighbours.length >> 2))) break;
      for (let index = 0; index < neighbours.length; index++) {
        const neighbour = neighbours[index] as number;
        const within = (neighbour & 1) === 1 ? maker : -1;
        const to = neighbour >> 1;
        if (this.#isNew(this.#queued, queuedWithin, to, within))
          queue.push(within === -1 ? this.#at(to) : { token: to, within });
      }
    }
    return found.length === 0 ? nothing : found;
  }

  /** Code that runs after start-up puts another method there: which one an instance has is then state, too. */
  #isPatched(prototype: TokenId): boolean {
    this.#patched ??= findPatched(this.#pipeline);
    return this.#patched.has(prototype);
  }

  #at(token: TokenId): Reached {
    return (this.#plain[token] ??= { token, within: -1 });
  }

  /** The first time in this search. */
  #isNew(plain: Int32Array, others: Set<number>, token: TokenId, within: TokenId): boolean {
    if (within === -1) {
      if (plain[token] === this.#search) return false;
      plain[token] = this.#search;
      return true;
    }
    const key = token * this.#span + within;
    if (others.has(key)) return false;
    others.add(key);
    return true;
  }

  #neighboursOf(id: TokenId): Neighbours {
    return (this.#neighbours[id] ??= this.#findNeighbours(id));
  }

  #findNeighbours(id: TokenId): Neighbours {
    const { tokens } = this.#pipeline.origins;
    const found = new Set<number>();
    for (const value of tokens.knownProperties(id)?.values() ?? none) this.#addPlaces(value, found);
    const token = tokens.get(id);
    if (token.kind === 'object' && token.proto !== 0) this.#addPlaces(token.proto, found);
    if (token.kind === 'external')
      for (const member of this.#membersOf(token)) found.add(member * 2 + (this.#isOwn(member) ? 1 : 0));
    return found.size === 0 ? none : [...found];
  }

  /** What a model says that it has, where the program has put something: `app.locals`. */
  #membersOf({ shape, site }: Extract<Token, { kind: 'external' }>): readonly TokenId[] {
    this.#members ??= findMembers(this.#pipeline);
    return this.#members.get(`${site} ${shape.path}`) ?? none;
  }

  #addPlaces(value: ValueId, found: Set<number>): void {
    const tokens = this.#pipeline.origins.tokensOf(value);
    this.#pipeline.budget.spend(1 + (tokens.length >> 2));
    for (const token of tokens) if (this.#isPlace(token)) found.add(token * 2 + (this.#isOwn(token) ? 1 : 0));
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

/** Those that hold something, by the site and the path of what has them. */
function findMembers({ origins: { tokens, tokensOf } }: Pipeline): ReadonlyMap<string, readonly TokenId[]> {
  const found = new Map<string, TokenId[]>();
  const isMade = (id: TokenId): boolean => {
    const token = tokens.get(id);
    return token.kind === 'object' || (token.kind === 'external' && token.site >= 0);
  };
  for (let id = 0; id < tokens.length; id++) {
    const token = tokens.get(id);
    if (token.kind !== 'external' || token.site === everyRequest) continue;
    const dot = token.shape.path.lastIndexOf('.');
    if (dot === -1) continue;
    const values = tokens.knownProperties(id)?.values() ?? none;
    if (![...values].some((value) => tokensOf(value).some(isMade))) continue;
    const key = `${token.site} ${token.shape.path.slice(0, dot)}`;
    const known = found.get(key);
    if (known === undefined) found.set(key, [id]);
    else known.push(id);
  }
  return found;
}

/** Prototypes that functions which start-up is not alone to run store something in, or hand to a call. */
function findPatched({ facts, origins, parts, outsiders }: Pipeline): ReadonlySet<TokenId> {
  const found = new Set<TokenId>();
  const note = (value: ValueId): void => {
    for (const id of origins.tokensOf(value)) {
      const token = origins.tokens.get(id);
      if (token.kind === 'object' && token.type === 'Prototype') found.add(id);
    }
  };
  const later = (fn: FunctionId): boolean =>
    outsiders.functions.has(fn) || parts.runners.get(fn)?.some((part) => part !== 0) === true;
  const kinds = facts.kind.entries();
  for (let op = 0; op < kinds.length; op++) {
    const kind = kinds[op] as number;
    const isStore = kind === Op.store && facts.d.get(op) !== 1;
    if ((!isStore && !isCall(kind)) || !later(facts.owner.get(op))) continue;
    if (isStore) note(facts.a.get(op));
    else {
      const call = facts.d.get(op);
      for (let index = 0; index < facts.callCount.get(call); index++) note(facts.argument(call, index));
    }
  }
  return found;
}
