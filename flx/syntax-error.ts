/** What is wrong with flx text: where, what stands there, and what may stand there. */
import { flxSyntax } from '../diagnostics/catalogue/flx.js';
import { positionAt } from '../diagnostics/position.js';
import type { Diagnostic, Span } from '../diagnostics/types.js';

export interface SyntaxFault {
  readonly span: Span;
  readonly expected: string;
  readonly found: string;
  readonly lift: string;
}

export class FlxSyntaxError extends Error {
  override readonly name = 'FlxSyntaxError';
  readonly expected: string;
  readonly found: string;
  /** From 1, both. */
  readonly line: number;
  readonly column: number;
  readonly #diagnostic: Diagnostic;

  constructor({ span, expected, found, lift }: SyntaxFault) {
    const diagnostic = flxSyntax(span, expected, found, lift);
    const { line, column } = positionAt(span.text, span.start);
    super(`${span.file}:${line}:${column}: ${diagnostic.message}`);
    this.#diagnostic = diagnostic;
    this.expected = expected;
    this.found = found;
    this.line = line;
    this.column = column;
  }

  /** No own property: it holds the whole text, which nobody wants to see where an uncaught error is shown. */
  get diagnostic(): Diagnostic {
    return this.#diagnostic;
  }
}
