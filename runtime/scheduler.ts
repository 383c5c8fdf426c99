/**
 * Reads: what runs cost at home, how busy home is, which loops can take what.
 * Gives: for each run of a movable fluxion, the loop that it runs on.
 *
 * `eager` sends away all that may go. `auto` keeps at home what is cheaper than a message there and back, and finds out
 * what is not: by the clock where a handler computes before its first wait; by a trial where home is busy and nobody
 * knows with what, since what comes behind a wait is not seen from here.
 *
 *     cheap ── a run at home took long ──────────────> away
 *     cheap ── home is busy, not tried lately ──> trial ── costs more than the way ──> away
 *                                                      └─ costs less ──> cheap, for a while
 */
import { performance } from 'node:perf_hooks';

/** A loop beside home, as far as it matters here. */
export interface Target {
  readonly isReady: boolean;
  /** Runs that it has not finished. */
  readonly active: number;
  readonly isFull: boolean;
}

export interface Movable {
  readonly id: string;
  mode: 'cheap' | 'trial' | 'away';
  /** Milliseconds of computing per run, as measured at home before its first wait. */
  cost: number;
  runs: number;
  /** Since it was last tried or sent away: computing on replicas, and how many runs that was for. */
  trialMs: number;
  trialRuns: number;
  /** No trial before this time. */
  quietUntil: number;
  quietMs: number;
}

export function makeMovable(id: string): Movable {
  return { id, mode: 'cheap', cost: 0, runs: 0, trialMs: 0, trialRuns: 0, quietUntil: 0, quietMs: 5_000 };
}

/** What a message there and back costs the two loops, roughly: below this nothing is won. */
const HOP_MS = 0.3;
/** One run that takes so long is enough to know. */
const LONG_MS = 2;
const BUSY = 0.6;
const LOOK_EVERY_MS = 100;
const TRIAL_RUNS = 20;

export type Choice<T> = T | 'home' | 'overloaded';

export class Scheduler<T extends Target> {
  readonly #mode: 'auto' | 'eager';
  readonly #targets: () => readonly T[];
  readonly #wanted: () => void;
  #lastLook = performance.now();
  #utilisation = performance.eventLoopUtilization();
  #isBusy = false;

  /** `wanted` is called each time a loop beside home would be of use and none is there. */
  constructor(mode: 'auto' | 'eager', targets: () => readonly T[], wanted: () => void) {
    this.#mode = mode;
    this.#targets = targets;
    this.#wanted = wanted;
  }

  choose(movable: Movable, canRun: (target: T) => boolean): Choice<T> {
    if (this.#mode === 'auto' && !this.#isWorthIt(movable)) return 'home';
    let best: T | null = null;
    let isAny = false;
    for (const target of this.#targets()) {
      if (!target.isReady || !canRun(target)) continue;
      isAny = true;
      if (!target.isFull && (best === null || target.active < best.active)) best = target;
    }
    if (best !== null) return best;
    if (isAny) return 'overloaded';
    this.#wanted();
    return 'home';
  }

  ranAtHome(movable: Movable, ms: number): void {
    movable.runs++;
    movable.cost += (ms - movable.cost) * (movable.runs < 8 ? 1 / movable.runs : 0.125);
    if (movable.mode !== 'cheap' || (movable.cost < HOP_MS * 3 && ms < LONG_MS)) return;
    // The very first run also loads and compiles what it needs: it says nothing of the second.
    if (movable.runs > 1 || ms >= LONG_MS * 10) movable.mode = 'away';
  }

  ranAway(movable: Movable, ms: number): void {
    movable.trialMs += ms;
    movable.trialRuns++;
    if (this.#mode !== 'auto' || movable.trialRuns < TRIAL_RUNS) return;
    const cost = movable.trialMs / movable.trialRuns;
    movable.trialMs = 0;
    movable.trialRuns = 0;
    if (cost >= HOP_MS) {
      movable.mode = 'away';
      movable.quietMs = 5_000;
      return;
    }
    movable.mode = 'cheap';
    movable.cost = 0;
    movable.runs = 0;
    movable.quietUntil = performance.now() + movable.quietMs;
    movable.quietMs = Math.min(movable.quietMs * 2, 300_000);
  }

  #isWorthIt(movable: Movable): boolean {
    if (movable.mode !== 'cheap') return true;
    if (!this.#looksBusy() || performance.now() < movable.quietUntil) return false;
    movable.mode = 'trial';
    return true;
  }

  #looksBusy(): boolean {
    const now = performance.now();
    if (now - this.#lastLook >= LOOK_EVERY_MS) {
      this.#isBusy = performance.eventLoopUtilization(this.#utilisation).utilization >= BUSY;
      this.#utilisation = performance.eventLoopUtilization();
      this.#lastLook = now;
    }
    return this.#isBusy;
  }
}
