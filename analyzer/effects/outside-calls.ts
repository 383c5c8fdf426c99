/**
 * Calls of what comes from outside: effects that a model says, and those of a call of which nobody knows anything.
 *
 * Reads:   models, origins, rupture points.
 * Gives:   effects on arguments and receiver; what the result is; which functions the call may run.
 */
import type { Call, Rupture, TypeModel } from '../../models/types.js';
import type { Budget } from '../budget.js';
import {
  ANY_PROPERTY,
  type AtomId,
  type Facts,
  type FunctionId,
  NOTHING,
  Op,
  type OpId,
  type ValueId,
} from '../facts.js';
import type { Ruptures } from '../find-rupture-points.js';
import { methodByName } from '../method-by-name.js';
import { type Models, type Ref, registersNothing, type Shape } from '../models.js';
import { callbackIndexes } from '../origins/outside-calls.js';
import type { Token, TokenId } from '../tokens.js';
import type { Origins } from '../trace-origins.js';
import type { Changes } from './changes.js';
import { DescribedCode } from './described-code.js';
import type { FunctionValues } from './function-values.js';
import { HandedFunctions } from './handed-functions.js';
import { HeldCode } from './held-code.js';
import { HiddenState } from './hidden-state.js';
import { Effect } from './kinds.js';

export class OutsideEffects {
  readonly executes = new Map<OpId, readonly FunctionId[]>();
  readonly #facts: Facts;
  readonly #origins: Origins;
  readonly #models: Models;
  readonly #values: FunctionValues;
  readonly #changes: Changes;
  readonly #hidden: HiddenState;
  readonly #handed: HandedFunctions;
  /** By the function of which they are copies. */
  #copies: Map<FunctionId, FunctionId[]> | null = null;
  #shared: readonly TokenId[] | null = null;
  readonly heldCode: HeldCode;
  readonly described: DescribedCode;
  readonly #holdsHidden: (value: ValueId) => boolean;
  readonly #mayBeOther: (value: ValueId) => boolean;
  readonly #mayBeNoContext: (value: ValueId) => boolean;
  readonly #mayBeOfPackage: (value: ValueId) => boolean;

  constructor(
    facts: Facts,
    origins: Origins,
    ruptures: Ruptures,
    models: Models,
    values: FunctionValues,
    changes: Changes,
    budget: Budget,
  ) {
    this.#facts = facts;
    this.#origins = origins;
    this.#models = models;
    this.#values = values;
    this.#changes = changes;
    this.#hidden = new HiddenState(facts, origins, models);
    this.#handed = new HandedFunctions(facts, origins, ruptures, models, budget);
    this.described = new DescribedCode(facts, origins, models);
    this.heldCode = new HeldCode(facts, origins, ruptures, models, budget);
    const { tokens } = origins;
    this.#holdsHidden = origins.mayBe((id) => this.#hidden.holds(id));
    this.#mayBeOther = origins.mayBe((id) => {
      const token = tokens.get(id);
      return token.kind !== 'external' || token.site !== -1;
    });
    this.#mayBeNoContext = origins.mayBe((id) => {
      const token = tokens.get(id);
      return token.kind !== 'external' || models.typeThat(token.shape, keepsForRequest) === null;
    });
    this.#mayBeOfPackage = origins.mayBe((id) => {
      const token = tokens.get(id);
      return token.kind !== 'external' || !(token.shape.package === '' || token.shape.isOfNode);
    });
  }

  callOutside(op: OpId, receiver: ValueId, to: ValueId, isInside: boolean): void {
    const isNew = this.#facts.kind.get(op) === Op.construct;
    if (this.#isBinding(op)) {
      for (const value of this.#argumentsOf(op)) this.#keepIn(value, [to]);
      return this.#values.copy(receiver, to);
    }
    for (const value of this.#argumentsOf(op)) this.#changes.useUp(value, op);
    let known = isInside;
    let unknown = false;
    if (this.#usesHidden(op, receiver)) this.#changes.effect(Effect.stateful, -1, op, op);
    for (const id of this.#origins.calleeTokens(op)) {
      const token = this.#origins.tokens.get(id);
      if (token.kind === 'bound' && token.stateful) this.#changes.effect(Effect.stateful, -1, op, op);
      const shape = this.#shapeOf(id);
      if (shape === null) {
        unknown ||= this.#origins.tokens.get(id).kind === 'unknown';
        continue;
      }
      // Plain data that was put on another object is no function, whatever its name: `Object.assign(this, req.body)`.
      if (this.#models.isData(shape) && !this.#origins.tokensOf(receiver).includes(id)) {
        known = true;
        continue;
      }
      const model = this.#models.call(shape, isNew);
      if (model === null || this.#changesListed(op, model)) unknown = true;
      else this.#applyModel(op, model, this.#receiverOf(token, shape, op, receiver), to);
      known ||= model !== null;
    }
    if (!known && !unknown && (this.#isOtherwiseKnown(op) || this.#isMissing(op))) return;
    if (!known || unknown) {
      const byName = methodByName(this.#facts, this.#models, op, this.#origins.tokensOf, this.#origins.tokens);
      if (byName !== null) this.#applyModel(op, byName, receiver, to);
      else this.#callUnknown(op, receiver, to);
    }
    if (this.#values.recording && !(isInside && !unknown)) this.#noteExecuted(op);
  }

  /** In this copy of the function nothing is there to be called (`this.fallback.t()`, where none was given), in others it is known: who
   *  gets there without it fails. */
  #isOtherwiseKnown(op: OpId): boolean {
    const fn = this.#facts.fn(this.#facts.owner.get(op));
    const offset = op - fn.opStart;
    return [fn.origin, ...this.#copiesOf(fn.origin)].some((copy) => {
      const other = this.#facts.fn(copy).opStart + offset;
      return other !== op && this.#origins.calleesOf(other).length > 0;
    });
  }

  /** Whatever the receiver is, it has no such method, and the program has put none there: who gets there fails. */
  #isMissing(op: OpId): boolean {
    if (this.#facts.kind.get(op) !== Op.method || this.#facts.keys.has(op)) return false;
    const atom = this.#facts.c.get(op);
    const name = this.#facts.atomName(atom);
    // What a package has for itself is not listed.
    if (name.startsWith('_')) return false;
    const tokens = this.#origins.tokensOf(this.#facts.a.get(op));
    return (
      tokens.length > 0 &&
      tokens.every((id) => {
        const token = this.#origins.tokens.get(id);
        if (token.kind !== 'external' || !this.#models.isComplete(token.shape)) return false;
        return this.#models.member(token.shape, name) === null && !this.#isPut(id, atom);
      })
    );
  }

  /** The program has put a function of that name, or of any, on it, on what it inherits from, or on a class that may be behind it. */
  #isPut(id: TokenId, atom: AtomId): boolean {
    const { tokens } = this.#origins;
    const holds = (token: TokenId, name: AtomId): boolean => {
      const value = tokens.knownProperties(token)?.get(name);
      return value !== undefined && this.#origins.tokensOf(value).some((each) => tokens.get(each).kind !== 'external');
    };
    const isOn = (token: TokenId): boolean => holds(token, atom) || holds(token, ANY_PROPERTY);
    if (isOn(id)) return true;
    const own = tokens.get(id);
    const isOne = own.kind === 'external' && this.#models.oneOf(own.shape) !== null;
    this.#shared ??= this.#findShared();
    return this.#shared.some((each) =>
      tokens.get(each).kind === 'external' ? isOn(each) : isOne && holds(each, atom),
    );
  }

  /** What modules and the language export, and classes that extend that. */
  #findShared(): readonly TokenId[] {
    const { tokens } = this.#origins;
    const found: TokenId[] = [];
    for (let id = 1; id < tokens.length; id++) {
      const token = tokens.get(id);
      if (token.kind === 'external' ? token.site === -1 : token.kind === 'function' && this.#isHeir(token.fn))
        found.push(id);
    }
    return found;
  }

  #isHeir(fn: FunctionId): boolean {
    const superclass = this.#facts.classes.get(fn)?.superclass ?? NOTHING;
    return superclass !== NOTHING && this.#origins.tokensOf(superclass).length > 0;
  }

  #copiesOf(origin: FunctionId): readonly FunctionId[] {
    if (this.#copies === null) {
      this.#copies = new Map();
      for (const fn of this.#facts.functions) {
        if (fn.id === fn.origin) continue;
        const known = this.#copies.get(fn.origin);
        if (known === undefined) this.#copies.set(fn.origin, [fn.id]);
        else known.push(fn.id);
      }
    }
    return this.#copies.get(origin) ?? [];
  }

  /** What is called by itself is what its model calls `this`: `limit(fn)`. */
  #receiverOf(token: Token, { type }: Shape, op: OpId, receiver: ValueId): ValueId {
    if (token.kind === 'bound') return token.receiver;
    const isItself = type !== null && receiver === NOTHING && this.#facts.kind.get(op) === Op.call;
    return isItself ? this.#facts.a.get(op) : receiver;
  }

  /** What is called, or whose method is, or what is given, holds state that no variable shows. */
  #usesHidden(op: OpId, receiver: ValueId): boolean {
    return this.#holdsHidden(this.#origins.calleeValue(op)) || this.#holdsHidden(receiver) || this.#isGivenHidden(op);
  }

  #isGivenHidden(op: OpId): boolean {
    const call = this.#facts.d.get(op);
    for (let index = 0; index < this.#facts.callCount.get(call); index++)
      if (this.#holdsHidden(this.#facts.argument(call, index))) return true;
    return false;
  }

  /** `Object.assign.apply(null, list)`: what is changed is in a list. */
  #changesListed(op: OpId, { mutates = [] }: Call): boolean {
    return this.#indirectly(op) === 'apply' && mutates.some((target) => target !== 'this');
  }

  #indirectly(op: OpId): string | null {
    return this.#origins.receiverOf.has(op) ? this.#facts.atomName(this.#facts.c.get(op)) : null;
  }

  /** `handler.bind(this)` and `list.push.bind(list)` run nothing. */
  #isBinding(op: OpId): boolean {
    if (this.#facts.kind.get(op) !== Op.method || this.#facts.atomName(this.#facts.c.get(op)) !== 'bind') return false;
    return this.#origins.tokensOf(this.#facts.a.get(op)).some((id) => {
      const shape = this.#shapeOf(id);
      if (shape === null) return this.#origins.tokens.functionOf(id) !== null;
      return this.#models.call(shape, false) !== null && !this.#models.lists(shape, 'bind');
    });
  }

  #shapeOf(id: number): Shape | null {
    let token = this.#origins.tokens.get(id);
    while (token.kind === 'bound') token = this.#origins.tokens.get(token.target);
    return token.kind === 'external' ? token.shape : null;
  }

  #applyModel(op: OpId, model: Call, receiver: ValueId, to: ValueId): void {
    const args = this.#argumentsOf(op);
    if (registersNothing(model, args.length)) return this.#values.addSelf(to, this.#values.contentsOf(receiver));
    for (const target of model.mutates ?? noTargets) {
      if (target === 'this') this.#changes.change(Effect.mutate, receiver, op);
      else
        for (const value of chosen(args, target)) {
          this.#changes.change(Effect.mutate, value, op);
          if (model.deep) this.#changes.changeWithin(value, op);
        }
    }
    if (copiesProperties(model)) this.#copyInto(args, to);
    else if (model.keeps !== undefined) {
      const isElsewhere = model.keepsApart === true || this.#keepsElsewhere(receiver);
      for (const index of model.keeps)
        for (const value of chosen(args, index as number)) this.#keepIn(value, isElsewhere ? [to] : [receiver, to]);
    }
    for (const index of model.views ?? noTargets)
      for (const value of chosen(args, index as number)) this.#values.copy(value, to);
    for (const value of args) this.#callGiven(value, args, receiver, op);
    for (const rupture of model.ruptures ?? noRuptures) this.#callUnknownBack(rupture, args, receiver, op);
    if (model.stateful || this.#isBeyond(op, args.length, model)) this.#changes.effect(Effect.stateful, -1, op, op);
    if (model.does?.includes('process')) this.#changes.effect(Effect.process, -1, op, op);
    if (model.returns === undefined || model.returns === 'fresh') return;
    for (const ref of this.#models.refs(model.returns))
      if (!this.#hasArgument(op, ref.without)) this.#giveRef(ref, receiver, to, args);
  }

  #isBeyond(op: OpId, count: number, { statefulBeyond }: Call): boolean {
    if (statefulBeyond === undefined) return false;
    return count > statefulBeyond || this.#facts.callSpread.get(this.#facts.d.get(op)) >= 0;
  }

  /** `Object.assign(target, source)`: what the source holds is then held by the target. */
  #copyInto(args: readonly ValueId[], to: ValueId): void {
    for (const value of args.slice(1)) {
      for (const holder of [args[0] ?? NOTHING, to])
        if (holder !== NOTHING) this.#values.addInner(holder, this.#values.contentsOf(value));
    }
  }

  /** `items.forEach(set.add, set)`, `setTimeout(map.delete.bind(map, key))`: what is called is not of the program. */
  #callGiven(value: ValueId, args: readonly ValueId[], receiver: ValueId, op: OpId): void {
    for (const id of this.#origins.tokensOf(value)) {
      const shape = this.#shapeOf(id);
      // A middleware is called for requests.
      const model = shape === null || shape.type !== null ? null : this.#models.call(shape, false);
      if (model?.mutates === undefined) continue;
      const token = this.#origins.tokens.get(id);
      for (const target of model.mutates) {
        if (target === 'this' && token.kind === 'bound') {
          this.#changes.change(Effect.mutate, token.receiver, op);
          continue;
        }
        this.#changes.change(target === 'this' ? Effect.mutate : Effect.hand, target === 'this' ? value : receiver, op);
        // `setTimeout(Object.assign, 1, state, more)`
        for (const other of args) if (other !== value) this.#changes.change(Effect.mutate, other, op);
      }
    }
  }

  /** `rows.forEach(unknown.touch)`: code that nobody knows has what the callback is given. */
  #callUnknownBack(rupture: Rupture, args: readonly ValueId[], receiver: ValueId, op: OpId): void {
    if (rupture.within !== undefined) return;
    for (const index of callbackIndexes(rupture, args.length, this.#facts.callSpread.get(this.#facts.d.get(op)))) {
      if (!this.#isUnknownFunction(args[index] ?? NOTHING)) continue;
      for (const param of rupture.params ?? noParams)
        for (const ref of this.#models.refs(param)) {
          if (ofReceiver.has(ref.kind) && !this.#isNamespace(receiver)) this.#changes.change(Effect.hand, receiver, op);
          if (ref.kind === 'argument' || ref.kind === 'contentsOf')
            this.#changes.change(Effect.hand, args[ref.index] ?? NOTHING, op);
        }
      // What it is to have as `this`: `rows.map(fn, self)`.
      if (rupture.kind === 'sync' && index + 1 < args.length)
        this.#changes.change(Effect.hand, args[index + 1] ?? NOTHING, op);
    }
  }

  #isUnknownFunction(value: ValueId): boolean {
    return this.#origins.tokensOf(value).some((id) => {
      const shape = this.#shapeOf(id);
      if (shape === null) return this.#origins.tokens.get(id).kind === 'unknown';
      return this.#models.isUnknown(shape) && !this.#models.isData(shape);
    });
  }

  /** `Object`, `Promise`, a package: it keeps nothing of what its functions are given. */
  #isNamespace(receiver: ValueId): boolean {
    return !this.#mayBeOther(receiver) && this.#origins.tokensOf(receiver).length > 0;
  }

  #keepsElsewhere(receiver: ValueId): boolean {
    return this.#isNamespace(receiver) || this.#isContext(receiver);
  }

  /** What it keeps hangs on requests. */
  #isContext(receiver: ValueId): boolean {
    return !this.#mayBeNoContext(receiver) && this.#origins.tokensOf(receiver).length > 0;
  }

  /** The same of the language, or of Node. */
  #isOfPlatform(receiver: ValueId): boolean {
    return this.#isNamespace(receiver) && !this.#mayBeOfPackage(receiver);
  }

  #hasArgument(op: OpId, index: number | undefined): boolean {
    if (index === undefined) return false;
    const spread = this.#facts.callSpread.get(this.#facts.d.get(op));
    const first = this.#indirectly(op) === null ? 0 : 1;
    return index < this.#argumentsOf(op).length && (spread < 0 || first + index < spread);
  }

  #argumentsOf(op: OpId): readonly ValueId[] {
    const call = this.#facts.d.get(op);
    const count = this.#facts.callCount.get(call);
    const args: ValueId[] = [];
    // The first of `fn.call(receiver, …)` is none.
    for (let index = this.#indirectly(op) === null ? 0 : 1; index < count; index++)
      args.push(this.#facts.argument(call, index));
    return args;
  }

  #keepIn(value: ValueId, holders: readonly ValueId[]): void {
    // A text that is written down is part of nothing: `db('books')`, `db(TABLE)`.
    if (this.#facts.strings.has(value) || this.#facts.plain.has(value)) return;
    for (const holder of holders) {
      if (holder === NOTHING) continue;
      this.#values.addInner(holder, this.#values.selfOf(value));
      this.#values.addInner(holder, this.#values.innerOf(value));
      this.#values.link(
        value,
        this.#values.selfOf(holder).map((root) => this.#values.roots.deep(root)),
      );
    }
  }

  #giveRef(ref: Ref, receiver: ValueId, to: ValueId, args: readonly ValueId[]): void {
    switch (ref.kind) {
      case 'this':
        return this.#values.copy(receiver, to);
      case 'argument':
      case 'bound':
      case 'promisified':
        return this.#values.copy(args[ref.index] ?? NOTHING, to);
      case 'formed':
        return this.#values.addSelf(to, this.#values.contentsOf(args[ref.index] ?? NOTHING));
      case 'unknown':
        // It may be made around what was given: `point(list).geometry.coordinates`.
        for (const arg of args) this.#values.addSelf(to, this.#values.contentsOf(arg));
        return;
      case 'contents':
        // Of what hangs on a request no variable has to answer: it has no root but itself.
        return this.#values.addSelf(
          to,
          this.#isContext(receiver) ? [this.#values.roots.variable(to)] : this.#values.contentsOf(receiver),
        );
      case 'copy':
      case 'iterator':
      case 'step':
        return this.#values.addInner(to, this.#values.contentsOf(receiver));
      case 'contentsOf':
      case 'within':
        return this.#values.addSelf(to, this.#values.contentsOf(args[ref.index] ?? NOTHING));
      case 'copyOf':
        for (const arg of ref.index < 0 ? args : args.slice(ref.index, ref.index + 1))
          this.#values.addInner(to, this.#values.contentsOf(arg));
        return;
      case 'results':
      case 'result':
        // What a callback gives may be any of what it was given, but nothing of the language's that it is: `map(JSON.parse)`.
        for (const arg of args) if (!this.#isNamespace(arg)) this.#values.addInner(to, this.#values.contentsOf(arg));
        if (!this.#isNamespace(receiver)) this.#values.addInner(to, this.#values.contentsOf(receiver));
        return;
      default:
        return;
    }
  }

  #callUnknown(op: OpId, receiver: ValueId, to: ValueId): void {
    this.#changes.effect(Effect.unknown, -1, op, op);
    const call = this.#facts.d.get(op);
    this.#changes.change(Effect.hand, receiver, op);
    // A function that nobody knows may give what it was made from: `_.constant(list)()`.
    const callee = this.#facts.kind.get(op) === Op.call ? this.#facts.a.get(op) : NOTHING;
    if (callee !== NOTHING && !this.#isOfPlatform(callee)) this.#values.addSelf(to, this.#values.contentsOf(callee));
    // What `Object` or `path` gives is no part of it; where nobody knows what it is, who changes it stays home.
    if (!this.#isOfPlatform(receiver)) this.#values.addSelf(to, this.#values.contentsOf(receiver));
    for (let index = 0; index < this.#facts.callCount.get(call); index++) {
      const value = this.#facts.argument(call, index);
      this.#changes.change(Effect.hand, value, op);
      this.#values.addSelf(to, this.#values.contentsOf(value));
    }
    for (const fn of this.#handed.toCall(op)) this.#changes.handResult(this.#facts.fn(fn).result, op);
  }

  /** Whoever is given a function may run it, at once or later. */
  #noteExecuted(op: OpId): void {
    const inPlace = this.#origins.inPlaceOf(op);
    this.#note(op, inPlace, new Set([...this.#handed.toCall(op), ...this.heldCode.of(op)]));
  }

  /** So may those on whose objects it is put. */
  storeOutside(op: OpId, base: ValueId, value: ValueId, atom: AtomId): void {
    if (this.#values.recording) this.#note(op, [], this.#handed.toObject(base, value, atom));
  }

  #note(op: OpId, inPlace: readonly FunctionId[], handed: ReadonlySet<FunctionId>): void {
    if (inPlace.length + handed.size === 0) return;
    this.executes.set(op, [...new Set([...this.#origins.calleesOf(op), ...inPlace, ...handed])]);
  }
}

/** What such a call keeps are properties of what it is given. */
export function copiesProperties(call: Call): boolean {
  return call.returns === 'argument 0' && call.mutates?.includes(0) === true && call.keeps?.includes(-1) === true;
}

const noRuptures: readonly Rupture[] = [];
const noParams: readonly string[] = [];
/** What of the receiver a callback may be given. */
const ofReceiver: ReadonlySet<string> = new Set(['this', 'contents', 'copy', 'iterator', 'step']);
const noTargets: readonly ('this' | number)[] = [];

/** `-1` stands for all arguments. */
function chosen(args: readonly ValueId[], index: number): readonly ValueId[] {
  return index < 0 ? args : args.slice(index, index + 1);
}

const keepsForRequest = (type: TypeModel): boolean => type.keepsForRequest === true;
