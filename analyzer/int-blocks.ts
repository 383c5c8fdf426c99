/**
 * Blocks of 32-bit integers, a power of two long each, in one range of addresses: for lists of which there are many. An array
 * takes 32 bytes before its first item, and who makes a longer one leaves the old to be collected; here the next list gets it.
 */
import { wholeChunk } from './int-list.js';

/** As long as those of lists. */
const chunkBits = 14;
const chunk = 1 << chunkBits;

/** What of an address is the place in its chunk. */
export const inChunk = chunk - 1;

export class IntBlocks {
  readonly #chunks: Int32Array[] = [];
  readonly #bytes: Uint8Array[] = [];
  /** Blocks that were given back, by the logarithm of their length. */
  readonly #free: number[][] = [];
  #end = 0;

  /** A block of `1 << log` zeros. */
  take(log: number): number {
    const given = this.#free[log]?.pop();
    if (given !== undefined) {
      for (let index = 0; index < 1 << log; index++) this.set(given + index, 0);
      return given;
    }
    const length = 1 << log;
    // None lies across two chunks, but those that fill whole ones.
    const left = -this.#end & (chunk - 1);
    const start = left < length ? this.#end + left : this.#end;
    this.#end = start + length;
    while (this.#chunks.length * chunk < this.#end) this.#addChunk();
    return start;
  }

  #addChunk(): void {
    const integers = wholeChunk();
    this.#chunks.push(integers);
    this.#bytes.push(new Uint8Array(integers.buffer));
  }

  give(block: number, log: number): void {
    while (this.#free.length <= log) this.#free.push([]);
    this.#free[log]?.push(block);
  }

  /** Where a block lies that is no longer than a chunk: its chunk, from `address & inChunk` on. */
  chunkOf(address: number): Int32Array {
    return this.#chunks[address >>> chunkBits] as Int32Array;
  }

  /** The same as bytes: a block of which each integer is four of them, from four times `address & inChunk` on. */
  bytesOf(address: number): Uint8Array {
    return this.#bytes[address >>> chunkBits] as Uint8Array;
  }

  get(address: number): number {
    return (this.#chunks[address >>> chunkBits] as Int32Array)[address & (chunk - 1)] as number;
  }

  set(address: number, value: number): void {
    (this.#chunks[address >>> chunkBits] as Int32Array)[address & (chunk - 1)] = value;
  }
}
