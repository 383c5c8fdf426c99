/**
 * Home, from the moment that the app serves: links what its servers call, puts stubs where something may move, starts
 * replicas when they are of use, and ends with the program.
 *
 *     a server listens ─> link ─> stubs ─> (auto: a handler is found heavy) ─> replicas ─> dispatch
 */
import type { Server } from 'node:http';
import os from 'node:os';
import process from 'node:process';
import type { LinkFluxion, StartManifest } from '../flx/run-manifest.js';
import { Dispatcher } from './dispatch.js';
import { readLink } from './evaluate.js';
import type { Recorder } from './firewall/startup-record.cjs';
import { FluxionFinder } from './link/find-fluxion.js';
import { type LinkedServer, type LinkedSlot, linkServer } from './link/link-home.js';
import { pairSlots } from './link/pair.js';
import { Reflector } from './link/reflect.js';
import { Log } from './log.js';
import type { ReplicaSetup, ToHome } from './messages.js';
import { OwnerRuns } from './owner-runs.js';
import { type ReadyReplica, type Replica, Replicas } from './replicas.js';
import { Counts, Report } from './report.js';
import { Scheduler } from './scheduler.js';
import { drainOnSignals } from './shutdown.js';
import { Stubs } from './stubs.js';
import type { RunOptions, SwitchableLoop } from './types.js';

export interface EngineContext {
  /** Null where nothing may move: there is only something to report then. */
  readonly prepared: { readonly folder: string; readonly manifest: StartManifest } | null;
  readonly options: RunOptions;
  readonly loop: SwitchableLoop;
  readonly recorder: Recorder | null;
  /** As it was before the first line of the app. */
  readonly env: NodeJS.ProcessEnv;
}

let engine: Engine | null = null;

/** Called for each server, in the order in which they were asked to listen. */
export function serve(server: Server, context: EngineContext): void {
  engine ??= new Engine(context);
  engine.addServer(server);
}

class Engine {
  readonly #context: EngineContext;
  readonly #log: Log;
  readonly #counts = new Counts();
  readonly #finder: FluxionFinder | null;
  readonly #dispatcher: Dispatcher;
  readonly #fluxionOf: (id: string) => LinkFluxion | undefined;
  readonly #stubs: Stubs;
  readonly #ownerRuns: OwnerRuns;
  /** Something behind a cut may leave home. */
  readonly #hasCuts: boolean;
  readonly #replicas: Replicas;
  readonly #scheduler: Scheduler<Replica>;
  readonly #servers: LinkedServer[] = [];
  readonly #listening: Server[] = [];
  #isAllHome = false;

  constructor(context: EngineContext) {
    this.#context = context;
    const { options, prepared } = context;
    this.#log = new Log(options.logLevel);
    context.recorder?.stop();
    this.#replicas = this.#makeReplicas();
    const mode = options.placement === 'eager' ? 'eager' : 'auto';
    this.#scheduler = new Scheduler<Replica>(
      mode,
      () => this.#replicas.list(),
      () => this.#replicas.want(),
    );
    this.#dispatcher = new Dispatcher({
      scheduler: () => this.#scheduler,
      replicas: () => this.#replicas.list(),
      expectsMore: () => !this.#replicas.hasGivenUp,
      counts: this.#counts,
      log: this.#log,
    });
    const link = prepared === null ? null : readLink(prepared.folder);
    const byId = new Map(link?.fluxions.map((fluxion) => [fluxion.id, fluxion]));
    this.#fluxionOf = (id) => byId.get(id);
    this.#finder = prepared === null || link === null ? null : new FluxionFinder(prepared.manifest, link);
    this.#ownerRuns = new OwnerRuns(this.#dispatcher, context.loop.makes, (id) => {
      const fluxion = byId.get(id);
      return fluxion === undefined ? null : this.#stubs.stateOf(fluxion);
    });
    this.#stubs = new Stubs({
      dispatcher: this.#dispatcher,
      scheduler: this.#scheduler,
      counts: this.#counts,
      overload: options.overload,
      makes: context.loop.makes,
      fluxionOf: (id) => byId.get(id),
    });
    this.#hasCuts = link?.fluxions.some(({ movable, cut }) => movable && cut) ?? false;
    const report = options.report === null ? null : new Report(options.report, this.#counts, this.#log);
    drainOnSignals(
      () => this.#listening,
      () => report?.write(),
    );
  }

  addServer(server: Server): void {
    const reflector = new Reflector();
    const linked = linkServer(server, `server${this.#servers.length}`, this.#finder, reflector);
    this.#mindUnknownFiles(reflector);
    reflector.close();
    this.#servers.push(linked);
    this.#listening.push(server);
    let isMovable = false;
    for (const slot of linked.slots) if (this.#placeStub(slot)) isMovable = true;
    if (this.#context.options.report !== null) this.#countRequests(server);
    if (this.#hasCuts && !this.#isAllHome) {
      isMovable = true;
      this.#context.loop.decide(this.#stubs.cuts());
    }
    if (!isMovable) this.#log.info(`${linked.root}: all that it calls stays on the main thread`);
    if (isMovable && this.#context.options.placement === 'eager') this.#replicas.want();
  }

  /** Code that the compiler has not read may change anything. */
  #mindUnknownFiles(reflector: Reflector): void {
    const unknown = this.#finder?.unknownFiles(reflector.scripts()) ?? [];
    if (unknown.length === 0) return;
    this.#isAllHome = true;
    this.#log.info(`everything stays on the main thread: ${unknown[0]} was loaded, and the compiler has not seen it`);
  }

  #placeStub(slot: LinkedSlot): boolean {
    const { fluxion, kind } = slot;
    if (fluxion === null) return false;
    const moves = fluxion.movable && kind === 'handler' && !this.#isAllHome;
    if (!moves && this.#context.options.report === null) return false;
    slot.replace(moves ? this.#stubs.handler(slot, fluxion) : this.#stubs.counter(slot, fluxion));
    return moves;
  }

  #countRequests(server: Server): void {
    server.prependListener('request', () => void this.#counts.accepted++);
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
        gone: (replica) => this.#dispatcher.gone(replica),
        gaveUp: (reason, hadOne) => this.#gaveUp(reason, hadOne),
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
    return { folder: prepared.folder, record: recorder.take() };
  }

  #started(replica: Replica, { slots, cuts, unconnected }: ReadyReplica): void {
    const all = this.#servers.flatMap((server) => server.slots);
    const pairs = pairSlots(all, slots);
    const names = this.#dispatcher.namesOf(replica);
    for (const { root, things } of this.#servers) {
      const remote = pairs.roots.get(root);
      if (remote !== undefined) names.add(remote, things);
    }
    const lacks = (fluxion: LinkFluxion | undefined | null): boolean =>
      unconnected.length > 0 && (fluxion?.connects.length ?? 0) > 0;
    replica.slots = new Map([...pairs.slots].filter(([slot]) => !lacks(slot.fluxion)));
    replica.cuts = new Set(cuts.filter((id) => !lacks(this.#fluxionOf(id))));
    this.#dispatcher.adopt();
  }

  #received(replica: Replica, message: ToHome): void {
    this.#counts.bus.messages++;
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
      case 'crash':
        this.#log.error(`${replica.id} ended by an error that nobody caught, and is replaced:\n${message.stack}`);
        return;
      case 'run':
        this.#ownerRuns.take(replica, message);
        return;
      case 'pong':
        this.#counts.loop(replica.id).busy = message.busy;
        return;
      default:
        this.#dispatcher.receive(replica, message);
    }
  }

  #gaveUp(reason: string, hadOne: boolean): void {
    const text = `no thread can run this app beside the main one, which serves alone: ${reason}`;
    if (hadOne) this.#log.warn(text);
    else this.#log.info(text);
    this.#dispatcher.adopt();
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
