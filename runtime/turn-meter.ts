/**
 * What handlers cost at home before their first wait, without standing between them and their router: each is timed from
 * the moment at which the router takes it until the next one is taken, or until the turn is over. Nothing of it shows in a
 * stack trace.
 */
import process from 'node:process';

const { nextTick } = process;

export class TurnMeter<T> {
  readonly #ran: (what: T, ms: number) => void;
  #current: T | null = null;
  #begin = 0;

  constructor(ran: (what: T, ms: number) => void) {
    this.#ran = ran;
  }

  taken(what: T): void {
    const now = performance.now();
    if (this.#current === null) nextTick(this.#end);
    else this.#ran(this.#current, now - this.#begin);
    this.#current = what;
    this.#begin = now;
  }

  readonly #end = (): void => {
    const what = this.#current;
    this.#current = null;
    if (what !== null) this.#ran(what, performance.now() - this.#begin);
  };
}
