/**
 * Decides whether it pays that replicas take connections of a server some of whose requests are home's: a request that comes by a replica and
 * is answered by home costs home more than one that comes to it at once.
 *
 *     looked at each second: more of what came by replicas was home's ──> home takes connections alone for 10 s, 20 s, … 320 s
 */

const WINDOW_MS = 1_000;
/** Fewer say nothing. */
const ENOUGH = 200;
const HOLD_MS = 10_000;
const MOST_TIMES = 5;

export class Share {
  #at = 0;
  #far = 0;
  #there = 0;
  #times = 0;
  #heldUntil = 0;

  /** `far`: answers of home's by connections of replicas; `there`: answers of replicas. Both since the beginning. */
  look(now: number, far: number, there: number): 'pays' | 'holds' {
    if (now < this.#heldUntil) return 'holds';
    if (now - this.#at < WINDOW_MS) return 'pays';
    const [fars, theres] = [far - this.#far, there - this.#there];
    [this.#at, this.#far, this.#there] = [now, far, there];
    if (fars + theres < ENOUGH) return 'pays';
    if (fars <= theres) {
      this.#times = Math.max(0, this.#times - 1);
      return 'pays';
    }
    this.#heldUntil = now + HOLD_MS * 2 ** this.#times;
    this.#times = Math.min(this.#times + 1, MOST_TIMES);
    return 'holds';
  }
}
