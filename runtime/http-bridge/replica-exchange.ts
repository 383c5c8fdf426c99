/**
 * An exchange at a replica: stand-ins for a request and a response that home holds.
 *
 * Reads:   an envelope, and what home tells later: body, acknowledgements, the end.
 * Gives:   `req`, `res` and `next` for a handler; what it does with them as steps for home, one message for each turn.
 * Reports: what cannot travel, to home, which then runs the request by itself; nothing else is sent after that.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { applyFixes, CannotTravel, Encoder, type Fix } from '../codec.js';
import { callHandler, type Handler } from './call-handler.js';
import { genuine, NEED_DRAIN } from './genuine.js';
import { headChange, headersIntact, setResponse } from './headers.js';
import { WINDOW } from './home-body.js';
import type { Changes, Chunk, Envelope, ExchangeId, ResponseState, Step, ToHome, ToReplica } from './messages.js';
import { type AppNames, ExchangeRefs } from './names.js';
import { Given, type RealObject } from './properties.js';
import { type Information, type Recorded, type Recorder, recorders, recordResponses } from './record-response.js';
import { isThenable } from './run-at-home.js';
import { catchUp, makeRequest, makeResponse, setAppPrototypes } from './stand-in.js';
import { type SocketOwner, StandInSocket } from './stand-in-socket.js';

/** Chunks from here on are handed over rather than copied once more. */
const WORTH_TRANSFER = 16_384;

export interface ReplicaSide {
  readonly app: AppNames;
  send(message: ToHome, transfer: ArrayBuffer[]): void;
  /** Nothing more will be sent or received. */
  closed(id: ExchangeId): void;
  /** Where both sides are one loop: what cannot travel is handed over as it is. */
  readonly real?: Real;
}

/** What home has. */
export interface Real {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Gives a name under which home finds it. */
  keep(thing: unknown): unknown;
  /** What home has under a name; it is to be told first what was done here. */
  read(exchange: ReplicaExchange, part: 'req' | 'res', key: string): unknown;
}

export function openExchange(envelope: Envelope, side: ReplicaSide): ReplicaExchange {
  recordResponses();
  return new ReplicaExchange(envelope, side);
}

export class ReplicaExchange implements Recorder, SocketOwner {
  readonly id: ExchangeId;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly next: (...args: unknown[]) => void;
  readonly refs: ExchangeRefs;
  readonly #side: ReplicaSide;
  readonly #socket: StandInSocket;
  readonly #given: { readonly req: Given; readonly res: Given };
  #before: ResponseState;
  #headers: { readonly [name: string]: unknown } | null;
  /** Calls of the app's that are being done: what they call in turn is no step of its own. */
  #depth = 0;
  #quiet = true;
  #steps: Step[] = [];
  #transfer: ArrayBuffer[] = [];
  /** Something was sent or handed on, before which home has to know what was changed. */
  #settles = false;
  #ended = false;
  #handedOn = false;
  #inCall = false;
  #scheduled = false;
  #over = false;
  #failed = false;
  #received = 0;
  #told = -1;
  #callbacks = new Map<number, readonly ((error?: Error | null) => void)[]>();
  #lastCallback = 0;
  #atEnd: readonly ((error?: Error | null) => void)[] = [];

  constructor(envelope: Envelope, side: ReplicaSide) {
    this.id = envelope.id;
    this.#side = side;
    this.#socket = new StandInSocket(envelope.connection, this);
    this.req = makeRequest(envelope, this.#socket);
    this.res = makeResponse(envelope, this.req, this.#socket);
    this.next = (...args) => this.#next(args);
    this.refs = new ExchangeRefs(this, side.app);
    applyFixes(envelope.fixes, this.refs);
    const fail = (what: string, why: string): never => this.fail(what, why);
    this.#given = {
      req: Given.put(this.req, 'req', envelope.req, fail, this.#real('req')),
      res: Given.put(this.res, 'res', envelope.res, fail, this.#real('res')),
    };
    this.#headers = envelope.headers === null ? null : { ...envelope.headers };
    this.#before = envelope.response;
    if (envelope.app !== null) this.#enterApp(envelope.app);
    this.res.on('finish', this.#onFinish);
    recorders.set(this.res, this);
    catchUp(this.res, envelope.progress);
    if (envelope.progress !== 'open') this.#socket.takeCallbacks();
    this.#socket.drained();
    this.#quiet = false;
  }

  #real(part: 'req' | 'res'): RealObject | null {
    const { real } = this.#side;
    return real === undefined ? null : { object: real[part], read: (key) => real.read(this, part, key) };
  }

  /** Home has changed something itself, while a function of its own was called here. */
  renew(envelope: Envelope): void {
    if (this.#failed || this.#over) return;
    applyFixes(envelope.fixes, this.refs);
    this.#given.req.renew(envelope.req);
    this.#given.res.renew(envelope.res);
    this.#before = envelope.response;
    if (envelope.progress === 'ended') this.#finishedAtHome(envelope.response);
    if (this.res.headersSent) return;
    for (const name of this.res.getHeaderNames()) genuine.removeHeader.call(this.res, name);
    setResponse(this.res, envelope.response);
  }

  #enterApp(name: unknown): void {
    const app = this.refs.thingOf(name);
    if (typeof app !== 'function') throw new CannotTravel('req.app', 'this loop does not know the app');
    setAppPrototypes(this.req, this.res, app);
    Reflect.set(this.req, 'res', this.res);
    Reflect.set(this.res, 'req', this.req);
    Reflect.set(this.req, 'next', this.next);
  }

  // --- the handler ----------------------------------------------------------------------------------------------------

  call(method: Recorded, args: unknown[]): unknown {
    return this.#record(method, args);
  }

  /** Home is told how it came out, also of a promise that it gave. */
  run(handler: Handler, receiver: unknown, args: unknown[]): unknown {
    this.#inCall = true;
    try {
      const result = callHandler(handler, receiver, args);
      if (isThenable(result)) result.then(undefined, (error: unknown) => this.#settle('rejected', error));
      return result;
    } catch (error) {
      this.#settle('threw', error);
      return undefined;
    } finally {
      this.#inCall = false;
      this.#flush();
    }
  }

  #settle(how: 'threw' | 'rejected', error: unknown): void {
    if (this.#failed) return;
    this.#pushEncoded((holder, fixes) => ({ do: how, error: holder, fixes }), [error], 'the error');
  }

  #next(args: unknown[]): void {
    if (this.#failed) return;
    if (this.#isReading()) this.fail('req', 'its body is being read here while the chain goes on at home');
    this.#handedOn = true;
    this.#settles = true;
    if (!this.res.headersSent) this.#pushHead();
    this.#pushEncoded(
      (holder, fixes) => ({ do: 'next', arg: holder, fixes }),
      args.slice(0, 1),
      'what was given to next',
    );
    // Nothing lies between: the chain goes on before `next` returns, as it does at home.
    if (this.#side.real !== undefined) this.#flush();
  }

  /** Before home goes on with the real request and response: it is told all that was done to the stand-ins. */
  handBack(mayRead = false): void {
    if (this.#failed || this.#over) return;
    if (!mayRead && this.#isReading()) this.fail('req', 'its body is being read here while the flow goes on at home');
    this.#settles = true;
    if (!this.res.headersSent) this.#pushHead();
    this.#flush();
    // Nothing may come after that: home runs the handler from its beginning.
    if (this.#failed) throw new CannotTravel('req', 'something that was put there cannot travel');
  }

  #isReading(): boolean {
    const { req } = this;
    if (req.readableEnded || req.complete || req.destroyed) return false;
    return req.readableFlowing !== null || req.listenerCount('readable') > 0;
  }

  #pushEncoded(make: (holder: unknown[], fixes: readonly Fix[] | null) => Step, values: unknown[], path: string): void {
    const encoder = new Encoder(this.refs);
    const holder: unknown[] = [];
    try {
      for (const [at, value] of values.entries()) encoder.put(holder, at, value, path);
    } catch (error) {
      if (!(error instanceof CannotTravel)) throw error;
      if (this.#side.real === undefined) this.#giveUp(error.path, error.why);
      else this.#pushKept(make, values, this.#side.real);
      return;
    }
    this.#push(make(holder, encoder.fixes));
  }

  #pushKept(make: (holder: unknown[], fixes: readonly Fix[]) => Step, values: unknown[], real: Real): void {
    const holder = values.map(() => null);
    const fixes = values.map((value, at): Fix => {
      return { fix: 'put', into: holder, at, special: { is: 'reference', name: real.keep(value) } };
    });
    this.#push(make(holder, fixes));
  }

  get realSocket(): Socket | null {
    return this.#side.real?.req.socket ?? null;
  }

  // --- the response ---------------------------------------------------------------------------------------------------

  get isWriting(): boolean {
    return this.#depth > 0 || this.#quiet || this.#over;
  }

  #record(method: Recorded, args: unknown[]): unknown {
    const { res } = this;
    if (this.#quiet || this.#over) return Reflect.apply(genuine[method], res, args);
    if (method === 'writeHead') return this.#writeHead(args);
    const wasEnded = res.writableEnded;
    this.#depth++;
    let result: unknown;
    try {
      result = Reflect.apply(genuine[method], res, args);
    } finally {
      this.#depth--;
    }
    if (!wasEnded && this.#depth === 0) this.#pushCall(method, args, result);
    return result;
  }

  #writeHead(args: unknown[]): unknown {
    const { res } = this;
    if (res.headersSent) return Reflect.apply(genuine.writeHead, res, args);
    const head = headChange(res, this.#before);
    const sent = args.map(plainArgument);
    const isImplicit = this.#depth > 0 && args.length === 1;
    this.#depth++;
    try {
      Reflect.apply(genuine.writeHead, res, args);
    } finally {
      this.#depth--;
    }
    this.#settles = true;
    this.#push({ do: 'head', head: isImplicit ? { ...head, statusCode: res.statusCode } : head });
    if (!isImplicit) this.#push({ do: 'writeHead', args: sent });
    return res;
  }

  #pushHead(): void {
    this.#push({ do: 'head', head: headChange(this.res, this.#before) });
    this.#before = { ...this.#before, ...readAgain(this.res, this.#before) };
  }

  #pushCall(method: Exclude<Recorded, 'writeHead'>, args: unknown[], result: unknown): void {
    switch (method) {
      case 'write':
        return this.#pushWrite(args, result);
      case 'end':
        return this.#pushEnd(args);
      case 'flushHeaders':
        return this.#push({ do: 'flushHeaders' });
      case 'addTrailers':
        return this.#push({ do: 'addTrailers', trailers: plainArgument(args[0]) });
      default:
        return this.#pushInformation(method, args);
    }
  }

  #pushWrite(args: unknown[], result: unknown): void {
    const chunk = this.#chunkOf(args[0]);
    if (chunk === undefined) return;
    const encoding = typeof args[1] === 'string' ? args[1] : undefined;
    const waits = args.some((arg) => typeof arg === 'function');
    const callback = waits ? this.#keepCallbacks() : 0;
    this.#push({ do: 'write', chunk, encoding, callback, full: result === false });
  }

  #pushEnd(args: unknown[]): void {
    const chunk = typeof args[0] === 'function' ? undefined : this.#chunkOf(args[0]);
    const encoding = typeof args[1] === 'string' ? args[1] : undefined;
    this.#atEnd = this.#socket.takeCallbacks();
    this.#ended = true;
    this.#settles = true;
    this.#push({ do: 'end', chunk, encoding, tell: true });
  }

  #pushInformation(method: Information, args: unknown[]): void {
    const given = args.filter((arg) => typeof arg !== 'function').map(plainArgument);
    const callback = given.length < args.length ? this.#keepCallbacks() : 0;
    this.#push({ do: 'inform', method, args: given, callback });
  }

  /** Copied now: the app may use the memory again before the turn is over. */
  #chunkOf(chunk: unknown): Chunk | undefined {
    if (typeof chunk === 'string') return chunk;
    if (!(chunk instanceof Uint8Array)) return undefined;
    const copy = new Uint8Array(chunk);
    if (copy.byteLength >= WORTH_TRANSFER) this.#transfer.push(copy.buffer);
    return copy;
  }

  #keepCallbacks(): number {
    this.#callbacks.set(++this.#lastCallback, this.#socket.takeCallbacks());
    return this.#lastCallback;
  }

  setTimeout(ms: number, listener: (() => void) | undefined): void {
    const { req, res } = this;
    const listens = listener !== undefined || res.listenerCount('timeout') > 0 || req.listenerCount('timeout') > 0;
    this.#push({ do: 'setTimeout', ms, listens });
  }

  option(method: 'setNoDelay' | 'setKeepAlive', args: unknown[]): void {
    this.#push({ do: 'socket', method, args });
  }

  destroyed(error: Error | null): void {
    if (this.#over) return;
    this.#settles = true;
    const values = error === null ? [] : [error];
    this.#pushEncoded((holder, fixes) => ({ do: 'destroy', error: holder, fixes }), values, 'the error');
  }

  // --- to home --------------------------------------------------------------------------------------------------------

  #push(step: Step): void {
    if (this.#failed || this.#over) return;
    this.#steps.push(step);
    if (this.#inCall || this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(this.#flush);
  }

  readonly #flush = (): void => {
    this.#scheduled = false;
    if (this.#steps.length === 0 || this.#failed) return;
    let steps = this.#steps;
    this.#steps = [];
    if (this.#settles) {
      this.#settles = false;
      const changes = this.#changes();
      if (this.#failed) return;
      if (changes !== null) steps = [{ do: 'change', changes }, ...steps];
      steps.push(...this.#steps);
      this.#steps = [];
    }
    const quiet = this.#ended && !this.#isAwaited();
    const last = steps.at(-1);
    if (quiet && last?.do === 'end') steps[steps.length - 1] = { ...last, tell: false };
    const transfer = this.#transfer;
    if (transfer.length > 0) this.#transfer = [];
    this.#side.send({ kind: 'steps', id: this.id, steps }, transfer);
    if (quiet && last?.do === 'end') this.#finish();
  };

  #changes(): Changes | null {
    const encoder = new Encoder(this.refs);
    const lose = (error: CannotTravel): void => this.#lose(error);
    const req = this.#given.req.changes(encoder, this.#ended, lose);
    const res = this.#given.res.changes(encoder, this.#ended, lose);
    const reqHeaders = this.#changedHeaders();
    return req === null && res === null && reqHeaders === null ? null : { req, res, reqHeaders, fixes: encoder.fixes };
  }

  /** The response has ended: it is served. Else somebody at home may need what he would not find there. */
  #lose({ path, why }: CannotTravel): void {
    if (this.#ended && !this.#handedOn) this.#steps.push({ do: 'lost', what: path, why });
    else this.#giveUp(path, why);
  }

  #changedHeaders(): { readonly [name: string]: unknown } | null {
    const { headers } = this.req;
    const before = this.#headers;
    if (before === null && headersIntact(this.req)) return null;
    if (before !== null && sameEntries(before, headers)) return null;
    this.#headers = { ...headers };
    return this.#headers;
  }

  /** Does anybody wait for what only home knows: that all was sent, that the connection is gone? */
  #isAwaited(): boolean {
    const { req, res } = this;
    if (this.#callbacks.size > 0 || this.#told >= 0) return true;
    // One listener is ours.
    if (res.listenerCount('finish') > 1 || res.listenerCount('close') > 0) return true;
    return req.listenerCount('close') > 0 || req.listenerCount('aborted') > 0 || req.listenerCount('error') > 0;
  }

  fail(what: string, why: string): never {
    this.#giveUp(what, why);
    throw new CannotTravel(what, why);
  }

  #giveUp(what: string, why: string): void {
    if (this.#failed || this.#over) return;
    this.#failed = true;
    this.#steps = [];
    this.#side.send({ kind: 'cannot-travel', id: this.id, what, why }, []);
    this.#close();
  }

  #close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#side.closed(this.id);
  }

  // --- the body -------------------------------------------------------------------------------------------------------

  pull(): void {
    if (this.#over || this.req.complete) return;
    const taken = this.#received - this.req.readableLength;
    if (this.#told >= 0 && taken - this.#told < WINDOW / 2) return;
    this.#told = taken;
    this.#side.send({ kind: 'pull', id: this.id, taken }, []);
  }

  // --- from home ------------------------------------------------------------------------------------------------------

  receive(message: ToReplica): void {
    if (this.#over) return;
    switch (message.kind) {
      case 'body':
        return this.#takeBody(message.chunks, message.trailers);
      case 'drain':
        return this.#drain();
      case 'called':
        return this.#called(message.callback, message.failed);
      case 'timeout':
        return this.#timeout();
      case 'finish':
        this.#finishedAtHome(message.response);
        return this.#finish();
      case 'close':
        return this.#abort();
    }
  }

  /** Home has ended the response itself: from now on the stand-in says so, to whoever still has it. */
  #finishedAtHome(state: ResponseState): void {
    const { res } = this;
    if (res.writableEnded) return;
    this.#quiet = true;
    if (!res.headersSent) setResponse(res, state);
    catchUp(res, 'ended');
    this.#atEnd = this.#socket.takeCallbacks();
  }

  #takeBody(chunks: readonly Uint8Array[], trailers: readonly string[] | null): void {
    for (const chunk of chunks) {
      this.#received += chunk.byteLength;
      this.req.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    }
    if (trailers === null) return;
    this.req.complete = true;
    this.req._addHeaderLines(trailers, trailers.length);
    this.req.push(null);
  }

  #drain(): void {
    const { res } = this;
    this.#socket.drained();
    if (res.writableEnded || NEED_DRAIN === undefined || Reflect.get(res, NEED_DRAIN) !== true) return;
    Reflect.set(res, NEED_DRAIN, false);
    res.emit('drain');
  }

  #called(id: number, failed: boolean): void {
    const callbacks = this.#callbacks.get(id) ?? [];
    this.#callbacks.delete(id);
    for (const callback of callbacks) callback(failed ? new Error('the connection was closed') : null);
  }

  #timeout(): void {
    if (this.res.emit('timeout', this.#socket)) return;
    this.#socket.emit('timeout');
  }

  #finish(): void {
    this.#close();
    this.#socket.drained();
    for (const callbacks of this.#callbacks.values()) for (const callback of callbacks) callback(null);
    // Of a response that home has ended, nothing has been written here.
    if (this.#atEnd.length === 0) process.nextTick(() => this.res.emit('finish'));
    else process.nextTick(runAll, this.#atEnd);
  }

  /** What Node's server does when a response has been sent; it comes before what the app listens with. */
  readonly #onFinish = (): void => {
    const { req, res } = this;
    this.#over = true;
    const state: unknown = Reflect.get(req, '_readableState');
    const resumes = typeof state === 'object' && state !== null && Reflect.get(state, 'resumeScheduled') === true;
    if (Reflect.get(req, '_consuming') !== true && !resumes) req._dump();
    if (res.socket !== null) res.detachSocket(this.#socket);
    process.nextTick(closeResponse, res);
  };

  #abort(): void {
    this.#close();
    const error: Error & { code?: string } = new Error('aborted');
    error.code = 'ECONNRESET';
    this.#socket.destroy();
    if (!this.req.readableEnded || !this.req.complete) this.req.destroy(error);
    else this.req.destroy();
  }
}

declare module 'node:http' {
  interface IncomingMessage {
    _dump(): void;
  }
}

function runAll(callbacks: readonly ((error?: Error | null) => void)[]): void {
  for (const callback of callbacks) callback(null);
}

function closeResponse(res: ServerResponse): void {
  if (res.closed) return;
  res.destroyed = true;
  Reflect.set(res, '_closed', true);
  res.emit('close');
}

function readAgain(res: ServerResponse, before: ResponseState): ResponseState {
  const { statusCode, statusMessage, flags, set } = headChange(res, { ...before, headers: [] });
  return { statusCode, statusMessage, headers: set, flags };
}

function sameEntries(before: { readonly [name: string]: unknown }, now: { readonly [name: string]: unknown }): boolean {
  const names = Object.keys(now);
  return names.length === Object.keys(before).length && names.every((name) => before[name] === now[name]);
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
