/**
 * Reads:   source text and what kind of module Node takes it for.
 * Gives:   syntax tree with offsets, with what compilers made of async functions and spreading undone, and the kind that it turned out to be.
 * Throws:  ParseFailure with the parser's message and offset.
 */
import type * as es from 'estree';
import { parse as parseText, tryParse } from '../syntax/parser.js';
import { restoreAsync } from './restore-async.js';
import { restoreHelpers } from './restore-helpers.js';

export type SourceKind = 'commonjs' | 'module';

export interface Parsed {
  readonly tree: es.Program;
  readonly kind: SourceKind;
}

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

export function parse(text: string, kind: SourceKind | 'detect'): Parsed {
  try {
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

/** Only decides which of two errors is the useful one. */
function looksLikeModule(text: string): boolean {
  return /(^|[\s;}])(import|export)\b|\bimport\.meta\b|\bawait\b/.test(text);
}

function restored(tree: es.Program, text: string, kind: SourceKind): Parsed {
  restoreHelpers(tree, text);
  restoreAsync(tree, text);
  return { tree, kind };
}

function toFailure(error: unknown): ParseFailure {
  const isOutOfStack =
    error instanceof RangeError || (error instanceof Error && /stack space|call stack/i.test(error.message));
  if (isOutOfStack) return new ParseFailure('this code is nested too deeply to be analysed', 0, true);
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
