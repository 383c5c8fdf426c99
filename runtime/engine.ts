/**
 * Home, from the moment that the app serves: links what its servers call, puts stubs where something may move, starts
 * replicas when they are of use, and ends with the program.
 *
 *     a server listens ─> link ─> stubs ─> (auto: a handler is found heavy) ─> replicas ─> dispatch
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import timers from 'node:timers';
import type { Lift } from '../flx/live-facts.js';
import type { LinkFluxion, StartManifest } from '../flx/run-manifest.js';
import { AcceptPlan } from './accept/plan.js';
import { Capacity } from './capacity.js';
import cores from './cores.cjs';
import { Dispatcher } from './dispatch.js';
import { readLink } from './evaluate.js';
import fastPath from './fast-path/born-as-express.cjs';
import type { Recorder } from './firewall/startup-record.cjs';
import { HomeShare, type Sides } from './home-share.js';
import { findLift } from './link/lift.js';
import type { LinkedSlot } from './link/link-home.js';
import { type LinkedReplica, Linker, type Manifests } from './link/linker.js';
import { isOpen } from './link/live-facts.js';
import { foundSigns } from './link/reflect.js';
import { prependOwnListener } from './link/routers.js';
import { Log } from './log.js';
import type { ReplicaSetup, ToHome } from './messages.js';
import process from './node-process.cjs';
import { OwnerRuns } from './owner-runs.js';
import { printThere } from './print-there.js';
import { type ReadyReplica, type Replica, Replicas } from './replicas.js';
import { Counts, Report, type ReportedState } from './report.js';
import { divergenceText, lookAfterRequest, Sanitizer } from './sanitize.js';
import { ofThisLoop, Scheduler } from './scheduler.js';
import { drainOnSignals } from './shutdown.js';
import { Stubs } from './stubs.js';
import type { RunOptions, SwitchableLoop } from './types.js';
import { UnderWay } from './under-way.js';
import { warnHere } from './warnings.js';
import watch from './watch-loads.cjs';
import { weigh } from './weigh.js';

const { setInterval, setTimeout } = timers;

export interface EngineContext {
  /** Null where nothing may move: there is only something to report then. */
  readonly prepared: { readonly folder: string; readonly cwd: string; readonly manifest: StartManifest } | null;
  /** A program of which nothing may move: only for the report. */
  readonly known: EngineContext['prepared'];
  /** Why nothing is to be gained from other threads, as far as that was known before the app began. */
  readonly aside: string | null;
  readonly options: RunOptions;
  readonly loop: SwitchableLoop;
  readonly recorder: Recorder | null;
  /** As it was before the first line of the app. */
  readonly env: NodeJS.ProcessEnv;
  /** What V8 has made of texts is written down for the next start; null where it is not kept. */
  readonly writeCode: (() => void) | null;
}

/** For routes that were added: what is not linked stays at home, so nothing is urgent. */
const LOOK_EVERY_MS = 250;

/** By then all that the engine needs has been loaded; it takes some milliseconds, the first time. */
const WRITE_CODE_MS = 1_000;

/** V8 stops the loop while it goes through all objects: some 40 ms for a small app, 250 ms for 30 MB of small objects. */
const MOST_HEAP_MB = 48;

/** Work that waits at home for room, for each replica. What waits costs little more than its connection does. */
const MOST_WAITING = { wait: 4096, '503': 256 } as const;

let engine: Engine | null = null;

/** Called for each server, in the order in which they were asked to listen. `early`: requests that it has taken since. */
export function serve(server: Server, context: EngineContext, early: readonly object[]): void {
  engine ??= new Engine(context);
  engine.addServer(server, early);
}

class Engine {
  readonly #context: EngineContext;
  readonly #log: Log;
  readonly #counts = new Counts();
  readonly #linker: Linker;
  readonly #dispatcher: Dispatcher;
  readonly #stubs: Stubs;
  readonly #ownerRuns: OwnerRuns;
  readonly #replicas: Replicas;
  readonly #listening: Server[] = [];
  /** What replicas said that they found, for when routes are added. */
  readonly #found = new WeakMap<Replica, ReadyReplica>();
  /** Null where home accepts all connections, whatever comes. */
  readonly #accept: AcceptPlan | null;
  /** Null where somebody says what is to leave, or on how many threads. */
  readonly #share: HomeShare | null = null;
  readonly #report: Report | null;
  /** What the compiler made of what the running app says; asked for once. */
  #lifting: Promise<Lift | null> | null = null;
  #watch: NodeJS.Timeout | null = null;
  #hadReplica = false;
  #watchesLoads = false;
  /** Something that the servers call may leave. */
  #mayGain = false;
  /** They have to run here. What they cost matters only where something else may leave. */
  #bound: LinkedSlot[] = [];
  #gaveUpBy: string | null = null;

  constructor(context: EngineContext) {
    this.#context = context;
    const { options, prepared, loop } = context;
    this.#log = new Log(options.logLevel);
    context.recorder?.stop();
    this.#replicas = this.#makeReplicas();
    const capacity = new Capacity((what, why) => this.#decided(what, why));
    const clock = ofThisLoop();
    const isEager = options.placement === 'eager';
    if (!isEager && options.threads === 'auto') this.#share = this.#makeShare(clock.requests);
    const mostFor = (ms: number): number =>
      Math.min(capacity.mostFor(ms), this.#share?.mostFor(ms) ?? Number.POSITIVE_INFINITY);
    const isEven = (isHeavy: boolean): boolean =>
      (!isHeavy && this.#accept?.isEven === true) || this.#share?.takes(isHeavy) === true;
    const scheduler = new Scheduler(isEager ? 'eager' : 'auto', isEven, clock);
    const known = prepared ?? context.known;
    const manifests = known === null ? null : { start: known.manifest, link: readLink(known.folder) };
    const linker = new Linker({ manifests, makes: loop.makes, log: this.#log });
    this.#linker = linker;
    this.#dispatcher = new Dispatcher({
      scheduler,
      replicas: () => this.#replicas.list(),
      expectsMore: () => this.#replicas.expectsMore,
      wanted: (why) => this.#replicas.want(why),
      mostFor: isEager ? () => Number.POSITIVE_INFINITY : mostFor,
      mostWaiting: MOST_WAITING[options.overload],
      keepsParts: linker.hasCutsHome,
      replaced: linker.manifests?.link.replaced ?? [],
      counts: this.#counts,
      log: this.#log,
    });
    this.#ownerRuns = new OwnerRuns(this.#dispatcher, loop.makes, (id) => {
      const fluxion = linker.fluxionOf(id);
      return fluxion === undefined ? null : this.#stubs.stateOf(fluxion);
    });
    this.#stubs = new Stubs({
      dispatcher: this.#dispatcher,
      scheduler,
      counts: this.#counts,
      overload: options.overload,
      reports: options.report !== null,
      makes: loop.makes,
      fluxionOf: (id) => linker.fluxionOf(id),
      holds: () => this.#holds(),
      holdsFor: (fn) => this.#holdsFor(fn),
    });
    this.#accept = this.#planAccept(prepared === null ? null : manifests, scheduler);
    const report =
      options.report === null ? null : new Report(options.report, this.#counts, () => this.#state(), this.#log);
    this.#report = report;
    drainOnSignals({
      servers: () => this.#listening,
      isIdle: () => this.#dispatcher.isIdle,
      beforeEnd: () => report?.write(),
    });
  }

  #makeShare(requests: () => number): HomeShare {
    const all = new UnderWay(() => share.isTaking);
    const underWay = (): Sides => {
      const away = this.#dispatcher.underWay;
      // Whoever asks has a request that is nowhere yet.
      return { here: Math.max(0, all.count - 1 - away), away };
    };
    const share = new HomeShare((what, why) => this.#decided(what, why), requests, underWay);
    return share;
  }

  addServer(server: Server, early: readonly object[]): void {
    for (const req of early) this.#counts.request(req, 'home');
    const begin = performance.now();
    const { linked, scripts } = this.#linker.addServer(server);
    this.#mindUnknownFiles(scripts);
    this.#log.debug(`${linked.root} is linked: ${linked.slots.length} functions, ${msSince(begin)}`);
    this.#listening.push(server);
    if (this.#linker.mayMove) this.#watchRoutes();
    const isAsked = this.#lifting === null && linked.slots.some(isOpen);
    let isMovable = this.#placeStubs(isAsked ? linked.slots.filter((slot) => !isOpen(slot)) : linked.slots);
    if (isAsked) this.#lifting = this.#lift();
    if (this.#context.options.report !== null) {
      const count = (req: IncomingMessage): void => this.#counts.request(req, 'home');
      fastPath.isHarmless(count);
      prependOwnListener(server, count);
    }
    if (this.#linker.hasCuts && !this.#linker.isAllHome) {
      isMovable = true;
      this.#context.loop.decide(this.#stubs.cuts());
    }
    const accept = (): void => this.#accept?.addServer(server, linked);
    if (this.#lifting === null) accept();
    else void this.#lifting.then(accept);
    if (isMovable) this.#somethingMoves();
    else void this.#staysHome(linked.root);
  }

  async #staysHome(root: string): Promise<void> {
    await this.#lifting;
    if (this.#mayGain) return;
    this.#log.info(`${root}: all that it calls stays on the main thread`);
    this.#linked();
  }

  /** Of handlers that nobody could tell anything of, the app that runs may say more. Meanwhile they are called as they are. */
  async #lift(): Promise<Lift | null> {
    const { prepared, options, env } = this.#context;
    const begin = performance.now();
    const heapMb = process.memoryUsage().heapUsed / 2 ** 20;
    if (heapMb > MOST_HEAP_MB)
      this.#log.info(
        `the app is not asked what its handlers hold: going through ${Math.round(heapMb)} MB would hold it up`,
      );
    const live = prepared === null || heapMb > MOST_HEAP_MB ? null : this.#linker.gatherLive();
    this.#log.debug(`the app said what ${live?.facts.functions.length ?? 0} of its functions hold, ${msSince(begin)}`);
    const found =
      live === null || prepared === null
        ? null
        : await findLift(live.facts, { ...prepared, config: options.config, env });
    const lifted = live === null || found === null ? [] : this.#linker.lift(live, found);
    this.#log.debug(`the compiler has heard it: ${lifted.length} handlers are known by it, ${msSince(begin)}`);
    if (this.#placeStubs(this.#linker.openSlots(lifted))) this.#somethingMoves();
    return found;
  }

  #watchRoutes(): void {
    this.#watch ??= setInterval(() => this.#lookAtRoutes(), LOOK_EVERY_MS).unref();
  }

  #somethingMoves(): void {
    this.#mayGain = true;
    for (const slot of this.#bound.splice(0)) this.#stubs.watch(slot);
    this.#watchRoutes();
    if (!this.#watchesLoads) watch.watchLoads((file) => this.#mindUnknownFiles([file]));
    this.#watchesLoads = true;
    if (this.#context.options.placement === 'eager') this.#replicas.want('all that may run elsewhere is to');
  }

  /** Routes that are added while the app serves may move as well. */
  #lookAtRoutes(): void {
    if (!this.#holds() || !this.#linker.hasNews) return;
    const { added, scripts } = this.#linker.relink();
    this.#mindUnknownFiles(scripts);
    if (this.#placeStubs(added)) this.#somethingMoves();
    let moving = 0;
    for (const replica of this.#replicas.list()) {
      this.#link(replica);
      moving = Math.max(moving, added.filter((slot) => replica.slots.has(slot)).length);
    }
    this.#log.info(`routes have changed: ${added.length} new functions, ${moving} of them may leave the main thread`);
    this.#dispatcher.pump();
  }

  #state(): ReportedState {
    return { aside: this.#aside(), link: this.#linker.verdicts.report(), accept: this.#accept?.describe() ?? [] };
  }

  /** Why nothing is gained from other threads; null where something is, or may be. */
  #aside(): string | null {
    if (this.#context.aside !== null) return this.#context.aside;
    if (this.#gaveUpBy !== null && this.#replicas.list().length === 0) return this.#gaveUpBy;
    if (this.#linker.homeBy !== null) return this.#linker.homeBy;
    if (!this.#mayGain) return 'nothing that its servers call may leave';
    return this.#replicas.expectsMore ? null : 'nothing has cost as much yet as a message to another thread';
  }

  /** Nothing more is to be found out about what may move. */
  #linked(): void {
    this.#linker.verdicts.done();
    this.#report?.write();
  }

  /** Code that the compiler has not read may change anything. */
  #mindUnknownFiles(scripts: Iterable<string>): void {
    const unknown = this.#linker.mindUnknownFiles(scripts);
    if (unknown === null) return;
    this.#keepHome(`${unknown} was loaded, and the compiler has not seen it`);
  }

  /** Settings that change where nobody saw it coming: replicas have the old ones. */
  #holds(): boolean {
    const changed = this.#linker.mindSettings();
    if (changed !== null) this.#keepHome(changed);
    return !this.#linker.isAllHome;
  }

  /** What a function depends on that has changed where nobody saw it coming: whoever depends on it stays from now on. */
  #holdsFor(fn: object): boolean {
    const changed = this.#linker.changedFor(fn);
    if (changed === null) return true;
    for (const { fluxion } of this.#linker.stayFromNowOn(fn, changed))
      this.#log.info(`"${fluxion.id}" (${fluxion.module}:${fluxion.line}) stays on the main thread: ${changed}`);
    for (const replica of this.#replicas.list()) this.#dispatcher.namesOf(replica).shareNoMore();
    this.#accept?.end();
    return false;
  }

  #keepHome(why: string): void {
    this.#stubs.keepHome();
    this.#accept?.end();
    this.#linker.verdicts.allStay(why);
    this.#log.info(`everything stays on the main thread: ${why}`);
  }

  /** Does any of them move? */
  #placeStubs(slots: readonly LinkedSlot[]): boolean {
    let moves = false;
    for (const slot of slots) if (this.#placeStub(slot)) moves = true;
    return moves;
  }

  #placeStub(slot: LinkedSlot): boolean {
    const { fluxion } = slot;
    const why = this.#linker.staysBy(slot);
    this.#linker.verdicts.stays(slot, why);
    if (fluxion?.movable === true && why === null) {
      this.#stubs.place(slot, fluxion);
      return true;
    }
    if (fluxion?.holds === true) this.#hold(slot, fluxion);
    else if (fluxion !== null && this.#context.options.report !== null) this.#stubs.count(slot, fluxion);
    else if (this.#mayGain) this.#stubs.watch(slot);
    else this.#bound.push(slot);
    return false;
  }

  #hold(slot: LinkedSlot, fluxion: LinkFluxion): void {
    this.#stubs.hold(slot, fluxion);
    const place = `"${fluxion.id}" (${fluxion.module}:${fluxion.line})`;
    this.#log.info(`what follows ${place} stays on the main thread: it goes on after it has passed a request on`);
  }

  /** What is recorded, reported by fluxion or looked at closely has to pass by here. */
  #planAccept(manifests: Manifests | null, scheduler: Scheduler): AcceptPlan | null {
    const { accept: mode, placement, record, sanitize } = this.#context.options;
    if (manifests === null || mode === 'home' || record !== null || sanitize) return null;
    // Whoever says "eager" wants to see handlers move.
    if (placement === 'eager' && mode === 'auto') return null;
    return new AcceptPlan({
      mode,
      manifests: () => this.#linker.manifests ?? manifests,
      log: this.#log,
      mindSettings: () => void this.#holds(),
      changed: () => this.#linker.anyChange,
      wanted: () => this.#replicas.want('the main thread has no time for all that is asked'),
      hasHeavy: () => this.#stubs.hasHeavy(),
      most: this.#mostTakers(),
      isTrying: () => scheduler.isUnsure || this.#stubs.isTrying(),
    });
  }

  /** As far as home does the rest by itself. */
  #enoughBesides(): number {
    const enough = this.#share?.enough ?? Number.POSITIVE_INFINITY;
    return enough < Number.POSITIVE_INFINITY && this.#stubs.hasHeavy() ? Number.POSITIVE_INFINITY : enough;
  }

  /** Beside home. Whoever says how many threads there are to be wants all of them. */
  #mostTakers(): number {
    const { threads } = this.#context.options;
    return threads === 'auto' ? Math.max(1, cores.cores() - 1) : threads;
  }

  // --- replicas -------------------------------------------------------------------------------------------------------

  #makeReplicas(): Replicas {
    const { options, env } = this.#context;
    const threads = options.threads === 'auto' ? cores.cores() : options.threads;
    return new Replicas({
      pool: () => this.#makePool(env),
      setup: () => this.#setup(),
      signs: async () => {
        await this.#linker.prepare();
        return foundSigns();
      },
      log: this.#log,
      threads,
      most: () => Math.min(threads, this.#accept?.enough ?? threads, this.#enoughBesides()),
      relieves: () => this.#accept?.pays === true || this.#stubs.hasHeavy(),
      maxBlockMs: options.maxBlockMs,
      allAtOnce: options.placement === 'eager' || options.accept === 'every',
      waiting: () => this.#dispatcher.waiting,
      looked: (home, replicas) => this.#share?.look(home, replicas),
      events: {
        started: (replica, found) => this.#started(replica, found),
        received: (replica, message) => this.#received(replica, message),
        took: () => this.#dispatcher.pump(),
        gone: (replica) => this.#gone(replica),
        gaveUp: (reason) => this.#gaveUp(reason),
        leaves: (replica) => this.#accept?.leaves(replica) ?? true,
        stays: (replica) => this.#accept?.stays(replica),
        decided: (what, why) => this.#decided(what, why),
        weigh: options.report === null ? null : (message) => this.#weigh(message),
      },
    });
  }

  #pool: ReturnType<typeof loadPool> | null = null;

  async #makePool(env: NodeJS.ProcessEnv): ReturnType<typeof loadPool> {
    this.#pool ??= loadPool(env);
    return this.#pool;
  }

  async #setup(): Promise<Omit<ReplicaSetup, 'id' | 'connects'>> {
    const { prepared, recorder } = this.#context;
    if (prepared === null || recorder === null) throw new Error('the program was not compiled');
    const lift = await this.#lifting;
    // While the thread starts.
    void this.#linker.prepare();
    await recorder.settled();
    return {
      folder: prepared.folder,
      lift,
      record: recorder.take(),
      sanitize: this.#context.options.sanitize,
      accepts: this.#accept !== null,
      counts: this.#context.options.report !== null,
      fastPath: this.#context.options.fastPath,
    };
  }

  async #started(replica: Replica, found: ReadyReplica): Promise<void> {
    this.#found.set(replica, found);
    await this.#linker.prepare();
    // It may have ended meanwhile.
    if (!replica.isReady) return;
    const computed = this.#linker.mindComputed();
    if (computed !== null) {
      this.#keepHome(computed);
      return this.#linked();
    }
    const linked = this.#link(replica);
    if (linked === null) return;
    this.#accept?.started(replica, found, linked.pairs, linked.lacks);
    this.#counts.join(replica.id, { busy: () => replica.thread.busy(), memory: () => replica.memory });
    this.#sanitizeHome(linked.slots.keys());
    if (!this.#hadReplica) setTimeout(() => this.#context.writeCode?.(), WRITE_CODE_MS).unref();
    this.#hadReplica = true;
    this.#linked();
  }

  /** What it may be sent, of what there is by now. */
  #link(replica: Replica): LinkedReplica | null {
    const found = this.#found.get(replica);
    if (found === undefined) return null;
    const begin = performance.now();
    const linked = this.#linker.link(found);
    this.#log.debug(`${replica.id} is compared: ${linked.slots.size} functions may run there, ${msSince(begin)}`);
    const names = this.#dispatcher.namesOf(replica);
    for (const [root, things] of this.#linker.thingsBelow(linked.pairs)) names.add(root, things);
    names.addContexts(this.#context.recorder?.contexts ?? new Map());
    names.addLoggers([...linked.pairs.slots].map(([{ fn }, key]) => [key, fn] as const));
    names.nameClasses(this.#linker.classes(linked.pairs));
    for (const [slot, key] of linked.slots) names.share(key, this.#linker.partsOf(slot.own));
    for (const id of linked.cuts) names.share(id, this.#linker.partsOf(this.#context.loop.makes.get(id)));
    replica.channel.send({ kind: 'linked', slots: [...linked.slots.values()], cuts: [...linked.cuts] });
    replica.slots = linked.slots;
    replica.cuts = linked.cuts;
    return linked;
  }

  // --- sanitize -------------------------------------------------------------------------------------------------------

  /** What runs on replicas must stay as it was at home, too: it is what they were compared with. */
  #sanitizeHome(moving: Iterable<LinkedSlot>): void {
    if (!this.#context.options.sanitize || this.#hadReplica) return;
    const sanitizer = new Sanitizer(this.#linker.reachedBy(moving), () => this.#linker.freshReach());
    const look = (): void => {
      for (const each of sanitizer.look()) this.#diverged(divergenceText('home', each));
    };
    for (const server of this.#listening) {
      prependOwnListener(server, (req: IncomingMessage, res: ServerResponse) =>
        lookAfterRequest(req, res, sanitizer, look),
      );
    }
    process.on('exit', look);
  }

  #diverged(text: string): void {
    this.#log.error(text);
    // A test run that nobody reads ends as one that failed.
    process.exitCode ||= 1;
  }

  #weigh(message: unknown): void {
    this.#counts.bus.messages++;
    this.#counts.bus.bytes += weigh(message);
  }

  #received(replica: Replica, message: ToHome): void {
    switch (message.kind) {
      case 'output':
        printThere(message.fd, message.chunk, message.byDescriptor);
        return;
      case 'exit':
        process.exit(message.code as number | undefined);
        return;
      case 'process':
        runOnProcess(message.name, message.args);
        return;
      case 'warning':
        warnHere(message);
        return;
      case 'crash':
        this.#log.error(`${replica.id} ended by an error that nobody caught, and is replaced:\n${message.stack}`);
        return;
      case 'run':
        this.#ownerRuns.take(replica, message);
        return;
      case 'pong':
        replica.memory = message.memory;
        return;
      case 'accepts':
        this.#accept?.received(replica, message);
        this.#counts.accepted(replica.id, this.#accept?.requestsOf(replica) ?? 0);
        for (const { fluxion, runs, cpuMs } of message.runs) this.#counts.ranThere(fluxion, replica.id, runs, cpuMs);
        return;
      case 'far':
        this.#accept?.far(replica, message);
        return;
      case 'renewed':
        this.#accept?.renewed(replica, message);
        return;
      case 'astray':
        this.#accept?.astray(replica, message);
        return;
      case 'changed':
        if (this.#linker.keepAllHome(message.what)) this.#keepHome(`${message.what} (on ${replica.id})`);
        return;
      case 'diverged':
        this.#diverged(message.text);
        return;
      case 'uncaught':
        this.#dispatcher.uncaught(replica, message);
        return;
      default:
        this.#dispatcher.receive(replica, message);
    }
  }

  #gone(replica: Replica): void {
    this.#counts.leave(replica.id);
    this.#accept?.gone(replica);
    this.#dispatcher.gone(replica);
  }

  #decided(what: string, why: string): void {
    this.#log.debug(`${what}: ${why}`);
    this.#counts.decided(what, why);
  }

  #gaveUp(reason: string): void {
    const others = this.#replicas.list().length;
    const consequence =
      others === 0 ? 'which serves alone' : `and ${others} other that there ${others === 1 ? 'is' : 'are'}`;
    const text = `no further thread can run this app beside the main one, ${consequence}: ${reason}`;
    this.#gaveUpBy = `no other thread can run it: ${reason}`;
    // What nobody else will ever run need not be measured.
    if (others === 0) this.#stubs.keepHome();
    if (this.#hadReplica) this.#log.warn(text);
    else this.#log.info(text);
    this.#linked();
    this.#dispatcher.pump();
  }
}

async function loadPool(env: NodeJS.ProcessEnv) {
  const { ThreadPool } = await import('./pool.js');
  return new ThreadPool(env);
}

/** What a handler did to the process from its thread. */
function runOnProcess(name: string, args: readonly unknown[]): void {
  const method: unknown = Reflect.get(process, name);
  if (typeof method === 'function') Reflect.apply(method, process, args);
}

function msSince(begin: number): string {
  return `${(performance.now() - begin).toFixed(1)} ms`;
}
