/**
 * Effects of all functions, as rows of numbers.
 */
import type { FunctionId, OpId, ValueId } from '../facts.js';
import { longer } from '../int-list.js';
import type { RootId } from '../roots.js';

/** Root and kind, op, at, value. */
const width = 4;
/** More than there are kinds. The lowest root is -1. */
const kindBits = 4;

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
    if (next + width > this.#rows.length) this.#rows = longer(this.#rows, next + width);
    const rows = this.#rows;
    rows[next] = (root << kindBits) | kind;
    rows[next + 1] = op;
    rows[next + 2] = at;
    rows[next + 3] = value;
    this.#length = next + width;
  }

  count(fn: FunctionId): number {
    return ((this.#last[fn] as number) - (this.#first[fn] as number)) / width;
  }

  each(fn: FunctionId, visit: (kind: number, root: RootId, op: OpId, at: OpId, value: ValueId) => void): void {
    const rows = this.#rows;
    const last = this.#last[fn] as number;
    for (let row = this.#first[fn] as number; row < last; row += width) {
      const head = rows[row] as number;
      visit(
        head & ((1 << kindBits) - 1),
        head >> kindBits,
        rows[row + 1] as number,
        rows[row + 2] as number,
        rows[row + 3] as number,
      );
    }
  }
}
