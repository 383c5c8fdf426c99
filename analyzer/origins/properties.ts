/**
 * Properties: what a load gives and a store reaches, with prototypes, getters, classes and iterators.
 *
 * Reads:   facts, models.
 * Gives:   to `TokenFlow`: copies between values and properties of what they hold.
 */
import type { Put, Rupture, TypeModel, ValueRef } from '../../models/types.js';
import { isCalledByLanguage } from '../called-by-language.js';
import {
  ANY_PROPERTY,
  type AtomId,
  type Facts,
  FunctionFlag,
  type FunctionId,
  NOTHING,
  Op,
  type OpId,
  type ValueId,
} from '../facts.js';
import type { Models, Shape } from '../models.js';
import { everyRequest, type Token, type TokenId, type TokenTable, UNKNOWN } from '../tokens.js';
import type { Found } from './found.js';
import type { LiveField, LiveFields } from './live-fields.js';
import { isContainer, type TokenFlow } from './token-flow.js';
import { type CallView, type Load, lendWithin, loadWith, startAll, type Use } from './uses.js';

/** What the program lends to all values of a type: by name, and the prototypes of classes that do. */
interface Lenders {
  readonly lent: Map<AtomId, ValueId>;
  readonly prototypes: Set<TokenId>;
  /** `this` of what is called without a call in sight. */
  readonly borrower: ValueId;
}

/** A load of what is unknown, unless the program has put it there. */
interface Borrowed {
  readonly id: TokenId;
  readonly shape: Shape;
  readonly site: number;
  readonly lent: ValueId;
  readonly stored: ValueId;
  readonly use: Load;
}

function isMap(token: Token): boolean {
  return token.kind === 'object' && (token.type === 'Map' || token.type === 'WeakMap');
}

const keepsForRequest = (type: TypeModel): boolean => type.keepsForRequest === true;

/** No program has such a name for a property. */
export function contextName(site: number): string {
  return `${CONTEXT} ${site}`;
}

export function isContextName(name: string): boolean {
  return name.startsWith(CONTEXT);
}

const CONTEXT = '@@context';

/** Where each of some thousand classes extends the one before, most of the work is to go up. */
const workForStepUp = 8;
const usualHeight = 32;

export class Properties {
  readonly #flow: TokenFlow;
  readonly #found: Found;
  readonly #fields: LiveFields;
  readonly #facts: Facts;
  readonly #models: Models;
  readonly #tokens: TokenTable;
  readonly #entries = new Map<TokenId, TokenId>();
  readonly #prototypes = new Map<FunctionId, TokenId>();
  readonly #derived = new Map<TokenId, Set<ValueId>>();
  readonly #inherited: { readonly id: TokenId; readonly use: Load }[] = [];
  /** What the program lends to all values of a type, by name. */
  readonly #lent = new Map<string, Lenders>();
  /** Those that middleware puts there: code that nobody has read may put something else in their place. */
  readonly #put = new Set<ValueId>();
  readonly #borrowed: Borrowed[] = [];
  readonly #stored = new Map<string, ValueId>();
  /** Calls by packages of what is put on their objects. */
  readonly #callings = new Map<readonly ValueRef[], Use>();
  readonly #iterations = new Map<string, Load>();
  readonly #late: { readonly id: TokenId; readonly to: ValueId; seen: number }[] = [];
  readonly #escapedTokens = new Set<TokenId>();
  /** Of objects that code from outside has, and what inherits from them. */
  readonly #lentBy = new Set<string>();
  /** What code has that nobody has read, as `#reachedBy` names it. */
  readonly #exposed = new Set<string>();
  /** Names under which packages that are loaded put on requests what they have from the program. */
  readonly #given = new Set<string>();
  readonly #proto: AtomId;
  /** Names of properties that the language calls by itself, where the program has such properties. */
  readonly #implicit = new Set<AtomId>();

  constructor(flow: TokenFlow, found: Found, fields: LiveFields) {
    this.#fields = fields;
    this.#flow = flow;
    this.#found = found;
    this.#facts = flow.facts;
    this.#models = flow.models;
    this.#tokens = flow.tokens;
    this.#proto = flow.facts.atom('__proto__');
    this.#findImplicit();
  }

  #findImplicit(): void {
    const { b, c } = this.#facts;
    const { kind: kinds } = this.#facts;
    for (let op = 0; op < kinds.length; op++) {
      if (kinds.get(op) !== Op.store || b.get(op) === NOTHING) continue;
      if (isCalledByLanguage(this.#facts.atomName(c.get(op)))) this.#implicit.add(c.get(op));
    }
  }

  /** `passport` is loaded: what hangs on a request as `user` may be what the program has told it. */
  noteLoaded(names: Iterable<string>): void {
    for (const name of names) for (const put of this.#models.putsGiven(name)) this.#given.add(put);
  }

  /** Code that nobody has read is given requests or responses. */
  get areRequestsExposed(): boolean {
    return [...this.#escapedTokens].some((id) => {
      const token = this.#tokens.get(id);
      return token.kind === 'external' && this.#isOfExchange(token.shape);
    });
  }

  load(id: TokenId, use: Load): void {
    const token = this.#tokens.get(id);
    if (token.kind === 'unknown') {
      this.#flow.add(use.to, UNKNOWN);
      return;
    }
    if (token.kind === 'bound') return;
    if (token.kind === 'external' && use.shadow !== undefined) {
      this.#inherited.push({ id, use });
      return;
    }
    if (token.kind === 'object' && token.type === 'Generator' && use.op >= 0) this.#found.addCallee(use.op, token.fn);
    if (use.items && token.kind === 'object') return this.#loadItems(id, token, use);
    if (use.values && isMap(token)) return this.#flow.edge(this.#flow.property(id, ANY_PROPERTY), use.to);
    if (use.atom === ANY_PROPERTY) return this.#loadAny(id, token, use);
    if (use.atom === this.#flow.kept) {
      this.#flow.edge(this.#flow.property(id, use.atom), use.to);
      return;
    }
    const name = this.#facts.atomName(use.atom);
    const own = this.#flow.property(id, use.atom);
    this.#flow.edge(own, use.to);
    const field = this.#fields.of(id, use.atom);
    if (field !== null && this.#fields.isEarly(use.op)) this.#flow.edge(field.ever, use.to);
    // A name that was put together may also be that of an item.
    if (token.kind === 'object' && use.op >= 0 && this.#facts.keys.has(use.op))
      this.#flow.edge(this.#flow.property(id, ANY_PROPERTY), use.to);
    if (token.kind === 'external') {
      if (token.shape.member?.isKept === true) this.#loadFromHolder(token, use);
      if (this.#models.extends(token.shape, 'Error')) this.#loadKept(id, use);
      if (!this.#borrow(id, token.shape, token.site, use)) this.#loadFromShape(token.shape, token.site, name, use);
      return;
    }
    if (token.kind === 'function') return this.#loadFromFunction(id, token.fn, use);
    this.#loadGetter(id, name, use);
    if (token.type === 'Prototype') this.#loadInherited(token.proto, use, own);
    else if (token.proto !== NOTHING) this.#flow.lay(token.proto, use);
    const member = this.#typeMember(token.type, name);
    if (member !== null) this.#flow.addShape(use.to, member, -1);
  }

  /** What it inherits may be meant as well: `instance[key](req, res)`. */
  #loadAny(id: TokenId, token: Token, use: Load): void {
    const onRequest = this.#keptIn(id);
    if (onRequest !== null) return this.#flow.edge(onRequest, use.to);
    this.#flow.edge(this.#flow.allProperties(id), use.to);
    if (token.kind === 'object' && token.proto !== NOTHING) this.#flow.lay(token.proto, use);
    const superclass = token.kind === 'function' ? this.#facts.classes.get(token.fn)?.superclass : undefined;
    if (superclass !== undefined) this.#flow.lay(superclass, use);
    if (token.kind === 'external' && this.#models.isUnknown(token.shape))
      this.#loadFromShape(token.shape, token.site, '*', use);
  }

  /** Each step up is a use of its own. */
  #loadInherited(proto: ValueId, use: Load, own: ValueId): void {
    if (proto === NOTHING) return;
    const up = (use.up ?? 0) + 1;
    if (this.#flow.mayGoOn(up > usualHeight ? workForStepUp : 0))
      this.#flow.lay(proto, this.#flow.shadowed(use, own, up));
    else this.#flow.add(use.to, UNKNOWN);
  }

  /** Items are what is stored under no name; an object with an iterator of its own gives what that gives. */
  #loadItems(id: TokenId, token: Extract<Token, { kind: 'object' }>, use: Load): void {
    if (token.type === 'Map') this.#flow.add(use.to, this.entryOf(id));
    // A class may extend Map: `class Rows extends Map {}`.
    else if (token.type === 'Instance') {
      this.#flow.add(use.to, this.entryOf(id));
      for (const atom of [ANY_PROPERTY, this.#flow.kept]) this.#flow.edge(this.#flow.property(id, atom), use.to);
    } else this.#flow.edge(this.#flow.property(id, ANY_PROPERTY), use.to);
    for (const name of ['@@iterator', '@@asyncIterator']) {
      const atom = this.#facts.knownAtom(name);
      if (atom === undefined) continue;
      const key = `${use.op} ${use.to} ${name}`;
      let step = this.#iterations.get(key);
      if (step === undefined) {
        const method = this.#facts.newValue();
        const iterator = this.#facts.newValue();
        this.#call(method, use.receiver, iterator, use.op);
        this.#flow.use(iterator, use);
        this.#loadSteps(iterator, name === '@@asyncIterator', use);
        step = { kind: 'load', atom, to: method, receiver: use.receiver, op: use.op };
        this.#iterations.set(key, step);
      }
      this.load(id, step);
    }
  }

  /** What an iterator that the program wrote gives, one after the other: `{ next() { return { value } } }` */
  #loadSteps(iterator: ValueId, isAsync: boolean, use: Load): void {
    const { op } = use;
    for (const name of ['next', 'return']) {
      const atom = this.#facts.knownAtom(name);
      if (atom === undefined) continue;
      const method = this.#facts.newValue();
      const step = this.#facts.newValue();
      this.#flow.use(iterator, { kind: 'load', atom, to: method, receiver: iterator, op });
      this.#call(method, iterator, step, op);
      const value = this.#facts.knownAtom('value') ?? ANY_PROPERTY;
      const given: Load = { kind: 'load', atom: value, to: use.to, receiver: step, op };
      this.#flow.use(step, given);
      if (!isAsync) continue;
      const awaited = this.#facts.newValue();
      this.#flow.use(step, { kind: 'await', to: awaited });
      this.#flow.use(awaited, { ...given, receiver: awaited });
    }
  }

  #call(method: ValueId, receiver: ValueId, to: ValueId, op: OpId): void {
    const view = { op, to, receiver, args: [], spread: -1, isNew: false, promisified: false };
    this.#flow.use(method, { kind: 'call', view });
  }

  /** `[key, value]` of what the container holds. */
  entryOf(container: TokenId): TokenId {
    let entry = this.#entries.get(container);
    if (entry === undefined) {
      // It lasts no longer than the container.
      const of = this.#tokens.get(container);
      const { fn, start } = of.kind === 'object' ? of : { fn: 0, start: 0 };
      entry = this.#tokens.make({ kind: 'object', type: 'Array', fn, start, proto: NOTHING });
      this.#entries.set(container, entry);
      const places = of.kind === 'object' && of.type === 'Instance' ? [ANY_PROPERTY, this.#flow.kept] : [ANY_PROPERTY];
      for (const atom of isMap(of) ? [...places, this.#flow.keys] : places)
        this.#flow.edge(this.#flow.property(container, atom), this.#flow.property(entry, ANY_PROPERTY));
    }
    return entry;
  }

  #typeMember(type: string, name: string): Shape | null {
    if (type === 'Instance' || type === 'Prototype') return null;
    const shape = this.#models.type(type === 'Arguments' ? 'Array' : type);
    return shape === null ? null : this.#models.member(shape, name);
  }

  #loadGetter(id: TokenId, name: string, use: Load): void {
    const atom = this.#facts.knownAtom(`get ${name}`);
    if (atom === undefined) return;
    const getter = this.#flow.property(id, atom);
    this.#call(getter, use.receiver, use.to, use.op);
  }

  #loadFromFunction(id: TokenId, fn: FunctionId, use: Load): void {
    if (use.atom === this.#flow.prototype) {
      this.#flow.add(this.#flow.property(id, use.atom), this.prototypeOf(fn));
      return;
    }
    const superclass = this.#facts.classes.get(fn)?.superclass;
    if (superclass !== undefined) this.#flow.lay(superclass, use);
    this.#loadGetter(id, this.#facts.atomName(use.atom), use);
  }

  prototypeOf(fn: FunctionId): TokenId {
    let token = this.#prototypes.get(fn);
    if (token !== undefined) return token;
    const superclass = this.#facts.classes.get(fn)?.superclass ?? NOTHING;
    const proto = this.#facts.newValue();
    const { start } = this.#facts.fn(fn);
    token = this.#tokens.make({ kind: 'object', type: 'Prototype', fn, start, proto });
    this.#prototypes.set(fn, token);
    this.#flow.add(this.#flow.property(token, this.#facts.atom('constructor')), this.#tokens.function(fn));
    this.#flow.use(superclass, { kind: 'load', atom: this.#flow.prototype, to: proto, receiver: superclass, op: -1 });
    return token;
  }

  /** `Object.setPrototypeOf(object, from)`, `object.__proto__ = from`: what else has no place for that gets what is there. */
  derive(id: TokenId, from: ValueId): void {
    // Once: what is copied from there may itself have a `__proto__` that leads back.
    let derived = this.#derived.get(id);
    if (derived === undefined) this.#derived.set(id, (derived = new Set()));
    if (derived.has(from)) return;
    derived.add(from);
    const token = this.#tokens.get(id);
    if (token.kind === 'object' && token.proto !== NOTHING) this.#flow.edge(from, token.proto);
    else {
      this.#flow.use(from, { kind: 'copyProperties', to: this.#flow.holding(id) });
      this.#flow.edge(from, this.#flow.property(id, ANY_PROPERTY));
    }
  }

  /** `util.inherits(Child, Parent)` */
  deriveClass(child: ValueId, parent: ValueId): void {
    const [own, inherited] = [this.#facts.newValue(), this.#facts.newValue()];
    const load = { kind: 'load', atom: this.#flow.prototype, receiver: NOTHING, op: -1 } as const;
    this.#flow.use(child, { ...load, to: own });
    this.#flow.use(parent, { ...load, to: inherited });
    this.#flow.use(own, { kind: 'derive', from: inherited });
    this.#flow.use(child, { kind: 'store', atom: this.#facts.atom('super_'), from: parent, op: -1 });
  }

  #lentTo(type: string, atom: AtomId): ValueId {
    const { lent, prototypes } = this.#lendersOf(type);
    let value = lent.get(atom);
    if (value === undefined) {
      lent.set(atom, (value = this.#facts.newValue()));
      for (const prototype of prototypes) this.#flow.edge(this.#flow.property(prototype, atom), value);
    }
    return value;
  }

  #lendersOf(type: string): Lenders {
    let lenders = this.#lent.get(type);
    if (lenders === undefined) {
      const borrower = this.#facts.newValue();
      const shape = this.#models.type(type);
      if (shape !== null) this.#flow.addShape(borrower, shape, everyRequest);
      this.#lent.set(type, (lenders = { lent: new Map(), prototypes: new Set(), borrower }));
      this.#findLendingClasses(type);
    }
    return lenders;
  }

  /** Of classes that extend what lends (`class User extends Model`), instances are made by the package. */
  #findLendingClasses(type: string): void {
    for (const [fn, { superclass }] of this.#facts.classes) {
      if (superclass === NOTHING) continue;
      const token = this.prototypeOf(fn);
      const { proto } = this.#tokens.get(token) as Extract<Token, { kind: 'object' }>;
      this.#flow.use(proto, { kind: 'lender', type, prototype: token });
    }
  }

  /** A class above the one of `prototype`. */
  lendAs(id: TokenId, use: Extract<Use, { kind: 'lender' }>): void {
    const token = this.#tokens.get(id);
    if (token.kind === 'object' && token.proto !== NOTHING) return this.#flow.lay(token.proto, use);
    if (token.kind !== 'external' || token.shape.member?.lends !== use.type) return;
    const { lent, prototypes, borrower } = this.#lendersOf(use.type);
    if (prototypes.has(use.prototype)) return;
    prototypes.add(use.prototype);
    for (const atom of this.#implicit)
      this.#flow.use(this.#flow.property(use.prototype, atom), { kind: 'receive', receiver: borrower });
    for (const [atom, value] of lent) this.#flow.edge(this.#flow.property(use.prototype, atom), value);
  }

  /** What middleware that this call makes puts on each request: one value for all, which holds what the call was given. The middleware has it too. */
  put({ on, name, is }: Put, { op, args, to }: CallView): void {
    const shape = this.#models.type(is);
    if (shape === null) return;
    const place = this.#lentTo(on, this.#facts.atom(name));
    this.#put.add(place);
    const made = this.#facts.newValue();
    this.#flow.addShape(made, shape, op);
    this.#flow.edge(made, place);
    if (to !== NOTHING) this.#flow.use(to, { kind: 'keep', from: made });
    const token = this.#tokens.external(shape, op);
    for (const arg of args) this.keep(token, arg);
  }

  /** What hangs on one such value hangs on all, and what a model does not list nobody but the program has put there. */
  #isOne(shape: Shape): boolean {
    return this.#models.isComplete(shape) && this.#models.oneOf(shape) !== null;
  }

  /** What no model lists, and the program may have put there, or elsewhere for such values. */
  #borrow(id: TokenId, shape: Shape, site: number, use: Load): boolean {
    const { typeName } = shape;
    const isLent = typeName !== null && this.#models.isLentTo(typeName);
    const holdsStored = this.#models.holdsStored(shape);
    if (!isLent && !holdsStored && !this.#isOne(shape)) return false;
    const member = this.#models.member(shape, this.#facts.atomName(use.atom));
    if (member === null && typeName !== null && this.#isOne(shape)) {
      for (const name of [use.atom, ANY_PROPERTY]) this.#flow.edge(this.#lentTo(typeName, name), use.to);
      return true;
    }
    const isListed = member === null || !(this.#models.isUnknown(member) || this.#models.isData(shape));
    if (isListed) return false;
    const lent = isLent ? this.#lentTo(typeName, use.atom) : NOTHING;
    const stored = holdsStored ? this.#storedOn(id, shape, site, use.atom) : NOTHING;
    this.#flow.edge(lent, use.to);
    this.#flow.edge(stored, use.to);
    this.#borrowed.push({ id, shape, site, lent, stored, use });
    return true;
  }

  /** What the program puts there under this name or under one that it puts together, or on what such values inherit from. */
  #storedOn(id: TokenId, shape: Shape, site: number, atom: AtomId): ValueId {
    const key = `${id} ${atom}`;
    let stored = this.#stored.get(key);
    if (stored !== undefined) return stored;
    this.#stored.set(key, (stored = this.#facts.newValue()));
    this.#flow.edge(this.#flow.property(id, ANY_PROPERTY), stored);
    const ofLanguage = ['Function', 'Object'].map((name) => this.#models.type(name));
    for (const above of [shape, ...ofLanguage].flatMap((each) => this.#models.above(each))) {
      for (const from of new Set([site, -1])) {
        const holder = this.#tokens.external(above, from);
        for (const name of [atom, ANY_PROPERTY]) this.#flow.edge(this.#flow.property(holder, name), stored);
      }
    }
    return stored;
  }

  /** Nobody but the program can have put it there. A request leads to the apps that the program makes. */
  #isStored({ id, shape, site, stored, use }: Borrowed): boolean {
    if (stored === NOTHING || this.#exposed.has(this.#reachedBy(shape))) return false;
    if (site === everyRequest && this.#given.has(this.#facts.atomName(use.atom))) return false;
    if (this.#flow.held.size(stored) > 0 || this.#flow.held.size(this.#flow.property(id, use.atom)) > 0) return true;
    if (site !== everyRequest || this.#models.oneOf(shape) === null) return false;
    return this.#tokens
      .allOf(shape)
      .some((other) => other !== id && this.#flow.held.size(this.#flow.property(other, use.atom)) > 0);
  }

  /** Whoever has such a value has all of this. */
  #reachedBy(shape: Shape): string {
    const isOfExchange = shape.type === null || this.#isOfExchange(shape);
    return this.#models.oneOf(shape) ?? (isOfExchange ? 'exchange' : (shape.typeName ?? ''));
  }

  #isOfExchange(shape: Shape): boolean {
    return this.#models.typeThat(shape, ({ perRequest }) => perRequest === true) !== null;
  }

  #loadFromShape(shape: Shape, site: number, name: string, use: Load): void {
    const member = this.#models.member(shape, name);
    if (member !== null) this.#flow.addShape(use.to, member, this.#models.isExport(member) ? -1 : site);
    else if (this.#models.isUnknown(shape)) this.#flow.add(use.to, UNKNOWN);
  }

  /** Whoever has it may run it, without a call in sight. */
  start(id: TokenId, use: Extract<Use, { kind: 'start' }>): void {
    const fn = this.#tokens.functionOf(id);
    if (fn !== null) this.#found.start(fn);
    if (use.isDeep && this.#tokens.get(id).kind === 'object') this.#flow.lay(this.#flow.allProperties(id), use);
  }

  /** What the program puts on objects of others, or under names that it does not know, may be run by these. */
  #startStored(id: TokenId, use: Extract<Use, { kind: 'store' }>): void {
    const isOfOthers = this.#tokens.get(id).kind === 'external';
    if (use.op >= 0 && (isOfOthers || use.atom === ANY_PROPERTY)) this.#flow.lay(use.from, startAll);
  }

  storeBy(id: TokenId, use: Extract<Use, { kind: 'store' }>): void {
    if (this.#facts.hasPackages) this.#startStored(id, use);
    this.store(id, use.atom, use.from);
  }

  /** Whoever loads the entry may run what it exports. */
  startExports(): void {
    const [entry] = this.#facts.modules;
    if (entry === undefined || !this.#facts.hasPackages) return;
    this.#flow.lay(entry.kind === 'commonjs' ? entry.module : entry.exports, startAll);
  }

  store(id: TokenId, atom: AtomId, from: ValueId): void {
    const token = this.#tokens.get(id);
    if (token.kind === 'unknown' || token.kind === 'bound') {
      this.#flow.use(from, { kind: 'escape' });
      return;
    }
    if (token.kind === 'function' && atom === this.#flow.prototype)
      this.#flow.add(this.#flow.property(id, atom), this.prototypeOf(token.fn));
    if (atom === this.#proto) this.derive(id, from);
    const field = this.#fields.of(id, atom);
    if (field === null) this.#flow.edge(from, this.#flow.property(id, atom));
    else this.#storeInField(id, atom, from, field);
    const lends = token.kind === 'external' ? token.shape.member?.lends : undefined;
    if (lends !== undefined && atom !== ANY_PROPERTY) this.#flow.edge(from, this.#lentTo(lends, atom));
    if (token.kind === 'external') {
      this.#storeInMember(token, from);
      const { typeName } = token.shape;
      if (typeName !== null && this.#isOne(token.shape)) this.#flow.edge(from, this.#lentTo(typeName, atom));
    }
    if (!this.#implicit.has(atom)) return;
    const receiver = lends === undefined ? this.#flow.holding(id) : this.#lendersOf(lends).borrower;
    this.#flow.use(from, { kind: 'receive', receiver });
  }

  #storeInMember(token: Extract<Token, { kind: 'external' }>, from: ValueId): void {
    const { isKept, calledWith } = token.shape.member ?? {};
    if (isKept === true || calledWith !== undefined) this.#keepInHolder(token, from);
    if (calledWith !== undefined) this.#flow.lay(from, this.#calling(calledWith));
  }

  /** Who calls what is put there, and with what: no call of the program says so. */
  #calling(params: readonly ValueRef[]): Use {
    let use = this.#callings.get(params);
    if (use === undefined) {
      const rupture: Rupture = { kind: 'start', callback: 'functions', params };
      const call = { op: -1, to: NOTHING, receiver: NOTHING, args: [], spread: -1, isNew: false, promisified: false };
      use = { kind: 'callback', use: { op: -1, rupture, value: NOTHING, argument: 0 }, call, given: null };
      this.#callings.set(params, use);
    }
    return use;
  }

  #keepInHolder({ shape, site }: Extract<Token, { kind: 'external' }>, from: ValueId): void {
    const holder = this.#models.type(shape.path.slice(0, shape.path.lastIndexOf('.')));
    if (holder !== null) this.keep(this.#tokens.external(holder, site), from);
  }

  /** What an error was made with is found on it, or what that has under the name: `new Error(text, { cause })`. */
  #loadKept(id: TokenId, use: Load): void {
    const kept = this.#flow.property(id, this.#flow.kept);
    this.#flow.edge(kept, use.to);
    this.#flow.lay(kept, use);
  }

  /** What `app.set('title', title)` has put there. */
  #loadFromHolder({ shape, site }: Extract<Token, { kind: 'external' }>, { to }: Load): void {
    const holder = this.#models.type(shape.path.slice(0, shape.path.lastIndexOf('.')));
    if (holder !== null) this.#flow.edge(this.#flow.property(this.#tokens.external(holder, site), this.#flow.kept), to);
  }

  #storeInField(id: TokenId, atom: AtomId, from: ValueId, { ever, holds }: LiveField): void {
    this.#flow.edge(from, ever);
    const to = this.#flow.property(id, atom);
    for (const fits of holds) this.#flow.use(from, { kind: 'live', to, ...fits });
  }

  /** `Object.assign` and `Promise.all` belong to everybody: what such a call keeps is not kept by `Object`. */
  keep(id: TokenId, from: ValueId, as: { readonly isKey?: boolean; readonly isHandler?: boolean } = {}): void {
    if (this.#isSharedNamespace(id)) return;
    const onRequest = this.#keptIn(id);
    if (onRequest === null) this.store(id, this.#placeOf(id, as), from);
    else this.#flow.edge(from, onRequest);
  }

  /** `storage.run(store, next)` puts the store on each request, as `req.store = store` would; null for what keeps things itself. */
  #keptIn(id: TokenId): ValueId | null {
    const token = this.#tokens.get(id);
    if (token.kind !== 'external' || token.shape.typeName === null) return null;
    if (this.#models.typeThat(token.shape, keepsForRequest) === null) return null;
    const request = this.#models.type('http.IncomingMessage');
    if (request === null) return null;
    return this.#flow.property(this.#tokens.external(request, everyRequest), this.#facts.atom(contextName(token.site)));
  }

  #placeOf(id: TokenId, as: { readonly isKey?: boolean; readonly isHandler?: boolean }): AtomId {
    if (as.isKey === true && isMap(this.#tokens.get(id))) return this.#flow.keys;
    return as.isHandler === true && this.#tokens.get(id).kind === 'external' ? this.#flow.handlers : this.#placeFor(id);
  }

  /** Where an object keeps what it is given: a list under no name; anything else out of reach of its names. */
  #placeFor(id: TokenId): AtomId {
    const token = this.#tokens.get(id);
    return token.kind === 'object' && isContainer(token.type) ? ANY_PROPERTY : this.#flow.kept;
  }

  #isSharedNamespace(id: TokenId): boolean {
    const token = this.#tokens.get(id);
    return token.kind === 'external' && token.site === -1;
  }

  copyProperties(id: TokenId, to: ValueId): void {
    const token = this.#tokens.get(id);
    if (token.kind === 'unknown') {
      this.#flow.use(to, { kind: 'store', atom: ANY_PROPERTY, from: this.#flow.unknownValue(), op: -1 });
      return;
    }
    if (token.kind === 'bound') return;
    const properties = [...this.#tokens.properties(id)];
    for (const [atom, value] of properties) this.#flow.use(to, { kind: 'store', atom, from: value, op: -1 });
    // What plain data has in it is data as well.
    const isData = token.kind === 'external' && this.#models.isData(token.shape);
    const held = isData ? this.#flow.holding(id) : this.#flow.unknownValue();
    if (token.kind === 'external') this.#flow.use(to, { kind: 'store', atom: ANY_PROPERTY, from: held, op: -1 });
    this.#late.push({ id, to, seen: properties.length });
  }

  /** What a package's class gives to classes that extend it, where they have nothing of that name themselves; and what is not known of
   *  values that nobody has lent anything of that name. */
  loadInherited(): boolean {
    const waiting = this.#inherited.splice(0);
    let found = false;
    for (const borrowed of this.#borrowed.splice(0)) {
      const { shape, site, lent, use } = borrowed;
      const isLent = lent !== NOTHING && this.#flow.held.size(lent) > 0;
      if (isLent && !(this.#put.has(lent) && this.#exposed.has(this.#reachedBy(shape)))) {
        // Who else has it may show later.
        if (this.#put.has(lent)) this.#borrowed.push(borrowed);
        continue;
      }
      // Who else has it may show later.
      if (this.#isStored(borrowed)) this.#borrowed.push(borrowed);
      else {
        this.#loadFromShape(shape, site, this.#facts.atomName(use.atom), use);
        found = true;
      }
    }
    for (const { id, use } of waiting) {
      if (this.#flow.held.size(use.shadow ?? NOTHING) > 0) continue;
      this.load(id, loadWith(use, use.to, undefined, use.up));
      found = true;
    }
    return found;
  }

  /** Properties that came to be after their object was spread into another. */
  copyLateProperties(): boolean {
    let found = false;
    for (const late of this.#late) {
      const properties = [...this.#tokens.properties(late.id)];
      for (const [atom, value] of properties.slice(late.seen)) {
        this.#flow.use(late.to, { kind: 'store', atom, from: value, op: -1 });
        found = true;
      }
      late.seen = properties.length;
    }
    return found;
  }

  /** `toString`, `toJSON` and their like are called without a call in sight, on any object that has them. */
  giveToImplicit(instance: TokenId): void {
    const receiver = this.#flow.holding(instance);
    for (const atom of this.#implicit) {
      const method = this.#facts.newValue();
      this.#flow.use(method, { kind: 'receive', receiver });
      this.load(instance, { kind: 'load', atom, to: method, receiver: NOTHING, op: -1 });
    }
  }

  receive(id: TokenId, receiver: ValueId, isLent = false): void {
    const token = this.#tokens.get(id);
    if (token.kind !== 'function') return;
    if (isLent) this.#found.lent.add(token.fn);
    this.#found.start(token.fn);
    const fn = this.#facts.fn(token.fn);
    if ((fn.flags & FunctionFlag.arrow) === 0) this.#flow.edge(receiver, fn.receiver);
  }

  /** What is called by an object has that for its `this`. */
  lend(id: TokenId, { depth, receiver }: Extract<Use, { kind: 'lend' }>): void {
    const token = this.#tokens.get(id);
    if (token.kind !== 'object') return;
    const all = this.#flow.allProperties(id);
    if (depth > 0) this.#flow.lay(all, lendWithin[depth - 1] ?? lendWithin[0]);
    const self = receiver ?? this.#flow.holding(id);
    const key = `${id} ${self}`;
    if (this.#lentBy.has(key)) return;
    this.#lentBy.add(key);
    this.#flow.use(all, { kind: 'receive', receiver: self, isLent: true });
    if (token.proto !== NOTHING) this.#flow.use(token.proto, { kind: 'lend', depth: 0, receiver: self });
  }

  escape(id: TokenId): void {
    if (this.#escapedTokens.has(id)) return;
    this.#escapedTokens.add(id);
    const fn = this.#tokens.functionOf(id);
    if (fn !== null) {
      this.#found.escaped.add(fn);
      this.#found.start(fn);
    }
    const token = this.#tokens.get(id);
    if (token.kind === 'external') this.#exposed.add(this.#reachedBy(token.shape));
    // Methods of an object go where the object goes.
    if (token.kind === 'object') this.#flow.use(this.#flow.allProperties(id), { kind: 'escape' });
    if (token.kind === 'object' && token.proto !== NOTHING) this.#flow.use(token.proto, { kind: 'escape' });
  }
}
