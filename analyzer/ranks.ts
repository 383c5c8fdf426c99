/**
 * Which numbers are in an ascending list, and where in it: two bits for each number up to the last, where a table of places would take
 * four bytes. For lists of which most numbers are none.
 *
 *     bits     one for each number, in words of 32
 *     before   for each word how many numbers are in those before it
 */
import { invariant } from '../diagnostics/invariant.js';
import { IntList } from './int-list.js';

export class Ranks {
  readonly #bits = new IntList(256);
  readonly #before = new IntList(256);
  /** How many numbers there are. */
  length = 0;
  #next = 0;

  /** The number goes behind all that are there. */
  push(number: number): void {
    invariant(number >= this.#next, `${number} comes behind ${this.#next - 1}`);
    this.#next = number + 1;
    const word = number >>> 5;
    while (this.#bits.length <= word) {
      this.#bits.push(0);
      this.#before.push(this.length);
    }
    this.#bits.set(word, this.#bits.get(word) | (1 << (number & 31)));
    this.length++;
  }

  /** Its place, from 0; -1 where it is not there. */
  of(number: number): number {
    const word = number >>> 5;
    if (word >= this.#bits.length) return -1;
    const bits = this.#bits.get(word);
    const bit = 1 << (number & 31);
    return (bits & bit) === 0 ? -1 : this.#before.get(word) + countBits(bits & (bit - 1));
  }

  each(visit: (number: number) => void): void {
    for (let word = 0; word < this.#bits.length; word++)
      for (let bits = this.#bits.get(word); bits !== 0; bits &= bits - 1)
        visit(word * 32 + 31 - Math.clz32(bits & -bits));
  }

  /** Takes back those from `end` on. */
  restore(end: number): void {
    if (end >= this.#next) return;
    const word = end >>> 5;
    const left = this.#bits.get(word) & ((1 << (end & 31)) - 1);
    this.length = this.#before.get(word) + countBits(left);
    this.#bits.length = word + 1;
    this.#before.length = word + 1;
    this.#bits.set(word, left);
    this.#next = end;
  }
}

function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
