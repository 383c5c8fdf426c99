/**
 * The body of a request at a replica: asks home for it when a handler reads, and no faster than it does.
 */
import type { IncomingMessage } from 'node:http';
import { WINDOW } from './home-body.js';
import type { BodyState } from './messages.js';
import { endRequest } from './stand-in.js';

export class ReplicaBody {
  readonly #req: IncomingMessage;
  readonly #hasNone: boolean;
  /** So many bytes have been taken in all. */
  readonly #ask: (taken: number) => void;
  #isWhole: boolean;
  #received = 0;
  #told = -1;

  constructor(req: IncomingMessage, state: BodyState, ask: (taken: number) => void) {
    this.#req = req;
    this.#hasNone = state === 'none';
    this.#isWhole = state !== 'stream';
    this.#ask = ask;
  }

  /** All of it is here. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  get wasAskedFor(): boolean {
    return this.#told >= 0;
  }

  get isReading(): boolean {
    const req = this.#req;
    if (req.readableEnded || this.#isWhole || req.destroyed) return false;
    return req.readableFlowing !== null || req.listenerCount('readable') > 0;
  }

  pull(): void {
    if (this.#isWhole) return;
    const taken = this.#received - this.#req.readableLength;
    if (this.#told >= 0 && taken - this.#told < WINDOW / 2) return;
    this.#told = taken;
    this.#ask(taken);
  }

  take(chunks: readonly Uint8Array[], trailers: readonly string[] | null): void {
    for (const chunk of chunks) {
      this.#received += chunk.byteLength;
      this.#req.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    }
    if (trailers === null || this.#isWhole) return;
    this.#isWhole = true;
    endRequest(this.#req, trailers);
  }

  /** That there is none was found out by reading: whoever comes next at home must find that it has been. */
  tellEnd(): void {
    const req = this.#req;
    if (!this.#hasNone || this.#told >= 0 || !(req.readableEnded || req.readableFlowing === true)) return;
    this.#told = 0;
    this.#ask(0);
  }
}
