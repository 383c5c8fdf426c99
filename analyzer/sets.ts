/** Sets of small integers, most of which hold one or two: one array of arrays, with a real set only for the large ones. */
export class IntSets {
  readonly #lists: (number[] | undefined)[] = [];
  readonly #large = new Map<number, Set<number>>();

  /** True if `member` is new to set `id`. */
  add(id: number, member: number): boolean {
    // Without holes, so that the engine keeps it a plain array.
    while (this.#lists.length <= id) this.#lists.push(undefined);
    const list = this.#lists[id];
    if (list === undefined) {
      this.#lists[id] = [member];
      return true;
    }
    if (this.has(id, member)) return false;
    list.push(member);
    if (list.length === 24) this.#large.set(id, new Set(list));
    else if (list.length > 24) this.#large.get(id)?.add(member);
    return true;
  }

  has(id: number, member: number): boolean {
    const list = this.#lists[id];
    if (list === undefined) return false;
    if (list.length < 24) return list.includes(member);
    return this.#large.get(id)?.has(member) === true;
  }

  get(id: number): readonly number[] {
    return this.#lists[id] ?? none;
  }
}

const none: readonly number[] = [];
