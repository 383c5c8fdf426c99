/**
 * Decides whether it pays that replicas take connections of a server some of whose requests are home's: a request that comes by a replica and
 * is answered by home costs home more than one that comes to it at once.
 *
 *     looked at each second: more of what came by replicas was home's ──> home takes connections alone for a while
 */
import { Hold } from './hold.js';

const WINDOW_MS = 1_000;
/** Fewer say nothing. */
const ENOUGH = 200;

export class Share {
  #at = 0;
  #far = 0;
  #there = 0;
  readonly #hold = new Hold();

  /** `far`: answers of home's by connections of replicas; `there`: answers of replicas. Both since the beginning. */
  look(now: number, far: number, there: number): 'pays' | 'holds' {
    if (this.#hold.holds(now)) return 'holds';
    if (now - this.#at < WINDOW_MS) return 'pays';
    const [fars, theres] = [far - this.#far, there - this.#there];
    [this.#at, this.#far, this.#there] = [now, far, there];
    if (fars + theres < ENOUGH) return 'pays';
    if (fars <= theres) {
      this.#hold.ease();
      return 'pays';
    }
    this.#hold.begin(now);
    return 'holds';
  }
}
