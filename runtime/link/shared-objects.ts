/**
 * Reads: what functions that may run on two loops reach on each of them, which has been found equal.
 * Gives: names that are the same on both. Start-up made these objects and nothing changes them, so a message names them instead of
 *        carrying a copy: what is one object at home is one object there, functions need no way to travel, and properties may be named by
 *        symbols.
 */
import type { Parts } from './reach.js';

/** Of each replica; where there are more, the rest goes as data. */
const MOST_OBJECTS = 100_000;

export class SharedObjects {
  readonly #lists = new Map<string, readonly (object | symbol)[]>();
  readonly #names = new Map<object | symbol, string>();

  /** `of`: the same on both loops. */
  add(of: string, parts: Parts): void {
    for (const [variable, objects] of parts) {
      const list = `${of} ${variable}`;
      if (this.#lists.has(list)) continue;
      this.#lists.set(list, objects);
      if (this.#names.size > MOST_OBJECTS) continue;
      for (const [index, object] of objects.entries()) {
        if (!this.#names.has(object)) this.#names.set(object, `${index} ${list}`);
        if (typeof object !== 'symbol') shared.add(object);
      }
    }
  }

  /** Those that the other side uses are still known. */
  forgetNames(): void {
    this.#names.clear();
  }

  nameOf(object: object | symbol): string | undefined {
    return this.#names.get(object);
  }

  objectOf(name: string): object | symbol {
    const end = name.indexOf(' ');
    const found = this.#lists.get(name.slice(end + 1))?.[Number(name.slice(0, end))];
    if (found === undefined) throw new Error(`${name} is not known here`);
    return found;
  }
}

const shared = new WeakSet<object>();

/** Nobody changes it, so nobody needs to look whether somebody has. */
export function isShared(object: object): boolean {
  return shared.has(object);
}
