/**
 * Reads: an answer of the original and one of the compiled program, or their output.
 * Gives: the first thing in which they differ, beyond what legitimately does: the time, ports, process numbers, UUIDs, what
 *        the rules of the requests' file name, and the depth of stack traces.
 */
import type { Answer } from './answers.js';
import type { Rules } from './requests-file.js';
import type { Side } from './side.js';

export interface Difference {
  readonly what: string;
  readonly original: string;
  readonly compiled: string;
}

/** Headers that follow from the body's bytes. */
const OF_BODY: ReadonlySet<string> = new Set(['etag', 'content-length', 'content-md5', 'digest', 'repr-digest']);

/** Headers that say how long something took. */
const TIMINGS: ReadonlySet<string> = new Set(['x-response-time', 'server-timing', 'x-runtime']);

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;
/** Signed random names, as sessions have them in their cookies. */
const SIGNED = /\bs(?:%3A|:)[\w-]{24,}\.[\w%+/-]+/g;
/** Frames of a trace below the first: on another loop fewer functions may have called. */
const FRAME = String.raw`(?:\s|&nbsp;)+at (?:[^\n<\\]|<anonymous>)*`;
const FRAMES = new RegExp(`((?:\\n|<br>|\\\\n|<li>)${FRAME})(?:(?:\\n|<br>|\\\\n|</li><li>)${FRAME})+`, 'g');
const DATE =
  /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d GMT\b|\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?|\b1\d{9}(?:\d{3})?\b|\b\d?\d:\d\d:\d\d(?:\.\d+)?\b/g;
const CLOCK = /^(\d+):(\d+):([\d.]+)$/;
/** How long something took, as loggers write it. */
const DURATION = /\b\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s)\b/g;

const SAME_TIME_MS = 60_000;
const DAY_MS = 86_400_000;

export class Comparison {
  readonly #rules: Rules;
  readonly #original: Side;
  readonly #compiled: Side;

  constructor(rules: Rules, original: Side, compiled: Side) {
    this.#rules = rules;
    this.#original = original;
    this.#compiled = compiled;
  }

  answers(original: Answer, compiled: Answer): Difference | null {
    return (
      this.#texts('the state of the answer', original.state, compiled.state) ??
      this.#lists('the status line', original.statusLines, compiled.statusLines) ??
      this.#headers(original, compiled) ??
      this.#bodies(original, compiled) ??
      this.#lists('the trailers', pairs(original.trailers), pairs(compiled.trailers)) ??
      this.#pieces(original, compiled)
    );
  }

  outputs(): Difference | null {
    const [a, b] = [this.#original, this.#compiled];
    return (
      this.#texts('standard output', withoutDurations(a.stdout), withoutDurations(b.stdout)) ??
      this.#texts('standard error', withoutDurations(a.stderr), withoutDurations(b.stderr)) ??
      this.#texts('the exit', exitText(a), exitText(b))
    );
  }

  #headers(original: Answer, compiled: Answer): Difference | null {
    // Where a body differs in what may differ, its length and its fingerprint do.
    const isSameBody = Buffer.concat(original.body).equals(Buffer.concat(compiled.body));
    const shown = ({ headers }: Answer): string[] =>
      pairs(headers).map((line) => {
        const name = line.slice(0, line.indexOf(':'));
        const lower = name.toLowerCase();
        const isFree = this.#rules.ignoreHeaders.includes(lower) || (!isSameBody && OF_BODY.has(lower));
        if (isFree) return `${name}: (any)`;
        return TIMINGS.has(lower) ? withoutDurations(line) : line;
      });
    return this.#lists('the headers', shown(original), shown(compiled));
  }

  #bodies(original: Answer, compiled: Answer): Difference | null {
    const [a, b] = [Buffer.concat(original.body), Buffer.concat(compiled.body)];
    if (a.equals(b)) return null;
    // Bytes that are no text have nothing to mask.
    if (isText(a) && isText(b)) return this.#texts('the body', a.toString(), b.toString());
    const at = a.findIndex((byte, index) => byte !== b[index]);
    const from = Math.max(0, (at === -1 ? Math.min(a.length, b.length) : at) - 8);
    const hex = (bytes: Buffer): string => `${bytes.subarray(from, from + 24).toString('hex')} (${bytes.length} bytes)`;
    return { what: `the body, from byte ${from} on`, original: hex(a), compiled: hex(b) };
  }

  /** In which pieces it came, and which of them before which request. */
  #pieces(original: Answer, compiled: Answer): Difference | null {
    if (!this.#rules.chunks || original.framing !== 'chunked') return null;
    const isSameLength = Buffer.concat(original.body).length === Buffer.concat(compiled.body).length;
    const text = ({ body, epochs }: Answer): string =>
      body.map((piece, at) => `${isSameLength ? piece.length : '?'} bytes after request ${epochs[at]}`).join('\n');
    return this.#texts('the pieces of the body', text(original), text(compiled));
  }

  #lists(what: string, original: readonly string[], compiled: readonly string[]): Difference | null {
    return this.#texts(what, original.join('\n'), compiled.join('\n'));
  }

  #texts(what: string, original: string, compiled: string): Difference | null {
    if (original === compiled) return null;
    const a = this.#masked(original, this.#original);
    const b = this.#masked(compiled, this.#compiled);
    if (a === b || isSameButForTime(a, b)) return null;
    return { what, ...firstLines(a, b) };
  }

  #masked(text: string, side: Side): string {
    let masked = text;
    for (const mask of this.#rules.masks) masked = masked.replace(mask, '(masked)');
    if (this.#rules.uuids) masked = masked.replace(UUID, '(uuid)');
    masked = masked.replace(SIGNED, '(signed)').replace(FRAMES, '$1');
    masked = masked.replace(new RegExp(`\\b${side.pid}\\b`, 'g'), '(pid)');
    for (const port of side.ports) masked = masked.replace(new RegExp(`\\b${port}\\b`, 'g'), '(port)');
    return masked;
  }
}

function isSameButForTime(a: string, b: string): boolean {
  if (a.replace(DATE, '(date)') !== b.replace(DATE, '(date)')) return false;
  const times = (text: string): number[] => [...text.matchAll(DATE)].map(([date]) => timeOf(date));
  const [one, other] = [times(a), times(b)];
  return one.every((time, at) => {
    const apart = Math.abs(time - (other[at] ?? 0));
    return apart < SAME_TIME_MS || (time < DAY_MS && Math.abs(apart - DAY_MS) < SAME_TIME_MS);
  });
}

/** `GET / 200 1.290 ms - 12`; `X-Response-Time: 1.290ms` */
function withoutDurations(text: string): string {
  return text.replace(DURATION, '(duration)').replace(/^(X-Runtime: )[\d.]+$/i, '$1(duration)');
}

/** Also in seconds or milliseconds since 1970, or as the time of a day. */
function timeOf(date: string): number {
  const clock = CLOCK.exec(date);
  if (clock !== null) return (Number(clock[1]) * 3600 + Number(clock[2]) * 60 + Number(clock[3])) * 1000;
  if (!/^\d+$/.test(date)) return Date.parse(date);
  return date.length === 10 ? Number(date) * 1000 : Number(date);
}

/** The first line that differs, and one around it. */
function firstLines(a: string, b: string): Pick<Difference, 'original' | 'compiled'> {
  const [left, right] = [a.split('\n'), b.split('\n')];
  const at =
    firstUnlike(left, right, (line) => line.replace(DATE, '')) ?? firstUnlike(left, right, (line) => line) ?? 0;
  const from = Math.max(0, at - 1);
  const excerpt = (lines: readonly string[]): string =>
    lines
      .slice(from, at + 3)
      .map((line) => shortened(line, columnOf(left[at] ?? '', right[at] ?? '')))
      .join('\n');
  return { original: excerpt(left), compiled: excerpt(right) };
}

/** Times differ all over; what differs beside them is of more interest. */
function firstUnlike(a: readonly string[], b: readonly string[], shown: (line: string) => string): number | null {
  const isUnlike = (line: string | undefined, other: string | undefined): boolean =>
    line === undefined || other === undefined ? line !== other : shown(line) !== shown(other);
  const longer = a.length > b.length ? a : b;
  const at = longer.findIndex((_, index) => isUnlike(a[index], b[index]));
  return at === -1 ? null : at;
}

function columnOf(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

const WIDTH = 160;

function shortened(line: string, column: number): string {
  if (line.length <= WIDTH) return line;
  const from = Math.max(0, column - WIDTH / 2);
  return `${from > 0 ? '…' : ''}${line.slice(from, from + WIDTH)}${from + WIDTH < line.length ? '…' : ''}`;
}

function pairs(headers: readonly string[]): string[] {
  return headers.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${headers[at + 1]}`] : []));
}

function isText(bytes: Buffer): boolean {
  return Buffer.from(bytes.toString()).equals(bytes);
}

function exitText({ exit }: Side): string {
  if (exit === null) return 'it does not end';
  return exit.signal === null ? `code ${exit.code}` : `signal ${exit.signal}`;
}
