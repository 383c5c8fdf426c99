/**
 * Effects of all functions, as rows of numbers.
 */
import type { FunctionId, OpId, ValueId } from '../facts.js';
import type { RootId } from '../roots.js';

/** Kind, root, op, at, value. */
const width = 5;

export class EffectList {
  #rows = new Int32Array(width * 1024);
  #length = 0;
  readonly #first: Int32Array;
  readonly #last: Int32Array;

  constructor(functionCount: number) {
    this.#first = new Int32Array(functionCount);
    this.#last = new Int32Array(functionCount);
  }

  /** What is pushed from now on belongs to `fn`, in place of what was pushed for it in this round. */
  begin(fn: FunctionId): void {
    this.#first[fn] = this.#length;
  }

  startAgain(fn: FunctionId): void {
    this.#length = this.#first[fn] as number;
  }

  end(fn: FunctionId): void {
    this.#last[fn] = this.#length;
  }

  push(kind: number, root: RootId, op: OpId, at: OpId, value: ValueId): void {
    const next = this.#length;
    if (next === this.#rows.length) this.#grow();
    const rows = this.#rows;
    rows[next] = kind;
    rows[next + 1] = root;
    rows[next + 2] = op;
    rows[next + 3] = at;
    rows[next + 4] = value;
    this.#length = next + width;
  }

  #grow(): void {
    const next = new Int32Array(this.#rows.length * 2);
    next.set(this.#rows);
    this.#rows = next;
  }

  count(fn: FunctionId): number {
    return ((this.#last[fn] as number) - (this.#first[fn] as number)) / width;
  }

  each(fn: FunctionId, visit: (kind: number, root: RootId, op: OpId, at: OpId, value: ValueId) => void): void {
    const rows = this.#rows;
    const last = this.#last[fn] as number;
    for (let row = this.#first[fn] as number; row < last; row += width)
      visit(
        rows[row] as number,
        rows[row + 1] as number,
        rows[row + 2] as number,
        rows[row + 3] as number,
        rows[row + 4] as number,
      );
  }
}
