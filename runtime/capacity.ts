/**
 * Reads: how busy home is.
 * Gives: on how many replicas work that computes for long may run at once. Where home needs a core for itself, one that computes beside it
 *        takes from home what it gets: what is asked of home waits, and no more is computed than before.
 *
 *     home busy for more than 75 % ──> as many as there are other cores ── less than 50 % ──> all of them
 */
import { performance } from 'node:perf_hooks';
import cores from './cores.cjs';
import { HEAVY_MS } from './scheduler.js';

const LOOK_EVERY_MS = 100;
const BUSY = 0.75;
const HAS_TIME = 0.5;
/** One look may fall on a burst. */
const LOOKS = 3;

export class Capacity {
  readonly #decided: Decided;
  readonly #others: number;
  readonly #clock: CapacityClock;
  #lookedAt: number;
  #isBusy = false;
  /** Looks in a row that spoke against that. */
  #contrary = 0;

  constructor(decided: Decided, count: number = cores.cores(), clock: CapacityClock = makeClock()) {
    this.#decided = decided;
    this.#others = Math.max(1, count - 1);
    this.#clock = clock;
    this.#lookedAt = clock.now();
  }

  /** For work that computes for so long each time. */
  mostFor(ms: number): number {
    // Of what computes for less, home may be busy with sending it.
    if (ms < HEAVY_MS) return Number.POSITIVE_INFINITY;
    this.#look();
    return this.#isBusy ? this.#others : Number.POSITIVE_INFINITY;
  }

  #look(): void {
    const now = this.#clock.now();
    if (now - this.#lookedAt < LOOK_EVERY_MS) return;
    this.#lookedAt = now;
    const busy = this.#clock.busy();
    const isContrary = this.#isBusy ? busy < HAS_TIME : busy > BUSY;
    this.#contrary = isContrary ? this.#contrary + 1 : 0;
    if (this.#contrary < LOOKS) return;
    this.#isBusy = !this.#isBusy;
    this.#contrary = 0;
    const why = `the main thread is busy for ${Math.round(busy * 100)} % of its time`;
    this.#decided(`long work goes to ${this.#isBusy ? this.#others : 'all'} of the replicas at a time`, why);
  }
}

type Decided = (what: string, why: string) => void;

export interface CapacityClock {
  readonly now: () => number;
  /** For which share of the time since it was last asked home was busy. */
  readonly busy: () => number;
}

function makeClock(): CapacityClock {
  let last = performance.eventLoopUtilization();
  const busy = (): number => {
    const { utilization } = performance.eventLoopUtilization(last);
    last = performance.eventLoopUtilization();
    return utilization;
  };
  return { now: () => performance.now(), busy };
}
