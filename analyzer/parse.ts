/**
 * Reads:   source text and what kind of module Node takes it for.
 * Gives:   syntax tree with offsets, with what compilers made of async functions and spreading undone, and the kind that it turned out to be.
 * Throws:  ParseFailure with the parser's message and offset.
 */
import type * as es from 'estree';
import { parse as parseText } from '../syntax/parser.js';
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
  if (kind !== 'detect') return parseAs(text, kind);
  try {
    return parseAs(text, 'commonjs');
  } catch (error) {
    if (!(error instanceof ParseFailure) || error.tooDeep || !looksLikeModule(text)) throw error;
    // Node looks for module syntax as well when package.json does not say what a `.js` file is.
    return parseAs(text, 'module');
  }
}

/** Only decides whether a second parse is worth it, and which of two errors is the useful one. */
function looksLikeModule(text: string): boolean {
  return /(^|[\s;}])(import|export)\b|\bimport\.meta\b|\bawait\b/.test(text);
}

function parseAs(text: string, kind: SourceKind): Parsed {
  try {
    const tree = parseText(text, kind);
    restoreHelpers(tree, text);
    restoreAsync(tree, text);
    return { tree, kind };
  } catch (error) {
    throw toFailure(error);
  }
}

function toFailure(error: unknown): ParseFailure {
  const isOutOfStack =
    error instanceof RangeError || (error instanceof Error && /stack space|call stack/i.test(error.message));
  if (isOutOfStack) return new ParseFailure('this code is nested too deeply to be analysed', 0, true);
  if (error instanceof SyntaxError && 'index' in error && typeof error.index === 'number') {
    return new ParseFailure(error.message, error.index, false);
  }
  throw error;
}
