/**
 * How a body is divided into chunks. What is written in one turn Node 26 sends as one chunk, as older versions do between `cork()` and
 * `uncork()`: until then it keeps the texts back. Home hears in one turn of what may have been written in several, and makes the same chunks of it.
 */
import type { ServerResponse } from 'node:http';
import process from '../node-process.cjs';
import { genuine, KEPT_BACK } from './genuine.js';

/** Of something that is written: it goes by itself, it is the first that is kept back, or it joins what is kept back already. */
export type Flow = 'apart' | 'begins' | 'joins';

export function isKeptBack(res: ServerResponse): boolean {
  const kept: unknown = KEPT_BACK === undefined ? undefined : Reflect.get(res, KEPT_BACK);
  return Array.isArray(kept) && kept.length > 0;
}

const corks = new WeakMap<ServerResponse, number>();

/** How often handlers elsewhere have said `cork()` and not yet `uncork()`. */
export function corksOf(res: ServerResponse): number {
  return corks.get(res) ?? 0;
}

/** At home, as the handler did it elsewhere. */
export function doCork(res: ServerResponse, what: 'cork' | 'uncork'): void {
  corks.set(res, Math.max(0, corksOf(res) + (what === 'cork' ? 1 : -1)));
  Reflect.apply(genuine[what], res, []);
}

/** Of home's response. */
export class KeptBack {
  readonly #res: ServerResponse;
  #isHeld = false;

  constructor(res: ServerResponse) {
    this.#res = res;
  }

  /** Before something is written. */
  divide(flow: Flow): void {
    if (flow !== 'joins') this.send();
    if (flow === 'begins') this.#hold();
    else if (flow === 'apart') this.#holdConnection();
  }

  send(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    // The end of the response has sent it, and has let go of it.
    if (this.#res.writableCorked > 0) Reflect.apply(genuine.uncork, this.#res, []);
  }

  #hold(): void {
    if (this.#res.writableCorked > 0) return;
    Reflect.apply(genuine.cork, this.#res, []);
    this.#isHeld = true;
    process.nextTick(() => this.send());
  }

  /** Node keeps nothing back while somebody else sees to it that the connection is not asked for each piece. */
  #holdConnection(): void {
    const { socket } = this.#res;
    if (socket === null || socket.writableCorked > 0) return;
    socket.cork();
    process.nextTick(() => socket.uncork());
  }
}
