/**
 * Copies of functions for what the running app said of their closures.
 *
 * Reads:   facts, what the app said.
 * Gives:   a copy of the function for each closure, whose outer variables hold what that closure's do; the function itself
 *          is none that runs any more.
 *
 * What a variable can be at all is found as ever. Of these tokens a copy gets those that fit the value that is really there:
 * the function, or instances of the class. Where the variable may be anything, it is one of the instances of that class that
 * the program makes, if only code that is read makes any.
 */
import type { LiveFacts, LiveValue } from '../../flx/live-facts.js';
import type { Place } from '../../flx/program.js';
import { cloneFunction } from '../clone-function.js';
import {
  type Facts,
  type FunctionFact,
  FunctionFlag,
  type FunctionId,
  NOTHING,
  Op,
  type ValueId,
  VariableKind,
} from '../facts.js';
import { type Token, type TokenId, UNKNOWN } from '../tokens.js';
import type { Found } from './found.js';
import type { Fits, LiveFields } from './live-fields.js';
import type { Seeds } from './seeds.js';
import type { TokenFlow } from './token-flow.js';
import type { Use } from './uses.js';

/** What the app said, and the functions that run only when it serves, as the source has them. */
export interface LiveInput {
  readonly facts: LiveFacts;
  readonly late: ReadonlySet<FunctionId>;
}

/** A copy, and the closure that it stands for. */
export interface LiveCopy {
  readonly fn: FunctionId;
  readonly at: Place;
  readonly index: number;
}

/** Of what is known by no function in it. */
const NO_FUNCTION: FunctionId = -1;

type Live = Extract<Use, { kind: 'live' }>;

/** By these an object may be of a class without its constructor, or of another one than its constructor says. */
const OTHER_WAYS =
  /\.prototype\s*=(?!=)|\bObject\s*\.\s*create\b|\{[^{}]*\bcreate\b[^{}]*\}\s*=\s*Object\b|\bsetPrototypeOf\b|\bReflect\s*(?:\.\s*construct\b|\[)|\}\s*=\s*Reflect\b|__proto__/;

export class LiveCopies {
  readonly #flow: TokenFlow;
  readonly #found: Found;
  readonly #seeds: Seeds;
  readonly #facts: Facts;
  readonly #fields: LiveFields;
  readonly #copies: LiveCopy[] = [];
  /** Values that may be any instance of a class. */
  readonly #anyOf = new Map<FunctionId, Set<ValueId>>();
  readonly #instances = new Map<FunctionId, TokenId[]>();
  /** To be done when all else is seeded. */
  readonly #pending: (() => void)[] = [];
  #otherWays: boolean | null = null;

  constructor(flow: TokenFlow, found: Found, seeds: Seeds, fields: LiveFields) {
    this.#fields = fields;
    this.#flow = flow;
    this.#found = found;
    this.#seeds = seeds;
    this.#facts = flow.facts;
  }

  get all(): readonly LiveCopy[] {
    return this.#copies;
  }

  /** Before anything is seeded. */
  make({ facts: { functions, classes }, late }: LiveInput): void {
    for (const { at, fields } of classes) {
      const maker = functionAt(this.#facts, at);
      if (maker === null) continue;
      for (const [name, holds] of Object.entries(fields)) {
        const all = holds.map((is) => this.#fits(is));
        if (all.every((each) => each !== null)) this.#fields.add(maker.id, name, all);
      }
    }
    this.#fields.begin(late);
    for (const { at, closures } of functions) {
      const fn = functionAt(this.#facts, at);
      if (fn === null) continue;
      for (let id = fn.id; id < fn.functionEnd; id++) this.#found.replaced.add(id);
      const copies = closures.map((held, index) => {
        const copy = this.#copyOf(fn, held);
        this.#copies.push({ fn: copy, at, index });
        return copy;
      });
      this.#found.liveCopies.set(fn.id, copies);
    }
  }

  /** What could not be seeded before all others were. */
  seed(): void {
    for (const seed of this.#pending.splice(0)) seed();
  }

  #copyOf(fn: FunctionFact, held: LiveFacts['functions'][number]['closures'][number]): FunctionId {
    const values = new Map<ValueId, ValueId>();
    const texts = new Map<ValueId, string>();
    for (const variable of outerVariables(this.#facts, fn)) {
      const name = this.#facts.variables.get(variable)?.name ?? '';
      const is = Object.hasOwn(held, name) ? held[name] : undefined;
      if (is === undefined) continue;
      if (is.kind === 'text') texts.set(variable, is.text);
      else this.#copyVariable(variable, is, values);
    }
    const clone = cloneFunction(this.#facts, fn, { values, texts });
    this.#pending.push(() => {
      for (const seed of clone.seeds) this.#seeds.seedOne(seed);
      for (const value of this.#seeds.loaded)
        if (value >= fn.valueStart && value < fn.valueEnd) this.#flow.edge(value, value + clone.valueDelta);
    });
    return clone.root.id;
  }

  #copyVariable(variable: ValueId, is: Exclude<LiveValue, { kind: 'text' }>, values: Map<ValueId, ValueId>): void {
    const fact = this.#facts.variables.get(variable);
    const fits = this.#fits(is);
    if (fact === undefined || fits === null) return;
    const copy = this.#facts.newValue();
    this.#facts.variables.add({ ...fact, value: copy });
    values.set(variable, copy);
    this.#pending.push(() => this.#flow.use(variable, { kind: 'live', to: copy, ...fits }));
  }

  #fits(is: LiveValue): Fits | null {
    if (is.kind === 'text') return null;
    if (is.kind === 'plain') return { of: NO_FUNCTION, as: 'plain' };
    const target = functionAt(this.#facts, is.kind === 'instance' ? is.of : is.at);
    return target === null ? null : { of: target.id, as: is.kind === 'object' ? this.#facts.atom(is.name) : is.kind };
  }

  /** What each copy of the functions around it has in its variables, the closures' variables may hold. */
  takeOver(made: FunctionFact): readonly FunctionId[] | null {
    const copies = this.#found.liveCopies.get(made.origin);
    if (copies === undefined || copies.includes(made.id)) return null;
    if (made.id === made.origin) return copies;
    for (let id = made.id; id < made.functionEnd; id++) this.#found.replaced.add(id);
    const outer = [...outerVariables(this.#facts, this.#facts.fn(made.origin))];
    const byPlace = new Map(outer.map((variable) => [this.#placeOf(variable), variable]));
    for (const { value, kind } of this.#facts.variables.values()) {
      const original = kind === VariableKind.global ? undefined : byPlace.get(this.#placeOf(value));
      if (original !== undefined) this.#flow.edge(value, original);
    }
    return copies;
  }

  /** The same for all copies of one variable of the source. */
  #placeOf(variable: ValueId): string {
    const fact = this.#facts.variables.get(variable);
    return `${fact?.module} ${fact?.start} ${fact?.name}`;
  }

  pass(id: TokenId, { to, of, as }: Live): void {
    const token = this.#flow.tokens.get(id);
    if (id === UNKNOWN) return as === 'instance' ? this.#mayBeAnyOf(of, to) : void this.#flow.add(to, UNKNOWN);
    if (token.kind === 'bound') return;
    if (token.kind === 'function') {
      if (as === 'function' && this.#originOf(token.fn) === of) this.#flow.add(to, id);
      return;
    }
    if (token.kind !== 'object' || as === 'function' || this.#hasOtherWays()) return void this.#flow.add(to, id);
    const made = this.#found.classOf.get(id);
    if (as === 'instance') {
      // An object that something else inherits is no literal.
      const isOther = made === undefined ? isLiteral(token) : made !== of;
      if (!isOther) this.#flow.add(to, id);
    } else if (as === 'plain') {
      if (made === undefined) this.#flow.add(to, id);
    } else if (made === undefined) {
      const value = this.#flow.property(id, as);
      if (token.type !== 'Object') this.#flow.add(to, id);
      else this.#flow.use(value, { kind: 'liveHolder', to, of, token: id });
    }
  }

  passHolder(id: TokenId, { to, of, token }: Extract<Use, { kind: 'liveHolder' }>): void {
    const fn = this.#flow.tokens.functionOf(id);
    if (id === UNKNOWN || (fn !== null && this.#originOf(fn) === of)) this.#flow.add(to, token);
  }

  #originOf(fn: FunctionId): FunctionId {
    return this.#facts.fn(fn).origin;
  }

  #mayBeAnyOf(of: FunctionId, to: ValueId): void {
    const waiting = this.#anyOf.get(of);
    if (waiting === undefined) this.#anyOf.set(of, new Set([to]));
    else waiting.add(to);
    for (const token of this.#instances.get(of) ?? []) this.#flow.add(to, token);
  }

  made(instance: TokenId, by: FunctionId): void {
    const of = this.#originOf(by);
    this.#found.classOf.set(instance, of);
    const known = this.#instances.get(of);
    if (known === undefined) this.#instances.set(of, [instance]);
    else known.push(instance);
    for (const to of this.#anyOf.get(of) ?? []) this.#flow.add(to, instance);
  }

  /** Code that is not read makes instances as well. */
  admitOthersInstances(): boolean {
    let found = false;
    for (const [of, values] of this.#anyOf) {
      const isKnown = (this.#instances.get(of)?.length ?? 0) > 0 && !this.#mayOthersMake(of);
      for (const value of isKnown ? [] : values) if (this.#flow.add(value, UNKNOWN)) found = true;
    }
    return found;
  }

  #mayOthersMake(of: FunctionId): boolean {
    if (this.#hasOtherWays() || this.#makesUnknown()) return true;
    for (const fn of this.#found.escaped) if (this.#originOf(fn) === of) return true;
    return false;
  }

  #hasOtherWays(): boolean {
    this.#otherWays ??= this.#facts.modules.some(({ text }) => OTHER_WAYS.test(text));
    return this.#otherWays;
  }

  /** `new` of what may be any class. */
  #makesUnknown(): boolean {
    const { kind: kinds } = this.#facts;
    for (let op = 0; op < kinds.length; op++) {
      if (kinds.get(op) !== Op.construct || !this.#found.isStarted(this.#facts.owner.get(op))) continue;
      if (this.#flow.held.get(this.#facts.a.get(op)).includes(UNKNOWN)) return true;
    }
    return false;
  }
}

/** Made by the language, and of no class of the program. */
function isLiteral({ type, proto }: Extract<Token, { kind: 'object' }>): boolean {
  return proto === NOTHING && /^(Object|Array|Map|Set|WeakMap|WeakSet|Promise|RegExp)$/.test(type);
}

/** The class that is written there. */
export function classAt(facts: Facts, at: Place): FunctionId | null {
  return functionAt(facts, at)?.id ?? null;
}

/** Of a class it is enough that the place is in it. */
function functionAt(facts: Facts, { module, line, column }: Place): FunctionFact | null {
  const file = facts.modules.find(({ id }) => id === module);
  if (file === undefined || line > file.lineStarts.length) return null;
  const offset = file.lineStarts.get(line - 1) + column - 1;
  let best: FunctionFact | null = null;
  for (const fn of facts.functions) {
    if (fn.module !== file.index || fn.id !== fn.origin || fn.parent === -1) continue;
    if (fn.start > offset || offset > fn.end) continue;
    if (best === null || fn.start >= best.start) best = fn;
  }
  if (best === null) return null;
  const isClass = (best.flags & FunctionFlag.classConstructor) !== 0;
  return isClass || isHead(file.text.slice(best.start, offset)) ? best : null;
}

/** `async function name`: nothing that another function could begin in. */
function isHead(text: string): boolean {
  return !/[(){};=,]/.test(text);
}

/** Variables from around a function that it, or a function in it, reads. */
export function outerVariables(facts: Facts, fn: FunctionFact): ReadonlySet<ValueId> {
  const found = new Set<ValueId>();
  for (let op = fn.opStart; op < fn.opEnd; op++) {
    const kind = facts.kind.get(op);
    if (kind !== Op.read && kind !== Op.write) continue;
    const variable = facts.a.get(op);
    const owner = facts.variables.ownerOf(variable) ?? -1;
    if (owner >= 0 && (owner < fn.id || owner >= fn.functionEnd)) found.add(variable);
  }
  return found;
}
