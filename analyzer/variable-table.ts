/**
 * The variables of a program, by value, in columns: there are some hundred thousand. `VariableFact` is one row as those see
 * it who look at it, made when it is asked for.
 */
import type { FunctionId, ValueId, VariableFact } from './facts.js';
import { IntList } from './int-list.js';
import { Ranks } from './ranks.js';

export class VariableTable {
  /** Values that are variables: they are made in the order of the rows, and most values are none. */
  readonly #rows = new Ranks();
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
    return this.#rows.of(value);
  }

  has(value: ValueId): boolean {
    return this.#rows.of(value) !== -1;
  }

  get(value: ValueId): VariableFact | undefined {
    const row = this.#rows.of(value);
    return row === -1 ? undefined : this.#at(row);
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
    const row = this.#rows.of(value);
    return row === -1 ? undefined : this.#names[row];
  }

  /** Which function declares it; undefined where it is no variable. */
  ownerOf(value: ValueId): FunctionId | undefined {
    const row = this.#rows.of(value);
    return row === -1 ? undefined : this.#owner.get(row);
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
    this.#rows.push(fact.value);
  }

  /** Where it is declared, once that is known. */
  place(value: ValueId, segment: number, segmentFrom: number, loop: number): void {
    const row = this.#rows.of(value);
    if (row === -1) return;
    this.#segment.set(row, segment | (segmentFrom << 16));
    this.#loop.set(row, loop);
  }

  /** In the order in which they were added. */
  *values(): Generator<VariableFact, void> {
    for (let row = 0; row < this.#value.length; row++) yield this.#at(row);
  }

  /** Takes back what has been added since there were only so many values. */
  restore(values: number): void {
    this.#rows.restore(values);
    const rows = this.#rows.length;
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
