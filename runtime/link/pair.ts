/**
 * Reads: the functions that home's servers call for requests, and those that a replica's would, each with where it hangs and
 *        where it stands in the source.
 * Gives: for each of home's, the replica's path to the same function; nothing where it cannot be told which one that is.
 *
 * A replica's start-up may stop short of what home did later (routes added once a database had answered, a server made
 * then). So roots are compared by what hangs below them, and functions only below roots that belong together. What home has
 * mounted somewhere may be a root in the replica, where nobody has mounted it.
 */
import type { RemoteSlot } from '../messages.js';
import type { FunctionPlace } from './reflect.js';

export interface HomeSlot {
  readonly root: string;
  readonly path: string;
  readonly place: FunctionPlace | null;
}

export interface HomeRoot<S> {
  readonly root: string;
  readonly slots: readonly S[];
  readonly things: ReadonlyMap<string, object>;
}

/** What hangs at `prefix` below a root of home's is what the replica has as a root of its own. */
export interface Mount {
  readonly root: string;
  readonly prefix: string;
  readonly remote: string;
}

export interface Pairs<S> {
  /** From home's slots to keys of the replica's: `root path`. */
  readonly slots: ReadonlyMap<S, string>;
  /** From home's roots to the replica's. */
  readonly roots: ReadonlyMap<string, string>;
  readonly mounts: readonly Mount[];
}

/** What apps and routers have as a root. */
const TOP = '0';

export function pairSlots<S extends HomeSlot>(home: readonly HomeRoot<S>[], remote: readonly RemoteSlot[]): Pairs<S> {
  const pairs = new Map<S, string>();
  const roots = new Map<string, string>();
  const mounts: Mount[] = [];
  const remoteRoots = groupBy(remote, ({ root }) => root);
  const pair = (root: string, prefix: string, slots: readonly S[], known: RemoteRoots): string | null => {
    const below = slots.flatMap((slot) => {
      const path = pathBelow(prefix, slot.path);
      return path === null ? [] : [{ slot, path, place: slot.place }];
    });
    const best = bestRoot(prefix === TOP ? root : null, below, known);
    const found = best?.[0]?.root ?? null;
    if (best === null || found === null) return null;
    mounts.push({ root, prefix, remote: found });
    const byPath = new Map(best.map((slot) => [slot.path, slot]));
    for (const { slot, path } of below) {
      const other = byPath.get(path);
      if (other !== undefined && isSamePlace(slot.place, other.place)) pairs.set(slot, remoteKey(other));
    }
    return found;
  };
  for (const { root, slots } of home) {
    const found = pair(root, TOP, slots, remoteRoots);
    if (found !== null) roots.set(root, found);
  }
  // A router that home has mounted since, or where a replica's start-up has not come to.
  for (const { root, slots, things } of home) {
    for (const [prefix, thing] of things) {
      if (prefix === TOP || typeof thing !== 'function') continue;
      const missing = slots.filter((slot) => !pairs.has(slot) && pathBelow(prefix, slot.path) !== null);
      const taken = new Set(mounts.map(({ remote }) => remote));
      const free = new Map([...remoteRoots].filter(([name]) => !taken.has(name)));
      if (missing.length > 0) pair(root, prefix, missing, free);
    }
  }
  return { slots: pairs, roots, mounts };
}

/** `0/3/1` is `0/1` below `0/3`; null for what is not below it. */
export function pathBelow(prefix: string, path: string): string | null {
  if (prefix === TOP || path === prefix) return prefix === TOP ? path : TOP;
  return path.startsWith(`${prefix}/`) ? `${TOP}${path.slice(prefix.length)}` : null;
}

/** Of what a function hangs below: all of these are where it is. */
export function pathsAbove(key: string): readonly string[] {
  return [...key.matchAll(/\//g)].map(({ index }) => key.slice(0, index));
}

export function remoteKey({ root, path }: { readonly root: string; readonly path: string }): string {
  return `${root} ${path}`;
}

interface Placed {
  readonly path: string;
  readonly place: FunctionPlace | null;
}

type RemoteRoots = ReadonlyMap<string, readonly RemoteSlot[]>;

/** `name`: of home's root; null for what is mounted below it. */
function bestRoot(name: string | null, slots: readonly Placed[], roots: RemoteRoots): readonly RemoteSlot[] | null {
  const scored = [...roots].map(([root, remote]) => ({ root, remote, score: alike(slots, remote) }));
  const most = Math.max(0, ...scored.map(({ score }) => score));
  const best = scored.filter(({ score }) => score === most && most > 0);
  // The same app behind two servers, or made twice by one function: the order in which servers listen tells them apart.
  // So does the order in which routers were made, mostly; where it does not, what they reach differs, or nobody can tell.
  const chosen = best.length === 1 || name === null ? best[0] : best.find(({ root }) => root === name);
  return chosen?.remote ?? null;
}

function alike(home: readonly Placed[], remote: readonly RemoteSlot[]): number {
  const byPath = new Map(remote.map((slot) => [slot.path, slot.place]));
  return home.filter(({ path, place }) => isSamePlace(place, byPath.get(path) ?? null)).length;
}

function isSamePlace(a: FunctionPlace | null, b: FunctionPlace | null): boolean {
  return a !== null && b !== null && a.url === b.url && a.line === b.line && a.column === b.column;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
