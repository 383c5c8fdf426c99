/**
 * The variables of a program, by value, in columns: there are some hundred thousand. `VariableFact` is one row as those see
 * it who look at it, made when it is asked for.
 */
import type { FunctionId, ValueId, VariableFact } from './facts.js';
import { IntList } from './int-list.js';

export class VariableTable {
  /** One more than the row of a value, 0 where it is no variable. */
  readonly #rowOf = new IntList(4096);
  readonly #value = new IntList(1024);
  readonly #owner = new IntList(1024);
  /** As in ops: the last segment, and (high half) the first. */
  readonly #segment = new IntList(1024);
  readonly #module = new IntList(1024);
  readonly #start = new IntList(1024);
  /** Kind, and one bit for a constant. */
  readonly #kind = new IntList(1024);
  readonly #loop = new IntList(1024);
  readonly #names: string[] = [];

  /** How many there are. */
  get rows(): number {
    return this.#value.length;
  }

  /** Which of them it is; -1 where it is no variable. */
  rowOf(value: ValueId): number {
    return this.#row(value) - 1;
  }

  has(value: ValueId): boolean {
    return this.#row(value) !== 0;
  }

  #row(value: ValueId): number {
    return value < this.#rowOf.length ? this.#rowOf.get(value) : 0;
  }

  get(value: ValueId): VariableFact | undefined {
    const row = this.#row(value);
    return row === 0 ? undefined : this.#at(row - 1);
  }

  #at(row: number): VariableFact {
    const segment = this.#segment.get(row);
    const kind = this.#kind.get(row);
    return {
      value: this.#value.get(row),
      name: this.#names[row] as string,
      owner: this.#owner.get(row),
      segment: segment & 0xffff,
      segmentFrom: segment >>> 16,
      module: this.#module.get(row),
      start: this.#start.get(row),
      kind: kind >> 1,
      loop: this.#loop.get(row),
      constant: (kind & 1) === 1,
    };
  }

  nameOf(value: ValueId): string | undefined {
    const row = this.#row(value);
    return row === 0 ? undefined : this.#names[row - 1];
  }

  /** Which function declares it; undefined where it is no variable. */
  ownerOf(value: ValueId): FunctionId | undefined {
    const row = this.#row(value);
    return row === 0 ? undefined : this.#owner.get(row - 1);
  }

  /** A variable is told once. */
  add(fact: VariableFact): void {
    this.#names.push(fact.name);
    this.#owner.push(fact.owner);
    this.#segment.push(fact.segment | (fact.segmentFrom << 16));
    this.#module.push(fact.module);
    this.#start.push(fact.start);
    this.#kind.push((fact.kind << 1) | (fact.constant ? 1 : 0));
    this.#loop.push(fact.loop);
    this.#value.push(fact.value);
    this.#rowOf.extend(fact.value + 1);
    this.#rowOf.set(fact.value, this.#value.length);
  }

  /** Where it is declared, once that is known. */
  place(value: ValueId, segment: number, segmentFrom: number, loop: number): void {
    const row = this.#row(value);
    if (row === 0) return;
    this.#segment.set(row - 1, segment | (segmentFrom << 16));
    this.#loop.set(row - 1, loop);
  }

  /** In the order in which they were added. */
  *values(): Generator<VariableFact, void> {
    for (let row = 0; row < this.#value.length; row++) yield this.#at(row);
  }

  /** Takes back what has been added since there were only so many values. */
  restore(values: number): void {
    let rows = this.#value.length;
    for (; rows > 0 && this.#value.get(rows - 1) >= values; rows--) this.#rowOf.set(this.#value.get(rows - 1), 0);
    for (const column of [
      this.#value,
      this.#owner,
      this.#segment,
      this.#module,
      this.#start,
      this.#kind,
      this.#loop,
      this.#names,
    ])
      column.length = rows;
  }
}
