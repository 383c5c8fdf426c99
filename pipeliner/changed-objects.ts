/**
 * Reads:   changes of cells, with the values that hold what is changed.
 * Gives:   for each cell the objects in it that change: those very ones where all of them are known, else all that can be reached.
 *
 * `cache.set(key, list)` changes the Map in the cache; the lists in there are as they were, for all others who make such lists.
 */
import type { ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import type { TokenId } from '../analyzer/tokens.js';
import type { Cell } from './cells.js';
import type { Reach } from './reach.js';

export class ChangedObjects {
  readonly #pipeline: Pipeline;
  readonly #reach: Reach;
  /** Of cells in which all that is changed is known. */
  readonly #within = new Map<Cell, Set<TokenId>>();
  readonly #known = new Map<readonly TokenId[], boolean>();

  constructor(pipeline: Pipeline, reach: Reach) {
    this.#pipeline = pipeline;
    this.#reach = reach;
  }

  /** Something that is reached through the cell is changed, and `value` holds it. */
  note(cell: Cell, value: ValueId): void {
    const tokens = this.#pipeline.origins.tokensOf(value);
    if (cell.changed === 'within') return;
    if (!this.#areKnown(tokens)) {
      cell.changed = 'within';
      this.#within.delete(cell);
      return;
    }
    cell.changed = 'some';
    let found = this.#within.get(cell);
    if (found === undefined) this.#within.set(cell, (found = new Set()));
    for (const token of tokens) found.add(token);
  }

  /** Objects that the program makes, each at its place. */
  #areKnown(tokens: readonly TokenId[]): boolean {
    // Lists of one are made for who asks.
    let known = tokens.length < 2 ? undefined : this.#known.get(tokens);
    if (known === undefined) {
      known = tokens.length > 0 && tokens.every((id) => this.#pipeline.origins.tokens.get(id).kind === 'object');
      if (tokens.length > 1) this.#known.set(tokens, known);
    }
    return known;
  }

  of(cell: Cell): readonly TokenId[] {
    if (cell.changed !== 'some') return this.#reach.from(cell.tokens, cell.changed === 'within');
    return this.#reach.from([...new Set([...cell.tokens, ...(this.#within.get(cell) ?? [])])], false);
  }
}
