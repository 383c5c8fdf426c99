/**
 * An exchange at home, which holds the real request and response.
 *
 * Reads:   the steps that a replica took with its stand-ins.
 * Gives:   the same calls on the real response, in order, through the methods that middleware may have replaced on it; events
 *          of request and response to the replica; the outcome of the handler to its caller.
 */
import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { applyFixes, type CannotTravel, type Fix, findUnknownClass } from '../codec.js';
import { isAsked } from './addresses.js';
import { applyChanges } from './changes.js';
import { closings } from './closings.js';
import { genuine } from './genuine.js';
import { applyHead, readResponse } from './headers.js';
import { HomeBody } from './home-body.js';
import { doCork, KeptBack } from './kept-back.js';
import type { Changes, Chunk, Envelope, ExchangeId, SocketMethod, Step, ToHome, ToReplica } from './messages.js';
import { type AppNames, type Args, ExchangeRefs } from './names.js';
import { isSentAtOnce } from './outbox.js';
import { packExchange } from './pack.js';
import { renewBoth } from './record-response.js';
import { type Below, type Frames, mendStack, resumeAbove } from './stack.js';

/** How the handler came out, as far as its caller has to do something about it. */
export type Outcome =
  | { readonly kind: 'next'; readonly arg: unknown; readonly given: boolean }
  | { readonly kind: 'threw' | 'rejected'; readonly error: unknown }
  /** `untouched`: nothing has come of it, and the request is as it was: the handler can be run here. */
  | { readonly kind: 'cannot-travel'; readonly what: string; readonly why: string; readonly untouched: boolean }
  | { readonly kind: 'lost'; readonly what: string; readonly why: string };

export interface HomeSide {
  readonly id: ExchangeId;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** What the handler was called with; null for a listener of a server. */
  readonly next: unknown;
  readonly args?: Args;
  /** The contexts that it is called in, where it asks for them. */
  readonly stores?: Args;
  readonly app: AppNames;
  /** The other side is on this loop: its turns are those of home. */
  readonly isHere?: boolean;
  /** What called the handler, for stack traces of what follows. */
  readonly below?: Below;
  send(message: ToReplica): void;
  settle(outcome: Outcome): void;
  /** Nothing more will be sent; what the replica tells later is taken. */
  closed(): void;
}

/** What the handler's caller has to know. */
type Conclusion = Extract<Step, { readonly do: 'lost' | 'next' | 'threw' | 'rejected' }>;
type Action = Exclude<Step, Conclusion>;

export class HomeExchange {
  readonly refs: ExchangeRefs;
  /** For the replica to open it. */
  readonly envelope: Envelope;
  #body: HomeBody | null = null;
  #flags: number;
  #touched = false;
  /** Messages that wait for the end of the body. */
  #held: ToHome[] | null = null;
  #hasTimeout = false;
  /** Of its body; in an earlier message. */
  #wrote = false;
  #wroteBefore = false;
  /** Null where nothing has been written. */
  #keptBack: KeptBack | null = null;
  #awaitsDrain = false;
  /** Nothing more is sent to the replica. */
  #done = false;
  /** Nothing more is taken from it. */
  #dropped = false;

  /** Throws CannotTravel: then the handler has to run here. */
  constructor(readonly side: HomeSide) {
    this.refs = new ExchangeRefs(side, side.app);
    this.envelope = packExchange(side.id, side, this.refs);
    this.#flags = this.envelope.response.flags;
    closings.add(side.res, this.#onClose);
  }

  /** As it is now. Throws CannotTravel. */
  pack(): Envelope {
    const envelope = packExchange(this.side.id, this.side, this.refs);
    this.#flags = envelope.response.flags;
    return envelope;
  }

  /** Has anything come of it? If not, and if `restore` succeeds, it can be run again. */
  get touched(): boolean {
    return this.#touched;
  }

  /** Nothing more will come of it. */
  get isOver(): boolean {
    return this.#done;
  }

  /** The replica is gone: puts back what was read of the body. False: that is not possible any more. */
  restore(): boolean {
    const restored = this.#putBack();
    this.#dropped = true;
    this.#finish();
    return restored;
  }

  #putBack(): boolean {
    return !this.#touched && (this.#body?.restore() ?? true);
  }

  receive(message: ToHome): void {
    if (this.#held !== null) this.#held.push(message);
    else this.#receive(message);
  }

  #receive(message: ToHome): void {
    if (this.#dropped) return;
    switch (message.kind) {
      case 'steps': {
        this.#wroteBefore = this.#wrote && this.side.isHere !== true;
        const unknown = this.#unknownClass(message.steps);
        if (unknown !== null) return this.#cannotTake(unknown.path, unknown.why);
        for (const step of message.steps) if (step.do === 'unread') this.#leaveBody(step.taken);
        this.#touch();
        if (this.#body?.isEnding) return this.#hold(message);
        return this.#takeAll(message.steps);
      }
      case 'pull':
        if (this.#done) return;
        this.#body ??= new HomeBody(this.side.req, (chunks, trailers) => {
          this.side.send({ kind: 'body', id: this.side.id, chunks, trailers });
        });
        if (this.#touched) this.#body.release();
        this.#body.pull(message.taken);
        return;
      case 'cannot-travel':
        return this.#cannotTake(message.what, message.why);
      case 'done':
        this.#finish();
        return;
    }
  }

  /** The handler cannot go on there. */
  #cannotTake(what: string, why: string): void {
    const untouched = this.#putBack();
    const wasOpen = !this.#done;
    this.#dropped = true;
    this.#leave();
    this.#tell({ kind: 'cannot-travel', what, why, untouched });
    if (wasOpen) this.side.closed();
  }

  /** A handler may load a module whose classes no other loop has. */
  #unknownClass(steps: readonly Step[]): CannotTravel | null {
    for (const step of steps) {
      const fixes = step.do === 'change' ? step.changes.fixes : 'fixes' in step ? step.fixes : null;
      const unknown = findUnknownClass(fixes, this.refs);
      if (unknown !== null) return unknown;
    }
    return null;
  }

  #leaveBody(taken: number): void {
    if (this.#body === null) this.side.req.pause();
    else this.#body.leave(taken);
    this.#body = null;
  }

  /** The body was read at the replica to its end: whoever comes next must find a request that has ended. */
  #hold(message: ToHome): void {
    const held = [message];
    this.#held = held;
    const goOn = AsyncResource.bind((): void => {
      for (const event of ['end', 'close']) this.side.req.off(event, goOn);
      this.#held = null;
      for (const each of held) this.receive(each);
    });
    for (const event of ['end', 'close']) this.side.req.on(event, goOn);
  }

  #touch(): void {
    if (this.#touched) return;
    this.#touched = true;
    this.#body?.release();
  }

  #takeAll(steps: readonly Step[]): void {
    for (const step of steps) {
      if (step.do === 'next' || step.do === 'threw' || step.do === 'rejected' || step.do === 'lost') this.#settle(step);
      else if (!this.#tryTo(step)) return;
    }
  }

  /** What a hook throws would have been thrown in the handler; the handler has gone on, so its caller is told. */
  #tryTo(step: Action): boolean {
    try {
      this.#take(step);
      return true;
    } catch (error) {
      if (this.side.isHere && isSentAtOnce(step)) throw error;
      this.#tell({ kind: 'threw', error });
      return false;
    }
  }

  #take(step: Action): void {
    const { res } = this.side;
    switch (step.do) {
      case 'unread':
        // Before anything else of its message.
        return;
      case 'change':
        return this.#change(step.changes);
      case 'head':
        applyHead(res, step.head, this.#flags);
        this.#flags = step.head.flags;
        return;
      case 'writeHead':
        if (step.length !== null) res._contentLength = step.length;
        Reflect.apply(own(res, 'writeHead') ?? genuine.writeHead, res, step.args);
        return;
      case 'write':
        return this.#write(step);
      case 'end':
        return this.#end(step);
      case 'cork':
      case 'uncork':
        return doCork(res, step.do);
      case 'flushHeaders':
        Reflect.apply(own(res, 'flushHeaders') ?? genuine.flushHeaders, res, []);
        return;
      case 'addTrailers':
        Reflect.apply(own(res, 'addTrailers') ?? genuine.addTrailers, res, [step.trailers]);
        return;
      case 'inform':
        Reflect.apply(own(res, step.method) ?? genuine[step.method], res, [
          ...step.args,
          this.#callback(step.callback),
        ]);
        return;
      case 'setTimeout':
        return this.#setTimeout(step.ms, step.req, step.res);
      case 'socket':
        this.#callSocket(step.method, step.args);
        return;
      case 'destroy':
        this.#destroy(step.what, this.#asError(step.error, step.fixes));
        return;
    }
  }

  #settle(step: Conclusion): void {
    // Whoever handles an error of an answer that has begun ends the connection.
    if (this.side.res.headersSent) this.#sendEarlier();
    switch (step.do) {
      case 'lost':
        return this.#tell({ kind: 'lost', what: step.what, why: step.why });
      case 'next':
        applyFixes(step.fixes, this.refs);
        return this.#tell({ kind: 'next', arg: step.arg[0], given: step.arg.length > 0 }, this.#framesOf(step));
      default:
        applyFixes(step.fixes, this.refs);
        return this.#tell({ kind: step.do, error: step.error[0] });
    }
  }

  /** What the chain goes on above: the frames of the handler that called `next`, and what had called that. */
  #framesOf({ frames, isInCall }: Extract<Step, { readonly do: 'next' }>): Frames {
    const { below } = this.side;
    return isInCall && below !== undefined ? below.under(frames) : { frames };
  }

  #tell(outcome: Outcome, above: Frames | null = this.side.below ?? null): void {
    // The trace is what it would be, had the handler run here.
    const error = outcome.kind === 'next' ? outcome.arg : 'error' in outcome ? outcome.error : undefined;
    if (error instanceof Error) mendStack(error, this.side.below);
    resumeAbove(above, () => this.side.settle(outcome));
  }

  #asError(holder: readonly unknown[], fixes: readonly Fix[] | null): Error | undefined {
    applyFixes(fixes, this.refs);
    return holder[0] instanceof Error ? holder[0] : undefined;
  }

  #change(changes: Changes): void {
    applyFixes(changes.fixes, this.refs);
    if (changes.req !== null) applyChanges(this.side.req, changes.req, this.refs);
    if (changes.res !== null) applyChanges(this.side.res, changes.res, this.refs);
    if (changes.args !== null) applyChanges(this.side.args ?? {}, changes.args, this.refs);
    if (changes.stores !== null) applyChanges(this.side.stores ?? {}, changes.stores, this.refs);
    if (changes.socket !== null) applyChanges(this.side.req.socket, changes.socket, this.refs);
    if (changes.reqHeaders !== null) replaceHeaders(this.side.req, changes.reqHeaders);
  }

  #write({ chunk, encoding, callback, full, flow }: Extract<Step, { readonly do: 'write' }>): void {
    const { res } = this.side;
    this.#wrote = true;
    const args: unknown[] = [asBuffer(chunk), encoding];
    if (callback !== 0) args.push(this.#callback(callback));
    const replaced = own(res, 'write');
    if (replaced === undefined) {
      this.#keptBack ??= new KeptBack(res);
      this.#keptBack.divide(flow);
    }
    const goesOn: unknown = Reflect.apply(replaced ?? genuine.write, res, args);
    if (!full) return;
    if (goesOn === false && !res.destroyed) this.#awaitDrain();
    // The call that this comes from has still to say that it is enough.
    else if (this.side.isHere) process.nextTick(this.#onDrain);
    else this.#onDrain();
  }

  #end({ chunk, encoding, tell, joins }: Extract<Step, { readonly do: 'end' }>): void {
    const { res } = this.side;
    if (this.side.isHere) renewBoth(res);
    if (!joins) this.#keptBack?.send();
    if (tell) res.once('finish', this.#onFinish);
    const args = chunk === undefined ? [] : [asBuffer(chunk), encoding];
    Reflect.apply(own(res, 'end') ?? genuine.end, res, args);
    if (!tell) this.#finish();
  }

  /** What was written in an earlier turn there has been sent by now; here all came at once, and Node still keeps it back. */
  #sendEarlier(): void {
    const { socket } = this.side.res;
    if (this.#wroteBefore) while (socket !== null && socket.writableCorked > 0) socket.uncork();
  }

  #callSocket(method: SocketMethod, args: readonly unknown[]): void {
    const { req, res } = this.side;
    // Who the client is can be asked of the request; a response that waits for its turn has no socket.
    const socket = method === '_getpeername' ? req.socket : res.socket;
    const call: unknown = socket === null ? undefined : Reflect.get(socket, method);
    if (typeof call === 'function') Reflect.apply(call, socket, [...args]);
  }

  #destroy(what: 'res' | 'socket', error: Error | undefined): void {
    const { req, res } = this.side;
    this.#sendEarlier();
    // A response that waits for its turn on a connection has none yet.
    if (what === 'res') res.destroy(error);
    else req.socket.destroy(error);
  }

  #callback(id: number): (error?: unknown) => void {
    return (error) => {
      if (id !== 0 && !this.#done)
        this.side.send({ kind: 'called', id: this.side.id, callback: id, failed: error != null });
    };
  }

  /** Once for all that was written before it. */
  #awaitDrain(): void {
    if (this.#awaitsDrain) return;
    this.#awaitsDrain = true;
    this.side.res.once('drain', this.#onDrain);
  }

  readonly #onDrain = (): void => {
    this.#awaitsDrain = false;
    if (!this.#done) this.side.send({ kind: 'drain', id: this.side.id });
  };

  /** Node asks whether anybody listens, and closes the connection where nobody does. */
  #setTimeout(ms: number, reqListens: boolean, resListens: boolean): void {
    const { req, res } = this.side;
    req.socket.setTimeout(ms);
    if (this.#hasTimeout) return;
    this.#hasTimeout = reqListens || resListens;
    if (reqListens) req.on('timeout', () => this.#tellTimeout('req'));
    if (resListens) res.on('timeout', () => this.#tellTimeout('res'));
  }

  #tellTimeout(of: 'req' | 'res'): void {
    if (!this.#done) this.side.send({ kind: 'timeout', id: this.side.id, of });
  }

  readonly #onFinish = (): void => {
    if (this.#done) return;
    const { id, req, res } = this.side;
    this.side.send({ kind: 'finish', id, response: readResponse(res), isComplete: req.complete });
    this.#finish();
  };

  /** The connection went away, or `finish` has come and nobody at the replica had to be told. */
  readonly #onClose = (): void => {
    const { id, req, res } = this.side;
    if (this.#done || res.writableFinished) return this.#onFinish();
    const error = req.socket.errored;
    const told = error === null ? null : { message: error.message, code: Reflect.get(error, 'code') };
    this.side.send({ kind: 'close', id, isComplete: req.complete, isAsked: isAsked(req.socket), error: told });
    this.#finish();
  };

  #finish(): void {
    if (this.#done) return;
    this.#leave();
    this.side.closed();
  }

  #leave(): void {
    this.#done = true;
    closings.remove(this.side.res, this.#onClose);
    this.#body?.close();
  }
}

/** What middleware put there. What it put on the prototypes has been called at the replica. */
function own(res: ServerResponse, name: string): ((...args: unknown[]) => unknown) | undefined {
  if (!Object.hasOwn(res, name)) return undefined;
  const found: unknown = Reflect.get(res, name);
  return typeof found === 'function' ? (...args) => Reflect.apply(found, res, args) : undefined;
}

/** Clone makes of a Buffer what it is underneath. */
function asBuffer(chunk: Chunk): string | Buffer {
  return typeof chunk === 'string' ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

function replaceHeaders(req: IncomingMessage, headers: { readonly [name: string]: unknown }): void {
  for (const name of Object.keys(req.headers)) if (!Object.hasOwn(headers, name)) delete req.headers[name];
  for (const [name, value] of Object.entries(headers)) Reflect.set(req.headers, name, value);
}
