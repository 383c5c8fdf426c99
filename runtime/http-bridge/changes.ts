/**
 * Reads:   what the app put on a stand-in, before and after a handler had it.
 * Gives:   what was changed, by the path to it; and those changes made to home's own objects, which keep their identity.
 * Reports: CannotTravel for a new value that cannot travel.
 */
import { isDeepStrictEqual, types } from 'node:util';
import { CannotTravel, type Encoder, isCarried, type Refs } from '../codec.js';
import { isShared } from '../link/shared-objects.js';
import { ALL_ENTRIES, entryKey, entryNamed, keyNamed, shown } from './keys.js';
import { isLocals } from './locals.js';
import type { ObjectChanges } from './messages.js';

/** Names of properties, one below the other; `keys.ts` has those of symbols. */
export type Path = readonly string[];

/** A value as it was: primitives are themselves. */
export type Snapshot = { readonly value: unknown; readonly inside: Inside | null };

type Inside =
  /** Of a Map, all of whose keys are texts. */
  | { readonly kind: 'entries'; readonly of: ReadonlyMap<string, Snapshot> }
  | Properties
  | { readonly kind: 'copy'; readonly copy: unknown }
  /** Of what can only be changed where it is: what it is as a text. */
  | { readonly kind: 'text'; readonly text: string };

interface Properties extends Outline {
  readonly kind: 'properties';
  readonly of: ReadonlyMap<string, Snapshot>;
}

interface Outline {
  readonly prototype: object | null;
  readonly isExtensible: boolean;
  /** How many names are not among `of`. */
  readonly hidden: number;
  readonly symbols: readonly (readonly [symbol, unknown])[];
}

const NO_SYMBOLS: Properties['symbols'] = [];
const ORDINARY = { kind: 'properties', of: new Map(), isExtensible: true, hidden: 0, symbols: NO_SYMBOLS } as const;
const EMPTY: Inside = { ...ORDINARY, prototype: Object.prototype };
const EMPTY_WITHOUT: Inside = { ...ORDINARY, prototype: null };

export function takeSnapshot(value: unknown): Snapshot {
  return isHolder(value) ? snapshotOf(value, new Map()) : { value, inside: null };
}

function snapshotOf(value: unknown, seen: Map<object, Snapshot>): Snapshot {
  if (!isHolder(value) || isShared(value)) return { value, inside: null };
  const known = seen.get(value);
  if (known !== undefined) return known;
  if (hasTextKeys(value)) {
    const of = new Map<string, Snapshot>();
    const snapshot: Snapshot = { value, inside: { kind: 'entries', of } };
    seen.set(value, snapshot);
    for (const [key, item] of value) of.set(key, snapshotOf(item, seen));
    return snapshot;
  }
  if (!hasPlainProperties(value)) return { value, inside: textOf(value) ?? copyOf(value) };
  const keys = keysOf(value);
  // Most locals, queries and parameters are empty.
  const empty = keys.length === 0 ? emptyOf(value) : null;
  if (empty !== null) return { value, inside: empty };
  const of = new Map<string, Snapshot>();
  const snapshot: Snapshot = {
    value,
    inside: { kind: 'properties', of, ...outlineOf(value, isPlain(value) ? null : keys.length) },
  };
  seen.set(value, snapshot);
  for (const key of keys) of.set(key, snapshotOf(Reflect.get(value, key), seen));
  return snapshot;
}

function emptyOf(value: object): Inside | null {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return null;
  if (!Object.isExtensible(value) || Object.getOwnPropertySymbols(value).length > 0) return null;
  return prototype === null ? EMPTY_WITHOUT : EMPTY;
}

/** What is not among its properties. `count`: how many these are; null: of a plain object that has just come, which has no others. */
function outlineOf(value: object, count: number | null): Outline {
  const prototype = Object.getPrototypeOf(value) as object | null;
  const symbols = Object.getOwnPropertySymbols(value);
  return {
    prototype,
    isExtensible: Object.isExtensible(value),
    hidden: count === null ? 0 : Object.getOwnPropertyNames(value).length - count,
    symbols: symbols.length === 0 ? NO_SYMBOLS : symbols.map((key) => [key, Reflect.get(value, key)] as const),
  };
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Primitives are none, and functions, except the one that Express 3 keeps its locals in. */
function isHolder(value: unknown): value is object {
  return typeof value === 'function' ? isLocals(value) : typeof value === 'object' && value !== null;
}

function hasPlainProperties(value: object): boolean {
  if (typeof value === 'function' || types.isNativeError(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Array.isArray(value) || isCarried(value);
}

function hasTextKeys(value: object): value is Map<string, unknown> {
  if (!types.isMap(value) || Object.getPrototypeOf(value) !== Map.prototype) return false;
  for (const key of value.keys()) if (typeof key !== 'string') return false;
  return Object.keys(value).length === 0;
}

/** Is each change of it one of something that it holds, under a name? */
export function isChangedWithin(value: unknown): boolean {
  return typeof value !== 'object' || value === null || hasTextKeys(value) || !isWhole(value);
}

/** It is compared as a whole. */
function isWhole(value: object): boolean {
  return types.isMap(value) || copyOf(value) !== null;
}

/** The message of an error is hidden, and so is its stack, but both can be changed. */
function keysOf(value: object): readonly string[] {
  return types.isNativeError(value) ? Object.getOwnPropertyNames(value) : Object.keys(value);
}

function textOf(value: object): Inside | null {
  const isUrl = value instanceof URL || value instanceof URLSearchParams;
  return isUrl ? { kind: 'text', text: String(value) } : null;
}

/** What has no state that clone could see is compared by identity. */
function copyOf(value: object): Inside | null {
  const isData =
    types.isMap(value) || types.isSet(value) || types.isDate(value) || types.isRegExp(value) || isBytes(value);
  if (!isData) return null;
  try {
    const copy: unknown = structuredClone(value);
    if (copy instanceof Uint8Array) Object.setPrototypeOf(copy, Object.getPrototypeOf(value));
    return { kind: 'copy', copy };
  } catch {
    return null;
  }
}

function isBytes(value: object): boolean {
  return ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value);
}

export class ChangeList {
  readonly paths: Path[] = [];
  readonly values: unknown[] = [];
  readonly removed: Path[] = [];

  /** `lose` is told of what cannot travel; it may throw. `real` is home's own object, where both sides are one loop. */
  constructor(
    readonly encoder: Encoder,
    readonly name: string,
    readonly lose: (error: CannotTravel) => void,
    readonly real: object | null,
    /** Who comes next looks at what the handler had. */
    readonly goesOn: boolean,
  ) {}

  get changes(): ObjectChanges | null {
    if (this.paths.length === 0 && this.removed.length === 0) return null;
    return { paths: this.paths, values: this.values, removed: this.removed };
  }

  set(path: Path, value: unknown): void {
    const at = this.values.length;
    try {
      if (this.name === 'stores' && path.length === 1) throw new CannotTravel('the context', 'another took its place');
      this.encoder.put(this.values, at, value, `${this.name}.${path.map(shown).join('.')}`);
      this.paths.push(path);
    } catch (error) {
      this.values.length = at;
      if (!(error instanceof CannotTravel)) throw error;
      if (this.real === null) this.lose(error);
      else putAt(this.real, path, value, this.encoder.refs);
    }
  }

  remove(path: Path): void {
    this.removed.push(path);
  }

  /** What was given is looked at wherever it is now: home has it still. */
  compare(path: Path, value: unknown, before: Snapshot, seen = new Set<object>()): void {
    const { value: old, inside } = before;
    if (!Object.is(value, old)) this.set(path, value);
    else if (inside?.kind === 'copy' && !isDeepStrictEqual(old, inside.copy)) this.set(path, old);
    this.contents(path, before, seen);
  }

  contents(path: Path, { value, inside }: Snapshot, seen = new Set<object>()): void {
    if (inside?.kind === 'text' && this.goesOn && String(value) !== inside.text)
      this.#lose(path, 'it was changed where it is');
    if (inside?.kind === 'entries' && types.isMap(value) && !seen.has(value)) {
      seen.add(value);
      this.#compareEntries(path, value, inside.of, seen);
      return;
    }
    if (inside?.kind !== 'properties' || !isHolder(value) || seen.has(value)) return;
    seen.add(value);
    if (this.goesOn) this.#compareOutline(path, value, inside);
    else if (!hasPlainProperties(value)) return;
    this.#compareProperties(path, value, inside.of, seen);
  }

  /** Nothing of this can be told home: the handler runs there then. */
  #compareOutline(path: Path, value: object, before: Properties): void {
    const keys = keysOf(value);
    const now = outlineOf(value, keys.length);
    if (now.prototype !== before.prototype) this.#lose(path, 'its prototype was changed');
    if (now.isExtensible !== before.isExtensible) this.#lose(path, 'it was frozen');
    if (now.hidden !== before.hidden) this.#lose(path, 'it has properties that are hidden');
    const isSame = ([key, item]: readonly [symbol, unknown], at: number): boolean =>
      before.symbols[at]?.[0] === key && Object.is(before.symbols[at]?.[1], item);
    if (now.symbols.length !== before.symbols.length || !now.symbols.every(isSame))
      this.#lose(path, 'it has other properties that are named by symbols');
    if (before.of.size > 0 && !isInOrder(keys, before.of)) this.#lose(path, 'its properties are in another order');
  }

  #lose(path: Path, why: string): void {
    if (this.real === null) this.lose(new CannotTravel(`${this.name}.${path.map(shown).join('.')}`, why));
  }

  /** Entries are in the order in which they came, so one that is there again, behind others, is a new one. */
  #compareEntries(
    path: Path,
    map: Map<unknown, unknown>,
    before: ReadonlyMap<string, Snapshot>,
    seen: Set<object>,
  ): void {
    if (!hasTextKeys(map)) {
      for (const [key, old] of before) this.contents([...path, entryNamed(key)], old, seen);
      // Another one, as by its own name home would find what it has.
      return this.set([...path, ALL_ENTRIES], new Map(map));
    }
    const kept = [...before.keys()].filter((key) => map.has(key));
    const now = [...map.keys()];
    const isInOrder = kept.every((key, at) => now[at] === key);
    for (const [key, old] of before) {
      const to = [...path, entryNamed(key)];
      if (!isInOrder || !map.has(key)) this.remove(to);
      if (isInOrder && map.has(key)) this.compare(to, map.get(key), old, seen);
      else this.contents(to, old, seen);
    }
    for (const [key, value] of map) if (!isInOrder || !before.has(key)) this.set([...path, entryNamed(key)], value);
  }

  #compareProperties(path: Path, holder: object, before: ReadonlyMap<string, Snapshot>, seen: Set<object>): void {
    let left = before.size;
    for (const key of keysOf(holder)) {
      const old = before.get(key);
      const item: unknown = Reflect.get(holder, key);
      if (old === undefined) this.#setNew([...path, key], holder, key, item);
      else {
        left--;
        if (old.inside !== null || !Object.is(old.value, item)) this.compare([...path, key], item, old, seen);
      }
    }
    if (left > 0) this.#findRemoved(path, holder, before, seen);
    // Holes at the end are no properties.
    if (Array.isArray(holder) && holder.length < before.size) this.set([...path, 'length'], holder.length);
  }

  #setNew(path: Path, holder: object, key: string, item: unknown): void {
    const { get, writable, configurable } = Object.getOwnPropertyDescriptor(holder, key) ?? {};
    const isFrozen = writable === false || configurable === false;
    if (this.goesOn && (get !== undefined || (isFrozen && Object.isExtensible(holder))))
      this.#lose(path, get === undefined ? 'it is read-only' : 'it is an accessor');
    this.set(path, item);
  }

  #findRemoved(path: Path, holder: object, before: ReadonlyMap<string, Snapshot>, seen: Set<object>): void {
    for (const [key, old] of before) {
      if (Object.hasOwn(holder, key)) continue;
      this.remove([...path, key]);
      this.contents([...path, key], old, seen);
    }
  }
}

/** Home sets what is new behind what it has. What is there again came behind that. */
function isInOrder(keys: readonly string[], before: ReadonlyMap<string, unknown>): boolean {
  const order = before.keys();
  let hasNew = false;
  for (const key of keys) {
    if (INDEX.test(key)) continue;
    if (!before.has(key)) {
      hasNew = true;
      continue;
    }
    if (hasNew) return false;
    let next = order.next();
    while (next.done !== true && next.value !== key) next = order.next();
    if (next.done === true) return false;
  }
  return true;
}

const INDEX = /^\d+$/;

/** By what path home finds an object that it has given. */
export function indexPaths(path: Path, { value, inside }: Snapshot, into: Map<object, Path>): void {
  if (!isHolder(value) || into.has(value)) return;
  // Of what is compared as a whole home may have to be given a new one.
  if (inside?.kind === 'copy' && !isDeepStrictEqual(value, inside.copy)) return;
  into.set(value, path);
  if (inside?.kind === 'entries')
    for (const [key, item] of inside.of) indexPaths([...path, entryNamed(key)], item, into);
  if (inside?.kind !== 'properties') return;
  for (const [key, item] of inside.of) indexPaths([...path, key], item, into);
}

/**
 * Where home has changed something itself meanwhile, so that a path leads nowhere, there is nothing to change. Paths are
 * those of before: what is moved is found first.
 */
export function applyChanges(target: object, changes: ObjectChanges, refs: Refs): void {
  const holders = changes.paths.map((path) => holderOf(target, path, refs));
  const losers = changes.removed.map((path) => holderOf(target, path, refs));
  for (const [at, path] of changes.removed.entries()) {
    const holder = losers[at] ?? null;
    if (holder !== null) removeAt(holder, path.at(-1) ?? '', refs);
  }
  for (const [at, path] of changes.paths.entries()) {
    const holder = holders[at] ?? null;
    if (holder !== null) assign(holder, path.at(-1) ?? '', changes.values[at], refs);
  }
}

function putAt(target: object, path: Path, value: unknown, refs: Refs): void {
  const holder = holderOf(target, path, refs);
  if (holder !== null && path.length > 0) assign(holder, path.at(-1) ?? '', value, refs);
}

/** What a path leads to. */
export function valueAt(target: object, path: Path, refs: Refs): unknown {
  const holder = holderOf(target, path, refs);
  return holder === null ? undefined : readAt(holder, path.at(-1) ?? '', refs);
}

function readAt(holder: object, name: string, refs: Refs): unknown {
  const key = entryKey(name);
  if (key === null) return Reflect.get(holder, keyNamed(name, refs));
  return types.isMap(holder) ? holder.get(key) : undefined;
}

function removeAt(holder: object, name: string, refs: Refs): void {
  const key = entryKey(name);
  if (key === null) Reflect.deleteProperty(holder, keyNamed(name, refs));
  else if (types.isMap(holder)) holder.delete(key);
}

function holderOf(target: object, path: Path, refs: Refs): object | null {
  let at = target;
  for (let depth = 0; depth < path.length - 1; depth++) {
    const next = readAt(at, path[depth] ?? '', refs);
    if (!isHolder(next)) return null;
    at = next;
  }
  return at;
}

/** It stays the same Map. */
function refill(holder: object, value: unknown): void {
  if (!types.isMap(holder) || !types.isMap(value)) return;
  holder.clear();
  for (const [key, item] of value) holder.set(key, item);
}

function assign(holder: object, name: string, value: unknown, refs: Refs): void {
  if (name === ALL_ENTRIES) return refill(holder, value);
  const entry = entryKey(name);
  if (entry !== null) {
    if (types.isMap(holder)) holder.set(entry, value);
    return;
  }
  const key = keyNamed(name, refs);
  if (key !== '__proto__') Reflect.set(holder, key, value);
  else Object.defineProperty(holder, key, { value, enumerable: true, writable: true, configurable: true });
}
