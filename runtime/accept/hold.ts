/** For how long replicas take no connections, once that was found not to pay: twice as long each time. */

const LONGEST_MS = 320_000;

export class Hold {
  readonly #firstMs: number;
  #ms: number;
  #until = 0;

  constructor(firstMs = 10_000) {
    this.#firstMs = firstMs;
    this.#ms = firstMs;
  }

  begin(now: number): void {
    this.#until = now + this.#ms;
    this.#ms = Math.min(this.#ms * 2, LONGEST_MS);
  }

  holds(now: number): boolean {
    return now < this.#until;
  }

  /** It has paid since. */
  ease(): void {
    this.#ms = Math.max(this.#firstMs, this.#ms / 2);
  }
}
