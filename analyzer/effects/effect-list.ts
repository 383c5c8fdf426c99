/**
 * Effects of all functions, in columns of numbers.
 */
import type { FunctionId, OpId, ValueId } from '../facts.js';
import { IntList } from '../int-list.js';
import type { RootId } from '../roots.js';

export class EffectList {
  readonly #kind = new IntList(4096);
  readonly #root = new IntList(4096);
  readonly #op = new IntList(4096);
  readonly #at = new IntList(4096);
  readonly #value = new IntList(4096);
  readonly #first: Int32Array;
  readonly #last: Int32Array;

  constructor(functionCount: number) {
    this.#first = new Int32Array(functionCount);
    this.#last = new Int32Array(functionCount);
  }

  /** What is pushed from now on belongs to `fn`, in place of what was pushed for it in this round. */
  begin(fn: FunctionId): void {
    this.#first[fn] = this.#kind.length;
  }

  startAgain(fn: FunctionId): void {
    const length = this.#first[fn] as number;
    for (const column of [this.#kind, this.#root, this.#op, this.#at, this.#value]) column.length = length;
  }

  end(fn: FunctionId): void {
    this.#last[fn] = this.#kind.length;
  }

  push(kind: number, root: RootId, op: OpId, at: OpId, value: ValueId): void {
    this.#kind.push(kind);
    this.#root.push(root);
    this.#op.push(op);
    this.#at.push(at);
    this.#value.push(value);
  }

  count(fn: FunctionId): number {
    return (this.#last[fn] as number) - (this.#first[fn] as number);
  }

  each(fn: FunctionId, visit: (kind: number, root: RootId, op: OpId, at: OpId, value: ValueId) => void): void {
    for (let at = this.#first[fn] as number; at < (this.#last[fn] as number); at++) {
      visit(this.#kind.get(at), this.#root.get(at), this.#op.get(at), this.#at.get(at), this.#value.get(at));
    }
  }
}
