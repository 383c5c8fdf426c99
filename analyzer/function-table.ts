/**
 * Functions: what nearly every pass asks of them are fields of one object each, the rest is columns, of which that object gives its row. There are a dozen
 * functions a file, and an object with all of it took a twentieth of the memory of a large program.
 */
import type { AwaitCut, FunctionFact, FunctionId, ValueId } from './facts.js';
import { IntList } from './int-list.js';

class Columns {
  readonly start = new IntList(256);
  readonly end = new IntList(256);
  readonly bodyStart = new IntList(256);
  readonly bodyEnd = new IntList(256);
  readonly arity = new IntList(256);
  readonly rest = new IntList(256);
  readonly self = new IntList(256);
  readonly list = new IntList(256);
  readonly opStart = new IntList(256);
  readonly opEnd = new IntList(256);
  readonly valueStart = new IntList(256);
  readonly valueEnd = new IntList(256);
  readonly functionEnd = new IntList(256);
  readonly parentSegment = new IntList(256);
  readonly origin = new IntList(256);
}

export class FunctionTable {
  readonly all: FunctionFact[] = [];
  readonly #columns = new Columns();

  /** Its `id` is how many there are. */
  add(fn: FunctionFact): FunctionFact {
    for (const name of names) this.#columns[name].push(fn[name]);
    const row = new FunctionRow(fn, this.#columns);
    this.all.push(row);
    return row;
  }

  /** Takes back those from `end` on. */
  restore(end: number): void {
    this.all.length = end;
    for (const name of names) this.#columns[name].length = end;
  }
}

const names = Object.keys(new Columns()) as readonly (keyof Columns)[];

class FunctionRow implements FunctionFact {
  readonly id: FunctionId;
  readonly parent: FunctionId;
  readonly module: number;
  readonly name: string;
  flags: number;
  params: readonly ValueId[];
  readonly receiver: ValueId;
  readonly result: ValueId;
  cuts: readonly AwaitCut[];
  readonly #columns: Columns;

  constructor(fn: FunctionFact, columns: Columns) {
    this.id = fn.id;
    this.parent = fn.parent;
    this.module = fn.module;
    this.name = fn.name;
    this.flags = fn.flags;
    this.params = fn.params;
    this.receiver = fn.receiver;
    this.result = fn.result;
    this.cuts = fn.cuts;
    this.#columns = columns;
  }

  get start(): number {
    return this.#columns.start.get(this.id);
  }

  get end(): number {
    return this.#columns.end.get(this.id);
  }

  get bodyStart(): number {
    return this.#columns.bodyStart.get(this.id);
  }

  get bodyEnd(): number {
    return this.#columns.bodyEnd.get(this.id);
  }

  get arity(): number {
    return this.#columns.arity.get(this.id);
  }

  set arity(arity: number) {
    this.#columns.arity.set(this.id, arity);
  }

  get rest(): number {
    return this.#columns.rest.get(this.id);
  }

  set rest(rest: number) {
    this.#columns.rest.set(this.id, rest);
  }

  get self(): ValueId {
    return this.#columns.self.get(this.id);
  }

  get list(): ValueId {
    return this.#columns.list.get(this.id);
  }

  set list(list: ValueId) {
    this.#columns.list.set(this.id, list);
  }

  get opStart(): number {
    return this.#columns.opStart.get(this.id);
  }

  set opStart(op: number) {
    this.#columns.opStart.set(this.id, op);
  }

  get opEnd(): number {
    return this.#columns.opEnd.get(this.id);
  }

  set opEnd(op: number) {
    this.#columns.opEnd.set(this.id, op);
  }

  get valueStart(): number {
    return this.#columns.valueStart.get(this.id);
  }

  set valueStart(value: number) {
    this.#columns.valueStart.set(this.id, value);
  }

  get valueEnd(): number {
    return this.#columns.valueEnd.get(this.id);
  }

  set valueEnd(value: number) {
    this.#columns.valueEnd.set(this.id, value);
  }

  get functionEnd(): FunctionId {
    return this.#columns.functionEnd.get(this.id);
  }

  set functionEnd(fn: FunctionId) {
    this.#columns.functionEnd.set(this.id, fn);
  }

  get parentSegment(): number {
    return this.#columns.parentSegment.get(this.id);
  }

  get origin(): FunctionId {
    return this.#columns.origin.get(this.id);
  }
}
