/**
 * Reads: flx text outside of code, a word at a time, within one line.
 * Reports: FlxSyntaxError with what it expected and what it found.
 */
import { FlxSyntaxError } from './syntax-error.js';
import { identifierPattern, namePattern } from './words.js';

export class LineReader {
  pos = 0;
  private readonly identifiers = identifierPattern();
  private readonly names = namePattern();

  constructor(
    readonly text: string,
    private readonly file: string,
  ) {}

  atEndOfText(): boolean {
    return this.pos >= this.text.length;
  }

  atEndOfLine(): boolean {
    return this.atEndOfText() || this.text[this.pos] === '\n';
  }

  skipBlanks(): void {
    while (this.text[this.pos] === ' ' || this.text[this.pos] === '\t') this.pos++;
  }

  /** To the beginning of the next line that holds something. */
  skipBlankLines(): void {
    for (;;) {
      const lineStart = this.pos;
      this.skipBlanks();
      if (this.text[this.pos] === '\n') this.pos++;
      else {
        if (!this.atEndOfText()) this.pos = lineStart;
        return;
      }
    }
  }

  startsWith(token: string): boolean {
    return this.text.startsWith(token, this.pos);
  }

  /** Takes the token, and the blanks behind it, if it comes next. */
  take(token: string): boolean {
    if (!this.startsWith(token)) return false;
    this.pos += token.length;
    this.skipBlanks();
    return true;
  }

  /** The word at the beginning of a line, not taken; empty where there is none. */
  peekWord(): string {
    return this.match(this.identifiers) ?? '';
  }

  id(expected: string): string {
    const id = this.match(this.identifiers);
    if (id === null) throw this.fault(this.pos, expected, 'ids are names as JavaScript allows them for a variable');
    this.pos += id.length;
    this.skipBlanks();
    return id;
  }

  /** Names, one at least; quoted where they are no plain names. */
  nameList(expected: string): readonly string[] {
    return this.list(() => this.name(expected));
  }

  idList(expected: string): readonly string[] {
    return this.list(() => this.id(expected));
  }

  /** The names between brackets, none at all included; the opening bracket has been taken. */
  namesUpTo(close: string, what: string): readonly string[] {
    if (this.take(close)) return [];
    const open = this.pos;
    const names = this.nameList(`the name of a ${what}`);
    if (this.take(close)) return names;
    if (this.atEndOfLine() || open === this.pos) {
      throw this.fault(this.pos, `"," or "${close}"`, `close the list of names with "${close}" on the same line`);
    }
    throw this.fault(this.pos, `"," or "${close}"`, 'put a comma between names');
  }

  endOfLine(expected: string, lift: string): void {
    this.skipBlanks();
    if (!this.atEndOfLine()) throw this.fault(this.pos, expected, lift);
    this.pos++;
  }

  /** A JSON string; the next character is its opening quote. */
  quoted(expected: string): string {
    const end = this.closingQuote();
    const value = end < 0 ? null : parseJsonString(this.text.slice(this.pos, end));
    if (value === null) {
      throw this.fault(this.pos, expected, 'quoted words are written as in JSON: "my routes/users.js"');
    }
    this.pos = end;
    return value;
  }

  /** Everything up to the next blank. */
  bare(): string {
    const start = this.pos;
    while (!this.atEndOfLine() && this.text[this.pos] !== ' ' && this.text[this.pos] !== '\t') this.pos++;
    return this.text.slice(start, this.pos);
  }

  fault(start: number, expected: string, lift: string): FlxSyntaxError {
    const end = start + foundLength(this.text, start);
    return this.faultAt(start, end, expected, describeFound(this.text, start, end), lift);
  }

  faultAt(start: number, end: number, expected: string, found: string, lift: string): FlxSyntaxError {
    return new FlxSyntaxError({ span: { file: this.file, text: this.text, start, end }, expected, found, lift });
  }

  private name(expected: string): string {
    const name = this.startsWith('"') ? this.quoted(expected) : this.bareName(expected);
    this.skipBlanks();
    return name;
  }

  private bareName(expected: string): string {
    const name = this.match(this.names);
    if (name === null) throw this.fault(this.pos, expected, 'quote what is no plain name: "a name"');
    this.pos += name.length;
    return name;
  }

  private list(item: () => string): readonly string[] {
    const items = [item()];
    while (this.take(',')) items.push(item());
    return items;
  }

  private match(pattern: RegExp): string | null {
    pattern.lastIndex = this.pos;
    return pattern.exec(this.text)?.[0] ?? null;
  }

  private closingQuote(): number {
    for (let offset = this.pos + 1; offset < this.text.length; offset++) {
      const character = this.text[offset];
      if (character === '\n') return -1;
      if (character === '"') return offset + 1;
      if (character === '\\') offset++;
    }
    return -1;
  }
}

function parseJsonString(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}

const LONGEST_SHOWN = 40;

function foundLength(text: string, start: number): number {
  const rest = text.slice(start, start + LONGEST_SHOWN);
  const found = /^[\p{L}\p{N}_$.][\p{L}\p{N}_$.:/]*|^[-<>=~|+*/!]+|^[^\n]/u.exec(rest);
  return found === null ? 0 : found[0].length;
}

function describeFound(text: string, start: number, end: number): string {
  if (start >= text.length) return 'the end of the text';
  if (text[start] === '\n') return 'the end of the line';
  if (text[start] === '\t') return 'a tab';
  if (text[start] === ' ') return 'a space';
  if (text[start] === '"') return 'a double quote';
  return `"${text.slice(start, end)}"`;
}
