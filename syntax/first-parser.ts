/**
 * Reads:  the text of a large module.
 * Gives:  its tree, in which pieces are numbers (`pieces.ts`), and what is to be known of these.
 * Throws: SyntaxError; all is checked that there is to check.
 */
import type * as es from 'estree';
import { Acorn, tokTypes } from './acorn.js';
import { bareNumber } from './bare-number.js';
import { Binder } from './bind-names.js';
import { type Offsets, optionsFor, type SourceType } from './parser.js';
import {
  BodyPiece,
  type Declared,
  literalPiece,
  PieceFlag,
  type PieceMaker,
  type Pieces,
  StatementPiece,
} from './pieces.js';

export class FirstParser extends Acorn {
  readonly #pieces: Pieces;
  readonly #maker: PieceMaker;
  readonly #least: number;
  readonly #binder: Binder;
  /** Starts and lengths of pieces that are in no other so far. */
  readonly #starts: number[] = [];
  readonly #lengths: number[] = [];

  constructor(text: string, sourceType: SourceType, pieces: Pieces, maker: PieceMaker, least: number) {
    super(optionsFor(sourceType), text);
    this.#pieces = pieces;
    this.#maker = maker;
    this.#least = least;
    this.#binder = new Binder(null, pieces);
  }

  override finishNode(node: es.Node, type: string): es.Node {
    const done = super.finishNode(node, type);
    switch (done.type) {
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
        this.#letGoOfBody(done);
        return done;
      case 'ObjectExpression':
      case 'ArrayExpression':
        return this.#letGoOfLiteral(done);
      default:
        return done;
    }
  }

  override parseLiteral(value: es.Literal['value']): es.Literal {
    return bareNumber(this, value) ?? super.parseLiteral(value);
  }

  override parseStatement(context: string | null, topLevel?: boolean, exports?: object): es.Statement {
    const statement = super.parseStatement(context, topLevel, exports);
    return topLevel === true && isPlain(statement) ? this.#letGoOfStatement(statement) : statement;
  }

  #letGoOfStatement(statement: es.Statement): es.Statement {
    const { start, end } = statement as unknown as Offsets;
    if (!this.#isLong(start, end)) return statement;
    const declares: Declared[] = [];
    const piece = this.#add(statement, start, end, this.canAwait ? PieceFlag.async : 0, declares);
    return piece === -1 ? statement : (new StatementPiece(start, end, piece, declares) as es.Statement);
  }

  #letGoOfBody(node: es.Function): void {
    const { body } = node;
    if (body.type !== 'BlockStatement' || givesName(body)) return;
    const { start, end } = body as unknown as Offsets;
    if (!this.#isLong(start, end)) return;
    const flags = (node.async ? PieceFlag.async : 0) | (node.generator ? PieceFlag.generator : 0);
    const piece = this.#add(node, start, end, flags);
    if (piece !== -1) node.body = new BodyPiece(start, end, piece);
  }

  #letGoOfLiteral(node: es.ObjectExpression | es.ArrayExpression): es.Node {
    const { start, end } = node as unknown as Offsets;
    // It is a pattern.
    if (this.type === tokTypes.eq || !this.#isLong(start, end)) return node;
    const flags = (this.canAwait ? PieceFlag.async : 0) | (this.inGenerator ? PieceFlag.generator : 0);
    const piece = this.#add(node, start, end, flags);
    return piece === -1 ? node : literalPiece(node.type, start, end, piece, this.#maker);
  }

  /** -1 where it cannot be one. */
  #add(node: es.Node, start: number, end: number, flags: number, declares?: Declared[]): number {
    const summary = this.#binder.summarise(node);
    if (summary === null) return -1;
    this.#joinFrom(start, end - start);
    declares?.push(...summary.declares);
    const all = flags | summary.flags | (this.strict ? PieceFlag.strict : 0);
    return this.#pieces.add(start, end, all, summary.names, declares === undefined);
  }

  /** Without the pieces in it. */
  #isLong(start: number, end: number): boolean {
    if (end - start < this.#least) return false;
    return end - start - this.#joinFrom(start, 0) >= this.#least;
  }

  /** Those that begin behind `start` become one, of this length or of that which they have together. */
  #joinFrom(start: number, length: number): number {
    let all = 0;
    let first = start;
    while ((this.#starts.at(-1) ?? -1) >= start) {
      first = this.#starts.pop() as number;
      all += this.#lengths.pop() as number;
    }
    const joined = length === 0 ? all : length;
    if (joined > 0) {
      this.#starts.push(length === 0 ? first : start);
      this.#lengths.push(joined);
    }
    return all;
  }
}

/** Others declare what is known before the first statement runs, or say how the module is to be read. */
function isPlain(node: es.Statement): boolean {
  if (node.type === 'ExpressionStatement') return node.expression.type !== 'Literal';
  return node.type === 'VariableDeclaration' || node.type.endsWith('Statement');
}

/** `function () { return x; }` is looked at from outside, and no larger than a piece would be. */
function givesName({ body: [first, ...others] }: es.BlockStatement): boolean {
  return first?.type === 'ReturnStatement' && others.length === 0 && first.argument?.type === 'Identifier';
}
