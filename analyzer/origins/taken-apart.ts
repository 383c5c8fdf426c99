/**
 * What calls give of which a model says no more than that it is new (`const { rows } = await pool.query(sql)`). Nobody need know what it is, and mostly it is a
 * text or a number; but where the program keeps it, or what it has taken out of it, in several places, these are several ways to one thing.
 *
 * Reads:   facts, copies and uses in `TokenFlow`.
 * Gives:   to `TokenFlow`: such a value is plain data then, of which whatever is in it is taken for the whole.
 */
import { type Facts, Op, type OpId, type ValueId } from '../facts.js';
import { IntKeys } from '../int-keys.js';
import { IntList } from '../int-list.js';
import type { TokenFlow } from './token-flow.js';

export class TakenApart {
  readonly #flow: TokenFlow;
  readonly #facts: Facts;
  /** What is given; by which op, twice, and one more where it lies in a list that the call has made as well. */
  readonly #given = new IntList(1024);
  readonly #givenBy = new IntList(1024);
  /** What is kept somewhere, and the last entry of its chain, which leads to the first. */
  readonly #kept = new IntKeys(true);
  readonly #last = new IntList(1024);
  readonly #next = new IntList(1024);
  /** Where it is put, twice, and one more where that is made there, which says nothing of how long it lasts. */
  readonly #holder = new IntList(1024);
  /** Ops whose stores are among the holders. */
  #seen = 0;

  constructor(flow: TokenFlow) {
    this.#flow = flow;
    this.#facts = flow.facts;
  }

  note(value: ValueId, op: OpId, isItem = false): void {
    if (op < 0) return;
    this.#given.push(value);
    this.#givenBy.push(op * 2 + (isItem ? 1 : 0));
  }

  /** `isNew`: within what is made there. */
  noteKept(from: ValueId, holder: ValueId, isNew: boolean): void {
    const place = this.#kept.add(from);
    const entry = this.#holder.push(holder * 2 + (isNew ? 1 : 0));
    if (place === this.#last.length) {
      this.#last.push(entry);
      this.#next.push(entry);
      return;
    }
    const last = this.#last.get(place);
    this.#next.push(this.#next.get(last));
    this.#next.set(last, entry);
    this.#last.set(place, entry);
  }

  admit(): boolean {
    this.#noteStores();
    const { length } = this.#given;
    let left = 0;
    for (let at = 0; at < length; at++) {
      if (this.#flow.isGivenUp) return false;
      const [value, by] = [this.#given.get(at), this.#givenBy.get(at)];
      if (this.#isKeptInParts(value, (by & 1) !== 0)) this.#flow.addData(value, by >> 1);
      else {
        this.#given.set(left, value);
        this.#givenBy.set(left++, by);
      }
    }
    this.#given.length = left;
    this.#givenBy.length = left;
    return left < length;
  }

  #noteStores(): void {
    const { kind, a, b, d } = this.#facts;
    for (; this.#seen < kind.length; this.#seen++) {
      const op = this.#seen;
      if (kind.get(op) === Op.store) this.noteKept(b.get(op), a.get(op), d.get(op) === 1);
      else if (kind.get(op) === Op.copyProperties) this.noteKept(a.get(op), b.get(op), d.get(op) === 1);
    }
  }

  /** In two places, one of which may outlive the call, and something was taken out of it on the way. */
  #isKeptInParts(from: ValueId, isItem: boolean): boolean {
    const seen = new Set([from]);
    let [places, isTaken, lasts] = [isItem ? 1 : 0, isItem, false];
    const follow = (to: ValueId, isPart: boolean): void => {
      isTaken ||= isPart;
      seen.add(to);
    };
    for (const value of seen) {
      if (!this.#flow.isAffordable()) return false;
      if (this.#isOfModule(value)) {
        places++;
        lasts = true;
      }
      const place = this.#kept.find(value);
      const last = place === -1 ? -1 : this.#last.get(place);
      for (let at = last === -1 ? -1 : this.#next.get(last); at !== -1; at = at === last ? -1 : this.#next.get(at)) {
        const [holder, isNew] = [this.#holder.get(at) >> 1, (this.#holder.get(at) & 1) !== 0];
        // A part of it that is put back on it: `error.status = error.status || 500`.
        if (seen.has(holder)) continue;
        places++;
        lasts ||= !isNew;
        if (isNew) seen.add(holder);
      }
      this.#flow.eachLead(value, follow);
      if (places > 1 && isTaken && lasts) return true;
    }
    return false;
  }

  /** Functions name it, too: it stands at the top of a module. */
  #isOfModule(value: ValueId): boolean {
    const owner = this.#facts.variables.ownerOf(value);
    return owner !== undefined && owner >= 0 && this.#facts.fn(owner).parent === -1;
  }
}
