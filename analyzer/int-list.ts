/**
 * A growing list of 32-bit integers: four bytes an entry, where an array of numbers or objects would cost many times that.
 *
 * It grows by whole chunks, so that nothing is copied and nothing is left behind. Of lists that grew in one piece, the pieces before
 * took a tenth of all memory: blocks of so many sizes that few fit into the place of another.
 */
const chunkBits = 14;
const chunkLength = 1 << chunkBits;

/** What of an index is the place in its chunk. */
export const inChunk = chunkLength - 1;

export class IntList {
  /** All are full but for the last, and as long as each other but for an only one. */
  readonly #chunks: Int32Array[];
  /** Entries for which there is room. */
  #room: number;
  length = 0;

  constructor(capacity = 256) {
    this.#chunks = [new Int32Array(capacity)];
    this.#room = capacity;
  }

  push(value: number): number {
    const index = this.length;
    if (index === this.#room) this.#grow();
    (this.#chunks[index >>> chunkBits] as Int32Array)[index & inChunk] = value;
    return this.length++;
  }

  /** Of no op, -1, it is nothing: no kind of op, no atom. */
  get(index: number): number {
    return this.#chunks[index >>> chunkBits]?.[index & inChunk] as number;
  }

  set(index: number, value: number): void {
    (this.#chunks[index >>> chunkBits] as Int32Array)[index & inChunk] = value;
  }

  /** Where an entry lies, at `index & inChunk`. */
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

  /** The others come to stand where these stood. */
  dropFirst(count: number): void {
    for (let index = count; index < this.length; index++) this.set(index - count, this.get(index));
    this.length -= count;
  }

  #grow(): void {
    const [only] = this.#chunks;
    if (only === undefined || only.length === chunkLength) {
      this.#chunks.push(new Int32Array(chunkLength));
      this.#room += chunkLength;
      return;
    }
    const longer = new Int32Array(Math.min(only.length * 2, chunkLength));
    longer.set(only);
    this.#chunks[0] = longer;
    this.#room = longer.length;
  }
}
