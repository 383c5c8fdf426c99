/**
 * Reads:   a file of requests: lines of JSON, recorded by `fluxion run --record` or written by hand.
 * Gives:   the requests in the order in which they began, and what is to be left out of the comparison.
 * Reports: verify/bad-requests, as BadInput, with the line.
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { BadInput } from '../../diagnostics/bad-input.js';
import { badRequests } from '../../diagnostics/catalogue.js';
import { systemErrorWords } from '../../diagnostics/system-error.js';
import type { Span } from '../../diagnostics/types.js';

export type RecordedBody = string | { readonly base64: string };

/** One request, as it stands in the file. All but `url` may be left out. */
export interface RequestLine {
  readonly method: string;
  readonly url: string;
  /** Name, value, name, value, … */
  readonly headers: readonly string[];
  readonly body?: RecordedBody;
  readonly trailers?: readonly string[];
  /** Requests with the same number go by one connection; those without one each by their own. */
  readonly connection?: number;
  /** Sent without waiting for the answer before it on its connection. */
  readonly pipelined?: boolean;
  /** Which of the app's servers, in the order in which they listen; 0 is the first. */
  readonly server?: number;
  readonly id?: number;
}

/** What the answer to a recorded request has set: a client that sends it back means what it was given. */
export interface CookiesLine {
  readonly answer: number;
  readonly setCookies: readonly string[];
}

export interface Rules {
  /** Headers of answers that may differ, in lower case. */
  readonly ignoreHeaders: readonly string[];
  /** What these match, in headers, bodies and output, counts as the same. */
  readonly masks: readonly RegExp[];
  /** May UUIDs differ? */
  readonly uuids: boolean;
  /** Must bodies that are sent in pieces be sent in the same pieces? */
  readonly chunks: boolean;
}

export interface RequestToSend extends RequestLine {
  readonly line: number;
  readonly body: RecordedBody;
  readonly server: number;
  readonly setCookies: readonly string[];
}

export interface RequestsFile {
  readonly requests: readonly RequestToSend[];
  readonly rules: Rules;
}

export const NO_RULES: Rules = { ignoreHeaders: [], masks: [], uuids: true, chunks: true };

export function readRequestsFile(file: string, cwd: string): RequestsFile {
  return parseRequests(readText(file), relative(cwd, file) || file);
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new BadInput(badRequests(`the file ${file} cannot be read: ${systemErrorWords(error)}`, null));
  }
}

export function parseRequests(text: string, file: string): RequestsFile {
  const requests: RequestToSend[] = [];
  const cookies = new Map<number, readonly string[]>();
  let rules = NO_RULES;
  let start = 0;
  for (const [index, line] of text.split('\n').entries()) {
    const end = start + line.trimEnd().length;
    const read = new LineReader({ file, text, start, end });
    start += line.length + 1;
    if (line.trim() === '') continue;
    const value = read.parse(line);
    if ('rules' in value) rules = read.rules(value.rules, rules);
    else if ('answer' in value) cookies.set(Number(value.answer), read.texts(value.setCookies, 'setCookies'));
    else requests.push(read.request(value, index + 1));
  }
  if (requests.length === 0) throw new BadInput(badRequests(`there is no request in ${file}`, null));
  const known = requests.map((request) => ({ ...request, setCookies: cookies.get(request.id ?? -1) ?? [] }));
  return { requests: inOrder(known), rules };
}

/** Those without a number stay where they are. */
function inOrder(requests: readonly RequestToSend[]): readonly RequestToSend[] {
  return requests.every(({ id }) => id !== undefined)
    ? [...requests].sort((a, b) => (a.id ?? 0) - (b.id ?? 0))
    : requests;
}

type Json = { readonly [name: string]: unknown };

const KNOWN = new Set(['id', 'method', 'url', 'headers', 'body', 'trailers', 'connection', 'pipelined', 'server']);

class LineReader {
  constructor(readonly span: Span) {}

  parse(line: string): Json {
    try {
      const value: unknown = JSON.parse(line);
      if (isJson(value)) return value;
    } catch (error) {
      this.fail(`this line is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
    }
    return this.fail('this line is not an object');
  }

  request(value: Json, line: number): RequestToSend {
    const unknown = Object.keys(value).find((name) => !KNOWN.has(name));
    if (unknown !== undefined) this.fail(`a request has no "${unknown}", but ${[...KNOWN].join(', ')}`);
    const { url, method = 'GET', body = '', trailers, connection, pipelined, server, id } = value;
    if (typeof url !== 'string' || !/^(\/|\*$|https?:)[^\s]*$/.test(url))
      this.fail('"url" must be a path, as "/users?page=2"');
    if (typeof method !== 'string' || !/^[A-Za-z-]+$/.test(method)) this.fail('"method" must be a word, as "POST"');
    return {
      ...{ method, url: String(url), line, body: this.body(body), headers: this.headers(value.headers) },
      ...(trailers === undefined ? {} : { trailers: this.texts(trailers, 'trailers') }),
      ...(connection === undefined ? {} : { connection: this.number(connection, 'connection') }),
      ...(id === undefined ? {} : { id: this.number(id, 'id') }),
      ...(pipelined === true ? { pipelined } : {}),
      server: server === undefined ? 0 : this.number(server, 'server'),
      setCookies: [],
    };
  }

  headers(value: unknown): readonly string[] {
    if (value === undefined) return [];
    const list = isJson(value)
      ? Object.entries(value).flatMap(([name, each]) => [each].flat().flatMap((one) => [name, String(one)]))
      : this.texts(value, 'headers');
    if (list.length % 2 === 1) this.fail('"headers" must have a value for each name');
    if (list.some((text) => /[\r\n\0]/.test(text))) this.fail('a header cannot have a line break');
    return list;
  }

  body(value: unknown): RecordedBody {
    if (typeof value === 'string') return value;
    if (isJson(value) && typeof value.base64 === 'string') return { base64: value.base64 };
    return this.fail('"body" must be a text, or { "base64": … }');
  }

  number(value: unknown, name: string): number {
    return typeof value === 'number' && Number.isInteger(value) && value >= 0
      ? value
      : this.fail(`"${name}" must be a number, counted from 0`);
  }

  texts(value: unknown, name: string): readonly string[] {
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    return this.fail(`"${name}" must be a list of texts`);
  }

  rules(value: unknown, before: Rules): Rules {
    if (!isJson(value)) return this.fail('"rules" must be an object');
    const unknown = Object.keys(value).find((name) => !['ignoreHeaders', 'mask', 'uuids', 'chunks'].includes(name));
    if (unknown !== undefined)
      this.fail(`there is no rule "${unknown}"; known are ignoreHeaders, mask, uuids and chunks`);
    const names = this.texts(value.ignoreHeaders ?? [], 'ignoreHeaders').map((name) => name.toLowerCase());
    return {
      ignoreHeaders: [...before.ignoreHeaders, ...names],
      masks: [...before.masks, ...this.texts(value.mask ?? [], 'mask').map((source) => this.pattern(source))],
      uuids: this.flag(value.uuids ?? before.uuids, 'uuids'),
      chunks: this.flag(value.chunks ?? before.chunks, 'chunks'),
    };
  }

  flag(value: unknown, name: string): boolean {
    return typeof value === 'boolean' ? value : this.fail(`"${name}" must be true or false`);
  }

  pattern(source: string): RegExp {
    try {
      return new RegExp(source, 'g');
    } catch (error) {
      return this.fail(error instanceof Error ? error.message : String(error));
    }
  }

  fail(what: string): never {
    throw new BadInput(badRequests(what, this.span));
  }
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
