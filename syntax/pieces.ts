/**
 * The pieces of a large module, whose trees are there only while somebody is at them: bodies of functions, literals of objects and lists, and
 * statements at its top.
 * A whole tree takes over 25 times its text. What is kept of a piece is where it is, and which names it uses that are declared around it.
 *
 * Pieces lie in pieces: the tree of one has others in it as nodes that are no more than a number.
 */
import type * as es from 'estree';
import type { Definition, Scope } from './name-scopes.js';

/** What stood around it, as numbers in one. */
export const PieceFlag = {
  strict: 1,
  /** `await` and `yield` are no names in it. */
  async: 2,
  generator: 4,
  /** `eval` in it runs code that may declare names in the function around it; in a function of it, also in the blocks around it. */
  evaluates: 8,
  evaluatesWithin: 16,
} as const;

export interface FreeName {
  readonly name: string;
  /** A function in the piece uses it, or the piece is one. */
  readonly isCrossed: boolean;
}

export class Pieces {
  readonly #starts = new Ints();
  readonly #ends = new Ints();
  readonly #flags = new Ints();
  /** Of each, the first of its names; they end where those of the next one begin. */
  readonly #firstName = new Ints();
  readonly #names = new Ints();
  readonly #words: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #byStart = new Map<number, number>();

  /** `isWithin`: it lies in other pieces, or may. */
  add(start: number, end: number, flags: number, names: readonly FreeName[], isWithin: boolean): number {
    const piece = this.#starts.push(start);
    this.#ends.push(end);
    this.#flags.push(flags);
    this.#firstName.push(this.#names.length);
    for (const { name, isCrossed } of names) this.#names.push((this.#numberOf(name) << 1) | (isCrossed ? 1 : 0));
    if (isWithin) this.#byStart.set(start, piece);
    return piece;
  }

  #numberOf(name: string): number {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = this.#words.push(name) - 1;
      this.#numbers.set(name, number);
    }
    return number;
  }

  /** The one that begins at this offset. */
  at(start: number): number | undefined {
    return this.#byStart.get(start);
  }

  startOf(piece: number): number {
    return this.#starts.get(piece);
  }

  endOf(piece: number): number {
    return this.#ends.get(piece);
  }

  flagsOf(piece: number): number {
    return this.#flags.get(piece);
  }

  eachName(piece: number, visit: (name: string, isCrossed: boolean) => void): void {
    const end = piece + 1 < this.#firstName.length ? this.#firstName.get(piece + 1) : this.#names.length;
    for (let at = this.#firstName.get(piece); at < end; at++) {
      const name = this.#names.get(at);
      visit(this.#words[name >> 1] as string, (name & 1) === 1);
    }
  }
}

class Ints {
  #values = new Int32Array(1024);
  length = 0;

  push(value: number): number {
    if (this.length === this.#values.length) {
      const longer = new Int32Array(this.length * 2);
      longer.set(this.#values);
      this.#values = longer;
    }
    this.#values[this.length] = value;
    return this.length++;
  }

  get(index: number): number {
    return this.#values[index] as number;
  }
}

/** What a statement declares in the scope that it stands in. */
export interface Declared {
  readonly id: es.Identifier;
  readonly definition: Definition;
  readonly constant: boolean;
}

/** Makes what is in a literal. */
export interface PieceMaker {
  membersOf(literal: LiteralPiece): es.Node[];
}

export abstract class Piece {
  readonly start: number;
  readonly end: number;
  readonly piece: number;
  /** What names in it mean is looked up from here; null as long as nobody has bound them. */
  scope: Scope | null = null;

  constructor(start: number, end: number, piece: number) {
    this.start = start;
    this.end = end;
    this.piece = piece;
  }
}

/** The body of a function, until somebody enters it (`Names.enter`). */
export class BodyPiece extends Piece {
  readonly type = 'BlockStatement';

  get body(): es.Statement[] {
    throw new Error('the body of a function was asked for which nobody has entered');
  }
}

/** A statement at the top of a module. Who does not know of pieces finds nothing in it. */
export class StatementPiece extends Piece {
  readonly type = 'EmptyStatement';
  readonly declares: readonly Declared[];

  constructor(start: number, end: number, piece: number, declares: readonly Declared[]) {
    super(start, end, piece);
    this.declares = declares;
  }
}

/** It is made when somebody asks what is in it, until it is let go of. */
export class LiteralPiece extends Piece {
  /** As acorn does: a literal can turn out to be a pattern. */
  type: 'ObjectExpression' | 'ArrayExpression' | 'ObjectPattern' | 'ArrayPattern';
  readonly #maker: PieceMaker;
  #members: es.Node[] | null = null;

  constructor(
    type: 'ObjectExpression' | 'ArrayExpression',
    start: number,
    end: number,
    piece: number,
    maker: PieceMaker,
  ) {
    super(start, end, piece);
    this.type = type;
    this.#maker = maker;
  }

  get isPattern(): boolean {
    return this.type === 'ObjectPattern' || this.type === 'ArrayPattern';
  }

  get properties(): es.Node[] {
    return this.#made();
  }

  get elements(): es.Node[] {
    return this.#made();
  }

  #made(): es.Node[] {
    this.#members ??= this.#maker.membersOf(this);
    return this.#members;
  }

  release(): void {
    this.#members = null;
  }
}

/** In the place of a literal. */
export function literalPiece(
  type: 'ObjectExpression' | 'ArrayExpression',
  start: number,
  end: number,
  piece: number,
  maker: PieceMaker,
): es.Expression {
  return new LiteralPiece(type, start, end, piece, maker) as unknown as es.Expression;
}
