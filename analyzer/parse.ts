/**
 * Reads:   source text and what kind of module Node takes it for.
 * Gives:   syntax tree with offsets, with what compilers made of async functions and spreading undone, and the kind that it turned out to be.
 * Throws:  ParseFailure with the parser's message and offset.
 */
import type * as es from 'estree';
import { parse as parseText, tryParse } from '../syntax/parser.js';
import { type InPieces, parseInPieces } from '../syntax/piece-parser.js';
import { restoreAsync, usesAsyncHelpers } from './restore-async.js';
import { restoreHelpers, usesHelpers } from './restore-helpers.js';

export type SourceKind = 'commonjs' | 'module';

export interface Parsed {
  readonly tree: es.Program;
  readonly kind: SourceKind;
  /** Of a large module, whose tree is there in pieces; null where all of it is. */
  readonly inPieces: InPieces | null;
}

/** In characters: which modules are parsed in pieces, and how long a piece is at least. */
export interface PieceSizes {
  readonly module: number;
  readonly piece: number;
}

/** A tree of a smaller module is gone before it counts. */
const pieceSizes: PieceSizes = { module: 500_000, piece: 80 };

export class ParseFailure extends Error {
  constructor(
    message: string,
    readonly offset: number,
    /** The parser ran out of stack: the source may be fine, it is nested too deeply. */
    readonly tooDeep: boolean,
  ) {
    super(message);
  }
}

export function parse(text: string, kind: SourceKind | 'detect', sizes = pieceSizes): Parsed {
  try {
    const inPieces = text.length < sizes.module ? null : tryInPieces(text, kind, sizes.piece);
    if (inPieces !== null) return inPieces;
    if (kind !== 'detect') return restored(parseText(text, kind), text, kind);
    const tree = tryParse(text, 'commonjs');
    if (tree !== null) return restored(tree, text, 'commonjs');
    // Node looks for module syntax as well when package.json does not say what a `.js` file is.
    const found = looksLikeModule(text) ? 'module' : 'commonjs';
    return restored(parseText(text, found), text, found);
  } catch (error) {
    throw toFailure(error);
  }
}

/** Null where something is wrong with it, or what compilers made of it has to be undone first. */
function tryInPieces(text: string, kind: SourceKind | 'detect', least: number): Parsed | null {
  if (usesHelpers(text) || usesAsyncHelpers(text)) return null;
  if (kind !== 'detect') return tryKind(text, kind, least);
  return tryKind(text, 'commonjs', least) ?? (looksLikeModule(text) ? tryKind(text, 'module', least) : null);
}

function tryKind(text: string, kind: SourceKind, least: number): Parsed | null {
  try {
    const inPieces = parseInPieces(text, kind, least);
    return { tree: inPieces.tree, kind, inPieces };
  } catch (error) {
    // Where the stack ends for pieces, it does for the whole.
    if (error instanceof SyntaxError && !isOutOfStack(error)) return null;
    throw error;
  }
}

/** Only decides which of two errors is the useful one. */
function looksLikeModule(text: string): boolean {
  return /(^|[\s;}])(import|export)\b|\bimport\.meta\b|\bawait\b/.test(text);
}

function restored(tree: es.Program, text: string, kind: SourceKind): Parsed {
  restoreHelpers(tree, text);
  restoreAsync(tree, text);
  return { tree, kind, inPieces: null };
}

function isOutOfStack(error: unknown): boolean {
  return error instanceof RangeError || (error instanceof Error && /stack space|call stack/i.test(error.message));
}

function toFailure(error: unknown): ParseFailure {
  if (isOutOfStack(error)) return new ParseFailure('this code is nested too deeply to be analysed', 0, true);
  if (error instanceof SyntaxError && 'index' in error && typeof error.index === 'number') {
    return new ParseFailure(parserWords(error.message), error.index, false);
  }
  throw error;
}

/** Espree names the token as it stands, and none where the text ends. */
function parserWords(message: string): string {
  if (message === 'Unexpected token') return 'Unexpected end of the text';
  return message.replace(/^Unexpected token (\S+)$/, 'Unexpected token "$1"');
}
