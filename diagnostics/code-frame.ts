import { clampOffset, lineIndexAt, lineStarts } from './position.js';
import type { Span } from './types.js';

/**
 * Reads: a span.
 * Gives: the lines around its start, as text for a terminal: two lines before, one after, a caret under each character.
 *
 * Never throws, whatever the offsets. Lines of a minified file are cut to a window around the span; characters that
 * would disturb the terminal are replaced.
 */
export function codeFrame(span: Span): string {
  return frameLines(span)
    .map((line) => line.text)
    .join('\n');
}

export interface FrameLine {
  /** `marked`: part of the span; `carets`: the line under the first marked one. */
  readonly kind: 'context' | 'marked' | 'carets';
  readonly text: string;
}

const LINES_BEFORE = 2;
const LINES_AFTER = 1;
/** A span over many lines is shown by its first ones. */
const MARKED_LINES = 3;
/** Lines up to this length are shown whole. */
const WHOLE_LINE = 160;
const WINDOW = 120;
const WINDOW_BEFORE = 50;

export function frameLines(span: Span): readonly FrameLine[] {
  const { text } = span;
  if (text === '') return [];
  const starts = lineStarts(text);
  const start = clampOffset(text, span.start);
  const end = Math.max(start, clampOffset(text, span.end));
  const first = lineIndexAt(starts, start);
  const last = lineIndexAt(starts, Math.max(start, end - 1));
  const lastMarked = Math.min(last, first + MARKED_LINES - 1);
  const lastShown = Math.min(lastMarked === last ? last + LINES_AFTER : lastMarked, starts.length - 1);

  const firstLine = lineText(text, starts, first);
  const focus = Math.min(start - starts[first]!, firstLine.length);
  const view = chooseView(firstLine, focus);
  const numberWidth = String(lastShown + 1).length;

  const lines: FrameLine[] = [];
  for (let index = Math.max(0, first - LINES_BEFORE); index <= lastShown; index++) {
    const marked = index >= first && index <= lastMarked;
    const gutter = `${marked ? '>' : ' '} ${String(index + 1).padStart(numberWidth)} |`;
    const code = showWindow(lineText(text, starts, index), view);
    lines.push({ kind: marked ? 'marked' : 'context', text: code === '' ? gutter : `${gutter} ${code}` });
    if (index === first) {
      const carets = caretsUnder(firstLine, view, focus, end - starts[first]!);
      lines.push({ kind: 'carets', text: `  ${' '.repeat(numberWidth)} | ${carets}` });
    }
  }
  return lines;
}

function lineText(text: string, starts: readonly number[], index: number): string {
  const line = text.slice(starts[index]!, starts[index + 1] ?? text.length);
  return line.replace(/(?:\r\n|[\r\n\u2028\u2029])$/, '');
}

/** The columns that are shown, the same for all lines of a frame so that indentation stays comparable. */
interface View {
  readonly from: number;
  readonly to: number;
}

function chooseView(line: string, focus: number): View {
  if (line.length <= WHOLE_LINE) return { from: 0, to: WHOLE_LINE };
  const from = Math.max(0, Math.min(focus - WINDOW_BEFORE, line.length - WINDOW));
  return { from, to: from + WINDOW };
}

function showWindow(line: string, view: View): string {
  const [from, to] = cutPoints(line, view);
  const before = from > 0 && line !== '' ? '…' : '';
  const after = to < line.length ? '…' : '';
  return (before + printable(line.slice(from, to)) + after).trimEnd();
}

/** A cut never falls between the two halves of a surrogate pair. */
function cutPoints(line: string, view: View): readonly [number, number] {
  const whole = (at: number): number => (isLowSurrogate(line, at) && isHighSurrogate(line, at - 1) ? at - 1 : at);
  return [whole(Math.min(view.from, line.length)), whole(Math.min(view.to, line.length))];
}

function isLowSurrogate(line: string, at: number): boolean {
  return (line.charCodeAt(at) & 0xfc00) === 0xdc00;
}

function isHighSurrogate(line: string, at: number): boolean {
  return (line.charCodeAt(at) & 0xfc00) === 0xd800;
}

function caretsUnder(line: string, view: View, focus: number, end: number): string {
  const [from, to] = cutPoints(line, view);
  const indent = widthOf(line.slice(from, focus)) + (from > 0 ? 1 : 0);
  const carets = widthOf(line.slice(focus, Math.min(end, to)));
  return ' '.repeat(indent) + '^'.repeat(Math.max(1, carets));
}

const TAB = '  ';
const REPLACEMENT = '\u{fffd}';
// Two columns in a terminal: East Asian scripts, their punctuation, full-width forms, and emoji.
const WIDE =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]$/u;
// No column: combining marks, joiners, variation selectors, byte order mark.
const ZERO = /^[\p{M}\u200b-\u200f\u2060\ufeff]$/u;
// Characters that move the cursor or change its colour, and halves of surrogate pairs.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

function printable(text: string): string {
  return text.replaceAll('\ufeff', '').replaceAll('\t', TAB).replace(UNPRINTABLE, REPLACEMENT);
}

function widthOf(text: string): number {
  let width = 0;
  for (const character of printable(text)) width += WIDE.test(character) ? 2 : ZERO.test(character) ? 0 : 1;
  return width;
}
