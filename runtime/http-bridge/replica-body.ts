/**
 * The body of a request at a replica: asks home for it when a handler reads, and no faster than it does.
 */
import type { IncomingMessage } from 'node:http';
import process from '../node-process.cjs';
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
  #isGivenBack = false;
  #isAsking = false;

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

  /** Somebody reads it who may go on with that. */
  get isReading(): boolean {
    return this.#isLeft && (this.#req.readableFlowing === true || this.#req.listenerCount('readable') > 0);
  }

  /** Somebody was to read it and does not want it any more: it was too long, for instance. */
  get isHalted(): boolean {
    return this.#isLeft && this.#req.readableFlowing === false && this.#req.listenerCount('readable') === 0;
  }

  get #isLeft(): boolean {
    return !this.#req.readableEnded && !this.#isWhole && !this.#req.destroyed && !this.#isGivenBack;
  }

  /** What has not been taken is home's again. Gives how much has. */
  giveBack(): number {
    this.#isGivenBack = true;
    return this.#received - this.#req.readableLength;
  }

  pull(): void {
    if (this.#isWhole || this.#isGivenBack || this.#isAsking) return;
    if (this.#told < 0) return this.#askFrom(this.#received - this.#req.readableLength);
    // A stream asks for more before it counts what is being read, and asks once only until it has got some.
    this.#isAsking = true;
    process.nextTick(() => {
      this.#isAsking = false;
      const taken = this.#received - this.#req.readableLength;
      if (!this.#isWhole && !this.#isGivenBack && taken - this.#told >= WINDOW / 2) this.#askFrom(taken);
    });
  }

  #askFrom(taken: number): void {
    this.#told = taken;
    this.#ask(taken);
  }

  take(chunks: readonly Uint8Array[], trailers: readonly string[] | null): void {
    if (this.#isGivenBack) return;
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
