/**
 * Which values each op of a function has looked at. The steps of a function are repeated until nothing moves, but an op for which nothing has
 * moved since it was done would do the same again: in most rounds that are most of them.
 *
 * Reads:   by slot of `FunctionValues`, what is looked at and what gets more.
 * Gives:   which ops have to be done again.
 */

/** What a value is, and what it holds, are looked at apart. */
export const SELF = 0;
export const INNER = 1;
const kinds = 2;

export class OpReads {
  /** Of each op, when it was last done: the time, and what of the log is its own. */
  readonly #doneAt: number[] = [];
  readonly #from: number[] = [];
  readonly #to: number[] = [];
  /** Places (slot and kind) that were looked at; `~place` where that did not count in the end. */
  readonly #log: number[] = [];
  #logged = 0;
  /** By place, when there was something new. */
  readonly #changedAt: number[] = [];
  /** By place: it has been looked at in this round, and who did so would see what comes now. */
  readonly #isSeen: boolean[] = [];
  #places = 0;
  #now = 0;

  /** Another function, of whose values nothing is known. */
  clear(): void {
    this.#logged = this.#places = this.#now = 0;
  }

  /** Nothing is looked at any more. */
  leave(): void {
    for (const column of [this.#from, this.#to, this.#doneAt, this.#log, this.#changedAt, this.#isSeen])
      column.length = 0;
  }

  addSlot(): void {
    for (let kind = 0; kind < kinds; kind++) {
      this.#changedAt[this.#places] = 0;
      this.#isSeen[this.#places] = false;
      this.#places += 1;
    }
  }

  startRound(): void {
    for (let place = 0; place < this.#places; place++) this.#isSeen[place] = false;
  }

  look(slot: number, kind: number): void {
    const place = slot * kinds + kind;
    this.#log[this.#logged++] = place;
    this.#isSeen[place] = true;
  }

  isSeen(slot: number, kind: number): boolean {
    return this.#isSeen[slot * kinds + kind] as boolean;
  }

  setSeen(slot: number, kind: number, isSeen: boolean): void {
    this.#isSeen[slot * kinds + kind] = isSeen;
  }

  /** True if somebody should look again. */
  change(slot: number, kind: number): boolean {
    const place = slot * kinds + kind;
    this.#changedAt[place] = this.#now;
    return this.#isSeen[place] as boolean;
  }

  begin(index: number): void {
    this.#now += 1;
    this.#doneAt[index] = this.#now;
    this.#from[index] = this.#logged;
  }

  end(index: number): void {
    this.#to[index] = this.#logged;
    for (let at = this.#from[index] as number; at < this.#logged; at++) {
      const place = this.#log[at] as number;
      if (!this.#isSeen[place]) this.#log[at] = ~place;
    }
  }

  /** True if to do it again would change nothing: then it counts as done. */
  isDone(index: number): boolean {
    const from = this.#from[index] as number;
    const to = this.#to[index] as number;
    const doneAt = this.#doneAt[index] as number;
    for (let at = from; at < to; at++) {
      const place = this.#log[at] as number;
      if ((this.#changedAt[place < 0 ? ~place : place] as number) >= doneAt) return false;
    }
    for (let at = from; at < to; at++) {
      const place = this.#log[at] as number;
      if (place >= 0) this.#isSeen[place] = true;
    }
    return true;
  }
}
