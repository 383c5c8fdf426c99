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
import { isBuiltin } from 'node:module';
import { isCall } from '../call-graph.js';
import { type Facts, type FunctionId, NOTHING, Op, type OpId, type ValueId } from '../facts.js';
import type { Ruptures } from '../find-rupture-points.js';
import type { Models, Shape } from '../models.js';
import type { Token, TokenId } from '../tokens.js';
import type { Origins } from '../trace-origins.js';
import { patchesOf } from './patches.js';

type External = Extract<Token, { kind: 'external' }>;

const none: readonly FunctionId[] = [];
/** How far within what is given: `{ storage: { filename() {…} } }`. */
const deepest = 3;
/** They print or compare what they are given; what they call of it (`inspect`, getters) the language calls as well. */
const callsNothing = new Set(['console', 'util', 'assert', 'path', 'querystring', 'url']);

export class HeldCode {
  readonly #facts: Facts;
  readonly #origins: Origins;
  readonly #models: Models;
  /** Callbacks of rupture points: these say when they run. */
  readonly #callbacks = new Set<FunctionId>();
  readonly #ofCalls = new Map<OpId, readonly FunctionId[]>();
  readonly #held = new Map<TokenId, readonly FunctionId[]>();
  #ofPackages: ReadonlyMap<string, readonly FunctionId[]> | null = null;
  /** What each reply may run. */
  readonly #settings = new Set<FunctionId>();
  /** What runs where something is printed. */
  readonly #output = new Set<FunctionId>();

  constructor(facts: Facts, origins: Origins, ruptures: Ruptures, models: Models) {
    this.#facts = facts;
    this.#origins = origins;
    this.#models = models;
    for (const point of ruptures.points) for (const { fn } of point.callbacks) this.#callbacks.add(fn);
  }

  /** What the call may run, besides what is called and its callbacks. */
  of(op: OpId): readonly FunctionId[] {
    let known = this.#ofCalls.get(op);
    if (known === undefined) this.#ofCalls.set(op, (known = this.#findOf(op)));
    return known;
  }

  #findOf(op: OpId): readonly FunctionId[] {
    let found: Set<FunctionId> | null = null;
    const owners = new Set<string>();
    for (const id of this.#origins.calleeTokens(op)) {
      const token = this.#externalOf(id);
      if (token === null) continue;
      if (this.#prints(token.shape)) {
        this.#packages();
        for (const fn of this.#output) (found ??= new Set()).add(fn);
      }
      if (!this.#isCode(token.shape)) continue;
      found ??= new Set();
      owners.add(token.shape.package);
      this.#addPackage(token.shape.package, found);
      for (const fn of this.#heldBy(id)) found.add(fn);
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
      for (const fn of this.#heldBy(id)) found.add(fn);
      // An instance of a class that extends one of a package: `_transform()` is called by `write()`. Emitters call listeners.
      if (owners.size === 1 && owners.has('events')) continue;
      const token = this.#origins.tokens.get(id);
      if (token.kind === 'object' && token.type === 'Instance') this.#addMethods(token.proto, deepest, found);
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

  #addMethods(proto: ValueId, depth: number, found: Set<FunctionId>): void {
    for (const id of this.#origins.tokensOf(proto)) {
      const token = this.#origins.tokens.get(id);
      if (token.kind !== 'object') continue;
      for (const value of this.#origins.tokens.knownProperties(id)?.values() ?? [])
        this.#addWithin(value, 0, found, new Set());
      if (depth > 0) this.#addMethods(token.proto, depth - 1, found);
    }
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
    return shape.package !== '' && !callsNothing.has(shape.package);
  }

  // --- what a call is given -------------------------------------------------------------------------------------------------

  #addGiven(op: OpId, found: Set<FunctionId>): void {
    const call = this.#facts.d.get(op);
    for (let index = 0; index < this.#facts.callCount.get(call); index++)
      this.#addWithin(this.#facts.argument(call, index), deepest, found, new Set());
  }

  #addWithin(value: ValueId, depth: number, found: Set<FunctionId>, seen: Set<TokenId>): void {
    for (const id of this.#origins.tokensOf(value)) {
      const fn = this.#origins.tokens.functionOf(id);
      if (fn !== null && this.#mayCall(fn)) found.add(fn);
      if (depth === 0 || seen.has(id)) continue;
      seen.add(id);
      const token = this.#origins.tokens.get(id);
      if (token.kind === 'external') for (const held of this.#heldBy(id)) found.add(held);
      if (token.kind !== 'object') continue;
      for (const inner of this.#origins.tokens.knownProperties(id)?.values() ?? [])
        this.#addWithin(inner, depth - 1, found, seen);
    }
  }

  #mayCall(fn: FunctionId): boolean {
    return !this.#callbacks.has(fn) && this.#origins.mayRun(fn);
  }

  // --- what something of a package holds ------------------------------------------------------------------------------------

  /** Given when it was made, to what it was made from, or put on it since. */
  #heldBy(id: TokenId): readonly FunctionId[] {
    let known = this.#held.get(id);
    if (known === undefined) {
      // What holds itself holds no more by that.
      this.#held.set(id, none);
      const found = this.#findHeld(id);
      this.#held.set(id, (known = found.size === 0 ? none : [...found]));
    }
    return known;
  }

  #findHeld(id: TokenId): ReadonlySet<FunctionId> {
    const found = new Set<FunctionId>();
    const token = this.#externalOf(id);
    if (token === null || !this.#isCode(token.shape)) return found;
    // An app holds all of its handlers, which it calls for requests.
    if (token.site < 0 || this.#models.oneOf(token.shape) !== null) return found;
    for (const value of this.#origins.tokens.knownProperties(id)?.values() ?? [])
      this.#addWithin(value, deepest, found, new Set());
    this.#addGiven(token.site, found);
    for (const callee of this.#origins.calleeTokens(token.site)) {
      const maker = this.#externalOf(callee);
      if (maker !== null && this.#isCode(maker.shape)) this.#addPackage(maker.shape.package, found);
    }
    if (this.#facts.kind.get(token.site) === Op.method)
      for (const from of this.#origins.tokensOf(this.#facts.a.get(token.site)))
        for (const fn of this.#heldBy(from)) found.add(fn);
    return found;
  }

  // --- what a whole package holds -------------------------------------------------------------------------------------------

  #addPackage(name: string, found: Set<FunctionId>): void {
    for (const fn of this.#packages().get(name) ?? none) found.add(fn);
  }

  #packages(): ReadonlyMap<string, readonly FunctionId[]> {
    this.#ofPackages ??= this.#findPackages();
    return this.#ofPackages;
  }

  /** Settings of a package (`dayjs.extend(fn)`), and what the program puts on it (`moment.now = fn`). */
  #findPackages(): ReadonlyMap<string, readonly FunctionId[]> {
    const found = new Map<string, Set<FunctionId>>();
    const of = (name: string): Set<FunctionId> => {
      const known = found.get(name) ?? new Set();
      found.set(name, known);
      return known;
    };
    const { kind } = this.#facts;
    for (let op = 0; op < kind.length; op++) {
      for (const { fn, of: patched } of patchesOf(this.#facts, this.#origins, op)) {
        if (patched === 'output') this.#output.add(fn);
        if (patched === 'exchange') this.#settings.add(fn);
      }
      if (kind.get(op) === Op.store) this.#addStored(op, of);
      else if (isCall(kind.get(op))) this.#addConfigured(op, of);
    }
    return new Map([...found].map(([name, functions]) => [name, [...functions]]));
  }

  #addStored(op: OpId, of: (name: string) => Set<FunctionId>): void {
    for (const id of this.#origins.tokensOf(this.#facts.a.get(op))) {
      const token = this.#origins.tokens.get(id);
      if (token.kind !== 'external') continue;
      const into = this.#ofOnePackage(token, of);
      if (into !== null) this.#addWithin(this.#facts.b.get(op), deepest, into, new Set());
    }
  }

  #ofOnePackage({ shape, site }: External, of: (name: string) => Set<FunctionId>): Set<FunctionId> | null {
    return site === -1 && isThirdParty(shape.package) ? of(shape.package) : null;
  }

  #addConfigured(op: OpId, of: (name: string) => Set<FunctionId>): void {
    for (const id of this.#origins.calleeTokens(op)) {
      const token = this.#externalOf(id);
      if (token === null) continue;
      if (token.shape.path === 'express.Application.set') this.#addSettings(op);
      if (token.site !== -1 || !isThirdParty(token.shape.package)) continue;
      const call = this.#models.call(token.shape, this.#facts.kind.get(op) === Op.construct);
      if (call === null || (call.mutates?.includes('this') === true && call.keeps !== undefined))
        this.#addGiven(op, of(token.shape.package));
    }
  }

  // --- replies ----------------------------------------------------------------------------------------------------------------

  /** `app.set('etag', fn)`: replies are made by it. */
  #addSettings(op: OpId): void {
    const call = this.#facts.d.get(op);
    for (let index = 0; index < this.#facts.callCount.get(call); index++) {
      for (const id of this.#origins.tokensOf(this.#facts.argument(call, index))) {
        const fn = this.#origins.tokens.functionOf(id);
        if (fn !== null) this.#settings.add(fn);
      }
    }
    this.#addGiven(op, this.#settings);
  }

  #addReply({ path }: Shape, op: OpId, found: Set<FunctionId>): void {
    const packages = this.#packages();
    for (const fn of this.#settings) found.add(fn);
    if (!rendering.test(path)) return;
    this.#addGiven(op, found);
    // Whichever engine it is, it has been given nothing but what packages have been given.
    for (const functions of packages.values()) for (const fn of functions) found.add(fn);
  }
}

const rendering = /\.render$/;

function isReply({ path }: Shape): boolean {
  return /^express\.(Response|Request|Application)\./.test(path);
}

function isOfRequest({ perRequest }: { readonly perRequest?: boolean }): boolean {
  return perRequest === true;
}

function isThirdParty(name: string): boolean {
  return name !== '' && name !== 'express' && !isBuiltin(name);
}
