/**
 * Blocks of 32-bit integers, a power of two long each, in one range of addresses: for lists of which there are many. An array
 * takes 32 bytes before its first item, and who makes a longer one leaves the old to be collected; here the next list gets it.
 */
const chunkBits = 14;
const chunk = 1 << chunkBits;

export class IntBlocks {
  readonly #chunks: Int32Array[] = [];
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
    while (this.#chunks.length * chunk < this.#end) this.#chunks.push(new Int32Array(chunk));
    return start;
  }

  give(block: number, log: number): void {
    while (this.#free.length <= log) this.#free.push([]);
    this.#free[log]?.push(block);
  }

  get(address: number): number {
    return (this.#chunks[address >>> chunkBits] as Int32Array)[address & (chunk - 1)] as number;
  }

  set(address: number, value: number): void {
    (this.#chunks[address >>> chunkBits] as Int32Array)[address & (chunk - 1)] = value;
  }
}
