/** As who only asks has it. */
export type ReadonlyById<Value> = Pick<ById<Value>, 'get' | 'has'>;

/** What most of some numbered things have, by their numbers: a Map takes five times the room of this. */
export class ById<Value> {
  readonly #values: (Value | undefined)[];

  constructor(count: number) {
    this.#values = new Array<Value | undefined>(count).fill(undefined);
  }

  get(id: number): Value | undefined {
    return this.#values[id];
  }

  has(id: number): boolean {
    return this.#values[id] !== undefined;
  }

  set(id: number, value: Value): void {
    this.#values[id] = value;
  }

  /** Puts other values in the place of those that are there. */
  replaceAll(other: (value: Value) => Value): void {
    for (const [id, value] of this.#values.entries()) if (value !== undefined) this.#values[id] = other(value);
  }
}
