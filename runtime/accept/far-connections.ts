/**
 * Home's part in requests that come by a replica's connections and have to be served at home: each of these connections has a socket here
 * for as long as it lives, and home's server has a connection by it, which looks as if only these requests came on it.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type http from 'node:http';
import type net from 'node:net';
import type { FarAnswer, ToHome, ToReplica } from '../messages.js';
import process from '../node-process.cjs';
import { FarSocket } from './far-socket.js';
import { secureFarSocket } from './secure-far-socket.js';

const ANSWERED = 'http.server.response.finish';

interface Loop {
  readonly channel: { send(message: ToReplica): void };
}

type FarMessage = Extract<ToHome, { kind: 'far' }>;

export class FarConnections {
  readonly #server: http.Server;
  /** Home's name of it. */
  readonly #home: string;
  readonly #answers: () => void;
  readonly #byLoop = new Map<Loop, Map<number, FarSocket>>();
  readonly #open = new WeakMap<object, { readonly socket: FarSocket; tell(): void }>();
  #count = 0;
  /** How many requests have been answered. */
  answered = 0;

  /** `answers`: called before anything of an answer is sent. */
  constructor(server: http.Server, home: string, answers: () => void) {
    this.#server = server;
    this.#home = home;
    this.#answers = answers;
  }

  received(loop: Loop, message: FarMessage): void {
    // What handlers throw is nobody's but the process's, and what else has come is still to be received.
    process.nextTick(() => this.#receive(loop, message));
  }

  #receive(loop: Loop, { connection, what, bytes, peer }: FarMessage): void {
    const known = this.#byLoop.get(loop)?.get(connection);
    const socket = known ?? (peer === null ? undefined : this.#make(loop, connection, peer));
    if (what === 'all' && socket !== undefined) socket.isWhole = true;
    if (what === 'bytes' || what === 'all') socket?.reads(bytes);
    else if (what === 'wrote') socket?.wrote();
    else if (what === 'end') socket?.ended();
    else socket?.gone();
  }

  gone(loop: Loop): void {
    for (const socket of [...(this.#byLoop.get(loop)?.values() ?? [])]) socket.gone();
  }

  #make(loop: Loop, connection: number, peer: NonNullable<FarMessage['peer']>): FarSocket {
    const server = this.#server;
    const highWaterMark: unknown = Reflect.get(server, 'highWaterMark');
    const marks = { readableHighWaterMark: highWaterMark, writableHighWaterMark: highWaterMark };
    const options = { allowHalfOpen: Reflect.get(server, 'allowHalfOpen') === true, ...marks };
    const send = (what: FarAnswer, text: string): void => {
      if (what === 'bytes' || what === 'much') this.#answers();
      loop.channel.send({ kind: 'far-answer', home: this.#home, connection, what, bytes: text });
    };
    const made: ConstructorParameters<typeof FarSocket> = [options as net.SocketConstructorOpts, peer, send];
    const socket = peer.secure === null ? new FarSocket(...made) : secureFarSocket(made, peer.secure);
    const sockets = this.#byLoop.get(loop) ?? new Map<number, FarSocket>();
    this.#byLoop.set(loop, sockets.set(connection, socket));
    this.#open.set(socket, { socket, tell: () => send('answered', '') });
    if (this.#count++ === 0) subscribe(ANSWERED, this.#answered);
    socket.once('close', () => {
      sockets.delete(connection);
      if (--this.#count === 0) unsubscribe(ANSWERED, this.#answered);
    });
    Reflect.set(socket, 'server', server);
    // What comes here has been through TLS.
    server.emit(peer.secure === null ? 'connection' : 'secureConnection', socket);
    return socket;
  }

  readonly #answered = (message: unknown): void => {
    const { socket, tell } = this.#open.get(Object(Reflect.get(Object(message), 'socket'))) ?? {};
    if (socket === undefined || tell === undefined) return;
    this.answered++;
    if (socket.isWhole) return;
    tell();
    // How long it may wait for its next request is for the loop to say that has it. Node sets that when it has told of the answer.
    process.nextTick(() => void (socket.destroyed || socket.setTimeout(0)));
  };
}
