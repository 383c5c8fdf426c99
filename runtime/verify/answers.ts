/**
 * Reads: the bytes that a server sends on one connection.
 * Gives: answers as they were written: header names and their order, the pieces of a body, what came before which request.
 */

export interface Answer {
  /** `HTTP/1.1 200 OK`, and those of 1xx before it. */
  statusLines: string[];
  /** Name, value, name, value, … */
  headers: string[];
  trailers: string[];
  body: Buffer[];
  /** For each piece of the body how many requests had been sent in all when it came. */
  epochs: number[];
  framing: 'none' | 'length' | 'chunked' | 'close';
  /** `cut off`: the connection was closed in the middle; `refused`: before anything came. */
  state: 'waiting' | 'open' | 'complete' | 'cut off' | 'refused';
}

export function newAnswer(): Answer {
  return {
    ...{ statusLines: [], headers: [], trailers: [], body: [], epochs: [] },
    ...{ framing: 'none', state: 'waiting' },
  };
}

type Phase = 'head' | 'length' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailers' | 'close';

export class AnswerReader {
  #buffer = Buffer.alloc(0);
  #phase: Phase = 'head';
  #left = 0;
  readonly #expected: { readonly method: string; readonly answer: Answer }[] = [];

  /** `epoch` says how many requests have been sent in all. */
  constructor(readonly epoch: () => number) {}

  expect(method: string, answer: Answer): void {
    this.#expected.push({ method, answer });
  }

  get isIdle(): boolean {
    return this.#expected.length === 0;
  }

  take(bytes: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, bytes]);
    while (this.#expected.length > 0 && this.#step());
  }

  closed(): void {
    for (const { answer } of this.#expected) {
      const isWhole = this.#phase === 'close' && answer.state === 'open';
      answer.state = isWhole ? 'complete' : answer.state === 'waiting' ? 'refused' : 'cut off';
    }
    this.#expected.length = 0;
  }

  /** False: more bytes are needed. */
  #step(): boolean {
    const current = this.#expected[0];
    if (current === undefined) return false;
    const { answer } = current;
    switch (this.#phase) {
      case 'head':
        return this.#head(current.method, answer);
      case 'length':
        return this.#length(answer);
      case 'chunk-size':
        return this.#chunkSize();
      case 'chunk':
        return this.#chunk(answer);
      case 'chunk-end':
        return this.#line() !== null && this.#goTo('chunk-size');
      case 'trailers':
        return this.#trailers(answer);
      case 'close':
        return this.#piece(answer, this.#buffer.length);
    }
  }

  #head(method: string, answer: Answer): boolean {
    const end = this.#buffer.indexOf('\r\n\r\n');
    if (end === -1) return false;
    const [status = '', ...lines] = this.#cut(end + 4)
      .toString('latin1')
      .slice(0, -4)
      .split('\r\n');
    answer.statusLines.push(status);
    const code = Number(status.split(' ')[1]);
    const headers = lines.flatMap(headerOf);
    // Informational ones stand before the real one, on the way to it.
    if (code < 200 && code !== 101) {
      answer.statusLines.push(...lines);
      return true;
    }
    answer.headers = headers;
    answer.state = 'open';
    return this.#beginBody(method, code, answer);
  }

  #beginBody(method: string, code: number, answer: Answer): boolean {
    const length = headerValue(answer.headers, 'content-length');
    if (method === 'HEAD' || code === 204 || code === 304) return this.#end(answer);
    if (/\bchunked\b/i.test(headerValue(answer.headers, 'transfer-encoding') ?? '')) {
      answer.framing = 'chunked';
      return this.#goTo('chunk-size');
    }
    if (length === undefined) {
      answer.framing = 'close';
      return this.#goTo('close');
    }
    answer.framing = 'length';
    this.#left = Number(length);
    return this.#left === 0 ? this.#end(answer) : this.#goTo('length');
  }

  #length(answer: Answer): boolean {
    if (!this.#piece(answer, Math.min(this.#left, this.#buffer.length))) return false;
    this.#left -= answer.body.at(-1)?.length ?? 0;
    return this.#left === 0 ? this.#end(answer) : true;
  }

  #chunkSize(): boolean {
    const line = this.#line();
    if (line === null) return false;
    this.#left = Number.parseInt(line, 16);
    return this.#goTo(this.#left === 0 ? 'trailers' : 'chunk');
  }

  /** Whole, so that its length can be compared. */
  #chunk(answer: Answer): boolean {
    if (this.#buffer.length < this.#left) return false;
    this.#piece(answer, this.#left);
    return this.#goTo('chunk-end');
  }

  #trailers(answer: Answer): boolean {
    const line = this.#line();
    if (line === null) return false;
    if (line === '') return this.#end(answer);
    answer.trailers.push(...headerOf(line));
    return true;
  }

  #piece(answer: Answer, length: number): boolean {
    if (length === 0) return false;
    answer.body.push(this.#cut(length));
    answer.epochs.push(this.epoch());
    return true;
  }

  #end(answer: Answer): boolean {
    answer.state = 'complete';
    this.#expected.shift();
    return this.#goTo('head');
  }

  #goTo(phase: Phase): true {
    this.#phase = phase;
    return true;
  }

  #line(): string | null {
    const end = this.#buffer.indexOf('\r\n');
    return end === -1
      ? null
      : this.#cut(end + 2)
          .toString('latin1')
          .slice(0, -2);
  }

  #cut(length: number): Buffer {
    const cut = this.#buffer.subarray(0, length);
    this.#buffer = this.#buffer.subarray(length);
    return cut;
  }
}

function headerOf(line: string): string[] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

export function headerValue(headers: readonly string[], name: string): string | undefined {
  for (let at = 0; at < headers.length; at += 2) if (headers[at]?.toLowerCase() === name) return headers[at + 1];
  return undefined;
}
