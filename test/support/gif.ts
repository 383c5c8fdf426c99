/**
 * Reads: the bytes of an animated GIF as far as they have come.
 * Gives: its whole frames, as a colour for each dot; what of its end is lacking is no fault.
 */
export interface Frame {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue for each dot, line by line. */
  readonly dots: readonly (readonly [red: number, green: number, blue: number])[];
}

export interface Gif {
  readonly frames: readonly Frame[];
  /** The last byte has come. */
  readonly isClosed: boolean;
}

export function decodeGif(bytes: Buffer): Gif {
  const reader = new Reader(bytes);
  const frames: Frame[] = [];
  try {
    if (reader.take(6).toString('latin1') !== 'GIF89a') throw new Error('this is no GIF');
    return { frames, isClosed: readBlocks(reader, frames) };
  } catch (error) {
    if (error instanceof Unfinished) return { frames, isClosed: false };
    throw error;
  }
}

class Unfinished extends Error {}

class Reader {
  #at = 0;

  constructor(readonly bytes: Buffer) {}

  take(count: number): Buffer {
    if (this.#at + count > this.bytes.length) throw new Unfinished();
    this.#at += count;
    return this.bytes.subarray(this.#at - count, this.#at);
  }

  byte(): number {
    return this.take(1).readUInt8();
  }

  short(): number {
    return this.take(2).readUInt16LE();
  }

  palette(flags: number): Buffer | null {
    return (flags & 0x80) === 0 ? null : this.take(3 * 2 ** ((flags & 7) + 1));
  }

  subBlocks(): Buffer {
    const blocks: Buffer[] = [];
    for (let length = this.byte(); length > 0; length = this.byte()) blocks.push(this.take(length));
    return Buffer.concat(blocks);
  }
}

/** The screen stands in front of the first frame, its size and colours only. */
function readBlocks(reader: Reader, frames: Frame[]): boolean {
  reader.take(4);
  let colours = reader.palette(readScreenFlags(reader));
  for (;;) {
    const kind = reader.byte();
    if (kind === 0x3b) return true;
    if (kind === 0x21) {
      reader.byte();
      reader.subBlocks();
    } else if (kind === 0x2c) {
      reader.take(4);
      const [width, height] = [reader.short(), reader.short()];
      colours = reader.palette(reader.byte()) ?? colours;
      const minimum = reader.byte();
      const indices = unpack(reader.subBlocks(), minimum);
      if (indices.length !== width * height) throw new Error(`${indices.length} dots for ${width} x ${height}`);
      frames.push({ width, height, dots: indices.map((index) => colourAt(colours, index)) });
    } else throw new Error(`unknown block ${kind}`);
  }
}

function readScreenFlags(reader: Reader): number {
  const [flags = 0] = reader.take(3);
  return flags;
}

function colourAt(colours: Buffer | null, index: number): readonly [number, number, number] {
  if (colours === null) throw new Error('there are no colours');
  return [colours[index * 3] ?? 0, colours[index * 3 + 1] ?? 0, colours[index * 3 + 2] ?? 0];
}

/** Lempel-Ziv-Welch with codes that grow, lowest bit first. */
function unpack(packed: Buffer, minimum: number): number[] {
  const [clear, end] = [1 << minimum, (1 << minimum) + 1];
  const dots: number[] = [];
  let table: number[][] = [];
  let size = minimum + 1;
  let last: number[] | null = null;
  let [bits, count] = [0, 0];
  for (const byte of packed) {
    bits |= byte << count;
    count += 8;
    while (count >= size) {
      const code = bits & ((1 << size) - 1);
      bits >>>= size;
      count -= size;
      if (code === end) return dots;
      if (code === clear) {
        table = Array.from({ length: end + 1 }, (_, index) => [index]);
        size = minimum + 1;
        last = null;
        continue;
      }
      const known: number[] | undefined = table[code];
      const run: number[] = known ?? [...(last ?? []), last?.[0] ?? 0];
      dots.push(...run);
      if (last !== null && table.length < 4096) table.push([...last, run[0] ?? 0]);
      if (table.length === 1 << size && size < 12) size++;
      last = run;
    }
  }
  return dots;
}
