/**
 * The uses that wait for tokens, by value, in the order in which they came: a chain of numbers for each value. Most are uses
 * of ops, which are numbers themselves; there are about as many uses as ops in the program.
 */
import type { ValueId } from '../facts.js';
import { IntList } from '../int-list.js';
import type { Use } from './uses.js';

export class WaitingUses {
  readonly #first = new IntList(4096);
  readonly #last = new IntList(4096);
  readonly #next = new IntList(4096);
  /** Twice the number of an op, or twice the place in `#uses` and one more. */
  readonly #what = new IntList(4096);
  readonly #uses: Use[] = [];

  constructor() {
    // 0 is the end of a chain.
    this.#next.push(0);
    this.#what.push(0);
  }

  addOp(value: ValueId, code: number): void {
    this.#append(value, code * 2);
  }

  add(value: ValueId, use: Use): void {
    this.#append(value, (this.#uses.push(use) - 1) * 2 + 1);
  }

  #append(value: ValueId, what: number): void {
    const entry = this.#next.push(0);
    this.#what.push(what);
    this.#first.extend(value + 1);
    this.#last.extend(value + 1);
    const last = this.#last.get(value);
    if (last === 0) this.#first.set(value, entry);
    else this.#next.set(last, entry);
    this.#last.set(value, entry);
  }

  /** The first of its uses, 0 if there is none. */
  first(value: ValueId): number {
    return value < this.#first.length ? this.#first.get(value) : 0;
  }

  next(entry: number): number {
    return this.#next.get(entry);
  }

  /** The op whose use it is, null for other uses. */
  op(entry: number): number | null {
    const what = this.#what.get(entry);
    return (what & 1) === 0 ? what >> 1 : null;
  }

  use(entry: number): Use {
    return this.#uses[this.#what.get(entry) >> 1] as Use;
  }
}
