/**
 * Reads: how busy home and its replicas are, what each has under way, and what is asked of home beside work that may leave.
 * Gives: which runs of work that may leave home takes itself. What it takes costs no message; but who is asked for something else waits
 *        meanwhile. So it takes some only where replicas have no time left, and next to nobody asks it for anything else, and leaves a
 *        core to itself.
 *
 *     none ── replicas have no time, home has, and all ask for such work ──> a little ──> more, until home is as busy
 *      ^                                                                       │
 *      └── home and replicas have time again, or others ask home ──────────────┘
 *
 * Loads come in bursts: one that begins as the last one ended begins with what was found to be right for that.
 * What computes for long is never taken.
 */
import cores from './cores.cjs';
import { HEAVY_MS } from './scheduler.js';

/** Of all that is under way. */
const STEP = 0.05;
const MOST = 0.8;
/** One look may fall on a burst. */
const LOOKS = 3;
/** For so many looks home may still have to do with what had come before it could send any away. */
const PATIENCE = 10;
/** Where replicas are busy for less of their time home is too busy to send them more. */
const FULL = 0.9;
/** They could do all, where home has time as well: else they wait for it. */
const HAVE_TIME = 0.6;
/** Home has some as well. */
const HAS_TIME = 0.85;
/** Before it takes any: what keeps it busier than sending does may not be asked for by requests. */
const IDLES = 0.4;
/** Of its requests so many may be for something else. */
const OTHERS = 0.02;

/** How many runs have been begun on either side, or wait for it. */
export interface Sides {
  readonly here: number;
  readonly away: number;
}

export class HomeShare {
  readonly #decided: (what: string, why: string) => void;
  readonly #requests: () => number;
  readonly #underWay: () => Sides;
  readonly #count: number;
  #share = 0;
  /** With which the last burst ended; 0 where it ended as home was asked for something else. */
  #found = 0;
  #full = 0;
  /** Looks in a row at which all asked for such work, and home did not take any yet. */
  #spared = 0;
  /** At the last look. */
  #before = 0;
  /** Requests since then with such work in them, and the last one of these. */
  #asked = 0;
  #last = -1;
  /** Some of it home could take. */
  #hasShort = false;

  /** `requests`: that have come to home. */
  constructor(
    decided: (what: string, why: string) => void,
    requests: () => number,
    underWay: () => Sides,
    count: number = Math.max(1, cores.cores() - 1),
  ) {
    this.#decided = decided;
    this.#requests = requests;
    this.#underWay = underWay;
    this.#count = count;
  }

  /** Asked for each run that could go. */
  takes(isHeavy: boolean): boolean {
    const request = this.#requests();
    if (request !== this.#last) this.#asked++;
    this.#last = request;
    if (!isHeavy) this.#hasShort = true;
    if (this.#share === 0 || isHeavy) return false;
    // By what waits on either side, not by turns: else the faster of the two would run dry now and then while work waits for the other.
    const { here, away } = this.#underWay();
    return (here + 1) * (1 - this.#share) <= (away + 1) * this.#share;
  }

  /** So many replicas are of use where nothing computes for long: home does what another one would, or soon will, as far as anybody can tell. */
  get enough(): number {
    return this.#share > 0 || (this.#spared > 0 && this.#spared < PATIENCE) ? this.#count : Number.POSITIVE_INFINITY;
  }

  get isTaking(): boolean {
    return this.#share > 0;
  }

  /** On how many replicas work that computes for so long is of use beside that. */
  mostFor(ms: number): number {
    return this.#share > 0 && ms < HEAVY_MS ? this.#count : Number.POSITIVE_INFINITY;
  }

  /** How busy all are, since the last look. */
  look(home: number, replicas: readonly number[]): void {
    const inUse = replicas.toSorted((one, other) => other - one).slice(0, this.#count);
    const busy = inUse.length < this.#count ? 0 : inUse.reduce((sum, each) => sum + each, 0) / inUse.length;
    const isAlone = this.#isAlone();
    const next = this.#next(home, busy, isAlone);
    if (next > 0 !== this.#share > 0) {
      const why = `replicas are busy for ${percent(busy)} of their time, the main thread for ${percent(home)}`;
      this.#decided(`the main thread takes ${next > 0 ? 'some' : 'none'} of what may leave`, why);
    }
    this.#share = next;
  }

  #next(home: number, busy: number, isAlone: boolean | null): number {
    const hasShort = this.#hasShort;
    this.#hasShort = false;
    const isWanted = isAlone === true && hasShort && busy >= FULL && home < (this.#share === 0 ? IDLES : HAS_TIME);
    this.#full = isWanted ? this.#full + 1 : 0;
    this.#spared = isAlone === true && this.#share === 0 ? this.#spared + 1 : 0;
    if (isAlone === false) {
      if (this.#share > 0) this.#found = 0;
      return 0;
    }
    if (this.#share === 0) {
      const isSure = this.#full >= (this.#found > 0 ? 1 : LOOKS);
      return isSure ? Math.max(STEP, this.#found - STEP) : 0;
    }
    if (busy < HAVE_TIME && home < HAS_TIME) return 0;
    this.#found = this.#share;
    if (busy < FULL) return Math.max(STEP, this.#share - STEP);
    if (!isWanted) return this.#share;
    return Math.min(MOST, this.#share + (home < IDLES ? STEP * 2 : STEP));
  }

  /** Does nearly all that home is asked for come to such work? Null where it was asked for nothing. */
  #isAlone(): boolean | null {
    const requests = this.#requests();
    const all = requests - this.#before;
    const isAlone = all === 0 ? null : all - this.#asked <= all * OTHERS;
    this.#before = requests;
    this.#asked = 0;
    return isAlone;
  }
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
