/**
 * A bound on the work that an analysis may take, in proportion to the program: code in which everything may be everything
 * (large generated bundles, plugin systems) would otherwise cost the square or worse. Whoever runs out stops telling things
 * apart; then nothing is proven, and all requests stay home.
 */
export class Budget {
  #left: number;
  readonly #isRepeatable: boolean;

  /** `isRepeatable`: whoever runs out may stop at once, as all is done again with less told apart. */
  constructor(limit: number, isRepeatable: boolean) {
    this.#left = limit;
    this.#isRepeatable = isRepeatable;
  }

  /** It is of no use to go on: nothing of the result will be needed. */
  get isGivenUp(): boolean {
    return this.#isRepeatable && this.#left <= 0;
  }

  /** False once everything is spent. */
  spend(amount: number): boolean {
    this.#left -= amount;
    return this.#left > 0;
  }

  get isExhausted(): boolean {
    return this.#left <= 0;
  }
}
