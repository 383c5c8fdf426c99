/**
 * `fluxion run --record`: writes the requests that the app's servers get to a file, as lines of JSON: one when a request has
 * come completely, with a number for its place in the order in which requests began, and one when its answer has set
 * cookies. `fluxion verify` sends them again.
 *
 * Requests are seen where Node announces them, and their bodies where Node's parser pushes them: nothing is consumed, and
 * requests, responses and servers stay as they are.
 */
import channels = require('node:diagnostics_channel');
import fs = require('node:fs');
import http = require('node:http');
import process = require('node:process');

import type { CookiesLine, RecordedBody, RequestLine } from './verify/requests-file.js' with {
  'resolution-mode': 'import',
};

interface Announced {
  readonly request: http.IncomingMessage;
  readonly response: http.ServerResponse;
  readonly socket: object;
  readonly server: object;
}

interface Connection {
  readonly number: number;
  last: Seen | null;
}

interface Seen {
  readonly id: number;
  readonly server: number;
  readonly connection: Connection;
  /** It came before the one before it on this connection had its answer. */
  readonly pipelined: boolean;
  /** As they came: the app may change them. */
  readonly head: Pick<RequestLine, 'method' | 'url' | 'headers'>;
  readonly chunks: Uint8Array[];
  isAnswered: boolean;
}

/** Throws where the file cannot be written. */
function record(file: string): void {
  const fd = fs.openSync(file, 'w');
  let isOver = false;
  const recording = new Recording((line) => {
    if (isOver) return;
    try {
      fs.writeSync(fd, `${JSON.stringify(line)}\n`);
    } catch (error) {
      // The app is none the worse for it.
      isOver = true;
      process.stderr.write(`fluxion error: no more requests can be written to ${file}: ${String(error)}\n`);
    }
  });
  seePushes((req, chunk) => recording.pushed(req, chunk));
  channels.subscribe('http.server.request.start', (message) => recording.began(message as Announced));
  channels.subscribe('http.server.response.finish', (message) => recording.answered(message as Announced));
}

class Recording {
  readonly #write: (line: RequestLine | CookiesLine) => void;
  readonly #seen = new WeakMap<http.IncomingMessage, Seen>();
  readonly #connections = new WeakMap<object, Connection>();
  readonly #servers = new WeakMap<object, number>();
  #connectionCount = 0;
  #serverCount = 0;
  #count = 0;

  constructor(write: (line: RequestLine | CookiesLine) => void) {
    this.#write = write;
  }

  began({ request, socket, server }: Announced): void {
    const connection = this.#connections.get(socket) ?? { number: ++this.#connectionCount, last: null };
    this.#connections.set(socket, connection);
    if (!this.#servers.has(server)) this.#servers.set(server, this.#serverCount++);
    const { method = 'GET', url = '/', rawHeaders } = request;
    const seen: Seen = {
      id: ++this.#count,
      server: this.#servers.get(server) ?? 0,
      connection,
      pipelined: connection.last !== null && !connection.last.isAnswered,
      head: { method, url, headers: [...rawHeaders] },
      chunks: [],
      isAnswered: false,
    };
    connection.last = seen;
    this.#seen.set(request, seen);
  }

  pushed(req: http.IncomingMessage, chunk: unknown): void {
    const seen = this.#seen.get(req);
    if (seen === undefined) return;
    // Copied: what a handler does with the chunk is its own business.
    if (chunk instanceof Uint8Array) seen.chunks.push(Uint8Array.from(chunk));
    else if (chunk === null && req.complete) this.#write(lineOf(seen, req.rawTrailers));
  }

  answered({ request, response }: Announced): void {
    const seen = this.#seen.get(request);
    if (seen === undefined) return;
    seen.isAnswered = true;
    const cookies = response.getHeader('set-cookie');
    if (cookies !== undefined) this.#write({ answer: seen.id, setCookies: [cookies].flat().map(String) });
  }
}

function lineOf({ id, head, chunks, connection, pipelined, server }: Seen, trailers: readonly string[]): RequestLine {
  return {
    ...{ id, ...head, connection: connection.number },
    ...(chunks.length === 0 ? {} : { body: bodyOf(Buffer.concat(chunks)) }),
    ...(trailers.length === 0 ? {} : { trailers }),
    ...(pipelined ? { pipelined } : {}),
    ...(server === 0 ? {} : { server }),
  };
}

/** As text where that loses nothing. */
function bodyOf(bytes: Buffer): RecordedBody {
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? text : { base64: bytes.toString('base64') };
}

function seePushes(pushed: (req: http.IncomingMessage, chunk: unknown) => void): void {
  const { push } = http.IncomingMessage.prototype;
  http.IncomingMessage.prototype.push = function (this: http.IncomingMessage, ...args: Parameters<typeof push>) {
    pushed(this, args[0]);
    return Reflect.apply(push, this, args);
  };
}

export = { record };
