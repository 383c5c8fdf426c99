/**
 * Reads: calls of a stand-in's methods that send something.
 * Gives: each call done on the stand-in first, with Node's own checks and errors, and then as a step for home, which makes
 *        the same call on the real response.
 */
import type { ServerResponse } from 'node:http';
import { genuine } from './genuine.js';
import { headChange, setResponse } from './headers.js';
import { isKeptBack } from './kept-back.js';
import type { Chunk, Envelope, ResponseState } from './messages.js';
import type { Outbox } from './outbox.js';
import type { Information, Recorded, Recorder } from './record-response.js';
import { catchUp } from './stand-in.js';
import type { StandInSocket } from './stand-in-socket.js';

/** Chunks from here on are handed over rather than copied once more. */
const WORTH_TRANSFER = 16_384;

type Callback = (error?: Error | null) => void;

export class ResponseSteps implements Recorder {
  readonly #res: ServerResponse;
  readonly #socket: StandInSocket;
  readonly #outbox: Outbox;
  /** Home has to know what was changed before this. */
  readonly #settles: () => void;
  #before: ResponseState;
  /** Calls of the app's that are being done: what they call in turn is no step of its own. */
  #depth = 0;
  #isQuiet = true;
  /** How often the app has said `cork()` and not yet `uncork()`. */
  #corks = 0;
  #ended = false;
  readonly #callbacks = new Map<number, readonly Callback[]>();
  #lastCallback = 0;
  #atEnd: readonly Callback[] = [];

  constructor(res: ServerResponse, socket: StandInSocket, before: ResponseState, outbox: Outbox, settles: () => void) {
    this.#res = res;
    this.#socket = socket;
    this.#before = before;
    this.#outbox = outbox;
    this.#settles = settles;
  }

  /** From now on, or no longer, its calls are steps. */
  set isQuiet(isQuiet: boolean) {
    this.#isQuiet = isQuiet;
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  /** Is Node writing, because the app called a method of the response? */
  get isWriting(): boolean {
    return this.#depth > 0 || this.#isQuiet;
  }

  /** Is it writing now, and not at the end yet? What it has written waits for home, which says when all of it was sent. */
  get isInCall(): boolean {
    return this.#depth > 0 && !this.#ended;
  }

  /** What home has sent already; nobody is told. */
  catchUp({ progress, corks }: Pick<Envelope, 'progress' | 'corks'>): void {
    this.#corks = corks;
    this.#depth++;
    try {
      catchUp(this.#res, progress);
      for (let cork = 0; cork < corks; cork++) Reflect.apply(genuine.cork, this.#res, []);
    } finally {
      this.#depth--;
    }
  }

  get hasCallbacks(): boolean {
    return this.#callbacks.size > 0;
  }

  call(method: Recorded, args: unknown[]): unknown {
    const res = this.#res;
    if (this.#isQuiet) return Reflect.apply(genuine[method], res, args);
    if (method === 'writeHead') return this.#writeHead(args);
    const wasEnded = res.writableEnded;
    const wasKept = isKeptBack(res);
    this.#depth++;
    let result: unknown;
    try {
      result = Reflect.apply(genuine[method], res, args);
    } finally {
      this.#depth--;
    }
    if (!wasEnded && this.#depth === 0) this.#pushCall(method, args, result, wasKept);
    return result;
  }

  #writeHead(args: unknown[]): unknown {
    const res = this.#res;
    if (res.headersSent) return Reflect.apply(genuine.writeHead, res, args);
    const head = headChange(res, this.#before);
    const sent = args.map(plainArgument);
    const isImplicit = this.#depth > 0 && args.length === 1;
    const length = res._contentLength;
    this.#depth++;
    try {
      Reflect.apply(genuine.writeHead, res, args);
    } finally {
      this.#depth--;
    }
    this.#settles();
    this.#outbox.push({ do: 'head', head: isImplicit ? { ...head, statusCode: res.statusCode } : head });
    if (!isImplicit) this.#outbox.push({ do: 'writeHead', args: sent, length });
    return res;
  }

  /** What was set so far, where nothing was sent yet. */
  pushHead(): void {
    if (this.#res.headersSent) return;
    this.#outbox.push({ do: 'head', head: headChange(this.#res, this.#before) });
    this.#before = readAgain(this.#res, this.#before);
  }

  #pushCall(method: Exclude<Recorded, 'writeHead'>, args: unknown[], result: unknown, wasKept: boolean): void {
    switch (method) {
      case 'write':
        return this.#pushWrite(args, result, wasKept);
      case 'end':
        return this.#pushEnd(args, wasKept);
      case 'cork':
        this.#corks++;
        return this.#outbox.push({ do: 'cork' });
      case 'uncork':
        // Node lets go by itself of what it has kept back by itself, as it does at home.
        if (this.#corks === 0) return;
        this.#corks--;
        return this.#outbox.push({ do: 'uncork' });
      case 'flushHeaders':
        return this.#outbox.push({ do: 'flushHeaders' });
      case 'addTrailers':
        return this.#outbox.push({ do: 'addTrailers', trailers: plainArgument(args[0]) });
      default:
        return this.#pushInformation(method, args);
    }
  }

  #pushWrite(args: unknown[], result: unknown, wasKept: boolean): void {
    const chunk = this.#chunkOf(args[0]);
    if (chunk === undefined) return;
    const encoding = typeof args[1] === 'string' ? args[1] : undefined;
    const waits = args.some((arg) => typeof arg === 'function');
    const callback = waits ? this.#keepCallbacks() : 0;
    const flow = !isKeptBack(this.#res) ? 'apart' : wasKept ? 'joins' : 'begins';
    this.#outbox.push({ do: 'write', chunk, encoding, callback, full: result === false, flow });
  }

  #pushEnd(args: unknown[], joins: boolean): void {
    const chunk = typeof args[0] === 'function' ? undefined : this.#chunkOf(args[0]);
    const encoding = typeof args[1] === 'string' ? args[1] : undefined;
    this.#atEnd = this.#socket.takeCallbacks();
    this.#ended = true;
    this.#settles();
    this.#outbox.push({ do: 'end', chunk, encoding, tell: true, joins });
  }

  #pushInformation(method: Information, args: unknown[]): void {
    const given = args.filter((arg) => typeof arg !== 'function').map(plainArgument);
    const callback = given.length < args.length ? this.#keepCallbacks() : 0;
    this.#outbox.push({ do: 'inform', method, args: given, callback });
  }

  /** Copied now: the app may use the memory again before the turn is over. */
  #chunkOf(chunk: unknown): Chunk | undefined {
    if (typeof chunk === 'string') return chunk;
    if (!(chunk instanceof Uint8Array)) return undefined;
    const copy = new Uint8Array(chunk);
    if (copy.byteLength >= WORTH_TRANSFER) this.#outbox.handOver(copy.buffer);
    return copy;
  }

  #keepCallbacks(): number {
    this.#callbacks.set(++this.#lastCallback, this.#socket.takeCallbacks());
    return this.#lastCallback;
  }

  // --- from home ------------------------------------------------------------------------------------------------------

  called(id: number, failed: boolean): void {
    const callbacks = this.#callbacks.get(id) ?? [];
    this.#callbacks.delete(id);
    for (const callback of callbacks) callback(failed ? new Error('the connection was closed') : null);
  }

  /** Nobody will say more of what was written. */
  release(failed: boolean): void {
    for (const id of [...this.#callbacks.keys()]) this.called(id, failed);
  }

  /** Home has changed it, and nothing of that is to go back. */
  renew(state: ResponseState): void {
    this.#before = state;
    if (this.#res.headersSent) return;
    for (const name of this.#res.getHeaderNames()) genuine.removeHeader.call(this.#res, name);
    setResponse(this.#res, state);
  }

  /** All of it was sent: Node's part of the end, and callbacks that have waited for it. */
  finish(): void {
    this.release(false);
    // Of a response that home has ended, nothing has been written here.
    if (this.#atEnd.length === 0) process.nextTick(() => this.#res.emit('finish'));
    else process.nextTick(runAll, this.#atEnd);
  }

  /** Those of an end that home has made. */
  takeEnd(): void {
    this.#atEnd = this.#socket.takeCallbacks();
  }
}

function runAll(callbacks: readonly Callback[]): void {
  for (const callback of callbacks) callback(null);
}

function readAgain(res: ServerResponse, before: ResponseState): ResponseState {
  const { statusCode, statusMessage, flags, set } = headChange(res, { ...before, headers: [] });
  return { statusCode, statusMessage, headers: set, flags };
}

/** Status, headers and hints as Node takes them: lists or objects of texts. */
function plainArgument(arg: unknown): unknown {
  if (Array.isArray(arg)) return arg.map(plainArgument);
  if (typeof arg !== 'object' || arg === null)
    return typeof arg === 'function' || typeof arg === 'symbol' ? String(arg) : arg;
  if (arg instanceof Uint8Array) return Buffer.from(arg).toString('latin1');
  const plain: { [name: string]: unknown } = {};
  for (const [name, value] of Object.entries(arg)) plain[name] = plainArgument(value);
  return plain;
}
