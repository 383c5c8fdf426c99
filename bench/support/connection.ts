/**
 * One kept-alive HTTP/1.1 connection that has one request under way at any time. It reads no more of an answer than its status,
 * its length and its body: what the client costs is taken from the machine that is measured.
 */
import { connect, type Socket } from 'node:net';
import type { Reply } from './workload.js';

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const NOTHING = Buffer.alloc(0);

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

interface Head {
  readonly status: number;
  /** Null for a body in chunks. */
  readonly length: number | null;
  readonly end: number;
  readonly closes: boolean;
}

export class Connection {
  readonly #port: number;
  #socket: Socket | null = null;
  #waiting: Waiting | null = null;
  #bytes: Buffer = NOTHING;

  constructor(port: number) {
    this.#port = port;
  }

  /** Connects where it has to. */
  ask(request: Buffer, timeoutMs: number): Promise<Reply> {
    const socket = this.#socket ?? this.#connect();
    socket.setTimeout(timeoutMs);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      socket.write(request);
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = null;
    this.#bytes = NOTHING;
  }

  #connect(): Socket {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    const fail = (error: Error): void => {
      if (socket !== this.#socket) return;
      const waiting = this.#waiting;
      this.#waiting = null;
      this.close();
      waiting?.reject(error);
    };
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', fail);
    socket.on('timeout', () => fail(new Error('no answer in time')));
    socket.on('close', () => fail(new Error('the connection was closed')));
    this.#socket = socket;
    return socket;
  }

  #read(chunk: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    const head = readHead(this.#bytes);
    if (head === null) return;
    const body =
      head.length === null ? readChunks(this.#bytes, head.end) : readBody(this.#bytes, head.end, head.length);
    if (body === null) return;
    const waiting = this.#waiting;
    this.#waiting = null;
    this.#bytes = NOTHING;
    if (head.closes) this.close();
    waiting?.resolve({ status: head.status, body });
  }
}

function readHead(bytes: Buffer): Head | null {
  const end = bytes.indexOf(END_OF_HEAD);
  if (end === -1) return null;
  const text = bytes.toString('latin1', 0, end).toLowerCase();
  const status = Number(text.slice(9, 12));
  const length = /\r\ncontent-length: *(\d+)/.exec(text)?.[1];
  const isEmpty = status === 204 || status === 304;
  const isChunked = length === undefined && !isEmpty;
  return {
    status,
    length: isChunked ? null : Number(length ?? 0),
    end: end + END_OF_HEAD.length,
    closes: text.includes('\r\nconnection: close'),
  };
}

function readBody(bytes: Buffer, from: number, length: number): Buffer | null {
  return bytes.length < from + length ? null : bytes.subarray(from, from + length);
}

/** Null until the last chunk is there. */
function readChunks(bytes: Buffer, from: number): Buffer | null {
  const chunks: Buffer[] = [];
  for (let at = from; ; ) {
    const line = bytes.indexOf('\r\n', at);
    if (line === -1) return null;
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16);
    const next = line + 2 + size + 2;
    if (!(bytes.length >= next)) return null;
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(bytes.subarray(line + 2, line + 2 + size));
    at = next;
  }
}
