/**
 * Home's side of what runs elsewhere: puts stubs in the place of handlers that may move, sends requests to replicas, applies
 * what comes back, and runs again what a lost replica left behind, where that is safe.
 *
 *     router ─> stub ─┬─> the handler itself, here
 *                     └─> dispatch ─> replica ─> steps on the real response, `next`, an error
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import process from 'node:process';
import type { LinkFluxion } from '../flx/run-manifest.js';
import { CannotTravel } from './codec.js';
import { HomeExchange, type Outcome } from './http-bridge/home-exchange.js';
import type { ToHome as ExchangeToHome } from './http-bridge/messages.js';
import { AppNames } from './link/app-names.js';
import type { LinkedSlot } from './link/link-home.js';
import type { Handler } from './link/routers.js';
import type { Log } from './log.js';
import type { RunId, ToHome } from './messages.js';
import type { Replica } from './replicas.js';
import type { Counts, FluxionCount } from './report.js';
import { type Movable, makeMovable, type Scheduler } from './scheduler.js';

/** What is known of one fluxion while the program runs. */
export interface FluxionState {
  readonly fluxion: LinkFluxion;
  readonly movable: Movable;
  readonly count: FluxionCount;
  /** Something of it could not travel: it does not leave home any more. */
  staysHome: boolean;
}

/** One run of a fluxion on a replica, until it is known how it came out. */
interface Run {
  readonly id: RunId;
  readonly state: FluxionState;
  readonly replica: Replica;
  readonly call: Call;
  exchange: HomeExchange | null;
  /** The outside may have seen something of it. */
  hasEffect: boolean;
}

/** One call of a handler by its router. */
interface Call {
  readonly slot: LinkedSlot;
  readonly self: unknown;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly next: ((arg?: unknown) => void) | null;
  /** The stub's own result: Express 5 waits for it, and for older ones nobody does, as for the handler's. */
  readonly settle: { resolve(value: unknown): void; reject(error: unknown): void };
  isAgain: boolean;
}

export interface DispatchOptions {
  readonly scheduler: () => Scheduler<Replica>;
  readonly replicas: () => readonly Replica[];
  /** Will there be another replica? */
  readonly expectsMore: () => boolean;
  readonly counts: Counts;
  readonly log: Log;
  readonly overload: 'wait' | '503';
}

export class Dispatcher {
  readonly #options: DispatchOptions;
  readonly #states = new Map<string, FluxionState>();
  readonly #runs = new Map<RunId, Run>();
  /** Runs of which the costs are not known yet: that may be later than their end. */
  readonly #counted = new Map<RunId, FluxionState>();
  readonly #names = new WeakMap<Replica, AppNames>();
  /** Calls whose replica died while no other was there. */
  #orphans: { readonly state: FluxionState; readonly call: Call }[] = [];
  #count = 0;

  constructor(options: DispatchOptions) {
    this.#options = options;
  }

  stateOf(fluxion: LinkFluxion): FluxionState {
    const known = this.#states.get(fluxion.id);
    if (known !== undefined) return known;
    const count = this.#options.counts.fluxion(fluxion.id, fluxion.placement);
    const state = { fluxion, movable: makeMovable(fluxion.id), count, staysHome: !fluxion.movable };
    this.#states.set(fluxion.id, state);
    return state;
  }

  namesOf(replica: Replica): AppNames {
    const known = this.#names.get(replica);
    if (known !== undefined) return known;
    const names = new AppNames();
    this.#names.set(replica, names);
    return names;
  }

  // --- handlers -------------------------------------------------------------------------------------------------------

  stubFor(slot: LinkedSlot, fluxion: LinkFluxion): Handler {
    const state = this.stateOf(fluxion);
    return sameShape(slot.fn, (self, args) => this.#call(slot, state, self, args));
  }

  /** For the report: counts, and nothing else. */
  counterFor(slot: LinkedSlot, fluxion: LinkFluxion): Handler {
    const { count } = this.stateOf(fluxion);
    return sameShape(slot.fn, (self, args) => {
      const begin = performance.now();
      try {
        return Reflect.apply(slot.fn, self, args);
      } finally {
        this.#options.counts.ran(count, 'home', performance.now() - begin, 0);
      }
    });
  }

  #call(slot: LinkedSlot, state: FluxionState, self: unknown, args: readonly unknown[]): unknown {
    if (state.staysHome) return this.#atHome(slot, state, self, args);
    const choice = this.#options.scheduler().choose(state.movable, ({ slots }) => slots.has(slot));
    if (choice === 'home') return this.#atHome(slot, state, self, args);
    const [req, res, next] = args as [IncomingMessage, ServerResponse, ((arg?: unknown) => void) | undefined];
    if (choice === 'overloaded') {
      if (this.#options.overload === 'wait') return this.#atHome(slot, state, self, args);
      return refuse(res);
    }
    return new Promise((resolve, reject) => {
      const call: Call = { slot, self, req, res, next: next ?? null, settle: { resolve, reject }, isAgain: false };
      this.#dispatch(choice, state, call);
    });
  }

  #atHome(slot: LinkedSlot, state: FluxionState, self: unknown, args: readonly unknown[]): unknown {
    const begin = performance.now();
    try {
      return Reflect.apply(slot.fn, self, args);
    } finally {
      const ms = performance.now() - begin;
      this.#options.scheduler().ranAtHome(state.movable, ms);
      this.#options.counts.ran(state.count, 'home', ms, 0);
    }
  }

  // --- away -----------------------------------------------------------------------------------------------------------

  #dispatch(replica: Replica, state: FluxionState, call: Call): void {
    const id = ++this.#count;
    const run: Run = { id, state, replica, call, exchange: null, hasEffect: false };
    try {
      run.exchange = new HomeExchange({
        id,
        req: call.req,
        res: call.res,
        next: call.next,
        app: this.namesOf(replica),
        send: (message) => replica.channel.send(message),
        settle: (outcome) => this.#settle(run, outcome),
        closed: () => this.#over(run),
      });
    } catch (error) {
      if (!(error instanceof CannotTravel)) throw error;
      // What is wrong with the request itself says nothing of the next one.
      if (error.path !== 'req') this.#keepHome(state, error.path, error.why);
      this.#runHere(state, call);
      return;
    }
    this.#runs.set(id, run);
    this.#counted.set(id, state);
    replica.active++;
    const slot = replica.slots.get(call.slot) ?? '';
    replica.channel.send({ kind: 'dispatch', run: id, slot, envelope: run.exchange.envelope, at: sharedClock() });
  }

  /** Its first attempt came to nothing; the router does not wait for us any more. */
  #runHere(state: FluxionState, call: Call): void {
    const { slot, self, req, res, next, settle } = call;
    try {
      settle.resolve(this.#atHome(slot, state, self, next === null ? [req, res] : [req, res, next]));
    } catch (error) {
      this.#threw(call, error);
    }
  }

  #settle(run: Run, outcome: Outcome): void {
    const { call, state } = run;
    switch (outcome.kind) {
      case 'next':
        if (outcome.given) call.next?.(outcome.arg);
        else call.next?.();
        return;
      case 'threw':
        this.#threw(call, outcome.error);
        return;
      case 'rejected':
        call.settle.reject(outcome.error);
        return;
      case 'lost':
        // The request is served; but listeners at home may have wanted what is missing.
        this.#keepHome(state, outcome.what, outcome.why);
        return;
      case 'cannot-travel':
        this.#keepHome(state, outcome.what, outcome.why);
        this.#forget(run);
        if (outcome.untouched && !run.hasEffect) this.#runHere(state, call);
        else this.#fail(call, `${outcome.what} cannot travel: ${outcome.why}`);
        return;
    }
  }

  /** As the router does with what a handler throws; a plain server has nobody who would. */
  #threw(call: Call, error: unknown): void {
    if (call.next !== null) call.next(error);
    else {
      process.nextTick(() => {
        throw error;
      });
    }
  }

  #keepHome(state: FluxionState, what: string, why: string): void {
    if (state.staysHome) return;
    state.staysHome = true;
    const { id, module, line } = state.fluxion;
    state.count.reasons.push(`${what} cannot travel: ${why}`);
    this.#options.log.warn(`${what} cannot travel: ${why}; "${id}" (${module}:${line}) stays on the main thread`);
  }

  #fail(call: Call, why: string): void {
    const { fluxion } = this.stateOf(call.slot.fluxion as LinkFluxion);
    this.#options.log.error(
      `${call.req.method} ${call.req.url}: the answer was lost, and it is not safe to run "${fluxion.id}" ` +
        `(${fluxion.module}:${fluxion.line}) again: ${why}`,
    );
    answerLost(call.res);
  }

  // --- what comes back ------------------------------------------------------------------------------------------------

  receive(replica: Replica, message: ToHome): void {
    switch (message.kind) {
      case 'ran': {
        const state = this.#counted.get(message.run);
        if (state === undefined) return;
        this.#counted.delete(message.run);
        this.#options.counts.ran(state.count, replica.id, message.cpuMs, message.waitMs);
        this.#options.counts.loop(replica.id).requests++;
        this.#options.scheduler().ranAway(state.movable, message.cpuMs);
        return;
      }
      case 'effect':
        for (const run of this.#runs.values()) if (run.replica === replica) run.hasEffect = true;
        return;
      case 'steps':
      case 'pull':
      case 'cannot-travel':
      case 'done':
        return this.#exchange(message);
      default:
        return;
    }
  }

  #exchange(message: ExchangeToHome): void {
    this.#runs.get(message.id)?.exchange?.receive(message);
  }

  #over(run: Run): void {
    if (this.#forget(run)) run.call.settle.resolve(undefined);
  }

  #forget(run: Run): boolean {
    if (!this.#runs.delete(run.id)) return false;
    run.replica.active--;
    return true;
  }

  // --- deaths ---------------------------------------------------------------------------------------------------------

  gone(replica: Replica): void {
    const lost = [...this.#runs.values()].filter((run) => run.replica === replica);
    for (const run of lost) {
      this.#runs.delete(run.id);
      this.#counted.delete(run.id);
      const isWhole = run.exchange?.restore() ?? false;
      if (isWhole && !run.hasEffect && !run.call.isAgain) this.#again(run.state, run.call);
      else this.#fail(run.call, `${replica.id} ended while it ran`);
    }
  }

  /** Once, and not at home if that can be helped: it may be what the replica died of. */
  #again(state: FluxionState, call: Call): void {
    call.isAgain = true;
    state.count.reruns++;
    const other = this.#options.replicas().find((each) => each.isReady && !each.isFull && each.slots.has(call.slot));
    if (other !== undefined) this.#dispatch(other, state, call);
    else if (this.#options.expectsMore()) this.#orphans.push({ state, call });
    else this.#runHere(state, call);
  }

  /** A replica has come, or none will come any more. */
  adopt(): void {
    const orphans = this.#orphans;
    this.#orphans = [];
    for (const { state, call } of orphans) {
      const any = this.#options.replicas().find((each) => each.isReady && each.slots.has(call.slot));
      if (any !== undefined) this.#dispatch(any, state, call);
      else this.#runHere(state, call);
    }
  }
}

/** Same name, same number of parameters: a router looks at nothing else. */
function sameShape(fn: Handler, call: (self: unknown, args: unknown[]) => unknown): Handler {
  const stub = function (this: unknown, ...args: unknown[]): unknown {
    return call(this, args);
  };
  Object.defineProperty(stub, 'name', { value: fn.name, configurable: true });
  Object.defineProperty(stub, 'length', { value: fn.length, configurable: true });
  return stub;
}

/** The threads of a machine share this clock; the one that counts from their start they do not. */
export function sharedClock(): number {
  return performance.timeOrigin + performance.now();
}

function refuse(res: ServerResponse): void {
  res.statusCode = 503;
  res.setHeader('Retry-After', '1');
  res.end('Service Unavailable');
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
