/**
 * Gives: how many of the requests that have come to this loop have no answer yet, of those that came since somebody wants to know.
 *
 * Nobody is told when a client goes away before its answer, so they are kept and looked at.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import fastPath from './fast-path/born-as-express.cjs';

/** So many are looked at each time; of more the number is known well enough from time to time. */
const MOST = 128;
const LOOK_EVERY = 32;

interface Open {
  readonly response: Pick<ServerResponse, 'writableEnded'>;
  readonly socket: Pick<Socket, 'destroyed'>;
}

export class UnderWay {
  readonly #isWanted: () => boolean;
  #open: Open[] = [];
  #asked = 0;

  constructor(isWanted: () => boolean) {
    this.#isWanted = isWanted;
    const begins = (message: unknown): void => this.begins(message as Open);
    fastPath.isHarmless(begins);
    subscribe('http.server.request.start', begins);
  }

  begins(open: Open): void {
    if (this.#isWanted()) this.#open.push(open);
    else if (this.#open.length > 0) this.#open = [];
  }

  get count(): number {
    const isDue = this.#open.length <= MOST || this.#asked++ % LOOK_EVERY === 0;
    if (isDue) this.#open = this.#open.filter(({ response, socket }) => !response.writableEnded && !socket.destroyed);
    return this.#open.length;
  }
}
