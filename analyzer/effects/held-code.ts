/**
 * Functions of the program that packages have in hands. A model says of which callbacks a call is made; whatever other
 * function a package is given it may call whenever something of it is used:
 *
 *     const schema = z.string().refine((name) => !taken.has(name));     `schema.parse()` looks at `taken`
 *     Handlebars.registerHelper('next', () => ++count);                 `template(data)` counts
 *     res.render('page', { next: () => ++count });
 *
 * Reads: origins, models, rupture points.
 * Gives: for a call of what a package gave, the functions that it may run, as far as no rupture point says when they run.
 */
import { unreachable } from '../../diagnostics/invariant.js';
import type { Budget } from '../budget.js';
import { isCall } from '../call-graph.js';
import { type Facts, type FunctionId, NOTHING, Op, type OpId, type ValueId } from '../facts.js';
import type { Ruptures } from '../find-rupture-points.js';
import type { Models, Shape } from '../models.js';
import { type Token, type TokenId, UNKNOWN } from '../tokens.js';
import type { Origins } from '../trace-origins.js';
import { type Engines, findEngines } from './engines.js';
import { patchesOf } from './patches.js';
import { type Place, ReachedFrom } from './reached-from.js';
import { isUnheardOf } from './unheard-of.js';

type External = Extract<Token, { kind: 'external' }>;

/** What packages as a whole are given. */
interface Given {
  /** Numbers of packages. */
  readonly names: Map<string, number>;
  readonly values: ValueId[][];
  /** What each reply may run, and what that was found in. */
  readonly settings: Set<FunctionId>;
  readonly settingValues: ValueId[];
  /** What runs where something is printed. */
  readonly output: Set<FunctionId>;
  /** What may be view engines, and what these are given. */
  readonly engines: Engines;
  readonly engineValues: ValueId[];
  /** By the call that made what a package gave: functions that were put on something of it which no model describes
   *  (`md.renderer.rules.fence = fn`). */
  readonly told: Map<OpId, ValueId[]>;
}

const none: readonly FunctionId[] = [];
/** How far within what is given: `{ storage: { filename() {…} } }`. */
const deepest = 3;
/** They print or compare what they are given; what they call of it (`inspect`, getters) the language calls as well. */
const callsNothing = new Set(['console', 'util', 'assert', 'path', 'querystring', 'url']);

/** `new Console(stream)` */
const writesToGiven = /^console\.Own\b/;

const nobody: readonly FunctionId[] = [];

export class HeldCode {
  readonly #facts: Facts;
  readonly #origins: Origins;
  readonly #models: Models;
  /** Callbacks of rupture points: these say when they run. */
  readonly #callbacks = new Set<FunctionId>();
  /** 1 for each call that has been asked for. Of nearly all it is nobody. */
  readonly #isKnown: Uint8Array;
  readonly #ofCalls = new Map<OpId, readonly FunctionId[]>();
  readonly #reached: ReachedFrom;
  #given: Given | null = null;
  /** Of types of which there is one. */
  #ones: Map<string, TokenId[]> | null = null;
  /** What a value was copied or loaded from, or is a result of. */
  #sources: ReadonlyMap<ValueId, readonly ValueId[]> | null = null;
  #parts: ReadonlyMap<TokenId, readonly TokenId[]> | null = null;

  constructor(facts: Facts, origins: Origins, ruptures: Ruptures, models: Models, budget: Budget) {
    this.#facts = facts;
    this.#isKnown = new Uint8Array(facts.kind.length);
    this.#origins = origins;
    this.#models = models;
    for (const point of ruptures.points) if (!point.held) for (const { fn } of point.callbacks) this.#callbacks.add(fn);
    this.#reached = new ReachedFrom((place, found, visit) => this.#look(place, found, visit), budget);
  }

  /** What the call may run, besides what is called and its callbacks. */
  of(op: OpId): readonly FunctionId[] {
    if (this.#isKnown[op] === 0) {
      const found = this.#findOf(op);
      if (found.length > 0) this.#ofCalls.set(op, found);
      this.#isKnown[op] = 1;
    }
    return this.#ofCalls.get(op) ?? nobody;
  }

  #findOf(op: OpId): readonly FunctionId[] {
    let found: Set<FunctionId> | null = null;
    const owners = new Set<string>();
    for (const id of this.#origins.calleeTokens(op)) {
      const token = this.#externalOf(id);
      if (token === null) continue;
      if (this.#prints(token.shape)) for (const fn of this.#packages().output) (found ??= new Set()).add(fn);
      if (!this.#isCode(token.shape)) continue;
      found ??= new Set();
      owners.add(token.shape.package);
      this.#addPackage(token.shape.package, found);
      this.#add({ kind: 'held', id }, found);
      if (isReply(token.shape) || this.#isReply(op)) this.#addReply(token.shape, op, found);
      else if (this.#models.call(token.shape, this.#facts.kind.get(op) === Op.construct)?.data !== true)
        this.#addGiven(op, found);
    }
    if (found === null) return none;
    this.#addReceivers(op, found, owners);
    return found.size === 0 ? none : [...found];
  }

  #addReceivers(op: OpId, found: Set<FunctionId>, owners: ReadonlySet<string>): void {
    for (const id of this.#receivers(op)) {
      this.#add({ kind: 'held', id }, found);
      // An instance of a class that extends one of a package: `_transform()` is called by `write()`. Emitters call listeners.
      if (owners.size === 1 && owners.has('events')) continue;
      const token = this.#origins.tokens.get(id);
      if (token.kind === 'object' && token.type === 'Instance')
        this.#add({ kind: 'methods', proto: token.proto, depth: deepest }, found);
    }
  }

  #receivers(op: OpId): readonly TokenId[] {
    const { kind, a, c } = this.#facts;
    const own = kind.get(op) === Op.method ? a.get(op) : kind.get(op) === Op.call ? c.get(op) : NOTHING;
    const receiver = this.#origins.receiverOf.get(op) ?? own;
    return receiver === NOTHING ? [] : this.#origins.tokensOf(receiver);
  }

  /** `res.end()`, whoever has that method. */
  #isReply(op: OpId): boolean {
    return this.#receivers(op).some((id) => {
      const token = this.#externalOf(id);
      return token !== null && this.#models.typeThat(token.shape, isOfRequest) !== null;
    });
  }

  #externalOf(id: TokenId): External | null {
    let token = this.#origins.tokens.get(id);
    while (token.kind === 'bound') token = this.#origins.tokens.get(token.target);
    return token.kind === 'external' ? token : null;
  }

  #prints(shape: Shape): boolean {
    return shape.package === 'tty' || this.#models.call(shape, false)?.does?.includes('output') === true;
  }

  /** Code of a package, and not of the language. */
  #isCode(shape: Shape): boolean {
    return shape.package !== '' && (!callsNothing.has(shape.package) || writesToGiven.test(shape.path));
  }

  // --- what a call is given -------------------------------------------------------------------------------------------------

  #addGiven(op: OpId, found: Set<FunctionId>): void {
    for (const value of this.#argumentsOf(op)) this.#add({ kind: 'value', value, depth: deepest }, found);
  }

  #argumentsOf(op: OpId): readonly ValueId[] {
    const call = this.#facts.d.get(op);
    return Array.from({ length: this.#facts.callCount.get(call) }, (_, index) => this.#facts.argument(call, index));
  }

  #addPackage(name: string, found: Set<FunctionId>): void {
    const number = this.#packages().names.get(name);
    if (number !== undefined) this.#add({ kind: 'package', number }, found);
  }

  #add(place: Place, found: Set<FunctionId>): void {
    for (const fn of this.#reached.of(place)) found.add(fn);
  }

  // --- one step from a place ------------------------------------------------------------------------------------------------

  #look(place: Place, found: Set<FunctionId>, visit: (next: Place) => void): void {
    switch (place.kind) {
      case 'value':
        return this.#lookAtValue(place.value, place.depth, found, visit);
      case 'instances':
        return this.#lookForInstances(place.value, place.depth, visit);
      case 'within':
        for (const value of this.#propertiesOf(place.id)) visit({ kind: 'value', value, depth: place.depth });
        return;
      case 'held':
        return this.#lookAtHeld(place.id, found, visit);
      case 'methods':
        return this.#lookAtMethods(place.proto, place.depth, visit);
      case 'package':
        for (const value of this.#packages().values[place.number] ?? [])
          visit({ kind: 'value', value, depth: deepest });
        return;
      default:
        return unreachable(place);
    }
  }

  #lookAtValue(value: ValueId, depth: number, found: Set<FunctionId>, visit: (next: Place) => void): void {
    for (const id of this.#origins.tokensOf(value)) {
      const fn = this.#origins.tokens.functionOf(id);
      if (fn !== null) this.#addFunction(fn, found);
      if (depth === 0) continue;
      const { kind } = this.#origins.tokens.get(id);
      if (kind === 'function') this.#lookAtClass(id, depth, visit);
      if (kind === 'external') visit({ kind: 'held', id });
      if (kind === 'object') visit({ kind: 'within', id, depth: depth - 1 });
    }
  }

  /** With what it gives, or leaves with what it is given: `dayjs.extend((_, Dayjs) => { Dayjs.prototype.format = fn; })`. */
  #addFunction(fn: FunctionId, found: Set<FunctionId>): void {
    if (!this.#mayCall(fn)) return;
    for (let inner = fn; inner < this.#facts.fn(fn).functionEnd; inner++) if (this.#mayCall(inner)) found.add(inner);
  }

  /** Who has a class may make instances, and call what these have. */
  #lookAtClass(id: TokenId, depth: number, visit: (next: Place) => void): void {
    for (const [atom, value] of this.#origins.tokens.knownProperties(id) ?? []) {
      if (this.#facts.atomName(atom) === 'prototype') visit({ kind: 'methods', proto: value, depth });
      else if (!isUnheardOf(this.#facts, this.#origins, this.#models, id, atom))
        visit({ kind: 'value', value, depth: depth - 1 });
    }
  }

  /** Given when it was made, to what it was made from, or put on it since. */
  #lookAtHeld(id: TokenId, found: Set<FunctionId>, visit: (next: Place) => void): void {
    const token = this.#externalOf(id);
    if (token === null) return this.#lookAtHeir(id, found, visit);
    if (!this.#isCode(token.shape)) return;
    const one = this.#models.oneOf(token.shape);
    // An app holds all of its handlers, which it calls for requests.
    if (one !== null && isExpress(token.shape)) return;
    // What one of them was told, all know.
    if (one !== null) for (const other of this.#allOf(one)) visit({ kind: 'held', id: other });
    if (token.site < 0) return;
    for (const given of this.#givenBy(id)) visit({ kind: 'held', id: given });
    const told = this.#packages().told.get(token.site) ?? [];
    for (const value of [...this.#heardOf(id), ...told, ...this.#argumentsOf(token.site)]) {
      visit({ kind: 'value', value, depth: deepest });
      visit({ kind: 'instances', value, depth: 2 });
    }
    for (const callee of this.#origins.calleeTokens(token.site)) {
      const maker = this.#externalOf(callee);
      const number = maker === null ? undefined : this.#packages().names.get(maker.shape.package);
      if (maker === null || !this.#isCode(maker.shape)) continue;
      // What makes it holds what it was given itself: `winston.format(fn)()`.
      visit({ kind: 'held', id: callee });
      if (number !== undefined) visit({ kind: 'package', number });
    }
    if (this.#facts.kind.get(token.site) !== Op.method) return;
    for (const from of this.#origins.tokensOf(this.#facts.a.get(token.site))) visit({ kind: 'held', id: from });
  }

  /** `class User extends Model`: the package makes its instances, and calls what it has of what the package knows. */
  #lookAtHeir(id: TokenId, found: Set<FunctionId>, visit: (next: Place) => void): void {
    const seen = new Set([id]);
    for (const each of seen) {
      const token = this.#origins.tokens.get(each);
      if (token.kind !== 'function') continue;
      const superclass = this.#facts.classes.get(token.fn)?.superclass;
      if (superclass === undefined || superclass === NOTHING) continue;
      if (this.#mayCall(token.fn)) found.add(token.fn);
      this.#lookAtClass(each, deepest, visit);
      for (const above of this.#origins.tokensOf(superclass)) {
        seen.add(above);
        if (this.#origins.tokens.get(above).kind === 'external') visit({ kind: 'held', id: above });
      }
    }
  }

  /** What it gave, where a model says that it is changed by that: `schema.virtual('name')` is told by `.get(fn)` what the schema calls. */
  #givenBy(id: TokenId): readonly TokenId[] {
    this.#parts ??= this.#findParts();
    return this.#parts.get(id) ?? [];
  }

  #findParts(): ReadonlyMap<TokenId, readonly TokenId[]> {
    const found = new Map<TokenId, TokenId[]>();
    for (let id = 1; id < this.#origins.tokens.length; id++) {
      const token = this.#origins.tokens.get(id);
      if (token.kind !== 'external' || token.site < 0 || !this.#isCode(token.shape)) continue;
      if (this.#facts.kind.get(token.site) !== Op.method || !this.#changesReceiver(token.site)) continue;
      for (const from of this.#origins.tokensOf(this.#facts.a.get(token.site))) {
        const known = found.get(from);
        if (known === undefined) found.set(from, [id]);
        else known.push(id);
      }
    }
    return found;
  }

  #changesReceiver(op: OpId): boolean {
    return this.#origins.calleeTokens(op).some((id) => {
      const callee = this.#externalOf(id);
      return callee !== null && this.#models.call(callee.shape, false)?.mutates?.includes('this') === true;
    });
  }

  #allOf(one: string): readonly TokenId[] {
    if (this.#ones === null) {
      this.#ones = new Map();
      for (let id = 1; id < this.#origins.tokens.length; id++) {
        const token = this.#origins.tokens.get(id);
        const name = token.kind === 'external' ? this.#models.oneOf(token.shape) : null;
        if (name === null || token.kind !== 'external' || token.shape.typeName !== name) continue;
        this.#ones.set(name, [...(this.#ones.get(name) ?? []), id]);
      }
    }
    return this.#ones.get(one) ?? [];
  }

  /** `createLogger({ transports: [new Own()] })`: what it keeps it calls. */
  #lookForInstances(value: ValueId, depth: number, visit: (next: Place) => void): void {
    for (const id of this.#origins.tokensOf(value)) {
      const token = this.#origins.tokens.get(id);
      if (token.kind !== 'object') continue;
      if (token.type === 'Instance') visit({ kind: 'methods', proto: token.proto, depth: deepest });
      else if (depth > 0)
        for (const each of this.#propertiesOf(id)) visit({ kind: 'instances', value: each, depth: depth - 1 });
    }
  }

  #lookAtMethods(proto: ValueId, depth: number, visit: (next: Place) => void): void {
    for (const id of this.#origins.tokensOf(proto)) {
      const token = this.#origins.tokens.get(id);
      if (token.kind !== 'object') continue;
      visit({ kind: 'within', id, depth: 0 });
      if (depth > 0) visit({ kind: 'methods', proto: token.proto, depth: depth - 1 });
    }
  }

  #propertiesOf(id: TokenId): Iterable<ValueId> {
    return this.#origins.tokens.knownProperties(id)?.values() ?? [];
  }

  #heardOf(id: TokenId): readonly ValueId[] {
    const properties = [...(this.#origins.tokens.knownProperties(id) ?? [])];
    const heardOf = properties.filter(([atom]) => !isUnheardOf(this.#facts, this.#origins, this.#models, id, atom));
    return heardOf.map(([, value]) => value);
  }

  #mayCall(fn: FunctionId): boolean {
    return !this.#callbacks.has(fn) && this.#origins.mayRun(fn);
  }

  // --- what a whole package holds -------------------------------------------------------------------------------------------

  #packages(): Given {
    this.#given ??= this.#findGiven();
    return this.#given;
  }

  /** Settings of a package (`dayjs.extend(fn)`), and what the program puts on it (`moment.now = fn`). */
  #findGiven(): Given {
    const given: Given = {
      names: new Map(),
      values: [],
      settings: new Set(),
      settingValues: [],
      output: new Set(),
      engines: findEngines(this.#facts, this.#origins, this.#models),
      engineValues: [],
      told: new Map(),
    };
    const { kind } = this.#facts;
    for (let op = 0; op < kind.length; op++) {
      for (const { fn, of: patched } of patchesOf(this.#facts, this.#origins, op)) {
        if (patched === 'output') given.output.add(fn);
        if (patched === 'exchange') given.settings.add(fn);
      }
      if (kind.get(op) === Op.store) this.#addStored(op, given);
      else if (isCall(kind.get(op))) this.#addConfigured(op, given);
    }
    return given;
  }

  #addStored(op: OpId, given: Given): void {
    for (const id of this.#origins.tokensOf(this.#facts.a.get(op))) {
      const token = this.#origins.tokens.get(id);
      if (token.kind !== 'external' || token.site !== -1 || !isThirdParty(token.shape)) continue;
      give(given, token.shape.package, [this.#facts.b.get(op)]);
    }
    this.#addStoredWithin(op, given);
  }

  /** On what is within something that a package gave, and that no model describes. */
  #addStoredWithin(op: OpId, given: Given): void {
    const [base, value] = [this.#facts.a.get(op), this.#facts.b.get(op)];
    if (!this.#origins.tokensOf(value).some((id) => this.#origins.tokens.functionOf(id) !== null)) return;
    const held = this.#origins.tokensOf(base);
    const isLost = held.length === 0 || held.includes(UNKNOWN);
    for (const id of isLost ? this.#rootsOf(base) : held) {
      const token = this.#externalOf(id);
      if (token === null || !this.#isCode(token.shape) || (!isLost && !isUndescribed(token.shape))) continue;
      if (token.site < 0) give(given, token.shape.package, [value]);
      else tell(given, token.site, [value]);
    }
  }

  /** What the value was loaded from. */
  #rootsOf(base: ValueId): ReadonlySet<TokenId> {
    this.#sources ??= this.#findSources();
    const found = new Set<TokenId>();
    const seen = new Set([base]);
    for (const value of seen) {
      for (const id of this.#origins.tokensOf(value)) if (id !== UNKNOWN) found.add(id);
      for (const source of this.#sources.get(value) ?? []) seen.add(source);
    }
    return found;
  }

  #findSources(): ReadonlyMap<ValueId, readonly ValueId[]> {
    const found = new Map<ValueId, ValueId[]>();
    const { kind, a, b } = this.#facts;
    for (let op = 0; op < kind.length; op++) {
      const is = kind.get(op);
      if (is !== Op.copy && is !== Op.load && is !== Op.method && is !== Op.await) continue;
      const known = found.get(b.get(op));
      if (known === undefined) found.set(b.get(op), [a.get(op)]);
      else known.push(a.get(op));
    }
    return found;
  }

  #addConfigured(op: OpId, given: Given): void {
    for (const id of this.#origins.calleeTokens(op)) {
      const token = this.#externalOf(id);
      if (token === null) continue;
      if (token.shape.path === 'express.Application.set') this.#addSettings(op, given);
      if (!isThirdParty(token.shape)) continue;
      const call = this.#models.call(token.shape, this.#facts.kind.get(op) === Op.construct);
      if (call !== null && (call.mutates?.includes('this') !== true || call.keeps === undefined)) continue;
      if (token.site === -1) give(given, token.shape.package, this.#argumentsOf(op));
      else {
        if (given.engines.isPackage(token.shape.package)) given.engineValues.push(...this.#argumentsOf(op));
        // `md.linkify.add('x:', { validate() {…} })`
        if (call === null) tell(given, token.site, this.#argumentsOf(op));
      }
    }
  }

  // --- replies ----------------------------------------------------------------------------------------------------------------

  /** `app.set('etag', fn)`: replies are made by it. */
  #addSettings(op: OpId, given: Given): void {
    for (const value of this.#argumentsOf(op)) {
      given.settingValues.push(value);
      for (const id of this.#origins.tokensOf(value)) {
        const fn = this.#origins.tokens.functionOf(id);
        if (fn !== null) given.settings.add(fn);
      }
    }
  }

  #addReply({ path }: Shape, op: OpId, found: Set<FunctionId>): void {
    const { settings, settingValues, values, engines, engineValues } = this.#packages();
    for (const fn of settings) found.add(fn);
    for (const value of settingValues) this.#add({ kind: 'value', value, depth: deepest }, found);
    if (!rendering.test(path)) return;
    this.#addGiven(op, found);
    // Whichever engine it is, it has been given nothing but what packages have been given.
    for (const number of values.keys()) this.#add({ kind: 'package', number }, found);
    for (const id of engines.tokens) this.#add({ kind: 'held', id }, found);
    for (const value of engineValues) this.#add({ kind: 'value', value, depth: deepest }, found);
  }
}

function give({ names, values }: Given, name: string, more: readonly ValueId[]): void {
  const number = names.get(name) ?? values.push([]) - 1;
  names.set(name, number);
  values[number]?.push(...more);
}

/** Of no type, and of a member nothing is said: what is put there is not lent to anybody, as the methods of a schema are. */
function isUndescribed({ typeName, member }: Shape): boolean {
  return typeName === null && (member === null || Object.keys(member).length === 0);
}

function tell({ told }: Given, maker: OpId, more: readonly ValueId[]): void {
  told.set(maker, [...(told.get(maker) ?? []), ...more]);
}

const rendering = /\.render$/;

function isExpress({ package: name }: Shape): boolean {
  return name === 'express';
}

function isReply({ path }: Shape): boolean {
  return /^express\.(Response|Request|Application)\./.test(path);
}

function isOfRequest({ perRequest }: { readonly perRequest?: boolean }): boolean {
  return perRequest === true;
}

function isThirdParty({ package: name, isOfNode }: Shape): boolean {
  return name !== '' && name !== 'express' && !isOfNode;
}
