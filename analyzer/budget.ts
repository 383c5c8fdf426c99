/**
 * A bound on the work that an analysis may take, in proportion to the program: code in which everything may be everything
 * (large generated bundles, plugin systems) would otherwise cost the square or worse. Whoever runs out stops telling things
 * apart; then nothing is proven, and all requests stay home.
 */
export class Budget {
  #left: number;

  constructor(limit: number) {
    this.#left = limit;
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
