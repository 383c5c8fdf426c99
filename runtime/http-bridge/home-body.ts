/**
 * Reads: the body of a request at home, when a replica asks for it and no faster than it takes it.
 * Gives: its chunks in messages; and, as long as nothing has come of the exchange, what was read, so that the request
 *        can be run again at home.
 *
 *    request ── read() ──→ sent, kept up to KEPT ──→ replica
 *               ↑ pauses while WINDOW bytes are on the way
 *
 * The stream is read without letting it end, which would be final; `release` does that.
 */
import type { IncomingMessage } from 'node:http';

export const WINDOW = 262_144;
const KEPT = 1_048_576;

type SendBody = (chunks: Uint8Array[], trailers: string[] | null) => void;

export class HomeBody {
  #sent = 0;
  #taken = 0;
  #ended = false;
  #reading = false;
  #released = false;
  /** Null: too much to keep, or no longer needed. */
  #kept: Uint8Array[] | null = [];
  #keptBytes = 0;
  /** What may not have been taken yet. */
  #underWay: Uint8Array[] = [];
  #underWayBytes = 0;

  constructor(
    readonly req: IncomingMessage,
    readonly send: SendBody,
  ) {}

  pull(taken: number): void {
    this.#taken = taken;
    this.#drop(taken);
    if (!this.#reading) {
      this.#reading = true;
      this.req.on('readable', this.#read);
      // All of it is here: what comes of it may follow in the same turn.
      if (this.req.complete) this.#read();
    } else this.#read();
  }

  readonly #read = (): void => {
    if (this.#ended) return;
    const chunks: Uint8Array[] = [];
    while (this.#sent - this.#taken < WINDOW && this.req.readableLength > 0) {
      // Asked for without a number, the last chunk would bring the end with it. Asked for more than its mark, the stream would raise that,
      // and then read as much from a client that is to wait.
      const chunk: unknown = this.req.read(Math.min(this.req.readableLength, this.req.readableHighWaterMark));
      if (chunk === null) break;
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk, this.req.readableEncoding ?? 'utf8') : chunk;
      if (!(bytes instanceof Uint8Array)) break;
      this.#keep(bytes);
      this.#sent += bytes.length;
      this.#underWay.push(bytes);
      this.#underWayBytes += bytes.length;
      chunks.push(bytes);
    }
    // The parser has seen the end; reading once more would end the stream.
    this.#ended = this.req.complete && this.req.readableLength === 0;
    if (chunks.length > 0 || this.#ended) this.send(chunks, this.#ended ? this.req.rawTrailers : null);
    if (this.#ended) this.#stop();
    else if (this.req.readableLength === 0 && this.#sent - this.#taken < WINDOW) this.req.read(0);
  };

  #keep(bytes: Uint8Array): void {
    if (this.#kept === null) return;
    this.#keptBytes += bytes.length;
    if (this.#keptBytes > KEPT) this.#kept = null;
    else this.#kept.push(bytes);
  }

  #stop(): void {
    this.req.off('readable', this.#read);
    if (this.#released) this.req.resume();
  }

  /** All of it was read, and the stream has not said so yet; it will in a moment. */
  get isEnding(): boolean {
    return this.#ended && this.#released && !this.req.readableEnded && !this.req.destroyed;
  }

  /** Something has come of the exchange: it will not be run again, so the stream may end as it would have. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#kept = null;
    if (this.#ended) this.req.resume();
  }

  /** The exchange is over. It may be kept for long: as long as somebody at the replica has the request. */
  close(): void {
    this.release();
    this.#underWay = [];
    this.#underWayBytes = 0;
  }

  /** All but the first `taken` bytes is left to whoever comes next; nobody reads it here any more. */
  leave(taken: number): void {
    this.req.off('readable', this.#read);
    this.#released = true;
    this.#kept = null;
    this.#drop(taken);
    if (this.req.readableEnded || this.req.destroyed) return;
    const from = taken - (this.#sent - this.#underWayBytes);
    const rest = Buffer.concat(this.#underWay).subarray(from);
    if (rest.length > 0) this.req.unshift(rest);
    this.req.pause();
  }

  #drop(taken: number): void {
    for (;;) {
      const [first] = this.#underWay;
      if (first === undefined || this.#sent - this.#underWayBytes + first.length > taken) return;
      this.#underWay.shift();
      this.#underWayBytes -= first.length;
    }
  }

  /** False: some of it is gone for good. */
  restore(): boolean {
    this.#released = true;
    if (!this.#reading) return true;
    this.req.off('readable', this.#read);
    if (this.#kept === null) return false;
    for (const chunk of this.#kept.reverse()) this.req.unshift(Buffer.from(chunk));
    this.#kept = null;
    return true;
  }
}
