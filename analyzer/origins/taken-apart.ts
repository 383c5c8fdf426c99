/**
 * What calls give of which a model says no more than that it is new (`const { rows } = await pool.query(sql)`). Nobody need know what it is, and mostly it is a
 * text or a number; but where the program keeps it, or what it has taken out of it, in several places, these are several ways to one thing.
 *
 * Reads:   facts, copies and uses in `TokenFlow`.
 * Gives:   to `TokenFlow`: such a value is plain data then, of which whatever is in it is taken for the whole.
 */
import { type Facts, Op, type OpId, type ValueId } from '../facts.js';
import type { TokenFlow } from './token-flow.js';

interface Given {
  readonly value: ValueId;
  readonly op: OpId;
  /** It lies in a list that the call has made as well. */
  readonly isItem: boolean;
}

/** Where something is put: `isNew`, within what is made there, which says nothing of how long that lasts. */
interface Holder {
  readonly value: ValueId;
  readonly isNew: boolean;
}

const nowhere: readonly Holder[] = [];

export class TakenApart {
  readonly #flow: TokenFlow;
  readonly #facts: Facts;
  #given: Given[] = [];
  readonly #holders = new Map<ValueId, Holder[]>();
  /** Ops whose stores are among the holders. */
  #seen = 0;

  constructor(flow: TokenFlow) {
    this.#flow = flow;
    this.#facts = flow.facts;
  }

  note(value: ValueId, op: OpId, isItem = false): void {
    if (op >= 0) this.#given.push({ value, op, isItem });
  }

  noteKept(from: ValueId, holder: Holder): void {
    const known = this.#holders.get(from);
    if (known === undefined) this.#holders.set(from, [holder]);
    else known.push(holder);
  }

  admit(): boolean {
    this.#noteStores();
    const waiting = this.#given;
    this.#given = [];
    for (const given of waiting) {
      if (this.#flow.isGivenUp) return false;
      if (this.#isKeptInParts(given)) this.#flow.addData(given.value, given.op);
      else this.#given.push(given);
    }
    return this.#given.length < waiting.length;
  }

  #noteStores(): void {
    const { kind, a, b, d } = this.#facts;
    for (; this.#seen < kind.length; this.#seen++) {
      const op = this.#seen;
      if (kind.get(op) === Op.store) this.noteKept(b.get(op), { value: a.get(op), isNew: d.get(op) === 1 });
      else if (kind.get(op) === Op.copyProperties)
        this.noteKept(a.get(op), { value: b.get(op), isNew: d.get(op) === 1 });
    }
  }

  /** In two places, one of which may outlive the call, and something was taken out of it on the way. */
  #isKeptInParts({ value: from, isItem }: Given): boolean {
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
      for (const holder of this.#holders.get(value) ?? nowhere) {
        // A part of it that is put back on it: `error.status = error.status || 500`.
        if (seen.has(holder.value)) continue;
        places++;
        lasts ||= !holder.isNew;
        if (holder.isNew) seen.add(holder.value);
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
