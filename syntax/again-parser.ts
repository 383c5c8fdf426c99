/**
 * Reads: the text of a large module that has been parsed, and which pieces it has.
 * Gives: the tree of one of them, in which those that it has in itself are numbers.
 *
 * What was checked the first time is not checked again: wherever that depends on what is around the piece, all is allowed.
 */
import type * as es from 'estree';
import {
  Acorn,
  type FunctionNode,
  SCOPE_ASYNC,
  SCOPE_FUNCTION,
  SCOPE_GENERATOR,
  SCOPE_SUPER,
  SCOPE_TOP,
  tokContexts,
  tokTypes,
} from './acorn.js';
import { bareNumber } from './bare-number.js';
import { optionsFor, type SourceType } from './parser.js';
import {
  BodyPiece,
  type LiteralPiece,
  literalPiece,
  PieceFlag,
  type PieceMaker,
  type Pieces,
  type StatementPiece,
} from './pieces.js';

export class AgainParser extends Acorn {
  readonly #text: string;
  readonly #pieces: Pieces;
  readonly #maker: PieceMaker;
  /** Where the piece begins that is being parsed: it is no piece in itself. */
  #from = -1;

  constructor(text: string, sourceType: SourceType, pieces: Pieces, maker: PieceMaker) {
    super({ ...optionsFor(sourceType), checkPrivateFields: false }, text);
    this.#text = text;
    this.#pieces = pieces;
    this.#maker = maker;
  }

  parseBody({ piece }: BodyPiece): es.BlockStatement {
    this.#goTo(piece);
    const node: FunctionNode = { params: [], body: null, expression: false };
    this.parseFunctionBody(node, false, false, false);
    return node.body as es.BlockStatement;
  }

  parseWhole({ piece }: StatementPiece): es.Statement {
    this.#goTo(piece);
    return this.parseStatement(null);
  }

  parseMembers({ piece }: LiteralPiece): es.Node[] {
    this.#goTo(piece);
    const literal = this.parseExprAtom(allowAll()) as es.ObjectExpression | es.ArrayExpression;
    return (literal.type === 'ObjectExpression' ? literal.properties : literal.elements) as es.Node[];
  }

  /** As if all in front of it had been read. */
  #goTo(piece: number): void {
    const flags = this.#pieces.flagsOf(piece);
    const start = this.#pieces.startOf(piece);
    const isGenerator = (flags & PieceFlag.generator) !== 0;
    const isAsync = (flags & PieceFlag.async) !== 0;
    this.#from = start;
    // Nothing is read behind it: without what is in front, that might make no sense.
    this.input = this.#text.slice(0, this.#pieces.endOf(piece));
    this.pos = this.start = this.end = this.lastTokStart = this.lastTokEnd = start;
    this.context = this.initialContext();
    if (isGenerator) this.context.push(tokContexts.f_gen);
    this.type = tokTypes.parenR;
    this.exprAllowed = true;
    this.potentialArrowAt = -1;
    this.labels = [];
    this.scopeStack = [];
    this.enterScope(SCOPE_TOP);
    this.enterScope(SCOPE_FUNCTION | SCOPE_SUPER | (isAsync ? SCOPE_ASYNC : 0) | (isGenerator ? SCOPE_GENERATOR : 0));
    this.strict = (flags & PieceFlag.strict) !== 0;
    this.nextToken();
  }

  override parseLiteral(value: es.Literal['value']): es.Literal {
    return bareNumber(this, value) ?? super.parseLiteral(value);
  }

  #pieceHere(): number | undefined {
    return this.start === this.#from ? undefined : this.#pieces.at(this.start);
  }

  /** Behind the bracket that ends it. */
  #pass(piece: number): void {
    this.pos = this.#pieces.endOf(piece) - 1;
    this.nextToken();
    this.next();
  }

  override parseFunctionBody(node: FunctionNode, isArrow: boolean, isMethod: boolean, forInit: unknown): void {
    const piece = this.type === tokTypes.braceL ? this.#pieceHere() : undefined;
    if (piece === undefined) return super.parseFunctionBody(node, isArrow, isMethod, forInit);
    node.body = new BodyPiece(this.start, this.#pieces.endOf(piece), piece) as es.BlockStatement;
    node.expression = false;
    this.#pass(piece);
    this.exitScope();
  }

  override parseExprAtom(errors?: object, forInit?: unknown, forNew?: boolean): es.Expression {
    const piece = this.type === tokTypes.bracketL ? this.#pieceHere() : undefined;
    return piece === undefined ? super.parseExprAtom(errors, forInit, forNew) : this.#literal('ArrayExpression', piece);
  }

  override parseObj(isPattern: boolean, errors?: object): es.ObjectExpression | es.ObjectPattern {
    const piece = isPattern ? undefined : this.#pieceHere();
    if (piece === undefined) return super.parseObj(isPattern, errors);
    return this.#literal('ObjectExpression', piece) as es.ObjectExpression;
  }

  #literal(type: 'ObjectExpression' | 'ArrayExpression', piece: number): es.Expression {
    const { start } = this;
    this.#pass(piece);
    return literalPiece(type, start, this.#pieces.endOf(piece), piece, this.#maker);
  }
}

/** A literal that turns out to be a pattern may have in it what only patterns have. */
function allowAll(): object {
  return { shorthandAssign: -1, trailingComma: -1, parenthesizedAssign: -1, parenthesizedBind: -1, doubleProto: -1 };
}
