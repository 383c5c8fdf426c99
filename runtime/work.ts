/**
 * One piece of work that may go to a replica: a request for a handler, or a message for a fluxion behind a cut. The
 * dispatcher sends it, and runs it again or here where that does not come off.
 */
import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LinkFluxion } from '../flx/run-manifest.js';
import { callArgs } from './http-bridge/call-args.js';
import { type Outcome, runAtHome } from './http-bridge/index.js';
import type { Envelope } from './http-bridge/messages.js';
import type { Args } from './http-bridge/names.js';
import { isAskedFor } from './http-bridge/promised.js';
import { type Below, callResumed } from './http-bridge/stack.js';
import type { LinkedSlot } from './link/link-home.js';
import type { ResultMessage, RunId, ToReplica } from './messages.js';
import type { Replica } from './replicas.js';
import type { FluxionCount } from './report.js';
import type { Movable } from './scheduler.js';
import type { Code } from './types.js';
import { comesFromElsewhere, throwLater } from './uncaught.js';

/** What is known of one fluxion while the program runs. */
export interface FluxionState {
  readonly fluxion: LinkFluxion;
  readonly movable: Movable;
  readonly count: FluxionCount;
  /** Something of it could not travel: it does not leave home any more. */
  staysHome: boolean;
  /** It has been sent to another loop. */
  hasLeft: boolean;
}

/** A request and its response, with what the router passed beside them. */
export interface Parts {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly next: ((...args: unknown[]) => void) | null;
  /** What the handler is called with beside these: the error, or the value and the name of a parameter. */
  readonly args?: Args;
  /** What called the handler. */
  readonly below?: Below;
}

export interface Work {
  readonly state: FluxionState;
  readonly parts: Parts | null;
  /** What it was called in: what comes of it here finds the same `AsyncLocalStorage` as if it had run here. */
  readonly scope: AsyncResource;
  /** How often a replica died while it ran. */
  attempts: number;
  /** It is not over before its result is there. */
  readonly awaitsResult: boolean;
  canRunOn(replica: Replica): boolean;
  /** Throws CannotTravel. */
  message(replica: Replica, run: RunId, envelope: Envelope | null): ToReplica;
  /** As if it had never been sent. */
  runHere(): unknown;
  settle(outcome: Extract<Outcome, { readonly kind: 'next' | 'threw' | 'rejected' }>): void;
  /** Its own result, as an async function has one. */
  result(how: ResultMessage['how'], value: unknown): void;
  /** Nothing more will come of it. */
  over(): void;
  failed(why: string): void;
}

const SCOPE = 'FluxionWork';

/** Below the handler of a slot, when it was first sent away. */
const framesBelow = new WeakMap<LinkedSlot, readonly string[]>();
/** Of which slots a replica has been told that. */
const toldOf = new WeakMap<Replica, WeakSet<LinkedSlot>>();

interface Waiting {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** One call of a handler by its router. */
export class HandlerWork implements Work {
  readonly scope = new AsyncResource(SCOPE);
  attempts = 0;
  readonly awaitsResult = false;

  constructor(
    readonly state: FluxionState,
    readonly slot: LinkedSlot,
    readonly self: unknown,
    readonly parts: Parts & { readonly below: Below },
    /** For a call of the handler here. */
    readonly counted: (run: () => unknown) => unknown,
    /** The stub's own result: Express 5 waits for it, and for older ones nobody does, as for the handler's. */
    readonly waiting: Waiting,
  ) {}

  canRunOn({ slots }: Replica): boolean {
    return slots.has(this.slot);
  }

  message(replica: Replica, run: RunId, envelope: Envelope): ToReplica {
    const slot = replica.slots.get(this.slot) ?? '';
    return { kind: 'dispatch', run, slot, envelope, at: sharedClock(), below: this.#below(replica) };
  }

  /** Who calls a handler is as good as always the same, and to write it down for each request would cost as much as sending one. */
  #below(replica: Replica): readonly string[] | null {
    const { slot } = this;
    const { below } = this.parts;
    const frames = framesBelow.get(slot) ?? below.frames;
    framesBelow.set(slot, frames);
    below.told = frames;
    const told = toldOf.get(replica) ?? new WeakSet();
    toldOf.set(replica, told);
    if (told.has(slot)) return null;
    told.add(slot);
    return frames;
  }

  runHere(): void {
    const { req, res, next, below, args: beside } = this.parts;
    const args = callArgs(next === null ? [req, res] : [req, res, next], beside);
    const settle = (outcome: Outcome): void => this.settle(outcome);
    const result = this.counted(() => runAtHome(this.slot.fn as Code, this.self, args, below, settle));
    if (!isAskedFor(result, this.slot.fn, req)) this.waiting.resolve(undefined);
    else
      result.then(
        () => this.waiting.resolve(undefined),
        () => {},
      );
  }

  settle(outcome: Outcome): void {
    if (outcome.kind === 'cannot-travel' || outcome.kind === 'lost') return;
    if (outcome.kind === 'next') goOn(this.parts, outcome);
    else if (outcome.kind === 'rejected') {
      comesFromElsewhere(outcome.error);
      this.waiting.reject(outcome.error);
    } else this.#threw(outcome.error);
  }

  result(): void {}

  over(): void {
    this.waiting.resolve(undefined);
  }

  failed(): void {
    answerLost(this.parts.res);
    this.waiting.resolve(undefined);
  }

  /** As the router does with what a handler throws; a plain server has nobody who would. */
  #threw(error: unknown): void {
    if (this.parts.next !== null) callResumed(this.parts.next, [error]);
    else throwLater(error);
  }
}

/** One message for a fluxion behind a cut: a callback, or the rest of an async function. */
export class CutWork implements Work {
  readonly scope = new AsyncResource(SCOPE);
  attempts = 0;

  constructor(
    readonly state: FluxionState,
    readonly parts: Parts | null,
    readonly encode: (replica: Replica, run: RunId, envelope: Envelope | null) => ToReplica,
    readonly call: () => unknown,
    /** Null where nobody is interested in its result, as in that of a callback. */
    readonly waiting: Waiting | null,
  ) {}

  get awaitsResult(): boolean {
    return this.waiting !== null;
  }

  canRunOn({ cuts }: Replica): boolean {
    return cuts.has(this.state.fluxion.id);
  }

  message(replica: Replica, run: RunId, envelope: Envelope | null): ToReplica {
    return this.encode(replica, run, envelope);
  }

  runHere(): void {
    try {
      const result = this.call();
      this.waiting?.resolve(result);
    } catch (error) {
      this.#threw(error);
    }
  }

  settle(outcome: Extract<Outcome, { readonly kind: 'next' | 'threw' | 'rejected' }>): void {
    if (outcome.kind === 'next') goOn(this.parts, outcome);
    else this.#threw(outcome.error);
  }

  result(how: ResultMessage['how'], value: unknown): void {
    if (how === 'gave') this.waiting?.resolve(value);
    else this.#threw(value);
  }

  over(): void {}

  failed(why: string): void {
    if (this.parts !== null) answerLost(this.parts.res);
    this.waiting?.reject(new Error(`the result of "${this.state.fluxion.id}" was lost: ${why}`));
  }

  #threw(error: unknown): void {
    if (this.waiting === null) return throwLater(error);
    comesFromElsewhere(error);
    this.waiting.reject(error);
  }
}

/** The threads of a machine share this clock; the one that counts from their start they do not. */
export function sharedClock(): number {
  return performance.timeOrigin + performance.now();
}

/** `next(undefined)` is not `next()` to everybody. */
function goOn(parts: Parts | null, { arg, given }: Extract<Outcome, { readonly kind: 'next' }>): void {
  const next = parts?.next;
  if (next) callResumed(next, given ? [arg] : []);
}

function answerLost(res: ServerResponse): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  for (const name of res.getHeaderNames()) res.removeHeader(name);
  res.statusCode = 500;
  res.end('Internal Server Error');
}
