/**
 * Reads:   Pipeline, which variables change, which objects outlive a request.
 * Gives:   how functions that run without a call in sight (getters, `toString`, `toJSON`) disturb what others hold, and
 *          the objects whose users may run them.
 */
import { isCall } from '../analyzer/call-graph.js';
import { type FunctionId, NOTHING, type OpId, type ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import type { RootId } from '../analyzer/roots.js';
import { Effect } from '../analyzer/summarise-effects.js';
import { everyRequest, type TokenId, UNKNOWN } from '../analyzer/tokens.js';

/** It changes something, or looks at what changes: nothing, its own object, anything else. */
type Unsettled = 'not' | 'itself' | 'beyond itself';

export interface ImplicitUse {
  readonly token: TokenId;
  readonly op: OpId;
}

export class ImplicitCalls {
  readonly #pipeline: Pipeline;
  readonly #isLasting: (id: TokenId) => boolean;
  readonly #changes: (variable: ValueId) => boolean;
  #heirs: ReadonlyMap<TokenId, readonly TokenId[]> | null = null;
  #lenders: ReadonlyMap<string | null, ReadonlySet<TokenId>> | null = null;
  #made: ReadonlyMap<FunctionId, readonly FunctionId[]> | null = null;

  constructor(pipeline: Pipeline, isLasting: (id: TokenId) => boolean, changes: (variable: ValueId) => boolean) {
    this.#pipeline = pipeline;
    this.#isLasting = isLasting;
    this.#changes = changes;
  }

  /** Objects whose use is no mere reading. */
  *uses(): Generator<ImplicitUse> {
    const { outsiders, effects, origins, facts } = this.#pipeline;
    const known = new Map<FunctionId, Unsettled>();
    for (const { fn, holder, maker } of outsiders.implicit) {
      let how = known.get(fn);
      if (how === undefined) known.set(fn, (how = this.#howUnsettled(fn, maker)));
      if (how === 'not') continue;
      const op = effects.ops.of(fn)[0] ?? 0;
      // An instance has the methods of its class, and what a helper defines on the class's prototype.
      const users = new Set([holder, facts.fn(fn).receiver].flatMap((value) => origins.tokensOf(value)));
      for (const token of users) {
        // What is lent runs on values that the package makes: none of them is seen to be its `this`.
        if (how === 'beyond itself' || this.#isLender(token)) for (const heir of this.#heirsOf(token)) users.add(heir);
        // What changes nothing but an object of its own request changes nothing that lasts.
        if (how === 'beyond itself' || (this.#isLasting(token) && !this.#isPrototype(token))) yield { token, op };
      }
    }
  }

  /** It changes something that is not its own, looks at what changes, or does what nobody knows; to call what it is given is its caller's affair. */
  isUnsettled(fn: FunctionId): boolean {
    return this.#howUnsettled(fn, null, (op) => this.#isGiven(fn, op)) === 'beyond itself';
  }

  /** A call of a parameter, or of a method of one, or of `this`. */
  #isGiven(fn: FunctionId, op: OpId): boolean {
    const { facts } = this.#pipeline;
    if (!isCall(facts.kind.get(op))) return false;
    const { receiver, params } = facts.fn(fn);
    const base = facts.a.get(op);
    return base === receiver || params.includes(base);
  }

  #heirsOf(prototype: TokenId): readonly TokenId[] {
    this.#heirs ??= this.#findHeirs();
    return this.#heirs.get(prototype) ?? [];
  }

  /** By what is inherited from: what does so. */
  #findHeirs(): ReadonlyMap<TokenId, readonly TokenId[]> {
    const { origins } = this.#pipeline;
    const found = new Map<TokenId, TokenId[]>();
    const lenders = (this.#lenders ??= this.#findLenders());
    const borrowers = this.#findBorrowers(lenders.keys());
    const add = (above: TokenId, id: TokenId): void => {
      const known = found.get(above);
      if (known === undefined) found.set(above, [id]);
      else known.push(id);
    };
    for (let id = 1; id < origins.tokens.length; id++) {
      const token = origins.tokens.get(id);
      if (token.kind === 'external')
        for (const above of [
          ...(lenders.get(token.shape.typeName) ?? none),
          ...(borrowers.get(token.shape.typeName) ?? none),
        ])
          add(above, id);
      if (token.kind !== 'object' || token.proto === NOTHING) continue;
      for (const above of origins.tokensOf(token.proto)) add(above, id);
    }
    return found;
  }

  #isLender(id: TokenId): boolean {
    this.#lenders ??= this.#findLenders();
    return [...this.#lenders.values()].some((tokens) => tokens.has(id));
  }

  /** By type: any of its values, as `this` of what is lent: `Object.assign(User.prototype, { toJSON() {…} })`. */
  #findBorrowers(types: Iterable<string | null>): ReadonlyMap<string | null, readonly TokenId[]> {
    const { tokens } = this.#pipeline.origins;
    const found = new Map<string | null, TokenId[]>([...types].map((type) => [type, []]));
    for (let id = 1; id < tokens.length; id++) {
      const token = tokens.get(id);
      if (token.kind === 'external' && token.site === everyRequest) found.get(token.shape.typeName)?.push(id);
    }
    return found;
  }

  /** By type: what lends to its values what the program puts there, and prototypes of classes that extend that. */
  #findLenders(): ReadonlyMap<string | null, ReadonlySet<TokenId>> {
    const { origins } = this.#pipeline;
    const found = new Map<string | null, Set<TokenId>>();
    const typesOf = (id: TokenId): readonly string[] => {
      const token = origins.tokens.get(id);
      if (token.kind !== 'external' || token.shape.member?.lends === undefined) return [];
      return [token.shape.member.lends];
    };
    for (let id = 1; id < origins.tokens.length; id++) {
      const above = new Set([id]);
      for (const each of above) {
        const token = origins.tokens.get(each);
        if (token.kind === 'object' && token.type === 'Prototype' && token.proto !== NOTHING)
          for (const next of origins.tokensOf(token.proto)) above.add(next);
      }
      for (const type of [...above].flatMap(typesOf)) {
        const known = found.get(type);
        if (known === undefined) found.set(type, new Set([id]));
        else known.add(id);
      }
    }
    return found;
  }

  /** What it has instances have, whoever makes these. */
  #isPrototype(id: TokenId): boolean {
    const token = this.#pipeline.origins.tokens.get(id);
    if (token.kind === 'external') return token.shape.member?.lends !== undefined;
    return token.kind === 'object' && token.type === 'Prototype';
  }

  /** By itself or by what it calls. */
  #howUnsettled(fn: FunctionId, maker: FunctionId | null, isSettled = (_op: OpId): boolean => false): Unsettled {
    const { effects } = this.#pipeline;
    const seen = new Set([fn]);
    // What runs within a call of it has the variables of that call.
    const within = new Set([fn]);
    let how: Unsettled = 'not';
    for (const next of seen) {
      const alone = this.#howAlone(next, within.has(next) ? fn : null, maker, isSettled);
      if (alone === 'beyond itself') return alone;
      if (next === fn) how = alone;
      for (const op of effects.ops.of(next))
        for (const callee of effects.executes(op)) {
          seen.add(callee);
          if (within.has(next)) within.add(callee);
        }
      // What it makes is what the user of the object gets (`get: (target, name) => (...args) => { … }`).
      for (const made of this.#madeIn(next)) seen.add(made);
    }
    return how;
  }

  #howAlone(
    fn: FunctionId,
    caller: FunctionId | null,
    maker: FunctionId | null,
    isSettled: (op: OpId) => boolean,
  ): Unsettled {
    let how: Unsettled = 'not';
    this.#pipeline.effects.each(fn, (kind, id, op, _at, value) => {
      if (kind === Effect.unknown && isSettled(op)) return;
      if (caller !== null && kind <= Effect.hand && this.#isFresh(id, caller)) return;
      if (this.#unsettlesOthers(kind, id, fn, maker, value)) how = 'beyond itself';
      else if (how === 'not' && kind !== Effect.read && !this.#isOwn(id, maker)) how = 'itself';
    });
    return how;
  }

  /** Functions that it makes, and that are called where nobody sees it. */
  #madeIn(fn: FunctionId): readonly FunctionId[] {
    this.#made ??= this.#findMade();
    return this.#made.get(fn) ?? [];
  }

  #findMade(): ReadonlyMap<FunctionId, readonly FunctionId[]> {
    const { facts, effects } = this.#pipeline;
    const made = new Map<FunctionId, FunctionId[]>();
    for (const { id, parent } of facts.functions) {
      if (parent === -1 || !effects.isEntry(id)) continue;
      const known = made.get(parent);
      if (known === undefined) made.set(parent, [id]);
      else known.push(id);
    }
    return made;
  }

  #unsettlesOthers(kind: number, id: RootId, fn: FunctionId, maker: FunctionId | null, value: ValueId): boolean {
    const { effects, graph, origins } = this.#pipeline;
    if (kind > Effect.hand) return true;
    if (id < 0)
      return value === 0 || origins.tokensOf(value).some((token) => token === UNKNOWN || this.#isLasting(token));
    const root = effects.roots.get(id);
    // What callees do to what they are given stands among the effects of their callers.
    if (root.base !== 'variable' || this.#isOwn(id, fn) || this.#isOwn(id, maker)) return false;
    return kind !== Effect.read || this.#changes(graph.aliases.get(root.id) ?? root.id);
  }

  /** A variable of this call of the function, which holds nothing that was there before it. */
  #isFresh(id: RootId, fn: FunctionId): boolean {
    if (!this.#isOwn(id, fn)) return false;
    const held = this.#pipeline.origins.tokensOf(this.#pipeline.effects.roots.get(id).id);
    return held.every((token) => token !== UNKNOWN && !this.#isLasting(token));
  }

  /** A variable of the function. */
  #isOwn(id: RootId, fn: FunctionId | null): boolean {
    if (id < 0 || fn === null) return false;
    const root = this.#pipeline.effects.roots.get(id);
    return root.base === 'variable' && this.#pipeline.facts.variables.ownerOf(root.id) === fn;
  }
}

const none: readonly TokenId[] = [];
