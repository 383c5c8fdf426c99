/**
 * Properties of tokens: for each token and each name that something was stored under or loaded from, the value that holds
 * what is there. Rows of columns that hang on each other by token, in the order in which they were asked for: a table for
 * each token took as much as all else that is known of tokens.
 */
import type { AtomId, ValueId } from './facts.js';
import { IntList } from './int-list.js';
import type { TokenId } from './tokens.js';

/** Somebody has asked for the token's properties, and there are none. */
const EMPTY = -1;
/** From so many on a token has a table. */
const large = 16;

export class PropertyTable {
  /** First row of each token, 0 if nobody has asked; last row; how many. */
  readonly #first = new IntList(1024);
  readonly #last = new IntList(1024);
  readonly #size = new IntList(1024);
  readonly #atom = new IntList(1024);
  readonly #value = new IntList(1024);
  readonly #next = new IntList(1024);
  readonly #large = new Map<TokenId, Map<AtomId, ValueId>>();

  constructor() {
    for (const column of [this.#atom, this.#value, this.#next]) column.push(0);
  }

  addToken(): void {
    for (const column of [this.#first, this.#last, this.#size]) column.push(0);
  }

  /** From now on the token is known to have properties, even if there are none. */
  ask(token: TokenId): void {
    if (this.#first.get(token) === 0) this.#first.set(token, EMPTY);
  }

  isAsked(token: TokenId): boolean {
    return this.#first.get(token) !== 0;
  }

  get(token: TokenId, atom: AtomId): ValueId | undefined {
    const table = this.#large.get(token);
    if (table !== undefined) return table.get(atom);
    for (let row = this.firstRow(token); row !== 0; row = this.#next.get(row))
      if (this.#atom.get(row) === atom) return this.#value.get(row);
    return undefined;
  }

  /** A property that the token has not had so far. */
  add(token: TokenId, atom: AtomId, value: ValueId): void {
    const row = this.#atom.push(atom);
    this.#value.push(value);
    this.#next.push(0);
    if (this.firstRow(token) === 0) this.#first.set(token, row);
    else this.#next.set(this.#last.get(token), row);
    this.#last.set(token, row);
    const size = this.#size.get(token) + 1;
    this.#size.set(token, size);
    if (size === large) this.#large.set(token, new Map(this.entries(token)));
    else this.#large.get(token)?.set(atom, value);
  }

  firstRow(token: TokenId): number {
    return Math.max(this.#first.get(token), 0);
  }

  *entries(token: TokenId): Generator<[AtomId, ValueId], void> {
    for (let row = this.firstRow(token); row !== 0; row = this.#next.get(row))
      yield [this.#atom.get(row), this.#value.get(row)];
  }

  /** What is added on the way is visited as well. */
  *values(token: TokenId): Generator<ValueId, void> {
    for (let row = this.firstRow(token); row !== 0; row = this.#next.get(row)) yield this.#value.get(row);
  }
}

/** The properties of one token. */
export class Properties {
  readonly #table: PropertyTable;
  readonly #token: TokenId;

  constructor(table: PropertyTable, token: TokenId) {
    this.#table = table;
    this.#token = token;
  }

  get(atom: AtomId): ValueId | undefined {
    return this.#table.get(this.#token, atom);
  }

  add(atom: AtomId, value: ValueId): void {
    this.#table.add(this.#token, atom, value);
  }

  *keys(): Generator<AtomId, void> {
    for (const [atom] of this.#table.entries(this.#token)) yield atom;
  }

  values(): Generator<ValueId, void> {
    return this.#table.values(this.#token);
  }

  [Symbol.iterator](): Generator<[AtomId, ValueId], void> {
    return this.#table.entries(this.#token);
  }
}
