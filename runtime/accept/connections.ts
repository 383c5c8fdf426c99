/**
 * Reads: an HTTP server.
 * Gives: which of its connections are between two requests; takes connections that another loop of the process had.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type http from 'node:http';
import net from 'node:net';
import fastPath from '../fast-path/born-as-express.cjs';
import { type Handle, handleOf } from './handle-port.js';
import { whenClosed } from './untouched.js';

const REQUEST_STARTS = 'http.server.request.start';
/** Node looks for those that are late twice a minute, and gives waiting ones a second more than it says. */
const SPARE_MS = 2_000;

interface IdleList {
  idle(): readonly { readonly socket?: net.Socket | null }[];
}

/** Node's own list of connections, which it closes idle ones by. */
function listOf(server: http.Server): IdleList | null {
  for (const symbol of Object.getOwnPropertySymbols(server)) {
    if (symbol.description !== 'http.server.connections') continue;
    const list: unknown = Reflect.get(server, symbol);
    if (typeof list === 'object' && list !== null && 'idle' in list) return list as IdleList;
  }
  return null;
}

/** Nothing of a next request has been read yet, and nothing of the last answer is still to be written. */
export function idleConnections(server: http.Server): readonly net.Socket[] {
  const found: net.Socket[] = [];
  for (const { socket } of listOf(server)?.idle() ?? []) if (socket && isAnswered(socket)) found.push(socket);
  return found;
}

export function isIdle(server: http.Server, socket: net.Socket): boolean {
  return isAnswered(socket) && isRead(server, socket);
}

function isAnswered(socket: net.Socket): boolean {
  if (socket.destroyed || socket.writableLength > 0 || handleOf(socket) === null) return false;
  const message: unknown = Reflect.get(socket, '_httpMessage');
  return (message === null || message === undefined) && !socket.readableEnded;
}

/** Of all that was read of it, requests that have begun have been read to their ends. */
export function isRead(server: http.Server, socket: net.Socket): boolean {
  return (
    listOf(server)
      ?.idle()
      .some((parser) => parser.socket === socket) ?? false
  );
}

/** As Node does it for a connection that it has accepted. */
export function connectTo(server: http.Server, handle: Handle): net.Socket {
  const { allowHalfOpen, pauseOnConnect, noDelay, keepAlive, keepAliveInitialDelay, highWaterMark } = read(server);
  const marks = { readableHighWaterMark: highWaterMark, writableHighWaterMark: highWaterMark };
  const options = { handle, allowHalfOpen, pauseOnCreate: pauseOnConnect, readable: true, writable: true, ...marks };
  const socket = new net.Socket(options as net.SocketConstructorOpts);
  if (noDelay === true) socket.setNoDelay(true);
  if (keepAlive === true) socket.setKeepAlive(true, Number(keepAliveInitialDelay) * 1000);
  Reflect.set(server, '_connections', Number(Reflect.get(server, '_connections')) + 1);
  Reflect.set(socket, 'server', server);
  Reflect.set(socket, '_server', server);
  server.emit('connection', socket);
  return socket;
}

const NAMES = [
  'allowHalfOpen',
  'pauseOnConnect',
  'noDelay',
  'keepAlive',
  'keepAliveInitialDelay',
  'highWaterMark',
] as const;

function read(server: http.Server): { readonly [name in (typeof NAMES)[number]]?: unknown } {
  return Object.fromEntries(NAMES.map((name) => [name, Reflect.get(server, name)]));
}

/** How long a connection waits for its next request: longer than its client is told, as Node does it; before it says so, a second. */
export function idleMs(server: http.Server): number {
  if (!(server.keepAliveTimeout > 0)) return 0;
  const spare: unknown = Reflect.get(server, 'keepAliveTimeoutBuffer');
  return server.keepAliveTimeout + (typeof spare === 'number' ? spare : 1_000);
}

/**
 * Connections that have come from another loop between two requests. They are closed as those that wait for their next
 * request are; Node itself takes them for new ones, whose first request is late.
 */
export class Waiting {
  readonly #server: http.Server;
  readonly #sockets = new Set<net.Socket>();

  constructor(server: http.Server) {
    this.#server = server;
    fastPath.isHarmless(this.#hears);
  }

  /** A connection may come to wait on another loop. Where it may do so for longer than a new one may, Node would end it too soon. */
  static isPossible({ keepAliveTimeout, headersTimeout, requestTimeout, maxRequestsPerSocket }: http.Server): boolean {
    if ((maxRequestsPerSocket ?? 0) > 0 || keepAliveTimeout === 0) return false;
    const limits = [headersTimeout, requestTimeout].filter((limit) => limit > 0);
    return limits.every((limit) => keepAliveTimeout + SPARE_MS < limit);
  }

  /** `isTold`: somebody calls `begins`. */
  add(socket: net.Socket, isTold = false): void {
    if (!isTold && this.#sockets.size === 0) subscribe(REQUEST_STARTS, this.#hears);
    this.#sockets.add(socket);
    whenClosed(socket, () => this.#forget(socket));
    socket.setTimeout(idleMs(this.#server));
  }

  /** Of those, which nothing has come on. */
  idle(): readonly net.Socket[] {
    return [...this.#sockets].filter((socket) => socket.bytesRead === 0 && !socket.destroyed);
  }

  begins(socket: net.Socket): void {
    if (this.#forget(socket)) socket.setTimeout(this.#server.timeout);
  }

  readonly #hears = (message: unknown): void => {
    const socket: unknown = Reflect.get(Object(message), 'socket');
    if (socket instanceof net.Socket) this.begins(socket);
  };

  #forget(socket: net.Socket): boolean {
    if (!this.#sockets.delete(socket)) return false;
    if (this.#sockets.size === 0) unsubscribe(REQUEST_STARTS, this.#hears);
    return true;
  }
}
