/**
 * Home's side of its replicas: starts them when they are wanted, as many as load asks for, knows which are ready and what they
 * can run, notices when one is gone or stuck, and puts another in its place; ends those that have long been too many.
 *
 *     starting ──> ready ──> (ending) ──> gone ──> (another) starting
 *        │           └─> too many, and nothing is left there ──> retired
 *        └─> did not start ──> another, or given up: home serves with those that are there, or alone
 */
import timers from 'node:timers';
import { Channel } from './bus.js';
import { FollowLoad } from './follow-load.js';
import type { Signs } from './link/reflect.js';
import type { Log } from './log.js';
import type { ReplicaSetup, ReplicaStarted, ToHome, ToReplica } from './messages.js';
import type { Thread, ThreadPool } from './pool.js';
import type { Target } from './scheduler.js';
import { packMessage, unpackMessage } from './wire.js';

const { setInterval, clearInterval, setTimeout } = timers;

const WINDOW = 4096;
const ACK_EVERY = 64;
/** Start-up that waits for longer waits for something that the firewall keeps from it. What computes for longer will not come to an end. */
const START_MS = 20_000;
const LONGEST_START_MS = 180_000;
const LOOK_AT_START_MS = 500;
/** In a row; a replica that ends by itself soon after its start counts as one that did not start. */
const MOST_FAILED_STARTS = 3;
const SOON_MS = 2_000;
const LONGEST_PAUSE_MS = 5_000;
const LOOK_EVERY_MS = 250;
const OUT_OF_MEMORY = 'ERR_WORKER_OUT_OF_MEMORY';

/** So many runs may wait in a replica's own queue, by what one costs: enough to keep it busy until more can come, and few
 *  enough that work is still at home when another loop has nothing to do. */
const DEPTHS = [
  { fromMs: 5, depth: 2 },
  { fromMs: 1, depth: 8 },
  { fromMs: 0, depth: 32 },
] as const;

export type ReadyReplica = Extract<ReplicaStarted, { readonly kind: 'ready' }>;

export interface ReplicaEvents {
  /** It can be given work when this has come out. */
  started(replica: Replica, found: ReadyReplica): Promise<void>;
  received(replica: Replica, message: ToHome): void;
  /** It has begun what it was sent, or finished some: there may be room again. */
  took(replica: Replica): void;
  /** After it is off the list, before another is started. */
  gone(replica: Replica): void;
  /** No other replica will ever be there. */
  gaveUp(reason: string): void;
  /** It is to end; true when it serves no connections any more. Asked again and again until then. */
  leaves(replica: Replica): boolean;
  /** It does not end after all. */
  stays(replica: Replica): void;
  /** It was decided how many there are to be. */
  decided(what: string, why: string): void;
  /** Of each message both ways; null where nobody wants to know. */
  readonly weigh: ((message: unknown) => void) | null;
}

export class Replica implements Target {
  hasStarted = false;
  /** It can be given something to do. */
  isReady = false;
  /** Runs that it has not finished. */
  active = 0;
  /** Runs that were ever sent to it. */
  sent = 0;
  /** The run of a suspect, which is alone here; or of one that has turned out to be harmless. */
  suspect: object | null = null;
  harmless = 0;
  /** Slots of its own that stand for the same functions as home's, by home's slots. */
  slots: ReadonlyMap<object, string> = new Map();
  cuts: ReadonlySet<string> = new Set();
  /** When it last said something. */
  heard = performance.now();
  since = performance.now();
  /** Heap and buffers of its thread, in bytes. */
  memory = 0;
  isEnding = false;
  /** It is not asked to end before this time. */
  staysUntil = 0;
  isRetired = false;
  /** For how long it had been busy when that was last looked at. */
  busyMs = 0;
  /** For how long it had waited for something to do by then. */
  idleMs = 0;

  constructor(
    readonly id: string,
    readonly thread: Thread,
    readonly channel: Channel<ToReplica, ToHome>,
  ) {}

  /** Runs that have been begun there; they begin in the order in which they were sent. */
  get begun(): number {
    return Atomics.load(this.thread.begun, 0);
  }

  hasRoom(costMs: number): boolean {
    if (!this.isReady || this.suspect !== null || this.channel.isFull) return false;
    const depth = DEPTHS.find(({ fromMs }) => costMs >= fromMs)?.depth ?? 1;
    return this.sent - this.begun < depth;
  }

  /** Its thread ends, and nobody takes its place. */
  retire(): void {
    this.isRetired = true;
    this.isEnding = true;
    this.thread.close();
  }

  /** Nothing is running here that might be what another replica died of. */
  get isQuiet(): boolean {
    return this.isReady && this.suspect === null && this.active === this.harmless;
  }
}

export class Replicas {
  readonly #pool: () => Promise<ThreadPool>;
  readonly #setup: () => Promise<Omit<ReplicaSetup, 'id' | 'connects'>>;
  readonly #signs: () => Promise<Signs>;
  readonly #events: ReplicaEvents;
  readonly #log: Log;
  readonly #wanted: number;
  readonly #maxBlockMs: number;
  #all: readonly Replica[] = [];
  #isWanted = false;
  #isOver = false;
  /** Being started. */
  #starting = 0;
  /** Of these, those that are being compared with home. */
  #linking = 0;
  #failedStarts = 0;
  /** Replicas get connections of their own. */
  #connects = true;
  #named = 0;
  #lastLook = performance.now();
  /** Null where all are started at once, and stay. */
  readonly #load: FollowLoad | null;

  constructor(options: {
    readonly pool: () => Promise<ThreadPool>;
    readonly setup: () => Promise<Omit<ReplicaSetup, 'id' | 'connects'>>;
    /** Of functions that home has found. */
    readonly signs: () => Promise<Signs>;
    readonly events: ReplicaEvents;
    readonly log: Log;
    readonly threads: number;
    /** How many are of use now: as many, or fewer. */
    readonly most: () => number;
    /** They may do what keeps home busy, not only what it sends away. */
    readonly relieves: () => boolean;
    readonly maxBlockMs: number;
    /** Somebody wants to see all of them from the beginning. */
    readonly allAtOnce: boolean;
    /** Work that waits at home for room. */
    readonly waiting: () => number;
    /** How busy home and each replica were since the last look. */
    readonly looked: (home: number, replicas: readonly number[]) => void;
  }) {
    this.#pool = options.pool;
    this.#setup = options.setup;
    this.#signs = options.signs;
    this.#events = options.events;
    this.#log = options.log;
    this.#wanted = options.threads;
    this.#maxBlockMs = options.maxBlockMs;
    this.#load = options.allAtOnce
      ? null
      : new FollowLoad({
          most: options.most,
          relieves: options.relieves,
          ready: () => this.#all,
          starting: () => this.#starting,
          waiting: options.waiting,
          looked: options.looked,
          start: (count, why) => this.#startMore(count, why),
          events: options.events,
        });
  }

  list(): readonly Replica[] {
    return this.#all;
  }

  /** Will there be another one, without anybody asking for it? */
  get expectsMore(): boolean {
    return this.#isWanted && !this.#isOver;
  }

  /** May be called as often as one likes. */
  want(why: string): void {
    if (this.#isWanted || this.#isOver) return;
    this.#isWanted = true;
    setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    if (this.#load === null) return this.#startMore(this.#wanted, 'all are wanted at once');
    this.#startMore(1, why);
    this.#load.begin();
  }

  #startMore(count: number, why: string): void {
    this.#events.decided(count === 1 ? 'one more replica is started' : `${count} more replicas are started`, why);
    for (let index = 0; index < count; index++) this.#start();
  }

  #start(): void {
    this.#starting++;
    this.#begin(`replica-${++this.#named}`).catch((error: unknown) => {
      this.#giveUp(error instanceof Error ? error.message : String(error));
    });
  }

  async #begin(id: string): Promise<void> {
    const [pool, setup] = await Promise.all([this.#pool(), this.#setup()]);
    if (this.#isOver) return;
    const connects = this.#connects;
    let failed = 'its thread has ended';
    const thread = pool.start({ ...setup, id, connects }, ({ code, message }) => {
      failed = message;
      // Its own errors it tells of by itself.
      if (code === OUT_OF_MEMORY) this.#log.error(`${id} ran out of memory, and is replaced`);
    });
    const channel = new Channel<ToReplica, ToHome>(thread.port, {
      wire: { pack: packMessage, unpack: unpackMessage },
      window: WINDOW,
      ackEvery: ACK_EVERY,
      receive: (message) => {
        replica.heard = performance.now();
        if (message.kind === 'ready') void this.#ready(replica, message);
        else if (message.kind === 'gave-up' && message.isUnconnected && connects)
          failed = this.#doWithout(message.reason);
        else if (message.kind === 'gave-up') this.#giveUp(message.reason);
        else if (message.kind === 'may-retire') this.#load?.mayRetire(replica, message.holds);
        else this.#events.received(replica, message);
      },
      took: () => this.#events.took(replica),
      closed: () => {
        clearInterval(timer);
        if (replica.hasStarted) this.#gone(replica, failed);
        else this.#startFailed(replica, failed);
      },
      ...(this.#events.weigh === null ? {} : { weigh: this.#events.weigh }),
    });
    const replica = new Replica(id, thread, channel);
    // It does not wait for them, but they save it most of what finding its functions takes.
    void this.#signs().then((signs) => channel.sendAtOnce({ kind: 'signs', signs }));
    let waitedMs = 0;
    const timer = setInterval(() => {
      if (replica.hasStarted) return clearInterval(timer);
      waitedMs += LOOK_AT_START_MS;
      const most = thread.idleMs() >= START_MS ? START_MS : LONGEST_START_MS;
      if (waitedMs < most) return;
      clearInterval(timer);
      failed = `its start-up was not over after ${most / 1000} seconds`;
      thread.terminate();
    }, LOOK_AT_START_MS);
    timer.unref();
    thread.started.catch((error: unknown) => {
      failed = error instanceof Error ? error.message : String(error);
      channel.close();
    });
  }

  async #ready(replica: Replica, found: ReadyReplica): Promise<void> {
    if (this.#isOver) return;
    replica.hasStarted = true;
    replica.isReady = true;
    replica.since = performance.now();
    // Its start-up does not count.
    replica.busyMs = replica.thread.busyMs();
    for (const miss of found.misses) this.#log.debug(`${replica.id} asked for what home had not: ${miss}`);
    this.#linking++;
    await this.#events.started(replica, found);
    this.#linking--;
    this.#starting--;
    // It may have ended meanwhile.
    if (!replica.isReady) return;
    this.#all = [...this.#all, replica];
    this.#log.debug(`${replica.id} is ready`);
    this.#events.took(replica);
  }

  #startFailed(replica: Replica, reason: string): void {
    if (this.#isOver) return;
    replica.channel.close();
    replica.thread.terminate();
    this.#log.debug(`${replica.id} did not start: ${reason}`);
    // Connections are all that is real in a start-up: whatever they did to this one, the next one starts without them.
    this.#connects = false;
    this.#again(reason);
  }

  /** What speaks over connections stays at home then; the rest need not. */
  #doWithout(reason: string): string {
    if (this.#connects) this.#log.info(`what needs a connection stays on the main thread: ${reason}`);
    this.#connects = false;
    return reason;
  }

  /** At once, then at growing intervals, then never more. It counts as being started all the while. */
  #again(reason: string): void {
    if (++this.#failedStarts >= MOST_FAILED_STARTS) return this.#giveUp(reason);
    const pause = Math.min(LONGEST_PAUSE_MS, 100 * 2 ** this.#failedStarts);
    const start = (): void => {
      this.#starting--;
      this.#start();
    };
    setTimeout(start, pause).unref();
  }

  #giveUp(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#load?.end();
    this.#events.gaveUp(reason);
    if (this.#all.length === 0 && this.#linking === 0) void this.#pool().then((pool) => pool.close());
  }

  #gone(replica: Replica, why: string): void {
    if (!replica.isRetired) this.#log.debug(`${replica.id} has ended: ${why}`);
    replica.isReady = false;
    replica.isEnding = true;
    this.#all = this.#all.filter((each) => each !== replica);
    this.#load?.gone(replica);
    // One that nobody had asked for anything ended by itself, and so may the next.
    const hasFailed = replica.active === 0 && performance.now() - replica.since < SOON_MS;
    this.#events.gone(replica);
    if (replica.isRetired) this.#events.decided(`${replica.id} has ended`, 'nothing was left there');
    if (this.#isOver || replica.isRetired) return;
    this.#starting++;
    if (hasFailed) return this.#again(`${replica.id} ended by itself soon after its start`);
    this.#failedStarts = 0;
    this.#starting--;
    this.#start();
  }

  /** A loop that computes answers nothing, and neither does one that will never come back. */
  #look(): void {
    const now = performance.now();
    // Home itself did not listen for a while: nobody else can be blamed for what it has not heard.
    const wasDeaf = now - this.#lastLook > 2 * LOOK_EVERY_MS;
    this.#lastLook = now;
    for (const replica of this.#all) {
      const idleMs = replica.thread.idleMs();
      const hasWaited = idleMs > replica.idleMs;
      replica.idleMs = idleMs;
      // Whoever waits for something to do does not compute. One that serves connections may have no run at all.
      if (hasWaited || wasDeaf) replica.heard = now;
      if (!hasWaited || replica.active > 0) replica.channel.send({ kind: 'ping' });
      if (this.#maxBlockMs === 0 || replica.isEnding || now - replica.heard < this.#maxBlockMs) continue;
      this.#log.error(`${replica.id} has not answered for ${this.#maxBlockMs} ms (--max-block-ms) and is replaced`);
      // What it still does until it has ended counts, so nothing is run again before that.
      replica.isReady = false;
      replica.isEnding = true;
      replica.thread.terminate();
    }
  }
}
