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

export class RootTable {
  readonly #roots: Root[] = [];
  readonly #ids = new Map<string, RootId>();

  param(index: number): RootId {
    return this.#intern({ base: 'param', id: index, field: -1, deep: false });
  }

  this(): RootId {
    return this.#intern({ base: 'this', id: 0, field: -1, deep: false });
  }

  variable(value: ValueId): RootId {
    return this.#intern({ base: 'variable', id: value, field: -1, deep: false });
  }

  get(id: RootId): Root {
    return this.#roots[id] as Root;
  }

  deep(id: RootId): RootId {
    const root = this.get(id);
    return root.deep ? id : this.#intern({ ...root, deep: true });
  }

  /** Field `field` of the whole object that `id` is. */
  field(id: RootId, field: AtomId): RootId {
    return this.#intern({ ...this.get(id), field, deep: false });
  }

  /** The same access on another base: what `this.count` of a callee is for a caller whose receiver has root `base`. */
  rebase(id: RootId, base: RootId, keepField: boolean): RootId {
    const root = this.get(id);
    const onto = this.get(base);
    if (keepField && onto.field === -1 && !onto.deep && root.field !== -1) {
      return this.#intern({ ...onto, field: root.field, deep: root.deep });
    }
    return root.deep || root.field !== -1 ? this.deep(base) : base;
  }

  #intern(root: Root): RootId {
    const key = `${root.base} ${root.id} ${root.field} ${root.deep}`;
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = this.#roots.push(root) - 1;
      this.#ids.set(key, id);
    }
    return id;
  }
}
