/**
 * Where tokens come from, in columns: there is a seed for each function and each literal of a program. `TokenSeed` is one row
 * as those see it who look at it, made when it is asked for.
 */
import type { Guard, TokenSeed } from './facts.js';
import { IntList } from './int-list.js';

const FUNCTION = 0;
const GLOBAL = 1;
/** From here on the names of types. */
const OBJECT = 2;

export class SeedTable {
  readonly #kind = new IntList(1024);
  readonly #value = new IntList(1024);
  /** The function; of a global its name. */
  readonly #of = new IntList(1024);
  readonly #start = new IntList(1024);
  readonly #guards = new Map<number, Guard>();
  readonly #types: string[] = [];
  readonly #names: string[] = [];

  get length(): number {
    return this.#kind.length;
  }

  push(seed: TokenSeed): void {
    if (seed.kind === 'function' && seed.guard !== null) this.#guards.set(this.length, seed.guard);
    this.#value.push(seed.value);
    this.#start.push(seed.kind === 'object' ? seed.start : 0);
    this.#of.push(seed.kind === 'global' ? this.#names.push(seed.name) - 1 : seed.fn);
    this.#kind.push(
      seed.kind === 'object' ? OBJECT + this.#typeOf(seed.type) : seed.kind === 'global' ? GLOBAL : FUNCTION,
    );
  }

  #typeOf(type: string): number {
    const known = this.#types.indexOf(type);
    return known === -1 ? this.#types.push(type) - 1 : known;
  }

  get(index: number): TokenSeed {
    const kind = this.#kind.get(index);
    const value = this.#value.get(index);
    const of = this.#of.get(index);
    if (kind === FUNCTION) return { kind: 'function', value, fn: of, guard: this.#guards.get(index) ?? null };
    if (kind === GLOBAL) return { kind: 'global', value, name: this.#names[of] as string };
    return { kind: 'object', value, type: this.#types[kind - OBJECT] as string, start: this.#start.get(index), fn: of };
  }

  valueOf(index: number): number {
    return this.#value.get(index);
  }

  *[Symbol.iterator](): Generator<TokenSeed, void> {
    for (let index = 0; index < this.length; index++) yield this.get(index);
  }

  clear(): void {
    for (const column of [this.#kind, this.#value, this.#of, this.#start]) column.clear();
    this.#guards.clear();
  }
}
