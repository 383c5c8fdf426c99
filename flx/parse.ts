/**
 * Reads: flx text.
 * Gives: the program that it says, with code in its normal form.
 * Reports: FlxSyntaxError (flx/syntax), for the first thing in the text that is none of what may stand there.
 *
 * A block of code ends at the next line that begins at column 1, unless it begins there inside a literal or comment of
 * the code; that is why the code is scanned and not just split into lines.
 */
import { normaliseCode, normaliseLineEnds, normaliseScanned, unindentedLine } from './layout-code.js';
import { LineReader } from './line-reader.js';
import type { FlxFluxion, FlxModule, FlxProgram, Place, Placement, Stream } from './program.js';
import { type CodeScan, scanCode } from './scan-code.js';

const HEADER_FORM = 'a header is: flx id & tag, … {name, …} @ file.js:line:column home|group|replicated';
const STREAM_FORM = 'a stream is: >> id, … [name, …] or -> id, … [name, …]; a fluxion without any says -> null';
const CODE_FORM = 'code is indented by two spaces; what stands at column 1 is a header or a stream';

export function parseFlx(text: string, file = 'flx text'): FlxProgram {
  return new FlxParser(normaliseLineEnds(text.replace(/^\uFEFF/, '')), file).program();
}

interface Annotation {
  readonly at: Place | null;
  readonly placement: Placement | null;
}

class FlxParser {
  private readonly reader: LineReader;
  private readonly fluxions: FlxFluxion[] = [];
  private readonly modules: FlxModule[] = [];
  /** Where each id was first given, by kind and id. */
  private readonly definitions = new Map<string, number>();

  constructor(
    private readonly text: string,
    file: string,
  ) {
    this.reader = new LineReader(text, file);
  }

  program(): FlxProgram {
    for (;;) {
      this.reader.skipBlankLines();
      if (this.reader.atEndOfText()) return { fluxions: this.fluxions, modules: this.modules };
      this.block();
    }
  }

  private block(): void {
    const reader = this.reader;
    if (this.atFluxion()) this.fluxions.push(this.fluxion());
    else if (this.atModule()) this.modules.push(this.module());
    else if (this.definitions.size === 0) {
      reader.skipBlanks();
      throw reader.fault(reader.pos, '"flx <id>" or "module <path>"', 'flx text begins with the header of a fluxion');
    } else throw this.strayLine();
  }

  private atFluxion(): boolean {
    return this.reader.peekWord() === 'flx';
  }

  /** `module.exports` is code that lost its indentation. */
  private atModule(): boolean {
    return this.reader.peekWord() === 'module' && /^[ \t\n"]?$/.test(this.text.charAt(this.reader.pos + 6));
  }

  private strayLine(): Error {
    const { reader } = this;
    if (reader.startsWith('>>') || reader.startsWith('->')) {
      return reader.fault(reader.pos, 'code, or the header of the next block', 'streams stand before the code');
    }
    return reader.fault(reader.pos, 'indented code, "flx <id>" or "module <path>"', CODE_FORM);
  }

  // Headers --------------------------------------------------------------------------------------------------------

  private fluxion(): FlxFluxion {
    const { reader } = this;
    reader.take('flx');
    const start = reader.pos;
    const id = reader.id('the id of a fluxion');
    if (id === 'null')
      throw reader.fault(start, 'the id of a fluxion', '"null" stands for no stream; name it otherwise');
    this.define('fluxion', id, start);
    const tags = reader.take('&') ? reader.nameList('a group tag') : [];
    const context = reader.take('{') ? reader.namesUpTo('}', 'context variable') : [];
    const { at, placement } = reader.take('@') ? this.annotation() : { at: null, placement: null };
    reader.endOfLine(headerMayGoOn(tags, context, at, placement), HEADER_FORM);
    const streams = this.streams();
    return { id, tags, context, streams, at, placement, code: this.code() };
  }

  private module(): FlxModule {
    const { reader } = this;
    reader.take('module');
    const start = reader.pos;
    if (reader.atEndOfLine()) throw reader.fault(start, 'the path of a module', 'as in: module routes/users.js');
    const id = reader.startsWith('"') ? reader.quoted('the path of a module') : reader.bare();
    this.define('module', id, start);
    reader.endOfLine('the end of the line', 'quote a path with blanks in it: module "my routes/users.js"');
    return { id, code: this.code() };
  }

  private define(kind: 'fluxion' | 'module', id: string, start: number): void {
    const key = `${kind} ${id}`;
    const first = this.definitions.get(key);
    if (first !== undefined) {
      const line = this.text.slice(0, first).split('\n').length;
      const found = `a second "${id}" (the first is on line ${line})`;
      const lift = `give each ${kind} ${kind === 'fluxion' ? 'an id' : 'a path'} of its own`;
      throw this.reader.faultAt(start, this.reader.pos, `a new ${kind}`, found, lift);
    }
    this.definitions.set(key, start);
  }

  private annotation(): Annotation {
    const { reader } = this;
    const placement = this.placement();
    if (placement !== null) return { at: null, placement };
    const at = this.place();
    reader.skipBlanks();
    return { at, placement: this.placement() };
  }

  private placement(): Placement | null {
    const { reader } = this;
    const start = reader.pos;
    const word = reader.bare();
    if (word === 'home' || word === 'group' || word === 'replicated') return word;
    reader.pos = start;
    return null;
  }

  private place(): Place {
    const { reader } = this;
    const start = reader.pos;
    const expected = 'file.js:line:column, or one of home, group, replicated';
    const quoted = reader.startsWith('"') ? reader.quoted(expected) : null;
    const match = /^(.*):(\d+):(\d+)$/su.exec(reader.bare());
    const [line, column] = [Number(match?.[2]), Number(match?.[3])];
    const bare = match?.[1] || null;
    const module = quoted ?? bare;
    if (module === null || (quoted !== null && bare !== null) || !isCount(line) || !isCount(column)) {
      throw reader.fault(start, expected, 'lines and columns count from 1; a path with blanks or colons is quoted');
    }
    return { module, line, column };
  }

  // Streams --------------------------------------------------------------------------------------------------------

  private streams(): readonly Stream[] {
    const { reader } = this;
    const streams: Stream[] = [];
    let none = false;
    for (;;) {
      reader.skipBlankLines();
      const start = reader.pos;
      if (!this.atStream()) break;
      const stream = this.stream();
      if (none || (stream === null && streams.length > 0)) {
        throw reader.fault(start, 'code', '"null" says that there are no streams; remove it or the streams');
      }
      if (stream === null) none = true;
      else streams.push(stream);
    }
    if (!none && streams.length === 0) throw this.missingStream();
    return streams;
  }

  private atStream(): boolean {
    const { reader } = this;
    if (reader.startsWith('>>') || reader.startsWith('->') || reader.peekWord() === 'null') return true;
    const character = this.text.charAt(reader.pos);
    if (!/^[-<>=~|+*]$/.test(character)) return false;
    throw reader.fault(reader.pos, 'the arrow of a stream, ">>" (start) or "->" (post)', STREAM_FORM);
  }

  private missingStream(): Error {
    const { reader } = this;
    const start = reader.pos;
    reader.skipBlanks();
    const indented = reader.pos > start && (reader.startsWith('>>') || reader.startsWith('->'));
    const lift = indented ? 'streams begin at column 1' : STREAM_FORM;
    return reader.fault(reader.pos, 'a stream or "-> null"', lift);
  }

  /** Null for `-> null`. */
  private stream(): Stream | null {
    const { reader } = this;
    const type = reader.take('>>') ? 'start' : 'post';
    if (type === 'post') reader.take('->');
    if (reader.peekWord() === 'null') {
      reader.take('null');
      reader.endOfLine('the end of the line', '"null" stands alone');
      return null;
    }
    const dest = reader.idList('the id of a fluxion, or null');
    const hasMessage = reader.take('[');
    const message = hasMessage ? reader.namesUpTo(']', 'variable') : [];
    reader.endOfLine(hasMessage ? 'the end of the line' : '",", "[" or the end of the line', STREAM_FORM);
    return { type, dest, message };
  }

  // Code -----------------------------------------------------------------------------------------------------------

  private code(): string {
    const { reader } = this;
    reader.skipBlankLines();
    if (reader.atEndOfText() || /^[^ \t]$/.test(this.text.charAt(reader.pos))) return '';
    const start = reader.pos;
    reader.skipBlanks();
    const verbatim = reader.startsWith('|');
    reader.pos = start;
    return verbatim ? this.verbatimCode() : this.scannedCode();
  }

  private scannedCode(): string {
    const { reader } = this;
    const scan = scanCode(this.text, reader.pos, true);
    this.checkCode(scan);
    reader.pos = scan.end;
    return normaliseScanned(this.text, scan);
  }

  private checkCode(scan: CodeScan): void {
    const { reader } = this;
    const unindented = unindentedLine(this.text, scan);
    if (unindented >= 0) {
      const lift = 'put two spaces in front of the line; behind them, tabs are part of the code';
      throw reader.fault(unindented, 'code that is indented by two spaces', lift);
    }
    if (scan.open === null) return;
    const { what, start } = scan.open;
    const lift = `the ${what} that begins here is never closed, so the rest of the text would belong to it`;
    throw reader.faultAt(start, start + 1, `the end of the ${what}`, 'the end of the text', lift);
  }

  private verbatimCode(): string {
    const { reader } = this;
    const lines: string[] = [];
    for (;;) {
      const lineStart = reader.pos;
      reader.skipBlanks();
      if (reader.pos === lineStart || !reader.startsWith('|')) {
        reader.pos = lineStart;
        break;
      }
      const end = this.text.indexOf('\n', reader.pos);
      const line = this.text.slice(reader.pos + 1, end < 0 ? undefined : end);
      lines.push(line.startsWith(' ') ? line.slice(1) : line);
      reader.pos = end < 0 ? this.text.length : end + 1;
    }
    this.checkVerbatimEnd();
    return normaliseCode(lines.join('\n'));
  }

  private checkVerbatimEnd(): void {
    const { reader } = this;
    reader.skipBlankLines();
    const start = reader.pos;
    reader.skipBlanks();
    if (reader.pos > start && !reader.atEndOfLine()) {
      throw reader.fault(reader.pos, '"|"', 'code whose first line begins with a bar has one before each line');
    }
    reader.pos = start;
  }
}

function isCount(number: number): boolean {
  return Number.isSafeInteger(number) && number >= 1;
}

function headerMayGoOn(
  tags: readonly string[],
  context: readonly string[],
  at: Place | null,
  placement: Placement | null,
): string {
  const end = 'the end of the line';
  if (placement !== null) return end;
  if (at !== null) return `home, group, replicated or ${end}`;
  if (context.length > 0) return `"@" or ${end}`;
  return tags.length > 0 ? `",", "{", "@" or ${end}` : `"&", "{", "@" or ${end}`;
}
