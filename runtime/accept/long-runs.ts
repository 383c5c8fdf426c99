/**
 * Decides whether replicas may go on taking connections of a server, by how many requests held one of them up for long: what else
 * comes there waits behind these. Home finds out which handlers those are when it is asked itself.
 *
 *     four in a second ──> home takes connections alone for a while
 */
import { computedMs, HEAVY_MS } from '../scheduler.js';
import { Hold } from './hold.js';

const WINDOW_MS = 1_000;
/** Fewer may be pauses of the machine. */
const ENOUGH = 4;

export class LongRuns {
  #at = 0;
  #seen = 0;
  readonly #hold = new Hold();

  /** `count`: of all replicas, since the beginning. */
  look(now: number, count: number): 'few' | 'holds' {
    if (this.#hold.holds(now)) {
      this.#seen = count;
      return 'holds';
    }
    if (count - this.#seen >= ENOUGH) {
      this.#seen = count;
      this.#hold.begin(now);
      return 'holds';
    }
    if (now - this.#at >= WINDOW_MS) [this.#at, this.#seen] = [now, count];
    return 'few';
  }
}

/** Code that is new to a loop takes longer, for so long. */
const COLD_MS = 2_000;
/** The clock cannot tell a long run from one that had to wait for the processor, and what the processor did takes a while to find out. */
const WATCH_MS = 1_000;

/** On a replica: counts requests that hold it up. */
export class LongCount {
  count = 0;
  readonly #now: () => number;
  readonly #computedMs: () => number;
  #warmAt = Number.POSITIVE_INFINITY;
  #watchUntil = 0;
  #begun = 0;
  #computed: number | null = null;

  constructor(now: () => number = () => performance.now(), computed: () => number = computedMs) {
    this.#now = now;
    this.#computedMs = computed;
  }

  begins(): void {
    this.#begun = this.#now();
    if (this.#warmAt === Number.POSITIVE_INFINITY) this.#warmAt = this.#begun + COLD_MS;
    this.#computed = this.#begun < this.#watchUntil ? this.#computedMs() : null;
  }

  ends(): void {
    const now = this.#now();
    if (now - this.#begun < HEAVY_MS || this.#begun < this.#warmAt) return;
    this.#watchUntil = now + WATCH_MS;
    if (this.#computed !== null && this.#computedMs() - this.#computed >= HEAVY_MS) this.count++;
  }
}
