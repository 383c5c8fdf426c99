/**
 * An exchange at a replica: stand-ins for a request and a response that home holds.
 *
 * Reads:   an envelope, and what home tells later: body, acknowledgements, the end.
 * Gives:   `req`, `res` and `next` for a handler; what it does with them as steps for home, one message for each turn. When
 *          the response has been sent, or its client has gone, how the handler comes out is still told.
 * Reports: what cannot travel, to home, which then runs the request by itself; nothing else is sent after that.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { types } from 'node:util';
import { applyFixes, CannotTravel, Encoder, type Fix } from '../codec.js';
import { becomeOther } from './become-other.js';
import { callHandler, type Handler } from './call-handler.js';
import { genuine } from './genuine.js';
import { GivenParts } from './given-parts.js';
import { setResponse } from './headers.js';
import type { Changes, Envelope, ExchangeId, SocketMethod, Step, ToHome, ToReplica } from './messages.js';
import { type AppNames, type Args, ExchangeRefs } from './names.js';
import { Outbox } from './outbox.js';
import { isAskedFor, leaveToThread } from './promised.js';
import type { RealObject } from './properties.js';
import { recorders, recordResponses } from './record-response.js';
import { ReplicaBody } from './replica-body.js';
import { ResponseSteps } from './response-steps.js';
import { framesOfCall } from './stack.js';
import {
  abort,
  closeAfterFinish,
  closeSocket,
  drain,
  makeRequest,
  makeResponse,
  setAppPrototypes,
} from './stand-in.js';
import { type SocketOwner, StandInSocket } from './stand-in-socket.js';

/**
 * What may still come of an exchange that is over: how its promise comes out; or, where the client went away before there
 * was an answer, anything, as long as somebody has it.
 */
export type Lateness = 'never' | 'until-settled' | 'while-held';

export interface ReplicaSide {
  readonly app: AppNames;
  send(message: ToHome, transfer: ArrayBuffer[]): void;
  /** Nothing more will be received; `send` is called again only where something comes late. */
  closed(id: ExchangeId, late: Lateness): void;
  /** What would have come late by its promise has come. */
  settled?(id: ExchangeId): void;
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
  read(exchange: ReplicaExchange, part: 'req' | 'res', key: string | symbol): unknown;
}

export function openExchange(envelope: Envelope, side: ReplicaSide): ReplicaExchange {
  recordResponses();
  return new ReplicaExchange(envelope, side);
}

export class ReplicaExchange implements SocketOwner {
  readonly id: ExchangeId;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly next: (...args: unknown[]) => void;
  /** What the handler is called with beside these. */
  readonly args: Args = {};
  /** Contexts that the handler is called in. */
  readonly stores: Args = {};
  readonly refs: ExchangeRefs;
  readonly #side: ReplicaSide;
  readonly socket: StandInSocket;
  readonly #given: GivenParts;
  /** Of the request and of the response. */
  readonly #prototypes: readonly unknown[];
  readonly #outbox: Outbox;
  readonly #steps: ResponseSteps;
  readonly #body: ReplicaBody;
  /** Something was sent or handed on, before which home has to know what was changed. */
  #settles = false;
  #handedOn = false;
  /** The stand-ins are home's own request and response by another name. */
  #hasLeft = false;
  #isPending = false;
  /** The connection is gone. */
  #hasGone: boolean;
  #over = false;
  #failed = false;
  /** What traces show below the handler. */
  #below: readonly string[] = [];

  constructor(envelope: Envelope, side: ReplicaSide) {
    this.id = envelope.id;
    this.#side = side;
    const sendAtOnce = side.real === undefined ? null : (): void => this.#flush(true);
    this.#outbox = new Outbox(() => this.#flush(), sendAtOnce);
    this.socket = new StandInSocket(envelope.connection, this);
    this.req = makeRequest(envelope, this.socket);
    this.res = makeResponse(envelope, this.req, this.socket);
    this.#body = new ReplicaBody(this.req, envelope.body, (taken) =>
      side.send({ kind: 'pull', id: this.id, taken }, []),
    );
    this.#steps = new ResponseSteps(this.res, this.socket, envelope.response, this.#outbox, () => {
      this.#settles = true;
    });
    this.next = (...args) => this.#next(args);
    this.refs = new ExchangeRefs(this, side.app, (thing) => this.#given.pathOf(thing));
    applyFixes(envelope.fixes, this.refs);
    const fail = (what: string, why: string): never => this.fail(what, why);
    this.#given = new GivenParts(this, envelope, this.refs, fail, (part) => this.#real(part));
    if (envelope.app !== null) this.#enterApp(envelope.app);
    this.#prototypes = this.#prototypesNow();
    this.res.on('finish', this.#onFinish);
    recorders.set(this.res, this.#steps);
    this.#steps.catchUp(envelope);
    if (envelope.progress !== 'open') this.socket.takeCallbacks();
    this.socket.drained();
    this.#hasGone = envelope.gone !== null;
    this.#steps.isQuiet = false;
  }

  #real(part: 'req' | 'res'): RealObject | null {
    const { real } = this.#side;
    return real === undefined ? null : { object: real[part], read: (key) => real.read(this, part, key) };
  }

  /** Home has changed something itself, while a function of its own was called here. */
  renew(envelope: Envelope): void {
    if (this.#failed || this.#over || this.#hasLeft) return;
    applyFixes(envelope.fixes, this.refs);
    this.#given.renew(envelope);
    if (/^(unsent|ended|finished)$/.test(envelope.progress)) this.#finishedAtHome(envelope);
    this.#steps.renew(envelope.response);
  }

  #prototypesNow(): readonly unknown[] {
    return [Object.getPrototypeOf(this.req), Object.getPrototypeOf(this.res)];
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

  /** Home is told how it came out, also of a promise that it gave. */
  run(handler: Handler, receiver: unknown, args: unknown[], below: readonly string[] = []): unknown {
    this.#below = below;
    const wasGone = this.#hasGone;
    this.#outbox.hold();
    try {
      const result = callHandler(handler, receiver, args, below);
      const isCallers = this.#side.real !== undefined && !types.isPromise(result);
      if (!isCallers && isAskedFor(result, handler, this.req)) this.#await(result);
      else if (this.#side.real === undefined) leaveToThread(result, (error) => this.#rejected(error));
      return result;
    } catch (error) {
      this.#settle('threw', error);
      return undefined;
    } finally {
      // Where nothing lies between, what follows comes before this returns, as it does at home.
      this.#outbox.release(this.#isPending && this.#side.real === undefined);
      if (wasGone && !this.#over) this.#leaveGone();
    }
  }

  #await(result: PromiseLike<unknown>): void {
    this.#isPending = true;
    const settled = (): void => {
      this.#isPending = false;
      if (this.#over) this.#side.settled?.(this.id);
    };
    result.then(settled, (error: unknown) => {
      this.#rejected(error);
      settled();
    });
  }

  #rejected(error: unknown): void {
    this.#settle('rejected', error);
    if (this.#over) this.#outbox.release(false);
  }

  /** The client had gone before, so home has nothing to tell. */
  #leaveGone(): void {
    this.#side.send({ kind: 'done', id: this.id }, []);
    this.#close();
  }

  #settle(how: 'threw' | 'rejected', error: unknown): void {
    if (this.#failed) return;
    this.#settles = true;
    this.#pushHead();
    if (typeof error === 'object') this.#pushChanges();
    this.#pushEncoded((holder, fixes) => ({ do: how, error: holder, fixes }), [error], 'the error');
  }

  #next(args: unknown[]): void {
    if (this.#failed) return;
    if (!this.#hasLeft) this.#leaveBody();
    const frames = framesOfCall(this.next, this.#below);
    const isInCall = this.#outbox.isHeld;
    this.#handedOn = true;
    this.#settles = true;
    this.#pushHead();
    // An error may hold what was moved: home has to know first where it is now.
    if (typeof args[0] === 'object') this.#pushChanges();
    this.#pushEncoded(
      (holder, fixes) => ({ do: 'next', arg: holder, frames, isInCall, fixes }),
      args.slice(0, 1),
      'what was given to next',
    );
    // Nothing lies between: the chain goes on before `next` returns, as it does at home.
    if (this.#side.real !== undefined) this.#flush();
  }

  #leaveBody(): void {
    if (this.#body.isReading) this.fail('req', 'its body is being read here while the chain goes on at home');
    if (this.#body.isHalted) this.#outbox.push({ do: 'unread', taken: this.#body.giveBack() });
    this.#body.tellEnd();
  }

  /** What was set so far. */
  #pushHead(): void {
    if (!this.#hasLeft) this.#steps.pushHead();
  }

  /**
   * Where both sides are one loop, and the chain goes on: what the handler has left somewhere with its request and response in it acts on
   * home's own from now on, and so does the handler, if it is not through.
   */
  leaveToHome(): void {
    const { real } = this.#side;
    if (real === undefined || this.#hasLeft || this.#failed || this.#over || this.#steps.hasEnded) return;
    this.#hasLeft = true;
    this.res.off('finish', this.#onFinish);
    recorders.set(this.res, { call: (method, args) => Reflect.apply(genuine[method], real.res, args) });
    becomeOther(this.req, real.req);
    becomeOther(this.res, real.res);
  }

  /** Before home goes on with the real request and response: it is told all that was done to the stand-ins. */
  handBack(mayRead = false): void {
    if (this.#failed || this.#over || this.#hasLeft) return;
    if (!mayRead && this.#body.isReading)
      this.fail('req', 'its body is being read here while the flow goes on at home');
    if (!mayRead && this.#body.isHalted) this.#outbox.push({ do: 'unread', taken: this.#body.giveBack() });
    this.#body.tellEnd();
    this.#settles = true;
    this.#steps.pushHead();
    this.#flush();
    // Nothing may come after that: home runs the handler from its beginning.
    if (this.#failed) throw new CannotTravel('req', 'something that was put there cannot travel');
  }

  #pushEncoded(make: (holder: unknown[], fixes: readonly Fix[] | null) => Step, values: unknown[], path: string): void {
    const encoder = new Encoder(this.refs);
    const holder: unknown[] = [];
    try {
      for (const [at, value] of values.entries()) encoder.put(holder, at, value, path);
    } catch (error) {
      if (!(error instanceof CannotTravel)) throw error;
      if (this.#side.real !== undefined) this.#pushKept(make, values, this.#side.real);
      else if (this.#over) this.#pushPlain(make, values);
      else this.#giveUp(error.path, error.why);
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

  /** It was answered, so it cannot be run again at home: who logs errors there gets what can be told of it. */
  #pushPlain(make: (holder: unknown[], fixes: readonly Fix[] | null) => Step, values: unknown[]): void {
    const encoder = new Encoder(this.refs);
    const holder: unknown[] = [];
    for (const [at, value] of values.entries()) encoder.put(holder, at, plainError(value), 'the error');
    this.#push(make(holder, encoder.fixes));
  }

  get realSocket(): Socket | null {
    return this.#side.real?.req.socket ?? null;
  }

  /** Node asks for more of the body. */
  pull(): void {
    if (!this.#over) this.#body.pull();
  }

  get isWriting(): boolean {
    return this.#steps.isWriting || this.#over;
  }

  get isInCall(): boolean {
    return this.#steps.isInCall;
  }

  setTimeout(ms: number): void {
    // Who listens is known when the turn is over.
    if (!this.#over) this.#push({ do: 'setTimeout', ms, req: false, res: false });
  }

  #withListeners(step: Step): Step {
    if (step.do !== 'setTimeout') return step;
    return { ...step, req: this.req.listenerCount('timeout') > 0, res: this.res.listenerCount('timeout') > 0 };
  }

  option(method: SocketMethod, args: unknown[]): void {
    if (!this.#over) this.#push({ do: 'socket', method, args });
  }

  destroyed(error: Error | null): void {
    if (this.#over) return;
    this.#settles = true;
    const what = this.res.destroyed ? 'res' : 'socket';
    const values = error === null ? [] : [error];
    this.#pushEncoded((holder, fixes) => ({ do: 'destroy', what, error: holder, fixes }), values, 'the error');
  }

  // --- to home --------------------------------------------------------------------------------------------------------

  #push(step: Step): void {
    if (!this.#failed) this.#outbox.push(step);
  }

  /** `isEarly`: listeners may still be added. */
  /** Before this turn is over: the thread may not come to its end. */
  flush(): void {
    this.#flush();
  }

  #flush(isEarly = false): void {
    if (this.#outbox.isEmpty || this.#failed) return;
    let steps = this.#outbox.takeSteps();
    if (this.#settles) {
      this.#settles = false;
      const changes = this.#changes();
      if (this.#failed) return;
      if (changes !== null) steps = [{ do: 'change', changes }, ...steps];
      steps.push(...this.#outbox.takeSteps());
    }
    steps = steps.map((step) => this.#withListeners(step));
    const isLast =
      !isEarly && !this.#hasLeft && !this.#over && !this.#hasGone && this.#steps.hasEnded && !this.#isAwaited();
    const last = steps.at(-1);
    if (isLast && last?.do === 'end') steps[steps.length - 1] = { ...last, tell: false };
    this.#side.send({ kind: 'steps', id: this.id, steps }, this.#outbox.takeTransfer());
    if (isLast && last?.do === 'end') this.#finish();
  }

  #pushChanges(): void {
    const changes = this.#changes();
    if (changes !== null) this.#push({ do: 'change', changes });
  }

  #changes(): Changes | null {
    if (this.#hasLeft) return null;
    const lose = (error: CannotTravel): void => this.#lose(error);
    // As Express does when a request enters an app. What comes next at home must find home's own so.
    const others = this.#steps.hasEnded
      ? []
      : this.#prototypesNow().filter((each, at) => each !== this.#prototypes[at]);
    if (others.length > 0) lose(new CannotTravel('req', 'it or the response was given another prototype'));
    return this.#given.changes(this.refs, { hasEnded: this.#steps.hasEnded, handsOn: this.#handedOn, lose });
  }

  /** The response has ended: it is served. Else somebody at home may need what he would not find there. */
  #lose({ path, why }: CannotTravel): void {
    if (this.#over || (this.#steps.hasEnded && !this.#handedOn)) this.#outbox.push({ do: 'lost', what: path, why });
    else this.#giveUp(path, why);
  }

  /** Does anybody wait for what only home knows: that all was sent, that the connection is gone? */
  #isAwaited(): boolean {
    const { req, res } = this;
    if (this.#steps.hasCallbacks || this.#body.wasAskedFor) return true;
    if (!this.#body.isWhole && req.listenerCount('end') > 0) return true;
    // One listener is ours.
    if (res.listenerCount('finish') > 1 || res.listenerCount('close') > 0) return true;
    return req.listenerCount('close') > 0 || req.listenerCount('aborted') > 0 || req.listenerCount('error') > 0;
  }

  fail(what: string, why: string): never {
    this.#giveUp(what, why);
    throw new CannotTravel(what, why);
  }

  #giveUp(what: string, why: string): void {
    if (this.#failed || (this.#over && !this.#hasGone)) return;
    this.#failed = true;
    this.#outbox.takeSteps();
    this.#side.send({ kind: 'cannot-travel', id: this.id, what, why }, []);
    this.#close();
  }

  #close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#side.closed(this.id, this.#lateness());
  }

  #lateness(): Lateness {
    if (this.#failed) return 'never';
    if (!this.#handedOn && this.#hasGone) return 'while-held';
    return this.#isPending ? 'until-settled' : 'never';
  }

  // --- from home ------------------------------------------------------------------------------------------------------

  receive(message: ToReplica): void {
    if (this.#over) return;
    if (this.#hasLeft) return this.#receiveLate(message);
    switch (message.kind) {
      case 'body':
        return this.#body.take(message.chunks, message.trailers);
      case 'drain':
        this.socket.drained();
        return drain(this.res);
      case 'called':
        return this.#steps.called(message.callback, message.failed);
      case 'timeout':
        return this.#timeout(message.of);
      case 'finish':
        this.#finishedAtHome({ response: message.response, progress: 'finished' });
        // Nobody reads the rest of it; Node does away with it and says that it has ended.
        if (message.isComplete) this.#body.take([], []);
        return this.#finish();
      case 'close':
        return this.#abort(message);
    }
  }

  /** All else home's own request and response tell by themselves. */
  #receiveLate(message: ToReplica): void {
    if (message.kind === 'called') this.#steps.called(message.callback, message.failed);
    if (message.kind !== 'finish' && message.kind !== 'close') return;
    this.#steps.release(message.kind === 'close');
    this.#close();
    if (message.kind === 'close') this.#closeSocket(message);
  }

  /** Home has ended the response itself: from now on the stand-in says so, to whoever still has it. */
  #finishedAtHome({ response, progress }: Pick<Envelope, 'response' | 'progress'>): void {
    const { res } = this;
    if (res.writableEnded) return;
    this.#steps.isQuiet = true;
    if (!res.headersSent) setResponse(res, response);
    this.#steps.catchUp({ progress: progress === 'unsent' ? progress : 'ended', corks: 0 });
    this.#steps.takeEnd();
  }

  #timeout(of: 'req' | 'res'): void {
    this[of].emit('timeout', this.socket);
    this.socket.emit('timeout');
  }

  #finish(): void {
    this.#close();
    this.#steps.isQuiet = true;
    this.socket.drained();
    this.#steps.finish();
  }

  /** It comes before what the app listens with. */
  readonly #onFinish = (): void => {
    this.#close();
    closeAfterFinish(this.req, this.res, this.socket);
  };

  /** What is done to the response from here on fails as it does at home, and is still told. */
  #abort(message: Closed): void {
    this.#hasGone = true;
    this.#close();
    this.req.complete = message.isComplete;
    this.#closeSocket(message, () => abort(this.req));
  }

  #closeSocket({ isAsked, error }: Closed, before?: () => void): void {
    if (isAsked) this.socket.remember();
    closeSocket(this.socket, asError(error), before);
  }
}

type Closed = Extract<ToReplica, { kind: 'close' }>;

function asError(told: Closed['error']): Error | null {
  return told && Object.assign(new Error(told.message), { code: told.code });
}

/** Who catches or logs an error reads its name, message and stack. */
function plainError(value: unknown): unknown {
  if (!(value instanceof Error)) return String(value);
  const { name, message, stack } = value;
  const plain = new Error(message);
  for (const [key, text] of Object.entries({ name, stack })) {
    Object.defineProperty(plain, key, { value: text, writable: true, configurable: true });
  }
  return plain;
}
