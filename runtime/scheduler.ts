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
 */
import { performance } from 'node:perf_hooks';

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
  /** How many of the last runs at home took long, older ones counting less. */
  long: number;
  /** Milliseconds of computing per run on other loops. */
  costAway: number;
  /** Since it was last tried or sent away: computing on replicas, and how many runs that was for. */
  trialMs: number;
  trialRuns: number;
  /** It stays at home until this time. */
  quietUntil: number;
  quietMs: number;
}

const QUIET_MS = 5_000;
const LONGEST_QUIET_MS = 300_000;

export function makeMovable(id: string): Movable {
  const none = { cost: 0, runs: 0, long: 0, costAway: 0, trialMs: 0, trialRuns: 0, quietUntil: 0 };
  return { id, mode: 'cheap', ...none, quietMs: QUIET_MS };
}

/** What one run of it will cost, as far as that is known. */
export function expectedMs({ cost, costAway }: Movable): number {
  return Math.max(cost, costAway);
}

/** What a message there and back costs the two loops, roughly: below this nothing is won. */
const HOP_MS = 0.3;
/** Three times that much leaves no doubt. */
const LONG_MS = HOP_MS * 3;
/** The very first run also loads and compiles what it needs; if it took that long, it says something nevertheless. */
const VERY_LONG_MS = 20;
const BUSY = 0.6;
/** What is behind the waits of a run has to be worth more than the noise of a machine that does other things as well. */
const UNSEEN_MS = 1;
const LOOK_EVERY_MS = 100;
const TRIAL_RUNS = 20;

export class Scheduler {
  readonly #mode: 'auto' | 'eager';
  readonly #now: () => number;
  readonly #utilisation: (before?: Utilisation) => Utilisation;
  #last: { readonly at: number; readonly utilisation: Utilisation };
  /** Since the last look: what is known to have been computed at home, and for how many runs. */
  #seenMs = 0;
  #seenRuns = 0;
  #isTroubled = false;

  constructor(mode: 'auto' | 'eager', clock: Clock = CLOCK) {
    this.#mode = mode;
    this.#now = clock.now;
    this.#utilisation = clock.utilisation;
    this.#last = { at: clock.now(), utilisation: clock.utilisation() };
  }

  goesAway(movable: Movable): boolean {
    if (this.#mode === 'eager') return true;
    if (movable.mode !== 'cheap') return true;
    if (!this.#hasUnseenWork() || this.#now() < movable.quietUntil) return false;
    movable.mode = 'trial';
    return true;
  }

  ranAtHome(movable: Movable, ms: number): void {
    this.#seenMs += ms;
    this.#seenRuns++;
    movable.runs++;
    movable.cost += (ms - movable.cost) * (movable.runs < 8 ? 1 / movable.runs : 0.125);
    movable.long = movable.long * 0.95 + (ms >= LONG_MS ? 1 : 0);
    if (movable.mode !== 'cheap' || movable.cost < LONG_MS || this.#now() < movable.quietUntil) return;
    // Once is a pause of the machine, or the first time.
    const isSure = movable.long >= 1.5 || (movable.runs === 2 && ms >= LONG_MS) || ms >= VERY_LONG_MS;
    if (isSure) movable.mode = 'away';
  }

  ranAway(movable: Movable, ms: number): void {
    movable.costAway += (ms - movable.costAway) * (movable.costAway === 0 ? 1 : 0.125);
    movable.trialMs += ms;
    movable.trialRuns++;
    if (this.#mode === 'eager' || movable.trialRuns < TRIAL_RUNS) return;
    const cost = movable.trialMs / movable.trialRuns;
    movable.trialMs = 0;
    movable.trialRuns = 0;
    if (cost >= HOP_MS) {
      movable.mode = 'away';
      movable.quietMs = QUIET_MS;
      return;
    }
    movable.mode = 'cheap';
    movable.cost = 0;
    movable.runs = 0;
    movable.long = 0;
    movable.costAway = 0;
    movable.quietUntil = this.#now() + movable.quietMs;
    movable.quietMs = Math.min(movable.quietMs * 2, LONGEST_QUIET_MS);
  }

  /** Home is busy, and it is not the handlers up to their first wait: what is behind that is worth a trial. */
  #hasUnseenWork(): boolean {
    const now = this.#now();
    if (now - this.#last.at < LOOK_EVERY_MS) return this.#isTroubled;
    const { utilization, active } = this.#utilisation(this.#last.utilisation);
    const unseen = (active - this.#seenMs) / Math.max(1, this.#seenRuns);
    this.#isTroubled = utilization >= BUSY && unseen >= UNSEEN_MS;
    this.#last = { at: now, utilisation: this.#utilisation() };
    this.#seenMs = 0;
    this.#seenRuns = 0;
    return this.#isTroubled;
  }
}

type Utilisation = ReturnType<typeof performance.eventLoopUtilization>;

export interface Clock {
  readonly now: () => number;
  readonly utilisation: (before?: Utilisation) => Utilisation;
}

const CLOCK: Clock = {
  now: () => performance.now(),
  utilisation: (before) => performance.eventLoopUtilization(before),
};
