/**
 * Lines of a terminal: rows whose cells stand under each other, and sentences that are wrapped.
 */
import { displayText } from './graph-text.js';

export type Line =
  | { readonly kind: 'row'; readonly cells: readonly [string, string, string, string] }
  /** `first` stands before the text, and the lines behind the first are indented to match. */
  | { readonly kind: 'text'; readonly first: string; readonly text: string };

export const BLANK: Line = { kind: 'text', first: '', text: '' };

export function row(first: string, second: string, third: string, fourth = ''): Line {
  return { kind: 'row', cells: [first, second, third, fourth] };
}

export function text(content: string, first = ''): Line {
  return { kind: 'text', first, text: content };
}

const WIDTH = 100;
/** A cell that is wider than its column may be pushes the rest of its row to the right. */
const WIDEST = [36, 24, 26] as const;
const GAP = '  ';
const LEAST = 16;

export function renderLines(lines: readonly Line[]): string {
  const widths = WIDEST.map((widest, column) => Math.min(widest, widestCell(lines, column)));
  const rendered = lines.map((line) => (line.kind === 'row' ? renderRow(line.cells, widths) : wrap(line)));
  return `${rendered.join('\n').replace(/\n+$/, '')}\n`;
}

function widestCell(lines: readonly Line[], column: number): number {
  let widest = 0;
  for (const line of lines) {
    if (line.kind === 'row') widest = Math.max(widest, lengthOf(clean(line.cells[column] ?? '')));
  }
  return widest;
}

/** The last cell is the least important one; it gives way where the line would be too long. */
function renderRow(cells: readonly string[], widths: readonly number[]): string {
  let line = '';
  for (const [column, width] of widths.entries()) line += pad(clean(cells[column] ?? ''), width) + GAP;
  const last = clean(cells[widths.length] ?? '');
  const room = Math.max(LEAST, WIDTH - lengthOf(line));
  return (line + (lengthOf(last) <= room ? last : `${[...last].slice(0, room - 3).join('')}...`)).trimEnd();
}

function pad(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - lengthOf(cell)));
}

function wrap({ first, text: content }: { readonly first: string; readonly text: string }): string {
  const indent = ' '.repeat(lengthOf(first));
  const lines: string[] = [];
  let line = first;
  for (const word of clean(content).split(' ')) {
    const isStart = line === first || line === indent;
    if (!isStart && lengthOf(line) + 1 + lengthOf(word) > WIDTH) {
      lines.push(line.trimEnd());
      line = indent + word;
    } else line += isStart ? word : ` ${word}`;
  }
  lines.push(line.trimEnd());
  return lines.join('\n');
}

/** Names and messages come from the app: nothing in them may move the cursor or begin a line. */
function clean(content: string): string {
  return displayText(content);
}

function lengthOf(content: string): number {
  let length = 0;
  for (const _ of content) length += 1;
  return length;
}
