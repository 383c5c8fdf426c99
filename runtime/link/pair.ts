/**
 * Reads: the functions that home's servers call for requests, and those that a replica's would, each with where it hangs and
 *        where it stands in the source.
 * Gives: for each of home's, the replica's path to the same function; nothing where it cannot be told which one that is.
 *
 * A replica's start-up may stop short of what home did later (routes added once a database had answered, a server made
 * then). So roots are compared by what hangs below them, and functions only below roots that belong together.
 */
import type { RemoteSlot } from '../messages.js';
import type { FunctionPlace } from './reflect.js';

export interface HomeSlot {
  readonly root: string;
  readonly path: string;
  readonly place: FunctionPlace | null;
}

export interface Pairs<S> {
  /** From home's slots to keys of the replica's: `root path`. */
  readonly slots: ReadonlyMap<S, string>;
  /** From home's roots to the replica's. */
  readonly roots: ReadonlyMap<string, string>;
}

export function pairSlots<S extends HomeSlot>(home: readonly S[], remote: readonly RemoteSlot[]): Pairs<S> {
  const pairs = new Map<S, string>();
  const roots = new Map<string, string>();
  const remoteRoots = groupBy(remote, ({ root }) => root);
  for (const [name, slots] of groupBy(home, ({ root }) => root)) {
    const best = bestRoot(name, slots, remoteRoots);
    if (best === null) continue;
    roots.set(name, best[0]?.root ?? '');
    const byPath = new Map(best.map((slot) => [slot.path, slot]));
    for (const slot of slots) {
      const other = byPath.get(slot.path);
      if (other !== undefined && isSamePlace(slot.place, other.place)) pairs.set(slot, remoteKey(other));
    }
  }
  return { slots: pairs, roots };
}

export function remoteKey({ root, path }: { readonly root: string; readonly path: string }): string {
  return `${root} ${path}`;
}

function bestRoot(
  name: string,
  slots: readonly HomeSlot[],
  roots: ReadonlyMap<string, readonly RemoteSlot[]>,
): readonly RemoteSlot[] | null {
  const scored = [...roots].map(([root, remote]) => ({ root, remote, score: alike(slots, remote) }));
  const most = Math.max(0, ...scored.map(({ score }) => score));
  const best = scored.filter(({ score }) => score === most && most > 0);
  // The same app behind two servers, or made twice by one function: the order in which servers listen tells them apart.
  const chosen = best.length === 1 ? best[0] : best.find(({ root }) => root === name);
  return chosen?.remote ?? null;
}

function alike(home: readonly HomeSlot[], remote: readonly RemoteSlot[]): number {
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
