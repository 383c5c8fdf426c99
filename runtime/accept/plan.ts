/**
 * Decides which replicas accept connections themselves, and when.
 *
 *     all that a server calls may run anywhere ──> home has no time left ──> replicas ──> those that are as home is accept too
 *                                                    heavy handlers, a change of routes or settings, a module nobody read ──> home
 *
 * A handler that computes for long is better sent to a loop that has time than left where its connection happens to be, so
 * where there is one home accepts alone; unless all loops were asked for (`--accept every`).
 */
import type http from 'node:http';
import { performance } from 'node:perf_hooks';
import timers from 'node:timers';
import type { LinkManifest, StartManifest } from '../../flx/run-manifest.js';
import { findDifference, makeReach, type Reached } from '../link/compare.js';
import type { LinkedServer, LinkedSlot } from '../link/link-home.js';
import { remoteKey } from '../link/pair.js';
import { Reflector } from '../link/reflect.js';
import { layersOf } from '../link/routers.js';
import { WholeReach } from '../link/whole.js';
import type { Log } from '../log.js';
import type { ToHome } from '../messages.js';
import type { ReadyReplica, Replica } from '../replicas.js';
import { HomeAccept } from './home-accept.js';

const { setInterval } = timers;

export type AcceptMode = 'auto' | 'home' | 'every';

export interface AcceptOptions {
  readonly mode: Exclude<AcceptMode, 'home'>;
  /** As the running app has been heard to say by then. */
  manifests(): { readonly start: StartManifest; readonly link: LinkManifest };
  readonly log: Log;
  /** Replicas are of use. */
  wanted(): void;
  /** A handler is known to compute for long. */
  hasHeavy(): boolean;
  /** It is being found out whether one does. */
  isTrying(): boolean;
}

const LOOK_EVERY_MS = 100;
const BUSY = 0.85;
/** In a row. Replicas take a while to start. */
const LOOKS_UNTIL_WANTED = 2;
const LOOKS = 5;
/** A handler that computes for long is found out by its first runs, or by a trial, which is waited for, but not for ever. */
const LOOKS_WITH_TRIAL = 25;

interface Served {
  readonly linked: LinkedServer;
  readonly accept: HomeAccept;
  /** What home's slots and apps reach; null where something has to run at home. */
  readonly whole: Whole | null;
  readonly print: string;
}

interface Whole {
  readonly slots: ReadonlyMap<LinkedSlot, Reached>;
  /** By path. */
  readonly apps: ReadonlyMap<string, Reached>;
}

export class AcceptPlan {
  readonly #options: AcceptOptions;
  readonly #served: Served[] = [];
  /** Of each replica, its own names of those servers that it can serve alone. */
  readonly #able = new Map<Replica, ReadonlyMap<Served, string>>();
  /** They are to end, and serve no connections meanwhile. */
  readonly #leaving = new Set<Replica>();
  #utilisation = performance.eventLoopUtilization();
  #busyLooks = 0;
  /** Home has no time left. */
  #hasDecided = false;
  #isOver = false;
  #isLooking = false;

  constructor(options: AcceptOptions) {
    this.#options = options;
  }

  addServer(server: http.Server, linked: LinkedServer): void {
    const accept = new HomeAccept(server, linked.root, this.#options.log);
    const whole = this.#isOver || !accept.isPossible ? null : this.#wholeOf(linked);
    this.#served.push({ linked, accept, whole, print: printOf(linked) });
    if (whole === null) return;
    if (this.#options.mode === 'every') this.#options.wanted();
    if (this.#isLooking) return;
    this.#isLooking = true;
    setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  /** `slots`: of home's, by the replica's key; `roots`: the replica's names of home's servers. */
  started(
    replica: Replica,
    found: ReadyReplica,
    pairs: { readonly slots: ReadonlyMap<LinkedSlot, string>; readonly roots: ReadonlyMap<string, string> },
    lacks: (slot: LinkedSlot) => boolean,
  ): void {
    const remote = new Map(found.slots.map((slot) => [remoteKey(slot), slot.whole]));
    const able = new Map<Served, string>();
    for (const served of this.#served) {
      const root = pairs.roots.get(served.linked.root);
      if (served.whole === null || root === undefined) continue;
      const isSame = [...served.whole.slots].every(([slot, here]) => {
        const there = remote.get(pairs.slots.get(slot) ?? '') ?? null;
        return there !== null && !lacks(slot) && findDifference(here, there) === null;
      });
      const apps = new Map(found.apps.filter((app) => app.root === root).map((app) => [app.path, app.reached]));
      const areAppsSame = [...served.whole.apps].every(([path, here]) => {
        const there = apps.get(path);
        return there !== undefined && findDifference(here, there) === null;
      });
      const count = found.slots.filter((slot) => slot.root === root).length;
      if (isSame && areAppsSame && count === served.whole.slots.size) able.set(served, root);
      else this.#options.log.debug(`${replica.id} cannot serve ${served.linked.root} by itself`);
    }
    this.#able.set(replica, able);
    if (this.#isOn()) this.#turnOn();
  }

  received(replica: Replica, message: Extract<ToHome, { kind: 'accepts' }>): void {
    this.#served.find(({ linked }) => linked.root === message.home)?.accept.received(replica, message);
  }

  /** True when it serves nothing any more; until then it is asked again. */
  leaves(replica: Replica): boolean {
    if (!this.#leaving.has(replica)) {
      this.#leaving.add(replica);
      for (const { accept } of this.#served) accept.takeFrom(replica);
    }
    return !this.#served.some(({ accept }) => accept.serves(replica));
  }

  /** It does not end after all. */
  stays(replica: Replica): void {
    this.#leaving.delete(replica);
  }

  gone(replica: Replica): void {
    this.#able.delete(replica);
    this.#leaving.delete(replica);
    for (const { accept } of this.#served) accept.gone(replica);
  }

  /** Requests that this replica has answered by itself. */
  requestsOf(replica: Replica): number {
    return this.#served.reduce((sum, { accept }) => sum + accept.requestsOf(replica), 0);
  }

  /** Something has changed that replicas cannot know of: for good. What they have begun they end. */
  end(): void {
    this.#isOver = true;
    for (const { accept } of this.#served) accept.turnOff('give-back');
  }

  // --- when ---------------------------------------------------------------------------------------------------------------

  #isOn(): boolean {
    if (this.#isOver) return false;
    return this.#options.mode === 'every' || (this.#hasDecided && !this.#options.hasHeavy());
  }

  #look(): void {
    if (this.#isOver) return;
    if (this.#served.some(({ linked, print }) => printOf(linked) !== print)) {
      this.#options.log.info('routes or settings have changed since the app was linked: the main thread accepts alone');
      return this.end();
    }
    // Once on, it stays on: home has time again because others accept.
    if (!this.#hasDecided) this.#decide();
    if (this.#options.mode === 'auto' && this.#options.hasHeavy()) {
      for (const { accept } of this.#served) if (accept.isOn) accept.turnOff('give-back');
    } else if (this.#isOn()) {
      this.#turnOn();
      for (const { accept } of this.#served) accept.moveIdle();
    }
  }

  #decide(): void {
    const { utilization } = performance.eventLoopUtilization(this.#utilisation);
    this.#utilisation = performance.eventLoopUtilization();
    this.#busyLooks = utilization >= BUSY ? this.#busyLooks + 1 : 0;
    if (this.#busyLooks >= LOOKS_UNTIL_WANTED && this.#served.some(({ whole }) => whole !== null)) {
      this.#options.wanted();
    }
    this.#hasDecided = this.#busyLooks >= (this.#options.isTrying() ? LOOKS_WITH_TRIAL : LOOKS);
  }

  #turnOn(): void {
    this.#options.wanted();
    for (const [replica, able] of this.#able) {
      if (this.#leaving.has(replica)) continue;
      for (const [{ accept }, root] of able) {
        accept.turnOn(replica, root).catch((error: unknown) => {
          this.#options.log.info(`${replica.id} cannot accept connections: ${String(error)}`);
        });
      }
    }
  }

  // --- what home reaches ------------------------------------------------------------------------------------------------------

  #wholeOf(linked: LinkedServer): Whole | null {
    const { log } = this.#options;
    const { start, link } = this.#options.manifests();
    const reflector = new Reflector();
    const whole = new WholeReach(reflector, start, link, makeReach(reflector, start, link));
    const slots = new Map<LinkedSlot, Reached>();
    let obstacle: LinkedSlot | null = null;
    for (const slot of linked.slots) {
      const { fn, place, fluxion, own } = slot;
      const found = fluxion === null ? null : { fluxion, fn: own };
      const reached = place === null ? null : whole.ofSlot(fn, place, found);
      if (reached === null) {
        obstacle = slot;
        break;
      }
      slots.set(slot, reached);
    }
    const apps = new Map<string, Reached>();
    for (const [path, thing] of obstacle === null ? linked.things : []) {
      const reached = whole.ofApp(thing);
      if (reached !== null) apps.set(path, reached);
    }
    reflector.close();
    if (obstacle === null) return linked.slots.length === 0 ? null : { slots, apps };
    log.debug(`${linked.root}: the main thread accepts alone, as "${obstacle.fn.name}" has to run there`);
    return null;
  }
}

/** Changes with the routes and the settings of all apps. */
function printOf({ things }: LinkedServer): string {
  return [...things.values()].map((thing) => `${layersOf(thing)} ${settingsPrint(thing)}`).join();
}

const numbers = new WeakMap<object, number>();
let last = 0;

function settingsPrint(app: object): string {
  const settings: unknown = Reflect.get(app, 'settings');
  const locals: unknown = Reflect.get(app, 'locals');
  if (typeof settings !== 'object' || settings === null) return '';
  return [settings, locals].map((each) => (typeof each === 'object' && each !== null ? valuesPrint(each) : '')).join();
}

/** Objects count as themselves. */
function valuesPrint(values: object): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${typeof value === 'object' && value !== null ? numberOf(value) : String(value)}`)
    .join();
}

function numberOf(value: object): number {
  let number = numbers.get(value);
  if (number === undefined) numbers.set(value, (number = ++last));
  return number;
}
