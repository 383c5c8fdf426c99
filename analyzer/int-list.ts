/**
 * A growing list of 32-bit integers: four bytes an entry, where an array of numbers or objects would cost many times that.
 *
 * It grows by whole chunks, so that nothing is copied and nothing is left behind. Of lists that grew in one piece, the pieces before
 * took a tenth of all memory: blocks of so many sizes that few fit into the place of another.
 *
 * A chunk that has been filled by pushing is kept in one or two bytes an entry where all of its entries fit: kinds, offsets in a
 * module, counts. What is set later and does not fit makes it wide again.
 */
const chunkBits = 14;
const chunkLength = 1 << chunkBits;

/** What of an index is the place in its chunk. */
export const inChunk = chunkLength - 1;

type Chunk = Int8Array | Int16Array | Int32Array;

/**
 * A whole chunk, in pages of its own: a buffer that could grow (this one does not) is mapped by itself, and goes back to the system when it
 * is collected. What comes from `malloc` leaves holes between what stays, and on a thread those stay with the process. With a length of
 * its own, as an array that follows its buffer's is slower.
 */
export function wholeChunk(): Int32Array<ArrayBuffer> {
  const bytes = 4 * chunkLength;
  return new Int32Array(new ArrayBuffer(bytes, { maxByteLength: bytes }), 0, chunkLength);
}

export class IntList {
  /** All are full but for the last, and as long as each other but for an only one. */
  readonly #chunks: Chunk[];
  /** Entries for which there is room. */
  #room: number;
  length = 0;

  constructor(capacity = 256) {
    this.#chunks = [new Int32Array(capacity)];
    this.#room = capacity;
  }

  push(value: number): number {
    const index = this.length;
    if (index === this.#room) {
      this.#pack();
      this.#grow();
    }
    this.set(index, value);
    return this.length++;
  }

  /** Of no op, -1, it is nothing: no kind of op, no atom. */
  get(index: number): number {
    return this.#chunks[index >>> chunkBits]?.[index & inChunk] as number;
  }

  set(index: number, value: number): void {
    const chunk = this.#chunks[index >>> chunkBits] as Chunk;
    const at = index & inChunk;
    chunk[at] = value;
    if (chunk[at] !== value) this.#widen(index >>> chunkBits)[at] = value;
  }

  /** Where an entry lies, at `index & inChunk`; of lists that grow by `extend` only. */
  chunkOf(index: number): Int32Array {
    return this.#chunks[index >>> chunkBits] as Int32Array;
  }

  /** Makes entries up to `length` exist, as zeros. */
  extend(length: number): void {
    while (length > this.#room) this.#grow();
    if (length > this.length) this.length = length;
  }

  /** Nothing is in it any more, and it takes no room. */
  clear(): void {
    this.#chunks.length = 0;
    this.#room = 0;
    this.length = 0;
  }

  /** Gives back the chunks in which there is nothing. */
  trim(): void {
    if (this.#room <= chunkLength) return;
    this.#chunks.length = Math.max(1, Math.ceil(this.length / chunkLength));
    this.#room = this.#chunks.length * chunkLength;
  }

  /** The others come to stand where these stood. */
  dropFirst(count: number): void {
    for (let index = count; index < this.length; index++) this.set(index - count, this.get(index));
    this.length -= count;
  }

  /** The last chunk is full. */
  #pack(): void {
    const last = this.#chunks.length - 1;
    const chunk = this.#chunks[last];
    if (chunk instanceof Int32Array && chunk.length === chunkLength) this.#chunks[last] = packed(chunk);
  }

  #widen(at: number): Int32Array {
    const wide = wholeChunk();
    wide.set(this.#chunks[at] as Chunk);
    this.#chunks[at] = wide;
    return wide;
  }

  #grow(): void {
    const [only] = this.#chunks;
    if (only === undefined || only.length === chunkLength) {
      this.#chunks.push(wholeChunk());
      this.#room += chunkLength;
      return;
    }
    const length = Math.min(only.length * 2, chunkLength);
    const longer = length === chunkLength ? wholeChunk() : new Int32Array(length);
    longer.set(only);
    this.#chunks[0] = longer;
    this.#room = longer.length;
  }
}

/** Some entries of a list that go together, one after the other. */
export class IntRange {
  readonly #list: IntList;
  readonly #first: number;
  readonly length: number;

  /** From `first` to the end. */
  constructor(list: IntList, first: number) {
    this.#list = list;
    this.#first = first;
    this.length = list.length - first;
  }

  get(index: number): number {
    return this.#list.get(this.#first + index);
  }
}

function packed(chunk: Int32Array): Chunk {
  // All bits in which an entry differs from its sign.
  let bits = 0;
  for (let at = 0; at < chunk.length; at++) {
    const entry = chunk[at] as number;
    bits |= entry ^ (entry >> 31);
  }
  if (bits < 1 << 7) return new Int8Array(chunk);
  return bits < 1 << 15 ? new Int16Array(chunk) : chunk;
}
