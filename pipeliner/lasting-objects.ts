/**
 * Reads:   Pipeline.
 * Gives:   the objects that outlive a request: made by start-up code, or reachable from what start-up code holds.
 *
 * Variables are how most code reaches its state, and what state is named after. But an object can also travel (on `req`, in
 * a closure's argument, through a list of listeners) to where no variable of start-up code is in sight; there it is known by
 * what it is.
 */
import type { PartId } from '../analyzer/cut-parts.js';
import { type FunctionId, Op, type ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { everyRequest, type Token, type TokenId, UNKNOWN } from '../analyzer/tokens.js';

export class LastingObjects {
  readonly #pipeline: Pipeline;
  /** 1 for each token that lasts. */
  readonly #lasting: Uint8Array;
  /** Data of requests that is kept in such objects, and in which. */
  readonly data = new Map<TokenId, Set<TokenId>>();
  /** One token for all values of a type of which there is one: whatever `req.app` is, it is the app. */
  readonly #representatives = new Map<string, TokenId>();
  /** Start-up puts them where the language finds them (`User.prototype.toJSON`), and runs none of them by that. */
  readonly #lent: ReadonlySet<FunctionId>;

  constructor(pipeline: Pipeline) {
    this.#pipeline = pipeline;
    this.#lent = findLent(pipeline);
    this.#lasting = new Uint8Array(pipeline.origins.tokens.length);
    const queue: TokenId[] = [];
    for (let id = 1; id < pipeline.origins.tokens.length; id++)
      if (this.#isMadeAtStart(pipeline.origins.tokens.get(id))) queue.push(id);
    queue.push(...this.#findFilledModules());
    for (const variable of pipeline.facts.variables.values()) {
      if (isStartUpOnly(pipeline.parts.runners.get(variable.owner)))
        queue.push(...pipeline.origins.tokensOf(variable.value));
    }
    this.#reach(queue);
  }

  #isMadeAtStart(token: Token): boolean {
    const maker = this.#makerOf(token);
    return maker !== null && !this.#lent.has(maker) && isStartUpOnly(this.#pipeline.parts.runners.get(maker));
  }

  /** What a package or Node exports, and the program stores something in, whoever asked for it. */
  #findFilledModules(): readonly TokenId[] {
    const { facts, origins } = this.#pipeline;
    const found = new Set<TokenId>();
    const { kind: kinds } = facts;
    for (let op = 0; op < kinds.length; op++) {
      if (kinds.get(op) !== Op.store || facts.d.get(op) === 1) continue;
      for (const id of origins.tokensOf(facts.a.get(op))) {
        const token = origins.tokens.get(id);
        // Globals are variables of their own.
        if (token.kind === 'external' && token.site === -1 && !/^(process)?$/.test(token.shape.package)) found.add(id);
      }
    }
    return [...found];
  }

  #makerOf(token: Token): FunctionId | null {
    if (token.kind === 'object') return token.fn;
    if (token.kind === 'function') return this.#pipeline.facts.fn(token.fn).parent;
    if (token.kind !== 'external' || token.site < 0) return null;
    return this.#pipeline.facts.owner.get(token.site);
  }

  #reach(queue: TokenId[]): void {
    const { origins } = this.#pipeline;
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
      const token = origins.tokens.get(id);
      if (id === UNKNOWN || this.#lasting[id] === 1 || this.#isOfRequest(token)) continue;
      this.#lasting[id] = 1;
      if (token.kind === 'bound') queue.push(token.target);
      const values: ValueId[] = [...(origins.tokens.knownProperties(id)?.values() ?? [])];
      if (token.kind === 'object' && token.proto !== 0) values.push(token.proto);
      for (const value of values)
        for (const held of origins.tokensOf(value)) {
          if (this.#isData(held)) this.#noteData(held, id);
          queue.push(held);
        }
    }
  }

  #isData(id: TokenId): boolean {
    const token = this.#pipeline.origins.tokens.get(id);
    return token.kind === 'external' && this.#pipeline.models.isData(token.shape);
  }

  #noteData(id: TokenId, holder: TokenId): void {
    const known = this.data.get(id);
    if (known === undefined) this.data.set(id, new Set([holder]));
    else known.add(holder);
  }

  #isOfRequest(token: Token): boolean {
    if (token.kind !== 'external') return false;
    if (token.site === everyRequest) return true;
    return (
      this.#pipeline.models.typeThat(token.shape, (type) => type.perRequest === true || type.travels === 'bridge') !==
      null
    );
  }

  has(id: TokenId): boolean {
    return this.#lasting[id] === 1 || this.isOneOfAKind(id);
  }

  isOneOfAKind(id: TokenId): boolean {
    const token = this.#pipeline.origins.tokens.get(id);
    return token.kind === 'external' && this.#pipeline.models.oneOf(token.shape) !== null;
  }

  representative(id: TokenId): TokenId {
    const token = this.#pipeline.origins.tokens.get(id);
    if (token.kind !== 'external') return id;
    const { models } = this.#pipeline;
    const name = models.oneOf(token.shape);
    if (name === null) return id;
    const known = this.#representatives.get(name);
    if (known !== undefined) return known;
    this.#representatives.set(name, id);
    this.#lasting[id] = 1;
    return id;
  }
}

function findLent({ outsiders, origins }: Pipeline): ReadonlySet<FunctionId> {
  const isLender = (id: TokenId, seen = new Set<TokenId>()): boolean => {
    const token = origins.tokens.get(id);
    if (token.kind === 'external') return token.shape.member?.lends !== undefined;
    // A class that extends what lends.
    if (token.kind !== 'object' || token.type !== 'Prototype' || seen.has(id)) return false;
    seen.add(id);
    return origins.tokensOf(token.proto).some((above) => isLender(above, seen));
  };
  return new Set(
    outsiders.implicit.flatMap(({ fn, holder, maker }) => {
      const holders = origins.tokensOf(holder);
      return maker === null && holders.length > 0 && holders.every((id) => isLender(id)) ? [fn] : [];
    }),
  );
}

function isStartUpOnly(runners: readonly PartId[] | undefined): boolean {
  return runners?.length === 1 && runners[0] === 0;
}
