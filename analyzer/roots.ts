/**
 * Roots: what a value may be part of, as its function sees it. `users[id].tags` in a handler has the root `users`; a value
 * that the function made itself has none.
 *
 * A root is a parameter, `this`, or a variable from outside of the function, either itself or (deep) something within it.
 * Fields of `this` are told apart, as they are a class's variables.
 */
import type { AtomId, ValueId } from './facts.js';
import { IntKeys } from './int-keys.js';
import { IntList } from './int-list.js';
import type { VariableTable } from './variable-table.js';

export type RootId = number;

export type RootBase = 'param' | 'this' | 'variable';

export interface Root {
  readonly base: RootBase;
  /** Index of the parameter; variable; for `this` 0. */
  readonly id: number;
  /** A field of the base, where fields are told apart; -1 is the whole. */
  readonly field: AtomId;
  readonly deep: boolean;
}

const bases = ['param', 'this', 'variable'] as const;
const PARAM = 0;
const THIS = 1;
const VARIABLE = 2;

/** In columns: there is a root for each variable of the program. */
export class RootTable {
  readonly #base = new IntList(1024);
  readonly #of = new IntList(1024);
  readonly #field = new IntList(1024);
  /** Something within the root; itself where it is deep already, -1 where nobody has asked. */
  readonly #deep = new IntList(1024);
  readonly #variables: VariableTable;
  /** By row of the variable one more than its root, 0 where nobody has asked: there are many more values than variables. */
  readonly #ofVariable: Int32Array;
  /** What a root is of, its base, and whether it is deep; its field. */
  readonly #keys = new IntKeys();
  readonly #ids = new IntList(256);

  /** No variable is added any more. */
  constructor(variables: VariableTable) {
    this.#variables = variables;
    this.#ofVariable = new Int32Array(variables.rows);
  }

  param(index: number): RootId {
    return this.#intern(PARAM, index, -1, false);
  }

  this(): RootId {
    return this.#intern(THIS, 0, -1, false);
  }

  variable(value: ValueId): RootId {
    const row = this.#variables.rowOf(value);
    // Exports that other modules know by name are no variables of the program.
    if (row === -1) return this.#known(VARIABLE, value, -1, false);
    const known = this.#ofVariable[row] as number;
    if (known !== 0) return known - 1;
    const id = this.#add(VARIABLE, value, -1, false);
    this.#ofVariable[row] = id + 1;
    return id;
  }

  get(id: RootId): Root {
    const field = this.#field.get(id);
    return { base: this.baseOf(id), id: this.#of.get(id), field, deep: this.#deep.get(id) === id };
  }

  baseOf(id: RootId): RootBase {
    return bases[this.#base.get(id)] as RootBase;
  }

  isVariable(id: RootId): boolean {
    return this.#base.get(id) === VARIABLE;
  }

  /** Index of the parameter; variable; for `this` 0. */
  of(id: RootId): number {
    return this.#of.get(id);
  }

  /** A field of the base, where fields are told apart; -1 is the whole. */
  fieldOf(id: RootId): AtomId {
    return this.#field.get(id);
  }

  isDeep(id: RootId): boolean {
    return this.#deep.get(id) === id;
  }

  /** Neither a field nor something within. */
  isWhole(id: RootId): boolean {
    return this.#field.get(id) === -1 && this.#deep.get(id) !== id;
  }

  deep(id: RootId): RootId {
    let deep = this.#deep.get(id);
    if (deep === -1) {
      deep = this.#intern(this.#base.get(id), this.#of.get(id), this.#field.get(id), true);
      this.#deep.set(id, deep);
    }
    return deep;
  }

  /** Field `field` of the whole object that `id` is. */
  field(id: RootId, field: AtomId): RootId {
    return this.#intern(this.#base.get(id), this.#of.get(id), field, false);
  }

  /** The same access on another base: what `this.count` of a callee is for a caller whose receiver has root `base`. */
  rebase(id: RootId, base: RootId, keepField: boolean): RootId {
    const field = this.#field.get(id);
    const isDeep = this.#deep.get(id) === id;
    if (keepField && field !== -1 && this.isWhole(base))
      return this.#intern(this.#base.get(base), this.#of.get(base), field, isDeep);
    return isDeep || field !== -1 ? this.deep(base) : base;
  }

  #intern(base: number, of: number, field: AtomId, deep: boolean): RootId {
    if (base === VARIABLE && field === -1 && !deep) return this.variable(of);
    return this.#known(base, of, field, deep);
  }

  #known(base: number, of: number, field: AtomId, deep: boolean): RootId {
    const place = this.#keys.add((of * 3 + base) * 2 + (deep ? 1 : 0), field);
    if (place === this.#ids.length) this.#ids.push(this.#add(base, of, field, deep));
    return this.#ids.get(place);
  }

  #add(base: number, of: number, field: AtomId, deep: boolean): RootId {
    const id = this.#base.push(base);
    this.#of.push(of);
    this.#field.push(field);
    this.#deep.push(deep ? id : -1);
    return id;
  }
}
