/**
 * Calls of the program's own functions: what callees do to what they are given.
 *
 * Reads:   summaries of callees, origins.
 * Gives:   effects on arguments and receiver; what the result is.
 */
import type { Budget } from '../budget.js';
import { type Facts, type FunctionId, NOTHING, Op, type OpId, type ValueId } from '../facts.js';
import type { RootId } from '../roots.js';
import type { Origins } from '../trace-origins.js';
import type { Changes } from './changes.js';
import type { FunctionValues } from './function-values.js';
import { Effect, kinds } from './kinds.js';
import type { OutsideEffects } from './outside-calls.js';
import type { Summary } from './summary.js';

type Argument = (index: number) => ValueId;

/** Steps of a call, each of which is short, that count as one of an analysis's work. */
const stepsForWork = 4;

export const noArgument: Argument = () => NOTHING;

export class CallEffects {
  readonly summaries = new Map<FunctionId, Summary>();
  readonly #facts: Facts;
  readonly #origins: Origins;
  readonly #budget: Budget;
  readonly #values: FunctionValues;
  readonly #changes: Changes;
  readonly #outsideEffects: OutsideEffects;
  readonly #isGenerator: (value: ValueId) => boolean;
  readonly #isBound: (value: ValueId) => boolean;
  readonly #isCallback: (value: ValueId) => boolean;

  constructor(
    facts: Facts,
    origins: Origins,
    budget: Budget,
    values: FunctionValues,
    changes: Changes,
    outsideEffects: OutsideEffects,
  ) {
    this.#facts = facts;
    this.#origins = origins;
    this.#budget = budget;
    this.#values = values;
    this.#changes = changes;
    this.#outsideEffects = outsideEffects;
    const { tokens } = origins;
    this.#isGenerator = origins.mayBe((id) => {
      const token = tokens.get(id);
      return token.kind === 'object' && token.type === 'Generator';
    });
    this.#isBound = origins.mayBe((id) => {
      const token = tokens.get(id);
      return token.kind === 'bound' && token.args.length > 0;
    });
    this.#isCallback = origins.mayBe((id) => tokens.functionOf(id) !== null);
  }

  call(op: OpId, kind: number, base: ValueId, to: ValueId): void {
    const facts = this.#facts;
    const call = facts.d.get(op);
    const bound = this.#origins.receiverOf.get(op);
    const receiver = bound ?? (kind === Op.method ? base : kind === Op.call ? facts.c.get(op) : NOTHING);
    const shift = bound === undefined ? 0 : 1;
    const inOrder = facts.callSpread.get(call) < 0 && !this.#isRearranged(op);
    const argument = inOrder ? (index: number): ValueId => facts.argument(call, index + shift) : null;
    this.#changes.readTooMany(op, receiver);
    for (let index = 0; index < facts.callCount.get(call); index++)
      this.#changes.readTooMany(op, facts.argument(call, index));
    const callees = this.#origins.calleesOf(op);
    for (const callee of callees) this.apply(op, callee, receiver, argument, to);
    const inPlace = this.#origins.inPlaceOf(op);
    if (inPlace.length > 0) for (const callee of inPlace) this.#applyInPlace(op, callee, receiver);
    // A generator is another one behind each step.
    if (kind === Op.method && this.#isGenerator(base)) this.#changes.change(Effect.mutate, base, op);
    this.#outsideEffects.callOutside(op, receiver, to, callees.length > 0);
    if (this.#outsideEffects.heldCode.of(op).some((held) => this.#changesGiven(held))) this.#handArguments(op);
  }

  /** A package that has a function of the program may call it with what it is given, or on something that holds it (`this.props.list`). */
  #changesGiven(fn: FunctionId): boolean {
    const summary = this.summaries.get(fn);
    if (summary === undefined) return true;
    for (const key of summary.effects.keys()) {
      const kind = key % kinds;
      const root = Math.floor(key / kinds);
      const { base, deep, field } = this.#values.roots.get(root);
      if (kind === Effect.read || (base !== 'param' && (base !== 'this' || kind === Effect.write))) continue;
      const given = base === 'this' ? 'this' : this.#values.roots.of(root);
      const isDeep = deep || (field !== -1 && kind !== Effect.write);
      if (!this.#outsideEffects.described.isOwn(fn, given, isDeep)) return true;
    }
    return false;
  }

  #handArguments(op: OpId): void {
    const call = this.#facts.d.get(op);
    for (let index = 0; index < this.#facts.callCount.get(call); index++)
      this.#changes.change(Effect.hand, this.#facts.argument(call, index), op);
  }

  /** `f.apply(x, list)` and bound functions: the arguments are not in the order in which they stand. */
  #isRearranged(op: OpId): boolean {
    if (this.#facts.kind.get(op) === Op.method && this.#facts.atomName(this.#facts.c.get(op)) === 'apply') return true;
    return this.#isBound(this.#origins.calleeValue(op));
  }

  /** What the callee does to its parameters it does to the arguments. `argument` is null where it is not known which one
   *  goes to which parameter: then it is what the parameters hold that counts. */
  apply(op: OpId, callee: FunctionId, receiver: ValueId, argument: Argument | null, to: ValueId): void {
    const summary = this.summaries.get(callee);
    if (summary === undefined || !this.#budget.spend(1 + summary.effects.size + summary.keeps.size)) return;
    const isNew = this.#facts.kind.get(op) === Op.construct;
    const self = isNew ? to : receiver;
    const { roots } = this.#values;
    let steps = 0;
    for (const [key, effect] of summary.effects) {
      const root = Math.floor(key / kinds);
      const { base, deep, field } = roots.get(root);
      const kind = key % kinds;
      // What a constructor does to the object that it makes changes nothing that was there before; what the object inherits was.
      if (isNew && base === 'this') {
        const isOwn = !deep && (field === -1 || kind === Effect.write);
        if (kind === Effect.read || isOwn) continue;
        for (const { value, op: at } of [effect, ...effect.others])
          this.#changes.changeObjectOf(kind, value, [], at, op);
        continue;
      }
      // A field that is bound anew changes the object itself; a change within a field's value is elsewhere.
      const isNamed = base !== 'this' || self !== NOTHING;
      const isExact = isNamed && argument !== null && !deep && (field === -1 || kind === Effect.write);
      const exact = isExact ? this.#valueOf(root, self, argument) : effect.value;
      const actual = this.#actual(root, self, argument);
      steps += actual.length;
      for (const mapped of actual) this.#changes.effect(kind, mapped, effect.op, op, exact);
      if (kind === Effect.read) continue;
      if (isExact) this.#changes.changeObject(kind, exact, effect.op, op);
      else this.#changes.changeObjectOf(kind, exact, actual, effect.op, op);
      if (!isExact) for (const other of effect.others) this.#changes.also(kind, actual, other, op);
    }
    const order = argument ?? noArgument;
    for (const [root, into] of summary.keeps) {
      const value = this.#valueOf(root, receiver, order);
      this.#values.link(
        value,
        [...into].flatMap((target) => this.#actual(target, self, argument)),
      );
      for (const target of into) this.#values.addInner(this.#valueOf(target, self, order), this.#values.selfOf(value));
      steps += into.size * (1 + this.#values.selfOf(value).length);
    }
    this.#budget.spend(steps / stepsForWork);
    for (const root of summary.returnsSelf) this.#values.addSelf(to, this.#actual(root, self, argument));
    for (const root of summary.returnsInner) this.#values.addInner(to, this.#actual(root, self, argument));
  }

  #valueOf(root: RootId, receiver: ValueId, argument: Argument): ValueId {
    const base = this.#values.roots.baseOf(root);
    if (base === 'param') return argument(this.#values.roots.of(root));
    return base === 'this' ? receiver : NOTHING;
  }

  #actual(root: RootId, receiver: ValueId, argument: Argument | null): RootId[] {
    const { base, deep } = this.#values.roots.get(root);
    if (base === 'variable') return [root];
    if (base === 'param' && argument === null) return [];
    const value = this.#valueOf(root, receiver, argument ?? noArgument);
    const onto = [...this.#values.selfOf(value)];
    const found = onto.map((target) => this.#values.roots.rebase(root, target, this.#values.hasFields(target)));
    if (deep) for (const inner of this.#values.innerOf(value)) found.push(this.#values.roots.deep(inner));
    return found;
  }

  /** `list.forEach(fn)`: fn gets what the receiver or an argument holds. */
  #applyInPlace(op: OpId, callee: FunctionId, receiver: ValueId): void {
    const summary = this.summaries.get(callee);
    if (summary === undefined || !this.#budget.spend(1 + summary.effects.size)) return;
    const call = this.#facts.d.get(op);
    const given = [...this.#values.contentsOf(receiver)];
    for (let index = 0; index < this.#facts.callCount.get(call); index++) {
      const value = this.#facts.argument(call, index);
      // The callback itself is not what it is given.
      if (!this.#isCallback(value)) given.push(...this.#values.contentsOf(value));
    }
    for (const [key, effect] of summary.effects) {
      for (const root of given) this.#changes.effect(key % kinds, root, effect.op, op, effect.value);
      if (key % kinds === Effect.read) continue;
      this.#changes.changeObjectOf(key % kinds, effect.value, given, effect.op, op);
      for (const other of effect.others) this.#changes.also(key % kinds, given, other, op);
    }
  }
}
