/**
 * Home's side of the link: which functions its servers call for requests, which fluxions these are, and which of them a
 * replica may run, since what they reach there is what they reach here.
 *
 * Reads: servers that listen, start.json and link.json; what replicas say that they found.
 * Gives: functions with their fluxions, or what keeps them home; for a replica the slots and cuts that it may be sent.
 * Reports: what differs, once for each fluxion and variable.
 */
import type { EventEmitter } from 'node:events';
import timers from 'node:timers';
import type { Lift } from '../../flx/live-facts.js';
import type { LinkFluxion, LinkManifest, StartManifest } from '../../flx/run-manifest.js';
import type { Log } from '../log.js';
import type { RemoteApp, RemoteCut, RemoteSlot, ReplicaStarted } from '../messages.js';
import type { Make } from '../types.js';
import { LOCALS, SETTING } from './app-reach.js';
import { Classes } from './classes.js';
import { type FreshReach, findDifference, freshReach, HomeReach, type Reached } from './compare.js';
import { FluxionFinder } from './find-fluxion.js';
import { changedIn, Dependencies, keptLanguage, keptLocals, TurningGuard } from './guards.js';
import type { Kept } from './kept.js';
import { liftedBy, liftedFluxion, withLift } from './lift.js';
import { type LinkedServer, type LinkedSlot, linkServer } from './link-home.js';
import { gatherLiveFacts, isOpen, type LiveHandlers } from './live-facts.js';
import { type Pairs, pairSlots, pathBelow, pathsAbove, remoteKey } from './pair.js';
import type { Parts } from './reach.js';
import { Reflector } from './reflect.js';
import { labelOf, partsOf } from './routers.js';
import { SettingsWatch } from './settings-watch.js';
import { Verdicts } from './verdicts.js';

const { setTimeout } = timers;

/** What the compiler wrote of the program. */
export interface Manifests {
  readonly start: StartManifest;
  readonly link: LinkManifest;
}

export interface LinkerOptions {
  /** Null where nothing may move: then there is only something to count. */
  readonly manifests: Manifests | null;
  /** What fluxions behind cuts are made by. */
  readonly makes: ReadonlyMap<string, Make>;
  readonly log: Log;
}

/** What a replica may be sent, and the names that it has for what home has. */
export interface LinkedReplica {
  readonly pairs: Pairs<LinkedSlot>;
  /** Its keys of slots that reach there what they reach here. */
  readonly slots: ReadonlyMap<LinkedSlot, string>;
  readonly cuts: ReadonlySet<string>;
  /** It has not what this one speaks to others by. `speaks`: as what it was given does. */
  lacks(slot: LinkedSlot, speaks?: boolean): boolean;
}

/** Of a fluxion that runs on other loops: what it may reach was this. */
export interface ReachedSlot {
  readonly fluxion: LinkFluxion;
  readonly fn: object;
  readonly reached: Reached;
}

const SETTINGS_CHANGED = 'settings of the app have changed since it was linked';

/** Then whoever waits has a turn. */
const PIECE_MS = 5;

interface Served {
  readonly server: EventEmitter;
  linked: LinkedServer;
  /** What was there when it was linked. */
  parts: readonly unknown[];
  /** Of layers that were taken out since: requests may still be on their way to them. */
  gone: readonly LinkedSlot[];
}

/** Whoever takes out more than that has long answered the first ones. */
const MOST_GONE = 1000;

/** What has come since the servers were linked. */
export interface Relinked {
  readonly added: readonly LinkedSlot[];
  /** The files of all code that runs by now. */
  readonly scripts: readonly string[];
}

export class Linker {
  readonly #options: LinkerOptions;
  readonly #finder: FluxionFinder | null;
  readonly #byId: Map<string, LinkFluxion>;
  readonly #servers: Served[] = [];
  #manifests: Manifests | null;
  #reach: HomeReach | null;
  readonly verdicts: Verdicts;
  readonly #settings = new SettingsWatch();
  /** Of functions that may run elsewhere: what they depend on. */
  readonly #guards = new Map<object, readonly Kept[]>();
  readonly #keptLocals = new Map<object, Kept>();
  #language: TurningGuard | null = null;
  /** Why nothing moves any more. */
  #homeBy: string | null = null;
  #preparing: Promise<void> | null = null;

  constructor(options: LinkerOptions) {
    this.#options = options;
    const { manifests } = options;
    this.#manifests = manifests;
    const fluxions = manifests?.link.fluxions ?? [];
    this.#byId = new Map(fluxions.map((fluxion) => [fluxion.id, fluxion]));
    this.#finder = manifests === null ? null : new FluxionFinder(manifests.start, manifests.link);
    this.#reach = this.#makeReach();
    this.verdicts = new Verdicts(fluxions.filter(({ kind, movable }) => kind === 'start' && movable));
  }

  get manifests(): Manifests | null {
    return this.#manifests;
  }

  #makeReach(): HomeReach | null {
    const manifests = this.#manifests;
    return manifests === null ? null : new HomeReach(manifests.start, manifests.link, () => this.#things());
  }

  /** Apps, routers and routes. */
  #things(): readonly object[] {
    return this.#servers.flatMap(({ linked }) => [...linked.things.values()]);
  }

  fluxionOf(id: string): LinkFluxion | undefined {
    return this.#byId.get(id);
  }

  get isAllHome(): boolean {
    return this.#homeBy !== null;
  }

  /** Why nothing moves any more; null where something may. */
  get homeBy(): string | null {
    return this.#homeBy;
  }

  /** Something behind a cut may leave home. */
  get hasCuts(): boolean {
    return [...this.#byId.values()].some(({ movable, cut }) => movable && cut);
  }

  /** Something that is at home goes on behind a cut. */
  get hasCutsHome(): boolean {
    return [...this.#byId.values()].some(({ movable, cut }) => !movable && cut);
  }

  /** `scripts`: the files of all code that runs by now. */
  addServer(server: EventEmitter): { readonly linked: LinkedServer; readonly scripts: readonly string[] } {
    const reflector = new Reflector();
    const linked = linkServer(server, `server${this.#servers.length}`, this.#finder, reflector);
    const scripts = [...reflector.scripts()];
    reflector.close();
    this.#language ??= new TurningGuard(keptLanguage());
    this.#servers.push({ server, linked, parts: partsOf(server, linked.things), gone: [] });
    this.#takeSettings();
    return { linked, scripts };
  }

  /** Something may move, if the routers call it. */
  get mayMove(): boolean {
    return [...this.#byId.values()].some(({ kind, movable }) => kind === 'start' && movable);
  }

  /** Layers have come, gone, or taken the place of others. */
  get hasNews(): boolean {
    return this.#servers.some(({ server, linked, parts }) => {
      const now = partsOf(server, linked.things);
      return now.length !== parts.length || now.some((part, index) => part !== parts[index]);
    });
  }

  /** Slots that are still there stay what they are, wherever they hang now. */
  relink(): Relinked {
    const reflector = new Reflector();
    const added: LinkedSlot[] = [];
    for (const served of this.#servers) {
      const { server, linked } = served;
      const { things, slots } = linkServer(server, linked.root, this.#finder, reflector);
      const before = new Map<object, LinkedSlot[]>();
      for (const slot of linked.slots) before.set(slot.holder, [...(before.get(slot.holder) ?? []), slot]);
      const all = slots.map((slot) => {
        const known = takeFrom(before.get(slot.holder) ?? [], slot);
        if (known === null) added.push(slot);
        return known ?? slot;
      });
      const gone = [...before.values()].flat();
      for (const slot of gone) this.verdicts.gone(slot);
      served.gone = [...served.gone, ...gone].slice(-MOST_GONE);
      served.linked = { root: linked.root, things, slots: all };
      served.parts = partsOf(server, things);
    }
    this.#takeSettings();
    const scripts = [...reflector.scripts()];
    reflector.close();
    return { added, scripts };
  }

  // --- what the app itself can tell -----------------------------------------------------------------------------------------

  /** Null where it has nothing to say. */
  gatherLive(): LiveHandlers | null {
    const manifests = this.#manifests;
    if (this.#finder === null || manifests === null || this.isAllHome) return null;
    const reflector = new Reflector();
    const found = gatherLiveFacts(
      this.#servers.flatMap(({ linked }) => linked.slots),
      manifests.link.openClasses,
      this.#finder,
      reflector,
    );
    reflector.close();
    return found;
  }

  /** Those that waited to be told of, and those that were. */
  openSlots(lifted: readonly LinkedSlot[]): readonly LinkedSlot[] {
    const known = new Set(lifted);
    return this.#servers.flatMap(({ linked }) => linked.slots.filter((slot) => known.has(slot) || isOpen(slot)));
  }

  /** Gives the handlers of which the compiler says more, now that it has heard what they hold. Before any replica starts. */
  lift({ indexes }: LiveHandlers, lift: Lift): readonly LinkedSlot[] {
    const manifests = this.#manifests;
    if (manifests === null) return [];
    const find = liftedBy(lift);
    const lifted: LinkedSlot[] = [];
    for (const { linked } of this.#servers) {
      for (const slot of linked.slots) {
        const closure = slot.fluxion !== null && isOpen(slot) ? find(slot.fluxion, indexes.get(slot.own)) : null;
        if (slot.fluxion === null || closure === null) continue;
        const { id: of } = slot.fluxion;
        const label = labelOf(slot.path, linked.things);
        slot.fluxion = liftedFluxion(slot.fluxion, closure);
        this.#byId.set(slot.fluxion.id, slot.fluxion);
        this.verdicts.lifted(slot, of, label);
        lifted.push(slot);
      }
    }
    this.#manifests = { start: manifests.start, link: withLift(manifests.link, lift) };
    this.#reach = this.#makeReach();
    return lifted;
  }

  #takeSettings(): void {
    this.#settings.take(this.#things());
  }

  /** Something that all depend on is not what replicas were compared with; from then on nothing moves. */
  mindSettings(): string | null {
    if (this.isAllHome) return null;
    this.#homeBy = this.#settings.hasChanged ? SETTINGS_CHANGED : (this.#language?.next() ?? null);
    return this.#homeBy;
  }

  /** Why this function is to stay from now on, though it was found to move; null where all that it depends on is as it was. */
  changedFor(fn: object): string | null {
    return changedIn(this.#guards.get(fn) ?? []);
  }

  /** Gives those who are this function. */
  stayFromNowOn(fn: object, why: string): readonly { readonly fluxion: LinkFluxion }[] {
    const found = this.#servers.flatMap(({ linked }) => linked.slots.filter(({ own }) => own === fn));
    for (const slot of found) this.verdicts.movesNoMore(slot, why);
    return found.flatMap(({ fluxion }) => (fluxion === null ? [] : [{ fluxion }]));
  }

  /** The same of all that may run elsewhere. */
  get anyChange(): string | null {
    return changedIn(new Set([...this.#guards.values()].flat()));
  }

  /** False where nothing moves anyway. */
  keepAllHome(why: string): boolean {
    if (this.isAllHome) return false;
    this.#homeBy = why;
    return true;
  }

  /** `app['eng' + 'ine']('html', fn)` is no route. Asked for when something is about to leave: by then routers have what they get. */
  mindComputed(): string | null {
    const slots = this.#servers.flatMap(({ linked, gone }) => [...linked.slots, ...gone]);
    const ids = new Set(slots.map(({ fluxion }) => fluxion?.id));
    const stands = ({ module, line, column }: LinkFluxion): boolean =>
      slots.some(({ place }) => place?.line === line && place.column >= column && place.url.endsWith(module));
    for (const id of this.isAllHome ? [] : (this.#manifests?.link.computed ?? [])) {
      const fluxion = this.fluxionOf(id);
      if (fluxion === undefined || ids.has(id) || stands(fluxion)) continue;
      this.#homeBy = `"${id}" (${fluxion.module}:${fluxion.line}) was given to a method whose name is put together, and no router has it`;
      return this.#homeBy;
    }
    return null;
  }

  /** Code that the compiler has not read may change anything: from then on nothing moves. Gives the first such file. */
  mindUnknownFiles(scripts: Iterable<string>): string | null {
    const [unknown] = this.isAllHome ? [] : (this.#finder?.unknownFiles(scripts) ?? []);
    if (unknown === undefined) return null;
    this.#homeBy = 'a module was loaded that the compiler has not seen';
    return unknown;
  }

  /** Null where nothing of the program's text, nor of what it runs with, keeps it home. */
  staysBy({ fluxion }: LinkedSlot): string | null {
    if (this.#settings.hasChanged) return SETTINGS_CHANGED;
    if (this.#homeBy !== null) return this.#homeBy;
    return fluxion?.why ?? null;
  }

  /** What home's functions reach, asked for in pieces that hold no request up. */
  prepare(): Promise<void> {
    this.#preparing ??= this.#prepare();
    return this.#preparing;
  }

  async #prepare(): Promise<void> {
    const reach = this.#reach;
    if (reach === null) return;
    const reflector = new Reflector();
    let begin = performance.now();
    for (const fn of this.#movableFunctions()) {
      reach.of(fn, reflector);
      if (performance.now() - begin < PIECE_MS) continue;
      // Nothing that keeps the process, or that the app sees among what it has under way.
      await new Promise((resolve) => setTimeout(resolve, 0).unref());
      begin = performance.now();
    }
    reach.ofApps(reflector);
    reflector.close();
  }

  #movableFunctions(): readonly object[] {
    const slots = this.#servers.flatMap(({ linked }) => linked.slots);
    const cuts = [...this.#options.makes].flatMap(([id, make]) => (this.fluxionOf(id)?.movable ? [make] : []));
    return [...slots.flatMap(({ fluxion, own }) => (fluxion?.movable ? [own] : [])), ...cuts];
  }

  // --- what a replica may be sent -----------------------------------------------------------------------------------------

  link({ slots, cuts, apps, unconnected }: Extract<ReplicaStarted, { readonly kind: 'ready' }>): LinkedReplica {
    const all = this.#servers.flatMap(({ linked }) => linked.slots);
    const servers = this.#servers.map(({ linked, gone }) => ({ ...linked, slots: [...linked.slots, ...gone] }));
    const pairs = pairSlots(servers, slots);
    const missesOf = (fluxion: LinkFluxion | undefined | null): boolean =>
      unconnected.length > 0 && (fluxion?.connects.length ?? 0) > 0;
    const equal = this.#equality(pairs, slots, cuts, apps);
    const lacks = ({ fluxion }: LinkedSlot, speaks = false): boolean =>
      missesOf(fluxion) || (speaks && unconnected.length > 0);
    const moving = new Map([...pairs.slots].filter(([slot, key]) => !lacks(slot) && equal.slots.has(key)));
    for (const slot of all) {
      if (moving.has(slot)) this.verdicts.moves(slot);
      else if (slot.fluxion?.movable && this.staysBy(slot) === null) {
        if (!pairs.slots.has(slot)) this.verdicts.stays(slot, 'in a replica no router has it at the same place');
        else if (lacks(slot))
          this.verdicts.stays(slot, `${unconnected.join(', ')}: start-up connects, and a replica’s start-up does not`);
      }
    }
    const movingCuts = new Set([...equal.cuts].filter((id) => !missesOf(this.fluxionOf(id))));
    for (const { own } of moving.keys()) this.#guard(own);
    for (const id of movingCuts) this.#guard(this.#options.makes.get(id));
    return { pairs, slots: moving, cuts: movingCuts, lacks };
  }

  /** What it reaches on all loops that it may run on. */
  partsOf(fn: object | undefined): Parts {
    return (fn === undefined ? undefined : this.#reach?.dependenciesOf(fn)?.parts) ?? new Map();
  }

  #guard(fn: object | undefined): void {
    const dependencies = fn === undefined || this.#guards.has(fn) ? undefined : this.#reach?.dependenciesOf(fn);
    if (fn === undefined || dependencies === undefined) return;
    const { kept, readsLocals } = dependencies;
    this.#guards.set(fn, readsLocals ? [...kept, ...this.#locals(this.#things())] : kept);
  }

  /** One list for all, so that those who look at all look at it once. */
  #locals(things: readonly object[]): readonly Kept[] {
    for (const each of keptLocals(things)) {
      if (!this.#keptLocals.has(each.holder)) this.#keptLocals.set(each.holder, each);
    }
    return [...this.#keptLocals.values()];
  }

  /** Apps, routers and routes of home, by the root and the path that a replica knows them by; those that it has. */
  *thingsBelow({
    mounts,
    slots,
  }: Pairs<LinkedSlot>): Iterable<readonly [root: string, things: ReadonlyMap<string, object>]> {
    const known = new Set([...slots.values()].flatMap(pathsAbove));
    for (const { linked } of this.#servers) {
      for (const { root, prefix, remote } of mounts) {
        if (root !== linked.root) continue;
        const below = [...linked.things].flatMap(([path, thing]) => {
          const there = pathBelow(prefix, path);
          return there !== null && known.has(remoteKey({ root: remote, path: there })) ? [[there, thing] as const] : [];
        });
        yield [remote, new Map(below)];
      }
    }
  }

  classes(pairs: Pairs<LinkedSlot>): Classes | null {
    const manifests = this.#manifests;
    if (manifests === null) return null;
    const slots = new Map([...pairs.slots].map(([{ fn }, key]) => [key, fn]));
    return new Classes({ slots, apps: this.#things(), ...manifests });
  }

  /** What these reach now, asked anew. */
  reachedBy(slots: Iterable<LinkedSlot>): readonly ReachedSlot[] {
    const reach = this.freshReach();
    const found: ReachedSlot[] = [];
    for (const { fluxion, own } of slots) {
      if (fluxion !== null) found.push({ fluxion, fn: own, reached: reach.of(own) });
    }
    reach.close();
    return found;
  }

  freshReach(): FreshReach {
    const manifests = this.#manifests;
    return manifests === null
      ? { of: () => [], close: () => {} }
      : freshReach(manifests.start, manifests.link, this.#things());
  }

  /** Slots and cuts of a replica that reach there what they reach here. */
  #equality(
    pairs: Pairs<LinkedSlot>,
    slots: readonly RemoteSlot[],
    cuts: readonly RemoteCut[],
    apps: readonly RemoteApp[],
  ): { readonly slots: ReadonlySet<string>; readonly cuts: ReadonlySet<string> } {
    const equal = { slots: new Set<string>(), cuts: new Set<string>() };
    const reach = this.#reach;
    if (reach === null) return equal;
    const reflector = new Reflector();
    const remote = new Map(slots.map((slot) => [remoteKey(slot), slot.reached]));
    const unlike = this.#unlikeApps(pairs, apps, reflector);
    const differs = (fluxion: LinkFluxion, fn: object, there: Reached): string | null => {
      const here = reach.of(fn, reflector);
      const dependencies = [unlike.held, reach.dependenciesOf(fn)];
      const ofApp = unlike.names.find((name) => dependencies.some((each) => each !== undefined && looksAt(name, each)));
      const different = findDifference(here, there) ?? ofApp ?? null;
      return this.#differsIn(fluxion, different);
    };
    for (const [slot, key] of pairs.slots) {
      const { own, fluxion } = slot;
      const there = remote.get(key);
      if (!fluxion?.movable || !there) continue;
      const different = differs(fluxion, own, there);
      if (different === null) equal.slots.add(key);
      else this.verdicts.stays(slot, different);
    }
    for (const { id, reached } of cuts) {
      const [make, fluxion] = [this.#options.makes.get(id), this.fluxionOf(id)];
      if (make === undefined || fluxion === undefined) continue;
      if (differs(fluxion, make, reached) === null) equal.cuts.add(id);
    }
    reflector.close();
    return equal;
  }

  /** What some app has that is not the same there: `settings`, `locals`. `held`: what the functions depend on that apps hold. */
  #unlikeApps(
    pairs: Pairs<LinkedSlot>,
    apps: readonly RemoteApp[],
    reflector: Reflector,
  ): { readonly names: readonly string[]; readonly held: Dependencies } {
    const remote = new Map(apps.map((app) => [remoteKey(app), app.reached]));
    const names = new Set<string>();
    const held = new Dependencies(new Set());
    for (const [root, things] of this.thingsBelow(pairs)) {
      for (const [path, thing] of things) {
        const there = remote.get(remoteKey({ root, path }));
        const here = there === undefined ? null : (this.#reach?.ofApp(thing, reflector, held) ?? null);
        const other = new Map(there);
        for (const [name, told] of here ?? []) if (other.get(name) !== told) names.add(name);
      }
    }
    return { names: [...names], held };
  }

  #differsIn({ id, module, line }: LinkFluxion, different: string | null): string | null {
    if (different === null) return null;
    const why = `in a replica "${different}" is not what it is here`;
    this.#options.log.infoOnce(`"${id}" (${module}:${line}) stays on the main thread: ${why}`);
    return why;
  }
}

function looksAt(name: string, dependencies: Dependencies): boolean {
  if (name === LOCALS) return dependencies.readsLocals;
  return !name.startsWith(SETTING) || dependencies.mayReadSetting(name.slice(SETTING.length));
}

/** The same function in the same place, which is then no more among the others. */
function takeFrom(slots: LinkedSlot[], { fn }: LinkedSlot): LinkedSlot | null {
  const at = slots.findIndex((slot) => slot.fn === fn);
  return at === -1 ? null : (slots.splice(at, 1)[0] ?? null);
}
