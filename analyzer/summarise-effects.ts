/**
 * What each function does to what it can reach.
 *
 * Reads:   facts, origins, rupture points, models.
 * Gives:   Effects: for each function the things it reads, changes and calls without anyone knowing what that does.
 *
 * Functions are taken callees first. What a callee does to its parameters and to `this` is repeated for the arguments and
 * the receiver of each call; what it does to variables stays with it, and is gathered when parts are put together. Calls
 * in a circle are repeated until nothing new is found.
 */
import type { Call } from '../models/types.js';
import type { Budget } from './budget.js';
import { calleesFirst, isCall, OpsByFunction } from './call-graph.js';
import {
  ANY_PROPERTY,
  type Facts,
  type FunctionFact,
  FunctionFlag,
  type FunctionId,
  NOTHING,
  Op,
  type OpId,
  type ValueId,
} from './facts.js';
import type { Ruptures } from './find-rupture-points.js';
import { IntList } from './int-list.js';
import { methodByName } from './method-by-name.js';
import { type Models, type Ref, registersNothing, type Shape } from './models.js';
import { type RootId, RootTable } from './roots.js';
import { everyRequest, type TokenId } from './tokens.js';
import type { Origins } from './trace-origins.js';

export const Effect = {
  /** a variable or a field of `this` is read */
  read: 0,
  /** it is bound to another value */
  write: 1,
  /** something within its value is changed */
  mutate: 2,
  /** its value is handed to code that may do anything to it */
  hand: 3,
  /** a call that nobody knows */
  unknown: 4,
  /** a call of something with hidden state that all callers share */
  stateful: 5,
  /** acts on the process as a whole */
  process: 6,
  /** eval, with */
  opaque: 7,
} as const;

export interface Effects {
  readonly roots: RootTable;
  /** Calls `visit` with each effect of the function itself, callees' effects on arguments and receiver included. A change
   *  has a root of -1 and the value that holds what is changed, where no root says all of it. */
  each(fn: FunctionId, visit: (kind: number, root: RootId, op: OpId, at: OpId, value: ValueId) => void): void;
  /** The value may be (part of) a parameter or `this`: whoever calls the function answers for it. */
  isGiven(value: ValueId, fn: FunctionId): boolean;
  /** The function is called by others than code that the analysis follows: its parameters come from nowhere. */
  isEntry(fn: FunctionId): boolean;
  /** Variables that share what they hold with another, as far as the function that declares them can tell. */
  readonly aliases: ReadonlyMap<ValueId, readonly ValueId[]>;
  /** Functions that run as part of the op: callees, callbacks run in place, and callbacks that code without a model
   *  may run. */
  executes(op: OpId): readonly FunctionId[];
  readonly ops: OpsByFunction;
  /** Variables that hold a function's `this` and nothing else. */
  readonly thisAliases: ReadonlyMap<ValueId, ValueId>;
}

export function summariseEffects(
  facts: Facts,
  origins: Origins,
  ruptures: Ruptures,
  models: Models,
  budget: Budget,
): Effects {
  const summariser = new Summariser(facts, origins, ruptures, models, budget);
  summariser.run();
  return summariser.effects();
}

interface Summary {
  /** Effects on parameters and `this`, by kind and root, with an op to show for it. */
  readonly effects: Map<number, { readonly op: OpId; readonly value: ValueId }>;
  readonly returnsSelf: Set<RootId>;
  readonly returnsInner: Set<RootId>;
  /** Parameter roots that end up within other roots. */
  readonly keeps: Map<RootId, Set<RootId>>;
}

type Argument = (index: number) => ValueId;

const noArgument: Argument = () => NOTHING;
const noRoots: readonly RootId[] = [];
const kinds = 8;

class Summariser {
  readonly #budget: Budget;
  readonly #facts: Facts;
  readonly #origins: Origins;
  readonly #ruptures: Ruptures;
  readonly #models: Models;
  readonly #roots = new RootTable();
  readonly #ops: OpsByFunction;
  readonly #summaries = new Map<FunctionId, Summary>();
  readonly #thisAliases: Map<ValueId, ValueId>;
  readonly #receivers = new Set<ValueId>();
  readonly #executes = new Map<OpId, readonly FunctionId[]>();

  // Effects of all functions, in columns; `first`/`last` by function.
  readonly #kind = new IntList(4096);
  readonly #root = new IntList(4096);
  readonly #op = new IntList(4096);
  readonly #at = new IntList(4096);
  readonly #value = new IntList(4096);
  readonly #given: Uint8Array;
  readonly #entries: Uint8Array;
  readonly #lost = new Set<FunctionId>();
  readonly #aliases = new Map<ValueId, ValueId[]>();
  readonly #first: Int32Array;
  readonly #last: Int32Array;

  // The function being looked at.
  #fn!: FunctionFact;
  #summary!: Summary;
  #self = new Map<ValueId, RootId[]>();
  #inner = new Map<ValueId, RootId[]>();
  #params = new Map<ValueId, number>();
  #changed = false;
  #moved = false;
  #recording = false;

  constructor(facts: Facts, origins: Origins, ruptures: Ruptures, models: Models, budget: Budget) {
    this.#budget = budget;
    this.#facts = facts;
    this.#origins = origins;
    this.#ruptures = ruptures;
    this.#models = models;
    this.#ops = new OpsByFunction(facts);
    this.#first = new Int32Array(facts.functions.length);
    this.#last = new Int32Array(facts.functions.length);
    for (const fn of facts.functions) this.#receivers.add(fn.receiver);
    this.#given = new Uint8Array(facts.valueCount + 1);
    this.#entries = this.#findEntries();
    for (const fn of facts.functions) for (const value of [fn.receiver, ...fn.params]) this.#given[value] = 1;
    this.#thisAliases = this.#findThisAliases();
  }

  effects(): Effects {
    const facts = this.#facts;
    return {
      roots: this.#roots,
      each: (fn, visit) => {
        for (let at = this.#first[fn] as number; at < (this.#last[fn] as number); at++) {
          visit(this.#kind.get(at), this.#root.get(at), this.#op.get(at), this.#at.get(at), this.#value.get(at));
        }
      },
      executes: (op) => this.#executes.get(op) ?? this.#origins.calleesOf(op),
      ops: this.#ops,
      thisAliases: this.#thisAliases,
      isGiven: (value, fn) => this.#isGivenTo(value, facts.fn(fn)),
      isEntry: (fn) => this.#entries[fn] === 1,
      aliases: this.#aliases,
    };
  }

  #findEntries(): Uint8Array {
    const entries = new Uint8Array(this.#facts.functions.length).fill(1);
    for (let op = 0; op < this.#facts.kind.length; op++) {
      for (const callee of this.#origins.calleesOf(op)) entries[callee] = 0;
      for (const callee of this.#origins.inPlaceOf(op)) entries[callee] = 0;
    }
    for (const point of this.#ruptures.points) for (const { fn } of point.callbacks) entries[fn] = 1;
    for (const fn of this.#origins.escaped) entries[fn] = 1;
    return entries;
  }

  /** `const self = this` */
  #findThisAliases(): Map<ValueId, ValueId> {
    const aliases = new Map<ValueId, ValueId>();
    const assigned = new Set<ValueId>();
    for (let op = 0; op < this.#facts.kind.length; op++) {
      if (this.#facts.kind.get(op) !== Op.copy) continue;
      const [from, to] = [this.#facts.a.get(op), this.#facts.b.get(op)];
      if (this.#receivers.has(from) && !assigned.has(to) && this.#facts.variables.has(to)) aliases.set(to, from);
      else aliases.delete(to);
      assigned.add(to);
    }
    return aliases;
  }

  run(): void {
    for (const component of calleesFirst(this.#facts, this.#ops, this.#origins)) {
      for (const fn of component) this.#summaries.set(fn, emptySummary());
      // Each round can only add; a circle settles within a few.
      for (let round = 0; component.length > 1 && round < 40; round++) {
        this.#changed = false;
        for (const fn of component) this.#lookAt(fn, false);
        if (!this.#changed) break;
      }
      for (const fn of component) this.#lookAt(fn, true);
    }
  }

  /** Values move forwards in the source but for loops, hoisting and recursion: steps are repeated until nothing moves. */
  #lookAt(id: FunctionId, record: boolean): void {
    this.#fn = this.#facts.fn(id);
    this.#summary = this.#summaries.get(id) as Summary;
    this.#self = new Map();
    this.#inner = new Map();
    this.#params = new Map(this.#fn.params.map((param, index) => [param, index]));
    const ops = this.#ops.of(id);
    this.#first[id] = this.#kind.length;
    for (let round = 0; round < 40; round++) {
      this.#moved = false;
      this.#recording = record;
      this.#truncate(this.#first[id] as number);
      this.#lost.delete(id);
      this.#lost.delete(id);
      for (const op of ops) this.#step(op);
      if (!this.#moved || !record) break;
    }
    this.#last[id] = this.#kind.length;
    if (record) this.#noteAliases();
  }

  #noteAliases(): void {
    for (const [value, roots] of [...this.#self, ...this.#inner]) {
      if (!this.#facts.variables.has(value)) continue;
      for (const root of roots) {
        const { base, id } = this.#roots.get(root);
        if (base !== 'variable' || id === value) continue;
        const known = this.#aliases.get(value);
        if (known === undefined) this.#aliases.set(value, [id]);
        else if (!known.includes(id)) known.push(id);
      }
    }
  }

  #truncate(length: number): void {
    for (const column of [this.#kind, this.#root, this.#op, this.#at, this.#value]) column.length = length;
  }

  // ------------------------------------------------------------------------------------------------- roots

  #selfOf(value: ValueId): readonly RootId[] {
    if (value === NOTHING) return noRoots;
    const alias = this.#thisAliases.get(value);
    if (alias !== undefined) return this.#selfOf(alias);
    if (this.#receivers.has(value)) {
      const own = value === this.#fn.receiver && (this.#fn.flags & FunctionFlag.arrow) === 0;
      return [own ? this.#roots.this() : this.#roots.variable(value)];
    }
    const found = this.#self.get(value) ?? noRoots;
    const param = this.#params.get(value);
    const own =
      param !== undefined
        ? this.#roots.param(param)
        : this.#facts.variables.has(value)
          ? this.#roots.variable(value)
          : -1;
    if (own === -1) return found;
    return found.length === 0 ? [own] : [own, ...found];
  }

  #innerOf(value: ValueId): readonly RootId[] {
    return this.#inner.get(value) ?? noRoots;
  }

  #contentsOf(value: ValueId): readonly RootId[] {
    const self = this.#selfOf(value);
    const inner = this.#innerOf(value);
    if (self.length === 0 && inner.length === 0) return noRoots;
    return [...self, ...inner].map((root) => this.#roots.deep(root));
  }

  #addSelf(value: ValueId, roots: readonly RootId[]): void {
    if ((this.#self.get(value)?.length ?? 0) >= mostRoots) this.#loseTrack();
    if (!addAll(this.#self, value, roots)) return;
    this.#moved = true;
    if (this.#given[value] === 0 && roots.some((root) => this.#roots.get(root).base !== 'variable'))
      this.#given[value] = 1;
  }

  #addInner(value: ValueId, roots: readonly RootId[]): void {
    if ((this.#inner.get(value)?.length ?? 0) >= mostRoots) this.#loseTrack();
    if (addAll(this.#inner, value, roots)) this.#moved = true;
  }

  /** A value may be part of more things than can be told apart. Start-up code changes nothing later; any other function may
   *  then change anything. */
  #loseTrack(): void {
    if (!this.#recording || this.#lost.has(this.#fn.id) || this.#fn.parent === -1) return;
    this.#lost.add(this.#fn.id);
    this.#push(Effect.opaque, -1, this.#ops.of(this.#fn.id)[0] ?? 0, this.#ops.of(this.#fn.id)[0] ?? 0, NOTHING);
  }

  // ------------------------------------------------------------------------------------------------ effects

  /** `at` is the op of this function, `op` the one that really does it, perhaps in a callee. */
  #effect(kind: number, root: RootId, op: OpId, at: OpId, value: ValueId = NOTHING): void {
    if (root >= 0 && this.#roots.get(root).base !== 'variable') {
      const key = root * kinds + kind;
      if (!this.#summary.effects.has(key)) {
        this.#summary.effects.set(key, { op, value });
        this.#changed = true;
      }
    }
    if (this.#recording) this.#push(kind, root, op, at, value);
  }

  #push(kind: number, root: RootId, op: OpId, at: OpId, value: ValueId): void {
    this.#kind.push(kind);
    this.#root.push(root);
    this.#op.push(op);
    this.#at.push(at);
    this.#value.push(value);
  }

  /** What `value` holds is changed: by its roots, and by what it may be. */
  #change(kind: number, value: ValueId, op: OpId): void {
    if (value === NOTHING) return;
    for (const root of this.#selfOf(value)) this.#effect(kind, root, op, op, value);
    this.#changeObject(kind, value, op, op);
  }

  /** Whoever gives a parameter answers for what is done to it, unless nobody is known to give it; and a variable at the top
   *  of a module answers for what it holds. For all else the object itself has to. */
  #changeObject(kind: number, value: ValueId, op: OpId, at: OpId): void {
    const roots = this.#selfOf(value);
    const given = this.#isGivenTo(value, this.#fn) && this.#entries[this.#fn.id] === 0;
    // A parameter may have its default as well, of which no caller knows.
    if (!given || roots.some((root) => this.#isOfOuterFunction(root)))
      this.#changeUnanswered(kind, value, roots, op, at);
  }

  #isOfOuterFunction(root: RootId): boolean {
    const { base, id } = this.#roots.get(root);
    if (base !== 'variable') return false;
    const owner = this.#facts.variables.get(id)?.owner;
    // What no variable holds: see `isGivenElse`.
    if (owner === undefined) return !this.#receivers.has(id);
    return owner >= 0 && owner !== this.#fn.id && this.#facts.fn(owner).parent !== -1;
  }

  /** The same for a value of a callee, of which `roots` is what it is here. */
  #changeObjectOf(kind: number, value: ValueId, roots: readonly RootId[], op: OpId, at: OpId): void {
    const isGiven = (root: RootId): boolean =>
      this.#roots.get(root).base !== 'variable' && this.#entries[this.#fn.id] === 0;
    if (roots.length > 0 && roots.every(isGiven)) return;
    this.#changeUnanswered(
      kind,
      value,
      roots.filter((root) => !isGiven(root)),
      op,
      at,
    );
  }

  #changeUnanswered(kind: number, value: ValueId, roots: readonly RootId[], op: OpId, at: OpId): void {
    if (!this.#recording || value === NOTHING) return;
    const tokens = this.#origins.tokensOf(value);
    const isFunction = tokens.some((id) => this.#origins.tokens.functionOf(id) !== null);
    if (roots.length > 0 && !isFunction && roots.every((root) => this.#isOfModule(root))) return;
    if (tokens.length >= tooManyTokens) this.#loseTrack();
    if (tokens.length > 0) this.#push(kind, -1, op, at, value);
  }

  /** (Part of) a parameter or `this` of that very function: a function within it gets it from nobody. */
  #isGivenTo(value: ValueId, fn: FunctionFact): boolean {
    if (this.#given[value] !== 1) return false;
    if (this.#receivers.has(value)) return value === fn.receiver && (fn.flags & FunctionFlag.arrow) === 0;
    const owner = this.#facts.variables.get(value)?.owner;
    return owner === undefined || owner === fn.id;
  }

  #isOfModule(root: RootId): boolean {
    const { base, id } = this.#roots.get(root);
    const owner = base === 'variable' ? this.#facts.variables.get(id)?.owner : undefined;
    return owner !== undefined && owner >= 0 && this.#facts.fn(owner).parent === -1;
  }

  #step(op: OpId): void {
    const facts = this.#facts;
    const a = facts.a.get(op);
    const b = facts.b.get(op);
    const kind = facts.kind.get(op);
    switch (kind) {
      case Op.copy:
        return this.#copy(a, b);
      case Op.load:
        return this.#load(op, a, b, facts.c.get(op));
      case Op.store:
        return this.#store(op, a, b, facts.c.get(op), facts.d.get(op) === 1);
      case Op.copyProperties:
        this.#addInner(b, this.#contentsOf(a));
        if (facts.d.get(op) !== 1) this.#change(Effect.mutate, b, op);
        return;
      case Op.read:
        return this.#effect(Effect.read, this.#variableRoot(a), op, op);
      case Op.write:
        return this.#effect(Effect.write, this.#variableRoot(a), op, op);
      case Op.return:
        return this.#return(a);
      case Op.await:
        return this.#copy(a, b);
      case Op.opaque:
        return this.#effect(Effect.opaque, -1, op, op);
      default:
        if (isCall(kind)) this.#call(op, kind, a, b);
    }
  }

  #variableRoot(variable: ValueId): RootId {
    return this.#roots.variable(this.#thisAliases.get(variable) ?? variable);
  }

  #copy(from: ValueId, to: ValueId): void {
    this.#addSelf(to, this.#selfOf(from));
    if (this.#isGivenElse(from, this.#selfOf(to))) this.#addSelf(to, [this.#roots.variable(from)]);
    this.#addInner(to, this.#innerOf(from));
    if (!this.#facts.variables.has(to)) return;
    // From now on the value is also reached through the variable.
    this.#link(from, [this.#roots.variable(to)]);
  }

  /** A second source beside what is given: a default, of which no caller knows. It has no root but itself. */
  #isGivenElse(value: ValueId, others: Iterable<RootId>): boolean {
    if (value === NOTHING || this.#selfOf(value).length > 0) return false;
    const isGiven = [...others].some((root) => this.#roots.get(root).base !== 'variable');
    return isGiven && this.#origins.tokensOf(value).some((id) => !this.#isMadeHere(id));
  }

  #isMadeHere(id: TokenId): boolean {
    const token = this.#origins.tokens.get(id);
    if (token.kind === 'external') return token.site >= 0 && this.#facts.owner.get(token.site) === this.#fn.id;
    return token.kind === 'object' && token.fn === this.#fn.id;
  }

  /** What `value` is becomes part of `roots`: changing it through any name changes those. */
  #link(value: ValueId, roots: readonly RootId[]): void {
    if (value === NOTHING || roots.length === 0) return;
    for (const root of this.#selfOf(value)) {
      if (this.#roots.get(root).base !== 'variable') this.#keep(root, roots);
    }
    this.#addSelf(value, roots);
  }

  #keep(param: RootId, into: readonly RootId[]): void {
    let kept = this.#summary.keeps.get(param);
    if (kept === undefined) this.#summary.keeps.set(param, (kept = new Set()));
    for (const root of into) {
      if (root === param || kept.has(root)) continue;
      if (kept.size >= mostRoots) return this.#loseTrack();
      kept.add(root);
      this.#changed = true;
    }
  }

  /** Fields are told apart on `this` itself, and on nothing else. */
  #hasFields(root: RootId): boolean {
    const { base, id, field, deep } = this.#roots.get(root);
    return field === -1 && !deep && (base === 'this' || (base === 'variable' && this.#receivers.has(id)));
  }

  /** The program's own properties of what a request leads to and what outlives it: `req.socket.hits`. */
  #outlivesRequest(base: ValueId, atom: number): boolean {
    return this.#origins.tokensOf(base).some((id) => {
      const token = this.#origins.tokens.get(id);
      if (token.kind !== 'external' || token.site !== everyRequest) return false;
      if (this.#models.typeThat(token.shape, (type) => type.outlivesRequest === true) === null) return false;
      const member = atom === ANY_PROPERTY ? null : this.#models.member(token.shape, this.#facts.atomName(atom));
      return member === null || this.#models.isUnknown(member);
    });
  }

  /** A value that may be more things than are told apart: what is read of it may be any state. */
  #readTooMany(op: OpId, value: ValueId): void {
    if (this.#recording && this.#origins.tokensOf(value).length >= tooManyTokens)
      this.#push(Effect.unknown, -1, op, op, NOTHING);
  }

  #load(op: OpId, base: ValueId, to: ValueId, atom: number): void {
    this.#readTooMany(op, base);
    if (this.#isEnvironment(base)) return;
    if (this.#outlivesRequest(base, atom)) this.#effect(Effect.stateful, -1, op, op);
    for (const root of this.#selfOf(base)) {
      const within =
        this.#hasFields(root) && atom !== ANY_PROPERTY ? this.#roots.field(root, atom) : this.#roots.deep(root);
      if (this.#hasFields(root)) this.#effect(Effect.read, within, op, op);
      this.#addSelf(to, [within]);
    }
    this.#addSelf(to, this.#innerOf(base));
    this.#addInner(to, this.#innerOf(base));
    // A getter is a call.
    for (const callee of this.#origins.calleesOf(op)) this.#apply(op, callee, base, noArgument, to);
  }

  /** `process.env`: what is read from it is text, and part of nothing. */
  #isEnvironment(base: ValueId): boolean {
    const tokens = this.#origins.tokensOf(base);
    const token = tokens.length === 1 ? this.#origins.tokens.get(tokens[0] as TokenId) : null;
    return token?.kind === 'external' && this.#models.isEnvironment(token.shape);
  }

  #store(op: OpId, base: ValueId, value: ValueId, atom: number, isNew: boolean): void {
    const deep: RootId[] = [];
    if (this.#outlivesRequest(base, atom)) this.#effect(Effect.stateful, -1, op, op);
    for (const root of this.#selfOf(base)) {
      const field = this.#hasFields(root) && atom !== ANY_PROPERTY ? this.#roots.field(root, atom) : -1;
      if (!isNew) this.#effect(field === -1 ? Effect.mutate : Effect.write, field === -1 ? root : field, op, op, base);
      deep.push(field === -1 ? this.#roots.deep(root) : field);
    }
    if (!isNew && base !== this.#fn.receiver) this.#changeObject(Effect.mutate, base, op, op);
    if (value === NOTHING) return;
    this.#addInner(base, this.#selfOf(value));
    this.#addInner(base, this.#innerOf(value));
    this.#link(value, deep);
  }

  #return(value: ValueId): void {
    for (const root of this.#selfOf(value)) this.#note(this.#summary.returnsSelf, root);
    if (this.#isGivenElse(value, this.#summary.returnsSelf))
      this.#note(this.#summary.returnsSelf, this.#roots.variable(value));
    for (const root of this.#innerOf(value)) this.#note(this.#summary.returnsInner, root);
  }

  #note(set: Set<RootId>, root: RootId): void {
    if (set.has(root)) return;
    if (set.size >= mostRoots) return this.#loseTrack();
    set.add(root);
    this.#changed = true;
  }

  // -------------------------------------------------------------------------------------------------- calls

  #call(op: OpId, kind: number, base: ValueId, to: ValueId): void {
    const facts = this.#facts;
    const call = facts.d.get(op);
    const bound = this.#origins.receiverOf.get(op);
    const receiver = bound ?? (kind === Op.method ? base : kind === Op.call ? facts.c.get(op) : NOTHING);
    const shift = bound === undefined ? 0 : 1;
    const inOrder = facts.callSpread.get(call) < 0 && !this.#isRearranged(op);
    const argument = inOrder ? (index: number): ValueId => facts.argument(call, index + shift) : null;
    this.#readTooMany(op, receiver);
    for (let index = 0; index < facts.callCount.get(call); index++) this.#readTooMany(op, facts.argument(call, index));
    const callees = this.#origins.calleesOf(op);
    for (const callee of callees) this.#apply(op, callee, receiver, argument, to);
    for (const callee of this.#origins.inPlaceOf(op)) this.#applyInPlace(op, callee, receiver);
    // A generator is another one behind each step.
    if (kind === Op.method && this.#isGenerator(base)) this.#change(Effect.mutate, base, op);
    this.#callOutside(op, receiver, to, callees.length > 0);
  }

  #isGenerator(value: ValueId): boolean {
    return this.#origins.tokensOf(value).some((id) => {
      const token = this.#origins.tokens.get(id);
      return token.kind === 'object' && token.type === 'Generator';
    });
  }

  /** `f.apply(x, list)` and bound functions: the arguments are not in the order in which they stand. */
  #isRearranged(op: OpId): boolean {
    if (this.#facts.kind.get(op) === Op.method && this.#facts.atomName(this.#facts.c.get(op)) === 'apply') return true;
    return this.#origins.calleeTokens(op).some((id) => {
      const token = this.#origins.tokens.get(id);
      return token.kind === 'bound' && token.args.length > 0;
    });
  }

  /** What the callee does to its parameters it does to the arguments. `argument` is null where it is not known which one
   *  goes to which parameter: then it is what the parameters hold that counts. */
  #apply(op: OpId, callee: FunctionId, receiver: ValueId, argument: Argument | null, to: ValueId): void {
    const summary = this.#summaries.get(callee);
    if (summary === undefined || !this.#budget.spend(1 + summary.effects.size + summary.keeps.size)) return;
    const isNew = this.#facts.kind.get(op) === Op.construct;
    const self = isNew ? to : receiver;
    for (const [key, effect] of summary.effects) {
      const root = Math.floor(key / kinds);
      const { base, deep, field } = this.#roots.get(root);
      // What a constructor does to the object that it makes changes nothing that was there before.
      if (isNew && base === 'this') continue;
      const kind = key % kinds;
      // A field that is bound anew changes the object itself; a change within a field's value is elsewhere.
      const isNamed = base !== 'this' || self !== NOTHING;
      const isExact = isNamed && argument !== null && !deep && (field === -1 || kind === Effect.write);
      const exact = isExact ? this.#valueOf(root, self, argument) : effect.value;
      const actual = this.#actual(root, self, argument);
      for (const mapped of actual) this.#effect(kind, mapped, effect.op, op, exact);
      if (kind === Effect.read) continue;
      if (isExact) this.#changeObject(kind, exact, effect.op, op);
      else this.#changeObjectOf(kind, exact, actual, effect.op, op);
    }
    const order = argument ?? noArgument;
    for (const [root, into] of summary.keeps) {
      const value = this.#valueOf(root, receiver, order);
      this.#link(
        value,
        [...into].flatMap((target) => this.#actual(target, self, argument)),
      );
      for (const target of into) this.#addInner(this.#valueOf(target, self, order), this.#selfOf(value));
    }
    for (const root of summary.returnsSelf) this.#addSelf(to, this.#actual(root, self, argument));
    for (const root of summary.returnsInner) this.#addInner(to, this.#actual(root, self, argument));
  }

  #valueOf(root: RootId, receiver: ValueId, argument: Argument): ValueId {
    const { base, id } = this.#roots.get(root);
    if (base === 'param') return argument(id);
    return base === 'this' ? receiver : NOTHING;
  }

  #actual(root: RootId, receiver: ValueId, argument: Argument | null): RootId[] {
    const { base, deep } = this.#roots.get(root);
    if (base === 'variable') return [root];
    if (base === 'param' && argument === null) return [];
    const value = this.#valueOf(root, receiver, argument ?? noArgument);
    const onto = [...this.#selfOf(value)];
    const found = onto.map((target) => this.#roots.rebase(root, target, this.#hasFields(target)));
    if (deep) for (const inner of this.#innerOf(value)) found.push(this.#roots.deep(inner));
    return found;
  }

  /** `list.forEach(fn)`: fn gets what the receiver or an argument holds. */
  #applyInPlace(op: OpId, callee: FunctionId, receiver: ValueId): void {
    const summary = this.#summaries.get(callee);
    if (summary === undefined || !this.#budget.spend(1 + summary.effects.size)) return;
    const call = this.#facts.d.get(op);
    const given = [...this.#contentsOf(receiver)];
    for (let index = 0; index < this.#facts.callCount.get(call); index++) {
      const value = this.#facts.argument(call, index);
      // The callback itself is not what it is given.
      const isCallback = this.#origins.tokensOf(value).some((id) => this.#origins.tokens.functionOf(id) !== null);
      if (!isCallback) given.push(...this.#contentsOf(value));
    }
    for (const [key, effect] of summary.effects) {
      for (const root of given) this.#effect(key % kinds, root, effect.op, op, effect.value);
      if (key % kinds !== Effect.read) this.#changeObjectOf(key % kinds, effect.value, given, effect.op, op);
    }
  }

  #callOutside(op: OpId, receiver: ValueId, to: ValueId, isInside: boolean): void {
    const isNew = this.#facts.kind.get(op) === Op.construct;
    if (this.#isBinding(op)) {
      for (const value of this.#argumentsOf(op)) this.#keepIn(value, [to]);
      return this.#copy(receiver, to);
    }
    let known = isInside;
    let unknown = false;
    for (const id of this.#origins.calleeTokens(op)) {
      const token = this.#origins.tokens.get(id);
      if (token.kind === 'bound' && token.stateful) this.#effect(Effect.stateful, -1, op, op);
      const shape = this.#shapeOf(id);
      if (shape === null) {
        unknown ||= this.#origins.tokens.get(id).kind === 'unknown';
        continue;
      }
      const model = this.#models.call(shape, isNew);
      if (model === null) unknown = true;
      else this.#applyModel(op, model, token.kind === 'bound' ? token.receiver : receiver, to);
      known ||= model !== null;
    }
    if (!known || unknown) {
      const byName = methodByName(this.#facts, this.#models, op, this.#origins.tokensOf, this.#origins.tokens);
      if (byName !== null) this.#applyModel(op, byName, receiver, to);
      else this.#callUnknown(op, receiver, to);
    }
    if (this.#recording && !(isInside && !unknown)) this.#noteExecuted(op);
  }

  /** `handler.bind(this)` and `list.push.bind(list)` run nothing. */
  #isBinding(op: OpId): boolean {
    if (this.#facts.kind.get(op) !== Op.method || this.#facts.atomName(this.#facts.c.get(op)) !== 'bind') return false;
    return this.#origins.tokensOf(this.#facts.a.get(op)).some((id) => {
      const shape = this.#shapeOf(id);
      return shape === null ? this.#origins.tokens.functionOf(id) !== null : this.#models.call(shape, false) !== null;
    });
  }

  #shapeOf(id: number): Shape | null {
    let token = this.#origins.tokens.get(id);
    while (token.kind === 'bound') token = this.#origins.tokens.get(token.target);
    return token.kind === 'external' ? token.shape : null;
  }

  #applyModel(op: OpId, model: Call, receiver: ValueId, to: ValueId): void {
    const args = this.#argumentsOf(op);
    if (registersNothing(model, args.length)) return this.#addSelf(to, this.#contentsOf(receiver));
    for (const target of model.mutates ?? noTargets) {
      if (target === 'this') this.#change(Effect.mutate, receiver, op);
      else for (const value of chosen(args, target)) this.#change(Effect.mutate, value, op);
    }
    for (const index of model.keeps ?? noTargets) {
      for (const value of chosen(args, index as number))
        this.#keepIn(value, this.#isNamespace(receiver) ? [to] : [receiver, to]);
    }
    if (model.stateful) this.#effect(Effect.stateful, -1, op, op);
    if (model.does?.includes('process')) this.#effect(Effect.process, -1, op, op);
    if (model.returns === undefined || model.returns === 'fresh') return;
    for (const ref of this.#models.refs(model.returns)) this.#giveRef(ref, receiver, to, args);
  }

  /** `Object`, `Promise`, a package: it keeps nothing of what its functions are given. */
  #isNamespace(receiver: ValueId): boolean {
    const tokens = this.#origins.tokensOf(receiver);
    return (
      tokens.length > 0 &&
      tokens.every((id) => {
        const token = this.#origins.tokens.get(id);
        return token.kind === 'external' && token.site === -1;
      })
    );
  }

  #argumentsOf(op: OpId): readonly ValueId[] {
    const call = this.#facts.d.get(op);
    const count = this.#facts.callCount.get(call);
    const args: ValueId[] = [];
    for (let index = 0; index < count; index++) args.push(this.#facts.argument(call, index));
    return args;
  }

  #keepIn(value: ValueId, holders: readonly ValueId[]): void {
    for (const holder of holders) {
      if (holder === NOTHING) continue;
      this.#addInner(holder, this.#selfOf(value));
      this.#addInner(holder, this.#innerOf(value));
      this.#link(
        value,
        this.#selfOf(holder).map((root) => this.#roots.deep(root)),
      );
    }
  }

  #giveRef(ref: Ref, receiver: ValueId, to: ValueId, args: readonly ValueId[]): void {
    switch (ref.kind) {
      case 'this':
        return this.#copy(receiver, to);
      case 'argument':
      case 'bound':
      case 'promisified':
        return this.#copy(args[ref.index] ?? NOTHING, to);
      case 'contents':
        return this.#addSelf(to, this.#contentsOf(receiver));
      case 'copy':
        return this.#addInner(to, this.#contentsOf(receiver));
      case 'contentsOf':
        return this.#addSelf(to, this.#contentsOf(args[ref.index] ?? NOTHING));
      case 'copyOf':
        for (const arg of ref.index < 0 ? args : args.slice(ref.index, ref.index + 1))
          this.#addInner(to, this.#contentsOf(arg));
        return;
      case 'results':
      case 'result':
        // What a callback gives may be any of what it was given, but nothing of the language's that it is: `map(JSON.parse)`.
        for (const arg of args) if (!this.#isNamespace(arg)) this.#addInner(to, this.#contentsOf(arg));
        if (!this.#isNamespace(receiver)) this.#addInner(to, this.#contentsOf(receiver));
        return;
      default:
        return;
    }
  }

  #callUnknown(op: OpId, receiver: ValueId, to: ValueId): void {
    this.#effect(Effect.unknown, -1, op, op);
    const call = this.#facts.d.get(op);
    this.#change(Effect.hand, receiver, op);
    this.#addSelf(to, this.#contentsOf(receiver));
    for (let index = 0; index < this.#facts.callCount.get(call); index++) {
      const value = this.#facts.argument(call, index);
      this.#change(Effect.hand, value, op);
      this.#addSelf(to, this.#contentsOf(value));
    }
  }

  /** Whoever is given a function may run it, at once or later, unless it is known to be the callback of a rupture point. */
  #noteExecuted(op: OpId): void {
    const cut = new Set((this.#ruptures.byOp.get(op) ?? []).flatMap((point) => point.callbacks.map(({ fn }) => fn)));
    const found = new Set([...this.#origins.calleesOf(op), ...this.#origins.inPlaceOf(op)]);
    const call = this.#facts.d.get(op);
    for (let index = 0; index < this.#facts.callCount.get(call); index++) {
      for (const id of this.#origins.tokensOf(this.#facts.argument(call, index))) {
        const fn = this.#origins.tokens.functionOf(id);
        if (fn !== null && !cut.has(fn)) found.add(fn);
      }
    }
    this.#executes.set(op, [...found]);
  }
}

function emptySummary(): Summary {
  return { effects: new Map(), returnsSelf: new Set(), returnsInner: new Set(), keeps: new Map() };
}

const noTargets: readonly ('this' | number)[] = [];

/** `-1` stands for all arguments. */
function chosen(args: readonly ValueId[], index: number): readonly ValueId[] {
  return index < 0 ? args : args.slice(index, index + 1);
}

const mostRoots = 120;
const tooManyTokens = 120;

/** True if anything is new. */
function addAll(sets: Map<ValueId, RootId[]>, value: ValueId, roots: readonly RootId[]): boolean {
  if (value === NOTHING || roots.length === 0) return false;
  let list = sets.get(value);
  if (list === undefined) sets.set(value, (list = []));
  const before = list.length;
  // Lists are short: a value is part of one or two things, or of more than it is worth to tell apart.
  for (const root of roots) if (list.length < mostRoots && !list.includes(root)) list.push(root);
  return list.length > before;
}
