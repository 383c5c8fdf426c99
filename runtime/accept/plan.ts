/**
 * Decides which replicas accept connections themselves, and when.
 *
 *     all that a server calls may run anywhere ──> there is more to do than one loop has time for ──> replicas that are as home is accept too
 *                                                    heavy handlers, a change of routes or settings, a module nobody read ──> home
 *
 * A handler that computes for long is better sent to a loop that has time than left where its connection happens to be, so
 * where there is one home accepts alone; unless all loops were asked for (`--accept every`). Home is one of the loops, and the only
 * one whose code is warm: where it can serve all that comes there are as many others as there are other cores.
 */
import type http from 'node:http';
import { performance } from 'node:perf_hooks';
import timers from 'node:timers';
import type { LinkManifest, StartManifest } from '../../flx/run-manifest.js';
import type { LinkedServer, LinkedSlot } from '../link/link-home.js';
import { remoteKey } from '../link/pair.js';
import type { Log } from '../log.js';
import type { ToHome } from '../messages.js';
import type { ReadyReplica, Replica } from '../replicas.js';
import type { AcceptReport } from '../report.js';
import { type Able, findAble, findWhole, type Whole } from './able.js';
import { countLayers, printOf } from './app-print.js';
import { Hold } from './hold.js';
import { HomeAccept } from './home-accept.js';
import { Meets, type Stay } from './meets.js';
import { Worth } from './worth.js';

const { setTimeout } = timers;

export type AcceptMode = 'auto' | 'home' | 'every';

export interface AcceptOptions {
  readonly mode: Exclude<AcceptMode, 'home'>;
  /** As the running app has been heard to say by then. */
  manifests(): { readonly start: StartManifest; readonly link: LinkManifest };
  readonly log: Log;
  /** Looks whether settings have changed that replicas have, and ends all this if they have. */
  mindSettings(): void;
  /** What replicas serve depends on something that is not what it was: what that is. */
  changed(): string | null;
  /** Replicas are of use. */
  wanted(): void;
  /** A handler is known to compute for long. */
  hasHeavy(): boolean;
  /** How many replicas take connections beside home. */
  readonly most: number;
  /** It is being found out whether one does. */
  isTrying(): boolean;
}

/** More seldom where there is next to nothing to do: an app that idles costs no more than it has to. */
const LOOK_EVERY_MS = 100;
const LOOK_IDLE_EVERY_MS = 300;
const IDLE = 0.02;
const BUSY = 0.8;
/** More of them than of others. Replicas take a while to start. */
const LOOKS_UNTIL_WANTED = 2;
const LOOKS = 5;
/** A handler that computes for long is found out by its first runs, or by a trial, which is waited for, but not for ever. */
const LOOKS_WITH_TRIAL = 25;
/** At first: a handler whose code is new to a replica takes long there for some runs. */
const HEAVY_HOLD_MS = 1_000;

interface Served {
  readonly linked: LinkedServer;
  readonly accept: HomeAccept;
  /** What home's slots and apps reach; null where nobody else can serve. */
  readonly whole: Whole | null;
  /** Why; null where others can. */
  readonly why: string | null;
  readonly print: string;
  readonly layers: number;
  readonly worth: Worth;
}

export class AcceptPlan {
  readonly #options: AcceptOptions;
  readonly #served: Served[] = [];
  /** Of each replica, those servers that it can serve, and its own names of what is there. */
  readonly #able = new Map<Replica, ReadonlyMap<Served, Able>>();
  /** They are to end, and serve no connections meanwhile. */
  readonly #leaving = new Set<Replica>();
  #utilisation = performance.eventLoopUtilization();
  #lookedAt = performance.now();
  /** Of each replica, for how long it had been busy at the last look. */
  readonly #busyMs = new Map<Replica, number>();
  #busyLooks = 0;
  /** One loop has no time for all that there is to do. */
  #hasDecided = false;
  /** A handler has been found that computes for long. */
  readonly #heavy = new Hold(HEAVY_HOLD_MS);
  #isOver = false;
  #isLooking = false;

  constructor(options: AcceptOptions) {
    this.#options = options;
  }

  addServer(server: http.Server, linked: LinkedServer): void {
    const { log } = this.#options;
    const accept = new HomeAccept(server, linked.root, log, () => this.#mindChanges());
    const found = this.#isOver ? 'something of the app has changed' : this.#wholeOf(linked, accept);
    const [whole, why] = typeof found === 'string' ? [null, found] : [found, null];
    const stays = [...(whole?.stays ?? [])].map(([{ path }, prefix]): Stay => ({ path, prefix }));
    this.#served.push({
      linked,
      accept,
      whole,
      why,
      print: printOf(linked),
      layers: countLayers(linked),
      worth: new Worth(server, linked.root, linked, stays, log),
    });
    if (whole === null) {
      log.info(`${linked.root}: the main thread accepts alone, as ${why}`);
      return;
    }
    if (this.#options.mode === 'every') this.#options.wanted();
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#lookIn(LOOK_EVERY_MS);
  }

  /** `slots`: of home's, by the replica's key; `roots`: the replica's names of home's servers. */
  started(
    replica: Replica,
    ready: ReadyReplica,
    pairs: { readonly slots: ReadonlyMap<LinkedSlot, string>; readonly roots: ReadonlyMap<string, string> },
    lacks: (slot: LinkedSlot, speaks: boolean) => boolean,
  ): void {
    const able = new Map<Served, Able>();
    for (const served of this.#served) {
      const { linked, whole, accept } = served;
      if (whole === null) continue;
      const found = findAble(linked, whole, ready, pairs, lacks);
      if (found !== null && accept.whyImpossible() === null && !isAlwaysHomes(linked, found, pairs))
        able.set(served, found);
      else this.#options.log.debug(`${replica.id} cannot serve ${linked.root} by itself`);
    }
    this.#able.set(replica, able);
    if (this.#isOn()) this.#turnOn();
  }

  far(replica: Replica, message: Extract<ToHome, { kind: 'far' }>): void {
    this.#served.find(({ linked }) => linked.root === message.home)?.accept.far.received(replica, message);
  }

  received(replica: Replica, message: Extract<ToHome, { kind: 'accepts' }>): void {
    this.#served.find(({ linked }) => linked.root === message.home)?.accept.received(replica, message);
  }

  renewed(replica: Replica, message: Extract<ToHome, { kind: 'renewed' }>): void {
    this.#served.find(({ linked }) => linked.root === message.home)?.accept.renewed(replica, message.number);
  }

  /** Code that nobody foresaw has led a request to what has to run at home. */
  astray(replica: Replica, { what, to, isLost }: Extract<ToHome, { kind: 'astray' }>): void {
    const name = to === '' ? 'a function without a name' : `"${to}"`;
    const text = `${what} came to ${name} on ${replica.id}, which has to run on the main thread`;
    if (isLost) this.#options.log.error(`${text}: its answer is lost; from now on the main thread accepts alone`);
    else this.#options.log.warn(`${text}, and runs there again; from now on the main thread accepts alone`);
    this.end();
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
    this.#busyMs.delete(replica);
    for (const { accept } of this.#served) accept.gone(replica);
  }

  /** Requests that this replica has answered by itself. */
  requestsOf(replica: Replica): number {
    return this.#served.reduce((sum, { accept }) => sum + accept.requestsOf(replica), 0);
  }

  /** For the report. */
  describe(): readonly AcceptReport[] {
    return this.#served.map(({ linked, accept, whole, why, worth }) => ({
      server: linked.root,
      threads: accept.takers,
      alone: this.#isOver ? (why ?? 'something of the app has changed') : (why ?? worth.whyNot),
      main: whole === null ? [] : [...whole.stays.keys()].map(nameOf),
    }));
  }

  /** Something has changed that replicas cannot know of: for good. What they have begun they end. */
  end(): void {
    this.#isOver = true;
    for (const { accept, worth } of this.#served) {
      accept.turnOff('give-back');
      worth.end();
    }
  }

  // --- when ---------------------------------------------------------------------------------------------------------------

  /** All loops take connections, home as well: none has more time than another. */
  get isEven(): boolean {
    return this.#options.mode === 'auto' && !this.#isOver && this.#served.some(({ accept }) => accept.takers > 0);
  }

  /** Replicas would take connections if there were more to do than one loop has time for. */
  get pays(): boolean {
    return !this.#isOver && this.#served.some(({ whole, worth }) => whole !== null && worth.pays);
  }

  /** How many replicas are of use, as long as what they would do is to serve connections beside home. */
  get enough(): number {
    const areBeside = this.#served.some(({ whole }) => whole !== null);
    const serve = areBeside && this.#options.mode === 'auto' && !this.#isOver && !this.#options.hasHeavy();
    return serve ? this.#options.most : Number.POSITIVE_INFINITY;
  }

  #isOn(): boolean {
    if (this.#isOver) return false;
    if (this.#options.mode === 'every') return true;
    return this.#hasDecided && !this.#options.hasHeavy() && !this.#heavy.holds(performance.now());
  }

  #lookIn(ms: number): void {
    setTimeout(() => {
      if (this.#isOver) return;
      const demand = this.#demand();
      this.#look(demand);
      this.#lookIn(demand < IDLE ? LOOK_IDLE_EVERY_MS : LOOK_EVERY_MS);
    }, ms).unref();
  }

  #look(demand: number): void {
    if (this.#served.some(({ linked, print }) => printOf(linked) !== print)) return this.#changed();
    if (this.#able.size > 0) {
      const changed = this.#options.changed();
      if (changed !== null) return this.#changed(changed);
    }
    const paying = this.#mindWorth();
    // Once on, it stays on while it pays: home has time again because others accept.
    if (paying === 0) this.#hasDecided = false;
    if (!this.#hasDecided) this.#decide(demand, paying > 0);
    if (this.#options.mode === 'auto' && this.#options.hasHeavy()) {
      if (!this.isEven) return;
      this.#heavy.begin(performance.now());
      for (const { accept } of this.#served) if (accept.isOn) accept.turnOff('give-back');
      this.#options.log.info('a handler computes for long: the main thread accepts alone for a while');
    } else if (this.#isOn()) {
      for (const { accept } of this.#served) accept.mindServer();
      this.#turnOn();
      for (const { accept } of this.#served) accept.moveIdle();
    }
  }

  /** Of how many servers connections had better be taken by others as well. */
  #mindWorth(): number {
    const now = performance.now();
    const isBusy = this.#hasDecided || this.#busyLooks > 0;
    if (this.#options.mode === 'every') return this.#served.length;
    let paying = 0;
    for (const { whole, accept, worth } of this.#served) {
      if (whole === null) continue;
      worth.look(now, accept, isBusy);
      if (worth.pays) paying++;
      else if (accept.isOn) accept.turnOff('give-back');
    }
    return paying;
  }

  /** Whoever has an answer of home's may ask at once for what it has changed, wherever that is answered. */
  #mindChanges(): void {
    if (this.#isOver) return;
    this.#options.mindSettings();
    if (!this.#isOver && this.#served.some(({ linked, layers }) => countLayers(linked) !== layers)) this.#changed();
  }

  #changed(what = 'routes or settings have changed since the app was linked'): void {
    this.#options.log.info(`${what}: the main thread accepts alone`);
    this.end();
  }

  /** `pays`: it would for some server, as far as is known. */
  #decide(demand: number, pays: boolean): void {
    this.#busyLooks = Math.max(0, this.#busyLooks + (demand >= BUSY ? 1 : -1));
    if (!pays) return;
    if (this.#busyLooks >= LOOKS_UNTIL_WANTED) this.#options.wanted();
    this.#hasDecided = this.#busyLooks >= (this.#options.isTrying() ? LOOKS_WITH_TRIAL : LOOKS);
  }

  /** How many loops there was work for since the last look. */
  #demand(): number {
    const { utilization } = performance.eventLoopUtilization(this.#utilisation);
    this.#utilisation = performance.eventLoopUtilization();
    const since = performance.now() - this.#lookedAt;
    this.#lookedAt += since;
    let demand = utilization;
    for (const replica of this.#able.keys()) {
      const busyMs = replica.thread.busyMs();
      demand += Math.min(1, (busyMs - (this.#busyMs.get(replica) ?? busyMs)) / since);
      this.#busyMs.set(replica, busyMs);
    }
    return demand;
  }

  #turnOn(): void {
    this.#options.wanted();
    const taking = new Map<Served, number>();
    for (const [replica, able] of this.#able) {
      if (this.#leaving.has(replica)) continue;
      for (const [served, { root, stays }] of able) {
        const { accept } = served;
        if (!served.worth.pays && this.#options.mode === 'auto') continue;
        const others = taking.get(served) ?? 0;
        if (this.#options.mode === 'auto' && others >= this.#options.most) continue;
        taking.set(served, others + 1);
        accept.turnOn(replica, root, stays).catch((error: unknown) => {
          this.#options.log.info(`${replica.id} cannot accept connections: ${String(error)}`);
        });
      }
    }
  }

  // --- what home reaches ------------------------------------------------------------------------------------------------------

  #wholeOf(linked: LinkedServer, accept: HomeAccept): Whole | string {
    const { start, link } = this.#options.manifests();
    const why = accept.whyImpossible();
    if (why !== null) return why;
    if (accept.isSecure && link.touches.connections !== null)
      return `${link.touches.connections} takes hold of connections`;
    return findWhole(linked, start, link);
  }
}

function nameOf({ fluxion, fn, place }: LinkedSlot): string {
  if (fluxion !== null) return fluxion.id;
  return place === null
    ? fn.name
    : `${fn.name} (${place.url.split(/[\\/]node_modules[\\/]/).at(-1)}:${place.line})`.trim();
}

/** What this replica cannot serve is asked for by every request. */
function isAlwaysHomes(
  linked: LinkedServer,
  { root, stays }: Able,
  { slots }: { readonly slots: ReadonlyMap<LinkedSlot, string> },
): boolean {
  const names = new Map(stays.map(({ path, prefix }) => [remoteKey({ root, path }), prefix]));
  const here = linked.slots.flatMap((slot): Stay[] => {
    const prefix = names.get(slots.get(slot) ?? '');
    return prefix === undefined ? [] : [{ path: slot.path, prefix }];
  });
  return new Meets(linked, here).isAlways;
}
