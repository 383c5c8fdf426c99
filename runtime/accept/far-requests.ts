/**
 * A replica's part in requests that have to be served at home, by a connection that is here: what comes on it goes there as it came, and
 * what is written there is written to it. Other requests of the same connection are served here, before and after.
 */
import type { IncomingMessage, Server } from 'node:http';
import type net from 'node:net';
import { addressesOf } from '../http-bridge/addresses.js';
import type { FarAnswer, FarPeer, ToHome, ToReplica } from '../messages.js';
import { idleMs, isIdle } from './connections.js';
import { secureFactsOf } from './secure-far-socket.js';
import { whenRead } from './when-read.js';

interface Far {
  readonly connection: number;
  readonly socket: net.Socket;
  /** Home has not answered yet. */
  isOpen: boolean;
  /** The request has not come to its end. */
  isComing: boolean;
  isKnown: boolean;
  /** How long it may wait for the next request is counted by this one. */
  isTimed: boolean;
  /** Of Node's, for when no more is to be read: home says what that means while it answers. */
  readonly ends: Listener[];
  readonly ended: Listener;
  hasEnded: boolean;
  /** All that comes on it is home's. */
  isWhole: boolean;
  /** How many bytes home's socket was sent, and how many before the request that goes on now. */
  sent: number;
  before: number;
  /** What was sent of that request; null when its answer has begun, and where there is none. */
  kept: string[] | null;
}

type Listener = (...args: unknown[]) => void;

/** A body of more than that comes piece by piece, as home has room for it: by the connection itself. */
const MOST_BODY = 65_536;

/** To Node: an answer is being written to this connection. */
class Answer {
  readonly finished = false;
  /** If not, Node itself may still say that what comes next makes no sense. */
  _headerSent = false;

  emit(): boolean {
    return false;
  }
}

export interface FarOptions {
  readonly server: Server;
  /** Home's name of it. */
  readonly home: string;
  send(message: ToHome): void;
}

export class FarRequests {
  readonly #options: FarOptions;
  readonly #bySocket = new WeakMap<net.Socket, Far>();
  readonly #byNumber = new Map<number, Far>();
  #last = 0;

  constructor(options: FarOptions) {
    this.#options = options;
  }

  /**
   * How long the body is, of what home can be given and what needs no more of its connection; null of all else.
   */
  bodyOf({ rawHeaders, httpVersion }: IncomingMessage): number | null {
    if (httpVersion !== '1.1') return null;
    let length = 0;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at]?.toLowerCase();
      if (name === 'transfer-encoding' || name === 'expect' || name === 'upgrade') return null;
      if (name === 'content-length') length = Number(rawHeaders[at + 1]);
    }
    return length <= MOST_BODY ? length : null;
  }

  take(req: IncomingMessage, head: Buffer): void {
    const { socket } = req;
    const far = this.#farOf(socket);
    far.isOpen = true;
    far.before = far.sent;
    far.kept = [];
    Reflect.set(socket, '_httpMessage', new Answer());
    far.ends.push(...socket.rawListeners('end').filter((each): each is Listener => each !== far.ended));
    for (const each of far.ends) socket.off('end', each);
    socket.setTimeout(0);
    far.isTimed = false;
    this.#send(far, 'bytes', head.toString('latin1'));
    far.isComing = hasBody(req);
    if (!far.isComing) return;
    req.on('data', (chunk: Buffer) => this.#send(far, 'bytes', chunk.toString('latin1')));
    req.on('end', () => {
      far.isComing = false;
      this.#settle(far);
    });
  }

  /** The connection is home's from here on, as far as that can be where it cannot move: nothing here looks at what comes on it. */
  takeWhole(socket: net.Socket, bytes: Buffer): void {
    const far = this.#farOf(socket);
    far.isOpen = true;
    far.isWhole = true;
    socket.setTimeout(0);
    this.#send(far, 'all', bytes.toString('latin1'));
    socket.on('data', (chunk: Buffer) => this.#send(far, 'bytes', chunk.toString('latin1')));
    readOn(socket);
  }

  /** Home has a request of this connection. */
  isAt(socket: net.Socket): boolean {
    const far = this.#bySocket.get(socket);
    return far !== undefined && (far.isOpen || far.isComing);
  }

  /** Node's own request begins. */
  begins(socket: net.Socket): void {
    const far = this.#bySocket.get(socket);
    if (far?.isTimed !== true) return;
    far.isTimed = false;
    socket.setTimeout(this.#options.server.timeout);
  }

  #farOf(socket: net.Socket): Far {
    const known = this.#bySocket.get(socket);
    if (known !== undefined) return known;
    const none = { sent: 0, before: 0, kept: null };
    const states = { isOpen: false, isComing: false, isKnown: false, isTimed: false, hasEnded: false, isWhole: false };
    const ended = (): void => {
      far.hasEnded = true;
      this.#send(far, 'end', '');
    };
    const far: Far = { connection: ++this.#last, socket, ended, ends: [], ...states, ...none };
    this.#bySocket.set(socket, far);
    this.#byNumber.set(far.connection, far);
    socket.on('end', ended);
    socket.once('close', () => {
      this.#byNumber.delete(far.connection);
      this.#send(far, 'close', '');
    });
    return far;
  }

  #send(far: Far, what: Extract<ToHome, { kind: 'far' }>['what'], bytes: string): void {
    const { socket, connection } = far;
    const peer = far.isKnown || (what !== 'bytes' && what !== 'all') ? null : peerOf(socket);
    if (peer !== null) far.isKnown = true;
    far.sent += bytes.length;
    if (what === 'bytes') far.kept?.push(bytes);
    this.#options.send({ kind: 'far', home: this.#options.home, connection, what, bytes, peer });
  }

  received({ connection, what, bytes }: Extract<ToReplica, { kind: 'far-answer' }>): void {
    const far = this.#byNumber.get(connection);
    if (far === undefined || far.socket.destroyed) return;
    this.#apply(far, what, bytes);
  }

  #apply(far: Far, what: FarAnswer, bytes: string): void {
    const { socket } = far;
    switch (what) {
      case 'bytes':
        markBegun(far);
        return void socket.write(bytes, 'latin1');
      case 'much':
        markBegun(far);
        return void socket.write(bytes, 'latin1', () => this.#send(far, 'wrote', ''));
      case 'answered':
        far.isOpen = false;
        far.kept = null;
        return this.#settle(far);
      case 'end':
        return void socket.destroySoon();
      case 'hold':
        return void socket.pause();
      case 'go':
        return void socket.resume();
      case 'close':
        return this.#closed(far, Number(bytes));
    }
  }

  /** Home has closed its socket when it had seen so many bytes. With the next request for it, it makes another one. */
  #closed(far: Far, seen: number): void {
    const { socket, kept, before } = far;
    far.isKnown = false;
    far.sent = 0;
    far.before = 0;
    far.kept = null;
    if (far.isOpen && kept !== null && seen === before) {
      // It waited for a request, as far as home knew, and one was on its way: nobody has seen any of that.
      far.kept = [];
      for (const each of kept) this.#send(far, 'bytes', each);
    } else if (far.isOpen) {
      if (socket.writableLength > 0) socket.destroySoon();
      else socket.destroy();
    } else if (!isAnswering(socket)) {
      whenRead(() => {
        if (!far.isKnown && isIdle(this.#options.server, socket)) socket.destroy();
      });
    }
  }

  #settle(far: Far): void {
    const { socket } = far;
    if (far.isOpen || far.isComing || socket.destroyed || !(Reflect.get(socket, '_httpMessage') instanceof Answer))
      return;
    Reflect.set(socket, '_httpMessage', null);
    if (far.hasEnded) return void socket.destroySoon();
    for (const each of far.ends.splice(0)) socket.on('end', each);
    socket.setTimeout(idleMs(this.#options.server));
    far.isTimed = true;
  }
}

function markBegun(far: Far): void {
  far.kept = null;
  const answer: unknown = Reflect.get(far.socket, '_httpMessage');
  if (answer instanceof Answer) answer._headerSent = true;
}

export function isAnswering(socket: net.Socket): boolean {
  const message: unknown = Reflect.get(socket, '_httpMessage');
  return (message !== null && message !== undefined) || socket.writableLength > 0;
}

function hasBody({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.some((name, index) => index % 2 === 0 && name.toLowerCase() === 'content-length');
}

/** Reading was stopped behind its back. */
function readOn(socket: net.Socket): void {
  const handle: unknown = Reflect.get(socket, '_handle');
  const start: unknown = Reflect.get(Object(handle), 'readStart');
  if (typeof start !== 'function') return;
  Reflect.set(Object(handle), 'reading', true);
  Reflect.apply(start, handle, []);
}

function peerOf(socket: net.Socket): FarPeer {
  const { remoteAddress, remotePort, remoteFamily, localAddress, localPort, localFamily } = addressesOf(socket);
  return {
    remote: { address: remoteAddress, port: remotePort, family: remoteFamily },
    local: { address: localAddress, port: localPort, family: localFamily },
    secure: secureFactsOf(socket),
  };
}
