/** Reads: a request of a file. Gives: its bytes, with what a client has to say and the file leaves out. */

import { headerValue } from './answers.js';
import type { RecordedBody, RequestToSend } from './requests-file.js';

export function requestBytes(request: RequestToSend, headers: readonly string[]): Buffer {
  const body = bodyBytes(request.body);
  const lines = [`${request.method} ${request.url} HTTP/1.1`];
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  const isChunked = /\bchunked\b/i.test(headerValue(headers, 'transfer-encoding') ?? '');
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return Buffer.concat([head, isChunked ? chunked(body, request.trailers ?? []) : body]);
}

export function completeHeaders(request: RequestToSend): readonly string[] {
  const { headers, connection } = request;
  const lacks = (name: string): boolean => headerValue(headers, name) === undefined;
  const length = bodyBytes(request.body).length;
  const host = lacks('host') ? ['Host', 'localhost'] : [];
  const close = connection === undefined && lacks('connection') ? ['Connection', 'close'] : [];
  const isLong = length > 0 && lacks('content-length') && lacks('transfer-encoding');
  return [...host, ...headers, ...close, ...(isLong ? ['Content-Length', String(length)] : [])];
}

export function bodyBytes(body: RecordedBody): Buffer {
  return typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.base64, 'base64');
}

function chunked(body: Buffer, trailers: readonly string[]): Buffer {
  const size = Buffer.from(`${body.length.toString(16)}\r\n`);
  const parts = body.length === 0 ? [] : [size, body, Buffer.from('\r\n')];
  let last = '0\r\n';
  for (let at = 0; at < trailers.length; at += 2) last += `${trailers[at]}: ${trailers[at + 1]}\r\n`;
  return Buffer.concat([...parts, Buffer.from(`${last}\r\n`, 'latin1')]);
}
