/**
 * Home, from the moment that the app serves: links what its servers call, puts stubs where something may move, starts
 * replicas when they are of use, and ends with the program.
 *
 *     a server listens ─> link ─> stubs ─> (auto: a handler is found heavy) ─> replicas ─> dispatch
 */
import type { Server } from 'node:http';
import os from 'node:os';
import process from 'node:process';
import type { LinkFluxion, LinkManifest, StartManifest } from '../flx/run-manifest.js';
import { AcceptPlan } from './accept/plan.js';
import { decode } from './codec.js';
import { Dispatcher } from './dispatch.js';
import { readLink } from './evaluate.js';
import type { Recorder } from './firewall/startup-record.cjs';
import { Classes } from './link/classes.js';
import { findDifference, freshReach, HomeReach, type Reached } from './link/compare.js';
import { FluxionFinder } from './link/find-fluxion.js';
import { type LinkedServer, type LinkedSlot, linkServer } from './link/link-home.js';
import { pairSlots, remoteKey } from './link/pair.js';
import { Reflector } from './link/reflect.js';
import { Verdicts } from './link/verdicts.js';
import { Log } from './log.js';
import type { RemoteCut, RemoteSlot, ReplicaSetup, ToHome } from './messages.js';
import { OwnerRuns } from './owner-runs.js';
import { type ReadyReplica, type Replica, Replicas } from './replicas.js';
import { Counts, Report } from './report.js';
import { divergenceText, lookAfterRequest, Sanitizer } from './sanitize.js';
import { Scheduler } from './scheduler.js';
import { drainOnSignals } from './shutdown.js';
import { Stubs } from './stubs.js';
import type { RunOptions, SwitchableLoop } from './types.js';
import { warnHere } from './warnings.js';
import watch from './watch-loads.cjs';
import { weigh } from './weigh.js';

export interface EngineContext {
  /** Null where nothing may move: there is only something to report then. */
  readonly prepared: { readonly folder: string; readonly manifest: StartManifest } | null;
  readonly options: RunOptions;
  readonly loop: SwitchableLoop;
  readonly recorder: Recorder | null;
  /** As it was before the first line of the app. */
  readonly env: NodeJS.ProcessEnv;
}

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
  readonly #finder: FluxionFinder | null;
  readonly #dispatcher: Dispatcher;
  readonly #fluxionOf: (id: string) => LinkFluxion | undefined;
  #reach: HomeReach | null = null;
  readonly #stubs: Stubs;
  readonly #ownerRuns: OwnerRuns;
  /** Something behind a cut may leave home. */
  readonly #hasCuts: boolean;
  readonly #replicas: Replicas;
  readonly #servers: LinkedServer[] = [];
  readonly #listening: Server[] = [];
  readonly #verdicts: Verdicts;
  /** Null where home accepts all connections, whatever comes. */
  readonly #accept: AcceptPlan | null;
  readonly #report: Report | null;
  #isAllHome = false;
  #hadReplica = false;

  constructor(context: EngineContext) {
    this.#context = context;
    const { options, prepared } = context;
    this.#log = new Log(options.logLevel);
    context.recorder?.stop();
    this.#replicas = this.#makeReplicas();
    const scheduler = new Scheduler(options.placement === 'eager' ? 'eager' : 'auto');
    const link = prepared === null ? null : readLink(prepared.folder);
    this.#dispatcher = new Dispatcher({
      scheduler,
      replicas: () => this.#replicas.list(),
      expectsMore: () => this.#replicas.expectsMore,
      wanted: () => this.#replicas.want(),
      mostWaiting: MOST_WAITING[options.overload],
      keepsParts: link?.fluxions.some(({ movable, cut }) => !movable && cut) ?? false,
      counts: this.#counts,
      log: this.#log,
    });
    const byId = new Map(link?.fluxions.map((fluxion) => [fluxion.id, fluxion]));
    this.#fluxionOf = (id) => byId.get(id);
    this.#finder = prepared === null || link === null ? null : new FluxionFinder(prepared.manifest, link);
    this.#ownerRuns = new OwnerRuns(this.#dispatcher, context.loop.makes, (id) => {
      const fluxion = byId.get(id);
      return fluxion === undefined ? null : this.#stubs.stateOf(fluxion);
    });
    this.#stubs = new Stubs({
      dispatcher: this.#dispatcher,
      scheduler,
      counts: this.#counts,
      overload: options.overload,
      reports: options.report !== null,
      makes: context.loop.makes,
      fluxionOf: (id) => byId.get(id),
    });
    this.#hasCuts = link?.fluxions.some(({ movable, cut }) => movable && cut) ?? false;
    this.#accept = this.#planAccept(link);
    const handlers = link?.fluxions.filter(({ kind, movable }) => kind === 'start' && movable) ?? [];
    const verdicts = new Verdicts(handlers);
    this.#verdicts = verdicts;
    const report =
      options.report === null ? null : new Report(options.report, this.#counts, () => verdicts.report(), this.#log);
    this.#report = report;
    drainOnSignals({
      servers: () => this.#listening,
      isIdle: () => this.#dispatcher.isIdle,
      beforeEnd: () => report?.write(),
    });
  }

  addServer(server: Server, early: readonly object[]): void {
    for (const req of early) this.#counts.request(req, 'home');
    const isFirst = this.#servers.length === 0;
    const reflector = new Reflector();
    const linked = linkServer(server, `server${this.#servers.length}`, this.#finder, reflector);
    this.#mindUnknownFiles(reflector.scripts());
    reflector.close();
    this.#servers.push(linked);
    this.#listening.push(server);
    let isMovable = false;
    for (const slot of linked.slots) if (this.#placeStub(slot)) isMovable = true;
    if (this.#context.options.report !== null) {
      server.prependListener('request', (req) => this.#counts.request(req, 'home'));
    }
    if (this.#hasCuts && !this.#isAllHome) {
      isMovable = true;
      this.#context.loop.decide(this.#stubs.cuts());
    }
    this.#accept?.addServer(server, linked);
    if (isMovable && isFirst) watch.watchLoads((file) => this.#mindUnknownFiles([file]));
    if (!isMovable) this.#log.info(`${linked.root}: all that it calls stays on the main thread`);
    if (isMovable && this.#context.options.placement === 'eager') this.#replicas.want();
    if (!isMovable) this.#linked();
  }

  /** Nothing more is to be found out about what may move. */
  #linked(): void {
    this.#verdicts.done();
    this.#report?.write();
  }

  /** Code that the compiler has not read may change anything. */
  #mindUnknownFiles(scripts: Iterable<string>): void {
    const unknown = this.#finder?.unknownFiles(scripts) ?? [];
    if (unknown.length === 0 || this.#isAllHome) return;
    this.#isAllHome = true;
    this.#stubs.keepHome();
    this.#accept?.end();
    this.#log.info(`everything stays on the main thread: ${unknown[0]} was loaded, and the compiler has not seen it`);
  }

  #placeStub(slot: LinkedSlot): boolean {
    const { fluxion } = slot;
    const why = this.#staysBy(slot);
    this.#verdicts.stays(slot, why);
    if (fluxion === null) return false;
    const moves = fluxion.movable && why === null;
    if (!moves && this.#context.options.report === null) return false;
    if (moves) this.#stubs.place(slot, fluxion);
    else this.#stubs.count(slot, fluxion);
    return moves;
  }

  /** Null where nothing of the program's text, nor of what it runs with, keeps it home. */
  #staysBy({ fluxion, kind }: LinkedSlot): string | null {
    if (this.#isAllHome) return 'a module was loaded that the compiler has not seen';
    if (kind === 'error') return 'handlers of errors run on the main thread';
    if (kind === 'param') return 'handlers of parameters run on the main thread';
    return fluxion?.why ?? null;
  }

  /** What is recorded, reported by fluxion or looked at closely has to pass by here. */
  #planAccept(link: LinkManifest | null): AcceptPlan | null {
    const { prepared, options } = this.#context;
    const { accept: mode, placement, record, sanitize } = options;
    if (link === null || prepared === null || mode === 'home' || record !== null || sanitize) return null;
    // Whoever says "eager" wants to see handlers move.
    if (placement === 'eager' && mode === 'auto') return null;
    return new AcceptPlan({
      mode,
      start: prepared.manifest,
      link,
      log: this.#log,
      wanted: () => this.#replicas.want(),
      hasHeavy: () => this.#stubs.hasHeavy(),
    });
  }

  // --- replicas -------------------------------------------------------------------------------------------------------

  #makeReplicas(): Replicas {
    const { options, env } = this.#context;
    const threads = options.threads === 'auto' ? os.availableParallelism() : options.threads;
    return new Replicas({
      pool: () => this.#makePool(threads, env),
      setup: () => this.#setup(),
      log: this.#log,
      threads,
      maxBlockMs: options.maxBlockMs,
      events: {
        started: (replica, found) => this.#started(replica, found),
        received: (replica, message) => this.#received(replica, message),
        took: () => this.#dispatcher.pump(),
        gone: (replica) => this.#gone(replica),
        gaveUp: (reason) => this.#gaveUp(reason),
        weigh: options.report === null ? null : (message) => this.#weigh(message),
      },
    });
  }

  #pool: ReturnType<typeof loadPool> | null = null;

  async #makePool(threads: number, env: NodeJS.ProcessEnv): ReturnType<typeof loadPool> {
    this.#pool ??= loadPool(threads, env);
    return this.#pool;
  }

  async #setup(): Promise<Omit<ReplicaSetup, 'id'>> {
    const { prepared, recorder } = this.#context;
    if (prepared === null || recorder === null) throw new Error('the program was not compiled');
    await recorder.settled();
    return {
      folder: prepared.folder,
      record: recorder.take(),
      sanitize: this.#context.options.sanitize,
      accepts: this.#accept !== null,
    };
  }

  #started(replica: Replica, found: ReadyReplica): void {
    const { slots, cuts, unconnected } = found;
    const all = this.#servers.flatMap((server) => server.slots);
    const pairs = pairSlots(all, slots);
    const names = this.#dispatcher.namesOf(replica);
    for (const { root, things } of this.#servers) {
      const remote = pairs.roots.get(root);
      if (remote !== undefined) names.add(remote, things);
    }
    names.classes = this.#classes(pairs.slots);
    const lacks = (fluxion: LinkFluxion | undefined | null): boolean =>
      unconnected.length > 0 && (fluxion?.connects.length ?? 0) > 0;
    const equal = this.#equality(pairs.slots, slots, cuts);
    this.#accept?.started(replica, found, pairs, (slot) => lacks(slot.fluxion));
    replica.slots = new Map([...pairs.slots].filter(([slot, key]) => !lacks(slot.fluxion) && equal.slots.has(key)));
    for (const slot of all) {
      if (replica.slots.has(slot)) this.#verdicts.moves(slot);
      else if (slot.fluxion?.movable && this.#staysBy(slot) === null) {
        const isThere = pairs.slots.has(slot);
        if (!isThere) this.#verdicts.stays(slot, 'in a replica no router has it at the same place');
        else if (lacks(slot.fluxion))
          this.#verdicts.stays(slot, `${unconnected.join(', ')}: start-up connects, and a replica’s start-up does not`);
      }
    }
    replica.cuts = new Set([...equal.cuts].filter((id) => !lacks(this.#fluxionOf(id))));
    this.#counts.join(replica.id, { busy: () => replica.thread.busy(), memory: () => replica.memory });
    this.#sanitizeHome(all.filter((slot) => replica.slots.has(slot)));
    this.#hadReplica = true;
    this.#linked();
    this.#dispatcher.pump();
  }

  #classes(pairs: ReadonlyMap<LinkedSlot, string>): Classes | null {
    const { prepared } = this.#context;
    if (prepared === null) return null;
    const slots = new Map([...pairs].map(([{ fn }, key]) => [key, fn]));
    return new Classes({ slots, start: prepared.manifest, link: readLink(prepared.folder) });
  }

  /** Slots and cuts of a replica that reach there what they reach here. */
  #equality(
    pairs: ReadonlyMap<LinkedSlot, string>,
    slots: readonly RemoteSlot[],
    cuts: readonly RemoteCut[],
  ): { readonly slots: ReadonlySet<string>; readonly cuts: ReadonlySet<string> } {
    const { prepared, loop } = this.#context;
    const equal = { slots: new Set<string>(), cuts: new Set<string>() };
    if (prepared === null) return equal;
    const reflector = new Reflector();
    const reach = (this.#reach ??= new HomeReach(prepared.manifest, readLink(prepared.folder)));
    const remote = new Map(slots.map((slot) => [remoteKey(slot), slot.reached]));
    for (const [slot, key] of pairs) {
      const { own, fluxion } = slot;
      const there = remote.get(key);
      if (fluxion === null || !there) continue;
      const different = this.#differsIn(fluxion, reach.of(own, reflector), there);
      if (different === null) equal.slots.add(key);
      else this.#verdicts.stays(slot, different);
    }
    for (const { id, reached } of cuts) {
      const [make, fluxion] = [loop.makes.get(id), this.#fluxionOf(id)];
      if (make === undefined || fluxion === undefined) continue;
      if (this.#differsIn(fluxion, reach.of(make, reflector), reached) === null) equal.cuts.add(id);
    }
    reflector.close();
    return equal;
  }

  #differsIn({ id, module, line }: LinkFluxion, here: Reached, there: Reached): string | null {
    const different = findDifference(here, there);
    if (different === null) return null;
    const why = `in a replica "${different}" is not what it is here`;
    this.#log.infoOnce(`"${id}" (${module}:${line}) stays on the main thread: ${why}`);
    return why;
  }

  // --- sanitize -------------------------------------------------------------------------------------------------------

  /** What runs on replicas must stay as it was at home, too: it is what they were compared with. */
  #sanitizeHome(moving: readonly LinkedSlot[]): void {
    const { prepared, options } = this.#context;
    if (!options.sanitize || prepared === null || this.#hadReplica) return;
    const link = readLink(prepared.folder);
    const reach = freshReach(prepared.manifest, link);
    const watched = moving.flatMap(({ fluxion, own }) =>
      fluxion === null ? [] : [{ fluxion, fn: own, reached: reach.of(own) }],
    );
    reach.close();
    const sanitizer = new Sanitizer(watched, () => freshReach(prepared.manifest, link));
    const look = (): void => {
      for (const each of sanitizer.look()) this.#diverged(divergenceText('home', each));
    };
    for (const server of this.#listening) {
      server.prependListener('request', (req, res) => lookAfterRequest(req, res, sanitizer, look));
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
        (message.fd === 1 ? process.stdout : process.stderr).write(message.chunk);
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
        return;
      case 'diverged':
        this.#diverged(message.text);
        return;
      case 'uncaught':
        emitUncaught(message);
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

  #gaveUp(reason: string): void {
    const others = this.#replicas.list().length;
    const consequence =
      others === 0 ? 'which serves alone' : `and ${others} other that there ${others === 1 ? 'is' : 'are'}`;
    const text = `no further thread can run this app beside the main one, ${consequence}: ${reason}`;
    if (this.#hadReplica) this.#log.warn(text);
    else this.#log.info(text);
    this.#linked();
    this.#dispatcher.pump();
  }
}

async function loadPool(threads: number, env: NodeJS.ProcessEnv) {
  const { ThreadPool } = await import('./pool.js');
  return new ThreadPool(threads, env);
}

/** What a handler did to the process from its thread. */
function runOnProcess(name: string, args: readonly unknown[]): void {
  const method: unknown = Reflect.get(process, name);
  if (typeof method === 'function') Reflect.apply(method, process, args);
}

/** Nobody caught it there, and the app has listeners for that, which know what home knows. */
function emitUncaught({ event, error, origin }: Extract<ToHome, { kind: 'uncaught' }>): void {
  const thrown = decode(error);
  if (event !== 'unhandledRejection') {
    Reflect.apply(process.emit, process, [event, thrown, origin]);
    return;
  }
  const promise = Promise.reject(thrown);
  promise.catch(() => {});
  process.emit(event, thrown, promise);
}
