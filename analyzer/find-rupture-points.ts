/**
 * Rupture points: calls that come back later. They are where the program is cut.
 *
 * Reads:   facts, origins, models.
 * Gives:   rupture points in source order, with the functions that they will call.
 * Reports: analyzer/callback-unresolved.
 */
import type { Rupture } from '../models/types.js';
import { ANY_PROPERTY, type Facts, type FunctionId, NOTHING, Op, type OpId, type ValueId } from './facts.js';
import { Addresses, namesPath } from './find-addresses.js';
import type { Models } from './models.js';
import { calleeText, type SourceText } from './source-text.js';
import { type TokenId, UNKNOWN } from './tokens.js';
import type { Origins } from './trace-origins.js';

export interface RuptureCallback {
  readonly argument: number;
  readonly value: ValueId;
  readonly fn: FunctionId;
  /** The function stands in the argument itself. */
  readonly inPlace: boolean;
}

export interface RupturePoint {
  readonly op: OpId;
  readonly kind: 'start' | 'post';
  readonly owner: FunctionId;
  readonly callee: string;
  /** A route's path, an event, in the words of the source; '' where there is none. */
  readonly label: string;
  /** The label; of a route without one the path that the program gives it before: `/users` of `app.route('/users').get(fn)`. */
  readonly path: string;
  /** The label with the paths of the routers around it in front. */
  readonly address: string;
  readonly request: boolean;
  /** Whoever uses what the call gives may run the callbacks as well. */
  readonly held: boolean;
  /** And what they give. */
  readonly callsResult: boolean;
  readonly inferred: boolean;
  readonly callbacks: readonly RuptureCallback[];
}

export interface UnresolvedRupture {
  readonly op: OpId;
  readonly callee: string;
  readonly start: number;
  readonly end: number;
  readonly module: number;
  readonly reason: string;
  /** Functions that it may be: they run as written, as part of whoever passes them. */
  readonly candidates: readonly FunctionId[];
}

export interface Ruptures {
  readonly points: readonly RupturePoint[];
  readonly byOp: ReadonlyMap<OpId, readonly RupturePoint[]>;
  readonly unresolved: readonly UnresolvedRupture[];
}

export function findRupturePoints(facts: Facts, origins: Origins, models: Models, source: SourceText): Ruptures {
  const finder = new Finder(facts, origins, models, source);
  finder.findModelled();
  finder.findInferred();
  return finder.result();
}

interface CallbackValue {
  readonly value: ValueId;
  readonly argument: number;
  readonly isResult: boolean | undefined;
}

class Finder {
  readonly #facts: Facts;
  readonly #origins: Origins;
  readonly #models: Models;
  readonly #source: SourceText;
  readonly #addresses: Addresses;
  readonly #points: RupturePoint[] = [];
  readonly #unresolved: UnresolvedRupture[] = [];
  readonly #modelled = new Set<OpId>();
  readonly #functions = new Map<ValueId, readonly FunctionId[]>();
  #computed: Set<ValueId> | null = null;
  #assignments: Map<ValueId, OpId[]> | null = null;

  constructor(facts: Facts, origins: Origins, models: Models, source: SourceText) {
    this.#facts = facts;
    this.#origins = origins;
    this.#models = models;
    this.#source = source;
    this.#addresses = new Addresses(facts, origins, models, source);
  }

  result(): Ruptures {
    this.#points.sort((left, right) => left.op - right.op);
    const byOp = new Map<OpId, RupturePoint[]>();
    for (const point of this.#points) {
      const list = byOp.get(point.op);
      if (list === undefined) byOp.set(point.op, [point]);
      else list.push(point);
    }
    this.#unresolved.sort((left, right) => left.op - right.op);
    return { points: this.#points, byOp, unresolved: this.#unresolved };
  }

  // ---------------------------------------------------------------------------------------------- by model

  /** One point for each call and kind, with all callbacks that it takes. */
  findModelled(): void {
    const calls = new Map<string, { op: OpId; rupture: Rupture; uses: CallbackValue[] }>();
    for (const { op, rupture, value, argument, isResult } of this.#origins.callbacks) {
      if (rupture.kind === 'sync' || op < 0) continue;
      this.#modelled.add(op);
      const key = `${op} ${rupture.kind}`;
      const call = calls.get(key);
      if (call === undefined) calls.set(key, { op, rupture, uses: [{ value, argument, isResult }] });
      else if (!call.uses.some((use) => use.argument === argument && use.value === value))
        call.uses.push({ value, argument, isResult });
    }
    for (const call of calls.values()) this.#addPoint(call.op, call.rupture, call.uses);
  }

  #addPoint(op: OpId, rupture: Rupture, uses: readonly CallbackValue[]): void {
    const callbacks: RuptureCallback[] = [];
    for (const use of [...uses].sort((left, right) => left.argument - right.argument)) {
      const { value, argument, isResult } = use;
      if (isResult !== true) callbacks.push(...this.#callbacks(op, rupture, value, argument));
      else
        for (const found of this.#inResult(value, argument))
          if (!callbacks.some(({ fn }) => fn === found.fn)) callbacks.push(found);
    }
    if (callbacks.length === 0) return;
    const label = this.#label(op, rupture);
    this.#points.push({
      op,
      kind: rupture.kind === 'start' ? 'start' : 'post',
      owner: this.#facts.owner.get(op),
      callee: calleeText(this.#facts, this.#source, op),
      label,
      path: this.#addresses.own(op, rupture, label),
      address: this.#addresses.of(op, rupture, label),
      request: rupture.request === true,
      held: rupture.held === true,
      callsResult: uses.some(({ isResult }) => isResult === true),
      inferred: false,
      callbacks: callbacks.slice(),
    });
  }

  #label(op: OpId, rupture: Rupture): string {
    if (rupture.label === undefined) return '';
    const call = this.#facts.d.get(op);
    const value = this.#facts.argument(call, rupture.label);
    const text = this.#facts.strings.get(value);
    if (text !== undefined) return text;
    if (this.#functionsOf(value).length > 0 || rupture.label >= this.#facts.callCount.get(call)) return '';
    return this.#source.argument(op, rupture.label);
  }

  #callbacks(op: OpId, rupture: Rupture, value: ValueId, argument: number): RuptureCallback[] {
    const functions = this.#functionsOf(value);
    if (functions.length === 0) {
      this.#noteUnresolved(op, rupture, value, argument, functions);
      return [];
    }
    const inPlace = this.#isInPlace(op, argument, functions[0] as FunctionId);
    if (functions.length > 1 || this.#holdsUnknown(value)) {
      const last = rupture.callback === 'functions' && this.#isArray(value) ? functions : this.#lastAssigned(op, value);
      // Which one a router has is seen in the running app.
      const isOneOf = this.#isComputed(value) && rupture.request !== true;
      if (last === null && (isOneOf || this.#holdsUnknown(value))) {
        this.#noteUnresolved(op, rupture, value, argument, functions);
        return [];
      }
      return (last ?? functions).map((fn) => ({ argument, value, fn, inPlace: this.#isInPlace(op, argument, fn) }));
    }
    return functions.map((fn) => ({ argument, value, fn, inPlace }));
  }

  /** Wherever they are in it. */
  #inResult(value: ValueId, argument: number): RuptureCallback[] {
    const { tokens } = this.#origins;
    const found = new Set<FunctionId>();
    const seen = new Set<TokenId>();
    const queue = [value];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      for (const id of this.#origins.tokensOf(next)) {
        const fn = tokens.functionOf(id);
        if (fn !== null) found.add(fn);
        if (tokens.get(id).kind !== 'object' || seen.has(id)) continue;
        seen.add(id);
        queue.push(...(tokens.knownProperties(id)?.values() ?? []));
      }
    }
    return [...found].map((fn) => ({ argument, value, fn, inPlace: false }));
  }

  #isInPlace(op: OpId, argument: number, fn: FunctionId): boolean {
    const { start, end, module } = this.#facts.fn(fn);
    const at = this.#facts.callFirst.get(this.#facts.d.get(op)) + argument;
    return (
      module === this.#facts.fn(this.#facts.owner.get(op)).module &&
      start >= this.#facts.argStart.get(at) &&
      end <= this.#facts.argEnd.get(at)
    );
  }

  /** Functions that a value can be, those in arrays included, in the order of their places in the source. */
  #functionsOf(value: ValueId): readonly FunctionId[] {
    let known = this.#functions.get(value);
    if (known === undefined) this.#functions.set(value, (known = this.#findFunctions(value)));
    return known;
  }

  #findFunctions(value: ValueId): FunctionId[] {
    const found = new Set<FunctionId>();
    const seen = new Set<TokenId>();
    const queue = [value];
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      for (const id of this.#origins.tokensOf(next)) {
        const fn = this.#origins.tokens.functionOf(id);
        if (fn !== null) found.add(fn);
        const token = this.#origins.tokens.get(id);
        if (token.kind !== 'object' || token.type !== 'Array' || seen.has(id)) continue;
        seen.add(id);
        const items = this.#origins.tokens.knownProperties(id)?.get(ANY_PROPERTY);
        if (items !== undefined) queue.push(items);
      }
    }
    return [...found];
  }

  #isArray(value: ValueId): boolean {
    return this.#origins.tokensOf(value).some((id) => {
      const token = this.#origins.tokens.get(id);
      return token.kind === 'object' && token.type === 'Array';
    });
  }

  #holdsUnknown(value: ValueId): boolean {
    return this.#origins.tokensOf(value).includes(UNKNOWN);
  }

  /** The value was loaded by a key that is not known: `handlers[kind]`. */
  #isComputed(value: ValueId): boolean {
    if (this.#computed === null) {
      this.#computed = new Set();
      for (let op = 0; op < this.#facts.kind.length; op++) {
        const isLoad = this.#facts.kind.get(op) === Op.load && this.#facts.c.get(op) === ANY_PROPERTY;
        if (isLoad) this.#computed.add(this.#facts.b.get(op));
      }
    }
    return this.#computed.has(value);
  }

  /** What a variable holds at a call, where all its assignments stand on one straight line with it; else null. */
  #lastAssigned(op: OpId, value: ValueId): readonly FunctionId[] | null {
    const assignments = this.#assignmentsOf(value);
    const owner = this.#facts.owner.get(op);
    let last: OpId | null = null;
    for (const assignment of assignments) {
      const certain = this.#facts.d.get(assignment) === 0 && this.#facts.loop.get(assignment) === 0;
      if (!certain || this.#facts.owner.get(assignment) !== owner) return null;
      if (assignment < op) last = assignment;
    }
    if (last === null) return null;
    const functions = this.#functionsOf(this.#facts.a.get(last));
    return functions.length === 1 && !this.#holdsUnknown(this.#facts.a.get(last)) ? functions : null;
  }

  #assignmentsOf(variable: ValueId): readonly OpId[] {
    if (this.#assignments === null) {
      this.#assignments = new Map();
      const { kind: kinds } = this.#facts;
      for (let op = 0; op < kinds.length; op++) {
        if (kinds.get(op) !== Op.copy) continue;
        const target = this.#facts.b.get(op);
        if (!this.#facts.variables.has(target)) continue;
        const list = this.#assignments.get(target);
        if (list === undefined) this.#assignments.set(target, [op]);
        else list.push(op);
      }
    }
    return this.#assignments.get(variable) ?? [];
  }

  // -------------------------------------------------------------------------------------------- unresolved

  #noteUnresolved(
    op: OpId,
    rupture: Rupture,
    value: ValueId,
    argument: number,
    candidates: readonly FunctionId[],
  ): void {
    // Of an option that is not there nothing has to be said.
    const isOption = rupture.within !== undefined && candidates.length === 0;
    const reason = isOption ? null : this.#unresolvedReason(op, rupture, value, argument, candidates);
    if (reason === null) return;
    const at = this.#facts.callFirst.get(this.#facts.d.get(op)) + argument;
    this.#unresolved.push({
      op,
      callee: calleeText(this.#facts, this.#source, op),
      start: this.#facts.argStart.get(at),
      end: this.#facts.argEnd.get(at),
      module: this.#facts.fn(this.#facts.owner.get(op)).module,
      reason,
      candidates,
    });
  }

  /** Why the callback is not known; null where the argument is no callback, or one that belongs to a known package. */
  #unresolvedReason(
    op: OpId,
    rupture: Rupture,
    value: ValueId,
    argument: number,
    candidates: readonly FunctionId[],
  ): string | null {
    const text = this.#source.argument(op, argument);
    if (candidates.length > 0) return `"${text}" may be one of several functions`;
    // `app.use(config.basePath, router)`: what stands where a path may stand, and says that it is one.
    if (rupture.label === argument && this.#facts.callCount.get(this.#facts.d.get(op)) > 1 && namesPath(text))
      return null;
    let external: string | null = null;
    let unknown = false;
    for (const id of this.#origins.tokensOf(value)) {
      const token = this.#origins.tokens.get(id);
      if (token.kind === 'object') return null;
      if (token.kind === 'unknown') unknown = true;
      if (token.kind === 'bound') unknown = true;
      if (token.kind !== 'external') continue;
      if (!this.#models.isUnknown(token.shape)) return null;
      external ??= this.#models.unmodelledPackage(token.shape);
      unknown = true;
    }
    // Of an optional last argument nothing says that it is a callback, if not its name.
    if (rupture.callback === 'last' && !namesCallback(text)) return null;
    if (external !== null) return `"${text}" comes from the package "${external}", whose code is not analysed here`;
    if (!unknown) return null;
    return `where "${text}" comes from is only known when the program runs`;
  }

  // ---------------------------------------------------------------------------------------------- by shape

  /** Calls that no model describes, and that look asynchronous: an error-first callback at the end. */
  findInferred(): void {
    const facts = this.#facts;
    const { kind: kinds } = facts;
    for (let op = 0; op < kinds.length; op++) {
      const kind = kinds.get(op);
      if (kind !== Op.call && kind !== Op.method && kind !== Op.construct) continue;
      if (!this.#origins.mayRun(facts.owner.get(op))) continue;
      if (this.#modelled.has(op) || this.#origins.calleesOf(op).length > 0 || this.#isKnown(op)) continue;
      this.#inferOne(op);
    }
  }

  /** A model says what the callee does. */
  #isKnown(op: OpId): boolean {
    const isNew = this.#facts.kind.get(op) === Op.construct;
    return this.#origins.calleeTokens(op).some((id) => {
      const token = this.#origins.tokens.get(id);
      return token.kind === 'external' && this.#models.call(token.shape, isNew) !== null;
    });
  }

  #inferOne(op: OpId): void {
    const call = this.#facts.d.get(op);
    const count = this.#facts.callCount.get(call);
    if (count === 0 || this.#facts.callSpread.get(call) >= 0) return;
    const name = this.#facts.kind.get(op) === Op.method ? this.#facts.atomName(this.#facts.c.get(op)) : '';
    if (this.#inferRoute(op, call, name)) return;
    const last = count - 1;
    const value = this.#facts.argument(call, last);
    const functions = this.#functionsOf(value);
    if (functions.length !== 1 || this.#holdsUnknown(value)) return;
    const fn = functions[0] as FunctionId;
    if (isListening(name) && count === 2 && this.#facts.strings.has(this.#facts.argument(call, 0))) {
      this.#inferred(
        op,
        name === 'once' ? 'post' : 'start',
        value,
        last,
        fn,
        this.#facts.strings.get(this.#facts.argument(call, 0)) ?? '',
      );
    } else if (isThen(name) || this.#isErrorFirst(fn)) {
      this.#inferred(op, 'post', value, last, fn, '');
      if (name === 'then' && count === 2) this.#inferFirstOfThen(op, call);
    }
  }

  /** `router.get('/path', (req, res) => …)` on a router that nobody knows. */
  #inferRoute(op: OpId, call: number, name: string): boolean {
    const path = this.#facts.strings.get(this.#facts.argument(call, 0));
    if (!isRouting(name) || path === undefined || !/^[/*]/.test(path)) return false;
    const callbacks: RuptureCallback[] = [];
    for (let argument = 1; argument < this.#facts.callCount.get(call); argument++) {
      const value = this.#facts.argument(call, argument);
      const functions = this.#holdsUnknown(value) ? [] : this.#functionsOf(value);
      if (functions.some((fn) => !this.#takesRequest(fn))) return false;
      for (const fn of functions) callbacks.push({ argument, value, fn, inPlace: this.#isInPlace(op, argument, fn) });
    }
    if (callbacks.length === 0) return false;
    this.#points.push({
      op,
      kind: 'start',
      owner: this.#facts.owner.get(op),
      callee: calleeText(this.#facts, this.#source, op),
      label: path,
      path,
      address: path,
      request: true,
      held: false,
      callsResult: false,
      inferred: true,
      callbacks,
    });
    return true;
  }

  #takesRequest(fn: FunctionId): boolean {
    const params = this.#facts.fn(fn).params;
    const name = this.#facts.variables.get(params[0] ?? NOTHING)?.name ?? '';
    return params.length >= 2 && /^_*(req|request|err|error|ctx)$/i.test(name);
  }

  #inferFirstOfThen(op: OpId, call: number): void {
    const value = this.#facts.argument(call, 0);
    const functions = this.#functionsOf(value);
    if (functions.length === 1) this.#inferred(op, 'post', value, 0, functions[0] as FunctionId, '');
  }

  #isErrorFirst(fn: FunctionId): boolean {
    const first = this.#facts.fn(fn).params[0] ?? NOTHING;
    const name = this.#facts.variables.get(first)?.name ?? '';
    return /^_?(e|er|err|error|ex|exception)\d*$/i.test(name) || /(Err|Error)$/.test(name);
  }

  #inferred(op: OpId, kind: 'start' | 'post', value: ValueId, argument: number, fn: FunctionId, label: string): void {
    this.#points.push({
      op,
      kind,
      owner: this.#facts.owner.get(op),
      callee: calleeText(this.#facts, this.#source, op),
      label,
      path: label,
      address: label,
      request: false,
      held: false,
      callsResult: false,
      inferred: true,
      callbacks: [{ argument, value, fn, inPlace: this.#isInPlace(op, argument, fn) }],
    });
  }
}

function isListening(name: string): boolean {
  return name === 'on' || name === 'once' || name === 'addListener' || name === 'prependListener';
}

function isRouting(name: string): boolean {
  return /^(get|post|put|patch|delete|del|head|options|all|use)$/.test(name);
}

function isThen(name: string): boolean {
  return name === 'then' || name === 'catch' || name === 'finally';
}

function namesCallback(text: string): boolean {
  return /(^|[_.\b])(cb|callback|done|next|fn|func|handler|listener)$|(Callback|Cb|Done|Handler|Listener|Fn)$/.test(
    text,
  );
}
