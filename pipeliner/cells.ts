/**
 * The words in which state is told: cells, who touches them, and groups of cells that may hold one object.
 */
import type { PartId } from '../analyzer/cut-parts.js';
import type { ValueId } from '../analyzer/facts.js';
import { IntList } from '../analyzer/int-list.js';
import type { TokenId, TokenSetId } from '../analyzer/tokens.js';
import type { RunsAnywhere } from './runs-anywhere.js';
import { NO_TOUCH, type Touch, type TouchId, type TouchTable, type UseKind } from './touches.js';

export { mostPlaces, type Touch, Use, type UseKind } from './touches.js';

export type CellOrigin =
  /** The language, Node, or a package as it was imported. */
  | 'outside'
  /** Made by start-up code. */
  | 'startup'
  /** Made anew in each flow: locals and parameters of callbacks. */
  | 'flow';

export type CellChange = 'nothing' | 'itself' | 'some' | 'within';

export interface CellFacts {
  readonly name: string;
  readonly module: number;
  readonly start: number;
  readonly variable: ValueId | null;
  readonly origin: CellOrigin;
  /** A server, app or router: start-up goes on filling it, which changes nothing for requests. */
  readonly isServer: boolean;
  /** All that it ever holds is one thing that a package gave. */
  readonly isOfPackage: boolean;
  /** What an object without a name of its own is called in tags and reasons. */
  readonly hint: string;
  /** Parts in which it is declared, in ascending order. */
  readonly declaredBy: readonly PartId[];
  /** The tokens that it may be. */
  readonly set: TokenSetId;
  /** Belongs to one request; `reply` is bound to the connection. */
  readonly request: 'reply' | 'request' | null;
  readonly travels: boolean;
  readonly isFunction: boolean;
}

const origins = ['outside', 'startup', 'flow'] as const;
const requests = [null, 'request', 'reply'] as const;
const changes = ['nothing', 'itself', 'some', 'within'] as const;

/** Flags of a cell: two bits each for where it comes from, whose it is, and what is changed; then one each. */
const REQUEST = 2;
const CHANGED = 4;
const IS_SERVER = 1 << 6;
const TRAVELS = 1 << 7;
const IS_FUNCTION = 1 << 8;
const IS_INDEXED = 1 << 9;
const IS_OF_PACKAGE = 1 << 10;

/** What of cells are numbers, by the numbers of the cells: there are some hundred thousand. */
export class CellColumns {
  readonly module = new IntList(1024);
  readonly start = new IntList(1024);
  readonly flags = new IntList(1024);
  readonly firstTouch = new IntList(1024);
  readonly lastTouch = new IntList(1024);
}

/** What all cells of a program have in common. */
export interface CellContext {
  readonly columns: CellColumns;
  /** Start-up code runs in these parts. */
  readonly startUp: ReadonlySet<PartId>;
  readonly touches: TouchTable;
  /** Of cells that many parts touch, by their numbers: the touch of each part. */
  readonly indexes: Map<number, Map<PartId, TouchId>>;
  /** Of cells without a name, by their numbers. */
  readonly hints: Map<number, string>;
  /** No touch is added any more: nobody asks for so many that it is worth an index. */
  isComplete: boolean;
  /** As origins say; of a draft they are gone. */
  membersOf: (set: TokenSetId) => readonly TokenId[];
}

/** A variable, a field of `this`, or an object that lasts, and who does what to it. */
export class Cell implements CellFacts, Group {
  readonly id: number;
  readonly name: string;
  readonly variable: ValueId | null;
  readonly declaredBy: readonly PartId[];
  readonly set: TokenSetId;
  readonly #context: CellContext;

  constructor(id: number, facts: CellFacts, context: CellContext) {
    this.id = id;
    this.name = facts.name;
    this.variable = facts.variable;
    this.declaredBy = facts.declaredBy;
    this.set = facts.set;
    this.#context = context;
    if (facts.hint !== facts.name) context.hints.set(id, facts.hint);
    const { module, start, flags, firstTouch, lastTouch } = context.columns;
    module.push(facts.module);
    start.push(facts.start);
    firstTouch.push(NO_TOUCH);
    lastTouch.push(NO_TOUCH);
    flags.push(
      origins.indexOf(facts.origin) |
        (requests.indexOf(facts.request) << REQUEST) |
        (facts.isServer ? IS_SERVER : 0) |
        (facts.travels ? TRAVELS : 0) |
        (facts.isOfPackage ? IS_OF_PACKAGE : 0) |
        (facts.isFunction ? IS_FUNCTION : 0),
    );
  }

  get tokens(): readonly TokenId[] {
    return this.#context.membersOf(this.set);
  }

  get module(): number {
    return this.#context.columns.module.get(this.id);
  }

  get start(): number {
    return this.#context.columns.start.get(this.id);
  }

  get #flags(): number {
    return this.#context.columns.flags.get(this.id);
  }

  set #flags(flags: number) {
    this.#context.columns.flags.set(this.id, flags);
  }

  get #first(): TouchId {
    return this.#context.columns.firstTouch.get(this.id);
  }

  set #first(id: TouchId) {
    this.#context.columns.firstTouch.set(this.id, id);
  }

  get #last(): TouchId {
    return this.#context.columns.lastTouch.get(this.id);
  }

  set #last(id: TouchId) {
    this.#context.columns.lastTouch.set(this.id, id);
  }

  /** As a group: itself alone. */
  get cells(): readonly Cell[] {
    return [this];
  }

  get hint(): string {
    return this.#context.hints.get(this.id) ?? this.name;
  }

  get origin(): CellOrigin {
    return origins[this.#flags & 3] as CellOrigin;
  }

  get request(): CellFacts['request'] {
    return requests[(this.#flags >> REQUEST) & 3] as CellFacts['request'];
  }

  get isServer(): boolean {
    return (this.#flags & IS_SERVER) !== 0;
  }

  get isOfPackage(): boolean {
    return (this.#flags & IS_OF_PACKAGE) !== 0;
  }

  get travels(): boolean {
    return (this.#flags & TRAVELS) !== 0;
  }

  get isFunction(): boolean {
    return (this.#flags & IS_FUNCTION) !== 0;
  }

  /** Start-up code runs in these parts. */
  get startUp(): ReadonlySet<PartId> {
    return this.#context.startUp;
  }

  /** What is changed: the object that it holds, some that `ChangedObjects` knows, or anything that can be reached through it. */
  get changed(): CellChange {
    return changes[(this.#flags >> CHANGED) & 3] as CellChange;
  }

  set changed(change: CellChange) {
    this.#flags = (this.#flags & ~(3 << CHANGED)) | (changes.indexOf(change) << CHANGED);
  }

  /** The first of its touches, each of which leads to the `next`; in the order in which they were found. */
  get firstTouch(): Touch | null {
    return this.#context.touches.get(this.#first);
  }

  touchOf(part: PartId): Touch | undefined {
    const id = this.#touchIdOf(part);
    return id === NO_TOUCH ? undefined : (this.#context.touches.get(id) ?? undefined);
  }

  #touchIdOf(part: PartId): TouchId {
    const { touches, indexes } = this.#context;
    if (this.#last === NO_TOUCH) return NO_TOUCH;
    // Parts are looked at one after the other: it is the last one, or most likely none.
    if (touches.partOf(this.#last) === part) return this.#last;
    const index = (this.#flags & IS_INDEXED) === 0 ? undefined : indexes.get(this.id);
    if (index !== undefined) return index.get(part) ?? NO_TOUCH;
    let count = 0;
    for (let id = this.#first; id !== NO_TOUCH; id = touches.nextOf(id)) {
      if (touches.partOf(id) === part) return id;
      count++;
    }
    if (count > fewTouches && !this.#context.isComplete) this.#makeIndex();
    return NO_TOUCH;
  }

  #makeIndex(): void {
    const { touches, indexes } = this.#context;
    const index = new Map<PartId, TouchId>();
    for (let id = this.#first; id !== NO_TOUCH; id = touches.nextOf(id)) index.set(touches.partOf(id), id);
    indexes.set(this.id, index);
    this.#flags |= IS_INDEXED;
  }

  /** The part's first touch. `name` is what the part knows it by: an import may have another than what it imports. */
  addTouch(part: PartId, order: number, direct: boolean, name: string, use: UseKind | null, op: number): void {
    const { touches } = this.#context;
    const id = touches.add(part, order, direct, name === this.name ? null : name, use, op);
    if (this.#last === NO_TOUCH) this.#first = id;
    else touches.link(this.#last, id);
    this.#last = id;
    if ((this.#flags & IS_INDEXED) !== 0) this.#context.indexes.get(this.id)?.set(part, id);
  }

  someTouch(test: (touch: Touch) => boolean): boolean {
    for (let touch = this.firstTouch; touch !== null; touch = touch.next) if (test(touch)) return true;
    return false;
  }

  /** The name by which the part of the touch knows it. */
  nameIn(touch: Touch): string {
    return touch.otherName ?? this.name;
  }

  /** Made anew in each run and used nowhere else: for what it may hold, others answer. */
  get isLocal(): boolean {
    return this.origin === 'flow' && !this.isUsedElsewhere;
  }

  /** Used by a part that does not make it. */
  get isUsedElsewhere(): boolean {
    const { touches } = this.#context;
    for (let id = this.#first; id !== NO_TOUCH; id = touches.nextOf(id))
      if (!this.isDeclaredBy(touches.partOf(id))) return true;
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
    const { touches } = this.#context;
    for (let id = this.#first; id !== NO_TOUCH; id = touches.nextOf(id))
      if (touches.partOf(id) !== 0 && touches.changes(id)) return true;
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
  /** What keeps something, or looks at what changes, and runs without a call in sight, whoever is at work. */
  readonly anywhere: readonly RunsAnywhere[];
  groupOf(cell: Cell): Group;
  /** After start-up, and not only something that hangs on it. */
  isChanging(token: TokenId): boolean;
  /** Something that can be reached from these changes. */
  holdChanging(tokens: readonly TokenId[]): boolean;
  /** Nobody asks what cells may be any more, or what changes. */
  leave(): void;
}
