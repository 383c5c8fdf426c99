/**
 * What stands in the place of handlers and at cuts at home, and decides for each call where it runs.
 */

import type { LinkFluxion } from '../flx/run-manifest.js';
import { encodeAll } from './codec.js';
import { CutRefs } from './cut-refs.js';
import type { Dispatcher } from './dispatch.js';
import type { Envelope } from './http-bridge/messages.js';
import type { Args } from './http-bridge/names.js';
import { Below, callAs } from './http-bridge/stack.js';
import type { LinkedSlot } from './link/link-home.js';
import type { Handler } from './link/routers.js';
import type { RunId, ToReplica } from './messages.js';
import { IncomingMessage, ServerResponse } from './node-http.js';
import process from './node-process.cjs';
import type { Replica } from './replicas.js';
import type { Counts } from './report.js';
import { computedMs, isHeavy, makeMovable, type Scheduler } from './scheduler.js';
import { TurnMeter } from './turn-meter.js';
import type { Code, Cuts, Make } from './types.js';
import { CutWork, type FluxionState, HandlerWork, type Parts, sharedClock } from './work.js';

/** What has to run here, whichever function it is. */
const BOUND = Symbol('bound');

export interface StubOptions {
  readonly dispatcher: Dispatcher;
  readonly scheduler: Scheduler;
  readonly counts: Counts;
  readonly overload: 'wait' | '503';
  /** Somebody will read the counts. */
  readonly reports: boolean;
  /** For a rest that has to run here after all. */
  readonly makes: ReadonlyMap<string, Make>;
  readonly fluxionOf: (id: string) => LinkFluxion | undefined;
  /** Asked before anything leaves: what replicas were compared with is still so. */
  holds(): boolean;
  /** The same of what this function depends on. */
  holdsFor(fn: object): boolean;
}

export class Stubs {
  readonly #options: StubOptions;
  readonly #states = new Map<string, FluxionState>();
  readonly #meter: TurnMeter<FluxionState | typeof BOUND>;
  #isAllHome = false;
  /** Requests that somebody has passed on who looks, behind that, at what has come of it. */
  readonly #held = new WeakSet<object>();
  /** Of the run that is on top of the stack: what others took that it called. */
  #withinMs = 0;

  constructor(options: StubOptions) {
    this.#options = options;
    const { scheduler } = options;
    this.#meter = new TurnMeter<FluxionState | typeof BOUND>({
      watches: (what) => what !== BOUND && scheduler.watches(what.movable),
      computedMs,
      ran: (what, ms, computed) => {
        if (what === BOUND) scheduler.ranBound(ms);
        else this.#ranHere(what, ms, computed);
      },
    });
  }

  stateOf(fluxion: LinkFluxion): FluxionState {
    const known = this.#states.get(fluxion.id);
    if (known !== undefined) return known;
    const count = this.#options.counts.fluxion(fluxion.id, fluxion.placement);
    const staysHome = !fluxion.movable || this.#isAllHome;
    const state = { fluxion, movable: makeMovable(fluxion.id), count, staysHome, hasLeft: false };
    this.#states.set(fluxion.id, state);
    return state;
  }

  /** Some fluxion that may leave is known to hold up the loop that it runs on. */
  hasHeavy(): boolean {
    for (const { movable, staysHome } of this.#states.values()) if (!staysHome && isHeavy(movable)) return true;
    return false;
  }

  /** It is being found out whether some fluxion computes for long. */
  isTrying(): boolean {
    for (const { movable } of this.#states.values()) if (movable.mode === 'trial') return true;
    return false;
  }

  /** From now on nothing leaves. */
  keepHome(): void {
    this.#isAllHome = true;
    for (const state of this.#states.values()) state.staysHome = true;
  }

  /** Runs it here, and counts what that costs, without what it runs in turn (by `next()`). */
  here(state: FluxionState, call: () => unknown): unknown {
    const { scheduler } = this.#options;
    const before = scheduler.watches(state.movable) ? computedMs() : null;
    const around = this.#withinMs;
    this.#withinMs = 0;
    const begin = performance.now();
    try {
      return call();
    } finally {
      const whole = performance.now() - begin;
      const ms = whole - this.#withinMs;
      this.#withinMs = around + whole;
      this.#ranHere(state, ms, before === null ? null : computedMs() - before);
    }
  }

  #ranHere(state: FluxionState, ms: number, computed: number | null): void {
    const { scheduler, counts } = this.#options;
    scheduler.ranAtHome(state.movable, ms, computed);
    counts.ran(state.count, 'home');
    counts.cost(state.count, ms, 0);
  }

  // --- handlers -------------------------------------------------------------------------------------------------------

  /** What runs here is called by its router itself, with nothing between them. */
  place(slot: LinkedSlot, fluxion: LinkFluxion): void {
    const state = this.stateOf(fluxion);
    const stub = sameShape(slot.fn, (self, args, own) => this.#handle(slot, state, self, args, own));
    if (slot.intercept === null) slot.replace(stub);
    else if (slot.kind === 'error') slot.intercept(() => (this.#handlesErrors(slot, state) ? stub : slot.fn));
    else slot.intercept(() => (this.#mayLeave(slot, state) ? stub : slot.fn));
  }

  /** A router also takes it to look at its parameters, so what it costs is for the stub to find out, or for a trial. */
  #handlesErrors(slot: LinkedSlot, state: FluxionState): boolean {
    return this.#options.reports || this.#isOffered(slot, state);
  }

  #mayLeave(slot: LinkedSlot, state: FluxionState): boolean {
    if (this.#isOffered(slot, state)) return true;
    if (!state.staysHome || this.#options.reports) this.#meter.taken(state);
    return false;
  }

  #isOffered(slot: LinkedSlot, state: FluxionState): boolean {
    if (state.staysHome || isInDomain() || !this.#options.scheduler.goesAway(state.movable) || !this.#options.holds())
      return false;
    const offer = this.#options.dispatcher.offer(state, ({ slots }) => slots.has(slot));
    if (offer === 'away') return this.#reachesTheSame(state, slot.own);
    return offer === 'full' && this.#options.overload === '503';
  }

  /** Only what leaves pays for this. */
  #reachesTheSame(state: FluxionState, fn: object): boolean {
    if (this.#options.holdsFor(fn)) return true;
    state.staysHome = true;
    return false;
  }

  /** What it costs is no reason to try others elsewhere, and is not taken for theirs. */
  watch({ kind, fn, intercept, holder }: LinkedSlot): void {
    // Connect's layers call theirs as methods, which stack traces say only where it is no accessor that gives them.
    if (kind === 'error' || Object.getPrototypeOf(holder) === Object.prototype) return;
    intercept?.(() => {
      this.#meter.taken(BOUND);
      return fn;
    });
  }

  /** For the report: counts, and nothing else. */
  count(slot: LinkedSlot, fluxion: LinkFluxion): void {
    const state = this.stateOf(fluxion);
    // A router takes a handler of errors for each request, to look at its parameters.
    if (slot.intercept === null || slot.kind === 'error') slot.replace(this.#counter(slot, state));
    else {
      slot.intercept(() => {
        this.#meter.taken(state);
        return slot.fn;
      });
    }
  }

  /** All that follows in its chain stays here: at home `next()` comes back when that has run. */
  hold(slot: LinkedSlot, fluxion: LinkFluxion): void {
    const state = this.stateOf(fluxion);
    const stub = sameShape(slot.fn, (self, args, own) => {
      const req = slot.kind === 'error' ? args[1] : args[0];
      if (req instanceof IncomingMessage) this.#held.add(req);
      return this.#callHere(slot, state, self, args, own);
    });
    slot.replace(stub);
  }

  #counter(slot: LinkedSlot, state: FluxionState): Handler {
    return sameShape(slot.fn, (self, args, stub) => this.#callHere(slot, state, self, args, stub));
  }

  /** As its router would, for whoever looks at the stack. That costs, so not for each request of a plain server. */
  #callHere(slot: LinkedSlot, state: FluxionState, self: unknown, args: unknown[], stub: Code): unknown {
    const isPlain = slot.intercept === null;
    return this.here(state, () => (isPlain ? Reflect.apply(slot.fn, self, args) : callAs(stub, slot.fn, self, args)));
  }

  #handle(slot: LinkedSlot, state: FluxionState, self: unknown, args: unknown[], stub: Code): unknown {
    const [req, res, next] = slot.kind === 'error' ? args.slice(1) : args;
    const call = (): unknown => this.#callHere(slot, state, self, args, stub);
    if (state.staysHome || !(req instanceof IncomingMessage) || !(res instanceof ServerResponse)) return call();
    if (this.#isTied(req)) return call();
    if (isInDomain() || !this.#options.scheduler.goesAway(state.movable) || !this.#options.holds()) return call();
    const offer = this.#options.dispatcher.offer(state, ({ slots }) => slots.has(slot));
    if (offer === 'full' && this.#options.overload === '503') return refuse(res);
    if (offer !== 'away' || !this.#reachesTheSame(state, slot.own)) return call();
    const beside = besideExchange(slot, args);
    const parts = {
      ...{ req, res, next: isFunction(next) ? next : null, below: new Below(stub, self) },
      ...(beside === null ? {} : { args: beside }),
    };
    const counted = (run: () => unknown): unknown => this.here(state, run);
    return new Promise((resolve, reject) => {
      this.#options.dispatcher.submit(new HandlerWork(state, slot, self, parts, counted, { resolve, reject }));
    });
  }

  // --- cuts -----------------------------------------------------------------------------------------------------------

  cuts(): Cuts {
    return {
      post: (id, closure, vars) => this.#post(id, closure, vars),
      away: (id) => this.#away(id),
      send: (id, vars) => this.#send(id, vars),
    };
  }

  /** What is to stay runs untouched: what it costs is noticed when home is busy with it. */
  #post(id: string, closure: Code, vars: () => unknown[]): Code {
    const state = this.#movableState(id);
    if (state === null || (!this.#options.reports && !this.#goesAway(state))) return closure;
    const { promised } = state.fluxion;
    const goOn = (self: unknown, args: unknown[]): unknown => {
      const call = (): unknown => this.here(state, () => Reflect.apply(closure, self, args));
      if (!this.#goesAway(state)) return call();
      if (!promised) return this.#sendCut(state, vars(), args, call, null);
      return new Promise((resolve, reject) => {
        this.#sendCut(state, vars(), args, call, { resolve, reject });
      });
    };
    return sameShape(closure, goOn);
  }

  /** Asked and answered in one turn: `send` comes at once where this says yes. */
  #away(id: string): boolean {
    const state = this.#movableState(id);
    return state !== null && this.#goesAway(state);
  }

  #send(id: string, vars: unknown[]): unknown {
    const fluxion = this.#options.fluxionOf(id);
    const make = this.#options.makes.get(id);
    if (fluxion === undefined || make === undefined) throw new Error(`${id} has not been defined`);
    const state = this.stateOf(fluxion);
    const call = (): unknown => this.here(state, () => Reflect.apply(make(...vars), undefined, []));
    return new Promise((resolve, reject) => {
      this.#sendCut(state, vars, [], call, { resolve, reject });
    });
  }

  #movableState(id: string): FluxionState | null {
    const fluxion = this.#options.fluxionOf(id);
    if (fluxion === undefined || !fluxion.movable) return null;
    const state = this.stateOf(fluxion);
    return state.staysHome ? null : state;
  }

  #goesAway(state: FluxionState): boolean {
    if (isInDomain() || !this.#options.scheduler.goesAway(state.movable) || !this.#options.holds()) return false;
    const make = this.#options.makes.get(state.fluxion.id);
    const offer = this.#options.dispatcher.offer(state, ({ cuts }) => cuts.has(state.fluxion.id));
    return offer === 'away' && (make === undefined || this.#reachesTheSame(state, make));
  }

  #sendCut(
    state: FluxionState,
    vars: unknown[],
    args: unknown[],
    call: () => unknown,
    waiting: CutWork['waiting'],
  ): void {
    const parts = findParts([...vars, ...args]);
    // Another loop has the response in hands already: two of them would not know of each other.
    const isBound = parts === 'unclear' || (parts !== null && this.#isTied(parts.req));
    if (isBound || (parts !== null && this.#options.dispatcher.isAway(parts.res))) {
      this.#here(call, waiting);
      return;
    }
    const message = (to: Replica, run: RunId, envelope: Envelope | null): ToReplica => {
      const refs = new CutRefs(
        this.#options.dispatcher.namesOf(to),
        () => parts ?? undefined,
        (thing) => (parts !== null && isPart(parts, thing) ? run : undefined),
      );
      const sent = { vars: encodeAll(vars, refs, 'vars'), args: encodeAll(args, refs, 'args') };
      return {
        kind: 'run',
        run,
        to: state.fluxion.id,
        ...sent,
        exchanges: parts === null ? [] : [run],
        cause: null,
        envelope,
        at: sharedClock(),
      };
    };
    this.#options.dispatcher.submit(new CutWork(state, parts, message, call, waiting));
  }

  #isTied(req: IncomingMessage): boolean {
    return this.#held.has(req) || isUpgrade(req);
  }

  #here(call: () => unknown, waiting: CutWork['waiting']): void {
    if (waiting === null) call();
    else waiting.resolve(new Promise((resolve) => resolve(call())));
  }
}

/** What it throws later is for the domain to catch, which is here. */
function isInDomain(): boolean {
  const domain: unknown = Reflect.get(process, 'domain');
  return domain !== undefined && domain !== null;
}

/** Its connection belongs to a listener of the app's, and is being read: who is to hear what comes has to listen in the same turn. */
function isUpgrade({ upgrade }: IncomingMessage): boolean {
  return upgrade === true;
}

function besideExchange({ kind }: LinkedSlot, args: readonly unknown[]): Args | null {
  if (kind === 'error') return { error: args[0] };
  return kind === 'param' ? { value: args[3], name: args[4] } : null;
}

/** A request and its response; `unclear` where one is without the other, or there are several. */
function findParts(values: readonly unknown[]): Parts | null | 'unclear' {
  const res = values.find((value) => value instanceof ServerResponse);
  const given = values.find((value) => value instanceof IncomingMessage);
  const req: unknown = given ?? res?.req;
  const reply: unknown = res ?? (given === undefined ? undefined : Reflect.get(given, 'res'));
  if (req === undefined && reply === undefined) return null;
  if (!(req instanceof IncomingMessage) || !(reply instanceof ServerResponse) || reply.req !== req) return 'unclear';
  const next = values.find((value) => isFunction(value) && value.name === 'next');
  return { req, res: reply, next: isFunction(next) ? next : null };
}

function isPart({ req, res, next }: Parts, thing: object): boolean {
  return thing === req || thing === res || thing === next;
}

function isFunction(value: unknown): value is (...args: unknown[]) => void {
  return typeof value === 'function';
}

/** Same name, same number of parameters: a router looks at nothing else. */
export function sameShape(fn: object, call: (self: unknown, args: unknown[], stub: Code) => unknown): Handler & Code {
  const stub: Handler & Code = function (this: unknown, ...args: unknown[]): unknown {
    return call(this, args, stub);
  };
  for (const name of ['name', 'length']) {
    Object.defineProperty(stub, name, { value: Reflect.get(fn, name), configurable: true });
  }
  return stub;
}

function refuse(res: ServerResponse): void {
  res.statusCode = 503;
  res.setHeader('Retry-After', '1');
  res.end('Service Unavailable');
}
