/**
 * Reads:   headers, status and flags of a response.
 * Gives:   them as plain data; what is different from what they were; and that difference applied to another response.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { genuine } from './genuine.js';
import type { HeadChange, HeaderValue, RawHeaders, ResponseState } from './messages.js';

/** Node keeps these as properties; the app may set some, and removing headers sets the others. */
const FLAGS = [
  'sendDate',
  'shouldKeepAlive',
  'useChunkedEncodingByDefault',
  'strictContentLength',
  '_removedConnection',
  '_removedContLen',
  '_removedTE',
  'chunkedEncoding',
  '_hasBody',
] as const;

const REMOVALS = [
  ['_removedConnection', 'Connection'],
  ['_removedContLen', 'Content-Length'],
  ['_removedTE', 'Transfer-Encoding'],
] as const;

export function readResponse(res: ServerResponse): ResponseState {
  const { statusCode, statusMessage } = res;
  return { statusCode, statusMessage, headers: readHeaders(res), flags: readFlags(res) };
}

export function readHeaders(res: ServerResponse): (string | HeaderValue)[] {
  const names = genuine.getRawHeaderNames.call(res);
  const headers: (string | HeaderValue)[] = new Array(names.length * 2);
  let at = 0;
  for (const name of names) {
    headers[at++] = name;
    headers[at++] = asSent(genuine.getHeader.call(res, name));
  }
  return headers;
}

/** Node takes any value and writes it as text; lists are copied, for the app may add to them later. */
function asSent(value: unknown): HeaderValue {
  if (typeof value === 'string' || typeof value === 'number') return value;
  return Array.isArray(value) ? value.map(String) : String(value);
}

function readFlags(res: ServerResponse): number {
  let flags = 0;
  for (let at = 0; at < FLAGS.length; at++) if (Reflect.get(res, FLAGS[at] ?? '') === true) flags |= 1 << at;
  return flags;
}

/** On a stand-in: as it is at home. */
export function setResponse(res: ServerResponse, state: ResponseState): void {
  res.statusCode = state.statusCode;
  if (state.statusMessage !== undefined) res.statusMessage = state.statusMessage;
  for (let at = 0; at < state.headers.length; at += 2) setHeader(res, state.headers, at, genuine.setHeader);
  setFlags(res, state.flags);
}

function setFlags(res: ServerResponse, flags: number): void {
  for (let at = 0; at < FLAGS.length; at++) {
    const name = FLAGS[at] ?? '';
    const value = (flags & (1 << at)) !== 0;
    if (Reflect.get(res, name) !== value) Reflect.set(res, name, value);
  }
}

type SetHeader = (this: ServerResponse, name: string, value: HeaderValue) => unknown;

function setHeader(res: ServerResponse, headers: RawHeaders, at: number, set: SetHeader): void {
  const value = headers[at + 1];
  if (value !== undefined) set.call(res, String(headers[at]), value);
}

/**
 * A header that is set again stays where it was: so what was there before comes first and in its old order, and what does not
 * was removed and set anew.
 */
export function headChange(res: ServerResponse, before: ResponseState): HeadChange {
  const now = readHeaders(res);
  const set: (string | HeaderValue)[] = [];
  const removed: string[] = [];
  const old = before.headers;
  let from = 0;
  let isNew = false;
  for (let at = 0; at < now.length; at += 2) {
    const name = String(now[at]);
    const value = now[at + 1] ?? '';
    const found = isNew ? -1 : indexOfName(old, name, from);
    if (found === -1) {
      isNew = true;
      set.push(name, value);
      continue;
    }
    for (; from < found; from += 2) removed.push(String(old[from]));
    if (old[found] !== name || !sameValue(old[found + 1], value)) set.push(name, value);
    from = found + 2;
  }
  // Those that were set anew are among them: removing comes first.
  for (; from < old.length; from += 2) removed.push(String(old[from]));
  return { statusCode: res.statusCode, statusMessage: res.statusMessage, removed, set, flags: readFlags(res) };
}

function indexOfName(headers: RawHeaders, name: string, from: number): number {
  const length = name.length;
  let lower = '';
  for (let at = from; at < headers.length; at += 2) {
    const other = headers[at];
    if (other === name) return at;
    if (typeof other !== 'string' || other.length !== length) continue;
    lower ||= name.toLowerCase();
    if (other.toLowerCase() === lower) return at;
  }
  return -1;
}

function sameValue(old: string | HeaderValue | undefined, now: string | HeaderValue): boolean {
  if (old === now) return true;
  if (!Array.isArray(old) || !Array.isArray(now) || old.length !== now.length) return false;
  return old.every((item, at) => item === now[at]);
}

/** Methods that middleware replaced on this very response are called; replaced prototypes have seen it at the replica. */
export function applyHead(res: ServerResponse, change: HeadChange, flagsBefore: number): void {
  res.statusCode = change.statusCode;
  if (change.statusMessage !== undefined || res.statusMessage !== undefined) {
    Reflect.set(res, 'statusMessage', change.statusMessage);
  }
  const remove = Object.hasOwn(res, 'removeHeader') ? res.removeHeader : genuine.removeHeader;
  for (const name of change.removed) remove.call(res, name);
  const set: SetHeader = Object.hasOwn(res, 'setHeader') ? res.setHeader : genuine.setHeader;
  for (let at = 0; at < change.set.length; at += 2) setHeader(res, change.set, at, set);
  if (change.flags !== flagsBefore) applyFlags(res, change.flags, flagsBefore, remove);
}

function applyFlags(res: ServerResponse, flags: number, before: number, remove: (name: string) => void): void {
  for (const [flag, header] of REMOVALS) {
    const bit = 1 << FLAGS.indexOf(flag);
    // A header that is there was set anew behind its removal.
    if ((flags & bit) !== 0 && (before & bit) === 0 && !genuine.hasHeader.call(res, header)) remove.call(res, header);
  }
  for (let at = 0; at < FLAGS.length; at++) {
    const bit = 1 << at;
    if ((flags & bit) !== (before & bit)) Reflect.set(res, FLAGS[at] ?? '', (flags & bit) !== 0);
  }
}

/** Are `req.headers` what the raw ones say? Where a header comes twice it is not worth the time to find out. */
export function headersIntact(req: IncomingMessage): boolean {
  const { headers, rawHeaders } = req;
  let names = 0;
  for (const name in headers) if (Object.hasOwn(headers, name)) names++;
  if (names * 2 !== rawHeaders.length) return false;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (headers[name.toLowerCase()] !== rawHeaders[at + 1]) return false;
  }
  return true;
}
