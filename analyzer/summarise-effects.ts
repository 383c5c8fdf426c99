/**
 * What each function does to what it can reach.
 *
 * Reads:   facts, origins, rupture points, models.
 * Gives:   Effects: for each function the things it reads, changes and calls without anyone knowing what that does.
 *
 * Functions are taken callees first. What a callee does to its parameters and to `this` is repeated for the arguments and
 * the receiver of each call; what it does to variables stays with it, and is gathered when parts are put together. Calls
 * in a circle are repeated until nothing new is found.
 *
 *   effects/function-values.ts  what the values of the function at hand are part of
 *   effects/changes.ts          how a change is told
 *   effects/calls.ts            what callees do
 *   effects/outside-calls.ts    what modelled and unknown calls do
 */
import type { Budget } from './budget.js';
import { calleesFirst, isCall, OpsByFunction } from './call-graph.js';
import { CallEffects, noArgument } from './effects/calls.js';
import { Changes } from './effects/changes.js';
import { EffectList } from './effects/effect-list.js';
import { FunctionValues } from './effects/function-values.js';
import { Effect } from './effects/kinds.js';
import { OutsideEffects } from './effects/outside-calls.js';
import { findPatches } from './effects/patches.js';
import { Summary } from './effects/summary.js';
import { ANY_PROPERTY, type Facts, type FunctionId, NOTHING, Op, type OpId, type ValueId } from './facts.js';
import type { Ruptures } from './find-rupture-points.js';
import type { Models } from './models.js';
import type { RootId, RootTable } from './roots.js';
import { IntSets } from './sets.js';
import type { TokenId } from './tokens.js';
import type { Origins } from './trace-origins.js';

export { Effect } from './effects/kinds.js';

export interface Effects {
  readonly roots: RootTable;
  /** Calls `visit` with each effect of the function itself, callees' effects on arguments and receiver included. A change
   *  has a root of -1 and the value that holds what is changed, where no root says all of it. */
  each(fn: FunctionId, visit: (kind: number, root: RootId, op: OpId, at: OpId, value: ValueId) => void): void;
  /** How many that are. */
  count(fn: FunctionId): number;
  /** The value may be (part of) a parameter or `this`: whoever calls the function answers for it. */
  isGiven(value: ValueId, fn: FunctionId): boolean;
  /** The function is called by others than code that the analysis follows: its parameters come from nowhere. */
  isEntry(fn: FunctionId): boolean;
  /** Variables that share what they hold with another, as far as the function that declares them can tell. */
  aliasesOf(variable: ValueId): Iterable<ValueId>;
  isAliased(variable: ValueId): boolean;
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

class Summariser {
  readonly #facts: Facts;
  readonly #origins: Origins;
  readonly #ops: OpsByFunction;
  readonly #list: EffectList;
  readonly #values: FunctionValues;
  readonly #changes: Changes;
  readonly #outsideEffects: OutsideEffects;
  readonly #callEffects: CallEffects;
  /** By row of the variable. */
  readonly #aliases = new IntSets();
  /** A function that keeps something between its calls shows that, too: `_.memoize(fn).cache`. */
  readonly #remembers: (value: ValueId) => boolean;
  /** By op of the function that is looked at: what it has listed. */
  readonly #from: number[] = [];
  readonly #to: number[] = [];

  constructor(facts: Facts, origins: Origins, ruptures: Ruptures, models: Models, budget: Budget) {
    this.#facts = facts;
    this.#origins = origins;
    this.#ops = new OpsByFunction(facts);
    this.#remembers = origins.mayBe((id) => this.#isStateful(id));
    this.#list = new EffectList(facts.functions.length);
    this.#values = new FunctionValues(facts, origins, this.#ops, this.#list, findEntries(facts, origins, ruptures));
    this.#changes = new Changes(facts, origins, models, this.#list, this.#values);
    this.#outsideEffects = new OutsideEffects(facts, origins, ruptures, models, this.#values, this.#changes, budget);
    this.#callEffects = new CallEffects(facts, origins, budget, this.#values, this.#changes, this.#outsideEffects);
  }

  effects(): Effects {
    // Not the summaries, which nobody needs any more.
    const [facts, origins, list, values, aliases] = [
      this.#facts,
      this.#origins,
      this.#list,
      this.#values,
      this.#aliases,
    ];
    const { executes } = this.#outsideEffects;
    values.leave();
    list.close();
    return {
      roots: values.roots,
      each: (fn, visit) => list.each(fn, visit),
      count: (fn) => list.count(fn),
      executes: (op) => executes.get(op) ?? origins.calleesOf(op),
      ops: this.#ops,
      thisAliases: values.thisAliases,
      isGiven: (value, fn) => values.isGivenTo(value, facts.fn(fn)),
      isEntry: (fn) => values.entries[fn] === 1,
      aliasesOf: (variable) => membersOf(aliases, facts.variables.rowOf(variable)),
      isAliased: (variable) => facts.variables.has(variable) && aliases.size(facts.variables.rowOf(variable)) > 0,
    };
  }

  run(): void {
    const heldBy = (op: OpId): readonly FunctionId[] => this.#outsideEffects.heldCode.of(op);
    calleesFirst(this.#facts, this.#ops, this.#origins, heldBy).each((functions, isCircle) => {
      for (const fn of functions) this.#callEffects.summaries.set(fn, new Summary());
      // Each round can only add; a circle settles within a few.
      for (let round = 0; isCircle && round < 40; round++) {
        this.#values.changed = false;
        for (const fn of functions) this.#lookAt(fn, false, isCircle);
        if (!this.#values.changed) break;
      }
      for (const fn of functions) this.#lookAt(fn, true, isCircle);
    });
  }

  /** Values move forwards in the source but for loops, hoisting and recursion: steps are repeated until nothing moves. In a circle all of
   *  them are, as what callees do may have changed as well. */
  #lookAt(id: FunctionId, record: boolean, isCircle: boolean): void {
    this.#values.enter(this.#facts.fn(id), this.#callEffects.summaries.get(id) as Summary);
    const ops = this.#ops.of(id);
    this.#list.begin(id);
    this.#stepAll(id, ops, record);
    let isInOrder = true;
    for (let round = 1; round < 40 && this.#values.moved; round++) {
      isInOrder = isCircle || this.#values.isCrowded;
      if (isInOrder) this.#stepAll(id, ops, record);
      else this.#stepMoved(ops, record);
    }
    if (!isInOrder) this.#list.arrange(id, this.#from, this.#to, ops.length);
    this.#list.end(id);
    if (record) this.#noteAliases();
  }

  #stepAll(id: FunctionId, ops: Int32Array, record: boolean): void {
    this.#values.startRound(record);
    this.#list.startAgain(id);
    for (let index = 0; index < ops.length; index++) this.#stepAt(index, ops[index] as OpId);
  }

  /** What is returned is seen by whoever returns more. */
  #stepMoved(ops: Int32Array, record: boolean): void {
    this.#values.startRound(record);
    const { reads } = this.#values;
    for (let index = 0; index < ops.length; index++) {
      const op = ops[index] as OpId;
      if (!reads.isDone(index) || this.#facts.kind.get(op) === Op.return) this.#stepAt(index, op);
    }
  }

  #stepAt(index: number, op: OpId): void {
    this.#from[index] = this.#list.next;
    this.#values.reads.begin(index);
    this.#step(op);
    this.#values.reads.end(index);
    this.#to[index] = this.#list.next;
  }

  #noteAliases(): void {
    this.#values.eachUsed((value, self, inner) => {
      if (!this.#values.isVariable(value)) return;
      for (const root of self) this.#noteAlias(value, root);
      for (const root of inner) this.#noteAlias(value, root);
    });
  }

  #noteAlias(value: ValueId, root: RootId): void {
    const of = this.#values.roots.of(root);
    if (!this.#values.roots.isVariable(root) || of === value) return;
    this.#aliases.add(this.#facts.variables.rowOf(value), of);
  }

  #step(op: OpId): void {
    const facts = this.#facts;
    const kind = facts.kind.get(op);
    const a = facts.a.get(op);
    if (kind === Op.read) return this.#changes.list(Effect.read, this.#values.variableRoot(a), op, op);
    const b = facts.b.get(op);
    switch (kind) {
      case Op.copy:
        return this.#values.copy(a, b);
      case Op.load:
        return this.#load(op, a, b, facts.c.get(op));
      case Op.store:
        return this.#store(op, a, b, facts.c.get(op), facts.d.get(op) === 1);
      case Op.copyProperties:
        this.#values.addInner(b, this.#values.contentsOf(a));
        if (facts.d.get(op) !== 1) this.#changes.change(Effect.mutate, b, op);
        return;
      case Op.write:
        return this.#changes.effect(Effect.write, this.#values.variableRoot(a), op, op);
      case Op.return:
        return this.#return(a);
      case Op.await:
        return this.#values.copy(a, b);
      case Op.opaque:
        return this.#changes.effect(Effect.opaque, -1, op, op);
      case Op.loadLate:
        if (facts.lateLoads[facts.c.get(op)]?.length !== 0) this.#changes.effect(Effect.load, -1, op, op);
        return;
      default:
        if (isCall(kind)) this.#callEffects.call(op, kind, a, b);
    }
  }

  #load(op: OpId, base: ValueId, to: ValueId, atom: number): void {
    this.#changes.readTooMany(op, base);
    if (base === this.#values.fn.receiver) this.#changes.readUnknown(op, base);
    if (this.#changes.isEnvironment(base)) return;
    if (this.#facts.d.get(op) === 1) this.#changes.useUp(base, op);
    if (this.#changes.outlivesRequest(base, atom) || this.#remembers(base))
      this.#changes.effect(Effect.stateful, -1, op, op);
    for (const root of this.#values.selfOf(base)) {
      const within =
        this.#values.hasFields(root) && atom !== ANY_PROPERTY
          ? this.#values.roots.field(root, atom)
          : this.#values.roots.deep(root);
      if (this.#values.hasFields(root)) this.#changes.effect(Effect.read, within, op, op);
      this.#values.addSelf(to, [within]);
    }
    this.#values.addSelf(to, this.#values.innerOf(base));
    this.#values.addInner(to, this.#values.innerOf(base));
    // A getter is a call, and so is each step of an iterator, which gives what it holds.
    const callees = this.#origins.calleesOf(op);
    if (callees.length === 0) return;
    for (const callee of callees) this.#callEffects.apply(op, callee, base, noArgument, to);
    if (this.#facts.d.get(op) === 1) this.#values.addSelf(to, this.#values.innerOf(to));
  }

  #isStateful(id: TokenId): boolean {
    const token = this.#origins.tokens.get(id);
    return token.kind === 'bound' && token.stateful;
  }

  #store(op: OpId, base: ValueId, value: ValueId, atom: number, isNew: boolean): void {
    const deep: RootId[] = [];
    if (this.#changes.outlivesRequest(base, atom)) this.#changes.effect(Effect.stateful, -1, op, op);
    for (const root of this.#values.selfOf(base)) {
      const field = this.#values.hasFields(root) && atom !== ANY_PROPERTY ? this.#values.roots.field(root, atom) : -1;
      if (!isNew)
        this.#changes.effect(field === -1 ? Effect.mutate : Effect.write, field === -1 ? root : field, op, op, base);
      deep.push(field === -1 ? this.#values.roots.deep(root) : field);
    }
    if (!isNew && base !== this.#values.fn.receiver) this.#changes.changeObject(Effect.mutate, base, op, op);
    if (value === NOTHING) return;
    this.#outsideEffects.storeOutside(op, base, value, atom);
    this.#values.addInner(base, this.#values.selfOf(value));
    this.#values.addInner(base, this.#values.innerOf(value));
    this.#values.link(value, deep);
  }

  #return(value: ValueId): void {
    for (const root of this.#values.selfOf(value)) this.#values.noteReturned(root);
    if (this.#values.isGivenElse(value, this.#values.summary.returnsSelf))
      this.#values.noteReturned(this.#values.roots.variable(value));
    for (const root of this.#values.innerOf(value)) this.#values.noteReturnedWithin(root);
  }
}

function* membersOf(sets: IntSets, id: number): Generator<number, void> {
  for (let index = 0; id !== -1 && index < sets.size(id); index++) yield sets.at(id, index);
}

/** Functions that others than known callers call. */
function findEntries(facts: Facts, origins: Origins, ruptures: Ruptures): Uint8Array {
  const entries = new Uint8Array(facts.functions.length).fill(1);
  for (let op = 0; op < facts.kind.length; op++) {
    const callees = origins.calleesOf(op);
    // Who calls nobody but itself is called by others (`stream.write = function () { write.call(this) }`).
    for (const callee of callees) if (callee !== facts.owner.get(op)) entries[callee] = 0;
    const inPlace = origins.inPlaceOf(op);
    if (inPlace.length > 0) for (const callee of inPlace) entries[callee] = 0;
  }
  for (const point of ruptures.points) for (const { fn } of point.callbacks) entries[fn] = 1;
  for (const fn of origins.escaped) entries[fn] = 1;
  for (const fn of findPatches(facts, origins)) entries[fn] = 1;
  return entries;
}
