/**
 * Effects of all functions, as rows of numbers.
 */
import { type FunctionId, NOTHING, type OpId, type ValueId } from '../facts.js';
import { IntList, inChunk } from '../int-list.js';
import type { RootId } from '../roots.js';

/** Root and kind, op, at, value. Chunks of a list hold whole rows. */
const width = 4;
/** More than there are kinds. The lowest root is -1. */
const kindBits = 4;
const KIND = 1 << kindBits;
/** Of a row that is kept: it says where it is done, but for the op itself, and what is changed. */
const HAS_AT = 1 << kindBits;
const HAS_VALUE = 2 << kindBits;
const keptBits = kindBits + 2;

export class EffectList {
  readonly #rows = new IntList(width * 1024);
  readonly #first: Int32Array;
  readonly #last: Int32Array;
  readonly #counts: Int32Array;

  constructor(functionCount: number) {
    this.#first = new Int32Array(functionCount);
    this.#last = new Int32Array(functionCount);
    this.#counts = new Int32Array(functionCount);
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

  /** Nothing is pushed any more: of most rows half is kept, as what they say of `at` and of `value` is nothing. */
  close(): void {
    const functions = this.#first.length;
    const order = Float64Array.from(this.#first, (first, fn) => first * functions + fn).sort();
    let to = 0;
    for (let index = 0; index < order.length; index++) {
      const fn = (order[index] as number) % functions;
      const [first, last] = [this.#first[fn] as number, this.#last[fn] as number];
      if (first >= last) continue;
      this.#first[fn] = to;
      this.#counts[fn] = (last - first) / width;
      for (let next = first; next < last; next += width) to = this.#keep(next, to);
      this.#last[fn] = to;
    }
    this.#rows.length = to;
    this.#rows.trim();
  }

  /** Moves a row to the front, and gives where the next one is to be. */
  #keep(from: number, to: number): number {
    const rows = this.#rows;
    const [head, op, at, value] = [rows.get(from), rows.get(from + 1), rows.get(from + 2), rows.get(from + 3)];
    const [root, kind] = [head >> kindBits, head & (KIND - 1)];
    let end = to;
    rows.set(end++, (root << keptBits) | kind | (at === op ? 0 : HAS_AT) | (value === NOTHING ? 0 : HAS_VALUE));
    rows.set(end++, op);
    if (at !== op) rows.set(end++, at);
    if (value !== NOTHING) rows.set(end++, value);
    return end;
  }

  count(fn: FunctionId): number {
    return this.#counts[fn] as number;
  }

  /** Once it is closed. */
  each(fn: FunctionId, visit: (kind: number, root: RootId, op: OpId, at: OpId, value: ValueId) => void): void {
    const rows = this.#rows;
    const last = this.#counts[fn] === 0 ? 0 : (this.#last[fn] as number);
    for (let next = this.#first[fn] as number; next < last; ) {
      const head = rows.get(next++);
      const op = rows.get(next++);
      const at = (head & HAS_AT) === 0 ? op : rows.get(next++);
      const value = (head & HAS_VALUE) === 0 ? NOTHING : rows.get(next++);
      visit(head & (KIND - 1), head >> keptBits, op, at, value);
    }
  }
}
