/**
 * Source texts of modules. Once a module is lowered, little is asked of its text: words for labels and reasons. Where nobody
 * needs whole texts in the end, they are not kept, but read again when somebody asks, as they are a tenth of what a large
 * program takes.
 *
 * Reads: files.
 * Gives: their texts, the same each time.
 * Throws SourceChanged: the file is another one by now, and what was known of it is about one that is gone. Then all has to be done again.
 */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';

export class SourceChanged extends Error {}

/** Parts of one text are asked for together, and what calls each other in turns. */
const MOST_RECENT = 8;

/** What was written as short a time before it was read may be written once more, and look the same. */
const SETTLED_MS = 2_000;

interface Stamp {
  /** A pipe, for one, gives its text once. */
  readonly isFile: boolean;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
}

export interface ReadText {
  readonly text: string;
  /** The same text, later. */
  readonly again: () => string;
}

export class ModuleTexts {
  readonly #isKept: boolean;
  readonly #given: ReadonlyMap<string, string>;
  /** The last one that was read comes last. */
  readonly #recent = new Map<string, string>();

  readonly #now: number;

  /** `now`: when what is read is read; files count as old from there. */
  constructor(isKept: boolean, given: ReadonlyMap<string, string>, now = Date.now()) {
    this.#isKept = isKept;
    this.#given = given;
    this.#now = now;
  }

  read(file: string): ReadText {
    const given = this.#given.get(file);
    if (given !== undefined) return keep(withoutMark(given));
    const { text, stamp } = readStamped(file);
    const isSettled = this.#now - Math.max(stamp.mtimeMs, stamp.ctimeMs) > SETTLED_MS;
    return this.#isKept || !isSettled || !stamp.isFile ? keep(text) : { text, again: this.#readAgain(file, stamp) };
  }

  /** What it gives must not hold the text, so it is made where that is not in sight. */
  #readAgain(file: string, stamp: Stamp): () => string {
    return () => this.#recent.get(file) ?? this.#enter(file, readUnchanged(file, stamp));
  }

  #enter(file: string, text: string): string {
    const [oldest] = this.#recent.keys();
    if (oldest !== undefined && this.#recent.size === MOST_RECENT) this.#recent.delete(oldest);
    this.#recent.set(file, text);
    return text;
  }
}

function keep(text: string): ReadText {
  return { text, again: () => text };
}

function readUnchanged(file: string, stamp: Stamp): string {
  const { text, stamp: now } = readAgain(file);
  const isSame =
    now.size === stamp.size && now.mtimeMs === stamp.mtimeMs && now.ctimeMs === stamp.ctimeMs && now.ino === stamp.ino;
  if (!isSame) throw new SourceChanged(`${file} was changed while it was compiled`);
  return text;
}

function readAgain(file: string): { readonly text: string; readonly stamp: Stamp } {
  try {
    return readStamped(file);
  } catch {
    throw new SourceChanged(`${file} was taken away while it was compiled`);
  }
}

function readStamped(file: string): { readonly text: string; readonly stamp: Stamp } {
  const handle = openSync(file, 'r');
  try {
    // Before its text: who writes in between is noticed.
    const found = fstatSync(handle);
    const { size, mtimeMs, ctimeMs, ino } = found;
    return {
      text: withoutMark(readFileSync(handle, 'utf8')),
      stamp: { isFile: found.isFile(), size, mtimeMs, ctimeMs, ino },
    };
  } finally {
    closeSync(handle);
  }
}

/** A byte order mark is no part of the program. */
function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** From so many characters on a part of a string is a view of the whole, and holds it. */
const SHORTEST_VIEW = 13;

/** The same characters, without the text that they were taken from. */
export function apart(words: string): string {
  if (words.length < SHORTEST_VIEW) return words;
  // Half as long, where each character is one byte.
  const encoding = /[^\0-\xff]/.test(words) ? 'utf16le' : 'latin1';
  return Buffer.from(words, encoding).toString(encoding);
}
