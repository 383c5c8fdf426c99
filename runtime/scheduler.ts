/**
 * Reads: what runs cost at home and elsewhere, how busy home is.
 * Gives: for each run of a movable fluxion, whether it goes to another loop.
 *
 * `eager` sends away all that may go. `auto` keeps at home what is cheaper than a message there and back, and finds out
 * what is not: by the clock where a handler computes before its first wait; by a trial where home is busy and nobody
 * knows with what, since what comes behind a wait is not seen from here.
 *
 *     cheap ── runs at home took long ─────────────────────> away ── costs little there ──> cheap, and left alone for a while
 *     cheap ── home is busy with something unseen ──> trial ── costs more than the way ──> away
 *                                                        └─ costs less ──> cheap, and left alone for a while
 *
 * The way is as long as the message: a megabyte that was parsed at home costs more to send than most handlers do with it. So
 * what sending takes is measured, and what is not worth that comes home at once, by trial or not. That is remembered: no trial
 * is begun that could not win as much.
 *
 * Where all loops take connections none has more time than another, and a message is worth it only for what would hold up the
 * loop that it came to. Of what is shorter a few go away nevertheless, as it is seen only there what it costs in all.
 */
import { subscribe } from 'node:diagnostics_channel';
import { performance } from 'node:perf_hooks';
import fastPath from './fast-path/born-as-express.cjs';
import process from './node-process.cjs';

/** A loop beside home, as far as it matters here. */
export interface Target {
  readonly isReady: boolean;
}

export interface Movable {
  readonly id: string;
  mode: 'cheap' | 'trial' | 'away';
  /** Milliseconds of computing per run, as measured at home before its first wait. */
  cost: number;
  runs: number;
  /** By the clock, all of these together. */
  spentMs: number;
  /** How many of the last runs at home took long, older ones counting less. */
  long: number;
  /** How many of the last runs anywhere held up a loop, likewise. */
  heavy: number;
  /** So many more runs are to be measured by what they compute, not by the clock. */
  watched: number;
  /** Milliseconds of computing per run on other loops. */
  costAway: number;
  /** Since it was last tried or sent away: computing on replicas, and how many runs that was for. */
  trialMs: number;
  trialRuns: number;
  /** How many have left for a trial, and when more of them may, if those have not come back. */
  tried: number;
  triedAt: number;
  /** Runs at home that another loop would have had, if it had more time. */
  even: number;
  /** What home hoped to be rid of when it last began to send it away. */
  worthMs: number;
  /** What making a message of it costs home, and how many of the last ones were not worth that, older ones counting less. */
  sendMs: number;
  sends: number;
  dear: number;
  /** What the way of such messages was found to take when that brought it home; held for less as time goes by. */
  wayMs: number;
  /** It stays at home until this time. */
  quietUntil: number;
  quietMs: number;
}

const QUIET_MS = 5_000;
const LONGEST_QUIET_MS = 300_000;

export function makeMovable(id: string): Movable {
  const none = { cost: 0, runs: 0, spentMs: 0, long: 0, heavy: 0, watched: 0, costAway: 0, quietUntil: 0, even: 0 };
  const sending = { worthMs: 0, sendMs: 0, sends: 0, dear: 0, wayMs: 0 };
  const trying = { trialMs: 0, trialRuns: 0, tried: 0, triedAt: 0 };
  return { id, mode: 'cheap', ...none, ...sending, ...trying, quietMs: QUIET_MS };
}

/** What one run of it will cost, as far as that is known. */
export function expectedMs({ cost, costAway }: Movable): number {
  return Math.max(cost, costAway);
}

/** What computes for so long holds up whoever else is served by the loop. */
export const HEAVY_MS = 5;

/** Once may be a pause of the machine. */
export function isHeavy(movable: Movable): boolean {
  return movable.mode === 'away' && movable.heavy >= 1.5 && expectedMs(movable) >= HEAVY_MS;
}

/** What a message there and back costs the two loops, roughly: below this nothing is won. */
const HOP_MS = 0.3;
/** Three times that much leaves no doubt. */
const LONG_MS = HOP_MS * 3;
/** The first runs also load and compile what they need: of one handler in all no more than that. */
const COLD_RUNS_MS = 80;
/** No handler's first run takes so long by that alone. */
const LONG_AT_FIRST_MS = 20;
const FIRST_RUNS = 3;
/** A run that took long makes the next ones watched. */
const WATCHED_RUNS = 16;
const BUSY = 0.6;
const LOOK_EVERY_MS = 100;
/** So many looks in a row must find home busy with what is not seen; code that is still cold looks alike for a while. */
const LOOKS = 10;
const LOOKS_IF_MUCH = 2;
const MUCH_MS = 2;
/** All that a program loads and compiles while it answers for the first times takes so long on a slow machine. */
const COLD_CODE_MS = 400;
const TRIAL_RUNS = 20;
/** What waits for long does not end a trial, and gives no reason to send all that comes meanwhile. */
const TRIAL_MS = 1_000;
/** Of what any loop could run as well as another, one in so many goes away, to see what it costs. */
const SAMPLE = 64;
/** Home makes the message and writes it, the replica reads it: about the same each. */
const WAY_PER_SEND = 2;
/** The first messages also find out what classes and names are on the other side; large ones cost more than that. */
const COLD_SENDS = 4;
const COLD_MS = 10;
/** The first message also loads and compiles what it needs; one more may be an exception. */
const DEAR = 1.9;

export class Scheduler {
  readonly #mode: 'auto' | 'eager';
  readonly #isEven: (isHeavy: boolean) => boolean;
  readonly #now: () => number;
  readonly #utilisation: (before?: Utilisation) => Utilisation;
  readonly #cpuMs: () => number;
  readonly #isOwnCpu: boolean;
  readonly #requests: () => number;
  #last: Measured;
  /** Since the last look: what is known to have been computed at home; and runs there of what may leave. */
  #seenMs = 0;
  #seenRuns = 0;
  #troubledLooks = 0;
  /** Since the beginning: what was computed that no handler was seen to do. */
  #allUnseenMs = 0;
  #isTroubled = false;
  /** For each request, or run where there are more of these, at the last look. */
  #unseenMs = 0;

  /** `isEven`: told of each run that would leave; home has as much time for it as any other loop. */
  constructor(mode: 'auto' | 'eager', isEven: (isHeavy: boolean) => boolean, clock: Clock = ofThisLoop()) {
    this.#mode = mode;
    this.#isEven = isEven;
    this.#now = clock.now;
    this.#utilisation = clock.utilisation;
    this.#cpuMs = clock.cpuMs;
    this.#isOwnCpu = clock.isOwnCpu;
    this.#requests = clock.requests;
    this.#last = this.#measure(clock.now());
  }

  goesAway(movable: Movable): boolean {
    if (this.#mode === 'eager') return true;
    if (movable.mode === 'trial') {
      const isTried = this.#mayTry(movable);
      // Nobody knows yet what it costs, so it goes, whoever has time for it.
      if (isTried) this.#isEven(true);
      return isTried;
    }
    if (movable.mode === 'away') return !this.#isEven(isHeavy(movable)) || movable.even++ % SAMPLE === 0;
    if (!this.#hasUnseenWork() || this.#now() < movable.quietUntil) return false;
    return this.#begin(movable, 'trial', this.#unseenMs);
  }

  #mayTry(movable: Movable): boolean {
    // Where much is at stake home had better not have it meanwhile.
    if (movable.tried < TRIAL_RUNS || movable.worthMs >= MUCH_MS) return true;
    if (this.#now() - movable.triedAt < TRIAL_MS) return false;
    movable.tried = movable.trialRuns;
    return true;
  }

  /** It goes to another loop, at once or when there is room. */
  leaves(movable: Movable): void {
    if (movable.mode !== 'trial') return;
    movable.tried++;
    movable.triedAt = this.#now();
  }

  /** Home computes for long where nobody sees it, and no trial has begun yet that would tell who does. */
  get isUnsure(): boolean {
    return (
      this.#unseenMs >= MUCH_MS && !this.#isTroubled && (this.#troubledLooks > 0 || this.#allUnseenMs < COLD_CODE_MS)
    );
  }

  /** Unless its messages were found to cost more. They may be smaller by now, so some day it is begun all the same. */
  #begin(movable: Movable, mode: 'trial' | 'away', worthMs: number): boolean {
    if (movable.wayMs > worthMs) {
      movable.wayMs /= 2;
      this.#waits(movable);
      return false;
    }
    movable.mode = mode;
    movable.worthMs = worthMs;
    movable.tried = 0;
    movable.sendMs = 0;
    movable.sends = 0;
    movable.dear = 0;
    return true;
  }

  /**
   * `computedMs` says what the processor did in that time, where that was measured: it takes a while itself, so only
   * where `watches` asked for it. The clock alone cannot tell a long run from one that had to wait for the processor.
   */
  ranAtHome(movable: Movable, clockMs: number, computedMs: number | null): void {
    const ms = computedMs === null ? clockMs : Math.min(clockMs, computedMs);
    const isCertain = this.#isCertain(clockMs, computedMs);
    this.#seenMs += ms;
    this.#seenRuns++;
    movable.runs++;
    movable.spentMs += clockMs;
    if (movable.watched > 0) movable.watched--;
    if (ms >= LONG_MS) movable.watched = WATCHED_RUNS;
    if (ms >= LONG_MS && !isCertain) return;
    movable.cost += (ms - movable.cost) * (movable.runs < 8 ? 1 / movable.runs : 0.125);
    movable.long = movable.long * 0.95 + (ms >= LONG_MS ? 1 : 0);
    movable.heavy = movable.heavy * 0.95 + (ms >= HEAVY_MS ? 1 : 0);
    if (movable.mode !== 'cheap' || movable.cost < LONG_MS || this.#now() < movable.quietUntil) return;
    if (movable.spentMs < COLD_RUNS_MS) return;
    // Once may be a time in which memory was tidied up.
    if (movable.long >= 1.5 || (movable.runs <= FIRST_RUNS && ms >= LONG_AT_FIRST_MS)) {
      this.#begin(movable, 'away', movable.cost);
    }
  }

  /** What has to run at home did. */
  ranBound(ms: number): void {
    this.#seenMs += ms;
  }

  watches(movable: Movable): boolean {
    return movable.watched > 0 && movable.mode !== 'trial';
  }

  /** A message of it was made, which took home so long. As with runs, `computedMs` where `weighs` asked for it. */
  sent(movable: Movable, clockMs: number, computedMs: number | null): void {
    const ms = computedMs === null ? clockMs : Math.min(clockMs, computedMs);
    movable.sends++;
    if (movable.sends <= COLD_SENDS && ms < COLD_MS) return;
    const isDear = ms * WAY_PER_SEND >= Math.max(movable.worthMs, movable.costAway, HOP_MS);
    movable.dear = movable.dear * 0.95 + (isDear ? 1 : 0);
    // By the clock alone it may have been a time in which others had the processor.
    if (isDear && !this.#isCertain(clockMs, computedMs)) return;
    movable.sendMs += (ms - movable.sendMs) * (movable.sends < 8 ? 1 / movable.sends : 0.125);
    if (!this.#isAwayByChoice(movable) || !isDear || movable.dear < DEAR) return;
    movable.wayMs = movable.sendMs * WAY_PER_SEND;
    this.#stays(movable);
  }

  /** It was this loop that computed for so long, not other processes, nor other threads of this one while the loop had to wait. */
  #isCertain(clockMs: number, computedMs: number | null): boolean {
    if (computedMs === null) return false;
    return this.#isOwnCpu || computedMs >= clockMs / 2 || computedMs >= LONG_AT_FIRST_MS;
  }

  weighs(movable: Movable): boolean {
    return movable.dear > 0.5 && this.#isAwayByChoice(movable);
  }

  #isAwayByChoice({ mode }: Movable): boolean {
    return this.#mode === 'auto' && mode !== 'cheap';
  }

  ranAway(movable: Movable, ms: number): void {
    // It was still under way when it was decided that it stays.
    if (this.#mode === 'auto' && movable.mode === 'cheap') return;
    movable.costAway += (ms - movable.costAway) * (movable.costAway === 0 ? 1 : 0.125);
    movable.heavy = movable.heavy * 0.95 + (ms >= HEAVY_MS ? 1 : 0);
    movable.trialMs += ms;
    movable.trialRuns++;
    if (this.#mode === 'eager' || movable.trialRuns < TRIAL_RUNS) return;
    const cost = movable.trialMs / movable.trialRuns;
    movable.trialMs = 0;
    movable.trialRuns = 0;
    // At home its first runs may have been its dearest.
    movable.cost = Math.min(movable.cost, cost);
    if (cost >= HOP_MS + movable.sendMs * WAY_PER_SEND) {
      movable.mode = 'away';
      movable.quietMs = QUIET_MS;
    } else this.#stays(movable);
  }

  #stays(movable: Movable): void {
    movable.mode = 'cheap';
    movable.cost = 0;
    movable.runs = 0;
    movable.spentMs = 0;
    movable.long = 0;
    movable.heavy = 0;
    movable.costAway = 0;
    movable.trialMs = 0;
    movable.trialRuns = 0;
    this.#waits(movable);
  }

  /** For a while, and for twice as long each time. */
  #waits(movable: Movable): void {
    movable.quietUntil = this.#now() + movable.quietMs;
    movable.quietMs = Math.min(movable.quietMs * 2, LONGEST_QUIET_MS);
  }

  /** Home is busy, and it is not the handlers up to their first wait: what is behind that is worth a trial. */
  #hasUnseenWork(): boolean {
    const now = this.#now();
    if (now - this.#last.at < LOOK_EVERY_MS) return this.#isTroubled;
    const { utilization, active } = this.#utilisation(this.#last.utilisation);
    const next = this.#measure(now);
    // A loop also looks busy while others have the processor.
    const computed = Math.min(active, next.cpuMs - this.#last.cpuMs);
    // Whatever is asked may have a part in it.
    const unseen = (computed - this.#seenMs) / Math.max(1, this.#seenRuns, next.requests - this.#last.requests);
    this.#allUnseenMs += Math.max(0, computed - this.#seenMs);
    const isTroubled = utilization >= BUSY && unseen >= HOP_MS && this.#allUnseenMs >= COLD_CODE_MS;
    this.#troubledLooks = isTroubled ? this.#troubledLooks + 1 : 0;
    this.#unseenMs = unseen;
    this.#isTroubled = this.#troubledLooks >= (unseen >= MUCH_MS ? LOOKS_IF_MUCH : LOOKS);
    this.#last = next;
    this.#seenMs = 0;
    this.#seenRuns = 0;
    return this.#isTroubled;
  }

  #measure(at: number): Measured {
    return { at, utilisation: this.#utilisation(), cpuMs: this.#cpuMs(), requests: this.#requests() };
  }
}

interface Measured {
  readonly at: number;
  readonly utilisation: Utilisation;
  readonly cpuMs: number;
  readonly requests: number;
}

type Utilisation = ReturnType<typeof performance.eventLoopUtilization>;

export interface Clock {
  readonly now: () => number;
  readonly utilisation: (before?: Utilisation) => Utilisation;
  readonly cpuMs: () => number;
  /** `cpuMs` counts this thread alone, not what tidies up memory and compiles beside it. */
  readonly isOwnCpu: boolean;
  /** That have come to this loop. */
  readonly requests: () => number;
}

/** Later versions of Node know what one thread has computed; earlier ones only all threads together. */
const usage: () => NodeJS.CpuUsage = Reflect.get(process, 'threadCpuUsage') ?? process.cpuUsage;

export function computedMs(): number {
  const { user, system } = Reflect.apply(usage, process, []);
  return (user + system) / 1000;
}

export function ofThisLoop(): Clock {
  let requests = 0;
  const count = (): void => void requests++;
  fastPath.isHarmless(count);
  subscribe('http.server.request.start', count);
  return {
    now: () => performance.now(),
    utilisation: (before) => performance.eventLoopUtilization(before),
    cpuMs: computedMs,
    isOwnCpu: 'threadCpuUsage' in process,
    requests: () => requests,
  };
}
