/**
 * Reads:   what the app put on a stand-in, before and after a handler had it.
 * Gives:   what was changed, by the path to it; and those changes made to home's own objects, which keep their identity.
 * Reports: CannotTravel for a new value that cannot travel.
 */
import { isDeepStrictEqual, types } from 'node:util';
import { CannotTravel, type Encoder } from '../codec.js';
import { isLocals } from './locals.js';
import type { ObjectChanges } from './messages.js';

type Path = readonly string[];

/** A value as it was: primitives are themselves. */
type Snapshot = { readonly value: unknown; readonly inside: Inside | null };

type Inside =
  | { readonly kind: 'properties'; readonly of: ReadonlyMap<string, Snapshot> }
  | { readonly kind: 'copy'; readonly copy: unknown };

const EMPTY: Inside = { kind: 'properties', of: new Map() };

export function takeSnapshot(value: unknown): Snapshot {
  return isHolder(value) ? snapshotOf(value, new Map()) : { value, inside: null };
}

function snapshotOf(value: unknown, seen: Map<object, Snapshot>): Snapshot {
  if (!isHolder(value)) return { value, inside: null };
  const known = seen.get(value);
  if (known !== undefined) return known;
  if (!hasPlainProperties(value)) return { value, inside: copyOf(value) };
  const keys = Object.keys(value);
  // Most locals, queries and parameters are empty.
  if (keys.length === 0) return { value, inside: EMPTY };
  const of = new Map<string, Snapshot>();
  const snapshot: Snapshot = { value, inside: { kind: 'properties', of } };
  seen.set(value, snapshot);
  for (const key of keys) of.set(key, snapshotOf(Reflect.get(value, key), seen));
  return snapshot;
}

/** Primitives are none, and functions, except the one that Express 3 keeps its locals in. */
function isHolder(value: unknown): value is object {
  return typeof value === 'function' ? isLocals(value) : typeof value === 'object' && value !== null;
}

function hasPlainProperties(value: object): boolean {
  if (typeof value === 'function') return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Array.isArray(value);
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
  ) {}

  get changes(): ObjectChanges | null {
    if (this.paths.length === 0 && this.removed.length === 0) return null;
    return { paths: this.paths, values: this.values, removed: this.removed };
  }

  set(path: Path, value: unknown): void {
    const at = this.values.length;
    try {
      this.encoder.put(this.values, at, value, `${this.name}.${path.join('.')}`);
      this.paths.push(path);
    } catch (error) {
      this.values.length = at;
      if (!(error instanceof CannotTravel)) throw error;
      // A function may have this loop's own request or response in its variables: these are not home's.
      if (this.real === null || typeof value === 'function') this.lose(error);
      else putAt(this.real, path, value);
    }
  }

  remove(path: Path): void {
    this.removed.push(path);
  }

  compare(path: Path, value: unknown, before: Snapshot, seen = new Set<object>()): void {
    if (!Object.is(value, before.value)) return this.set(path, value);
    if (!isHolder(value) || before.inside === null || seen.has(value)) return;
    seen.add(value);
    if (before.inside.kind === 'copy') {
      if (!isDeepStrictEqual(value, before.inside.copy)) this.set(path, value);
      return;
    }
    if (!hasPlainProperties(value)) throw new CannotTravel(path.join('.'), 'its prototype was changed');
    this.#compareProperties(path, value, before.inside.of, seen);
  }

  #compareProperties(path: Path, value: object, before: ReadonlyMap<string, Snapshot>, seen: Set<object>): void {
    let left = before.size;
    for (const key of Object.keys(value)) {
      const old = before.get(key);
      const item: unknown = Reflect.get(value, key);
      if (old === undefined) this.set([...path, key], item);
      else {
        left--;
        if (old.inside !== null || !Object.is(old.value, item)) this.compare([...path, key], item, old, seen);
      }
    }
    if (left > 0) for (const key of before.keys()) if (!Object.hasOwn(value, key)) this.remove([...path, key]);
    // Holes at the end are no properties.
    if (Array.isArray(value) && value.length < before.size) this.set([...path, 'length'], value.length);
  }
}

/** Where home has changed something itself meanwhile, so that a path leads nowhere, there is nothing to change. */
export function applyChanges(target: object, changes: ObjectChanges): void {
  for (const path of changes.removed) {
    const holder = holderOf(target, path);
    if (holder !== null) Reflect.deleteProperty(holder, path.at(-1) ?? '');
  }
  for (const [at, path] of changes.paths.entries()) putAt(target, path, changes.values[at]);
}

function putAt(target: object, path: Path, value: unknown): void {
  const holder = holderOf(target, path);
  const key = path.at(-1);
  if (holder !== null && key !== undefined) assign(holder, key, value);
}

function holderOf(target: object, path: Path): object | null {
  let at = target;
  for (let depth = 0; depth < path.length - 1; depth++) {
    const next: unknown = Reflect.get(at, path[depth] ?? '');
    if (!isHolder(next)) return null;
    at = next;
  }
  return at;
}

function assign(holder: object, key: string, value: unknown): void {
  if (key !== '__proto__') Reflect.set(holder, key, value);
  else Object.defineProperty(holder, key, { value, enumerable: true, writable: true, configurable: true });
}
