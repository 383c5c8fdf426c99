/**
 * Parses a large module in pieces (`pieces.ts`): all of it once, where each body of a function and each literal is let go of as soon as it is complete, and
 * each of these again when somebody asks for it.
 *
 * The first time everything is checked. The second time only what is there counts, so whatever may stand somewhere is allowed.
 */
import type * as es from 'estree';
import { AgainParser } from './again-parser.js';
import { Binder, type Names, noScopes } from './bind-names.js';
import { FirstParser } from './first-parser.js';
import type { SourceType } from './parser.js';
import { BodyPiece, type LiteralPiece, type PieceMaker, Pieces, StatementPiece } from './pieces.js';

export interface InPieces {
  readonly tree: es.Program;
  /** As `bindNames`. */
  bind(numberAt: Int32Array): Names;
}

/**
 * `least`: what is shorter, without the pieces in it, is left where it is.
 * Throws: SyntaxError; what is wrong is said better by `parse`.
 */
export function parseInPieces(text: string, sourceType: SourceType, least: number): InPieces {
  const pieces = new Pieces();
  const maker = new Maker(text, sourceType, pieces);
  const tree = new FirstParser(text, sourceType, pieces, maker, least).parse();
  return {
    tree,
    bind: (numberAt) => {
      const binder = new Binder(numberAt, pieces);
      binder.bindProgram(tree, sourceType);
      maker.binder = binder;
      return {
        enter: (node) => maker.enter(node),
        statementOf: (node) => (node instanceof StatementPiece ? maker.statementOf(node) : node),
        scopesOf: (node) => binder.scopes.get(node) ?? noScopes,
        forget: (node) => void binder.scopes.delete(node),
      };
    },
  };
}

class Maker implements PieceMaker {
  /** Null until the whole has been bound. */
  binder: Binder | null = null;
  readonly #newParser: () => AgainParser;
  /** More than one only where a pattern in a piece was a piece as long as it was taken for a literal. */
  readonly #idle: AgainParser[] = [];

  constructor(text: string, sourceType: SourceType, pieces: Pieces) {
    this.#newParser = () => new AgainParser(text, sourceType, pieces, this);
  }

  #parse<Result>(parse: (parser: AgainParser) => Result): Result {
    const parser = this.#idle.pop() ?? this.#newParser();
    const result = parse(parser);
    this.#idle.push(parser);
    return result;
  }

  enter(node: es.Function): void {
    const { body } = node;
    if (!(body instanceof BodyPiece)) return;
    node.body = this.#parse((parser) => parser.parseBody(body));
    if (body.scope !== null) this.binder?.bindWithin(body.scope, [node]);
  }

  statementOf(piece: StatementPiece): es.Statement {
    const statement = this.#parse((parser) => parser.parseWhole(piece));
    if (piece.scope !== null) this.binder?.bindWithin(piece.scope, [statement]);
    return statement;
  }

  membersOf(literal: LiteralPiece): es.Node[] {
    const members = this.#parse((parser) => parser.parseMembers(literal));
    // A pattern is bound with what it is part of.
    if (literal.scope !== null && !literal.isPattern) this.binder?.bindWithin(literal.scope, members);
    return members;
  }
}
