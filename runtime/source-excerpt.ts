/**
 * Reads: the stack of an error that nobody caught, as text.
 * Gives: the line in which it was made, as Node shows it; null where it cannot be read.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export function excerptOf(stack: string, isThrown: boolean): string | null {
  const place = /^\s+at (?:.*\()?((?:file:\/\/|\/|[A-Za-z]:\\).*):(\d+):(\d+)\)?$/.exec(topFrame(stack) ?? '');
  if (place === null) return null;
  const [, file = '', number, column] = place;
  const line = lineOf(file, Number(number));
  if (line === null) return null;
  const before = line.slice(0, Number(column) - 1);
  // Of an error that is made where it is thrown Node shows where that begins, of a promise's where the error does.
  const thrown = isThrown ? /\bthrow\s+$/.exec(before) : null;
  const caret = before.slice(0, thrown === null ? before.length : thrown.index).replace(/[^\t]/g, ' ');
  return `${file}:${number}\n${line}\n${caret}^\n`;
}

/** Built-in functions of the language have no place. */
function topFrame(stack: string): string | undefined {
  return stack.split('\n').find((line) => /^\s+at /.test(line) && !line.endsWith('(<anonymous>)'));
}

function lineOf(file: string, number: number): string | null {
  try {
    const text = readFileSync(file.startsWith('file:') ? fileURLToPath(file) : file, 'utf8');
    return text.split('\n')[number - 1]?.replace(/\r$/, '') ?? null;
  } catch {
    return null;
  }
}
