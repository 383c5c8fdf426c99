/**
 * Home's side of its replicas: starts them when they are wanted, knows which are ready and what they can run, notices
 * when one is gone or stuck, and puts another in its place.
 *
 *     starting ──> ready ──> gone ──> (another) starting
 *        └─> gave up: home serves alone
 */
import timers from 'node:timers';
import { Channel } from './bus.js';
import type { Log } from './log.js';
import type { ReplicaSetup, ReplicaStarted, ToHome, ToReplica } from './messages.js';
import type { Thread, ThreadPool } from './pool.js';
import type { Target } from './scheduler.js';

const { setInterval, setTimeout } = timers;

/** So many runs may wait on one replica; what comes on top runs at home. */
const MOST_ACTIVE = 256;
const WINDOW = 4096;
/** Start-up that waits for longer waits for something that the firewall keeps from it. */
const START_MS = 20_000;
const MOST_FAILED_STARTS = 3;
const LOOK_EVERY_MS = 250;

export type ReadyReplica = Extract<ReplicaStarted, { readonly kind: 'ready' }>;

export interface ReplicaEvents {
  started(replica: Replica, found: ReadyReplica): void;
  received(replica: Replica, message: ToHome): void;
  /** After it is off the list, before another is started. */
  gone(replica: Replica): void;
  /** No replica will ever be there: a reason, and whether there has been one. */
  gaveUp(reason: string, hadOne: boolean): void;
}

export class Replica implements Target {
  isReady = false;
  active = 0;
  /** Slots of its own that stand for the same functions as home's, by home's slots. */
  slots: ReadonlyMap<object, string> = new Map();
  cuts: ReadonlySet<string> = new Set();
  /** Why it could not start. */
  reason: string | null = null;
  /** When it last said something. */
  heard = performance.now();

  constructor(
    readonly id: string,
    readonly thread: Thread,
    readonly channel: Channel<ToReplica, ToHome>,
  ) {}

  get isFull(): boolean {
    return this.active >= MOST_ACTIVE || this.channel.isFull;
  }
}

export class Replicas {
  readonly #pool: () => Promise<ThreadPool>;
  readonly #setup: () => Promise<Omit<ReplicaSetup, 'id'>>;
  readonly #events: ReplicaEvents;
  readonly #log: Log;
  readonly #wanted: number;
  readonly #maxBlockMs: number;
  #all: Replica[] = [];
  #isWanted = false;
  #isOver = false;
  #failedStarts = 0;
  #count = 0;
  #hadOne = false;

  constructor(options: {
    readonly pool: () => Promise<ThreadPool>;
    readonly setup: () => Promise<Omit<ReplicaSetup, 'id'>>;
    readonly events: ReplicaEvents;
    readonly log: Log;
    readonly threads: number;
    readonly maxBlockMs: number;
  }) {
    this.#pool = options.pool;
    this.#setup = options.setup;
    this.#events = options.events;
    this.#log = options.log;
    this.#wanted = options.threads;
    this.#maxBlockMs = options.maxBlockMs;
  }

  list(): readonly Replica[] {
    return this.#all;
  }

  get hasGivenUp(): boolean {
    return this.#isOver;
  }

  /** May be called as often as one likes. */
  want(): void {
    if (this.#isWanted || this.#isOver) return;
    this.#isWanted = true;
    for (let index = 0; index < this.#wanted; index++) this.#start();
    setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  /** Home shuts down: none is started any more. */
  stop(): void {
    this.#isOver = true;
  }

  #start(): void {
    this.#begin(`replica-${++this.#count}`).catch((error: unknown) => {
      this.#giveUp(error instanceof Error ? error.message : String(error));
    });
  }

  async #begin(id: string): Promise<void> {
    const [pool, setup] = await Promise.all([this.#pool(), this.#setup()]);
    if (this.#isOver) return;
    const thread = pool.start({ ...setup, id });
    const replica: Replica = new Replica(
      id,
      thread,
      new Channel<ToReplica, ToHome>(thread.port, {
        window: WINDOW,
        receive: (message) => {
          replica.heard = performance.now();
          if (message.kind === 'gave-up') replica.reason = message.reason;
          else this.#events.received(replica, message);
        },
        closed: () => this.#gone(replica),
      }),
    );
    const timer = setTimeout(() => thread.terminate(), START_MS);
    timer.unref();
    const outcome = await thread.started.catch((error: unknown): ReplicaStarted => {
      return { kind: 'gave-up', threadId: -1, reason: error instanceof Error ? error.message : String(error) };
    });
    clearTimeout(timer);
    if (outcome.kind === 'gave-up') this.#startFailed(replica, replica.reason ?? outcome.reason);
    else this.#ready(replica, outcome);
  }

  #ready(replica: Replica, found: ReadyReplica): void {
    if (this.#isOver || !replica.channel.isOpen) return;
    this.#failedStarts = 0;
    this.#hadOne = true;
    this.#all = [...this.#all, replica];
    replica.isReady = true;
    replica.heard = performance.now();
    for (const miss of found.misses) this.#log.debug(`${replica.id} asked for what home had not: ${miss}`);
    this.#log.debug(`${replica.id} is ready`);
    this.#events.started(replica, found);
  }

  #startFailed(replica: Replica, reason: string): void {
    replica.channel.close();
    replica.thread.terminate();
    this.#failedStarts++;
    this.#log.debug(`${replica.id} did not start: ${reason}`);
    if (this.#failedStarts >= MOST_FAILED_STARTS || !this.#hadOne) this.#giveUp(reason);
    else this.#start();
  }

  #giveUp(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.gaveUp(reason, this.#hadOne);
  }

  #gone(replica: Replica): void {
    if (!replica.isReady) return;
    replica.isReady = false;
    this.#all = this.#all.filter((each) => each !== replica);
    this.#events.gone(replica);
    if (!this.#isOver) this.#start();
  }

  /** A loop that computes answers nothing, and neither does one that will never come back. */
  #look(): void {
    const now = performance.now();
    for (const replica of this.#all) {
      if (replica.active === 0) {
        replica.heard = now;
        continue;
      }
      replica.channel.send({ kind: 'ping' });
      if (this.#maxBlockMs === 0 || now - replica.heard < this.#maxBlockMs) continue;
      this.#log.error(`${replica.id} has not answered for ${this.#maxBlockMs} ms (--max-block-ms) and is replaced`);
      replica.thread.terminate();
      this.#gone(replica);
    }
  }
}
