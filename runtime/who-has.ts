/**
 * Gives: word that nobody in this thread has a request or response of an exchange any more, for home, which keeps both until then.
 *
 * V8 can tell only where it tidies up all of memory, and what it watches for that stays in memory until then, with all that it
 * reaches, however short its life: for each request that would be both stand-ins and all behind them. So a *token* is watched, which the
 * stand-ins have and which reaches nothing but what home has sent along.
 *
 * A thread that leaves nothing else behind would seldom tidy up, and what home keeps meanwhile weighs nothing here. So the tokens
 * weigh as much: memory that is asked for, and never touched.
 */
import type { RunId } from './messages.js';

/** What home keeps of a request, roughly. */
const WEIGHT = 8 * 1024;
/** One token in so many has the weight of all of them. */
const SHARED_BY = 64;

export class WhoHas {
  readonly #forgot: (runs: RunId[]) => void;
  readonly #watched = new Set<RunId>();
  #count = 0;
  #weights = 0;
  #gone: RunId[] = [];

  readonly #registry = new FinalizationRegistry(({ run, weighs }: Watched) => {
    if (weighs) this.#weights--;
    this.#watched.delete(run);
    // V8 tells of many, one after the other.
    if (this.#gone.push(run) === 1) queueMicrotask(() => this.#tell());
  });

  constructor(forgot: (runs: RunId[]) => void) {
    this.#forgot = forgot;
  }

  /** To be held by who has a part of it; `given` is what home keeps as well. */
  watch(run: RunId, given: unknown): object {
    this.#watched.add(run);
    const weighs = ++this.#count % SHARED_BY === 0;
    if (weighs) this.#weights++;
    const token = { given, weight: weighs ? Buffer.allocUnsafeSlow(WEIGHT * SHARED_BY) : null };
    this.#registry.register(token, { run, weighs });
    return token;
  }

  watches(run: RunId): boolean {
    return this.#watched.has(run);
  }

  /** Of the memory of this thread, what only seems to be there. */
  get weight(): number {
    return this.#weights * WEIGHT * SHARED_BY;
  }

  #tell(): void {
    const gone = this.#gone;
    this.#gone = [];
    this.#forgot(gone);
  }
}

interface Watched {
  readonly run: RunId;
  readonly weighs: boolean;
}
