/**
 * Sets of small integers by number, most of which hold nothing or one: these take four bytes each. Longer ones are lists in
 * blocks, and from some size on have a table beside them.
 *
 *     list    block of members, in the order in which they came
 *     table   two entries or more for each member, where its hash says or behind: of lists that bytes can count, its place in
 *             the list, plus one, in a byte; of longer ones the member, plus one
 *
 * When nothing is added any more, all that hold the same several are the same array to who asks, and have one number.
 */
import { IntBlocks, inChunk } from './int-blocks.js';
import { IntList } from './int-list.js';
import { Ranks } from './ranks.js';

/** From this size on a list has a table. */
const large = 16;
/** Up to here a byte tells a place in the list. */
const countedByBytes = 256;

export class IntSets {
  /** 0: nothing; m + 1: only m; below 0: the inverted number of a list. */
  readonly #first = new IntList(4096);
  #mostAlone = 0;
  #blocks = new IntBlocks();
  /** Of lists: block, how many members, and the table's block, plus one, for those that are large. */
  #block = new IntList(256);
  #size = new IntList(256);
  #table = new IntList(256);

  /** True if `member` is new to set `id`. */
  add(id: number, member: number): boolean {
    this.#first.extend(id + 1);
    const first = this.#first.get(id);
    if (first === 0) {
      if (member > this.#mostAlone) this.#mostAlone = member;
      this.#first.set(id, member + 1);
      return true;
    }
    if (first < 0) return this.#addToList(~first, member);
    if (first === member + 1) return false;
    const block = this.#blocks.take(1);
    this.#blocks.set(block, first - 1);
    this.#blocks.set(block + 1, member);
    this.#first.set(id, ~this.#block.push(block));
    this.#size.push(2);
    this.#table.push(0);
    return true;
  }

  #addToList(list: number, member: number): boolean {
    const size = this.#size.get(list);
    if (size < large ? this.#isListed(list, size, member) : !this.#enter(list, size, member)) return false;
    // Lists are as long as their blocks when they have come to a power of two.
    if (isPowerOfTwo(size)) this.#lengthen(list, size);
    this.#blocks.set(this.#block.get(list) + size, member);
    this.#size.set(list, size + 1);
    if (size + 1 >= large && isPowerOfTwo(size + 1)) this.#enlargeTable(list, size + 1);
    return true;
  }

  #isListed(list: number, size: number, member: number): boolean {
    const block = this.#block.get(list);
    const chunk = this.#blocks.chunkOf(block);
    const first = block & inChunk;
    for (let at = first; at < first + size; at++) if (chunk[at] === member) return true;
    return false;
  }

  /** The place, from `at` on, of the first member of `from` that `to`, which is not closed, does not have; how many `from`
   *  has if there is none. Where many are there already, this asks at a fraction of what adding each of them costs. */
  firstMissing(from: number, to: number, at: number): number {
    const size = this.size(from);
    const there = to < this.#first.length ? this.#first.get(to) : 0;
    if (there === 0) return at;
    for (let index = at; index < size; index++) {
      const member = this.at(from, index);
      if (there > 0 ? member !== there - 1 : !this.#hasInList(~there, member)) return index;
    }
    return size;
  }

  #hasInList(list: number, member: number): boolean {
    const size = this.#size.get(list);
    if (size < large) return this.#isListed(list, size, member);
    return this.#freeEntry(this.#table.get(list) - 1, this.#block.get(list), size, member) < 0;
  }

  #lengthen(list: number, size: number): void {
    const log = 31 - Math.clz32(size);
    const before = this.#block.get(list);
    const block = this.#blocks.take(log + 1);
    for (let index = 0; index < size; index++) this.#blocks.set(block + index, this.#blocks.get(before + index));
    this.#blocks.give(before, log);
    this.#block.set(list, block);
  }

  /** True if it was not in the table; it is to be the next in the list. */
  #enter(list: number, size: number, member: number): boolean {
    const table = this.#table.get(list) - 1;
    const entry = this.#freeEntry(table, this.#block.get(list), size, member);
    if (entry < 0) return false;
    this.#put(table, entry, size, size, member);
    return true;
  }

  #enlargeTable(list: number, size: number): void {
    const before = this.#table.get(list) - 1;
    if (before >= 0) this.#blocks.give(before, logOfBlock(size - 1));
    const table = this.#blocks.take(logOfBlock(size));
    this.#table.set(list, table + 1);
    const block = this.#block.get(list);
    for (let place = 0; place < size; place++) {
      const member = this.#blocks.get(block + place);
      this.#put(table, this.#freeEntry(table, block, size, member), size, place, member);
    }
  }

  /** The entry that `member` is to have in the table of a list with so many; -1 if it has one. */
  #freeEntry(table: number, block: number, size: number, member: number): number {
    const mask = (1 << logOfTable(size)) - 1;
    if (size >= countedByBytes) {
      for (let at = hash(member) & mask; ; at = (at + 1) & mask) {
        const there = this.#blocks.get(table + at);
        if (there === 0) return at;
        if (there === member + 1) return -1;
      }
    }
    const bytes = this.#blocks.bytesOf(table);
    const first = (table & inChunk) << 2;
    const members = this.#blocks.chunkOf(block);
    const behind = (block & inChunk) - 1;
    for (let at = hash(member) & mask; ; at = (at + 1) & mask) {
      const place = bytes[first + at] as number;
      if (place === 0) return at;
      if (members[behind + place] === member) return -1;
    }
  }

  #put(table: number, entry: number, size: number, place: number, member: number): void {
    if (size >= countedByBytes) this.#blocks.set(table + entry, member + 1);
    // The last one does not fit into a byte, but with it the list gets another table.
    else this.#blocks.bytesOf(table)[((table & inChunk) << 2) + entry] = place + 1;
  }

  /** Nothing is added to set `id` any more, nor is that tried. */
  close(id: number): void {
    const list = ~this.#first.get(id);
    const table = list < 0 ? 0 : this.#table.get(list);
    if (table === 0) return;
    this.#blocks.give(table - 1, logOfBlock(this.#size.get(list)));
    this.#table.set(list, 0);
  }

  size(id: number): number {
    const first = id < this.#first.length ? this.#first.get(id) : 0;
    return first === 0 ? 0 : first > 0 ? 1 : this.#size.get(~first);
  }

  /** Members by the order in which they came; while some may still be added. */
  at(id: number, index: number): number {
    const first = this.#first.get(id);
    return first > 0 ? first - 1 : this.#blocks.get(this.#block.get(~first) + index);
  }

  get(id: number): readonly number[] {
    const first = id < this.#first.length ? this.#first.get(id) : 0;
    return first === 0 ? none : first < 0 ? this.#copy(~first) : [first - 1];
  }

  #copy(list: number): number[] {
    const block = this.#block.get(list);
    const size = this.#size.get(list);
    const members = new Array<number>(size);
    for (let index = 0; index < size; index++) members[index] = this.#blocks.get(block + index);
    return members;
  }

  /** Nothing is added any more, and nothing is left here: sets that hold the same several are one array from now on. */
  share(): SharedSets {
    const arrays: (readonly number[])[] = [none];
    const ofLists = this.#shareLists(arrays);
    const filled = new Ranks();
    const numbers = new IntList(1024);
    const { length } = this.#first;
    for (let start = 0; start < length; start += inChunk + 1) {
      const chunk = this.#first.chunkOf(start);
      const end = Math.min(length - start, chunk.length);
      for (let at = 0; at < end; at++) {
        const first = chunk[at] as number;
        if (first === 0) continue;
        filled.push(start + at);
        numbers.push(first < 0 ? (ofLists[~first] as number) : ~(first - 1));
      }
    }
    this.#first.clear();
    return new SharedSets(filled, numbers, arrays, this.#mostAlone);
  }

  /** Gives the place of each list in `arrays`. */
  #shareLists(arrays: (readonly number[])[]): Int32Array {
    const known = new Map<number, number[]>();
    const places = new Int32Array(this.#block.length);
    for (let list = 0; list < this.#block.length; list++) {
      const key = this.#hashOf(list);
      const others = known.get(key);
      const same = others?.find((other) => this.#isSame(list, other));
      places[list] = same === undefined ? arrays.push(this.#copy(list)) - 1 : (places[same] as number);
      if (others === undefined) known.set(key, [list]);
      else if (same === undefined) others.push(list);
    }
    this.#blocks = new IntBlocks();
    this.#block = new IntList(1);
    this.#size = new IntList(1);
    this.#table = new IntList(1);
    return places;
  }

  #hashOf(list: number): number {
    let sum = 0;
    const block = this.#block.get(list);
    const end = block + this.#size.get(list);
    for (let at = block; at < end; at++) sum = hash(sum ^ this.#blocks.get(at));
    return sum;
  }

  #isSame(list: number, other: number): boolean {
    const size = this.#size.get(list);
    if (size !== this.#size.get(other)) return false;
    const [one, two] = [this.#block.get(list), this.#block.get(other)];
    for (let index = 0; index < size; index++)
      if (this.#blocks.get(one + index) !== this.#blocks.get(two + index)) return false;
    return true;
  }
}

/** Sets that are complete. What they are asked for they are asked for millions of times. */
export class SharedSets {
  /** Sets that hold something, and by their places what: the number of a list, or the inverted only member. */
  readonly #filled: Ranks;
  readonly #numbers: IntList;
  /** Those of several members that hold something else each, by number. */
  readonly #arrays: readonly (readonly number[])[];
  readonly #mostAlone: number;
  readonly get: (id: number) => readonly number[];
  /** The same for sets that hold the same; 0 for those that hold nothing. */
  readonly numberOf: (id: number) => number;
  readonly membersOf: (number: number) => readonly number[];

  constructor(filled: Ranks, numbers: IntList, arrays: readonly (readonly number[])[], mostAlone: number) {
    this.#filled = filled;
    this.#numbers = numbers;
    this.#arrays = arrays;
    this.#mostAlone = mostAlone;
    // Six in seven have one member: their lists are made for who asks, who mostly asks for one that another has just asked for.
    const alone: (readonly number[])[] = new Array<readonly number[]>(mostKnown).fill(none);
    const only = (member: number): readonly number[] => {
      const known = alone[member & (mostKnown - 1)] as readonly number[];
      if (known[0] === member) return known;
      const list = [member];
      alone[member & (mostKnown - 1)] = list;
      return list;
    };
    this.get = (id) => {
      const place = filled.of(id);
      if (place === -1) return none;
      const number = numbers.get(place);
      return number < 0 ? only(~number) : (arrays[number] as readonly number[]);
    };
    this.numberOf = (id) => {
      const place = filled.of(id);
      return place === -1 ? 0 : numbers.get(place);
    };
    this.membersOf = (number) => (number < 0 ? only(~number) : (arrays[number] as readonly number[]));
  }

  /** The same sets by other numbers, which are in the same order. */
  renamed(to: (id: number) => number): SharedSets {
    const filled = new Ranks();
    this.#filled.each((id) => filled.push(to(id)));
    return new SharedSets(filled, this.#numbers, this.#arrays, this.#mostAlone);
  }

  /** Gives what says of sets whether one of their members is such: found out once for all that hold the same. */
  some(is: (member: number) => boolean): (id: number) => boolean {
    const [filled, numbers] = [this.#filled, this.#numbers];
    const known = new Uint8Array(this.#arrays.length);
    const knownAlone = new Uint8Array(this.#mostAlone + 1);
    return (id) => {
      const place = filled.of(id);
      if (place === -1) return false;
      const number = numbers.get(place);
      if (number < 0) {
        if (knownAlone[~number] === 0) knownAlone[~number] = is(~number) ? YES : NO;
        return knownAlone[~number] === YES;
      }
      if (known[number] === 0) known[number] = (this.#arrays[number] as readonly number[]).some(is) ? YES : NO;
      return known[number] === YES;
    };
  }
}

/** A power of two. */
const mostKnown = 1024;

const NO = 1;
const YES = 2;

function isPowerOfTwo(size: number): boolean {
  return (size & (size - 1)) === 0;
}

function logOfTable(size: number): number {
  return 33 - Math.clz32(size);
}

/** Of the block that such a table lies in. */
function logOfBlock(size: number): number {
  return size < countedByBytes ? logOfTable(size) - 2 : logOfTable(size);
}

/** Neighbours, and what differs in few bits, come to lie apart. */
function hash(member: number): number {
  const mixed = Math.imul(member, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

const none: readonly number[] = [];
