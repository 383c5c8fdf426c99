/**
 * Functions that are reached from a place, step by step.
 *
 * Reads: what one step from a place comes to.
 * Gives: for a place, all functions that any number of steps come to. Each place is looked at once, however many ask.
 */
import type { Budget } from '../budget.js';
import type { FunctionId, ValueId } from '../facts.js';
import { IntKeys } from '../int-keys.js';
import type { TokenId } from '../tokens.js';

export type Place =
  /** A value, and what is in it so many objects deep. */
  | { readonly kind: 'value'; readonly value: ValueId; readonly depth: number }
  /** Methods of instances that are in a value, so many objects deep. */
  | { readonly kind: 'instances'; readonly value: ValueId; readonly depth: number }
  /** What the properties of an object hold. */
  | { readonly kind: 'within'; readonly id: TokenId; readonly depth: number }
  /** What something of a package holds. */
  | { readonly kind: 'held'; readonly id: TokenId }
  /** Methods of a prototype, and of those below it. */
  | { readonly kind: 'methods'; readonly proto: ValueId; readonly depth: number }
  /** What a package has been given. */
  | { readonly kind: 'package'; readonly number: number };

export type Look = (place: Place, found: Set<FunctionId>, visit: (next: Place) => void) => void;

const none: readonly FunctionId[] = [];
/** Adding a function that is known costs next to nothing. */
const functionsForWork = 16;

export class ReachedFrom {
  readonly #look: Look;
  readonly #budget: Budget;
  readonly #known = new Map<number, readonly FunctionId[]>();
  /** Places from which no function is reached: most. */
  readonly #empty = new IntKeys(true);
  /** Places that are being looked at, in the order in which they were come to, by where they stand in it. */
  readonly #open = new Map<number, number>();
  readonly #order: number[] = [];

  constructor(look: Look, budget: Budget) {
    this.#look = look;
    this.#budget = budget;
  }

  of(place: Place): readonly FunctionId[] {
    const key = keyOf(place);
    let known = this.#knownOf(key);
    if (known === undefined) {
      this.#walk(place, key, new Set());
      known = this.#knownOf(key) ?? none;
    }
    this.#budget.spend(1 + known.length / functionsForWork);
    return known;
  }

  #knownOf(key: number): readonly FunctionId[] | undefined {
    return this.#known.get(key) ?? (this.#empty.find(key) === -1 ? undefined : none);
  }

  /**
   * Tarjan's: places on one circle reach the same, which the first of them that was come to has found when it is left.
   * Gives how far back in the order something leads from there.
   */
  #walk(place: Place, key: number, into: Set<FunctionId>): number {
    const at = this.#order.push(key) - 1;
    this.#open.set(key, at);
    const found = new Set<FunctionId>();
    let back = at;
    let most = none;
    // With no budget left nothing is proven.
    if (this.#budget.spend(1))
      this.#look(place, found, (next) => {
        const nextKey = keyOf(next);
        const open = this.#open.get(nextKey);
        if (open !== undefined) back = Math.min(back, open);
        else if (this.#knownOf(nextKey) === undefined) back = Math.min(back, this.#walk(next, nextKey, found));
        const known = this.#knownOf(nextKey) ?? none;
        for (const fn of known) found.add(fn);
        if (known.length > most.length) most = known;
        this.#budget.spend(known.length / functionsForWork);
      });
    if (back === at) this.#close(at, found.size === most.length ? most : [...found]);
    else for (const fn of found) into.add(fn);
    return back;
  }

  /** All that was come to since, and is open still, is on a circle with it. */
  #close(at: number, found: readonly FunctionId[]): void {
    for (const key of this.#order.splice(at)) {
      this.#open.delete(key);
      if (found.length === 0) this.#empty.add(key);
      else this.#known.set(key, found);
    }
  }
}

const KINDS: Readonly<Record<Place['kind'], number>> = {
  value: 0,
  within: 1,
  held: 2,
  methods: 3,
  package: 4,
  instances: 5,
};
const DEPTHS = 4;
const MOST_KINDS = 8;

function keyOf(place: Place): number {
  const { kind } = place;
  const depth = 'depth' in place ? place.depth : 0;
  return (numberOf(place) * DEPTHS + depth) * MOST_KINDS + KINDS[kind];
}

function numberOf(place: Place): number {
  switch (place.kind) {
    case 'value':
    case 'instances':
      return place.value;
    case 'within':
    case 'held':
      return place.id;
    case 'methods':
      return place.proto;
    case 'package':
      return place.number;
  }
}
