/**
 * Copies of functions whose calls must be told apart.
 *
 * One function, one set of values: for most functions that is precise enough. Some it would ruin. What a wrapper gives
 * (`asyncHandler(fn)`) calls the `fn` of one call, not those of all calls, and so does who is given one (`each(list, fn)`); each call of a
 * factory makes state of its own (`rateLimit()` with `const hits = new Map()` in it). Their second and further calls get copies.
 */

import { isCalledByLanguage } from './called-by-language.js';
import {
  ANY_PROPERTY,
  type Facts,
  type FunctionFact,
  FunctionFlag,
  type FunctionId,
  NOTHING,
  Op,
  type OpId,
  type TokenSeed,
  type ValueId,
  VariableKind,
} from './facts.js';
import type { SeedTable } from './seed-table.js';

export interface Clone {
  readonly root: FunctionFact;
  readonly firstOp: OpId;
  readonly lastOp: OpId;
  readonly seeds: readonly TokenSeed[];
  /** First new function; the copy's functions are the last ones of the list. */
  readonly firstFunction: FunctionId;
  /** From original values to the copy's. */
  readonly valueDelta: number;
}

/** Marks wrappers and factories. */
export function markWrappers(facts: Facts): void {
  const madeAnew = new Set<ValueId>();
  for (const seed of facts.seeds) if (seed.kind === 'object') madeAnew.add(seed.value);
  /** What was loaded of a parameter by a key that is computed: the value, and the parameter. */
  const ofParameter = new Map<ValueId, ValueId>();
  const { kind: kinds } = facts;
  for (let op = 0; op < kinds.length; op++) {
    const kind = kinds.get(op);
    if (kind === Op.load && facts.c.get(op) === ANY_PROPERTY) ofParameter.set(facts.b.get(op), facts.a.get(op));
    if (kind === Op.construct || (kind === Op.method && GIVES_NEW.test(facts.atomName(facts.c.get(op)))))
      madeAnew.add(facts.b.get(op));
    else if (kind === Op.call) markParameterCalled(facts, ofParameter.get(facts.a.get(op)) ?? facts.a.get(op), op);
    else if (kind === Op.method && isIndirect(facts.atomName(facts.c.get(op))))
      markParameterCalled(facts, facts.a.get(op), op);
    else if (kind === Op.write) markStateWritten(facts, op);
  }
  markFactories(facts, madeAnew);
  const used = objectsUsedInside(facts);
  for (let op = 0; op < kinds.length; op++) {
    const isFresh = kinds.get(op) === Op.copy && madeAnew.has(facts.a.get(op));
    if (isFresh && used.has(facts.b.get(op))) markOwner(facts, facts.b.get(op));
  }
}

/** Methods of the language that give a new object, or what they were given to fill. */
const GIVES_NEW =
  /^(reduce|reduceRight|map|filter|flatMap|sort|concat|slice|assign|create|from|fromEntries|entries|keys|values)$/;

/** Functions that give a new object, or a closure that changes what they were given. */
function markFactories(facts: Facts, madeAnew: ReadonlySet<ValueId>): void {
  const objects = new Set(madeAnew);
  const changers = new Set<ValueId>();
  const makers = new Set<FunctionId>();
  const { kind: kinds } = facts;
  for (let op = 0; op < kinds.length; op++) {
    const kind = kinds.get(op);
    if (kind === Op.copy && madeAnew.has(facts.a.get(op))) objects.add(facts.b.get(op));
    if (kind !== Op.store || facts.d.get(op) === 1) continue;
    const variable = facts.variables.get(facts.a.get(op));
    if (variable?.kind !== VariableKind.parameter || variable.owner === facts.owner.get(op)) continue;
    changers.add(facts.fn(facts.owner.get(op)).self);
  }
  for (let op = 0; op < kinds.length; op++) {
    if (kinds.get(op) !== Op.return) continue;
    const value = facts.a.get(op);
    const fn = facts.fn(facts.owner.get(op));
    if (objects.has(value)) makers.add(fn.id);
    else if (changers.has(value)) markFactory(facts, fn, FunctionFlag.holder);
  }
  if (makers.size === 0) return;
  const givers = functionsThatGiveFunctions(facts);
  for (const id of makers)
    markFactory(facts, facts.fn(id), givers.has(id) ? FunctionFlag.holder : FunctionFlag.factory);
}

/** Those in which a function is written that may be called when they are done: it is put into an object, or given. */
function functionsThatGiveFunctions(facts: Facts): ReadonlySet<FunctionId> {
  const written = new Map<ValueId, FunctionId>();
  for (const { self, id } of facts.functions) written.set(self, id);
  const found = new Set<FunctionId>();
  const { kind: kinds } = facts;
  for (let op = 0; op < kinds.length; op++) {
    const kind = kinds.get(op);
    const value =
      kind === Op.store ? facts.b.get(op) : kind === Op.return || kind === Op.copy ? facts.a.get(op) : NOTHING;
    const fn = value === NOTHING ? undefined : written.get(value);
    for (let at = fn === undefined ? -1 : facts.fn(fn).parent; at !== -1; at = facts.fn(at).parent) found.add(at);
  }
  return found;
}

function markFactory(facts: Facts, fn: FunctionFact, flag: number): void {
  const isPlain = (fn.flags & (FunctionFlag.generator | FunctionFlag.async)) === 0;
  if (isPlain && fn.parent !== -1 && !hasRests(facts, fn)) fn.flags |= flag;
}

/** The rests of async functions are parts of the program, of which there are as many as it has copies. */
function hasRests(facts: Facts, fn: FunctionFact): boolean {
  for (let inner = fn.id; inner < fn.functionEnd; inner++) if (facts.fn(inner).cuts.length > 0) return true;
  return false;
}

/** What the function is given it may change, itself or by handing it on. */
export function mayChangeGiven(facts: Facts, fn: FunctionFact): boolean {
  for (let op = fn.opStart; op < fn.opEnd; op++) {
    const kind = facts.kind.get(op);
    if (kind === Op.store && facts.d.get(op) !== 1) return true;
    if (kind === Op.method && fn.params.includes(facts.a.get(op))) return true;
    if (kind !== Op.call && kind !== Op.method && kind !== Op.construct) continue;
    const call = facts.d.get(op);
    for (let index = 0; index < facts.callCount.get(call); index++)
      if (fn.params.includes(facts.argument(call, index))) return true;
  }
  return false;
}

function isIndirect(name: string): boolean {
  return name === 'call' || name === 'apply';
}

function markParameterCalled(facts: Facts, callee: ValueId, op: OpId): void {
  const variable = facts.variables.get(callee);
  if (variable?.kind === VariableKind.parameter && variable.owner !== facts.owner.get(op)) markOwner(facts, callee);
}

function markStateWritten(facts: Facts, op: OpId): void {
  const variable = facts.variables.get(facts.a.get(op));
  if (variable?.kind === VariableKind.local && variable.owner >= 0 && variable.owner !== facts.owner.get(op))
    markOwner(facts, variable.value);
}

/** Variables that functions within their own function read. */
function objectsUsedInside(facts: Facts): Set<ValueId> {
  const used = new Set<ValueId>();
  const { kind: kinds } = facts;
  for (let op = 0; op < kinds.length; op++) {
    if (kinds.get(op) !== Op.read) continue;
    const variable = facts.variables.get(facts.a.get(op));
    if (variable !== undefined && variable.kind === VariableKind.local && variable.owner !== facts.owner.get(op))
      used.add(variable.value);
  }
  return used;
}

function markOwner(facts: Facts, variable: ValueId): void {
  const owner = facts.variables.ownerOf(variable) ?? -1;
  if (owner < 0 || facts.fn(owner).parent === -1) return;
  facts.fn(owner).flags |= FunctionFlag.wrapper;
}

/** A method that gets a copy for each instance. What the language calls by itself has no receiver in sight. */
export function isToldApart(facts: Facts, fn: FunctionFact): boolean {
  const isPlain = (fn.flags & (FunctionFlag.arrow | FunctionFlag.generator)) === 0;
  if (!isPlain || isCalledByLanguage(fn.name)) return false;
  for (let inner = fn.id; inner < fn.functionEnd; inner++)
    if ((facts.fn(inner).flags & FunctionFlag.usesThis) !== 0) return true;
  return false;
}

/** Number of values that a copy of `fn` takes. */
export function cloneSize(fn: FunctionFact): number {
  return fn.valueEnd - fn.valueStart;
}

/** What a copy has in the place of variables around the function, and the names that some of them hold. */
export interface Held {
  readonly values: ReadonlyMap<ValueId, ValueId>;
  readonly texts: ReadonlyMap<ValueId, string>;
}

export function cloneFunction(facts: Facts, fn: FunctionFact, held: Held | null = null): Clone {
  const firstFunction = facts.functions.length;
  const valueDelta = facts.valueCount - fn.valueStart;
  facts.valueCount += cloneSize(fn);
  const functionDelta = firstFunction - fn.id;
  const value = (id: ValueId): ValueId => {
    const isOwn = id >= fn.valueStart && id < fn.valueEnd && !facts.globals.has(id);
    return isOwn ? id + valueDelta : (held?.values.get(id) ?? id);
  };
  const inside = (id: FunctionId): FunctionId => (id >= fn.id && id < fn.functionEnd ? id + functionDelta : id);
  const firstOp = facts.kind.length;
  const opDelta = firstOp - fn.opStart;

  for (let id = fn.id; id < fn.functionEnd; id++)
    facts.addFunction(copyOf(facts.fn(id), value, inside, opDelta, valueDelta));
  for (let id = fn.valueStart; id < fn.valueEnd; id++) copyValueFacts(facts, id, value, inside);
  for (let id = fn.id; id < fn.functionEnd; id++) {
    const own = facts.classes.get(id);
    if (own !== undefined) facts.classes.set(inside(id), { superclass: value(own.superclass) });
  }
  for (let op = fn.opStart; op < fn.opEnd; op++) {
    copyOp(facts, op, value, inside);
    const key = facts.keys.get(op);
    if (key !== undefined) copyKey(facts, key, value, held?.texts.get(key));
  }
  const seeds = seedsOf(facts, fn)
    .filter((seed) => value(seed.value) !== seed.value)
    .map((seed) => copySeed(seed, value, inside));
  return { root: facts.fn(firstFunction), firstOp, lastOp: facts.kind.length, seeds, firstFunction, valueDelta };
}

/** Of a copy they are those of the function that is written, as they are in the copy. */
function seedsOf(facts: Facts, fn: FunctionFact): TokenSeed[] {
  const written = facts.fn(fn.origin);
  const seeds = seedsBetween(facts, written.valueStart, written.valueEnd);
  if (fn.id === written.id) return seeds;
  const value = (id: ValueId): ValueId =>
    id >= written.valueStart && id < written.valueEnd && !facts.globals.has(id)
      ? id - written.valueStart + fn.valueStart
      : id;
  const inside = (id: FunctionId): FunctionId =>
    id >= written.id && id < written.functionEnd ? id - written.id + fn.id : id;
  return seeds.map((seed) => copySeed(seed, value, inside));
}

/** A program's seeds in the order of their values: thousands of copies are made, and each asks for a few. A number is the
 *  value and, in its low part, where the seed stands. */
const seedsByValue = new WeakMap<SeedTable, Float64Array>();
const mostSeeds = 2 ** 21;

/** The seeds of values from `first` to `last`, in the order in which they stand. */
function seedsBetween({ seeds }: Facts, first: ValueId, last: ValueId): TokenSeed[] {
  let order = seedsByValue.get(seeds);
  if (order?.length !== seeds.length) {
    order = Float64Array.from({ length: seeds.length }, (_, index) => seeds.valueOf(index) * mostSeeds + index).sort();
    seedsByValue.set(seeds, order);
  }
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((order[middle] as number) < first * mostSeeds) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < order.length && (order[end] as number) < last * mostSeeds) end++;
  const positions = order.slice(low, end).map((key) => key % mostSeeds);
  return [...positions.sort()].map((position) => seeds.get(position));
}

function copyOf(
  fn: FunctionFact,
  value: (id: ValueId) => ValueId,
  inside: (id: FunctionId) => FunctionId,
  opDelta: number,
  valueDelta: number,
): FunctionFact {
  return {
    id: inside(fn.id),
    parent: inside(fn.parent),
    origin: fn.origin,
    module: fn.module,
    name: fn.name,
    flags: fn.flags,
    start: fn.start,
    end: fn.end,
    bodyStart: fn.bodyStart,
    bodyEnd: fn.bodyEnd,
    arity: fn.arity,
    rest: fn.rest,
    cuts: fn.cuts,
    parentSegment: fn.parentSegment,
    params: fn.params.length === 0 ? fn.params : fn.params.map(value),
    self: value(fn.self),
    receiver: value(fn.receiver),
    result: value(fn.result),
    list: value(fn.list),
    opStart: fn.opStart + opDelta,
    opEnd: fn.opEnd + opDelta,
    valueStart: fn.valueStart + valueDelta,
    valueEnd: fn.valueEnd + valueDelta,
    functionEnd: inside(fn.functionEnd - 1) + 1,
  };
}

function copyValueFacts(
  facts: Facts,
  id: ValueId,
  value: (id: ValueId) => ValueId,
  inside: (id: FunctionId) => FunctionId,
): void {
  if (facts.globals.has(id)) return;
  const variable = facts.variables.get(id);
  if (variable !== undefined) facts.variables.add({ ...variable, value: value(id), owner: inside(variable.owner) });
  const text = facts.strings.get(id);
  if (text !== undefined) facts.strings.set(value(id), text);
}

function copyOp(facts: Facts, op: OpId, value: (id: ValueId) => ValueId, inside: (id: FunctionId) => FunctionId): void {
  const kind = facts.kind.get(op);
  const isCall = kind === Op.call || kind === Op.method || kind === Op.construct;
  const c = kind === Op.call ? value(facts.c.get(op)) : facts.c.get(op);
  const d = isCall ? copyCall(facts, facts.d.get(op), value) : facts.d.get(op);
  facts.pushOp(
    kind,
    value(facts.a.get(op)),
    value(facts.b.get(op)),
    c,
    d,
    facts.position.get(op),
    inside(facts.owner.get(op)),
    facts.segmentOf(op),
    facts.loop.get(op),
  );
}

/** The op that was copied last is by a variable's name. */
function copyKey(facts: Facts, key: ValueId, value: (id: ValueId) => ValueId, text: string | undefined): void {
  const op = facts.kind.length - 1;
  facts.keys.set(op, value(key));
  if (text !== undefined && NAME.test(text)) facts.c.set(op, facts.atom(text));
}

/** No index, and nothing that the language calls by itself. */
const NAME = /^(?!__proto__$)[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

function copyCall(facts: Facts, call: number, value: (id: ValueId) => ValueId): number {
  const first = facts.callFirst.get(call);
  const count = facts.callCount.get(call);
  facts.callFirst.push(facts.args.length);
  facts.callCount.push(count);
  facts.callSpread.push(facts.callSpread.get(call));
  facts.calleeStart.push(facts.calleeStart.get(call));
  facts.calleeEnd.push(facts.calleeEnd.get(call));
  facts.callOp.push(facts.kind.length);
  for (let index = first; index < first + count; index++) {
    facts.args.push(value(facts.args.get(index)));
    facts.argStart.push(facts.argStart.get(index));
    facts.argEnd.push(facts.argEnd.get(index));
  }
  return facts.callEnd.push(facts.callEnd.get(call));
}

function copySeed(seed: TokenSeed, value: (id: ValueId) => ValueId, inside: (id: FunctionId) => FunctionId): TokenSeed {
  if (seed.kind === 'global') return seed;
  const copy = { value: value(seed.value), fn: inside(seed.fn) };
  if (seed.kind === 'object') return { ...seed, ...copy };
  const guard = seed.guard === null ? null : { ...seed.guard, value: value(seed.guard.value) };
  return { ...seed, ...copy, guard };
}
