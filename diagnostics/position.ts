/**
 * Lines and columns of offsets. A line ends where ECMAScript says that it does (CR, LF, CRLF, U+2028, U+2029), so the
 * numbers agree with those of the parser.
 */
export interface Position {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
}

/** The offset at which each line begins. */
type LineStarts = readonly number[];

// Many diagnostics in a row are about the same file, which may be megabytes long; its lines are counted once.
let lastText = '';
let lastStarts: LineStarts = [0];

export function lineStarts(text: string): LineStarts {
  if (text === lastText) return lastStarts;
  const starts = [0];
  for (const end of text.matchAll(/\r\n?|[\n\u2028\u2029]/g)) starts.push(end.index + end[0].length);
  lastText = text;
  lastStarts = starts;
  return starts;
}

export function positionAt(text: string, offset: number): Position {
  const starts = lineStarts(text);
  const at = clampOffset(text, offset);
  const line = lineIndexAt(starts, at);
  return { line: line + 1, column: at - starts[line]! + 1 };
}

/** The reverse of `positionAt`; what lies outside the text gives the nearest offset inside. */
export function offsetAt(text: string, line: number, column: number): number {
  const starts = lineStarts(text);
  const index = Math.min(Math.max(Math.trunc(line) || 1, 1), starts.length) - 1;
  const end = starts[index + 1] ?? text.length;
  return Math.min(Math.max(starts[index]! + (Math.trunc(column) || 1) - 1, starts[index]!), end);
}

/** Index (from 0) of the line in which the offset lies. */
export function lineIndexAt(starts: LineStarts, offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Offsets come from parsers and stack traces; whatever they say, the result lies inside the text. */
export function clampOffset(text: string, offset: number): number {
  if (Number.isNaN(offset)) return 0;
  return Math.min(Math.max(Math.trunc(offset), 0), text.length);
}
