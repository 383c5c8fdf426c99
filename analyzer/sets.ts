/**
 * Sets of small integers by number, most of which hold nothing or one: these take four bytes each, and all that hold the
 * same one are the same list to who asks.
 */
import { IntList } from './int-list.js';

/** From this size on a list has a real set beside it. */
const large = 24;

export class IntSets {
  /** 0: nothing; m + 1: only m; below 0: the inverted number of a list. */
  readonly #first = new IntList(4096);
  readonly #lists: (readonly number[])[] = [];
  readonly #large = new Map<number, Set<number>>();
  readonly #alone: (readonly number[] | undefined)[] = [];

  /** True if `member` is new to set `id`. */
  add(id: number, member: number): boolean {
    this.#first.extend(id + 1);
    const first = this.#first.get(id);
    if (first === 0) {
      this.#first.set(id, member + 1);
      return true;
    }
    if (first > 0) {
      if (first === member + 1) return false;
      this.#first.set(id, ~(this.#lists.push([first - 1, member]) - 1));
      return true;
    }
    return this.#addToList(~first, member);
  }

  #addToList(number: number, member: number): boolean {
    const list = this.#lists[number] as number[];
    if (list.length < large) {
      if (list.includes(member)) return false;
      // A list that grows by itself takes room for many more.
      this.#lists[number] = [...list, member];
      if (list.length + 1 === large) this.#large.set(number, new Set(this.#lists[number]));
      return true;
    }
    const all = this.#large.get(number) as Set<number>;
    if (all.has(member)) return false;
    all.add(member);
    list.push(member);
    return true;
  }

  size(id: number): number {
    const first = id < this.#first.length ? this.#first.get(id) : 0;
    return first === 0 ? 0 : first > 0 ? 1 : (this.#lists[~first] as readonly number[]).length;
  }

  /** Members by the order in which they came. */
  at(id: number, index: number): number {
    const first = this.#first.get(id);
    return first > 0 ? first - 1 : ((this.#lists[~first] as readonly number[])[index] as number);
  }

  get(id: number): readonly number[] {
    const first = id < this.#first.length ? this.#first.get(id) : 0;
    if (first === 0) return none;
    if (first < 0) return this.#lists[~first] as readonly number[];
    while (this.#alone.length < first) this.#alone.push(undefined);
    return (this.#alone[first - 1] ??= [first - 1]);
  }

  /** Nothing is added any more: sets that hold the same are one list from now on. */
  share(): void {
    const known = new Map<string, readonly number[]>();
    for (const [number, list] of this.#lists.entries()) {
      const key = list.join(' ');
      const same = known.get(key);
      if (same === undefined) known.set(key, list);
      else this.#lists[number] = same;
    }
    this.#large.clear();
  }
}

const none: readonly number[] = [];
