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
import { calleesFirst, isCall, OpsByFunction } from './call-graph.js';
import { ANY_PROPERTY, type Facts, type FunctionFact, FunctionFlag, type FunctionId, NOTHING, Op, type OpId, type ValueId } from './facts.js';
import type { Ruptures } from './find-rupture-points.js';
import { IntList } from './int-list.js';
import type { Models, Ref, Shape } from './models.js';
import { type RootId, RootTable } from './roots.js';
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
  /** Calls `visit` with each effect of the function itself, callees' effects on arguments and receiver included. */
  each(fn: FunctionId, visit: (kind: number, root: RootId, op: OpId, at: OpId) => void): void;
  /** Functions that run as part of the op: callees, callbacks run in place, and callbacks that code without a model
   *  may run. */
  executes(op: OpId): readonly FunctionId[];
  readonly ops: OpsByFunction;
  /** Variables that hold a function's `this` and nothing else. */
  readonly thisAliases: ReadonlyMap<ValueId, ValueId>;
}

export function summariseEffects(facts: Facts, origins: Origins, ruptures: Ruptures, models: Models): Effects {
  const summariser = new Summariser(facts, origins, ruptures, models);
  summariser.run();
  return summariser.effects();
}

interface Summary {
  /** Effects on parameters and `this`, by kind and root, with an op to show for it. */
  readonly effects: Map<number, OpId>;
  readonly returnsSelf: Set<RootId>;
  readonly returnsInner: Set<RootId>;
  /** Parameter roots that end up within other roots. */
  readonly keeps: Map<RootId, Set<RootId>>;
}

const noRoots: readonly RootId[] = [];
const kinds = 8;

class Summariser {
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
  readonly #first: Int32Array;
  readonly #last: Int32Array;

  // The function being looked at.
  #fn!: FunctionFact;
  #summary!: Summary;
  #self = new Map<ValueId, Set<RootId>>();
  #inner = new Map<ValueId, Set<RootId>>();
  #params = new Map<ValueId, number>();
  #changed = false;
  #recording = false;

  constructor(facts: Facts, origins: Origins, ruptures: Ruptures, models: Models) {
    this.#facts = facts;
    this.#origins = origins;
    this.#ruptures = ruptures;
    this.#models = models;
    this.#ops = new OpsByFunction(facts);
    this.#first = new Int32Array(facts.functions.length);
    this.#last = new Int32Array(facts.functions.length);
    for (const fn of facts.functions) this.#receivers.add(fn.receiver);
    this.#thisAliases = this.#findThisAliases();
  }

  effects(): Effects {
    return {
      roots: this.#roots,
      each: (fn, visit) => {
        for (let at = this.#first[fn] as number; at < (this.#last[fn] as number); at++) {
          visit(this.#kind.get(at), this.#root.get(at), this.#op.get(at), this.#at.get(at));
        }
      },
      executes: (op) => this.#executes.get(op) ?? this.#origins.calleesOf(op),
      ops: this.#ops,
      thisAliases: this.#thisAliases,
    };
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
      for (let round = 0; round < 8; round++) {
        this.#changed = false;
        for (const fn of component) this.#lookAt(fn, false);
        if (component.length === 1 || !this.#changed) break;
      }
      for (const fn of component) this.#lookAt(fn, true);
    }
  }

  #lookAt(id: FunctionId, record: boolean): void {
    this.#fn = this.#facts.fn(id);
    this.#summary = this.#summaries.get(id) as Summary;
    this.#self = new Map();
    this.#inner = new Map();
    this.#params = new Map(this.#fn.params.map((param, index) => [param, index]));
    const ops = this.#ops.of(id);
    this.#recording = false;
    // Values move forwards in the source but for loops and hoisting; a second pass brings those in.
    for (let pass = 0; pass < (record ? 2 : 1); pass++) for (const op of ops) this.#step(op);
    if (!record) return;
    this.#recording = true;
    this.#first[id] = this.#kind.length;
    for (const op of ops) this.#step(op);
    this.#last[id] = this.#kind.length;
  }

  // ------------------------------------------------------------------------------------------------- roots

  #selfOf(value: ValueId): Iterable<RootId> {
    if (value === NOTHING) return noRoots;
    const alias = this.#thisAliases.get(value);
    if (alias !== undefined) return this.#selfOf(alias);
    if (this.#receivers.has(value)) {
      const own = value === this.#fn.receiver && (this.#fn.flags & FunctionFlag.arrow) === 0;
      return [own ? this.#roots.this() : this.#roots.variable(value)];
    }
    const param = this.#params.get(value);
    if (param !== undefined) return [this.#roots.param(param), ...(this.#self.get(value) ?? noRoots)];
    const found = this.#self.get(value) ?? noRoots;
    return this.#facts.variables.has(value) ? [this.#roots.variable(value), ...found] : found;
  }

  #innerOf(value: ValueId): Iterable<RootId> {
    return this.#inner.get(value) ?? noRoots;
  }

  *#contentsOf(value: ValueId): Iterable<RootId> {
    for (const root of this.#selfOf(value)) yield this.#roots.deep(root);
    for (const root of this.#innerOf(value)) yield this.#roots.deep(root);
  }

  #addSelf(value: ValueId, roots: Iterable<RootId>): void {
    addAll(this.#self, value, roots);
  }

  #addInner(value: ValueId, roots: Iterable<RootId>): void {
    addAll(this.#inner, value, roots);
  }

  // ------------------------------------------------------------------------------------------------ effects

  /** `at` is the op of this function, `op` the one that really does it, perhaps in a callee. */
  #effect(kind: number, root: RootId, op: OpId, at: OpId): void {
    const { base } = root < 0 ? { base: 'variable' } : this.#roots.get(root);
    if (base !== 'variable') {
      const key = root * kinds + kind;
      if (!this.#summary.effects.has(key)) {
        this.#summary.effects.set(key, op);
        this.#changed = true;
      }
    }
    if (!this.#recording) return;
    this.#kind.push(kind);
    this.#root.push(root);
    this.#op.push(op);
    this.#at.push(at);
  }

  #onRoots(kind: number, roots: Iterable<RootId>, op: OpId): void {
    for (const root of roots) this.#effect(kind, root, op, op);
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
        if (facts.d.get(op) !== 1) this.#onRoots(Effect.mutate, this.#selfOf(b), op);
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
    this.#addInner(to, this.#innerOf(from));
    if (!this.#facts.variables.has(to)) return;
    // From now on the value is also reached through the variable.
    this.#link(from, [this.#roots.variable(to)]);
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
      if (root === param || kept.has(root) || kept.size > 16) continue;
      kept.add(root);
      this.#changed = true;
    }
  }

  /** Fields are told apart on `this` itself, and on nothing else. */
  #hasFields(root: RootId): boolean {
    const { base, id, field, deep } = this.#roots.get(root);
    return field === -1 && !deep && (base === 'this' || (base === 'variable' && this.#receivers.has(id)));
  }

  #load(op: OpId, base: ValueId, to: ValueId, atom: number): void {
    for (const root of this.#selfOf(base)) {
      const within = this.#hasFields(root) && atom !== ANY_PROPERTY ? this.#roots.field(root, atom) : this.#roots.deep(root);
      if (this.#hasFields(root)) this.#effect(Effect.read, within, op, op);
      this.#addSelf(to, [within]);
    }
    this.#addSelf(to, this.#innerOf(base));
    this.#addInner(to, this.#innerOf(base));
    // A getter is a call.
    for (const callee of this.#origins.calleesOf(op)) this.#apply(op, callee, base, () => NOTHING, to);
  }

  #store(op: OpId, base: ValueId, value: ValueId, atom: number, isNew: boolean): void {
    const deep: RootId[] = [];
    for (const root of this.#selfOf(base)) {
      const field = this.#hasFields(root) && atom !== ANY_PROPERTY ? this.#roots.field(root, atom) : -1;
      if (!isNew) this.#effect(field === -1 ? Effect.mutate : Effect.write, field === -1 ? root : field, op, op);
      deep.push(field === -1 ? this.#roots.deep(root) : field);
    }
    for (const root of this.#innerOf(base)) deep.push(root);
    if (value === NOTHING) return;
    this.#addInner(base, this.#selfOf(value));
    this.#addInner(base, this.#innerOf(value));
    this.#link(value, deep);
  }

  #return(value: ValueId): void {
    for (const root of this.#selfOf(value)) this.#note(this.#summary.returnsSelf, root);
    for (const root of this.#innerOf(value)) this.#note(this.#summary.returnsInner, root);
  }

  #note(set: Set<RootId>, root: RootId): void {
    if (set.has(root) || set.size > 64) return;
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
    const argument = (index: number): ValueId => facts.argument(call, index + shift);
    const callees = this.#origins.calleesOf(op);
    for (const callee of callees) this.#apply(op, callee, receiver, argument, to);
    for (const callee of this.#origins.inPlaceOf(op)) this.#applyInPlace(op, callee, receiver);
    this.#callOutside(op, receiver, to, callees.length > 0);
  }

  /** What callee does to its parameters it does to the arguments. */
  #apply(op: OpId, callee: FunctionId, receiver: ValueId, argument: (index: number) => ValueId, to: ValueId): void {
    const summary = this.#summaries.get(callee);
    if (summary === undefined) return;
    const isNew = this.#facts.kind.get(op) === Op.construct;
    const actual = (root: RootId): RootId[] => this.#actual(root, isNew ? to : receiver, argument);
    for (const [key, at] of summary.effects) {
      const root = Math.floor(key / kinds);
      for (const mapped of actual(root)) this.#effect(key % kinds, mapped, at, op);
    }
    for (const [root, into] of summary.keeps) {
      const targets = [...into].flatMap(actual);
      const value = this.#valueOf(root, receiver, argument);
      this.#link(value, targets);
      for (const target of into) this.#addInner(this.#valueOf(target, isNew ? to : receiver, argument), this.#selfOf(value));
    }
    for (const root of summary.returnsSelf) this.#addSelf(to, actual(root));
    for (const root of summary.returnsInner) this.#addInner(to, actual(root));
  }

  #valueOf(root: RootId, receiver: ValueId, argument: (index: number) => ValueId): ValueId {
    const { base, id } = this.#roots.get(root);
    if (base === 'param') return argument(id);
    return base === 'this' ? receiver : NOTHING;
  }

  #actual(root: RootId, receiver: ValueId, argument: (index: number) => ValueId): RootId[] {
    const { base, deep } = this.#roots.get(root);
    if (base === 'variable') return [root];
    const value = this.#valueOf(root, receiver, argument);
    const onto = [...this.#selfOf(value)];
    const found = onto.map((target) => this.#roots.rebase(root, target, this.#hasFields(target)));
    if (deep) for (const inner of this.#innerOf(value)) found.push(this.#roots.deep(inner));
    return found;
  }

  /** `list.forEach(fn)`: fn gets what the receiver or an argument holds. */
  #applyInPlace(op: OpId, callee: FunctionId, receiver: ValueId): void {
    const summary = this.#summaries.get(callee);
    if (summary === undefined) return;
    const call = this.#facts.d.get(op);
    const given = [...this.#contentsOf(receiver)];
    for (let index = 0; index < this.#facts.callCount.get(call); index++) {
      given.push(...this.#contentsOf(this.#facts.argument(call, index)));
    }
    for (const [key, at] of summary.effects) {
      const { base } = this.#roots.get(Math.floor(key / kinds));
      if (base === 'param') for (const root of given) this.#effect(key % kinds, root, at, op);
    }
  }

  #callOutside(op: OpId, receiver: ValueId, to: ValueId, isInside: boolean): void {
    const isNew = this.#facts.kind.get(op) === Op.construct;
    let known = isInside;
    let unknown = false;
    for (const id of this.#origins.calleeTokens(op)) {
      const shape = this.#shapeOf(id);
      if (shape === null) {
        unknown ||= this.#origins.tokens.get(id).kind === 'unknown';
        continue;
      }
      const model = this.#models.call(shape, isNew);
      if (model === null) unknown = true;
      else this.#applyModel(op, model, receiver, to);
      known ||= model !== null;
    }
    if (!known || unknown) {
      const byName = isNew ? null : this.#modelByName(op);
      if (byName !== null) this.#applyModel(op, byName, receiver, to);
      else this.#callUnknown(op, receiver, to);
    }
    if (this.#recording && !(isInside && !unknown)) this.#noteExecuted(op);
  }

  #shapeOf(id: number): Shape | null {
    let token = this.#origins.tokens.get(id);
    while (token.kind === 'bound') token = this.#origins.tokens.get(token.target);
    return token.kind === 'external' ? token.shape : null;
  }

  /** `x.map(…)` on who knows what: names of the language's own methods mean what they always mean. */
  #modelByName(op: OpId): Call | null {
    if (this.#facts.kind.get(op) !== Op.method) return null;
    for (const id of this.#origins.tokensOf(this.#facts.a.get(op))) {
      const token = this.#origins.tokens.get(id);
      if (token.kind === 'external' && this.#models.isUnknown(token.shape)) return null;
      if (token.kind === 'object' && (token.type === 'Instance' || token.type === 'Prototype')) return null;
    }
    const model = this.#models.byMethodName.get(this.#facts.atomName(this.#facts.c.get(op))) ?? null;
    return model !== null && this.#takesOnlyCallbacksOf(op, model) ? model : null;
  }

  /** Functions among the arguments are where the model has callbacks: `collection.find({}, fn)` is no `list.find(fn)`. */
  #takesOnlyCallbacksOf(op: OpId, model: Call): boolean {
    const call = this.#facts.d.get(op);
    const expected = new Set((model.ruptures ?? []).map(({ callback }) => callback));
    for (let index = 0; index < this.#facts.callCount.get(call); index++) {
      const isFunction = this.#origins.tokensOf(this.#facts.argument(call, index)).some((id) => this.#origins.tokens.functionOf(id) !== null);
      if (isFunction && !expected.has(index)) return false;
    }
    return true;
  }

  #applyModel(op: OpId, model: Call, receiver: ValueId, to: ValueId): void {
    const call = this.#facts.d.get(op);
    const argument = (index: number): ValueId => this.#facts.argument(call, index);
    const all = Array.from({ length: this.#facts.callCount.get(call) }, (_, index) => argument(index));
    const chosen = (index: number): ValueId[] => (index < 0 ? all : [argument(index)]);
    for (const target of model.mutates ?? []) {
      for (const value of target === 'this' ? [receiver] : chosen(target)) this.#onRoots(Effect.mutate, this.#selfOf(value), op);
    }
    for (const index of model.keeps ?? []) for (const value of chosen(index)) this.#keepIn(value, [receiver, to]);
    if (model.stateful) this.#effect(Effect.stateful, -1, op, op);
    if (model.does?.includes('process')) this.#effect(Effect.process, -1, op, op);
    for (const ref of this.#models.refs(model.returns ?? 'fresh')) this.#giveRef(ref, receiver, to, all);
  }

  #keepIn(value: ValueId, holders: readonly ValueId[]): void {
    for (const holder of holders) {
      if (holder === NOTHING) continue;
      this.#addInner(holder, this.#selfOf(value));
      this.#addInner(holder, this.#innerOf(value));
      this.#link(value, [...this.#contentsOf(holder)]);
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
      case 'results':
      case 'result':
        for (const arg of args) this.#addInner(to, this.#contentsOf(arg));
        this.#addInner(to, this.#contentsOf(receiver));
        return;
      default:
        return;
    }
  }

  #callUnknown(op: OpId, receiver: ValueId, to: ValueId): void {
    this.#effect(Effect.unknown, -1, op, op);
    const call = this.#facts.d.get(op);
    this.#onRoots(Effect.hand, this.#selfOf(receiver), op);
    this.#addSelf(to, this.#contentsOf(receiver));
    for (let index = 0; index < this.#facts.callCount.get(call); index++) {
      const value = this.#facts.argument(call, index);
      this.#onRoots(Effect.hand, this.#selfOf(value), op);
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

const mostRoots = 48;

function addAll(sets: Map<ValueId, Set<RootId>>, value: ValueId, roots: Iterable<RootId>): void {
  if (value === NOTHING) return;
  let set = sets.get(value);
  for (const root of roots) {
    if (set === undefined) sets.set(value, (set = new Set()));
    if (set.size < mostRoots) set.add(root);
  }
}
