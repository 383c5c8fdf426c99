/**
 * Touches: what each part does to each cell, and where.
 *
 * A large program has some hundred thousand of them, and most cells are touched once. They are rows of columns that hang on
 * each other; `Touch` is one row as those see it who go through them, made when it is asked for.
 */
import type { PartId } from '../analyzer/cut-parts.js';
import type { OpId } from '../analyzer/facts.js';
import { IntList } from '../analyzer/int-list.js';

/** What is done to a cell; `writes` bind it anew, `mutates` changes its value, `hands` gives it to code that may change it. */
export const Use = { reads: 0, writes: 1, mutates: 2, hands: 3 } as const;
export type UseKind = (typeof Use)[keyof typeof Use];

/** A few places of the same kind are enough to show. */
export const mostPlaces = 8;

export type TouchId = number;
export const NO_TOUCH: TouchId = 0;

/** A bit for each use, then this one. */
const DIRECT = 16;
const CHANGES = ~(1 << Use.reads) & (DIRECT - 1);

export class TouchTable {
  readonly #part = new IntList(1024);
  readonly #order = new IntList(1024);
  readonly #flags = new IntList(1024);
  readonly #next = new IntList(1024);
  /** Place and use in one number; -1 where nothing is done to the cell itself. */
  readonly #place = new IntList(1024);
  /** Entry of the second place in `#morePlace`, 0 if there is none. */
  readonly #more = new IntList(1024);
  readonly #morePlace = new IntList(1024);
  readonly #moreNext = new IntList(1024);
  readonly #names = new Map<TouchId, string>();

  constructor() {
    for (const column of [this.#part, this.#order, this.#flags, this.#next, this.#place, this.#more]) column.push(0);
    for (const column of [this.#morePlace, this.#moreNext]) column.push(0);
  }

  /** `otherName`: the part knows the cell by another name than that of the cell. */
  add(part: PartId, order: number, direct: boolean, otherName: string | null, use: UseKind | null, op: OpId): TouchId {
    this.#part.push(part);
    this.#order.push(order);
    this.#flags.push((use === null ? 0 : 1 << use) | (direct ? DIRECT : 0));
    this.#place.push(use === null ? -1 : op * 4 + use);
    this.#more.push(0);
    const id = this.#next.push(NO_TOUCH);
    if (otherName !== null) this.#names.set(id, otherName);
    return id;
  }

  link(id: TouchId, next: TouchId): void {
    this.#next.set(id, next);
  }

  get(id: TouchId): Touch | null {
    return id === NO_TOUCH ? null : new Touch(this, id);
  }

  partOf(id: TouchId): PartId {
    return this.#part.get(id);
  }

  orderOf(id: TouchId): number {
    return this.#order.get(id);
  }

  nextOf(id: TouchId): TouchId {
    return this.#next.get(id);
  }

  otherNameOf(id: TouchId): string | null {
    return this.#names.get(id) ?? null;
  }

  isDirect(id: TouchId): boolean {
    return (this.#flags.get(id) & DIRECT) !== 0;
  }

  setDirect(id: TouchId): void {
    this.#flags.set(id, this.#flags.get(id) | DIRECT);
  }

  has(id: TouchId, use: UseKind): boolean {
    return (this.#flags.get(id) & (1 << use)) !== 0;
  }

  changes(id: TouchId): boolean {
    return (this.#flags.get(id) & CHANGES) !== 0;
  }

  addPlace(id: TouchId, use: UseKind, op: OpId): void {
    this.#flags.set(id, this.#flags.get(id) | (1 << use));
    const place = op * 4 + use;
    const first = this.#place.get(id);
    let same = (first & 3) === use && first >= 0 ? 1 : 0;
    let latest = same === 1 ? first : -1;
    let tail = 0;
    for (let at = this.#more.get(id); at !== 0; at = this.#moreNext.get(at)) {
      tail = at;
      if ((this.#morePlace.get(at) & 3) !== use) continue;
      same++;
      latest = this.#morePlace.get(at);
    }
    if (same >= mostPlaces || latest === place) return;
    const entry = this.#morePlace.push(place);
    this.#moreNext.push(0);
    if (tail === 0) this.#more.set(id, entry);
    else this.#moreNext.set(tail, entry);
  }

  places(id: TouchId, use: UseKind): OpId[] {
    const found: OpId[] = [];
    if (!this.has(id, use)) return found;
    const first = this.#place.get(id);
    if (first >= 0 && (first & 3) === use) found.push(first >> 2);
    for (let at = this.#more.get(id); at !== 0; at = this.#moreNext.get(at))
      if ((this.#morePlace.get(at) & 3) === use) found.push(this.#morePlace.get(at) >> 2);
    return found;
  }

  first(id: TouchId, use: UseKind): OpId | undefined {
    if (!this.has(id, use)) return undefined;
    const first = this.#place.get(id);
    return first >= 0 && (first & 3) === use ? first >> 2 : this.places(id, use)[0];
  }

  allPlaces(id: TouchId): OpId[] {
    const first = this.#place.get(id);
    const found = first < 0 ? [] : [first >> 2];
    for (let at = this.#more.get(id); at !== 0; at = this.#moreNext.get(at)) found.push(this.#morePlace.get(at) >> 2);
    return found;
  }
}

/** What one part does to one cell. */
export class Touch {
  readonly #table: TouchTable;
  readonly #id: TouchId;

  constructor(table: TouchTable, id: TouchId) {
    this.#table = table;
    this.#id = id;
  }

  get part(): PartId {
    return this.#table.partOf(this.#id);
  }

  /** Order of first use among the part's cells; own code before that of functions it calls. */
  get order(): number {
    return this.#table.orderOf(this.#id);
  }

  /** The name by which the part knows it, if that is not the cell's. */
  get otherName(): string | null {
    return this.#table.otherNameOf(this.#id);
  }

  /** Used in the part's own code, not only in functions that it calls. */
  get direct(): boolean {
    return this.#table.isDirect(this.#id);
  }

  setDirect(): void {
    this.#table.setDirect(this.#id);
  }

  get next(): Touch | null {
    return this.#table.get(this.#table.nextOf(this.#id));
  }

  add(use: UseKind, op: OpId): void {
    this.#table.addPlace(this.#id, use, op);
  }

  has(use: UseKind): boolean {
    return this.#table.has(this.#id, use);
  }

  /** It binds the cell anew, or changes what it holds. */
  get changes(): boolean {
    return this.#table.changes(this.#id);
  }

  /** Where, as first found. */
  places(use: UseKind): OpId[] {
    return this.#table.places(this.#id, use);
  }

  first(use: UseKind): OpId | undefined {
    return this.#table.first(this.#id, use);
  }

  /** All places, whatever is done there. */
  allPlaces(): OpId[] {
    return this.#table.allPlaces(this.#id);
  }
}
