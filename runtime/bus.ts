/**
 * Messages between two loops, over a port that gives back what is put in at the other end, in order. Several messages of
 * one turn go in one post; the receiver says how many it has taken, so that a sender can tell a loop that keeps up from
 * one that does not.
 *
 *     send ─┐                                        ┌─> receive
 *     send ─┼─> [taken, message, message, …] ─ port ─┼─> receive      a frame begins with how many messages
 *     send ─┘                                        └─> receive      its sender has taken since its last frame
 */
import { performance } from 'node:perf_hooks';
import timers from 'node:timers';
import type { Transferable } from 'node:worker_threads';

/** What the bus needs of a MessagePort, or of anything that may take its place. */
export interface Wire {
  postMessage(value: unknown, transfer?: readonly Transferable[]): void;
  on(event: 'message', listener: (value: unknown) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  unref(): void;
  close(): void;
}

export interface ChannelOptions<Out, In> {
  /** As it is sent, and back. */
  readonly wire?: { pack(message: Out): unknown; unpack(packed: unknown): In };
  receive(message: In): void;
  /** The other side is gone; nothing will be received any more. */
  closed(): void;
  /** How many messages may wait on the other side before `isFull`. */
  readonly window: number;
  /** So many messages are taken before the other side is told, when there is nothing else to tell it. */
  readonly ackEvery: number;
  /** All that came at once has been received: the other side has got on. */
  took?(): void;
  /** Of each message that is sent or received, where somebody wants to know. */
  weigh?(message: unknown): void;
}

/** The genuine ones: an app, and the firewall, may put others in their place later. */
const { setImmediate } = timers;
const now = performance.now.bind(performance);

/** What is ready to be sent waits no longer for what this loop computes. */
const LONG_MS = 1;

export class Channel<Out, In> {
  readonly #wire: Wire;
  readonly #options: ChannelOptions<Out, In>;
  #frame: unknown[] | null = null;
  #transfer: Transferable[] = [];
  #taken = 0;
  #waiting = 0;
  #sent = 0;
  #isOpen = true;

  constructor(wire: Wire, options: ChannelOptions<Out, In>) {
    this.#wire = wire;
    this.#options = options;
    wire.on('message', (frame) => this.#receive(frame as readonly [number, ...In[]]));
    wire.on('close', () => this.#close());
    wire.unref();
  }

  /** Messages that the other side has not taken yet. */
  get waiting(): number {
    return this.#waiting;
  }

  get isFull(): boolean {
    return this.#waiting >= this.#options.window;
  }

  /** All that were ever sent. */
  get sent(): number {
    return this.#sent;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Dropped where the other side is gone: whoever waits for an answer hears of that by `closed`. */
  send(message: Out, transfer?: readonly Transferable[]): void {
    if (!this.#isOpen) return;
    this.#sent++;
    this.#waiting++;
    this.#options.weigh?.(message);
    if (this.#frame === null) this.#begin();
    const { wire } = this.#options;
    this.#frame?.push(wire === undefined ? message : wire.pack(message));
    if (transfer !== undefined) this.#transfer.push(...transfer);
  }

  /** The same at once, so that the loop has nothing under way that the program could see. */
  sendAtOnce(message: Out): void {
    if (!this.#isOpen) return;
    this.#frame ??= [0];
    this.send(message);
    this.flush();
  }

  /** At once: for what must be known even if this turn never ends. */
  flush(): void {
    const frame = this.#frame;
    if (frame === null || !this.#isOpen) return;
    frame[0] = this.#taken;
    this.#frame = null;
    this.#taken = 0;
    const transfer = this.#transfer;
    if (transfer.length > 0) this.#transfer = [];
    this.#wire.postMessage(frame, transfer);
  }

  close(): void {
    this.flush();
    this.#wire.close();
  }

  #begin(): void {
    this.#frame = [0];
    // After all that this turn of the loop has read: messages of several requests then share a post.
    setImmediate(() => this.flush());
  }

  #receive(frame: readonly [number, ...In[]]): void {
    const { receive, took, weigh, ackEvery, wire } = this.#options;
    this.#waiting -= frame[0];
    let begin = now();
    for (let index = 1; index < frame.length; index++) {
      const message = wire === undefined ? (frame[index] as In) : wire.unpack(frame[index]);
      this.#taken++;
      weigh?.(message);
      receive(message);
      const end = now();
      // The turn ends when all messages that are there have been received; each may be a handler that computes for long.
      if (end - begin >= LONG_MS) this.flush();
      begin = end;
    }
    took?.();
    if (this.#taken >= ackEvery && this.#frame === null) this.#begin();
  }

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#options.closed();
  }
}
