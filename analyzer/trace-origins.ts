/**
 * Where every value comes from: which functions, objects and outside values it can be.
 *
 * Reads:   facts of all modules, values from outside, models.
 * Gives:   Origins: for each value its tokens, for each call the functions that it runs, for each callback that a model
 *          knows of the functions that it can be.
 *
 * One set of tokens a value, whatever the order of execution and the caller (Andersen's analysis, solved by a worklist).
 * Tokens move along copies; loads, stores and calls add copies as tokens arrive at what they work on.
 */
import type { Call, Rupture, ValueRef } from '../models/types.js';
import type { Budget } from './budget.js';
import { isCalledByLanguage } from './called-by-language.js';
import { cloneFunction, cloneSize, isToldApart, markWrappers, mayChangeGiven } from './clone-function.js';
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
  type TokenSeed,
  type ValueId,
} from './facts.js';
import { IntList } from './int-list.js';
import type { External, Unloaded } from './load-modules.js';
import { methodByName } from './method-by-name.js';
import { type Models, type Ref, registersNothing, type Shape } from './models.js';
import { IntSets } from './sets.js';
import { everyRequest, type Token, type TokenId, TokenTable, UNKNOWN } from './tokens.js';

/** A callback that a modelled call takes. */
export interface CallbackUse {
  readonly op: OpId;
  readonly rupture: Rupture;
  readonly value: ValueId;
  readonly argument: number;
}

export interface Origins {
  readonly tokens: TokenTable;
  tokensOf(value: ValueId): readonly TokenId[];
  /** Functions of the program that the call runs. */
  calleesOf(op: OpId): readonly FunctionId[];
  /** Functions of the program that the callee, which is not one, runs before it returns (`list.map(fn)`). */
  inPlaceOf(op: OpId): readonly FunctionId[];
  /** Tokens that the call's callee can be. */
  calleeTokens(op: OpId): readonly TokenId[];
  readonly callbacks: readonly CallbackUse[];
  /** Functions that code unknown to the analysis may call. */
  readonly escaped: ReadonlySet<FunctionId>;
  /** For a call of a bound function: the receiver that it was bound to. */
  readonly receiverOf: ReadonlyMap<OpId, ValueId>;
}

/** What is done with a value, run again for each token that it turns out to hold. */
type Use =
  | {
      readonly kind: 'load';
      readonly atom: AtomId;
      readonly to: ValueId;
      readonly receiver: ValueId;
      readonly op: OpId;
      /** The load iterates: it gives items, and no other properties. */
      readonly items?: boolean | undefined;
      /** The property of a class that hides one of the same name in the class that it extends. */
      readonly shadow?: ValueId | undefined;
    }
  | { readonly kind: 'store'; readonly atom: AtomId; readonly from: ValueId; readonly op: OpId }
  | { readonly kind: 'method'; readonly op: OpId; readonly callee: ValueId; readonly view: CallView }
  | { readonly kind: 'call'; readonly view: CallView }
  | { readonly kind: 'callback'; readonly use: CallbackUse; readonly call: CallView }
  | {
      readonly kind: 'inPlace';
      readonly params: readonly ValueRef[];
      readonly call: CallView;
      readonly result: ValueId;
    }
  | { readonly kind: 'await'; readonly to: ValueId }
  | { readonly kind: 'copyProperties'; readonly to: ValueId }
  | { readonly kind: 'bind'; readonly view: CallView; readonly promisified: boolean; readonly stateful: boolean }
  | { readonly kind: 'keep'; readonly from: ValueId }
  | { readonly kind: 'receive'; readonly receiver: ValueId }
  | { readonly kind: 'arrive'; readonly waiting: Waiting }
  | { readonly kind: 'super'; readonly callee: TokenId; readonly called: FunctionId; readonly view: CallView }
  | { readonly kind: 'escape' };

/** A call as its callee sees it. */
interface CallView {
  readonly op: OpId;
  readonly to: ValueId;
  readonly receiver: ValueId;
  readonly args: readonly ValueId[];
  /** Index of the first argument that stands for any number of them, or -1. */
  readonly spread: number;
  readonly isNew: boolean;
  readonly promisified: boolean;
  /** The arguments are not those that stand in the source. */
  readonly rearranged?: boolean;
  readonly awaited?: boolean;
  /** The only receiver of the call, where each has a call of its own. */
  readonly only?: TokenId;
}

interface Waiting {
  readonly id: TokenId;
  readonly called: FunctionId;
  readonly view: CallView;
  isDone: boolean;
}

const tooMany = 120;
/** Stands for all calls of a function that have their arguments in place. */
const direct = -1;
/** Of copies in copies. */
const deepest = 3;

export function traceOrigins(
  facts: Facts,
  externals: readonly External[],
  unloaded: readonly Unloaded[],
  models: Models,
  budget: Budget,
): Origins {
  const solver = new Solver(facts, models, budget);
  solver.seed(externals, unloaded);
  solver.solve();
  solver.release();
  return solver.origins();
}

class Solver {
  readonly #budget: Budget;
  readonly #facts: Facts;
  readonly #models: Models;
  readonly #tokens = new TokenTable();
  readonly #held = new IntSets();
  #edges = new IntSets();
  /** Uses by value: of ops by their number, others as they are. */
  #uses: (number | Use | (number | Use)[] | undefined)[] = [];
  readonly #usesOfOps = new Map<number, Use>();
  readonly #views = new Map<OpId, CallView>();
  readonly #queueValues = new IntList(4096);
  readonly #queueTokens = new IntList(4096);
  readonly #callees = new IntSets();
  readonly #inPlaceCallees = new IntSets();
  readonly #calleeValue = new Map<OpId, ValueId>();
  /** All that is called, where each receiver has a call of its own. */
  readonly #calleesOfAll = new Map<OpId, ValueId>();
  /** For each instance a value that holds nothing else. */
  readonly #alone = new Map<TokenId, ValueId>();
  readonly #promises = new Map<FunctionId, ValueId>();
  readonly #instances = new Map<string, TokenId>();
  readonly #made = new Map<string, TokenId>();
  readonly #callbacks: CallbackUse[] = [];
  readonly #escaped = new Set<FunctionId>();
  readonly #escapedTokens = new Set<TokenId>();
  readonly #called = new Set<FunctionId>();
  readonly #waiting: Waiting[] = [];
  readonly #superCalls: { readonly id: TokenId; readonly view: CallView }[] = [];
  /** Names of properties that the language calls by itself, where the program has such properties. */
  readonly #implicit = new Set<AtomId>();
  readonly #receiverOf = new Map<OpId, ValueId>();
  /** Copies by original and call, or receiver. */
  readonly #cloned = new Map<FunctionId, Map<number, FunctionFact>>();
  readonly #depths = new Map<FunctionId, number>();
  readonly #mayChange = new Map<FunctionId, boolean>();
  #cloneBudget = 0;
  /** Values that come from other modules and packages. */
  readonly #loaded: ValueId[] = [];
  readonly #inherited: { readonly id: TokenId; readonly use: Extract<Use, { kind: 'load' }> }[] = [];
  readonly #shadows = new Map<string, Extract<Use, { kind: 'load' }>>();
  readonly #iterations = new Map<string, Extract<Use, { kind: 'load' }>>();
  readonly #byName = new Set<OpId>();
  readonly #laid = new Map<Use, Set<ValueId>>();
  readonly #late: { readonly id: TokenId; readonly to: ValueId; seen: number }[] = [];
  /** While the parameters of a callback are given. */
  #givesAnew = false;
  /** While the result of a call is given: what it makes remembers. */
  #givesStateful = false;
  #unknownSource: ValueId = NOTHING;
  readonly #prototype: AtomId;
  readonly #resolved: AtomId;
  readonly #kept: AtomId;

  constructor(facts: Facts, models: Models, budget: Budget) {
    this.#budget = budget;
    this.#facts = facts;
    this.#models = models;
    this.#prototype = facts.atom('prototype');
    this.#resolved = facts.atom('[[resolved]]');
    this.#kept = facts.atom('[[kept]]');
  }

  /** What was needed on the way to the solution is many times the solution. */
  release(): void {
    this.#uses = [];
    this.#edges = new IntSets();
    for (const map of [
      this.#usesOfOps,
      this.#views,
      this.#laid,
      this.#shadows,
      this.#iterations,
      this.#instances,
      this.#made,
    ])
      map.clear();
  }

  origins(): Origins {
    return {
      tokens: this.#tokens,
      tokensOf: (value) => this.#held.get(value),
      calleesOf: (op) => this.#callees.get(op),
      inPlaceOf: (op) => this.#inPlaceCallees.get(op),
      calleeTokens: (op) =>
        this.#held.get(this.#calleesOfAll.get(op) ?? this.#calleeValue.get(op) ?? this.#facts.a.get(op)),
      callbacks: this.#callbacks,
      escaped: this.#escaped,
      receiverOf: this.#receiverOf,
    };
  }

  // ------------------------------------------------------------------------------------------------ start

  seed(externals: readonly External[], unloaded: readonly Unloaded[]): void {
    markWrappers(this.#facts);
    this.#cloneBudget = Math.max(20_000, this.#facts.valueCount);
    for (const fn of this.#facts.functions) this.#seedFunction(fn);
    for (const seed of this.#facts.seeds) this.#seed(seed);
    for (const external of externals) this.#seedExternal(external);
    for (const { value } of unloaded) this.#add(value, UNKNOWN);
    for (const { value } of [...externals, ...unloaded]) this.#loaded.push(value);
    for (let op = 0; op < this.#facts.kind.length; op++) {
      const atom = this.#facts.c.get(op);
      const isStore = this.#facts.kind.get(op) === Op.store && this.#facts.b.get(op) !== NOTHING;
      if (isStore && isCalledByLanguage(this.#facts.atomName(atom))) this.#implicit.add(atom);
    }
    for (let op = 0; op < this.#facts.kind.length; op++) this.#seedOp(op);
  }

  #seed(seed: TokenSeed): void {
    if (seed.kind === 'function') this.#add(seed.value, this.#tokens.function(seed.fn));
    else if (seed.kind === 'global') this.#seedGlobal(seed.value, seed.name);
    else
      this.#add(
        seed.value,
        this.#tokens.make({ kind: 'object', type: seed.type, start: seed.start, fn: seed.fn, proto: NOTHING }),
      );
  }

  #seedFunction(fn: FunctionFact): void {
    if (fn.rest >= 0) this.#add(fn.params[fn.rest] ?? NOTHING, this.#object('Array', fn));
    if ((fn.flags & (FunctionFlag.async | FunctionFlag.generator)) === 0) return;
    const generator = (fn.flags & FunctionFlag.generator) !== 0;
    const token = this.#object(generator ? 'Generator' : 'Promise', fn);
    this.#add(fn.result, token);
    this.#promises.set(fn.id, generator ? this.#property(token, ANY_PROPERTY) : this.#property(token, this.#resolved));
  }

  #object(type: string, fn: FunctionFact): TokenId {
    return this.#tokens.make({ kind: 'object', type, fn: fn.id, start: fn.start, proto: NOTHING });
  }

  #seedGlobal(value: ValueId, name: string): void {
    const shape = this.#models.global(name);
    if (shape !== null) this.#addShape(value, shape, -1);
    else if (name === 'require') this.#add(value, UNKNOWN);
  }

  #seedExternal(external: External): void {
    let shape: Shape | null = this.#models.package(external.name, external.subpath);
    if (external.binding !== null) shape = this.#models.member(shape, external.binding);
    if (shape !== null) this.#addShape(external.value, shape, -1);
    else this.#add(external.value, UNKNOWN);
  }

  #seedOp(op: OpId): void {
    const facts = this.#facts;
    const a = facts.a.get(op);
    const b = facts.b.get(op);
    switch (facts.kind.get(op)) {
      case Op.copy:
        return this.#edge(a, b);
      case Op.store:
        if (b !== NOTHING) this.#useOp(a, op);
        return;
      case Op.load:
      case Op.call:
      case Op.construct:
      case Op.await:
      case Op.copyProperties:
        return this.#useOp(a, op);
      case Op.method:
        return this.#seedMethod(op, a);
      case Op.return:
        return this.#seedReturn(a, facts.owner.get(op));
    }
  }

  #seedMethod(op: OpId, base: ValueId): void {
    const callee = this.#facts.newValue();
    this.#calleeValue.set(op, callee);
    this.#useOp(callee, ~op);
    this.#useOp(base, op);
  }

  /** What an op does with a value; `~op` for what a method call does with the method. Most values never hold anything, so
   *  the use itself is made when the first token arrives. */
  #useOp(value: ValueId, code: number): void {
    if (value === NOTHING) return;
    this.#addUse(value, code);
    const held = this.#held.get(value);
    for (let index = 0; index < held.length; index++) this.#apply(this.#useOfOp(code), held[index] as TokenId);
  }

  #useOfOp(code: number): Use {
    let use = this.#usesOfOps.get(code);
    if (use === undefined) this.#usesOfOps.set(code, (use = this.#makeUse(code)));
    return use;
  }

  #makeUse(code: number): Use {
    const facts = this.#facts;
    if (code < 0) return { kind: 'call', view: this.#viewOf(~code) };
    const a = facts.a.get(code);
    const b = facts.b.get(code);
    const c = facts.c.get(code);
    switch (facts.kind.get(code)) {
      case Op.load:
        return {
          kind: 'load',
          atom: c,
          to: b,
          receiver: a,
          op: code,
          items: facts.d.get(code) === 1,
          shadow: undefined,
        };
      case Op.store:
        return { kind: 'store', atom: c, from: b, op: code };
      case Op.await:
        return { kind: 'await', to: b };
      case Op.copyProperties:
        return { kind: 'copyProperties', to: b };
      case Op.method:
        return { kind: 'method', op: code, callee: this.#calleeValue.get(code) ?? NOTHING, view: this.#viewOf(code) };
      default:
        return { kind: 'call', view: this.#viewOf(code) };
    }
  }

  #viewOf(op: OpId): CallView {
    let view = this.#views.get(op);
    if (view === undefined) {
      const { kind, a, b, c } = this.#facts;
      const receiver = kind.get(op) === Op.method ? a.get(op) : kind.get(op) === Op.call ? c.get(op) : NOTHING;
      view = this.#view(op, b.get(op), receiver);
      this.#views.set(op, view);
    }
    return view;
  }

  #seedReturn(value: ValueId, owner: FunctionId): void {
    const fn = this.#facts.fn(owner);
    const resolved = this.#promises.get(owner);
    if (resolved === undefined) this.#edge(value, fn.result);
    else if ((fn.flags & FunctionFlag.async) !== 0) this.#use(value, { kind: 'await', to: resolved });
    else this.#edge(value, resolved);
  }

  #view(op: OpId, to: ValueId, receiver: ValueId): CallView {
    const facts = this.#facts;
    const call = facts.d.get(op);
    const args: ValueId[] = [];
    for (let index = 0; index < facts.callCount.get(call); index++) args.push(facts.argument(call, index));
    const spread = facts.callSpread.get(call);
    if (spread >= 0) {
      const rest = facts.newValue();
      for (let index = spread; index < args.length; index++) {
        this.#use(args[index] as ValueId, { kind: 'load', atom: ANY_PROPERTY, to: rest, receiver: NOTHING, op });
        // Of those behind the first it is not known whether they are spread.
        if (index > spread) this.#edge(args[index] as ValueId, rest);
      }
      args.length = spread;
      args.push(rest);
    }
    return { op, to, receiver, args, spread, isNew: facts.kind.get(op) === Op.construct, promisified: false };
  }

  // ----------------------------------------------------------------------------------------------- solving

  /** Solves; then takes what nobody in the program calls as called by someone unknown, and solves on. */
  solve(): void {
    this.#settle();
    for (let round = 0; round < 20; round++) {
      const named = this.#admitMethodNames();
      if (!this.#admitUnknownCallers() && !named) return;
      this.#settle();
    }
  }

  /** `x.split(',').map(fn)`: methods of who knows what do what methods of that name do. */
  #admitMethodNames(): boolean {
    let found = false;
    for (const [op, callee] of this.#calleeValue) {
      const all = this.#calleesOfAll.get(op) ?? callee;
      if (this.#byName.has(op) || this.#held.get(all).some((id) => id !== UNKNOWN)) continue;
      const model = methodByName(this.#facts, this.#models, op, (value) => this.#held.get(value), this.#tokens);
      if (model === null) continue;
      this.#byName.add(op);
      const view = this.#viewOf(op);
      for (const rupture of model.ruptures ?? []) this.#takeCallbacks(rupture, view);
      this.#keep(model, view);
      this.#giveResult(model, view);
      found = true;
    }
    return found;
  }

  #settle(): void {
    this.#drain();
    while (this.#copyLateProperties() || this.#loadInherited() || this.#admitSuperCalls() || this.#admitWaiting())
      this.#drain();
  }

  /** What a package's class gives to classes that extend it, where they have nothing of that name themselves. */
  #loadInherited(): boolean {
    const waiting = this.#inherited.splice(0);
    let found = false;
    for (const { id, use } of waiting) {
      if (this.#held.get(use.shadow ?? NOTHING).length > 0) continue;
      this.#load(id, { ...use, shadow: undefined });
      found = true;
    }
    return found;
  }

  /** Properties that came to be after their object was spread into another. */
  #copyLateProperties(): boolean {
    let found = false;
    for (const late of this.#late) {
      const properties = [...this.#tokens.properties(late.id)];
      for (const [atom, value] of properties.slice(late.seen)) {
        this.#use(late.to, { kind: 'store', atom, from: value, op: -1 });
        found = true;
      }
      late.seen = properties.length;
    }
    return found;
  }

  #admitUnknownCallers(): boolean {
    let found = false;
    for (const fn of this.#facts.functions) {
      if (this.#called.has(fn.id) && !this.#escaped.has(fn.id)) continue;
      for (const param of fn.params) if (this.#add(param, UNKNOWN)) found = true;
    }
    return found;
  }

  #drain(): void {
    let next = 0;
    while (next < this.#queueValues.length) {
      const value = this.#queueValues.get(next);
      const token = this.#queueTokens.get(next);
      next += 1;
      this.#budget.spend(1 + this.#edges.get(value).length);
      for (const to of this.#edges.get(value)) this.#add(to, token);
      const uses = this.#uses[value];
      if (uses === undefined) continue;
      if (!Array.isArray(uses)) this.#applyEither(uses, token);
      else for (let index = 0; index < uses.length; index++) this.#applyEither(uses[index] as number | Use, token);
    }
    this.#queueValues.length = 0;
    this.#queueTokens.length = 0;
  }

  #add(value: ValueId, token: TokenId): boolean {
    if (value === NOTHING) return false;
    const held = this.#held.get(value);
    const most = this.#budget.isExhausted ? 4 : tooMany;
    if (held.length >= most && token !== UNKNOWN) {
      // Values that can be nearly anything say nothing; without a bound they cost the most.
      return this.#add(value, UNKNOWN);
    }
    if (!this.#held.add(value, token)) return false;
    this.#queueValues.push(value);
    this.#queueTokens.push(token);
    return true;
  }

  #addShape(value: ValueId, shape: Shape, site: number): void {
    // Strings and numbers are no objects to keep track of.
    if (shape.member?.is === 'fresh' && shape.member.call === undefined) return;
    this.#add(value, this.#tokens.external(shape, site));
  }

  #edge(from: ValueId, to: ValueId): void {
    if (from === NOTHING || to === NOTHING || from === to) return;
    if (!this.#edges.add(from, to)) return;
    for (const token of this.#held.get(from)) this.#add(to, token);
  }

  #use(value: ValueId, use: Use): void {
    if (value === NOTHING) return;
    this.#addUse(value, use);
    const held = this.#held.get(value);
    for (let index = 0; index < held.length; index++) this.#apply(use, held[index] as TokenId);
  }

  #addUse(value: ValueId, use: number | Use): void {
    while (this.#uses.length <= value) this.#uses.push(undefined);
    const uses = this.#uses[value];
    if (uses === undefined) this.#uses[value] = use;
    else if (Array.isArray(uses)) uses.push(use);
    else this.#uses[value] = [uses, use];
  }

  #applyEither(use: number | Use, token: TokenId): void {
    this.#apply(typeof use === 'number' ? this.#useOfOp(use) : use, token);
  }

  #apply(use: Use, token: TokenId): void {
    switch (use.kind) {
      case 'load':
        return this.#load(token, use);
      case 'store':
        return this.#store(token, use.atom, use.from);
      case 'method':
        return this.#method(token, use);
      case 'call':
        return this.#call(token, use.view);
      case 'callback':
        return this.#callback(token, use);
      case 'inPlace':
        return this.#inPlace(token, use);
      case 'await':
        return this.#await(token, use.to);
      case 'copyProperties':
        return this.#copyProperties(token, use.to);
      case 'bind':
        return this.#bind(token, use);
      case 'keep':
        // `Object.assign` and `Promise.all` belong to everybody: what such a call keeps is not kept by `Object`.
        if (!this.#isSharedNamespace(token)) this.#store(token, this.#placeFor(token), use.from);
        return;
      case 'receive':
        return this.#receive(token, use.receiver);
      case 'super':
        return this.#callSuper(token, use);
      case 'arrive':
        return this.#callWaiting(use.waiting);
      case 'escape':
        return this.#escape(token);
    }
  }

  // -------------------------------------------------------------------------------------------- properties

  #property(token: TokenId, atom: AtomId): ValueId {
    const properties = this.#tokens.properties(token);
    let value = properties.get(atom);
    if (value !== undefined) return value;
    value = this.#facts.newValue();
    properties.set(atom, value);
    this.#edge(value, this.#tokens.all(token));
    if (!this.#mayHaveAnyName(token)) return value;
    const any = properties.get(ANY_PROPERTY);
    if (atom === ANY_PROPERTY) for (const other of properties.values()) this.#edge(value, other);
    else if (any !== undefined) this.#edge(any, value);
    return value;
  }

  /** What is stored under a name that is not known may be loaded by any name, but not what a list or a router holds: that
   *  is no `list.map` and no `app.get`. */
  #mayHaveAnyName(id: TokenId): boolean {
    const token = this.#tokens.get(id);
    if (token.kind === 'external') return this.#models.isUnknown(token.shape);
    return token.kind !== 'object' || !isContainer(token.type) || token.type === 'Object';
  }

  /** Gathers all properties, those to come as well. */
  #allProperties(token: TokenId): ValueId {
    let all = this.#tokens.all(token);
    if (all !== NOTHING) return all;
    all = this.#facts.newValue();
    this.#tokens.setAll(token, all);
    for (const value of this.#tokens.properties(token).values()) this.#edge(value, all);
    return all;
  }

  #load(id: TokenId, use: Extract<Use, { kind: 'load' }>): void {
    const token = this.#tokens.get(id);
    if (token.kind === 'unknown') {
      this.#add(use.to, UNKNOWN);
      return;
    }
    if (token.kind === 'bound') return;
    if (token.kind === 'external' && use.shadow !== undefined) {
      this.#inherited.push({ id, use });
      return;
    }
    if (token.kind === 'object' && token.type === 'Generator' && use.op >= 0) this.#callees.add(use.op, token.fn);
    if (use.items && token.kind === 'object') return this.#loadItems(id, token, use);
    if (use.atom === ANY_PROPERTY) {
      this.#edge(this.#allProperties(id), use.to);
      if (token.kind === 'external' && this.#models.isUnknown(token.shape))
        this.#loadFromShape(token.shape, token.site, '*', use);
      return;
    }
    const name = this.#facts.atomName(use.atom);
    const own = this.#property(id, use.atom);
    this.#edge(own, use.to);
    if (token.kind === 'external') return this.#loadFromShape(token.shape, token.site, name, use);
    if (token.kind === 'function') return this.#loadFromFunction(id, token.fn, use);
    this.#loadGetter(id, name, use);
    if (token.proto !== NOTHING) this.#lay(token.proto, token.type === 'Prototype' ? this.#shadowed(use, own) : use);
    const member = this.#typeMember(token.type, name);
    if (member !== null) this.#addShape(use.to, member, -1);
  }

  #shadowed(use: Extract<Use, { kind: 'load' }>, shadow: ValueId): Extract<Use, { kind: 'load' }> {
    const key = `${use.op} ${use.to} ${shadow}`;
    let derived = this.#shadows.get(key);
    if (derived === undefined) this.#shadows.set(key, (derived = { ...use, shadow }));
    return derived;
  }

  /** Items are what is stored under no name; an object with an iterator of its own gives what that gives. */
  #loadItems(id: TokenId, token: Extract<Token, { kind: 'object' }>, use: Extract<Use, { kind: 'load' }>): void {
    if (token.type === 'Map') this.#add(use.to, this.#entryOf(id));
    else this.#edge(this.#property(id, ANY_PROPERTY), use.to);
    for (const name of ['@@iterator', '@@asyncIterator']) {
      const atom = this.#facts.knownAtom(name);
      if (atom === undefined || isContainer(token.type)) continue;
      const key = `${use.op} ${use.to} ${name}`;
      let step = this.#iterations.get(key);
      if (step === undefined) {
        const method = this.#facts.newValue();
        const iterator = this.#facts.newValue();
        this.#use(method, {
          kind: 'call',
          view: {
            op: use.op,
            to: iterator,
            receiver: use.receiver,
            args: [],
            spread: -1,
            isNew: false,
            promisified: false,
          },
        });
        this.#use(iterator, use);
        step = { kind: 'load', atom, to: method, receiver: use.receiver, op: use.op };
        this.#iterations.set(key, step);
      }
      this.#load(id, step);
    }
  }

  /** `[key, value]` of what the container holds. */
  #entryOf(container: TokenId): TokenId {
    const key = `${container} entry`;
    let entry = this.#made.get(key);
    if (entry === undefined) {
      entry = this.#tokens.make({ kind: 'object', type: 'Array', fn: 0, start: 0, proto: NOTHING });
      this.#made.set(key, entry);
      this.#edge(this.#property(container, ANY_PROPERTY), this.#property(entry, ANY_PROPERTY));
    }
    return entry;
  }

  /** A use goes on where the object inherits from, and within lists, once: classes and lists may hold each other. */
  #lay(value: ValueId, use: Use): void {
    let laid = this.#laid.get(use);
    if (laid === undefined) this.#laid.set(use, (laid = new Set()));
    if (laid.has(value)) return;
    laid.add(value);
    this.#use(value, use);
  }

  #typeMember(type: string, name: string): Shape | null {
    if (type === 'Instance' || type === 'Prototype') return null;
    const shape = this.#models.type(type === 'Arguments' ? 'Array' : type);
    return shape === null ? null : this.#models.member(shape, name);
  }

  #loadGetter(id: TokenId, name: string, use: Extract<Use, { kind: 'load' }>): void {
    const atom = this.#facts.knownAtom(`get ${name}`);
    if (atom === undefined) return;
    const getter = this.#property(id, atom);
    const view: CallView = {
      op: use.op,
      to: use.to,
      receiver: use.receiver,
      args: [],
      spread: -1,
      isNew: false,
      promisified: false,
    };
    this.#use(getter, { kind: 'call', view });
  }

  #loadFromFunction(id: TokenId, fn: FunctionId, use: Extract<Use, { kind: 'load' }>): void {
    if (use.atom === this.#prototype) {
      this.#add(this.#property(id, use.atom), this.#prototypeOf(fn));
      return;
    }
    const superclass = this.#facts.classes.get(fn)?.superclass;
    if (superclass !== undefined) this.#lay(superclass, use);
    this.#loadGetter(id, this.#facts.atomName(use.atom), use);
  }

  #prototypeOf(fn: FunctionId): TokenId {
    const key = `prototype ${fn}`;
    let token = this.#instances.get(key);
    if (token !== undefined) return token;
    const superclass = this.#facts.classes.get(fn)?.superclass ?? NOTHING;
    const proto = superclass === NOTHING ? NOTHING : this.#facts.newValue();
    const { start } = this.#facts.fn(fn);
    token = this.#tokens.make({ kind: 'object', type: 'Prototype', fn, start, proto });
    this.#instances.set(key, token);
    this.#add(this.#property(token, this.#facts.atom('constructor')), this.#tokens.function(fn));
    if (proto !== NOTHING) {
      this.#use(superclass, { kind: 'load', atom: this.#prototype, to: proto, receiver: superclass, op: -1 });
    }
    return token;
  }

  #loadFromShape(shape: Shape, site: number, name: string, use: Extract<Use, { kind: 'load' }>): void {
    const member = this.#models.member(shape, name);
    if (member !== null) this.#addShape(use.to, member, site);
    else if (this.#models.isUnknown(shape)) this.#add(use.to, UNKNOWN);
  }

  #store(id: TokenId, atom: AtomId, from: ValueId): void {
    const token = this.#tokens.get(id);
    if (token.kind === 'unknown' || token.kind === 'bound') {
      this.#use(from, { kind: 'escape' });
      return;
    }
    if (token.kind === 'function' && atom === this.#prototype)
      this.#add(this.#property(id, atom), this.#prototypeOf(token.fn));
    this.#edge(from, this.#property(id, atom));
    if (this.#implicit.has(atom)) this.#use(from, { kind: 'receive', receiver: this.#holding(id) });
  }

  /** Where an object keeps what it is given: a list under no name; anything else out of reach of its names. */
  #placeFor(id: TokenId): AtomId {
    const token = this.#tokens.get(id);
    return token.kind === 'object' && isContainer(token.type) ? ANY_PROPERTY : this.#kept;
  }

  #isSharedNamespace(id: TokenId): boolean {
    const token = this.#tokens.get(id);
    return token.kind === 'external' && token.site === -1;
  }

  #copyProperties(id: TokenId, to: ValueId): void {
    const token = this.#tokens.get(id);
    if (token.kind === 'unknown') {
      this.#use(to, { kind: 'store', atom: ANY_PROPERTY, from: this.#unknownValue(), op: -1 });
      return;
    }
    if (token.kind === 'bound') return;
    const properties = [...this.#tokens.properties(id)];
    for (const [atom, value] of properties) this.#use(to, { kind: 'store', atom, from: value, op: -1 });
    if (token.kind === 'external')
      this.#use(to, { kind: 'store', atom: ANY_PROPERTY, from: this.#unknownValue(), op: -1 });
    this.#late.push({ id, to, seen: properties.length });
  }

  #unknownValue(): ValueId {
    if (this.#unknownSource === NOTHING) {
      this.#unknownSource = this.#facts.newValue();
      this.#add(this.#unknownSource, UNKNOWN);
    }
    return this.#unknownSource;
  }

  #await(id: TokenId, to: ValueId): void {
    const token = this.#tokens.get(id);
    if (token.kind === 'object' && token.type === 'Promise') return this.#edge(this.#property(id, this.#resolved), to);
    const resolves =
      token.kind === 'external'
        ? this.#models.typeThat(token.shape, (type) => type.resolves !== undefined)?.resolves
        : undefined;
    if (resolves === undefined) this.#add(to, id);
    else
      this.#give(resolves, to, {
        op: -1,
        to,
        receiver: NOTHING,
        args: [],
        spread: -1,
        isNew: false,
        promisified: false,
      });
  }

  // ------------------------------------------------------------------------------------------------- calls

  #method(id: TokenId, use: Extract<Use, { kind: 'method' }>): void {
    const token = this.#tokens.get(id);
    if (token.kind === 'object' && token.type === 'Generator') return this.#step(id, token.fn, use.view);
    const atom = this.#facts.c.get(use.op);
    const name = this.#facts.atomName(atom);
    const callable = token.kind === 'function' || token.kind === 'bound' || this.#isCallable(token);
    if (callable && (name === 'bind' || name === 'call' || name === 'apply'))
      return this.#indirectCall(id, name, use.view);
    if (token.kind === 'object' && token.type === 'Instance') return this.#methodOfInstance(id, atom, use);
    const receiver = this.#facts.a.get(use.op);
    this.#load(id, { kind: 'load', atom, to: use.callee, receiver, op: use.op });
  }

  /** What each instance of a class does is told apart: a call for each. */
  #methodOfInstance(id: TokenId, atom: AtomId, use: Extract<Use, { kind: 'method' }>): void {
    const { op } = use;
    let all = this.#calleesOfAll.get(op);
    if (all === undefined) {
      this.#calleesOfAll.set(op, (all = this.#facts.newValue()));
      this.#edge(use.callee, all);
    }
    const receiver = this.#holding(id);
    const callee = this.#facts.newValue();
    this.#edge(callee, all);
    this.#use(callee, { kind: 'call', view: { ...use.view, receiver, only: id } });
    this.#load(id, { kind: 'load', atom, to: callee, receiver, op });
  }

  #holding(id: TokenId): ValueId {
    let value = this.#alone.get(id);
    if (value === undefined) {
      this.#alone.set(id, (value = this.#facts.newValue()));
      this.#add(value, id);
    }
    return value;
  }

  /** `generator.next()` runs its body and gives `{ value }`. */
  #step(id: TokenId, fn: FunctionId, view: CallView): void {
    this.#callees.add(view.op, fn);
    // What is sent in is what `yield` gives: lowering takes that for anything that is thrown around.
    this.#edge(view.args[0] ?? NOTHING, this.#facts.thrown);
    const result = this.#madeAt(view.op, 'Object');
    this.#edge(this.#property(id, ANY_PROPERTY), this.#property(result, this.#facts.atom('value')));
    this.#add(view.to, result);
  }

  #isCallable(token: ReturnType<TokenTable['get']>): boolean {
    return token.kind === 'external' && this.#models.call(token.shape, false) !== null;
  }

  #indirectCall(id: TokenId, name: 'bind' | 'call' | 'apply', view: CallView): void {
    const receiver = view.args[0] ?? NOTHING;
    if (name === 'bind') {
      this.#add(view.to, this.#boundTo(id, receiver, view.args.slice(1)));
      return;
    }
    this.#receiverOf.set(view.op, receiver);
    const args = name === 'call' ? view.args.slice(1) : [this.#contents(view.args[1] ?? NOTHING, view.op)];
    this.#call(id, { ...view, receiver, args, spread: name === 'call' ? view.spread - 1 : 0 });
  }

  /** A function that is bound already keeps its receiver; and `f = f.bind(…)` in a loop must not give ever new functions. */
  #boundTo(id: TokenId, receiver: ValueId, args: readonly ValueId[]): TokenId {
    const token = this.#tokens.get(id);
    if (token.kind !== 'bound') return this.#tokens.bound(id, receiver, args, false);
    if (args.length === 0) return id;
    return token.args.length > 4
      ? UNKNOWN
      : this.#tokens.bound(token.target, token.receiver, [...token.args, ...args], token.promisified);
  }

  #contents(value: ValueId, op: OpId): ValueId {
    const contents = this.#facts.newValue();
    this.#use(value, { kind: 'load', atom: ANY_PROPERTY, to: contents, receiver: NOTHING, op });
    return contents;
  }

  #call(id: TokenId, view: CallView): void {
    const token = this.#tokens.get(id);
    switch (token.kind) {
      case 'function':
        return this.#callFunction(id, token.fn, view);
      case 'bound':
        return this.#call(token.target, {
          ...view,
          receiver: token.receiver === NOTHING ? view.receiver : token.receiver,
          args: [...token.args, ...view.args],
          spread: view.spread < 0 ? -1 : view.spread + token.args.length,
          promisified: view.promisified || token.promisified,
          rearranged: view.rearranged === true || token.args.length > 0,
        });
      case 'external':
        return this.#callExternal(token.shape, token.site, view);
      case 'unknown':
        this.#add(view.to, UNKNOWN);
        for (const arg of view.args) this.#use(arg, { kind: 'escape' });
        return;
      case 'object':
        return;
    }
  }

  /** The function itself for its first call (or first receiver), a copy for each further one, if these are told apart. */
  #forCall(fn: FunctionFact, view: CallView): FunctionFact {
    const { op } = view;
    if (op < 0) return fn;
    const caller = this.#facts.fn(this.#facts.owner.get(op));
    if ((fn.flags & FunctionFlag.wrapper) !== 0) {
      // A wrapper that calls itself from its copies would be copied for ever.
      const isNested = caller.id !== caller.origin && this.#isWithin(caller, fn);
      return this.#copyFor(fn, op, isNested ? deepest : this.#depth(caller));
    }
    if (makesInstance(fn, view) || (isFactory(fn) && this.#isGivenAny(view)))
      return this.#copyFor(fn, op, this.#depth(caller));
    if (view.spread >= 0 || view.rearranged === true) return this.#forRearranged(fn, op);
    if (view.only === undefined) return this.#forRearranged(fn, direct);
    if (view.only === UNKNOWN || !isToldApart(this.#facts, fn)) return fn;
    const token = this.#tokens.get(view.only);
    return this.#copyFor(fn, ~view.only, token.kind === 'object' ? this.#depth(this.#facts.fn(token.fn)) : 0);
  }

  #isGivenAny({ args }: CallView): boolean {
    return args.some((arg) => this.#held.get(arg).length > 0);
  }

  /** Where arguments are not where the call has them, it is what the parameters hold that counts: each such call has a copy,
   *  and all direct calls have one. */
  #forRearranged(fn: FunctionFact, key: OpId | typeof direct): FunctionFact {
    if (fn.params.length === 0 || key < direct) return fn;
    let mayChange = this.#mayChange.get(fn.id);
    if (mayChange === undefined) this.#mayChange.set(fn.id, (mayChange = mayChangeGiven(this.#facts, fn)));
    if (!mayChange) return fn;
    return this.#copyFor(fn, key, key === direct ? 0 : this.#depth(this.#facts.fn(this.#facts.owner.get(key))));
  }

  /** Whether a factory is given objects shows only when they arrive. */
  #awaitGiven(id: TokenId, called: FunctionId, view: CallView): boolean {
    const fn = this.#facts.fn(called);
    if (view.awaited === true || view.op < 0 || !isFactory(fn) || this.#isGivenAny(view)) return false;
    const waiting = { id, called, view: { ...view, awaited: true }, isDone: false };
    this.#waiting.push(waiting);
    for (const arg of view.args) this.#use(arg, { kind: 'arrive', waiting });
    return true;
  }

  #callWaiting(waiting: Waiting): void {
    if (waiting.isDone) return;
    waiting.isDone = true;
    this.#callFunction(waiting.id, waiting.called, waiting.view);
  }

  /** Nothing arrived. */
  #admitWaiting(): boolean {
    let found = false;
    for (const waiting of this.#waiting.splice(0)) {
      found ||= !waiting.isDone;
      this.#callWaiting(waiting);
    }
    return found;
  }

  /** Copies within copies: what instances make for themselves is told apart no further than this. */
  #depth(fn: FunctionFact): number {
    let depth = 0;
    for (let at: FunctionFact | undefined = fn; at !== undefined; at = this.#facts.functions[at.parent])
      depth = Math.max(depth, this.#depths.get(at.id) ?? 0);
    return depth;
  }

  /** `key` is the call or, inverted, the receiver. */
  #copyFor(fn: FunctionFact, key: number, depth: number): FunctionFact {
    const known = this.#cloned.get(fn.id);
    if (known === undefined) {
      this.#cloned.set(fn.id, new Map([[key, fn]]));
      return fn;
    }
    let copy = known.get(key);
    if (copy !== undefined) return copy;
    if (depth >= deepest || this.#cloneBudget < cloneSize(fn)) return fn;
    this.#cloneBudget -= cloneSize(fn);
    const clone = cloneFunction(this.#facts, fn);
    copy = clone.root;
    known.set(key, copy);
    this.#depths.set(copy.id, depth + 1);
    for (let next = clone.firstFunction; next < this.#facts.functions.length; next++)
      this.#seedFunction(this.#facts.fn(next));
    for (const seed of clone.seeds) this.#seed(seed);
    for (const value of this.#loaded) {
      if (value >= fn.valueStart && value < fn.valueEnd) this.#edge(value, value + clone.valueDelta);
    }
    for (let next = clone.firstOp; next < clone.lastOp; next++) this.#seedOp(next);
    return copy;
  }

  #isWithin(caller: FunctionFact, fn: FunctionFact): boolean {
    for (let at: FunctionFact | undefined = caller; at !== undefined; at = this.#facts.functions[at.parent]) {
      if (at.origin === fn.origin) return true;
    }
    return false;
  }

  #callFunction(id: TokenId, called: FunctionId, view: CallView): void {
    if (this.#awaitGiven(id, called, view)) return;
    if (this.#isSuperCall(called, view)) {
      this.#superCalls.push({ id, view });
      return this.#use(view.receiver, { kind: 'super', callee: id, called, view });
    }
    const fn = this.#forCall(this.#facts.fn(called), view);
    const fnId = fn.id;
    if (view.op >= 0) this.#callees.add(view.op, fnId);
    this.#called.add(fnId);
    this.#passArguments(fn, view.args, view.spread);
    const isArrow = (fn.flags & FunctionFlag.arrow) !== 0;
    if (view.isNew) this.#construct(id, fn, view);
    else if (!isArrow) this.#edge(view.receiver, fn.receiver);
    if (view.promisified) this.#addPromise(view.op, view.to, NOTHING);
    else if (!view.isNew) this.#edge(fn.result, view.to);
  }

  /** `super.method()`: what it does to each receiver is told apart as well. */
  #isSuperCall(called: FunctionId, view: CallView): boolean {
    if (view.only !== undefined || view.isNew || view.op < 0 || view.receiver === NOTHING) return false;
    const fn = this.#facts.fn(called);
    const isDirect = this.#facts.kind.get(view.op) === Op.call && view.receiver === this.#facts.c.get(view.op);
    return isDirect && (fn.flags & FunctionFlag.classConstructor) === 0 && isToldApart(this.#facts, fn);
  }

  #callSuper(id: TokenId, { callee, called, view }: Extract<Use, { kind: 'super' }>): void {
    this.#callFunction(callee, called, { ...view, receiver: this.#holding(id), only: id });
  }

  /** Of an object that nobody is known to make. */
  #admitSuperCalls(): boolean {
    let found = false;
    for (const { id, view } of this.#superCalls.splice(0)) {
      const called = this.#tokens.functionOf(id);
      if (called === null || this.#held.get(view.receiver).length > 0) continue;
      this.#callFunction(id, called, { ...view, only: UNKNOWN });
      found = true;
    }
    return found;
  }

  #passArguments(fn: FunctionFact, args: readonly ValueId[], spread: number): void {
    if (fn.list !== NOTHING) {
      for (const arg of args) this.#use(fn.list, { kind: 'store', atom: ANY_PROPERTY, from: arg, op: -1 });
    }
    for (const [index, param] of fn.params.entries()) {
      if (index === fn.rest) {
        for (const arg of args.slice(index)) this.#use(param, { kind: 'store', atom: ANY_PROPERTY, from: arg, op: -1 });
      } else if (spread >= 0 && index >= spread) {
        this.#edge(args[spread] ?? NOTHING, param);
      } else {
        this.#edge(args[index] ?? NOTHING, param);
      }
    }
  }

  #construct(id: TokenId, fn: FunctionFact, view: CallView): void {
    const key = `${view.op} ${fn.id}`;
    let instance = this.#instances.get(key);
    if (instance === undefined) {
      const proto = this.#property(id, this.#prototype);
      this.#add(proto, this.#prototypeOf(this.#tokens.functionOf(id) ?? fn.id));
      instance = this.#tokens.make({
        kind: 'object',
        type: 'Instance',
        fn: this.#facts.owner.get(view.op),
        start: this.#facts.position.get(view.op),
        proto,
      });
      this.#instances.set(key, instance);
    }
    this.#add(view.to, instance);
    this.#add(fn.receiver, instance);
    this.#giveToImplicit(instance);
    if ((fn.flags & FunctionFlag.classConstructor) === 0) this.#edge(fn.result, view.to);
  }

  /** `toString`, `toJSON` and their like are called without a call in sight, on any object that has them. */
  #giveToImplicit(instance: TokenId): void {
    const receiver = this.#holding(instance);
    for (const atom of this.#implicit) {
      const method = this.#facts.newValue();
      this.#use(method, { kind: 'receive', receiver });
      this.#load(instance, { kind: 'load', atom, to: method, receiver: NOTHING, op: -1 });
    }
  }

  #receive(id: TokenId, receiver: ValueId): void {
    const token = this.#tokens.get(id);
    if (token.kind !== 'function') return;
    const fn = this.#facts.fn(token.fn);
    if ((fn.flags & FunctionFlag.arrow) === 0) this.#edge(receiver, fn.receiver);
  }

  #escape(id: TokenId): void {
    if (this.#escapedTokens.has(id)) return;
    this.#escapedTokens.add(id);
    const fn = this.#tokens.functionOf(id);
    if (fn !== null) this.#escaped.add(fn);
    const token = this.#tokens.get(id);
    // Methods of an object go where the object goes.
    if (token.kind === 'object') this.#use(this.#allProperties(id), { kind: 'escape' });
    if (token.kind === 'object' && token.proto !== NOTHING) this.#use(token.proto, { kind: 'escape' });
  }

  // ------------------------------------------------------------------------------------------------ models

  #callExternal(shape: Shape, site: number, view: CallView): void {
    if (shape.typeName === 'Resolver' && site >= 0) {
      // `resolve(value)` of `new Promise((resolve) => …)`: what the promise gives.
      this.#use(view.args[0] ?? NOTHING, {
        kind: 'await',
        to: this.#property(this.#madeAt(site, 'Promise'), this.#resolved),
      });
      return;
    }
    if (shape.path === 'Proxy' && view.isNew) {
      // A second name for its target; its traps may run at any access.
      this.#edge(view.args[0] ?? NOTHING, view.to);
      this.#use(view.args[1] ?? NOTHING, { kind: 'escape' });
      return;
    }
    if (shape.path === 'Object.create') {
      this.#add(view.to, this.#inheriting(view));
      return;
    }
    if (shape.path === 'Promise.reject') this.#edge(view.args[0] ?? NOTHING, this.#facts.thrown);
    const call = this.#models.call(shape, view.isNew);
    if (call === null) {
      // Nobody says what it does: it may call what it is given, now or later.
      for (const arg of view.args) this.#use(arg, { kind: 'escape' });
      if (shape.package === '') this.#add(view.to, UNKNOWN);
      else this.#addShape(view.to, this.#models.result(shape, view.isNew), view.op);
      return;
    }
    for (const rupture of call.ruptures ?? []) this.#takeCallbacks(rupture, view);
    this.#keep(call, view);
    this.#giveResult(call, view);
  }

  #inheriting(view: CallView): TokenId {
    const key = `${view.op} create`;
    let token = this.#made.get(key);
    if (token === undefined) {
      const fn = this.#facts.owner.get(Math.max(0, view.op));
      token = this.#tokens.make({
        kind: 'object',
        type: 'Object',
        fn,
        start: this.#facts.position.get(Math.max(0, view.op)),
        proto: view.args[0] ?? NOTHING,
      });
      this.#made.set(key, token);
    }
    return token;
  }

  #takeCallbacks(modelled: Rupture, view: CallView): void {
    const rupture = this.#forEvent(modelled, view);
    for (const index of callbackIndexes(rupture, view.args.length, view.spread)) {
      const value = view.args[index] ?? NOTHING;
      if (value === NOTHING) continue;
      const use: CallbackUse = { op: view.op, rupture, value, argument: index };
      this.#callbacks.push(use);
      this.#use(value, { kind: 'callback', use, call: view });
    }
  }

  /** What is said of one event of the receiver's type goes before what is said of listeners in general. */
  #forEvent(rupture: Rupture, view: CallView): Rupture {
    if (rupture.label === undefined) return rupture;
    const name = this.#facts.strings.get(view.args[rupture.label] ?? NOTHING);
    if (name === undefined) return rupture;
    for (const id of this.#held.get(view.receiver)) {
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

  #callback(id: TokenId, use: Extract<Use, { kind: 'callback' }>): void {
    const token = this.#tokens.get(id);
    const { rupture, op } = use.use;
    if (token.kind === 'object' && rupture.callback === 'functions') return this.#lay(this.#allProperties(id), use);
    const called = this.#tokens.functionOf(id);
    if (called === null) return;
    const fn = rupture.kind === 'sync' ? this.#forRearranged(this.#facts.fn(called), op) : this.#facts.fn(called);
    const fnId = fn.id;
    this.#called.add(fnId);
    const bound = token.kind === 'bound' ? token.args : [];
    const isErrorHandler = rupture.errorParams !== undefined && fn.params.length === 4;
    const params = (isErrorHandler ? rupture.errorParams : rupture.params) ?? [];
    // What a listener is called with is made anew for each call (a socket, a chunk), not where it is registered.
    this.#givesAnew = rupture.kind !== 'sync';
    this.#passArguments(fn, [...bound, ...params.map((ref) => this.#refValue(ref, use.call))], -1);
    this.#givesAnew = false;
    if (token.kind === 'bound') this.#edge(token.receiver, fn.receiver);
    else if (rupture.thisIsReceiver && (fn.flags & FunctionFlag.arrow) === 0)
      this.#edge(use.call.receiver, fn.receiver);
    if (rupture.kind === 'sync' && op >= 0) this.#inPlaceCallees.add(op, fnId);
    // `list.forEach(fn, thisArg)`
    const after = use.use.argument + 1;
    if (rupture.kind === 'sync' && token.kind === 'function') this.#edge(use.call.args[after] ?? NOTHING, fn.receiver);
    if (rupture.kind === 'post' && this.#catches(use.use)) this.#edge(this.#facts.thrown, fn.params[0] ?? NOTHING);
  }

  /** `promise.catch(fn)`, and the second callback of `then` */
  #catches(use: CallbackUse): boolean {
    if (use.op < 0 || this.#facts.kind.get(use.op) !== Op.method) return false;
    const name = this.#facts.atomName(this.#facts.c.get(use.op));
    return name === 'catch' || (name === 'then' && use.argument === 1);
  }

  /** A value that holds what a model says that a parameter or result is. */
  #refValue(ref: ValueRef, view: CallView): ValueId {
    const value = this.#facts.newValue();
    this.#give(ref, value, view);
    return value;
  }

  #give(text: ValueRef, to: ValueId, view: CallView): void {
    for (const ref of this.#models.refs(text)) this.#giveOne(ref, to, view);
  }

  #giveOne(ref: Ref, to: ValueId, view: CallView): void {
    switch (ref.kind) {
      case 'fresh':
        return;
      case 'this':
        return this.#edge(view.receiver, to);
      case 'unknown':
        this.#add(to, UNKNOWN);
        return;
      case 'contents':
        return this.#use(view.receiver, { kind: 'load', atom: ANY_PROPERTY, to, receiver: NOTHING, op: view.op });
      case 'copy':
        return this.#container(view.receiver, to, view);
      case 'argument':
        return this.#edge(view.args[ref.index] ?? NOTHING, to);
      case 'contentsOf':
        return this.#use(view.args[ref.index] ?? NOTHING, {
          kind: 'load',
          atom: ANY_PROPERTY,
          to,
          receiver: NOTHING,
          op: view.op,
        });
      case 'copyOf':
        // Of a list of arguments each may be an item itself (`[].concat(item)`, `Array.of(item)`).
        if (ref.index < 0) for (const arg of view.args) this.#container(arg, to, view, true);
        else this.#container(view.args[ref.index] ?? NOTHING, to, view);
        return;
      case 'result':
        return this.#use(view.args[ref.index] ?? NOTHING, { kind: 'inPlace', params: [], call: view, result: to });
      case 'results': {
        const items = this.#facts.newValue();
        this.#use(view.args[ref.index] ?? NOTHING, { kind: 'inPlace', params: [], call: view, result: items });
        const token = this.#madeAt(view.op, 'Array');
        this.#edge(items, this.#property(token, ANY_PROPERTY));
        if (flattening.test(this.#methodName(view.op)))
          this.#edge(this.#contents(items, view.op), this.#property(token, ANY_PROPERTY));
        this.#add(to, token);
        return;
      }
      case 'bound':
      case 'promisified':
        return this.#use(view.args[ref.index] ?? NOTHING, {
          kind: 'bind',
          view: { ...view, to },
          promisified: ref.kind === 'promisified',
          stateful: this.#givesStateful,
        });
      case 'type':
        return this.#giveType(ref.name, to, view);
    }
  }

  #giveType(name: string, to: ValueId, view: CallView): void {
    if (isContainer(name)) {
      this.#add(to, this.#madeAt(view.op, name));
      return;
    }
    const shape = this.#models.type(name);
    if (shape === null) this.#add(to, UNKNOWN);
    else this.#addShape(to, shape, this.#givesAnew || this.#isOfRequest(shape) ? everyRequest : view.op);
  }

  /** One request goes through many handlers: what one puts on `req` another finds there, so there is one for all. */
  #isOfRequest(shape: Shape): boolean {
    return this.#models.typeThat(shape, (type) => type.perRequest === true) !== null;
  }

  /** A new container made by the call, that holds what `from` holds. */
  #container(from: ValueId, to: ValueId, view: CallView, isListed = false): void {
    const name = this.#methodName(view.op);
    const token = this.#madeAt(view.op, byKey.test(name) ? 'Object' : 'Array');
    let into = this.#property(token, ANY_PROPERTY);
    if (name === 'entries') {
      const entry = this.#entryOf(this.#madeAt(view.op, 'Set'));
      this.#add(into, entry);
      into = this.#property(entry, ANY_PROPERTY);
    }
    this.#use(from, { kind: 'load', atom: ANY_PROPERTY, to: into, receiver: NOTHING, op: view.op });
    if (isListed) this.#edge(from, into);
    if (flattening.test(name)) this.#edge(this.#contents(into, view.op), into);
    if (nesting.test(name)) {
      const group = this.#madeAt(view.op, 'Array');
      this.#edge(into, this.#property(group, ANY_PROPERTY));
      this.#add(into, group);
    }
    this.#add(to, token);
  }

  #methodName(op: OpId): string {
    return this.#facts.kind.get(op) === Op.method ? this.#facts.atomName(this.#facts.c.get(op)) : '';
  }

  #madeAt(op: OpId, type: string): TokenId {
    const key = `${op} ${type}`;
    let token = this.#made.get(key);
    if (token === undefined) {
      const fn = op < 0 ? 0 : this.#facts.owner.get(op);
      const start = op < 0 ? 0 : this.#facts.position.get(op);
      token = this.#tokens.make({ kind: 'object', type, fn, start, proto: NOTHING });
      this.#made.set(key, token);
    }
    return token;
  }

  #inPlace(id: TokenId, use: Extract<Use, { kind: 'inPlace' }>): void {
    const fn = this.#tokens.functionOf(id);
    if (fn !== null) this.#edge(this.#facts.fn(fn).result, use.result);
  }

  #bind(id: TokenId, use: Extract<Use, { kind: 'bind' }>): void {
    const token = this.#tokens.get(id);
    // A bound function is bound no deeper than twice.
    const isDeep = token.kind === 'bound' && this.#tokens.get(token.target).kind === 'bound';
    if (token.kind === 'unknown' || isDeep) this.#add(use.view.to, UNKNOWN);
    else if (token.kind !== 'object')
      this.#add(use.view.to, this.#tokens.bound(id, NOTHING, [], use.promisified, use.stateful));
  }

  #keep(call: Call, view: CallView): void {
    const name = this.#methodName(view.op);
    if (name === 'defineProperty' && view.spread < 0) return this.#define(view);
    for (const index of call.keeps ?? []) {
      for (const arg of index < 0 ? view.args : [view.args[index] ?? NOTHING]) {
        if (arg === NOTHING) continue;
        const kept = this.#isCollection(call, view) ? this.#itemsFor(call, arg, view) : arg;
        this.#use(view.isNew ? view.to : view.receiver, { kind: 'keep', from: kept });
        if (copiesProperties(call) && assigning.test(name)) continue;
        for (const target of call.mutates ?? []) {
          if (target === 'this' || target < 0) continue;
          this.#use(view.args[target] ?? NOTHING, { kind: 'store', atom: ANY_PROPERTY, from: arg, op: -1 });
        }
      }
    }
    // Object.assign and its like: what is kept are properties, under their names.
    if (copiesProperties(call)) {
      for (const arg of view.args.slice(1)) this.#use(arg, { kind: 'copyProperties', to: view.args[0] ?? NOTHING });
    }
  }

  /** `new Map(entries)`, `new Set(items)` */
  #isCollection(call: Call, view: CallView): boolean {
    return view.isNew && /^(Weak)?(Map|Set)$/.test(call.returns ?? '');
  }

  #itemsFor(call: Call, from: ValueId, view: CallView): ValueId {
    const items = this.#facts.newValue();
    this.#use(from, { kind: 'load', atom: ANY_PROPERTY, to: items, receiver: from, op: view.op, items: true });
    return call.returns?.endsWith('Map') ? this.#contents(items, view.op) : items;
  }

  /** `Object.defineProperty(o, 'x', { value, get() {…} })` */
  #define(view: CallView): void {
    const target = view.args[0] ?? NOTHING;
    const descriptor = view.args[2] ?? NOTHING;
    for (const name of ['value', 'get']) {
      const value = this.#facts.newValue();
      const given = name === 'get' ? this.#facts.newValue() : value;
      const atom = this.#facts.atom(name);
      this.#use(descriptor, { kind: 'load', atom, to: value, receiver: NOTHING, op: -1 });
      this.#use(target, { kind: 'store', atom: ANY_PROPERTY, from: given, op: -1 });
      if (given === value) continue;
      const getter = { op: -1, to: given, receiver: target, args: [], spread: -1, isNew: false, promisified: false };
      this.#use(value, { kind: 'call', view: getter });
    }
  }

  #giveResult(call: Call, view: CallView): void {
    if (view.to === NOTHING) return;
    if (registersNothing(call, view.args.length)) {
      this.#use(view.receiver, { kind: 'load', atom: ANY_PROPERTY, to: view.to, receiver: NOTHING, op: view.op });
      return;
    }
    this.#givesStateful = call.stateful === true;
    if (call.promise || call.promiseWithoutCallback || view.promisified) {
      // `Promise.all(list)`: what each promise in the list gives, in a list.
      const ofList = call.promise === true && call.returns?.startsWith('copy ') === true;
      const given = ofList ? { ...view, args: view.args.map((arg) => this.#awaitedContents(arg)) } : view;
      const byResolver = call.ruptures?.some(({ params }) => params?.includes('Resolver')) === true;
      const returns = view.promisified ? givenToCallback(call) : call.returns;
      const resolved = this.#refValue(byResolver ? 'fresh' : (returns ?? 'fresh'), given);
      this.#addPromise(view.op, view.to, resolved);
    } else {
      this.#give(call.returns ?? 'fresh', view.to, view);
    }
  }

  #awaitedContents(list: ValueId): ValueId {
    if (list === NOTHING) return NOTHING;
    const items = this.#facts.newValue();
    const awaited = this.#facts.newValue();
    this.#use(list, { kind: 'load', atom: ANY_PROPERTY, to: items, receiver: NOTHING, op: -1 });
    this.#use(items, { kind: 'await', to: awaited });
    const array = this.#facts.newValue();
    const token = this.#tokens.make({ kind: 'object', type: 'Array', fn: 0, start: 0, proto: NOTHING });
    this.#edge(awaited, this.#property(token, ANY_PROPERTY));
    this.#add(array, token);
    return array;
  }

  #addPromise(op: OpId, to: ValueId, resolved: ValueId): void {
    const token = this.#madeAt(op, 'Promise');
    this.#use(resolved, { kind: 'await', to: this.#property(token, this.#resolved) });
    this.#add(to, token);
  }
}

/** What such a call keeps are properties of what it is given. */
function copiesProperties(call: Call): boolean {
  return call.returns === 'argument 0' && call.mutates?.includes(0) === true;
}

// How deep what a new container holds lies in what it was made from: no model says so, their names do.
const assigning = /^(assign|extend|defaults|merge)(In|With|Deep)*$/;
const flattening = /^(flat|concat|from(Entries|Pairs)|zipObject)/;
const nesting = /^(groupBy|chunk|partition|zip)$/;
const byKey = /^(from(Entries|Pairs)|(group|key)By|zipObject)/;

function isFactory(fn: FunctionFact): boolean {
  return (fn.flags & FunctionFlag.factory) !== 0;
}

/** A constructor, or a function called as one or as the superclass's. */
function makesInstance(fn: FunctionFact, view: CallView): boolean {
  return (view.isNew || (fn.flags & FunctionFlag.classConstructor) !== 0) && (fn.flags & FunctionFlag.usesThis) !== 0;
}

function isContainer(name: string): boolean {
  return (
    name === 'Array' ||
    name === 'Map' ||
    name === 'Set' ||
    name === 'WeakMap' ||
    name === 'WeakSet' ||
    name === 'Object' ||
    name === 'Promise'
  );
}

/** What a call hands to its error-first callback, which is what it gives when it is promisified. */
function givenToCallback(call: Call): ValueRef | undefined {
  const rupture = call.ruptures?.find(({ callback }) => callback === 'last');
  return rupture === undefined ? call.returns : (rupture.params?.[1] ?? 'unknown');
}

function callbackIndexes(rupture: Rupture, count: number, spread: number): number[] {
  if (spread >= 0 && rupture.callback !== 'functions')
    return typeof rupture.callback === 'number' && rupture.callback < spread ? [rupture.callback] : [];
  if (typeof rupture.callback === 'number') return rupture.callback < count ? [rupture.callback] : [];
  if (rupture.callback === 'last') return count === 0 ? [] : [count - 1];
  const first = rupture.from ?? 0;
  return Array.from({ length: Math.max(0, count - first) }, (_, index) => index + first);
}
