/**
 * Effects of all functions, as rows of numbers.
 */
import type { FunctionId, OpId, ValueId } from '../facts.js';
import { IntList, inChunk } from '../int-list.js';
import type { RootId } from '../roots.js';

/** Root and kind, op, at, value. Chunks of a list hold whole rows. */
const width = 4;
/** More than there are kinds. The lowest root is -1. */
const kindBits = 4;

export class EffectList {
  readonly #rows = new IntList(width * 1024);
  readonly #first: Int32Array;
  readonly #last: Int32Array;

  constructor(functionCount: number) {
    this.#first = new Int32Array(functionCount);
    this.#last = new Int32Array(functionCount);
  }

  /** What is pushed from now on belongs to `fn`, in place of what was pushed for it in this round. */
  begin(fn: FunctionId): void {
    this.#first[fn] = this.#rows.length;
  }

  startAgain(fn: FunctionId): void {
    this.#rows.length = this.#first[fn] as number;
  }

  end(fn: FunctionId): void {
    this.#last[fn] = this.#rows.length;
  }

  /** Where the next one will be. */
  get next(): number {
    return this.#rows.length;
  }

  /** Of all that was pushed for `fn`, in the order of its ops, what each of them pushed last: from one place to the other. */
  arrange(fn: FunctionId, from: readonly number[], to: readonly number[], ops: number): void {
    const last: number[] = [];
    for (let op = 0; op < ops; op++) {
      for (let next = from[op] as number; next < (to[op] as number); next += width) {
        const chunk = this.#rows.chunkOf(next);
        const row = next & inChunk;
        for (let column = 0; column < width; column++) last.push(chunk[row + column] as number);
      }
    }
    this.startAgain(fn);
    const first = this.#rows.length;
    this.#rows.extend(first + last.length);
    for (let at = 0; at < last.length; at += width) {
      const chunk = this.#rows.chunkOf(first + at);
      const row = (first + at) & inChunk;
      for (let column = 0; column < width; column++) chunk[row + column] = last[at + column] as number;
    }
  }

  push(kind: number, root: RootId, op: OpId, at: OpId, value: ValueId): void {
    const next = this.#rows.length;
    this.#rows.extend(next + width);
    const chunk = this.#rows.chunkOf(next);
    const row = next & inChunk;
    chunk[row] = (root << kindBits) | kind;
    chunk[row + 1] = op;
    chunk[row + 2] = at;
    chunk[row + 3] = value;
  }

  count(fn: FunctionId): number {
    return ((this.#last[fn] as number) - (this.#first[fn] as number)) / width;
  }

  each(fn: FunctionId, visit: (kind: number, root: RootId, op: OpId, at: OpId, value: ValueId) => void): void {
    const last = this.#last[fn] as number;
    for (let next = this.#first[fn] as number; next < last; next += width) {
      const chunk = this.#rows.chunkOf(next);
      const row = next & inChunk;
      const head = chunk[row] as number;
      visit(
        head & ((1 << kindBits) - 1),
        head >> kindBits,
        chunk[row + 1] as number,
        chunk[row + 2] as number,
        chunk[row + 3] as number,
      );
    }
  }
}
