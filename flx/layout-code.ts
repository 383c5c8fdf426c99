/**
 * Reads: code as it was cut out of a source file, or out of flx text.
 * Gives: its normal form, in which a fluxion holds it, and the indented form, in which flx text shows it.
 *
 * The normal form: lines end with LF; no blank lines at the beginning, no whitespace at the end; lines that hold
 * nothing but blanks are empty; no indentation that all lines have in common. Lines that begin inside a template
 * literal or behind a `\` in a string are left alone, because their blanks are part of a value; lines of a block
 * comment move along with the code around them. Code that ends inside a literal or comment is not JavaScript: it is
 * kept as it is, but for its line ends.
 */
import { isBlank, LF, SPACE } from './characters.js';
import { type CodeScan, LINE_IN_CODE, LINE_IN_COMMENT, LINE_IN_TEXT, scanCode } from './scan-code.js';

export const INDENTATION = '  ';

/** For the whole program; JavaScript reads CRLF and CR as LF, in template literals as well. */
export function normaliseLineEnds(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}

export function normaliseCode(code: string): string {
  const text = normaliseLineEnds(code);
  const scan = scanCode(text);
  return scan.open === null ? normaliseScanned(text, scan) : text;
}

/**
 * The normal form of a piece of source text. Where it begins in the middle of a line, the indentation of that line
 * (which the caller knows to begin at `lineStart`; looking for it takes long in minified files) counts as its own; else
 * its later lines would keep theirs.
 */
export function normaliseSlice(source: string, start: number, end: number, lineStart: number): string {
  const indentation = source.slice(lineStart, indentationEnd(source, lineStart, start));
  return normaliseCode(indentation + source.slice(start, end));
}

export function normaliseScanned(text: string, scan: CodeScan): string {
  const first = firstLineWithCode(text, scan);
  const indentation = commonIndentation(text, scan, first);
  const lines: string[] = [];
  for (let index = first; index < scan.lineStarts.length; index++) {
    const { start, end, kind } = lineAt(scan, index);
    if (kind === LINE_IN_TEXT) lines.push(text.slice(start, end));
    else if (isBlankLine(text, start, end)) lines.push('');
    else lines.push(text.slice(start + sharedLength(text, start, end, indentation), end));
  }
  return trimEnd(lines.join('\n'));
}

/** The reverse, for code in its normal form; its lines are those of the scan. */
export function indentScanned(code: string, scan: CodeScan): string {
  const lines: string[] = [];
  for (let index = 0; index < scan.lineStarts.length; index++) {
    const { start, end, kind } = lineAt(scan, index);
    const line = code.slice(start, end);
    lines.push(kind === LINE_IN_TEXT || line === '' ? line : INDENTATION + line);
  }
  return lines.join('\n');
}

/** The first line of code that does not begin with the indentation that flx text asks for; -1 where all do. */
export function unindentedLine(text: string, scan: CodeScan): number {
  for (let index = 0; index < scan.lineStarts.length; index++) {
    const { start, end, kind } = lineAt(scan, index);
    if (kind !== LINE_IN_CODE || text.charCodeAt(start) === SPACE) continue;
    if (!isBlankLine(text, start, end)) return start;
  }
  return -1;
}

interface Line {
  readonly start: number;
  readonly end: number;
  readonly kind: number;
}

function lineAt(scan: CodeScan, index: number): Line {
  const next = scan.lineStarts[index + 1];
  return {
    start: scan.lineStarts[index] ?? scan.end,
    end: next === undefined ? scan.end : next - 1,
    kind: scan.lineKinds[index] ?? LINE_IN_CODE,
  };
}

function firstLineWithCode(text: string, scan: CodeScan): number {
  let index = 0;
  for (; index < scan.lineStarts.length; index++) {
    const { start, end } = lineAt(scan, index);
    if (!isBlankLine(text, start, end)) break;
  }
  return index;
}

function commonIndentation(text: string, scan: CodeScan, first: number): string {
  let common: string | null = null;
  for (let index = first; index < scan.lineStarts.length && common !== ''; index++) {
    const { start, end, kind } = lineAt(scan, index);
    // A comment may hold code that was taken out at column 1; it does not keep the rest from moving.
    if (kind === LINE_IN_TEXT || kind === LINE_IN_COMMENT || isBlankLine(text, start, end)) continue;
    if (common === null) common = text.slice(start, indentationEnd(text, start, end));
    else common = common.slice(0, sharedLength(text, start, end, common));
  }
  return common ?? '';
}

function indentationEnd(text: string, start: number, end: number): number {
  let offset = start;
  while (offset < end && isBlank(text.charCodeAt(offset))) offset++;
  return offset;
}

function sharedLength(text: string, start: number, end: number, indentation: string): number {
  const most = Math.min(indentation.length, end - start);
  let length = 0;
  while (length < most && text.charCodeAt(start + length) === indentation.charCodeAt(length)) length++;
  return length;
}

function isBlankLine(text: string, start: number, end: number): boolean {
  return indentationEnd(text, start, end) >= end;
}

function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && (isBlank(text.charCodeAt(end - 1)) || text.charCodeAt(end - 1) === LF)) end--;
  return text.slice(0, end);
}
