/**
 * Numbers for pairs of integers, from 0, in the order in which they came: what belongs to a pair is then kept in a column. A Map of them
 * would take three times the room, a Map for each of the first ones ten times.
 *
 *     one, two   the pairs by number
 *     table      four entries or more for three pairs, where its hash says or behind: its number, plus one
 */
import { IntList } from './int-list.js';

const leastLog = 6;

export class IntKeys {
  readonly #one = new IntList(64);
  readonly #two: IntList | null;
  #log = leastLog;
  #table = new Int32Array(1 << leastLog);

  /** `areAlone`: the second of each pair is 0. */
  constructor(areAlone = false) {
    this.#two = areAlone ? null : new IntList(64);
  }

  get length(): number {
    return this.#one.length;
  }

  /** The number of the pair; -1 where it is not there. */
  find(one: number, two = 0): number {
    return (this.#table[this.#entryOf(one, two)] as number) - 1;
  }

  /** The number of the pair, which is there from now on. */
  add(one: number, two = 0): number {
    const entry = this.#entryOf(one, two);
    const known = this.#table[entry] as number;
    if (known !== 0) return known - 1;
    const number = this.#one.push(one);
    this.#two?.push(two);
    this.#table[entry] = number + 1;
    if (4 * this.length > 3 * this.#table.length) this.#enlarge();
    return number;
  }

  /** True where the pair was not there. */
  isNew(one: number, two = 0): boolean {
    const { length } = this;
    return this.add(one, two) === length;
  }

  #entryOf(one: number, two: number): number {
    const table = this.#table;
    const mask = table.length - 1;
    for (let at = hash(one, two) >>> (32 - this.#log); ; at = (at + 1) & mask) {
      const number = (table[at] as number) - 1;
      if (number === -1) return at;
      if (this.#one.get(number) === one && (this.#two === null || this.#two.get(number) === two)) return at;
    }
  }

  #enlarge(): void {
    this.#log++;
    this.#table = new Int32Array(1 << this.#log);
    for (let number = 0; number < this.length; number++)
      this.#table[this.#entryOf(this.#one.get(number), this.#two?.get(number) ?? 0)] = number + 1;
  }
}

/** Neighbours come to lie apart; its upper bits are the best. */
function hash(one: number, two: number): number {
  const mixed = Math.imul(one, 0x9e3779b1) ^ Math.imul(two, 0x85ebca6b);
  return Math.imul(mixed ^ (mixed >>> 15), 0x9e3779b1);
}
