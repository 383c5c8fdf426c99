/**
 * Connections that home has for a while: a replica has given each back when a request came on it that home has to serve.
 *
 *     after that answer ──> back to where it came from ── few requests later it is here again ──> stays for 0.2 s, 0.4 s … 50 s
 *
 * Those that mostly ask for what is home's so come to be home's.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type http from 'node:http';
import net from 'node:net';
import { performance } from 'node:perf_hooks';
import process from '../node-process.cjs';
import { isIdle } from './connections.js';
import { type Begun, MOST_VAIN } from './pipe-bytes.js';
import { whenClosed } from './untouched.js';

const ANSWERED = 'http.server.response.finish';
/** Fewer requests between two of home's are not worth the two ways. */
const WORTH = 4;
const STAY_MS = 100;

export interface Guest<From> {
  readonly from: From;
  /** How often it has been given back after few requests. */
  readonly vain: number;
  /** When it may go. */
  readonly until: number;
}

export class Guests<From> {
  readonly #server: http.Server;
  readonly #guests = new Map<net.Socket, Guest<From>>();
  readonly #mayGo: (socket: net.Socket, guest: Guest<From>) => void;

  /** `mayGo`: the answer that one came for has been sent. */
  constructor(server: http.Server, mayGo: (socket: net.Socket, guest: Guest<From>) => void) {
    this.#server = server;
    this.#mayGo = mayGo;
  }

  /** Before what has begun on it is read here. */
  add(socket: net.Socket, from: From, { answered, vain }: Begun): void {
    const times = answered >= WORTH ? Math.max(0, vain - 1) : Math.min(vain + 1, MOST_VAIN);
    const until = times === 0 ? 0 : performance.now() + STAY_MS * 2 ** times;
    if (this.#guests.size === 0) subscribe(ANSWERED, this.#answered);
    this.#guests.set(socket, { from, vain: times, until });
    whenClosed(socket, () => this.#forget(socket));
  }

  get(socket: net.Socket): Guest<From> | null {
    return this.#guests.get(socket) ?? null;
  }

  /** How many are from there; all that there are. */
  count(from: From | null = null): number {
    if (from === null) return this.#guests.size;
    let count = 0;
    for (const guest of this.#guests.values()) if (guest.from === from) count++;
    return count;
  }

  readonly #answered = (message: unknown): void => {
    const socket: unknown = Reflect.get(Object(message), 'socket');
    const guest = socket instanceof net.Socket ? this.#guests.get(socket) : undefined;
    if (guest === undefined || guest.until > 0 || !(socket instanceof net.Socket)) return;
    // Node goes on with what follows an answer when it has told of it.
    process.nextTick(() => {
      if (isIdle(this.#server, socket)) this.#mayGo(socket, guest);
    });
  };

  #forget(socket: net.Socket): void {
    if (this.#guests.delete(socket) && this.#guests.size === 0) unsubscribe(ANSWERED, this.#answered);
  }
}
