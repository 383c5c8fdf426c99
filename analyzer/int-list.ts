const long = 1 << 15;

/** A growing list of 32-bit integers: four bytes an entry, where an array of numbers or objects would cost many times that. */
export class IntList {
  #data: Int32Array<ArrayBuffer>;
  length = 0;

  constructor(capacity = 256) {
    this.#data = new Int32Array(capacity);
  }

  push(value: number): number {
    if (this.length === this.#data.length) this.#grow(this.length + 1);
    this.#data[this.length] = value;
    return this.length++;
  }

  get(index: number): number {
    return this.#data[index] as number;
  }

  /** All entries, to go through while none is added. */
  entries(): Int32Array {
    return this.#data.subarray(0, this.length);
  }

  set(index: number, value: number): void {
    this.#data[index] = value;
  }

  /** Makes entries up to `length` exist, as zeros. */
  extend(length: number): void {
    if (length <= this.length) return;
    if (length > this.#data.length) this.#grow(length);
    this.length = length;
  }

  /** Nothing is in it any more, and it takes no room. */
  clear(): void {
    this.#data = new Int32Array(0);
    this.length = 0;
  }

  /** The others come to stand where these stood. */
  dropFirst(count: number): void {
    this.#data.copyWithin(0, count, this.length);
    this.length -= count;
  }

  #grow(atLeast: number): void {
    this.#data = longer(this.#data, atLeast);
  }
}

/** Long lists by an eighth: there are many at once, and who doubles has half of it empty. */
export function longer(data: Int32Array<ArrayBuffer>, atLeast: number): Int32Array<ArrayBuffer> {
  const { length } = data;
  const next = new Int32Array(Math.max(atLeast, length < long ? length * 2 : length + (length >> 3)));
  next.set(data);
  return next;
}
