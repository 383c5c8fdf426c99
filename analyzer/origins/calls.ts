/**
 * Calls of the program's own functions: arguments, receivers, results, instances, callbacks.
 *
 * Reads:   facts; who is called.
 * Gives:   to `TokenFlow`: copies from arguments to parameters and from results; to `Found`: callees.
 */
import type { Rupture, ValueRef } from '../../models/types.js';
import { isToldApart } from '../clone-function.js';
import {
  ANY_PROPERTY,
  type AtomId,
  type Facts,
  type FunctionFact,
  FunctionFlag,
  type FunctionId,
  NOTHING,
  Op,
  type OpId,
  type ValueId,
  VariableKind,
} from '../facts.js';
import type { Models } from '../models.js';
import { type Token, type TokenId, type TokenTable, UNKNOWN } from '../tokens.js';
import { type Contexts, isHolder } from './contexts.js';
import type { Found } from './found.js';
import type { GivenValues } from './given-values.js';
import type { LiveCopies } from './live-copies.js';
import type { OutsideCalls } from './outside-calls.js';
import type { Properties } from './properties.js';
import type { Seeds } from './seeds.js';
import type { TokenFlow } from './token-flow.js';
import { type CallbackUse, type CallView, type Use, viewWith, type Waiting } from './uses.js';

export interface CallPasses {
  readonly flow: TokenFlow;
  readonly seeds: Seeds;
  readonly found: Found;
  readonly properties: Properties;
  readonly givenValues: GivenValues;
  readonly outsideCalls: OutsideCalls;
  readonly contexts: Contexts;
  readonly live: LiveCopies;
}

/** What they hold is under no name of theirs. */
const KEYED: ReadonlySet<string> = new Set(['Map', 'Set', 'WeakMap', 'WeakSet']);

export class Calls {
  readonly #passes: CallPasses;
  readonly #flow: TokenFlow;
  readonly #found: Found;
  readonly #properties: Properties;
  readonly #givenValues: GivenValues;
  readonly #outsideCalls: OutsideCalls;
  readonly #contexts: Contexts;
  readonly #facts: Facts;
  readonly #models: Models;
  readonly #tokens: TokenTable;
  readonly #instances = new Map<string, TokenId>();
  readonly #waiting: Waiting[] = [];
  /** Uses of what callbacks give, by the uses of these callbacks. */
  readonly #ofResults = new Map<Extract<Use, { kind: 'callback' }>, Extract<Use, { kind: 'callback' }>>();
  readonly #superCalls: { readonly id: TokenId; readonly view: CallView }[] = [];

  constructor(passes: CallPasses) {
    this.#passes = passes;
    this.#flow = passes.flow;
    this.#found = passes.found;
    this.#properties = passes.properties;
    this.#givenValues = passes.givenValues;
    this.#outsideCalls = passes.outsideCalls;
    this.#contexts = passes.contexts;
    this.#facts = passes.flow.facts;
    this.#models = passes.flow.models;
    this.#tokens = passes.flow.tokens;
  }

  /** A method call, and something that its receiver can be. */
  method(id: TokenId, op: OpId): void {
    const token = this.#tokens.get(id);
    if (token.kind === 'object' && token.type === 'Generator')
      return this.#step(id, token.fn, this.#passes.seeds.viewOf(op));
    const atom = this.#facts.c.get(op);
    const name = this.#facts.atomName(atom);
    if (token.kind === 'function' || token.kind === 'bound' || this.#isCallable(token, name)) {
      if (name === 'bind' || name === 'call' || name === 'apply')
        return this.#indirectCall(id, name, this.#passes.seeds.viewOf(op));
    }
    if (token.kind === 'object' && token.type === 'Instance' && this.#contexts.areAllCallsTold)
      return this.#methodOfInstance(id, atom, op);
    const to = this.#found.methodValueOf(op);
    // `map[name](key, value)` may be what the map holds under that name, or `set`.
    if (atom === ANY_PROPERTY && token.kind === 'object' && KEYED.has(token.type)) this.#flow.add(to, UNKNOWN);
    // A model that says what a name that is put together means, means one of the methods, and not what the object holds.
    const computed = atom === ANY_PROPERTY && token.kind === 'external' ? this.#models.computed(token.shape) : null;
    if (computed !== null && token.kind === 'external') {
      this.#flow.edge(this.#flow.property(id, ANY_PROPERTY), to);
      return this.#flow.addShape(to, computed, token.site);
    }
    this.#properties.load(id, { kind: 'load', atom, to, receiver: this.#facts.a.get(op), op });
  }

  /** What each instance of a class does is told apart: a call for each. */
  #methodOfInstance(id: TokenId, atom: AtomId, op: OpId): void {
    let all = this.#found.calleesOfAll.get(op);
    if (all === undefined) {
      this.#found.calleesOfAll.set(op, (all = this.#facts.newValue()));
      this.#flow.edge(this.#found.methodValueOf(op), all);
    }
    const receiver = this.#flow.holding(id);
    const callee = this.#facts.newValue();
    this.#flow.edge(callee, all);
    this.#flow.use(callee, { kind: 'call', view: viewWith(this.#passes.seeds.viewOf(op), { receiver, only: id }) });
    this.#properties.load(id, { kind: 'load', atom, to: callee, receiver, op });
  }

  /** `generator.next()` runs its body and gives `{ value }`. */
  #step(id: TokenId, fn: FunctionId, view: CallView): void {
    this.#found.addCallee(view.op, fn);
    // What is sent in is what `yield` gives: lowering takes that for anything that is thrown around.
    this.#flow.edge(view.args[0] ?? NOTHING, this.#facts.thrown);
    const result = this.#flow.madeAt(view.op, 'Object');
    this.#flow.edge(this.#flow.property(id, ANY_PROPERTY), this.#flow.property(result, this.#facts.atom('value')));
    this.#flow.add(view.to, result);
  }

  #isCallable(token: ReturnType<TokenTable['get']>, method: string): boolean {
    if (token.kind !== 'external' || this.#models.lists(token.shape, method)) return false;
    return this.#models.call(token.shape, false) !== null;
  }

  #indirectCall(id: TokenId, name: 'bind' | 'call' | 'apply', view: CallView): void {
    const receiver = view.args[0] ?? NOTHING;
    if (name === 'bind') {
      this.#flow.add(view.to, this.#boundTo(id, receiver, view.args.slice(1)));
      return;
    }
    this.#found.receiverOf.set(view.op, receiver);
    this.#noteIndirect(view.op, id);
    if (name === 'call')
      return this.call(id, viewWith(view, { receiver, args: view.args.slice(1), spread: view.spread - 1 }));
    const list = view.args[1] ?? NOTHING;
    const known = this.#passedOn(view.op, list);
    const args = [...known, this.#flow.contents(list, view.op)];
    this.call(id, viewWith(view, { receiver, args, spread: known.length }));
  }

  /** Of `fn.apply(this, arguments)` the arguments that have names. */
  #passedOn(op: OpId, list: ValueId): readonly ValueId[] {
    const variable = this.#facts.variables.get(list);
    if (op < 0 || variable?.kind !== VariableKind.arguments || variable.owner !== this.#facts.owner.get(op)) return [];
    const { flags, params, rest } = this.#facts.fn(variable.owner);
    if ((flags & FunctionFlag.passesArgumentsOn) === 0) return [];
    return rest === -1 ? params : params.slice(0, rest);
  }

  /** Of what comes from outside the callee is told as such, not by what its own `call` does. */
  #noteIndirect(op: OpId, id: TokenId): void {
    if (op < 0 || this.#tokens.get(id).kind !== 'external') return;
    let all = this.#found.calleesOfAll.get(op);
    if (all === undefined) {
      this.#found.calleesOfAll.set(op, (all = this.#facts.newValue()));
      this.#flow.edge(this.#found.methodValueOf(op), all);
    }
    this.#flow.add(all, id);
  }

  /** A function that is bound already keeps its receiver; and `f = f.bind(…)` in a loop must not give ever new functions. */
  #boundTo(id: TokenId, receiver: ValueId, args: readonly ValueId[]): TokenId {
    const token = this.#tokens.get(id);
    if (token.kind !== 'bound') return this.#tokens.bound(id, receiver, args, false);
    // `promisify(db.get).bind(db)`: it had none.
    const own = token.receiver === NOTHING ? receiver : token.receiver;
    if (args.length === 0 && own === token.receiver) return id;
    return token.args.length > 4
      ? UNKNOWN
      : this.#tokens.bound(token.target, own, [...token.args, ...args], token.promisified, token.stateful);
  }

  call(id: TokenId, view: CallView): void {
    const token = this.#tokens.get(id);
    switch (token.kind) {
      case 'function':
        return this.#callFunction(id, token.fn, view);
      case 'bound':
        return this.call(
          token.target,
          viewWith(view, {
            receiver: token.receiver === NOTHING ? view.receiver : token.receiver,
            args: [...token.args, ...view.args],
            spread: view.spread < 0 ? -1 : view.spread + token.args.length,
            promisified: view.promisified || token.promisified,
            rearranged: view.rearranged === true || token.args.length > 0,
          }),
        );
      case 'external':
        return this.#outsideCalls.callExternal(token.shape, token.site, view);
      case 'unknown':
        this.#flow.add(view.to, UNKNOWN);
        for (const arg of view.args) this.#flow.use(arg, { kind: 'escape' });
        return;
      case 'object':
        return;
    }
  }

  #callFunction(id: TokenId, called: FunctionId, view: CallView): void {
    if (this.#isRefused(called, view)) return;
    if (this.#awaitGiven(id, called, view)) return;
    if (this.#isSuperCall(called, view)) {
      this.#superCalls.push({ id, view });
      return this.#flow.use(view.receiver, { kind: 'super', callee: id, called, view });
    }
    const fn = this.#contexts.forCall(this.#facts.fn(called), view);
    const fnId = fn.id;
    if (view.op >= 0) this.#found.addCallee(view.op, fnId);
    this.#found.noteCalled(fnId);
    this.#found.start(fnId);
    this.#passArguments(fn, view.args, view.spread);
    const isArrow = (fn.flags & FunctionFlag.arrow) !== 0;
    if (view.isNew) this.#construct(id, fn, view);
    else if (!isArrow) this.#receive(fn, view.receiver);
    if (!view.isNew && (fn.flags & FunctionFlag.classConstructor) !== 0) this.#takeFromSuper(fn, view);
    if (view.promisified) this.#givenValues.addPromise(view.op, view.to, NOTHING);
    else if (!view.isNew) this.#flow.edge(fn.result, view.to);
  }

  /** `instance[key]()` may be `constructor`, as far as is known; a class throws where it is called so. */
  #isRefused(called: FunctionId, { op, isNew }: CallView): boolean {
    if (isNew || op < 0 || this.#facts.kind.get(op) !== Op.method || this.#facts.c.get(op) !== ANY_PROPERTY)
      return false;
    return (this.#facts.fn(called).flags & FunctionFlag.classConstructor) !== 0;
  }

  /** Without a receiver `this` is the global object, or what somebody has bound to it unseen. */
  #receive(fn: FunctionFact, receiver: ValueId): void {
    if (receiver === NOTHING) this.#flow.add(fn.receiver, UNKNOWN);
    else this.#flow.edge(receiver, fn.receiver);
  }

  /** `super.method()`: what it does to each receiver is told apart as well. */
  #isSuperCall(called: FunctionId, view: CallView): boolean {
    if (view.only !== undefined || view.isNew || view.op < 0 || view.receiver === NOTHING) return false;
    if (!this.#contexts.areAllCallsTold) return false;
    const fn = this.#facts.fn(called);
    const isDirect = this.#facts.kind.get(view.op) === Op.call && view.receiver === this.#facts.c.get(view.op);
    return isDirect && (fn.flags & FunctionFlag.classConstructor) === 0 && isToldApart(this.#facts, fn);
  }

  callSuper(id: TokenId, { callee, called, view }: Extract<Use, { kind: 'super' }>): void {
    this.#callFunction(callee, called, viewWith(view, { receiver: this.#flow.holding(id), only: id }));
  }

  /** Of an object that nobody is known to make. */
  admitSuperCalls(): boolean {
    let found = false;
    for (const { id, view } of this.#superCalls.splice(0)) {
      const called = this.#tokens.functionOf(id);
      if (called === null || this.#flow.held.size(view.receiver) > 0) continue;
      this.#callFunction(id, called, viewWith(view, { only: UNKNOWN }));
      found = true;
    }
    return found;
  }

  /** Whether what it gives will hold objects shows only when they arrive. */
  #awaitGiven(id: TokenId, called: FunctionId, view: CallView): boolean {
    const fn = this.#facts.fn(called);
    if (!this.#contexts.areAllCallsTold) return false;
    if (view.awaited === true || view.op < 0 || !isHolder(fn) || this.#contexts.isGivenAny(view)) return false;
    const waiting = { id, called, view: viewWith(view, { awaited: true }), isDone: false };
    this.#waiting.push(waiting);
    for (const arg of view.args) this.#flow.use(arg, { kind: 'arrive', waiting });
    return true;
  }

  callWaiting(waiting: Waiting): void {
    if (waiting.isDone) return;
    waiting.isDone = true;
    this.#callFunction(waiting.id, waiting.called, waiting.view);
  }

  /** Nothing arrived. */
  admitWaiting(): boolean {
    let found = false;
    for (const waiting of this.#waiting.splice(0)) {
      found ||= !waiting.isDone;
      this.callWaiting(waiting);
    }
    return found;
  }

  #passArguments(fn: FunctionFact, args: readonly ValueId[], spread: number): void {
    if (fn.list !== NOTHING) {
      for (const arg of args) this.#flow.use(fn.list, { kind: 'store', atom: ANY_PROPERTY, from: arg, op: -1 });
    }
    for (const [index, param] of fn.params.entries()) {
      if (index === fn.rest) {
        for (const arg of args.slice(index))
          this.#flow.use(param, { kind: 'store', atom: ANY_PROPERTY, from: arg, op: -1 });
      } else if (spread >= 0 && index >= spread) {
        this.#flow.edge(args[spread] ?? NOTHING, param);
      } else {
        this.#flow.edge(args[index] ?? NOTHING, param);
      }
    }
  }

  #construct(id: TokenId, fn: FunctionFact, view: CallView): void {
    const key = `${view.op} ${fn.id}`;
    let instance = this.#instances.get(key);
    if (instance === undefined) {
      const proto = this.#flow.property(id, this.#flow.prototype);
      this.#flow.add(proto, this.#properties.prototypeOf(this.#tokens.functionOf(id) ?? fn.id));
      instance = this.#tokens.make({
        kind: 'object',
        type: 'Instance',
        fn: this.#facts.owner.get(view.op),
        start: this.#facts.position.get(view.op),
        proto,
      });
      this.#instances.set(key, instance);
      this.#passes.live.made(instance, fn.id);
    }
    this.#flow.add(view.to, instance);
    this.#flow.add(fn.receiver, instance);
    this.#properties.giveToImplicit(instance);
    // `return Store.instance` gives that in its place.
    this.#flow.edge(fn.result, view.to);
  }

  /** What `super()` returns is `this` from there on, and what `new` gives. */
  #takeFromSuper(fn: FunctionFact, { op, receiver }: CallView): void {
    this.#flow.edge(fn.result, receiver);
    if (op >= 0) this.#flow.edge(fn.result, this.#facts.fn(this.#facts.owner.get(op)).result);
  }

  callback(id: TokenId, use: Extract<Use, { kind: 'callback' }>): void {
    const token = this.#tokens.get(id);
    const { rupture, op } = use.use;
    if (token.kind === 'object' && rupture.callback === 'functions')
      return this.#flow.lay(this.#flow.allProperties(id), use);
    const called = this.#tokens.functionOf(id);
    if (called === null) return this.#handToOthers(token, use);
    const fn =
      rupture.kind === 'sync' ? this.#contexts.forRearranged(this.#facts.fn(called), op) : this.#facts.fn(called);
    const fnId = fn.id;
    this.#found.noteCalled(fnId);
    this.#found.start(fnId);
    if (rupture.callsResult === true) this.#callResult(fn.result, use);
    const bound = token.kind === 'bound' ? token.args : [];
    const isErrorHandler = rupture.errorParams !== undefined && fn.params.length === 4;
    const params = (isErrorHandler ? rupture.errorParams : rupture.params) ?? [];
    this.#passArguments(fn, [...bound, ...this.#given(use, params)], -1);
    if (rupture.params === undefined && rupture.label !== undefined) this.#passEmitted(fn, use.call);
    if (isErrorHandler) this.#flow.edge(this.#facts.thrown, fn.params[0] ?? NOTHING);
    if (token.kind === 'bound') this.#flow.edge(token.receiver, fn.receiver);
    else if ((fn.flags & FunctionFlag.arrow) === 0) this.#flow.edge(this.#receiverOf(use), fn.receiver);
    if (rupture.kind === 'sync' && rupture.runBy === undefined && op >= 0) this.#found.addInPlace(op, fnId);
    // `list.forEach(fn, thisArg)`
    const after = use.use.argument + 1;
    if (rupture.kind === 'sync' && rupture.within === undefined && token.kind === 'function')
      this.#flow.edge(use.call.args[after] ?? NOTHING, fn.receiver);
    if (rupture.kind === 'post' && this.#catches(use.use)) this.#flow.edge(this.#facts.thrown, fn.params[0] ?? NOTHING);
  }

  /** Whoever calls the function calls functions in what it gives. */
  #callResult(result: ValueId, use: Extract<Use, { kind: 'callback' }>): void {
    let inner = this.#ofResults.get(use);
    if (inner === undefined) {
      const { op, argument, rupture } = use.use;
      const called: Rupture = { ...rupture, callback: 'functions', params: [] };
      inner = {
        kind: 'callback',
        use: { op, rupture: called, value: result, argument, isResult: true },
        call: use.call,
        given: null,
      };
      this.#ofResults.set(use, inner);
      this.#ofResults.set(inner, inner);
    }
    this.#found.callbacks.push({ ...inner.use, value: result });
    this.#flow.lay(result, inner);
  }

  /** Middleware that nobody has read has the request. */
  #handToOthers(token: Token, use: Extract<Use, { kind: 'callback' }>): void {
    const { rupture } = use.use;
    if (token.kind === 'bound') return this.#handToOthers(this.#tokens.get(token.target), use);
    const isKnown = token.kind !== 'unknown' && (token.kind !== 'external' || !this.#models.isUnknown(token.shape));
    if (isKnown || rupture.request !== true) return;
    for (const value of this.#given(use, rupture.params ?? [])) this.#flow.use(value, { kind: 'escape' });
  }

  #receiverOf(use: Extract<Use, { kind: 'callback' }>): ValueId {
    const { rupture, argument } = use.use;
    const { thisIs, thisIsReceiver, thisIsResult, within } = rupture;
    if (thisIsReceiver === true) return use.call.receiver;
    if (thisIsResult === true) return use.call.to;
    if (thisIs !== undefined) return this.#given(use, listOf(thisIs))[0] ?? NOTHING;
    return within === undefined ? NOTHING : (use.call.args[argument] ?? NOTHING);
  }

  /** The same to each function that the callback can be. */
  #given(use: Extract<Use, { kind: 'callback' }>, params: readonly ValueRef[]): readonly ValueId[] {
    if (params.length === 0) return [];
    let given = use.given;
    while (given !== null && given.params !== params) given = given.before;
    if (given === null) {
      // What a listener is called with is made anew for each call (a socket, a chunk), not where it is registered.
      this.#givenValues.givesAnew = use.use.rupture.kind !== 'sync';
      this.#givenValues.givesAgain = use.use.rupture.kind === 'start';
      const values = params.map((ref) => this.#givenValues.refValue(ref, use.call));
      this.#givenValues.givesAnew = false;
      this.#givenValues.givesAgain = false;
      given = { params, values, before: use.given };
      use.given = given;
    }
    return given.values;
  }

  /** Nobody says what the event brings: it may be whatever the program has given the emitter, to emit it. */
  #passEmitted(fn: FunctionFact, call: CallView): void {
    const emitted = this.#flow.contents(call.receiver, call.op);
    for (const param of fn.params) this.#flow.use(emitted, { kind: 'pass', to: param });
  }

  /** `promise.catch(fn)`, and the second callback of `then` */
  #catches(use: CallbackUse): boolean {
    if (use.op < 0 || this.#facts.kind.get(use.op) !== Op.method) return false;
    const name = this.#facts.atomName(this.#facts.c.get(use.op));
    return name === 'catch' || (name === 'then' && use.argument === 1);
  }

  inPlace(id: TokenId, use: Extract<Use, { kind: 'inPlace' }>): void {
    const fn = this.#tokens.functionOf(id);
    if (fn === null) return;
    this.#found.start(fn);
    if (use.isMade) this.#construct(id, this.#facts.fn(fn), viewWith(use.call, { to: use.result }));
    else this.#flow.edge(this.#facts.fn(fn).result, use.result);
  }

  admitUnknownCallers(): boolean {
    let found = false;
    for (const fn of this.#facts.functions) {
      if (this.#found.isCalled(fn.id) && !this.#found.escaped.has(fn.id)) continue;
      if (!this.#found.mayRun(fn.id)) continue;
      for (const param of fn.params) if (this.#flow.add(param, UNKNOWN)) found = true;
    }
    return found;
  }
}

const lists = new Map<ValueRef, readonly [ValueRef]>();

/** The same list for the same text, as lists are what is remembered of parameters. */
function listOf(ref: ValueRef): readonly [ValueRef] {
  let list = lists.get(ref);
  if (list === undefined) lists.set(ref, (list = [ref]));
  return list;
}
