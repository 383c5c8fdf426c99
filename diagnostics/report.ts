import { type FrameLine, frameLines } from './code-frame.js';
import { positionAt } from './position.js';
import type { Diagnostic, Severity, Span } from './types.js';

/**
 * Reads: a diagnostic.
 * Gives: its text for a terminal, without a newline at the end:
 *
 *     note analyzer/callback-unresolved: message; what lifts it
 *       app.js:12:21
 *       11 | ...
 */
export function printDiagnostic(diagnostic: Diagnostic, options: { readonly colour?: boolean } = {}): string {
  const paint = options.colour === true ? paintAnsi : paintNothing;
  const { code, severity, message, lift, span } = diagnostic;
  const words = lift === '' ? message : `${message}; ${lift}`;
  const head = `${paint(STYLES[severity], severity)} ${paint('dim', `${code}:`)} ${indentRest(words)}`;
  if (span === null) return head;
  const frame = frameLines(span).map((line) => `  ${paintFrameLine(line, paint, STYLES[severity])}`);
  return [head, `  ${printPlace(span)}`, ...frame].join('\n');
}

/** A span without text means the file as a whole. */
function printPlace(span: Span): string {
  if (span.text === '') return span.file;
  const { line, column } = positionAt(span.text, span.start);
  return `${span.file}:${line}:${column}`;
}

/** Messages of parsers and packages may have several lines. */
function indentRest(text: string): string {
  return text.trimEnd().replace(/\r?\n/g, '\n  ');
}

type Style = 'error' | 'warning' | 'note' | 'dim';
type Paint = (style: Style, text: string) => string;

const STYLES: { readonly [severity in Severity]: Style } = { error: 'error', warning: 'warning', note: 'note' };

const ANSI: { readonly [style in Style]: readonly [string, string] } = {
  error: ['\u001b[1;31m', '\u001b[0m'],
  warning: ['\u001b[1;33m', '\u001b[0m'],
  note: ['\u001b[1;36m', '\u001b[0m'],
  dim: ['\u001b[2m', '\u001b[0m'],
};

function paintAnsi(style: Style, text: string): string {
  const [on, off] = ANSI[style];
  return on + text + off;
}

function paintNothing(_style: Style, text: string): string {
  return text;
}

function paintFrameLine(line: FrameLine, paint: Paint, style: Style): string {
  switch (line.kind) {
    case 'marked':
      return paint(style, '>') + line.text.slice(1);
    case 'carets':
      return paint(style, line.text);
    case 'context':
      return paint('dim', line.text);
  }
}
