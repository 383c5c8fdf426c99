/**
 * A replica's side of what runs there: takes requests for handlers and messages for fluxions behind cuts, sends home what
 * comes of them, and at its own cuts the messages for what has to run at home.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { performance } from 'node:perf_hooks';
import type { Transferable } from 'node:worker_threads';
import type { LinkFluxion } from '../flx/run-manifest.js';
import { CannotTravel, decode, type Encoded, encode, encodeAll } from './codec.js';
import { CutRefs, namedPath } from './cut-refs.js';
import { encodeThrown } from './encode-thrown.js';
import { callArgs } from './http-bridge/call-args.js';
import { Mark } from './http-bridge/exchange-of.js';
import { type Lateness, openExchange, type ReplicaExchange } from './http-bridge/index.js';
import type { Envelope } from './http-bridge/messages.js';
import { refsOutside } from './http-bridge/names.js';
import { followFlows } from './http-bridge/stack.js';
import type { AppNames } from './link/app-names.js';
import type { Handler } from './link/routers.js';
import type { AcceptMessage, ResultMessage, RunId, ToHome, ToReplica } from './messages.js';
import process from './node-process.cjs';
import { computedMs } from './scheduler.js';
import type { Code, Cuts, SwitchableLoop } from './types.js';
import { WhoHas } from './who-has.js';

export interface ReplicaRunsOptions {
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly loop: SwitchableLoop;
  readonly names: AppNames;
  /** Home sees how many runs were begun here. */
  readonly begun: Int32Array;
  readonly fluxionOf: (id: string) => LinkFluxion | undefined;
  /** Something that begins here may have to go on at home. */
  readonly leaves: boolean;
  send(message: ToHome, transfer?: readonly Transferable[]): void;
}

interface Open {
  readonly exchange: ReplicaExchange;
  readonly part: PartOf;
  readonly meter: Meter;
  readonly waitMs: number;
}

/** What each part of an exchange knows of it. */
interface PartOf {
  readonly exchange: ReplicaExchange;
  /** As long as this is there, so is the exchange. Null where nobody is told of its end. */
  token: object | null;
}

interface Waiting {
  /** What the answer may name. */
  readonly exchanges: ReadonlyMap<RunId, ReplicaExchange>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export class ReplicaRuns {
  readonly #options: ReplicaRunsOptions;
  readonly #open = new Map<RunId, Open>();
  /** What traces show below the handlers, by their slots. */
  readonly #below = new Map<string, readonly string[]>();
  /**
   * Of everything that was ever part of an exchange, which: a continuation may come long after its exchange was closed here. Not a WeakMap:
   * until V8 tidies up all of memory, what such a map has is there, whoever has died.
   */
  readonly #parts = new Mark<PartOf>();
  readonly #waiting = new Map<RunId, Waiting>();
  /** Runs without request and response. */
  readonly #alone = new Set<RunId>();
  /** The run that a cut belongs to. Node has to follow each promise for that, so only where something may leave here. */
  readonly #current: AsyncLocalStorage<RunId> | null;
  /** Exchanges that may be named to home for as long as somebody here has a part of them. */
  readonly #whoHas = new WhoHas((runs) => this.#options.send({ kind: 'forgot', runs }));
  /** Runs that ask for contexts, and those that home has sent with them. */
  readonly #asking = new AsyncLocalStorage<{
    readonly exchange: ReplicaExchange;
    readonly known: ReadonlySet<object>;
  }>();
  #sent = 0;
  #begins = (): void => {};

  constructor(options: ReplicaRunsOptions) {
    this.#options = options;
    this.#current = options.leaves ? new AsyncLocalStorage() : null;
    if (options.leaves) followFlows();
    options.loop.decide(this.#cuts());
  }

  /** `begins` is called before each run: what it does from there on is its own. */
  onBegin(begins: () => void): void {
    this.#begins = begins;
  }

  /** A request begins here of which home does not know. */
  begins(): void {
    this.#begins();
  }

  /** All that has begun here and is not over. */
  begun(): readonly RunId[] {
    return [...this.#open.keys(), ...this.#alone];
  }

  /** What is under way here; null where nothing is. */
  holds(): string | null {
    if (this.#open.size > 0 || this.#alone.size > 0) return 'a run';
    return this.#waiting.size > 0 ? 'a result that it waits for' : null;
  }

  receive(message: Exclude<ToReplica, AcceptMessage | { readonly kind: 'retire' | 'linked' | 'signs' }>): void {
    switch (message.kind) {
      case 'dispatch':
        this.#dispatch(message);
        return;
      case 'run':
        this.#run(message);
        return;
      case 'result':
        this.#result(message);
        return;
      case 'ping':
        this.#options.send({ kind: 'pong', memory: memoryOfThread() - this.#whoHas.weight });
        return;
      case 'echo':
        this.#options.send(message);
        return;
      default:
        this.#open.get(message.id)?.exchange.receive(message);
    }
  }

  /** All that was done before is told; what an error has in it that cannot travel is left out. */
  uncaught(error: unknown): { readonly error: Encoded; readonly run: RunId | null } {
    const open = this.begun();
    for (const { exchange } of this.#open.values()) exchange.flush();
    const run = this.#current?.getStore() ?? (open.length === 1 ? open[0] : null) ?? null;
    return { error: encodeThrown(error, refsOutside(this.#options.names)), run };
  }

  /** Something of start-up's was used that is not alive here: whose doing it was cannot be told, so nobody goes on. */
  failAll(what: string, why: string): void {
    for (const { exchange } of [...this.#open.values()]) {
      try {
        exchange.fail(what, why);
      } catch (error) {
        if (!(error instanceof CannotTravel)) throw error;
      }
    }
  }

  // --- what is sent here ------------------------------------------------------------------------------------------------

  #dispatch({ run, slot, envelope, at, below }: Extract<ToReplica, { kind: 'dispatch' }>): void {
    this.#count();
    if (below !== null) this.#below.set(slot, below);
    const handler = this.#options.handlers.get(slot);
    const exchange = this.#begin(run, envelope, at);
    if (exchange === null) return;
    if (handler === undefined) throw new Error(`the handler ${slot} is not known here`);
    const { req, res, next } = exchange;
    const args = callArgs([req, res, next], envelope.args === null ? undefined : exchange.args);
    const call = (): unknown => exchange.run(handler as Code, undefined, args, this.#below.get(slot));
    this.#within(run, () => this.#inContexts(exchange, call));
  }

  #run(message: Extract<ToReplica, { kind: 'run' }>): void {
    this.#count();
    const { run, to, envelope, at } = message;
    const make = this.#options.loop.makes.get(to);
    if (make === undefined) throw new Error(`"${to}" is not known here`);
    const exchange = envelope === null ? null : this.#begin(run, envelope, at);
    if (envelope !== null && exchange === null) return;
    const refs = this.#refs();
    const vars = decode(message.vars, refs) as unknown[];
    const args = decode(message.args, refs) as unknown[];
    const isPromised = this.#options.fluxionOf(to)?.promised ?? false;
    const call = (): unknown => make(...vars).apply(undefined, args);
    this.#within(run, () => {
      if (exchange === null) this.#runAlone(run, call, isPromised, at);
      else
        this.#inContexts(exchange, () =>
          exchange.run(isPromised ? () => void this.#answer(run, call) : call, undefined, []),
        );
    });
  }

  #count(): void {
    const { begun } = this.#options;
    Atomics.store(begun, 0, Atomics.load(begun, 0) + 1);
  }

  #within(run: RunId, work: () => void): void {
    if (this.#current === null) work();
    else this.#current.run(run, work);
  }

  /** What home has of these is there. Of others of the app's nobody knows whether home has something; what packages have is theirs. */
  #inContexts(exchange: ReplicaExchange, call: () => unknown): void {
    if (!this.#options.names.hasContexts) return void call();
    const known = new Set<object>();
    let run = call;
    for (const [name, store] of Object.entries(exchange.stores)) {
      const context = this.#options.names.contextNamed(name);
      if (context === undefined) continue;
      known.add(context);
      const within = run;
      if (store !== undefined) run = () => context.run(store, within);
    }
    this.#asking.run({ exchange, known }, run);
  }

  /** Somebody here has asked for a context, and there is none. */
  askedInVain(context: object): void {
    if (context === this.#asking || context === this.#current) return;
    const asking = this.#asking.getStore();
    if (asking === undefined || asking.known.has(context) || !this.#options.names.isContext(context)) return;
    asking.exchange.fail('the context', 'home may have another one, which is not known here');
  }

  #checkContexts({ stores }: Envelope): void {
    for (const [at, name] of (stores?.names ?? []).entries())
      if (stores?.values[at] !== undefined && this.#options.names.contextNamed(name) === undefined)
        throw new CannotTravel('the context', 'the other loop does not have it');
  }

  /** Without request and response: nobody hears of its end but by this. */
  #runAlone(run: RunId, call: () => unknown, isPromised: boolean, at: number): void {
    const waitMs = waited(at);
    const meter = new Meter(this.#open.size);
    this.#begins();
    this.#alone.add(run);
    const ran = (): void => {
      this.#alone.delete(run);
      this.#options.send({ kind: 'ran', run, cpuMs: meter.read(this.#open.size + 1), waitMs, isLate: false });
    };
    if (isPromised) void this.#answer(run, call).then(ran);
    else {
      try {
        call();
      } catch (error) {
        this.#sendResult(run, 'threw', error);
      }
      ran();
    }
  }

  async #answer(run: RunId, call: () => unknown): Promise<void> {
    try {
      this.#sendResult(run, 'gave', await call());
    } catch (error) {
      this.#sendResult(run, 'threw', error);
    }
  }

  #sendResult(run: RunId, how: ResultMessage['how'], value: unknown): void {
    try {
      this.#options.send({ kind: 'result', run, how, value: encode(value, this.#refs(), 'the result') });
    } catch (error) {
      if (!(error instanceof CannotTravel)) throw error;
      const told = encode({ what: error.path, why: error.why });
      this.#options.send({ kind: 'result', run, how: 'cannot-travel', value: told });
    }
  }

  #begin(run: RunId, envelope: Envelope, at: number): ReplicaExchange | null {
    try {
      this.#checkContexts(envelope);
      const exchange = openExchange(envelope, {
        app: this.#options.names,
        send: (message, transfer) => this.#options.send(message, transfer),
        closed: (_, late) => this.#closed(run, late),
        settled: () => this.#settled(run),
      });
      const given = this.#options.leaves ? [envelope.req.values, envelope.res.values, envelope.args?.values] : null;
      const part: PartOf = { exchange, token: given && this.#whoHas.watch(run, given) };
      for (const each of [exchange.req, exchange.res, exchange.next]) this.#parts.set(each, part);
      this.#open.set(run, { exchange, part, meter: new Meter(this.#open.size), waitMs: waited(at) });
      this.#begins();
      return exchange;
    } catch (error) {
      if (!(error instanceof CannotTravel)) throw error;
      const { path, why } = error;
      this.#options.send({ kind: 'cannot-travel', id: envelope.id, what: path, why });
      this.#options.send({ kind: 'ran', run, cpuMs: 0, waitMs: waited(at), isLate: false });
      return null;
    }
  }

  #closed(run: RunId, late: Lateness): void {
    const open = this.#open.get(run);
    if (open === undefined) return;
    this.#open.delete(run);
    if (late === 'while-held') open.part.token ??= this.#whoHas.watch(run, null);
    const cpuMs = open.meter.read(this.#open.size + 1);
    this.#options.send({ kind: 'ran', run, cpuMs, waitMs: open.waitMs, isLate: late !== 'never' });
  }

  /** Where somebody else may name it, that is told when nobody has it any more. */
  #settled(run: RunId): void {
    if (!this.#whoHas.watches(run)) this.#options.send({ kind: 'forgot', runs: [run] });
  }

  /** `named`: what a message speaks of, be it open or not. */
  #refs(named = new Map<RunId, ReplicaExchange>()): CutRefs {
    const partsOf = (id: RunId) => this.#open.get(id)?.exchange ?? named.get(id);
    const idOf = (thing: object): RunId | undefined => {
      const exchange = this.#parts.get(thing)?.exchange;
      if (exchange !== undefined && this.#whoHas.watches(exchange.id)) named.set(exchange.id, exchange);
      return exchange?.id;
    };
    return new CutRefs(this.#options.names, partsOf, idOf);
  }

  // --- what leaves --------------------------------------------------------------------------------------------------------

  #cuts(): Cuts {
    return {
      post: (id, closure, vars) => (this.#staysHere(id) ? closure : this.#postHome(id, vars)),
      away: (id) => !this.#staysHere(id),
      send: (id, vars) => this.#sendHome(id, vars, [], true),
    };
  }

  #staysHere(id: string): boolean {
    return this.#options.fluxionOf(id)?.movable ?? true;
  }

  #postHome(id: string, vars: () => unknown[]): Code {
    const promised = this.#options.fluxionOf(id)?.promised ?? false;
    const sendHome = (args: unknown[]): unknown => this.#sendHome(id, vars(), args, promised);
    return function (this: unknown, ...args: unknown[]): unknown {
      return sendHome(args);
    };
  }

  #sendHome(to: string, vars: unknown[], args: unknown[], isPromised: boolean): unknown {
    const run = ++this.#sent;
    const exchanges = new Map<RunId, ReplicaExchange>();
    const refs = this.#refs(exchanges);
    try {
      const message = this.#encodeHome(run, to, vars, args, refs);
      // What was done to the stand-ins so far is known at home before it goes on with the real ones.
      for (const id of refs.named) this.#open.get(id)?.exchange.handBack();
      this.#options.send(message);
    } catch (error) {
      if (!(error instanceof CannotTravel)) throw error;
      this.#abandon(to, error);
      // Nothing of this flow goes on here.
      return isPromised ? new Promise(() => {}) : undefined;
    }
    if (!isPromised) return undefined;
    return new Promise((resolve, reject) => void this.#waiting.set(run, { exchanges, resolve, reject }));
  }

  #encodeHome(run: RunId, to: string, vars: unknown[], args: unknown[], refs: CutRefs): ToHome {
    const sent = { vars: encodeAll(vars, refs, 'vars'), args: encodeAll(args, refs, 'args') };
    const at = performance.timeOrigin + performance.now();
    const cause = this.#current?.getStore() ?? null;
    return { kind: 'run', run, to, ...sent, exchanges: [...refs.named], cause, at };
  }

  /** Home runs the flow again, from its beginning, if nothing has come of it yet. */
  #abandon(to: string, { path, why }: CannotTravel): void {
    const cause = this.#current?.getStore() ?? null;
    const what = namedPath(path, this.#options.fluxionOf(to)?.message ?? []);
    const open = cause === null ? undefined : this.#open.get(cause);
    if (open !== undefined) {
      try {
        open.exchange.fail(what, why);
      } catch (error) {
        if (!(error instanceof CannotTravel)) throw error;
      }
    } else if (cause !== null && this.#alone.delete(cause)) {
      this.#options.send({ kind: 'result', run: cause, how: 'cannot-travel', value: encode({ what, why }) });
    } else {
      this.#options.send({ kind: 'lost', to, what, why, cause });
    }
  }

  #result({ run, how, value }: ResultMessage): void {
    const waiting = this.#waiting.get(run);
    this.#waiting.delete(run);
    const result = decode(value, this.#refs(new Map(waiting?.exchanges)));
    if (how === 'gave') waiting?.resolve(result);
    else waiting?.reject(result);
  }
}

/**
 * What a run costs: what this thread has computed meanwhile, shared with those that ran at the same time. Where Node does not tell that of
 * one thread it is the time in which its loop was busy, and looks longer the more others there are for the processor.
 */
class Meter {
  readonly #begin = computed();
  readonly #others: number;

  constructor(others: number) {
    this.#others = others;
  }

  read(others: number): number {
    return (computed() - this.#begin) / Math.max(1, (this.#others + others) / 2);
  }
}

const computed = 'threadCpuUsage' in process ? computedMs : () => performance.eventLoopUtilization().active;

function waited(at: number): number {
  return Math.max(0, performance.timeOrigin + performance.now() - at);
}

function memoryOfThread(): number {
  const { heapTotal, external } = process.memoryUsage();
  return heapTotal + external;
}
