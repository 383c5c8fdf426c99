/**
 * Roots: what a value may be part of, as its function sees it. `users[id].tags` in a handler has the root `users`; a value
 * that the function made itself has none.
 *
 * A root is a parameter, `this`, or a variable from outside of the function, either itself or (deep) something within it.
 * Fields of `this` are told apart, as they are a class's variables.
 */
import type { AtomId, ValueId } from './facts.js';

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

const bases = { param: 0, this: 1, variable: 2 } as const;

export class RootTable {
  readonly #roots: Root[] = [];
  readonly #deep: RootId[] = [];
  readonly #ids = new Map<number, RootId>();

  param(index: number): RootId {
    return this.#intern('param', index, -1, false);
  }

  this(): RootId {
    return this.#intern('this', 0, -1, false);
  }

  variable(value: ValueId): RootId {
    return this.#intern('variable', value, -1, false);
  }

  get(id: RootId): Root {
    return this.#roots[id] as Root;
  }

  deep(id: RootId): RootId {
    let deep = this.#deep[id] as RootId;
    if (deep === -1) {
      const { base, id: of, field } = this.get(id);
      deep = this.#intern(base, of, field, true);
      this.#deep[id] = deep;
    }
    return deep;
  }

  /** Field `field` of the whole object that `id` is. */
  field(id: RootId, field: AtomId): RootId {
    const { base, id: of } = this.get(id);
    return this.#intern(base, of, field, false);
  }

  /** The same access on another base: what `this.count` of a callee is for a caller whose receiver has root `base`. */
  rebase(id: RootId, base: RootId, keepField: boolean): RootId {
    const root = this.get(id);
    const onto = this.get(base);
    if (keepField && onto.field === -1 && !onto.deep && root.field !== -1) {
      return this.#intern(onto.base, onto.id, root.field, root.deep);
    }
    return root.deep || root.field !== -1 ? this.deep(base) : base;
  }

  /** All four facts fit into one exact number: this is asked for each step of each function. */
  #intern(base: RootBase, of: number, field: AtomId, deep: boolean): RootId {
    const key = ((of * 3 + bases[base]) * 2 + (deep ? 1 : 0)) * 0x400000 + field + 1;
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = this.#roots.push({ base, id: of, field, deep }) - 1;
      this.#deep.push(deep ? id : -1);
      this.#ids.set(key, id);
    }
    return id;
  }
}
