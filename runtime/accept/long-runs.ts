/**
 * Decides whether replicas may go on taking connections of a server, by how many requests held one of them up for long: what else
 * comes there waits behind these. Home finds out which handlers those are when it is asked itself.
 *
 *     four in a second ──> home takes connections alone for 10 s, 20 s, … 320 s
 */

/** To whom other requests wait behind it, that is long. */
export const LONG_MS = 5;
const WINDOW_MS = 1_000;
/** Fewer may be pauses of the machine. */
const ENOUGH = 4;
const HOLD_MS = 10_000;
const MOST_TIMES = 5;

export class LongRuns {
  #at = 0;
  #seen = 0;
  #times = 0;
  #heldUntil = 0;

  /** `count`: of all replicas, since the beginning. */
  look(now: number, count: number): 'few' | 'holds' {
    if (now < this.#heldUntil) {
      this.#seen = count;
      return 'holds';
    }
    if (count - this.#seen >= ENOUGH) {
      this.#seen = count;
      this.#heldUntil = now + HOLD_MS * 2 ** this.#times;
      this.#times = Math.min(this.#times + 1, MOST_TIMES);
      return 'holds';
    }
    if (now - this.#at >= WINDOW_MS) [this.#at, this.#seen] = [now, count];
    return 'few';
  }
}
