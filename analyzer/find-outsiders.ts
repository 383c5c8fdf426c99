/**
 * Reads:   facts, origins, effects.
 * Gives:   functions that may run although no call of them is in sight: handed to code that nobody knows, never called by
 *          anyone, or called by the language itself (setters, `toString`, `toJSON`, `then`, iterators).
 */
import { isCall } from './call-graph.js';
import { isCalledByLanguage, isIterator, typesThatCall } from './called-by-language.js';
import {
  ANY_PROPERTY,
  type CallId,
  type Facts,
  FunctionFlag,
  type FunctionId,
  NOTHING,
  Op,
  type OpId,
  type ValueId,
} from './facts.js';
import { findNamespaces } from './find-namespaces.js';
import type { Models, Shape } from './models.js';
import type { Effects } from './summarise-effects.js';
import type { Origins } from './trace-origins.js';

export interface Outsiders {
  readonly functions: ReadonlySet<FunctionId>;
  /** Functions that the language calls when an object is used, with what holds the object. */
  readonly implicit: readonly ImplicitCall[];
}

export interface ImplicitCall {
  readonly fn: FunctionId;
  readonly holder: ValueId;
  /** Called anew before each use, so that its variables are nobody else's: what gives an iterator. */
  readonly maker: FunctionId | null;
}

export function findOutsiders(facts: Facts, origins: Origins, effects: Effects, models: Models): Outsiders {
  const found = new Set<FunctionId>(origins.escaped);
  const implicit: Found[] = [];
  for (const fn of facts.functions) {
    if (fn.parent !== -1 && effects.isEntry(fn.id) && origins.mayRun(fn.id)) found.add(fn.id);
  }
  const { kind: kinds } = facts;
  for (let op = 0; op < kinds.length; op++) {
    if (kinds.get(op) === Op.store) addStored(facts, origins, op, implicit);
    else if (isCall(kinds.get(op))) {
      addDefined(facts, origins, op, implicit);
      if (runsLater(facts, origins, models, op)) for (const fn of effects.executes(op)) found.add(fn);
    }
  }
  const seen = withoutNamespaces(facts, origins, implicit);
  for (const { fn } of seen) if (origins.mayRun(fn)) found.add(fn);
  return { functions: found, implicit: seen };
}

/** What it is given, and what that holds (`celebrate({ query: schema })`), runs when requests come, or when code that nobody has read runs it. */
function runsLater(facts: Facts, origins: Origins, models: Models, op: OpId): boolean {
  return origins.calleeTokens(op).some((id) => {
    const token = origins.tokens.get(id);
    if (token.kind !== 'external' || token.shape.package === '') return false;
    const call = models.call(token.shape, facts.kind.get(op) === Op.construct);
    return call === null || call.returns?.includes('express.Middleware') === true;
  });
}

/** What modules export under the name `toJSON` is not called by who writes JSON, unless somebody hands on all that they export. */
function withoutNamespaces(facts: Facts, origins: Origins, implicit: Implicit): Implicit {
  const objects = new Set(implicit.flatMap(({ isJson, holder }) => (isJson ? origins.tokensOf(holder) : [])));
  const left = objects.size === 0 ? objects : findNamespaces(facts, origins, objects);
  if (left.size === 0) return implicit;
  return implicit.filter((each) => !each.isJson || !origins.tokensOf(each.holder).every((id) => left.has(id)));
}

interface Found extends ImplicitCall {
  /** Called where an object that has it is written as JSON, and only there. */
  readonly isJson: boolean;
}

type Implicit = Found[];

function addStored(facts: Facts, origins: Origins, op: OpId, implicit: Implicit): void {
  const atom = facts.c.get(op);
  const isNew = facts.d.get(op) === 1;
  if (atom === ANY_PROPERTY ? !isNew : !isImplicit(facts, origins, facts.a.get(op), facts.atomName(atom))) return;
  for (const id of origins.tokensOf(facts.b.get(op))) {
    const fn = origins.tokens.functionOf(id);
    if (fn === null || (atom === ANY_PROPERTY && !isWritten(facts, fn, facts.position.get(op)))) continue;
    const holder = facts.a.get(op);
    implicit.push({ fn, holder, maker: null, isJson: atom !== ANY_PROPERTY && facts.atomName(atom) === 'toJSON' });
    if (atom !== ANY_PROPERTY)
      for (const maker of classesOf(facts, origins, holder, facts.atomName(atom)))
        implicit.push({ fn, holder: maker, maker: null, isJson: false });
    if (atom === ANY_PROPERTY || !isIterator(facts.atomName(atom))) continue;
    // Who goes through the object calls what its iterator has, which nobody else may ever see.
    for (const step of functionsIn(origins, facts.fn(fn).result, 1))
      implicit.push({ fn: step, holder, maker: fn, isJson: false });
  }
}

/** Everything that is looked at calls what has the name, or what the object is by its type does. */
function isImplicit(facts: Facts, origins: Origins, holder: ValueId, name: string): boolean {
  if (isCalledByLanguage(name)) return true;
  const types = typesThatCall(name);
  return types.length > 0 && isOneOf(facts, origins, holder, types);
}

/** The class of a prototype: what the language gives of it (`Later.resolve(1)`) is not seen to be an instance. */
function* classesOf(facts: Facts, origins: Origins, prototype: ValueId, name: string): Generator<ValueId> {
  const maker = facts.knownAtom('constructor');
  if (maker === undefined || !isOneOf(facts, origins, prototype, typesThatCall(name))) return;
  for (const id of origins.tokensOf(prototype)) {
    const token = origins.tokens.get(id);
    const value = origins.tokens.knownProperties(id)?.get(maker);
    if (value !== undefined && token.kind === 'object' && token.type === 'Prototype') yield value;
  }
}

/** By itself, or by what it or its class inherits from. */
function isOneOf(facts: Facts, origins: Origins, value: ValueId, types: readonly string[]): boolean {
  const above = new Set([value]);
  for (const each of above) {
    for (const id of origins.tokensOf(each)) {
      const token = origins.tokens.get(id);
      if (token.kind === 'external' && isOfType(token.shape, types)) return true;
      if (token.kind === 'function') above.add(facts.classes.get(token.fn)?.superclass ?? NOTHING);
      if (token.kind !== 'object') continue;
      if (types.includes(token.type)) return true;
      if (token.proto !== NOTHING) above.add(token.proto);
      if (token.type === 'Prototype') above.add(facts.classes.get(token.fn)?.superclass ?? NOTHING);
    }
  }
  return false;
}

/** A value of it, or the constructor, which the language has under the same name. */
function isOfType({ package: from, path, typeName }: Shape, types: readonly string[]): boolean {
  return from === '' && types.some((type) => typeName === type || path === type);
}

/** `Object.defineProperty(o, 'x', { get() {…} })`, `o.__defineGetter__('x', fn)`, `new Proxy(o, { get() {…} })` */
function addDefined(facts: Facts, origins: Origins, op: OpId, implicit: Implicit): void {
  const call = facts.d.get(op);
  const isProxy = origins.calleeTokens(op).some((id) => proxies.some((path) => isNamed(origins, id, path)));
  const name = facts.kind.get(op) === Op.method ? facts.atomName(facts.c.get(op)) : '';
  if (name === 'assign') return addAssigned(facts, origins, call, implicit);
  if (!isProxy && !/^(defineProperty|defineProperties|__define[GS]etter__)$/.test(name)) return;
  const holder = name.startsWith('__') ? facts.a.get(op) : facts.argument(call, 0);
  for (let index = 1; index < facts.callCount.get(call); index++) {
    for (const fn of functionsIn(origins, facts.argument(call, index), 2))
      implicit.push({ fn, holder, maker: null, isJson: false });
  }
}

/** `Object.assign(Rows.prototype, { set() {…} })` */
function addAssigned(facts: Facts, origins: Origins, call: CallId, implicit: Implicit): void {
  if (facts.callCount.get(call) === 0) return;
  const holder = facts.argument(call, 0);
  for (let index = 1; index < facts.callCount.get(call); index++) {
    for (const source of origins.tokensOf(facts.argument(call, index))) {
      for (const [atom, value] of origins.tokens.knownProperties(source) ?? []) {
        const name = atom === ANY_PROPERTY ? '' : facts.atomName(atom);
        // Of an accessor, what it gives is assigned.
        if (/^$|^[gs]et /.test(name) || !isImplicit(facts, origins, holder, name)) continue;
        for (const fn of functionsIn(origins, value, 0)) implicit.push({ fn, holder, maker: null, isJson: false });
      }
    }
  }
}

const proxies = ['Proxy', 'Proxy.revocable'];

function isNamed(origins: Origins, id: number, path: string): boolean {
  const token = origins.tokens.get(id);
  return token.kind === 'external' && token.shape.path === path;
}

function functionsIn(
  origins: Origins,
  value: ValueId,
  depth: number,
  found = new Set<FunctionId>(),
  seen = new Set<number>(),
): ReadonlySet<FunctionId> {
  for (const id of origins.tokensOf(value)) {
    const fn = origins.tokens.functionOf(id);
    const token = origins.tokens.get(id);
    if (fn !== null) found.add(fn);
    if (depth === 0 || seen.has(id) || token.kind !== 'object') continue;
    seen.add(id);
    for (const inner of origins.tokens.knownProperties(id)?.values() ?? [])
      functionsIn(origins, inner, depth - 1, found, seen);
    // The traps of a proxy may be methods of a class.
    if (token.proto !== NOTHING) functionsIn(origins, token.proto, depth, found, seen);
  }
  return found;
}

/** The function stands at the property itself: a list of handlers is stored under no name either. */
function isWritten(facts: Facts, fn: FunctionId, position: number): boolean {
  const { start, flags } = facts.fn(fn);
  return (flags & FunctionFlag.method) !== 0 || Math.abs(start - position) < 40;
}
