/**
 * Decides whether it pays that replicas take connections of a server some of whose requests are home's: a request that comes by a replica and
 * is answered by home costs home more than one that comes to it at once.
 *
 *     home accepts alone, and looks at what is asked ── most is home's ────────────────────────────────────────┐
 *          └─ most is not ──> replicas accept as well ── most of what came by them was home's, in a second ──> home accepts
 *                                                                                                              alone for a while
 */
import { Hold } from './hold.js';

const WINDOW_MS = 1_000;
/** Fewer say nothing of what came by replicas. */
const ENOUGH = 200;
/** Nor of what came to home. */
const ENOUGH_AT_HOME = 50;

export type Verdict = 'looks' | 'pays' | 'holds';

/** Requests, and how many of them were for home alone. */
export interface Counted {
  readonly requests: number;
  readonly homes: number;
}

export class Share {
  /** False until what came to home has been looked at. */
  #isTried: boolean;
  #at = 0;
  #last: Counted = { requests: 0, homes: 0 };
  readonly #hold = new Hold();

  /** `isPart`: there is something that is for home alone. */
  constructor(isPart: boolean) {
    this.#isTried = !isPart;
  }

  /** `here`: what has come to home while it looked; `there`: by replicas, since the beginning. */
  look(now: number, here: Counted, there: Counted): Verdict {
    if (this.#hold.holds(now)) return 'holds';
    return this.#isTried ? this.#lookThere(now, there) : this.#lookHere(now, here, there);
  }

  #lookHere(now: number, here: Counted, there: Counted): Verdict {
    if (here.requests < ENOUGH_AT_HOME) return 'looks';
    if (isMostHomes(here)) return this.#begin(now);
    this.#isTried = true;
    this.#at = now;
    this.#last = { ...there };
    return 'pays';
  }

  #lookThere(now: number, { requests, homes }: Counted): Verdict {
    if (now - this.#at < WINDOW_MS) return 'pays';
    const since = { requests: requests - this.#last.requests, homes: homes - this.#last.homes };
    this.#at = now;
    this.#last = { requests, homes };
    if (since.requests < ENOUGH) return 'pays';
    if (isMostHomes(since)) return this.#begin(now);
    this.#hold.ease();
    return 'pays';
  }

  #begin(now: number): Verdict {
    this.#isTried = false;
    this.#hold.begin(now);
    return 'holds';
  }
}

function isMostHomes({ requests, homes }: Counted): boolean {
  return homes * 2 > requests;
}
