/**
 * Reads:   tokens and their properties.
 * Gives:   the objects that can be reached from some objects through properties.
 */
import { ById } from '../analyzer/by-id.js';
import { isCall } from '../analyzer/call-graph.js';
import { type FunctionId, Op, type ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { everyRequest, type Token, type TokenId } from '../analyzer/tokens.js';
import type { LastingObjects } from './lasting-objects.js';

const nothing: readonly TokenId[] = [];

/** By token. */
interface Memory {
  get(token: TokenId): readonly TokenId[] | undefined;
  set(token: TokenId, list: readonly TokenId[]): unknown;
}

export class Reach {
  readonly #pipeline: Pipeline;
  readonly #lasting: LastingObjects;
  /** What is asked again and again: one token, by its number; several, by all of theirs. */
  #ofOne: readonly [Memory, Memory];
  readonly #ofMany = [new Map<string, readonly TokenId[]>(), new Map<string, readonly TokenId[]>()] as const;
  /** The same by the list itself: a value's list is asked for with each effect on it. */
  readonly #ofLists = [
    new Map<readonly TokenId[], readonly TokenId[]>(),
    new Map<readonly TokenId[], readonly TokenId[]>(),
  ] as const;
  #neighbours: Memory;
  /** All searches so far have been paid for, and some of them are made again. */
  #isFree = false;
  /** Number of the search in which a token was last queued, and found. */
  readonly #queued: Int32Array;
  readonly #found: Int32Array;
  #search = 0;
  #patched: ReadonlySet<TokenId> | null = null;
  #members: ReadonlyMap<string, readonly TokenId[]> | null = null;

  constructor(pipeline: Pipeline, lasting: LastingObjects) {
    this.#pipeline = pipeline;
    this.#lasting = lasting;
    const count = pipeline.origins.tokens.length;
    this.#ofOne = [new ById(count), new ById(count)];
    this.#neighbours = new ById(count);
    this.#queued = new Int32Array(count);
    this.#found = new Int32Array(count);
  }

  /** What was asked takes much room, and most of it is asked no more. */
  forget(): void {
    this.#isFree = true;
    this.#ofOne = [new Map(), new Map()];
    for (const memory of [...this.#ofMany, ...this.#ofLists]) memory.clear();
    this.#neighbours = new Map();
  }

  /** Functions close over variables, which have cells of their own. */
  from(tokens: readonly TokenId[], deep: boolean): readonly TokenId[] {
    if (tokens.length === 0) return nothing;
    if (tokens.length > 1) return this.#fromMany(tokens, deep);
    const [token] = tokens as readonly [TokenId];
    // A list of one is made for who asks, and is the same from now on for all who ask here.
    const other = this.#ofOne[deep ? 0 : 1].get(token);
    const list = other?.length === 1 && other[0] === token ? other : tokens;
    return this.#known(this.#ofOne[deep ? 1 : 0], token, list, deep);
  }

  #fromMany(tokens: readonly TokenId[], deep: boolean): readonly TokenId[] {
    const memory = this.#ofLists[deep ? 1 : 0];
    let reached = memory.get(tokens);
    if (reached === undefined) {
      reached = this.#known(this.#ofMany[deep ? 1 : 0], tokens.join(' '), tokens, deep);
      memory.set(tokens, reached);
    }
    return reached;
  }

  #known<Key>(
    memory: Pick<Map<Key, readonly TokenId[]>, 'get'> & { set(key: Key, reached: readonly TokenId[]): unknown },
    key: Key,
    tokens: readonly TokenId[],
    deep: boolean,
  ): readonly TokenId[] {
    let reached = memory.get(key);
    if (reached === undefined)
      memory.set(key, (reached = this.#find(tokens, deep && !this.#pipeline.budget.isExhausted)));
    return reached;
  }

  #find(tokens: readonly TokenId[], deep: boolean): readonly TokenId[] {
    const { origins, budget } = this.#pipeline;
    this.#search++;
    const found: TokenId[] = [];
    const queue: TokenId[] = [];
    for (const token of tokens) if (this.#isNew(this.#queued, token)) queue.push(token);
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
      const token = origins.tokens.get(id);
      const isInstance =
        token.kind === 'external' && (token.site !== -1 || origins.tokens.knownProperties(id) !== undefined);
      if (!(token.kind === 'object' || token.kind === 'function' || isInstance)) continue;
      // Of a prototype only the data in it is state.
      const isPrototype =
        token.kind === 'object' && token.type === 'Prototype' && !tokens.includes(id) && !this.#isPatched(id);
      const representative = this.#lasting.representative(id);
      if (!isPrototype && this.#isNew(this.#found, representative)) found.push(representative);
      if (!deep) continue;
      const neighbours = this.#neighboursOf(id);
      if (!this.#isFree && !budget.spend(1 + (neighbours.length >> 2))) break;
      for (const next of neighbours) if (this.#isNew(this.#queued, next)) queue.push(next);
    }
    // Most hold nothing that could be reached.
    if (found.length === 1 && tokens.length === 1 && found[0] === tokens[0]) return tokens;
    // A list that has grown has room for as many again as most of these hold, and there are some ten thousand.
    return found.length === 0 ? nothing : found.slice();
  }

  /** Code that runs after start-up puts another method there: which one an instance has is then state, too. */
  #isPatched(prototype: TokenId): boolean {
    this.#patched ??= findPatched(this.#pipeline);
    return this.#patched.has(prototype);
  }

  /** The first time in this search. */
  #isNew(marks: Int32Array, token: TokenId): boolean {
    if (marks[token] === this.#search) return false;
    marks[token] = this.#search;
    return true;
  }

  #neighboursOf(id: TokenId): readonly TokenId[] {
    let neighbours = this.#neighbours.get(id);
    if (neighbours === undefined) this.#neighbours.set(id, (neighbours = this.#findNeighbours(id)));
    return neighbours;
  }

  #findNeighbours(id: TokenId): readonly TokenId[] {
    const { tokens } = this.#pipeline.origins;
    const found = new Set<TokenId>();
    for (const value of tokens.knownProperties(id)?.values() ?? nothing) this.#addPlaces(value, found);
    const token = tokens.get(id);
    if (token.kind === 'object' && token.proto !== 0) this.#addPlaces(token.proto, found);
    if (token.kind === 'external') for (const member of this.#membersOf(token)) found.add(member);
    return found.size === 0 ? nothing : [...found];
  }

  /** What a model says that it has, where the program has put something: `app.locals`. */
  #membersOf({ shape, site }: Extract<Token, { kind: 'external' }>): readonly TokenId[] {
    this.#members ??= findMembers(this.#pipeline);
    return this.#members.get(`${site} ${shape.path}`) ?? nothing;
  }

  #addPlaces(value: ValueId, found: Set<TokenId>): void {
    const tokens = this.#pipeline.origins.tokensOf(value);
    if (!this.#isFree) this.#pipeline.budget.spend(1 + (tokens.length >> 2));
    for (const token of tokens) if (this.#isPlace(token)) found.add(token);
  }

  /** Something that holds state: functions have variables of their own, and requests are not the program's. */
  #isPlace(id: TokenId): boolean {
    const token = this.#pipeline.origins.tokens.get(id);
    return token.kind === 'object' || (token.kind === 'external' && token.site !== everyRequest);
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
    const values = tokens.knownProperties(id)?.values() ?? nothing;
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
  const { kind: kinds } = facts;
  for (let op = 0; op < kinds.length; op++) {
    const kind = kinds.get(op);
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
