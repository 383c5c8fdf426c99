/**
 * Fields of classes of which the running app said what they hold.
 *
 * Reads:   what the app said; which functions run only when it serves.
 * Gives:   to `Properties`: whether a load or store of a field goes by that.
 *
 * Start-up may have had other things in such a field, or in that of an object that is gone by now, and put them elsewhere. So
 * what is stored there is kept twice: all of it, for code that start-up may run, and what fits, for all other code.
 */
import type { AtomId, FunctionId, OpId, ValueId } from '../facts.js';
import type { TokenId } from '../tokens.js';
import type { Found } from './found.js';
import type { TokenFlow } from './token-flow.js';
import type { Use } from './uses.js';

export type Fits = Pick<Extract<Use, { kind: 'live' }>, 'of' | 'as'>;

export interface LiveField {
  /** All that was ever stored there, whenever. */
  readonly ever: ValueId;
  readonly holds: readonly Fits[];
}

export class LiveFields {
  readonly #flow: TokenFlow;
  readonly #found: Found;
  readonly #fields = new Map<FunctionId, Map<AtomId, readonly Fits[]>>();
  readonly #ever = new Map<TokenId, Map<AtomId, LiveField>>();
  #late: ReadonlySet<FunctionId> = new Set();

  constructor(flow: TokenFlow, found: Found) {
    this.#flow = flow;
    this.#found = found;
  }

  add(maker: FunctionId, name: string, holds: readonly Fits[]): void {
    const { facts } = this.#flow;
    const known = this.#fields.get(maker) ?? new Map<AtomId, readonly Fits[]>();
    known.set(facts.atom(name), holds);
    this.#fields.set(maker, known);
  }

  begin(late: ReadonlySet<FunctionId>): void {
    this.#late = late;
  }

  /** Null for what is stored and loaded as ever. */
  of(token: TokenId, atom: AtomId): LiveField | null {
    if (this.#fields.size === 0) return null;
    const maker = this.#found.classOf.get(token);
    const holds = maker === undefined ? undefined : this.#fields.get(maker)?.get(atom);
    return holds === undefined ? null : this.#fieldOf(token, atom, holds);
  }

  #fieldOf(token: TokenId, atom: AtomId, holds: readonly Fits[]): LiveField {
    const known = this.#ever.get(token) ?? new Map<AtomId, LiveField>();
    this.#ever.set(token, known);
    let field = known.get(atom);
    if (field === undefined) {
      field = { ever: this.#flow.facts.newValue(), holds };
      known.set(atom, field);
      // Who loads by any name may have been start-up.
      this.#flow.edge(field.ever, this.#flow.allProperties(token));
    }
    return field;
  }

  /** Start-up may do it. */
  isEarly(op: OpId): boolean {
    if (op < 0) return true;
    const { facts } = this.#flow;
    return !this.#late.has(facts.fn(facts.owner.get(op)).origin);
  }
}
