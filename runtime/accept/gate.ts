/**
 * A replica's part in serving connections whose requests are not all for it: it looks at each request when its head has been read, and
 * before anything of it has run.
 *
 *     nothing that has to run at home ──> served here
 *     everyday, and may come to that  ──> its bytes go home, those of the answer come back (far-requests.ts)
 *     else: an upgrade, a large body  ──> the connection goes home, which reads the request from its first byte
 *
 * So do connections that mostly ask for what is home's. One of TLS cannot go: what has begun it holds its keys. It stays, and all that comes on
 * it after such a request is home's, which reads it as it would from a socket of its own.
 *
 * To Node's server the last is an upgrade: it stops reading behind the head, and gives the connection away with what else
 * had been read. The head is written again from what Node's parser found in it, which is all that home's parser will look at.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type net from 'node:net';
import timers from 'node:timers';
import { http } from '../node-http.js';
import { isRead } from './connections.js';
import { type FarRequests, isAnswering } from './far-requests.js';
import type { Begun } from './pipe-bytes.js';

const { setTimeout, setImmediate } = timers;

/** Earlier answers of the same connection, to requests that came without waiting for these, are waited for. */
const LOOK_AGAIN_MS = 5;

export interface GateOptions {
  readonly server: Server;
  readonly far: FarRequests;
  mayMeet(method: string, url: string): boolean;
  begins(socket: net.Socket): void;
  /** Its connections can go home. */
  readonly canMove: boolean;
  leaves(socket: net.Socket, begun: Begun): void;
  /** How many effects the outside has seen of what runs here. */
  effects(): number;
}

interface Watched {
  readonly vain: number;
  answered: number;
  /** How many bytes had been read by the beginning of the last request. */
  read: number;
  /** How many more have been home's than served here, lately. */
  homes: number;
  /** The last request, and how it came. */
  last: Last | null;
  /** Listeners that Node takes away with the connection, where earlier answers still need them. */
  kept: readonly (readonly [event: string, listener: Listener])[];
}

interface Last {
  readonly req: IncomingMessage;
  readonly head: Head;
  readonly effects: number;
}

interface Head {
  readonly method: string;
  readonly url: string;
}

/** Then home is the better place. */
const MOSTLY = 12;

type Listener = (...args: unknown[]) => void;
type Take = (req: IncomingMessage, keepsAlive: boolean) => number;

export class Gate {
  readonly #options: GateOptions;
  readonly #watched = new WeakMap<net.Socket, Watched>();

  constructor(options: GateOptions) {
    this.#options = options;
    const leave = (req: IncomingMessage, socket: net.Socket, rest: Buffer): void => this.#leave(req, socket, rest);
    options.server.on('upgrade', leave);
    options.server.on('connect', leave);
  }

  /** `vain`: how often it was given back after few requests. */
  watch(socket: net.Socket, vain: number): void {
    const parser: unknown = Reflect.get(socket, 'parser');
    const take: unknown = Reflect.get(Object(parser), 'onIncoming');
    if (typeof parser !== 'object' || parser === null || typeof take !== 'function') {
      throw new Error('this version of Node reads requests otherwise');
    }
    const most = Number(Reflect.get(parser, 'maxHeaderPairs'));
    // What is cut off here would be missing at home, where it says how long the request is.
    Reflect.set(parser, 'maxHeaderPairs', 0);
    const watched: Watched = { vain, answered: 0, read: 0, homes: 0, last: null, kept: [] };
    this.#watched.set(socket, watched);
    const onIncoming: Take = (req, keepsAlive) => {
      const { method = '', url = '', rawHeaders } = req;
      const { effects, far, mayMeet, begins, canMove } = this.#options;
      watched.last = { req, head: { method, url }, effects: effects() };
      begins(socket);
      const bytes = socket.bytesRead - watched.read;
      watched.read += bytes;
      const isOdd = req.upgrade || (most > 0 && rawHeaders.length > most);
      // What comes behind one that is at home is answered after it.
      if (isOdd || far.isAt(socket) || mayMeet(method, url)) {
        const isBusy = isAnswering(socket);
        if (!isOdd && !isBusy && (++watched.homes < MOSTLY || !canMove)) {
          const head = headBytes(req, watched.last.head);
          const body = far.bodyOf(req);
          if (body !== null && isLastRead(parser, bytes, head.length, body)) {
            far.take(req, head);
            return GO_ON;
          }
        }
        watched.kept = isBusy ? listenersOf(socket) : [];
        req.upgrade = true;
        return STOP;
      }
      watched.answered++;
      if (watched.homes > 0) watched.homes--;
      far.begins(socket);
      return Reflect.apply(take, undefined, [req, keepsAlive]);
    };
    Reflect.set(parser, 'onIncoming', onIncoming);
  }

  /**
   * A request that is served here has come to what has to run at home, by ways that nobody foresaw. Home serves it from its beginning,
   * if nobody could notice that it had one already. `done` is told whether it could.
   */
  startAgain(req: IncomingMessage, res: ServerResponse, done: (couldBe: boolean) => void): void {
    const { socket } = req;
    const { last } = this.#watched.get(socket) ?? {};
    const { effects, canMove } = this.#options;
    if (!canMove || last?.req !== req || last.effects !== effects() || res.headersSent || hasBody(req)) {
      return done(false);
    }
    stopReading(socket);
    // Node may still be reading what has come with it.
    setImmediate(() => done(this.#startAgain(socket, res, last)));
  }

  #startAgain(socket: net.Socket, res: ServerResponse, { req, head }: Last): boolean {
    const watched = this.#watched.get(socket);
    const { server, leaves } = this.#options;
    if (watched?.last?.req !== req || socket.destroyed || res.headersSent) return false;
    if (Reflect.get(socket, '_httpMessage') !== res || !isRead(server, socket)) return false;
    stopReading(socket);
    const { answered, vain } = watched;
    leaves(socket, { answered, vain, bytes: headBytes(req, head) });
    return true;
  }

  #leave(req: IncomingMessage, socket: net.Socket, rest: Buffer): void {
    const watched = this.#watched.get(socket);
    if (watched === undefined) return void socket.destroy();
    stopReading(socket);
    socket.on('error', () => {});
    for (const [event, listener] of watched.kept) {
      if (!socket.rawListeners(event).includes(listener)) socket.on(event, listener);
    }
    const { vain } = watched;
    const answered = watched.homes >= MOSTLY ? 0 : watched.answered;
    const bytes = Buffer.concat([headBytes(req, watched.last?.head ?? null), rest]);
    const { canMove, far, leaves } = this.#options;
    this.#whenAnswered(socket, () =>
      canMove ? leaves(socket, { bytes, answered, vain }) : far.takeWhole(socket, bytes),
    );
  }

  #whenAnswered(socket: net.Socket, act: () => void): void {
    if (socket.destroyed) return;
    stopReading(socket);
    if (!isAnswering(socket)) act();
    else setTimeout(() => this.#whenAnswered(socket, act), LOOK_AGAIN_MS);
  }
}

/** To Node's parser: what comes behind the head is another protocol; is as the head says. */
const STOP = 2;
const GO_ON = 0;

/**
 * Nothing has been read behind this request: it would be looked at here before home has seen this one. `bytes`: read since the one before.
 * Where head and body are just as many, that is known without a copy of what is being read.
 */
function isLastRead(parser: object, bytes: number, head: number, body: number): boolean {
  if (bytes === head + body) return true;
  const get: unknown = Reflect.get(parser, 'getCurrentBuffer');
  const chunk: unknown = typeof get === 'function' ? Reflect.apply(get, parser, []) : null;
  if (!Buffer.isBuffer(chunk)) return false;
  const end = chunk.indexOf('\r\n\r\n');
  return end !== -1 && end + 4 + body >= chunk.length;
}

const NEEDED = ['drain', 'close', 'timeout'];

function listenersOf(socket: net.Socket): Watched['kept'] {
  return NEEDED.flatMap((event) =>
    socket.rawListeners(event).map((listener) => [event, listener as Listener] as const),
  );
}

function stopReading(socket: net.Socket): void {
  const handle: unknown = Reflect.get(socket, '_handle');
  const stop: unknown = Reflect.get(Object(handle), 'readStop');
  if (typeof stop === 'function') Reflect.apply(stop, handle, []);
}

function hasBody({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.some((name, index) => index % 2 === 0 && /^(?:content-length|transfer-encoding)$/i.test(name));
}

/** All methods that are not HTTP's are of one protocol that Node's parser knows as well. */
function headBytes({ rawHeaders, httpVersion }: IncomingMessage, head: Head | null): Buffer {
  const { method, url } = head ?? { method: '', url: '' };
  const protocol = http.METHODS.includes(method) ? 'HTTP' : 'RTSP';
  let text = `${method} ${url} ${protocol}/${httpVersion}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) text += `${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`;
  return Buffer.from(`${text}\r\n`, 'latin1');
}
