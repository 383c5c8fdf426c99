/**
 * The words in which state is told: cells, who touches them, and groups of cells that may hold one object.
 *
 * A large program has some hundred thousand touches, and most cells are touched once: touches hang on each other instead of
 * standing in a table for each cell, and most of them hold the one place that they are about without a list.
 */
import type { PartId } from '../analyzer/cut-parts.js';
import type { OpId, ValueId } from '../analyzer/facts.js';
import type { TokenId } from '../analyzer/tokens.js';

/** What is done to a cell; `writes` bind it anew, `mutates` changes its value, `hands` gives it to code that may change it. */
export const Use = { reads: 0, writes: 1, mutates: 2, hands: 3 } as const;
export type UseKind = (typeof Use)[keyof typeof Use];

/** A few places of the same kind are enough to show. */
export const mostPlaces = 8;

/** What one part does to one cell. */
export class Touch {
  readonly part: PartId;
  /** Order of first use among the part's cells; own code before that of functions it calls. */
  readonly order: number;
  /** The name by which the part knows it: an import may have another than what it imports. */
  readonly name: string;
  /** Used in the part's own code, not only in functions that it calls. */
  direct: boolean;
  next: Touch | null = null;
  #kinds: number;
  /** Place and kind in one number; -1 where nothing is done to the cell itself. */
  readonly #first: number;
  #more: number[] | null = null;

  constructor(part: PartId, order: number, direct: boolean, name: string, kind: UseKind | null, op: OpId) {
    this.part = part;
    this.order = order;
    this.direct = direct;
    this.name = name;
    this.#first = kind === null ? -1 : op * 4 + kind;
    this.#kinds = kind === null ? 0 : 1 << kind;
  }

  add(kind: UseKind, op: OpId): void {
    this.#kinds |= 1 << kind;
    const entry = op * 4 + kind;
    let same = 0;
    let last = -1;
    if (this.#first % 4 === kind) {
      same = 1;
      last = this.#first;
    }
    for (const other of this.#more ?? none) {
      if (other % 4 !== kind) continue;
      same++;
      last = other;
    }
    if (same >= mostPlaces || last === entry) return;
    if (this.#more === null) this.#more = [entry];
    else this.#more.push(entry);
  }

  has(kind: UseKind): boolean {
    return (this.#kinds & (1 << kind)) !== 0;
  }

  /** It binds the cell anew, or changes what it holds. */
  get changes(): boolean {
    return (this.#kinds & ~(1 << Use.reads)) !== 0;
  }

  /** Where, as first found. */
  places(kind: UseKind): OpId[] {
    const found: OpId[] = [];
    if (!this.has(kind)) return found;
    if (this.#first % 4 === kind) found.push((this.#first - kind) / 4);
    for (const entry of this.#more ?? none) if (entry % 4 === kind) found.push((entry - kind) / 4);
    return found;
  }

  first(kind: UseKind): OpId | undefined {
    if (!this.has(kind)) return undefined;
    return this.#first % 4 === kind ? (this.#first - kind) / 4 : this.places(kind)[0];
  }

  /** All places, whatever is done there. */
  allPlaces(): OpId[] {
    const found = this.#first < 0 ? [] : [Math.floor(this.#first / 4)];
    for (const entry of this.#more ?? none) found.push(Math.floor(entry / 4));
    return found;
  }
}

const none: readonly number[] = [];

export type CellOrigin =
  /** The language, Node, or a package as it was imported. */
  | 'outside'
  /** Made by start-up code. */
  | 'startup'
  /** Made anew in each flow: locals and parameters of callbacks. */
  | 'flow';

export interface CellFacts {
  readonly name: string;
  readonly module: number;
  readonly start: number;
  readonly variable: ValueId | null;
  readonly origin: CellOrigin;
  /** A server, app or router: start-up goes on filling it, which changes nothing for requests. */
  readonly isServer: boolean;
  /** What an object without a name of its own is called in tags and reasons. */
  readonly hint: string;
  /** Start-up code runs in these parts. */
  readonly startUp: ReadonlySet<PartId>;
  /** Parts in which it is declared, in ascending order. */
  readonly declaredBy: readonly PartId[];
  readonly tokens: readonly TokenId[];
  /** Belongs to one request; `reply` is bound to the connection. */
  readonly request: 'reply' | 'request' | null;
  readonly travels: boolean;
  readonly isFunction: boolean;
}

/** A variable, a field of `this`, or an object that lasts, and who does what to it. */
export class Cell implements CellFacts {
  readonly id: number;
  readonly name: string;
  readonly module: number;
  readonly start: number;
  readonly variable: ValueId | null;
  readonly origin: CellOrigin;
  readonly isServer: boolean;
  readonly hint: string;
  readonly startUp: ReadonlySet<PartId>;
  readonly declaredBy: readonly PartId[];
  readonly tokens: readonly TokenId[];
  readonly request: 'reply' | 'request' | null;
  readonly travels: boolean;
  readonly isFunction: boolean;
  /** What is changed: the object that it holds, or anything that can be reached through it. */
  changed: 'nothing' | 'itself' | 'within' = 'nothing';
  #first: Touch | null = null;
  #last: Touch | null = null;
  #size = 0;
  #index: Map<PartId, Touch> | null = null;

  constructor(id: number, facts: CellFacts) {
    this.id = id;
    this.name = facts.name;
    this.module = facts.module;
    this.start = facts.start;
    this.variable = facts.variable;
    this.origin = facts.origin;
    this.isServer = facts.isServer;
    this.hint = facts.hint;
    this.startUp = facts.startUp;
    this.declaredBy = facts.declaredBy;
    this.tokens = facts.tokens;
    this.request = facts.request;
    this.travels = facts.travels;
    this.isFunction = facts.isFunction;
  }

  /** The first of its touches, each of which leads to the `next`; in the order in which they were found. */
  get firstTouch(): Touch | null {
    return this.#first;
  }

  get touchCount(): number {
    return this.#size;
  }

  touchOf(part: PartId): Touch | undefined {
    // Parts are looked at one after the other: it is the last one, or most likely none.
    if (this.#last?.part === part) return this.#last;
    if (this.#size > fewTouches) return this.#indexed().get(part);
    for (let touch = this.#first; touch !== null; touch = touch.next) if (touch.part === part) return touch;
    return undefined;
  }

  #indexed(): Map<PartId, Touch> {
    if (this.#index === null) {
      this.#index = new Map();
      for (let touch = this.#first; touch !== null; touch = touch.next) this.#index.set(touch.part, touch);
    }
    return this.#index;
  }

  addTouch(touch: Touch): void {
    if (this.#last === null) this.#first = touch;
    else this.#last.next = touch;
    this.#last = touch;
    this.#size++;
    this.#index?.set(touch.part, touch);
  }

  someTouch(test: (touch: Touch) => boolean): boolean {
    for (let touch = this.#first; touch !== null; touch = touch.next) if (test(touch)) return true;
    return false;
  }

  /** Made anew in each run and used nowhere else: for what it may hold, others answer. */
  get isLocal(): boolean {
    return this.origin === 'flow' && !this.isUsedElsewhere;
  }

  /** Used by a part that does not make it. */
  get isUsedElsewhere(): boolean {
    for (let touch = this.#first; touch !== null; touch = touch.next) if (!this.isDeclaredBy(touch.part)) return true;
    return false;
  }

  isDeclaredBy(part: PartId): boolean {
    // In ascending order, and as many as there are parts where everything may call everything.
    const { declaredBy } = this;
    let low = 0;
    let high = declaredBy.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((declaredBy[middle] as PartId) < part) low = middle + 1;
      else high = middle;
    }
    return declaredBy[low] === part;
  }

  /** Of a server, start-up that goes on behind an `await` counts as start-up: it registers routes and listens. */
  get isChangedBehindStartUp(): boolean {
    return this.someTouch(
      (touch) => touch.part !== 0 && touch.changes && !(this.isServer && this.startUp.has(touch.part)),
    );
  }

  get isChangedLater(): boolean {
    for (let touch = this.#first; touch !== null; touch = touch.next)
      if (touch.part !== 0 && touch.changes) return true;
    return false;
  }
}

const fewTouches = 12;

export interface Group {
  readonly cells: readonly Cell[];
}

export interface State {
  readonly cells: readonly Cell[];
  readonly groups: readonly Group[];
  groupOf(cell: Cell): Group;
}
