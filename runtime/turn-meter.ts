/**
 * What handlers cost at home before their first wait, without standing between them and their router: each is timed from
 * the moment at which the router takes it until the next one is taken, or until the turn is over. Nothing of it shows in a
 * stack trace.
 */
import process from './node-process.cjs';

const { nextTick } = process;

export interface MeterOptions<T> {
  /** Is it worth asking what the processor did meanwhile? That takes a while itself. */
  watches(what: T): boolean;
  computedMs(): number;
  ran(what: T, clockMs: number, computedMs: number | null): void;
}

export class TurnMeter<T> {
  readonly #options: MeterOptions<T>;
  #current: T | null = null;
  #begin = 0;
  #computed: number | null = null;

  constructor(options: MeterOptions<T>) {
    this.#options = options;
  }

  taken(what: T): void {
    const now = performance.now();
    if (this.#current === null) nextTick(this.#end);
    else this.#tell(this.#current, now);
    this.#current = what;
    this.#begin = now;
    this.#computed = this.#options.watches(what) ? this.#options.computedMs() : null;
  }

  #tell(what: T, now: number): void {
    const computed = this.#computed === null ? null : this.#options.computedMs() - this.#computed;
    this.#options.ran(what, now - this.#begin, computed);
  }

  readonly #end = (): void => {
    const what = this.#current;
    this.#current = null;
    if (what !== null) this.#tell(what, performance.now());
  };
}
