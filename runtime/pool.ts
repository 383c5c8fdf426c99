/**
 * The threads that replicas live on: a Piscina pool of one for each, used for what it is good at, starting threads and
 * replacing those that died. A replica is one short task, which leaves a port behind in its thread; messages then go by that
 * port and never through the task queue, whose hop costs several times as much.
 */

import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import codeCache from './code-cache.cjs';
import type { ReplicaSetup } from './messages.js';
import process from './node-process.cjs';

export interface Thread {
  readonly port: MessagePort;
  /** How many runs were begun there. */
  readonly begun: Int32Array;
  /** Settles once the thread has its port: rejected where no thread can be had. */
  readonly started: Promise<void>;
  /** Share of its time in which it did something. */
  busy(): number;
  /** The same in milliseconds, since it began. */
  busyMs(): number;
  /** For so long it waited for something to happen. A thread that waits for the processor does not. */
  idleMs(): number;
  /** Ends the thread, whatever it is doing; its port is closed when it has ended. */
  terminate(): void;
  /** Ends it for good: another one that starts has to be made. */
  close(): void;
}

const LONGEST_LOAD_MS = 500;

/** One thread: Piscina puts another in its place when it ends, for the next replica. */
interface Place {
  readonly pool: Piscina;
  isTaken: boolean;
}

export class ThreadPool {
  readonly #env: { [name: string]: string };
  readonly #places = new Set<Place>();
  /** Threads that have a replica, or had one: a thread is never used for a second. */
  readonly #used = new WeakSet<Worker>();

  readonly #loading = new Set<Int32Array>();

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = workerEnv(env);
    this.#waitAtExit();
  }

  /** `died` is told why a thread ended before its time, as far as Node says; its port may be closed by then. */
  start(setup: ReplicaSetup, died: (error: Error & { readonly code?: string }) => void): Thread {
    const place = this.#place();
    const { port1, port2 } = new MessageChannel();
    const begun = new Int32Array(new SharedArrayBuffer(4));
    const loaded = new Int32Array(new SharedArrayBuffer(4));
    this.#loading.add(loaded);
    const stop = new AbortController();
    let worker: Worker | null = null;
    const taken = (chosen: Worker): void => {
      worker = chosen;
      chosen.once('error', died);
      leaveOutput(chosen);
    };
    const task = { [Piscina.queueOptionsSymbol]: taken, setup, port: port2, begun, loaded };
    const started: Promise<void> = place.pool.run(task, { transferList: [port2], signal: stop.signal });
    started.catch(() => port1.close());
    const forget = (): void => void this.#loading.delete(loaded);
    started.then(forget, forget);
    port1.once('close', () => (place.isTaken = false));
    const use = () => worker?.performance.eventLoopUtilization();
    return {
      port: port1,
      begun,
      started,
      busy: () => use()?.utilization ?? 0,
      busyMs: () => use()?.active ?? 0,
      idleMs: () => use()?.idle ?? 0,
      terminate: () => {
        if (worker === null) stop.abort();
        else void worker.terminate();
      },
      close: () => {
        this.#places.delete(place);
        void place.pool.destroy();
      },
    };
  }

  #place(): Place {
    for (const place of this.#places) {
      if (place.isTaken) continue;
      place.isTaken = true;
      return place;
    }
    const place: Place = { pool: this.#makePool(), isTaken: true };
    this.#places.add(place);
    return place;
  }

  #makePool(): Piscina {
    const pool = new Piscina({
      filename: new URL('./replica.js', import.meta.url).href,
      minThreads: 1,
      maxThreads: 1,
      // Otherwise the event loop of a thread stands still between tasks.
      atomics: 'disabled',
      loadBalancer: (task, workers) => this.#choose(task, workers),
      env: this.#env,
    });
    // A thread that dies is told of by its port; nobody else is to be stopped by it.
    pool.on('error', () => {});
    return pool;
  }

  /**
   * A thread that is stopped in the middle of loading modules can take the process with it: Node calls what does not exist
   * yet. `process.exit` looks this up last of all; a listener would show.
   */
  #waitAtExit(): void {
    let reallyExit: unknown = Reflect.get(process, 'reallyExit');
    Object.defineProperty(process, 'reallyExit', {
      configurable: true,
      enumerable: true,
      get: () => {
        for (const loaded of this.#loading) Atomics.wait(loaded, 0, 0, LONGEST_LOAD_MS);
        return reallyExit;
      },
      set: (value: unknown) => {
        reallyExit = value;
      },
    });
  }

  /** Called at once where a thread is there, later where one is still being made. */
  #choose<T extends object>(task: object, workers: readonly T[]): T | null {
    for (const candidate of workers) {
      const info = infoOf(candidate);
      if (info === null || this.#used.has(info.worker)) continue;
      this.#used.add(info.worker);
      const taken: unknown = Reflect.get(task, Piscina.queueOptionsSymbol);
      if (typeof taken === 'function') taken(info.worker);
      // Piscina keeps the process for as long as the task goes on, which is until the thread has come up.
      queueMicrotask(() => info.unref());
      return candidate;
    }
    return null;
  }

  /** Ends all threads. */
  close(): void {
    for (const { pool } of this.#places) void pool.destroy();
    this.#places.clear();
  }
}

/** What the app writes there comes by the port: what Node has put on the process's own output for the thread is not needed, and would be seen. */
function leaveOutput({ stdout, stderr }: Worker): void {
  stdout.unpipe(process.stdout);
  stderr.unpipe(process.stderr);
  for (const each of [stdout, stderr]) each.resume();
}

interface WorkerInfo {
  readonly worker: Worker;
  unref(): void;
}

/** What Piscina knows of a thread hangs on what it shows to load balancers, behind a symbol of its own. */
function infoOf(shown: object): WorkerInfo | null {
  for (const symbol of Object.getOwnPropertySymbols(shown)) {
    const info: unknown = Reflect.get(shown, symbol);
    if (isWorkerInfo(info)) return info;
  }
  return null;
}

function isWorkerInfo(value: unknown): value is WorkerInfo {
  return typeof value === 'object' && value !== null && 'worker' in value && 'unref' in value;
}

/** Node checks NODE_OPTIONS again for threads that are given an environment, and refuses what only a process can have;
 *  the app finds it in its place nevertheless, as the replica sets its environment to home's. */
function workerEnv(env: NodeJS.ProcessEnv): { [name: string]: string } {
  const { NODE_OPTIONS: options = '', ...rest } = env;
  const kept = options.split(/\s+/).filter((word) => FOR_THREADS.test(word));
  const all = kept.length === 0 ? rest : { ...rest, NODE_OPTIONS: kept.join(' ') };
  return {
    ...Object.fromEntries(Object.entries(all).map(([name, value]) => [name, value ?? ''])),
    ...codeCache.envOfThreads(),
  };
}

/** How modules are found, and how errors are told. */
const FOR_THREADS =
  /^--(conditions=[\w-]+|preserve-symlinks(-main)?|enable-source-maps|trace-uncaught|unhandled-rejections=[\w-]+)$/;
