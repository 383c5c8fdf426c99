/**
 * Reads: what a server of home's calls, and what a replica has in these places.
 * Gives: what home's functions and apps reach, and which of them have to run at home, in whatever replica; for one replica, which of
 *        them have to run at home if it serves connections. Null where it cannot serve any.
 */
import type { LinkManifest, StartManifest } from '../../flx/run-manifest.js';
import { reachedByApp } from '../link/app-reach.js';
import { findDifference, makeReach, type Reached } from '../link/compare.js';
import { frontPrefix } from '../link/fronts.js';
import { type LinkedServer, type LinkedSlot, slotText } from '../link/link-home.js';
import { remoteKey } from '../link/pair.js';
import { Reflector } from '../link/reflect.js';
import { WholeReach } from '../link/whole.js';
import type { ReadyReplica } from '../replicas.js';
import { Meets, type Stay } from './meets.js';

export interface Whole {
  /** What may run anywhere. */
  readonly slots: ReadonlyMap<LinkedSlot, Reached>;
  /** Those of them that call functions of the app which speak to others. */
  readonly speaking: ReadonlySet<LinkedSlot>;
  /** With how the addresses begin that they answer; null: all that come to them. */
  readonly stays: ReadonlyMap<LinkedSlot, string | null>;
  /** By path. */
  readonly apps: ReadonlyMap<string, Reached>;
}

/** A text where nobody but home can serve anything. */
export function findWhole(linked: LinkedServer, start: StartManifest, link: LinkManifest): Whole | string {
  if (linked.slots.length === 0) return 'it calls nothing that is known';
  const reflector = new Reflector();
  try {
    const reach = makeReach(reflector, start, link, linked.things.values());
    const whole = new WholeReach(reflector, start, link, reach);
    const slots = new Map<LinkedSlot, Reached>();
    const speaking = new Set<LinkedSlot>();
    const stays = new Map<LinkedSlot, string | null>();
    for (const slot of linked.slots) {
      const { fn, place, fluxion, own } = slot;
      const found = fluxion === null ? null : { fluxion, fn: own };
      const reached = place === null ? null : whole.ofSlot(fn, place, found);
      if (reached === null) stays.set(slot, frontPrefix(fn, place, reflector));
      else {
        slots.set(slot, reached.reached);
        if (reached.speaks) speaking.add(slot);
      }
    }
    const why = whyNobodyElse(linked, stays, link);
    if (why !== null) return why;
    const apps = new Map<string, Reached>();
    const ofApps = makeReach(reflector, start, link, linked.things.values());
    for (const [path, thing] of linked.things) {
      const reached = reachedByApp(thing, ofApps);
      if (reached !== null) apps.set(path, reached);
    }
    return { slots, speaking, stays, apps };
  } finally {
    reflector.close();
  }
}

/** Null where others may serve what does not come to these. */
function whyNobodyElse(linked: LinkedServer, stays: Whole['stays'], link: LinkManifest): string | null {
  if (stays.size === 0) return null;
  const hasOther = linked.slots.some((slot) => slot.fluxion !== null && !stays.has(slot));
  const isEverywhere = ([{ path }, prefix]: readonly [LinkedSlot, string | null]): boolean =>
    !hasOther || new Meets(linked, [{ path, prefix }]).isAlways;
  const [everywhere] = [...stays].find(isEverywhere) ?? [];
  if (everywhere !== undefined) return `${slotText(everywhere)} has to run there`;
  if (link.touches.routing !== null) return `${link.touches.routing} may change where a request goes`;
  if (link.touches.connections !== null) return `${link.touches.connections} takes hold of connections`;
  return null;
}

interface Pairs {
  readonly slots: ReadonlyMap<LinkedSlot, string>;
  readonly roots: ReadonlyMap<string, string>;
}

export interface Able {
  /** The replica's name of the server. */
  readonly root: string;
  /** Its names of what has to run at home. */
  readonly stays: readonly Stay[];
}

export function findAble(
  linked: LinkedServer,
  whole: Whole,
  found: ReadyReplica,
  pairs: Pairs,
  lacks: (slot: LinkedSlot, speaks: boolean) => boolean,
): Able | null {
  const root = pairs.roots.get(linked.root);
  if (root === undefined || found.slots.filter((slot) => slot.root === root).length !== linked.slots.length)
    return null;
  const apps = new Map(found.apps.filter((app) => app.root === root).map((app) => [app.path, app.reached]));
  for (const [path, here] of whole.apps) {
    const there = apps.get(path);
    if (there === undefined || findDifference(here, there) !== null) return null;
  }
  const remote = new Map(found.slots.map((slot) => [remoteKey(slot), slot]));
  const stays: Stay[] = [];
  for (const slot of linked.slots) {
    const there = remote.get(pairs.slots.get(slot) ?? '');
    if (there === undefined || there.root !== root) return null;
    const here = whole.slots.get(slot);
    const isSame = here !== undefined && there.whole !== null && findDifference(here, there.whole) === null;
    if (!isSame || lacks(slot, whole.speaking.has(slot)))
      stays.push({ path: there.path, prefix: whole.stays.get(slot) ?? null });
  }
  return { root, stays };
}
