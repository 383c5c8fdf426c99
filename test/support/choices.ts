import fc from 'fast-check';

/**
 * A supply of choices. What is made of it is a pure function of the list, and a shorter list with smaller numbers makes a
 * smaller thing: once the list is used up each choice is the first.
 */
export class Choices {
  readonly #list: readonly number[];
  #next = 0;

  constructor(list: readonly number[]) {
    this.#list = list;
  }

  /** A whole number from 0 to `count` - 1. */
  below(count: number): number {
    const choice = this.#list[this.#next++] ?? 0;
    return choice % count;
  }

  of<T>(first: T, ...others: readonly T[]): T {
    return this.in([first, ...others]);
  }

  in<T>(list: readonly T[]): T {
    const index = this.below(list.length);
    return list[index] as T;
  }

  /** True once in `count` times, and never when nothing is left to choose from. */
  oneIn(count: number): boolean {
    return this.below(count) === count - 1;
  }

  get isUsedUp(): boolean {
    return this.#next >= this.#list.length;
  }
}

export function choices(most: number): fc.Arbitrary<number[]> {
  return fc.array(fc.nat({ max: 0xffff }), { minLength: Math.floor(most / 4), maxLength: most, size: 'max' });
}
