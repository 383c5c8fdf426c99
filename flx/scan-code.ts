/**
 * Reads: JavaScript text with placeholders, right or wrong, from an offset on.
 * Gives: for every line whether it begins in code, in a block comment or in the text of a literal; the placeholders;
 *        where the code ends; and the literal or comment that runs into that end, if there is one.
 *
 * Neither a parser nor its tokenizer would do: they refuse placeholders and text that is not valid. One pass, no
 * recursion, no going back; on wrong text it guesses, and guesses the same each time, which is all that printing and
 * parsing need to stay inverse.
 */
import * as c from './characters.js';
import type { StreamType } from './program.js';
import { BRACE, BRACKET, mayHaveRole, PAREN, SUBSTITUTION, SyntaxState } from './syntax-state.js';
import { isIdentifier } from './words.js';

export const LINE_IN_CODE = 0;
export const LINE_IN_COMMENT = 1;
/** Inside a template literal, or behind a `\` in a string: blanks at the beginning of the line have a meaning. */
export const LINE_IN_TEXT = 2;

export interface Placeholder {
  readonly type: StreamType;
  readonly id: string;
  readonly start: number;
  readonly end: number;
}

export interface OpenLiteral {
  readonly what: 'template literal' | 'block comment' | 'string';
  readonly start: number;
}

export interface CodeScan {
  /** One entry per line: its first offset, and one of the `LINE_IN_…` numbers. */
  readonly lineStarts: readonly number[];
  readonly lineKinds: readonly number[];
  readonly placeholders: readonly Placeholder[];
  readonly end: number;
  readonly open: OpenLiteral | null;
}

/**
 * Scans to the end of the text; with `stopAtColumnOne`, to the first line that begins in code and not with a blank,
 * where a block of flx text ends.
 */
export function scanCode(text: string, start = 0, stopAtColumnOne = false): CodeScan {
  const scanner = new CodeScanner(text, start, stopAtColumnOne);
  scanner.run();
  const { lineStarts, lineKinds, placeholders, limit, open } = scanner;
  return { lineStarts, lineKinds, placeholders, end: limit, open };
}

class CodeScanner {
  readonly lineStarts: number[];
  readonly lineKinds: number[] = [LINE_IN_CODE];
  readonly placeholders: Placeholder[] = [];
  open: OpenLiteral | null = null;
  limit: number;

  private pos: number;
  private readonly syntax = new SyntaxState();
  /** Where the template literals begin that are open. */
  private readonly templates: number[] = [];
  /** No regular expression ends between here and the end of the line. */
  private noRegexBefore = 0;

  constructor(
    private readonly text: string,
    start: number,
    private readonly stopAtColumnOne: boolean,
  ) {
    this.pos = start;
    this.limit = text.length;
    this.lineStarts = [start];
  }

  run(): void {
    this.hashbang();
    while (this.pos < this.limit) this.step();
  }

  private at(offset: number): number {
    return this.text.charCodeAt(offset);
  }

  private step(): void {
    const code = this.at(this.pos);
    if (code === c.SPACE || code === c.TAB) this.pos++;
    else if (code === c.LF) this.lineFeed();
    else if (c.isWordCharacter(code) || code === c.BACKSLASH) this.word(code);
    else this.punctuation(code);
  }

  private punctuation(code: number): void {
    switch (code) {
      case c.QUOTE:
      case c.DOUBLE_QUOTE:
        this.string(code);
        break;
      case c.BACKTICK:
        this.template();
        break;
      case c.SLASH:
        this.slash();
        break;
      case c.OPEN_PAREN:
        this.opens(PAREN);
        break;
      case c.OPEN_BRACKET:
        this.opens(BRACKET);
        break;
      case c.OPEN_BRACE:
        this.opens(BRACE);
        break;
      case c.CLOSE_PAREN:
        this.closes(PAREN);
        break;
      case c.CLOSE_BRACKET:
        this.closes(BRACKET);
        break;
      case c.CLOSE_BRACE:
        this.closeBrace();
        break;
      default:
        this.operator(code);
        break;
    }
  }

  private operator(code: number): void {
    switch (code) {
      case c.SEMICOLON:
        this.pos++;
        this.syntax.semicolonRead();
        break;
      case c.COMMA:
        this.pos++;
        this.syntax.separatorRead();
        break;
      case c.COLON:
        this.pos++;
        this.syntax.colonRead();
        break;
      case c.STAR:
        this.pos++;
        this.syntax.starRead();
        break;
      case c.QUESTION:
        this.question();
        break;
      case c.DOT:
        this.dot();
        break;
      case c.EQUALS:
        this.equals();
        break;
      case c.LESS:
        this.less();
        break;
      case c.GREATER:
        this.greater();
        break;
      case c.MINUS:
        this.minus();
        break;
      case c.PLUS:
        this.plus();
        break;
      default:
        this.otherCharacter(code);
        break;
    }
  }

  private otherCharacter(code: number): void {
    if (c.endsLine(code)) this.syntax.newline = true;
    if (code > c.SPACE && code < 128) this.syntax.operatorRead();
    this.pos++;
  }

  private simpleOperator(length: number): void {
    this.pos += length;
    this.syntax.operatorRead();
  }

  // Lines and comments ---------------------------------------------------------------------------------------------

  /** A new line begins at the scanner's place. */
  private line(kind: number): void {
    this.lineStarts.push(this.pos);
    this.lineKinds.push(kind);
  }

  private lineFeed(): void {
    this.pos++;
    this.syntax.newline = true;
    this.line(LINE_IN_CODE);
    const next = this.at(this.pos);
    if (this.stopAtColumnOne && !c.isBlank(next) && next !== c.LF) this.limit = this.pos;
  }

  private hashbang(): void {
    let offset = this.pos;
    while (c.isBlank(this.at(offset)) || this.at(offset) === c.LF) offset++;
    if (this.at(offset) !== c.HASH || this.at(offset + 1) !== c.BANG) return;
    while (this.pos < offset) this.step();
    if (this.pos < this.limit) this.lineComment();
  }

  private lineComment(): void {
    while (this.pos < this.limit && !c.endsLine(this.at(this.pos))) this.pos++;
  }

  private blockComment(): void {
    const start = this.pos;
    const close = this.text.indexOf('*/', start + 2);
    const end = close < 0 ? this.limit : close + 2;
    if (close < 0) this.open = { what: 'block comment', start };
    this.pos += 2;
    while (this.pos < end) {
      const code = this.at(this.pos++);
      if (code === c.LF) this.line(LINE_IN_COMMENT);
      if (c.endsLine(code)) this.syntax.newline = true;
    }
  }

  // Literals -------------------------------------------------------------------------------------------------------

  private string(quote: number): void {
    const start = this.pos++;
    while (this.pos < this.limit) {
      const code = this.at(this.pos);
      if (code === c.LF || code === c.CR) break;
      this.pos++;
      if (code === quote) break;
      if (code === c.BACKSLASH) this.escaped('string', start);
    }
    this.syntax.stringRead();
  }

  /** Behind a backslash in a string or template. */
  private escaped(what: OpenLiteral['what'], start: number): void {
    if (this.pos >= this.limit) {
      this.open = { what, start };
      return;
    }
    if (this.at(this.pos) === c.CR && this.at(this.pos + 1) === c.LF) this.pos++;
    if (this.at(this.pos++) === c.LF) this.line(LINE_IN_TEXT);
  }

  private template(): void {
    this.templates.push(this.pos++);
    this.templateText();
  }

  private templateText(): void {
    const start = this.templates[this.templates.length - 1] ?? this.pos;
    while (this.pos < this.limit) {
      const code = this.at(this.pos++);
      if (code === c.BACKTICK) {
        this.templates.pop();
        this.syntax.operandRead();
        return;
      }
      if (code === c.LF) this.line(LINE_IN_TEXT);
      else if (code === c.BACKSLASH) this.escaped('template literal', start);
      else if (code === c.DOLLAR && this.at(this.pos) === c.OPEN_BRACE) {
        this.opens(SUBSTITUTION);
        return;
      }
    }
    this.open = { what: 'template literal', start };
  }

  private slash(): void {
    const next = this.at(this.pos + 1);
    if (next === c.SLASH) this.lineComment();
    else if (next === c.STAR) this.blockComment();
    else if (this.syntax.operand && this.pos >= this.noRegexBefore) this.regex();
    else this.simpleOperator(1);
  }

  /** Flags are read as a word of their own. */
  private regex(): void {
    let inClass = false;
    for (let offset = this.pos + 1; offset < this.limit && !c.endsLine(this.at(offset)); offset++) {
      const code = this.at(offset);
      if (code === c.SLASH && !inClass) {
        this.pos = offset + 1;
        this.syntax.operandRead();
        return;
      }
      if (code === c.OPEN_BRACKET) inClass = true;
      else if (code === c.CLOSE_BRACKET) inClass = false;
      else if (code === c.BACKSLASH && !c.endsLine(this.at(offset + 1))) offset++;
      // Remembered, or a long line full of slashes would take quadratic time.
      this.noRegexBefore = offset;
    }
    this.simpleOperator(1);
  }

  // Punctuation ----------------------------------------------------------------------------------------------------

  private opens(kind: typeof PAREN | typeof BRACKET | typeof BRACE | typeof SUBSTITUTION): void {
    this.pos++;
    this.syntax.opened(kind);
  }

  private closes(kind: typeof PAREN | typeof BRACKET | typeof BRACE): void {
    this.pos++;
    this.syntax.closed(kind);
  }

  private closeBrace(): void {
    if (!this.syntax.insideSubstitution()) {
      this.closes(BRACE);
      return;
    }
    this.pos++;
    this.syntax.closed(SUBSTITUTION);
    this.templateText();
  }

  private question(): void {
    const next = this.at(this.pos + 1);
    if (next === c.QUESTION) this.simpleOperator(2);
    else if (next === c.DOT && !c.isDigit(this.at(this.pos + 2))) {
      this.pos += 2;
      this.syntax.memberDotRead();
    } else {
      this.pos++;
      this.syntax.questionRead();
    }
  }

  private dot(): void {
    if (c.isDigit(this.at(this.pos + 1))) this.number();
    else if (this.text.startsWith('...', this.pos)) this.simpleOperator(3);
    else {
      this.pos++;
      this.syntax.memberDotRead();
    }
  }

  private equals(): void {
    if (this.at(this.pos + 1) === c.GREATER) {
      this.pos += 2;
      this.syntax.arrowRead();
    } else {
      this.pos++;
      this.syntax.separatorRead();
    }
  }

  private less(): void {
    if (this.text.startsWith('<!--', this.pos)) this.lineComment();
    else this.simpleOperator(1);
  }

  private greater(): void {
    const isDouble = this.at(this.pos + 1) === c.GREATER;
    if (isDouble && this.syntax.operand && this.placeholder('start')) return;
    let end = this.pos + 1;
    // All of `>>>` at once: its second half is no placeholder.
    while (this.at(end) === c.GREATER) end++;
    this.simpleOperator(end - this.pos);
  }

  private minus(): void {
    const next = this.at(this.pos + 1);
    if (next === c.GREATER && this.placeholder('post')) return;
    if (next !== c.MINUS) this.simpleOperator(1);
    else if (this.syntax.newline && this.at(this.pos + 2) === c.GREATER) this.lineComment();
    else this.increment();
  }

  private plus(): void {
    if (this.at(this.pos + 1) === c.PLUS) this.increment();
    else this.simpleOperator(1);
  }

  private increment(): void {
    this.pos += 2;
    this.syntax.incrementRead();
  }

  private placeholder(type: StreamType): boolean {
    let start = this.pos + 2;
    while (c.isBlank(this.at(start))) start++;
    const end = this.wordEnd(start);
    const id = this.text.slice(start, end);
    if (!isIdentifier(id)) return false;
    this.placeholders.push({ type, id, start: this.pos, end });
    this.pos = end;
    this.syntax.operandRead();
    return true;
  }

  // Words ----------------------------------------------------------------------------------------------------------

  private wordEnd(start: number): number {
    let end = start;
    while (end < this.limit && c.isWordCharacter(this.at(end))) end++;
    return end;
  }

  private word(first: number): void {
    if (c.isDigit(first)) {
      this.number();
      return;
    }
    const start = this.pos;
    let end = this.wordEnd(start);
    while (this.at(end) === c.BACKSLASH) end = this.wordEnd(this.unicodeEscapeEnd(end));
    this.pos = end;
    if (mayHaveRole(first, end - start)) this.syntax.wordRead(this.text.slice(start, end));
    else this.syntax.operandRead();
  }

  private number(): void {
    while (c.isWordCharacter(this.at(this.pos)) || this.at(this.pos) === c.DOT) this.pos++;
    this.syntax.operandRead();
  }

  /** Behind `\u{…}`; behind the backslash alone where it is something else. */
  private unicodeEscapeEnd(backslash: number): number {
    if (!this.text.startsWith('u{', backslash + 1)) return backslash + 1;
    let end = backslash + 3;
    while (c.isHexDigit(this.at(end))) end++;
    return this.at(end) === c.CLOSE_BRACE ? end + 1 : backslash + 1;
  }
}
