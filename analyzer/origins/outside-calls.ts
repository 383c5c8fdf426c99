/**
 * Calls of what comes from outside: what its model says of callbacks, of what is kept and of what comes back.
 *
 * Reads:   models, facts.
 * Gives:   to `TokenFlow`: results; to `Found`: callbacks.
 */
import type { Rupture } from '../../models/types.js';
import { whatIs } from '../effects/patches.js';
import { ANY_PROPERTY, type Facts, type FunctionId, NOTHING, Op, type OpId, type ValueId } from '../facts.js';
import { isPure, methodByName } from '../method-by-name.js';
import type { Models, Shape } from '../models.js';
import { type Token, type TokenId, type TokenTable, UNKNOWN } from '../tokens.js';
import type { Found } from './found.js';
import type { GivenValues } from './given-values.js';
import type { Properties } from './properties.js';
import type { Seeds } from './seeds.js';
import type { TokenFlow } from './token-flow.js';
import { type CallbackUse, type CallView, lendAll, startAll, startIt, viewWith } from './uses.js';

export class OutsideCalls {
  readonly #flow: TokenFlow;
  readonly #found: Found;
  readonly #seeds: Seeds;
  readonly #properties: Properties;
  readonly #givenValues: GivenValues;
  readonly #facts: Facts;
  readonly #models: Models;
  readonly #tokens: TokenTable;
  readonly #inheritors = new Map<OpId, TokenId>();
  readonly #byName = new Set<OpId>();
  /** Made where they are thrown. */
  readonly #errors = new Map<TokenId, FunctionId>();

  constructor(flow: TokenFlow, found: Found, seeds: Seeds, properties: Properties, givenValues: GivenValues) {
    this.#properties = properties;
    this.#flow = flow;
    this.#found = found;
    this.#seeds = seeds;
    this.#givenValues = givenValues;
    this.#facts = flow.facts;
    this.#models = flow.models;
    this.#tokens = flow.tokens;
  }

  /** What is called by itself is what its model calls `this`: `$('h1')`. */
  #onItself({ type }: Shape, view: CallView): CallView {
    const isItself = type !== null && view.receiver === NOTHING && view.op >= 0;
    return isItself && this.#facts.kind.get(view.op) === Op.call
      ? viewWith(view, { receiver: this.#facts.a.get(view.op) })
      : view;
  }

  callExternal(shape: Shape, site: number, from: CallView): void {
    const view = this.#onItself(shape, from);
    if (shape.typeName === 'Resolver' && site >= 0) {
      // `resolve(value)` of `new Promise((resolve) => …)`: what the promise gives.
      this.#flow.use(view.args[0] ?? NOTHING, {
        kind: 'await',
        to: this.#flow.property(this.#flow.madeAt(site, 'Promise'), this.#flow.resolved),
      });
      return;
    }
    // `next(error)` ends up in error handlers.
    if (shape.typeName === 'express.Next') this.#flow.use(view.args[0] ?? NOTHING, { kind: 'throw', op: view.op });
    if (shape.path === 'Proxy' && view.isNew) {
      this.#makeProxy(view);
      return;
    }
    if (shape.path === 'Proxy.revocable') {
      const made = this.#flow.property(this.#flow.madeAt(view.op, 'Object'), this.#facts.atom('proxy'));
      this.#flow.add(view.to, this.#flow.madeAt(view.op, 'Object'));
      this.#makeProxy(viewWith(view, { to: made }));
      return;
    }
    if (shape.path === 'Object.create') {
      this.#flow.add(view.to, this.#inheriting(view));
      if (view.args.length > 1) this.#givenValues.defineAll(view.to, view.args[1] ?? NOTHING);
      return;
    }
    if (describing.test(shape.path)) return this.#describe(view);
    if (shape.path === 'Reflect.get' && view.args.length > 2) this.#askFor(view);
    if (shape.path === 'Object.getPrototypeOf' || shape.path === 'Reflect.getPrototypeOf') {
      this.#flow.use(view.args[0] ?? NOTHING, { kind: 'inherit', to: view.to });
      return;
    }
    if (derives.test(shape.path)) return this.#derive(shape.path, view);
    if (shape.path === 'Promise.reject') this.#flow.edge(view.args[0] ?? NOTHING, this.#facts.thrown);
    const call = this.#models.call(shape, view.isNew);
    if (call === null && this.#callByName(shape, view)) return;
    if (call === null) {
      // Nobody says what it does: it may call what it is given, now or later.
      for (const arg of view.args) this.#flow.use(arg, { kind: 'escape' });
      if (shape.package === '') this.#flow.add(view.to, UNKNOWN);
      else {
        // Two calls of nobody knows what may give the same.
        const site = view.isNew ? view.op : this.#flow.firstSite(shape, view);
        this.#flow.addShape(view.to, this.#models.result(shape, view.isNew), site);
      }
      return;
    }
    for (const rupture of call.ruptures ?? []) this.#takeCallbacks(rupture, view);
    if (this.#facts.hasPackages)
      for (const arg of view.args) this.#flow.lay(arg, defining.test(shape.path) ? startAll : startIt);
    // What packages keep they call by the object that has it; Express and Node call what their models say.
    const mayCall =
      call.keeps !== undefined && call.data !== true && shape.package !== '' && shape.package !== 'express';
    if (mayCall && !shape.isOfNode) for (const arg of view.args) this.#flow.lay(arg, lendAll);
    this.#givenValues.keep(call, view);
    this.#givenValues.giveResult(call, view, shape);
    for (const put of call.puts ?? []) this.#properties.put(put, view);
  }

  /** `Reflect.get(object, name, other)`: a getter has the third for its `this`. */
  #askFor({ to, args: [object = NOTHING, key = NOTHING, receiver = NOTHING] }: CallView): void {
    const name = this.#facts.strings.get(key);
    const atom = name === undefined ? ANY_PROPERTY : this.#facts.atom(name);
    this.#flow.use(object, { kind: 'load', atom, to, receiver, op: -1 });
  }

  /** One object for descriptors and for the object that has them by name: what it holds is what the described object does. */
  #describe({ op, to, args: [described = NOTHING] }: CallView): void {
    const descriptor = this.#flow.madeAt(op, 'Object');
    this.#flow.add(to, descriptor);
    const any = this.#flow.property(descriptor, ANY_PROPERTY);
    this.#flow.add(any, descriptor);
    this.#flow.edge(this.#flow.contents(described, op), any);
  }

  /** From now on something inherits from something else. */
  #derive(path: string, { args: [target = NOTHING, parent = NOTHING], to }: CallView): void {
    if (this.#facts.hasPackages) this.#flow.lay(parent, startAll);
    if (path === 'util.inherits') return this.#properties.deriveClass(target, parent);
    this.#flow.use(target, { kind: 'derive', from: parent });
    if (path === 'Object.setPrototypeOf') this.#flow.edge(target, to);
  }

  /** A second name for its target, and an object that has under any name what a trap gives; traps may run at any access. */
  #makeProxy(view: CallView): void {
    const [target = NOTHING, handler = NOTHING] = view.args;
    this.#flow.edge(target, view.to);
    this.#flow.use(handler, { kind: 'escape' });
    const proxy = this.#flow.madeAt(view.op, 'Object');
    this.#flow.add(view.to, proxy);
    const given = this.#flow.property(proxy, ANY_PROPERTY);
    this.#flow.use(this.#trap(handler, 'get'), {
      kind: 'call',
      view: { op: -1, to: given, receiver: handler, args: [target], spread: -1, isNew: false, promisified: false },
    });
    // To call the proxy is to call the trap, which gets who knows what, as the handler is in other hands.
    for (const name of ['apply', 'construct']) this.#flow.edge(this.#trap(handler, name), view.to);
  }

  #trap(handler: ValueId, name: string): ValueId {
    const trap = this.#facts.newValue();
    const atom = this.#facts.atom(name);
    this.#flow.use(handler, { kind: 'load', atom, to: trap, receiver: handler, op: -1 });
    return trap;
  }

  /** An error that is made where it is thrown is nobody's state, and there are too many of them; any other may be there for all. */
  throw(id: TokenId, op: OpId): void {
    const token = this.#tokens.get(id);
    const isNew = op >= 0 && this.#facts.kind.get(op) === Op.copy;
    const isError = token.kind === 'external' && token.shape.typeName === 'Error';
    if (isNew || (isError && this.#isMadeFor(token.site, op)))
      this.#errors.set(id, op < 0 ? -1 : this.#facts.owner.get(op));
    else this.#flow.add(this.#facts.thrown, id);
  }

  /** Unless something is on it that was there before: `Object.assign(new Error('gone'), { store })`. */
  admitErrors(): boolean {
    let found = false;
    for (const [id, maker] of this.#errors) {
      if (!this.#holdsOlder(id, maker, mostWithin)) continue;
      this.#errors.delete(id);
      found = this.#flow.add(this.#facts.thrown, id) || found;
    }
    return found;
  }

  #holdsOlder(id: TokenId, maker: FunctionId, depth: number): boolean {
    const properties = [...(this.#tokens.knownProperties(id)?.values() ?? [])];
    return properties.some((value) => this.#flow.held.get(value).some((held) => this.#isOlder(held, maker, depth)));
  }

  #isOlder(held: TokenId, maker: FunctionId, depth: number): boolean {
    const token = this.#tokens.get(held);
    if (token.kind === 'object') {
      if (token.type === 'Prototype') return false;
      return token.fn !== maker || (depth > 0 && this.#holdsOlder(held, maker, depth - 1));
    }
    return token.kind === 'external' && token.site >= 0 && token.shape.typeName !== 'Error';
  }

  /** In the same call of a function that is not start-up's own. */
  #isMadeFor(site: OpId, op: OpId): boolean {
    if (site < 0 || op < 0) return site < 0;
    const fn = this.#facts.owner.get(site);
    return fn === this.#facts.owner.get(op) && this.#facts.fn(fn).parent !== -1;
  }

  /** Data of a request has methods of the language; so has what others put on a request, but that may be held by them: only
   *  to look at it is known to be all. */
  #callByName(shape: Shape, view: CallView): boolean {
    const isData = this.#models.isData(shape);
    if (!isData && !this.#models.isOfOthers(shape)) return false;
    if (view.op < 0 || this.#facts.kind.get(view.op) !== Op.method) return false;
    const model = this.#models.byMethodName.get(this.#facts.atomName(this.#facts.c.get(view.op)));
    if (model === undefined || !(isData || isPure(model))) return false;
    const callbacks = (model.ruptures ?? []).map(({ callback }) => callback);
    for (const [index, arg] of view.args.entries())
      if (view.spread >= 0 || !callbacks.includes(index)) this.#flow.use(arg, { kind: 'escape' });
    for (const rupture of model.ruptures ?? []) this.#takeCallbacks(rupture, view);
    this.#givenValues.keep(model, view);
    this.#givenValues.giveResult(model, view);
    return true;
  }

  /** What a thing inherits from. */
  inherit(id: TokenId, to: ValueId): void {
    const token = this.#tokens.get(id);
    if (token.kind === 'external') {
      const above = this.#models.inheritedBy(token.shape) ?? (whatIs(token.shape) === 'exchange' ? token.shape : null);
      if (above !== null) this.#flow.addShape(to, above, -1);
    }
    if (token.kind !== 'object') return void this.#flow.add(to, UNKNOWN);
    this.#flow.edge(token.proto, to);
    const object = this.#inheritsFromLanguage(token) ? this.#models.global('Object') : null;
    const prototype = object === null ? null : this.#models.member(object, 'prototype');
    if (prototype !== null) this.#flow.addShape(to, prototype, -1);
  }

  /** Nothing else is written, though another prototype may have been set. */
  #inheritsFromLanguage({ type, fn, proto }: Extract<Token, { kind: 'object' }>): boolean {
    const superclass = type === 'Prototype' ? this.#facts.classes.get(fn)?.superclass : proto;
    return superclass === undefined || superclass === NOTHING;
  }

  #inheriting(view: CallView): TokenId {
    let token = this.#inheritors.get(view.op);
    if (token === undefined) {
      const op = Math.max(0, view.op);
      const [fn, start] = [this.#facts.owner.get(op), this.#facts.position.get(op)];
      token = this.#tokens.make({ kind: 'object', type: 'Object', fn, start, proto: view.args[0] ?? NOTHING });
      this.#inheritors.set(view.op, token);
    }
    return token;
  }

  #takeCallbacks(modelled: Rupture, view: CallView): void {
    const rupture = this.#forEvent(modelled, view);
    for (const index of callbackIndexes(rupture, view.args.length, view.spread)) {
      const value = this.#callbackIn(view.args[index] ?? NOTHING, rupture, view);
      if (value === NOTHING) continue;
      const use: CallbackUse = { op: view.op, rupture, value, argument: index };
      this.#found.callbacks.push(use);
      this.#flow.use(value, { kind: 'callback', use, call: view, given: null });
    }
  }

  #callbackIn(argument: ValueId, { within }: Rupture, view: CallView): ValueId {
    if (within === undefined || argument === NOTHING) return argument;
    let holder = argument;
    for (const name of within.split('.')) {
      const atom = name === '*' ? ANY_PROPERTY : this.#facts.atom(name);
      const to = this.#facts.newValue();
      this.#flow.use(holder, { kind: 'load', atom, to, receiver: holder, op: view.op });
      holder = to;
    }
    return holder;
  }

  /** What is said of one event of the receiver's type goes before what is said of listeners in general. */
  #forEvent(rupture: Rupture, view: CallView): Rupture {
    if (rupture.label === undefined) return rupture;
    const name = this.#facts.strings.get(view.args[rupture.label] ?? NOTHING);
    if (name === undefined) return rupture;
    for (const id of this.#flow.held.get(view.receiver)) {
      const token = this.#tokens.get(id);
      if (token.kind !== 'external') continue;
      const event = this.#models.typeThat(token.shape, (type) => type.events?.[name] !== undefined)?.events?.[name];
      if (event === undefined) continue;
      return {
        ...rupture,
        kind: event.once ? 'post' : rupture.kind,
        params: event.params ?? rupture.params ?? [],
        request: event.request ?? false,
      };
    }
    return rupture;
  }

  /** What data holds may stand under any name, but nothing calls it. */
  #isCallable(id: TokenId): boolean {
    return id !== UNKNOWN && this.#tokens.get(id).kind !== 'object';
  }

  /** `x.split(',').map(fn)`: methods of who knows what do what methods of that name do. */
  admitMethodNames(): boolean {
    let found = false;
    const { methods } = this.#found;
    for (let index = 0; index < methods.length; index++) {
      const op = methods.get(index);
      const all = this.#found.calleeOf(op);
      if (this.#byName.has(op) || this.#flow.held.get(all).some((id) => this.#isCallable(id))) continue;
      const model = methodByName(this.#facts, this.#models, op, (value) => this.#flow.held.get(value), this.#tokens);
      if (model === null) continue;
      this.#byName.add(op);
      const view = this.#seeds.viewOf(op);
      for (const rupture of model.ruptures ?? []) this.#takeCallbacks(rupture, view);
      this.#givenValues.keep(model, view);
      this.#givenValues.giveResult(model, view);
      found = true;
    }
    return found;
  }
}

/** Objects that are made with an error, and what these are made of. */
const mostWithin = 2;

const describing = /^(?:Object|Reflect)\.getOwnPropertyDescriptors?$/;

const derives = /^(?:util\.inherits|(?:Object|Reflect)\.setPrototypeOf)$/;

/** What takes functions within objects, and gives them to the language. */
const defining = /^(Object|Reflect)\.(create|define\w+|set\w*)$/;

/** Which arguments are callbacks. */
export function callbackIndexes(rupture: Rupture, count: number, spread: number): number[] {
  if (spread >= 0 && rupture.callback !== 'functions')
    return typeof rupture.callback === 'number' && rupture.callback < spread ? [rupture.callback] : [];
  if (typeof rupture.callback === 'number') return rupture.callback < count ? [rupture.callback] : [];
  if (rupture.callback === 'last') return count === 0 ? [] : [count - 1];
  const first = rupture.from ?? 0;
  return Array.from({ length: Math.max(0, count - first) }, (_, index) => index + first);
}
