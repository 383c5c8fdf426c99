/**
 * Gives: at home, the socket of a connection that a replica has. To Node's server it is a socket like others: what comes on the
 *        replica's one is read from it, as far as it is for home, and what is written to it is written there.
 */
import net from 'node:net';
import { type Address, isAsked } from '../http-bridge/addresses.js';
import type { FarAnswer, FarPeer } from '../messages.js';

/** More than that is on the way, or waits there to be written: the writer has to wait. */
const MOST_ON_THE_WAY = 65_536;
/** More than that has come and was not read: no more is to come for now. */
const MOST_UNREAD = 262_144;

type Done = (error?: Error | null) => void;
type Chunk = { readonly chunk: Buffer | string; readonly encoding: BufferEncoding };

export class FarSocket extends net.Socket {
  readonly #send: (what: FarAnswer, bytes: string) => void;
  readonly #remote: Address;
  readonly #local: Address;
  #read = 0;
  #onTheWay = 0;
  #waiting: Done | null = null;
  #isGone = false;
  #isHeld = false;
  /** All that comes on the real one is read here, request or not. */
  isWhole = false;

  constructor(
    options: net.SocketConstructorOpts,
    { remote, local }: FarPeer,
    send: (what: FarAnswer, bytes: string) => void,
  ) {
    super(options);
    this.#send = send;
    this.#remote = remote;
    this.#local = local;
    Reflect.set(this, '_bytesDispatched', 0);
    Object.defineProperty(this, 'pending', { value: false, configurable: true });
    Object.defineProperty(this, 'bytesRead', { get: () => this.#read, configurable: true });
  }

  /** Node's own properties (`remoteAddress`, …) ask these, and Node's ask the handle, which is not here. Node keeps the first when it was asked for. */
  _getpeername(): Address {
    if (!this.destroyed && !isAsked(this)) Reflect.set(this, '_peername', this.#remote);
    return Object(Reflect.get(this, '_peername'));
  }

  _getsockname(): Address {
    return this.destroyed ? {} : this.#local;
  }

  override _read(): void {
    if (this.#isHeld) this.#send('go', '');
    this.#isHeld = false;
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: Done): void {
    this.#write(latin1(chunk, encoding), done);
  }

  override _writev(chunks: readonly Chunk[], done: Done): void {
    this.#write(chunks.map(({ chunk, encoding }) => latin1(chunk, encoding)).join(''), done);
  }

  override _final(done: Done): void {
    this.#send('end', '');
    done();
  }

  override _destroy(error: Error | null, done: Done): void {
    // Whatever has come since then nobody has seen.
    if (!this.#isGone) this.#send('close', `${this.#read - this.readableLength}`);
    this.#isGone = true;
    super._destroy(error, done);
  }

  #write(bytes: string, done: Done): void {
    this.#onTheWay += bytes.length;
    Reflect.set(this, '_bytesDispatched', Number(Reflect.get(this, '_bytesDispatched')) + bytes.length);
    const isMuch = this.#onTheWay > MOST_ON_THE_WAY;
    this.#send(isMuch ? 'much' : 'bytes', bytes);
    if (isMuch) this.#waiting = done;
    else done();
  }

  // --- what is told of the real one ---------------------------------------------------------------------------------------

  reads(bytes: string): void {
    if (this.destroyed) return;
    const refresh: unknown = Reflect.get(this, '_unrefTimer');
    if (typeof refresh === 'function') Reflect.apply(refresh, this, []);
    this.#read += bytes.length;
    this.push(Buffer.from(bytes, 'latin1'));
    if (!this.isWhole || this.#isHeld || this.readableLength < MOST_UNREAD) return;
    this.#isHeld = true;
    this.#send('hold', '');
  }

  /** All that was sent so far has been written. */
  wrote(): void {
    this.#onTheWay = 0;
    const done = this.#waiting;
    this.#waiting = null;
    done?.();
  }

  ended(): void {
    if (this.destroyed) return;
    this.push(null);
    this.read(0);
  }

  gone(): void {
    this.#isGone = true;
    this.destroy();
  }
}

/** What crosses is text of one byte for each character: that costs least. */
function latin1(chunk: Buffer | string, encoding: BufferEncoding): string {
  if (typeof chunk !== 'string') return chunk.toString('latin1');
  if (encoding === 'latin1' || encoding === 'binary') return chunk;
  return Buffer.from(chunk, encoding).toString('latin1');
}
