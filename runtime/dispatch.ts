/**
 * Home's side of what runs elsewhere: sends work to replicas, applies what comes back, and runs again what a lost replica
 * left behind, where that is safe.
 *
 *     stub, cut ─> work ─> [waiting: first come, first served] ─> a replica with room ─> steps on the real response, `next`,
 *                             ^            ^                          │                  a result, an error
 *                             │            └── had not begun ─────── it dies
 *                             └─ suspects: each alone ── had begun ───┘
 */
import timers from 'node:timers';
import { CannotTravel, decode } from './codec.js';
import { CutRefs, type Parts as ExchangeParts, namedPath } from './cut-refs.js';
import { type AwayWork, HalfClosed } from './half-closed.js';
import { Mark } from './http-bridge/exchange-of.js';
import { HomeExchange, type Outcome } from './http-bridge/index.js';
import { refsOutside } from './http-bridge/names.js';
import { LateRuns, lostConclusion } from './late-runs.js';
import { AppNames } from './link/app-names.js';
import type { Log } from './log.js';
import type { ResultMessage, RunId, RunMessage, ToHome } from './messages.js';
import { RejectedThere } from './rejected-there.js';
import type { Replica } from './replicas.js';
import type { Counts } from './report.js';
import { computedMs, expectedMs, type Movable, type Scheduler } from './scheduler.js';
import { raise } from './uncaught.js';
import type { FluxionState, Work } from './work.js';

const { setTimeout } = timers;

/** What a replica died of may kill the next as well, so it is run alone; if that goes well for so long, it was another. */
const SUSPECT_MS = 1_000;
const MOST_ATTEMPTS = 3;

export interface DispatchOptions {
  readonly scheduler: Scheduler;
  readonly replicas: () => readonly Replica[];
  /** Will there be another replica? */
  readonly expectsMore: () => boolean;
  /** None is there, and one would be of use. */
  readonly wanted: (why: string) => void;
  /** On how many replicas work that computes for so long may be at once. */
  readonly mostFor: (ms: number) => number;
  /** How much work may wait at home, for each replica. */
  readonly mostWaiting: number;
  /** Fluxions of replicas go on at home: their messages may name exchanges that are long over. */
  readonly keepsParts: boolean;
  /** Methods of responses that some middleware replaces: behind it nothing leaves. */
  readonly replaced: readonly string[];
  readonly counts: Counts;
  readonly log: Log;
}

/** Work on a replica, until it is known how it came out. */
interface Run {
  readonly id: RunId;
  readonly work: Work;
  readonly replica: Replica;
  exchange: HomeExchange | null;
  /** Its place in the order in which the replica begins what it is sent. */
  at: number;
  /** The outside may have seen something of it. */
  hasEffect: boolean;
  /** The chain goes on at home: whatever becomes of the replica, the answer comes from here. */
  isHandedOn: boolean;
  isHarmless: boolean;
  awaitsResult: boolean;
  /** Messages of its exchange, both ways. */
  traffic: number;
  /** May something come of it when it is over? Null until the replica has said so. */
  isLate: boolean | null;
}

/** Of an exchange that is over. */
interface Kept {
  readonly parts: ExchangeParts;
  readonly replica: Replica;
  readonly work: Work;
}

export type Offer = 'away' | 'home' | 'full';

const LONGEST_TIMER_MS = 2 ** 31 - 1;

export class Dispatcher {
  readonly #options: DispatchOptions;
  readonly #runs = new Map<RunId, Run>();
  /** Runs of which the costs are not known yet: that may be later than their end. */
  readonly #uncounted = new Map<RunId, { readonly state: FluxionState; readonly replica: Replica }>();
  readonly #names = new WeakMap<Replica, AppNames>();
  readonly #kept = new Map<RunId, Kept>();
  readonly #late = new LateRuns<Run>();
  /** Responses that a replica works with. */
  readonly #away = new Mark<Run | null>();
  /** In the order in which they came; a Set, as works also leave from the middle. */
  #waiting = new Set<Work>();
  readonly #suspects: Work[] = [];
  #isPumping = false;
  #count = 0;
  /** Of works whose clients send no more. */
  readonly #halfClosed = new HalfClosed<Work>((work) => this.#whereIs(work));
  readonly #rejected = new RejectedThere();
  /** Runs for which no connection is open. */
  #alone = 0;
  #awake: NodeJS.Timeout | null = null;
  readonly #echoes = new Map<number, { readonly replica: Replica; readonly resolve: () => void }>();
  #asked = 0;

  constructor(options: DispatchOptions) {
    this.#options = options;
  }

  namesOf(replica: Replica): AppNames {
    const known = this.#names.get(replica);
    if (known !== undefined) return known;
    const names = new AppNames();
    this.#names.set(replica, names);
    return names;
  }

  /** What a message from this replica may name: its exchanges, which home holds. */
  refsFor(replica: Replica, exchanges: readonly RunId[]): CutRefs {
    const partsOf = (id: RunId): ExchangeParts | undefined => {
      const run = this.#runs.get(id);
      if (run?.replica === replica) return run.exchange?.side;
      const kept = this.#kept.get(id);
      return kept?.replica === replica ? kept.parts : undefined;
    };
    const idOf = (thing: object): RunId | undefined =>
      exchanges.find((id) => {
        const { req, res, next } = partsOf(id) ?? {};
        return thing === req || thing === res || thing === next;
      });
    return new CutRefs(this.namesOf(replica), partsOf, idOf);
  }

  get isIdle(): boolean {
    return this.#runs.size === 0 && this.#waiting.size === 0 && this.#suspects.length === 0;
  }

  /** Work that is elsewhere, or waits for that. */
  get underWay(): number {
    return this.#runs.size + this.#waiting.size + this.#suspects.length;
  }

  /** Work that waits for room. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** A replica has this response in hands, and home must not touch it meanwhile. */
  isAway(res: object): boolean {
    const run = this.#away.get(res);
    return run != null && !run.isHandedOn && this.#runs.get(run.id) === run;
  }

  // --- to replicas ----------------------------------------------------------------------------------------------------

  /** Where this work would go. */
  offer(state: FluxionState, canRun: (replica: Replica) => boolean): Offer {
    const replicas = this.#options.replicas();
    if (!replicas.some((each) => each.isReady && canRun(each))) {
      this.#options.wanted(whyAway(state.movable));
      // What has once left home may be what home could not bear, so it waits for the replica that is being started.
      return state.hasLeft && this.#options.expectsMore() ? 'away' : 'home';
    }
    return this.#waiting.size >= this.#options.mostWaiting * replicas.length ? 'full' : 'away';
  }

  submit(work: Work): void {
    work.state.hasLeft = true;
    this.#options.scheduler.leaves(work.state.movable);
    if (work.parts !== null && work.parts.req.httpVersionMajor < 2) this.#halfClosed.hold(work.parts.req.socket, work);
    this.#waiting.add(work);
    this.pump();
  }

  #whereIs(work: Work): AwayWork | 'waits' | null {
    const run = work.parts === null ? null : this.#away.get(work.parts.res);
    if (run?.work === work && this.#runs.get(run.id) === run)
      return { traffic: run.traffic, round: () => this.#echo(run.replica) };
    return this.#waiting.has(work) || this.#suspects.includes(work) ? 'waits' : null;
  }

  #echo(replica: Replica): Promise<void> {
    const ask = ++this.#asked;
    return new Promise((resolve) => {
      this.#echoes.set(ask, { replica, resolve });
      replica.channel.send({ kind: 'echo', ask });
    });
  }

  #echoed(ask: number): void {
    this.#echoes.get(ask)?.resolve();
    this.#echoes.delete(ask);
  }

  /** It is home's from here on, or nobody's. */
  #isBack(work: Work): void {
    if (work.parts !== null) this.#halfClosed.release(work.parts.req.socket, work);
  }

  /** Sends what there is room for. */
  pump(): void {
    if (this.#isPumping || (this.#waiting.size === 0 && this.#suspects.length === 0)) return;
    this.#isPumping = true;
    try {
      this.#pumpSuspects();
      for (const work of this.#waiting) {
        const replica = this.#pick(work);
        if (replica === 'full' || replica === 'later') break;
        this.#waiting.delete(work);
        if (replica === null) this.#runHere(work);
        else this.#send(replica, work);
      }
    } finally {
      this.#isPumping = false;
    }
  }

  #pick(work: Work): Replica | 'full' | 'later' | null {
    const cost = expectedMs(work.state.movable);
    const able = this.#options.replicas().filter((replica) => replica.isReady && work.canRunOn(replica));
    const most = this.#options.mostFor(cost);
    const inUse = able.length <= most ? [] : able.filter(({ active }) => active > 0);
    let best: Replica | null = null;
    // Those that are too many end what they have.
    for (const replica of inUse.length >= most ? inUse.slice(0, most) : able) {
      if (replica.hasRoom(cost) && (best === null || replica.active < best.active)) best = replica;
    }
    if (best !== null) return best;
    if (able.length > 0) return 'full';
    return this.#options.replicas().length === 0 && this.#options.expectsMore() ? 'later' : null;
  }

  #pumpSuspects(): void {
    const replicas = this.#options.replicas();
    for (const replica of replicas) {
      const at = this.#suspects.findIndex((work) => replica.isQuiet && work.canRunOn(replica));
      const [work] = at === -1 ? [] : this.#suspects.splice(at, 1);
      if (work !== undefined) this.#send(replica, work, true);
    }
    if (replicas.length > 0 || this.#options.expectsMore()) return;
    // It would be home's turn to die.
    for (const work of this.#suspects.splice(0)) this.#fail(work, 'no other thread is left to run it');
  }

  #send(replica: Replica, work: Work, isSuspect = false): void {
    const marks = { hasEffect: false, isHandedOn: false, isHarmless: false, traffic: 0, isLate: null };
    const run: Run = {
      id: ++this.#count,
      ...{ work, replica, exchange: null, at: 0, awaitsResult: work.awaitsResult },
      ...marks,
    };
    const { id } = run;
    const { movable } = work.state;
    const before = this.#options.scheduler.weighs(movable) ? computedMs() : null;
    const begin = performance.now();
    try {
      if (work.parts !== null) run.exchange = this.#exchange(run, work.parts);
      const message = work.message(replica, id, run.exchange?.envelope ?? null);
      this.#runs.set(id, run);
      this.#countAlone(work, 1);
      this.#uncounted.set(id, { state: work.state, replica });
      this.#options.counts.ran(work.state.count, replica.id);
      if (work.state.fluxion.kind === 'start' && work.parts !== null) {
        this.#options.counts.request(work.parts.req, replica.id);
      }
      if (work.parts !== null) this.#away.set(work.parts.res, run);
      replica.active++;
      run.at = ++replica.sent;
      if (isSuspect) this.#guard(run);
      replica.channel.send(message);
      this.#halfClosed.moved(work);
      const ms = performance.now() - begin;
      this.#options.scheduler.sent(movable, ms, before === null ? null : computedMs() - before);
    } catch (error) {
      if (!(error instanceof CannotTravel)) throw error;
      run.exchange?.restore();
      // What is wrong with the request itself says nothing of the next one.
      if (error.path !== 'req') this.keepHome(work.state, namedPath(error.path, work.state.fluxion.message), error.why);
      this.#runHere(work);
    }
  }

  /** The process ends when nothing is left that calls back; what is called back elsewhere is. */
  #countAlone({ parts }: Work, more: number): void {
    if (parts !== null) return;
    this.#alone += more;
    this.#awake ??= setInterval(() => {}, LONGEST_TIMER_MS);
    if (this.#alone > 0) this.#awake.ref();
    else this.#awake.unref();
  }

  #guard(run: Run): void {
    const { replica } = run;
    replica.suspect = run;
    const timer = setTimeout(() => {
      if (replica.suspect !== run) return;
      replica.suspect = null;
      replica.harmless++;
      run.isHarmless = true;
      this.pump();
    }, SUSPECT_MS);
    timer.unref();
  }

  #exchange(run: Run, parts: NonNullable<Work['parts']>): HomeExchange {
    const names = this.namesOf(run.replica);
    const { state, scope } = run.work;
    const replaced = this.#options.replaced.find((name) => Object.hasOwn(parts.res, name));
    if (replaced !== undefined) throw new CannotTravel('req', `res.${replaced} has been replaced`);
    const stores = state.fluxion.asks ? { stores: scope.runInAsyncScope(() => names.stores()) } : {};
    return new HomeExchange({
      id: run.id,
      ...parts,
      ...stores,
      app: names,
      send: (message) => {
        run.traffic++;
        run.replica.channel.send(message);
      },
      settle: (outcome) => this.#settle(run, outcome),
      closed: () => this.#over(run),
    });
  }

  #settle(run: Run, outcome: Outcome): void {
    const { work } = run;
    switch (outcome.kind) {
      case 'next':
      case 'threw':
      case 'rejected':
        run.isHandedOn = true;
        this.#isBack(work);
        // Whoever comes next in the chain is called here.
        if (work.parts !== null) this.#options.counts.request(work.parts.req, 'home');
        work.settle(outcome);
        return;
      case 'lost':
        // The request is served; but listeners at home may have wanted what is missing.
        this.keepHome(work.state, outcome.what, outcome.why);
        return;
      case 'cannot-travel':
        this.#cannotTravel(run, outcome.what, outcome.why, outcome.untouched);
        return;
    }
  }

  #cannotTravel(run: Run, what: string, why: string, untouched: boolean): void {
    this.keepHome(run.work.state, what, why);
    this.#forget(run);
    if (run.work.parts !== null) this.#options.counts.request(run.work.parts.req, 'home');
    if (untouched && !run.hasEffect) this.#runHere(run.work);
    else this.#fail(run.work, `${what} cannot travel: ${why}`);
  }

  keepHome(state: FluxionState, what: string, why: string): void {
    if (state.staysHome) return;
    state.staysHome = true;
    const { id, module, line } = state.fluxion;
    state.count.reasons.push(`${what} cannot travel: ${why}`);
    this.#options.log.warn(`${what} cannot travel: ${why}; "${id}" (${module}:${line}) stays on the main thread`);
  }

  #fail(work: Work, why: string): void {
    const { id, module, line } = work.state.fluxion;
    const { req, res } = work.parts ?? {};
    this.#isBack(work);
    // It was answered after all; only what comes behind that is lost.
    if (res?.writableEnded === true) return work.over();
    const what = req === undefined ? 'a message' : `${req.method} ${req.url}`;
    const place = `"${id}" (${module}:${line})`;
    this.#options.log.error(`${what}: the answer was lost, and it is not safe to run ${place} again: ${why}`);
    work.scope.runInAsyncScope(() => work.failed(why));
  }

  // --- what comes back ------------------------------------------------------------------------------------------------

  receive(replica: Replica, message: ToHome): void {
    switch (message.kind) {
      case 'ran':
        this.#ran(message);
        return;
      case 'result':
        this.#result(message);
        return;
      case 'effect':
        this.#mark(message.runs, replica, (run) => (run.hasEffect = true));
        return;
      case 'lost':
        this.#lost(replica, message);
        return;
      case 'echo':
        this.#echoed(message.ask);
        return;
      case 'caught-late':
      case 'dropped':
        this.#rejected.settle(replica, message);
        return;
      case 'forgot':
        for (const id of message.runs) {
          this.#kept.delete(id);
          this.#late.forget(id);
        }
        return;
      case 'steps':
      case 'pull':
      case 'cannot-travel':
      case 'done':
        this.#toExchange(replica, message);
        return;
      default:
        return;
    }
  }

  #toExchange(replica: Replica, message: Extract<ToHome, { readonly id: RunId }>): void {
    const run = this.#runs.get(message.id) ?? this.#late.get(message.id);
    if (run !== undefined) {
      run.traffic++;
      return run.work.scope.runInAsyncScope(() => run.exchange?.receive(message));
    }
    const lost = lostConclusion(message);
    if (lost !== null) this.#options.log.error(`${replica.id}: too late, its request has long been answered: ${lost}`);
  }

  /** Home goes on with the requests that are named: what is done here must not be done a second time. */
  handedBack({ exchanges, cause }: RunMessage, replica: Replica): void {
    const mayBe = exchanges.length > 0 ? exchanges : [...this.#runs.keys()];
    this.#mark(cause === null ? mayBe : [...exchanges, cause], replica, (run) => (run.hasEffect = true));
    this.#mark(exchanges, replica, (run) => (run.isHandedOn = true));
  }

  #mark(ids: readonly RunId[], replica: Replica, mark: (run: Run) => unknown): void {
    for (const id of ids) {
      const run = this.#runs.get(id);
      if (run?.replica === replica) mark(run);
    }
  }

  /** The handlers whose requests a message speaks of are not sent there again. */
  keepCallersHome(ids: readonly RunId[], what: string, why: string): void {
    for (const id of ids) {
      const run = this.#runs.get(id);
      if (run !== undefined) this.keepHome(run.work.state, what, why);
    }
  }

  /** What called it is over, so it cannot be run again at home from its beginning. */
  #lost(replica: Replica, { to, what, why, cause }: Extract<ToHome, { kind: 'lost' }>): void {
    const state = cause === null ? undefined : this.#workOf(cause)?.state;
    this.#options.log.error(`${replica.id}: "${to}" was not run, as ${what} cannot travel: ${why}`);
    if (state !== undefined) this.keepHome(state, what, why);
  }

  #workOf(id: RunId): Work | undefined {
    return (this.#runs.get(id) ?? this.#kept.get(id))?.work;
  }

  /** Runs for a replica what one of its runs goes on with here. */
  within<T>({ exchanges, cause }: RunMessage, call: () => T): T {
    const ids = cause === null ? exchanges : [...exchanges, cause];
    const work = ids.map((id) => this.#workOf(id)).find((each) => each !== undefined);
    return work === undefined ? call() : work.scope.runInAsyncScope(call);
  }

  countHere(state: FluxionState, call: () => unknown): unknown {
    const begin = performance.now();
    this.#options.counts.ran(state.count, 'home');
    try {
      return call();
    } finally {
      this.#options.counts.cost(state.count, performance.now() - begin, 0);
    }
  }

  #ran({ run: id, cpuMs, waitMs, isLate }: Extract<ToHome, { kind: 'ran' }>): void {
    const run = this.#runs.get(id) ?? this.#late.get(id);
    if (run !== undefined) run.isLate = isLate;
    if (!isLate) this.#late.forget(id);
    const state = this.#uncounted.get(id)?.state;
    if (state === undefined) return;
    this.#uncounted.delete(id);
    this.#options.counts.cost(state.count, cpuMs, waitMs);
    this.#options.scheduler.ranAway(state.movable, cpuMs);
    if (run?.exchange === null) this.#over(run);
  }

  #result({ run: id, how, value }: ResultMessage): void {
    const run = this.#runs.get(id);
    if (run === undefined) return;
    if (how === 'cannot-travel') {
      const { what, why } = decode(value) as { readonly what: string; readonly why: string };
      const untouched = run.exchange?.restore() ?? true;
      this.#cannotTravel(run, what, why, untouched);
      return;
    }
    run.awaitsResult = false;
    run.work.result(how, decode(value, this.refsFor(run.replica, [id])));
    if (run.exchange === null || run.exchange.isOver) this.#over(run);
  }

  #over(run: Run): void {
    if (run.awaitsResult || !this.#forget(run)) return;
    this.#late.add(run);
    this.pump();
  }

  #forget(run: Run): boolean {
    if (!this.#runs.delete(run.id)) return false;
    this.#countAlone(run.work, -1);
    this.#isBack(run.work);
    const { replica, exchange, work } = run;
    replica.active--;
    if (replica.suspect === run) replica.suspect = null;
    if (run.isHarmless) replica.harmless--;
    // From what is wholly free no message goes to an owner.
    if (exchange === null) return true;
    const { req, res, next } = exchange.side;
    // These may be there for long, and all that the exchange was made of need not.
    if (this.#away.get(res) === run) this.#away.set(res, null);
    if (this.#options.keepsParts && !work.state.fluxion.whole)
      this.#kept.set(run.id, { parts: { req, res, next }, replica, work });
    return true;
  }

  /** It is thrown, or rejected, where the request was called that it comes from. */
  uncaught(replica: Replica, { how, error, run, promise, verdict }: Extract<ToHome, { kind: 'uncaught' }>): void {
    const thrown = decode(error, refsOutside(this.namesOf(replica)));
    const here = (): void => this.#rejected.add(replica, promise, raise(how, thrown, verdict));
    const work = run === null ? undefined : this.#workOf(run);
    if (work === undefined) here();
    else work.scope.runInAsyncScope(here);
  }

  // --- deaths ---------------------------------------------------------------------------------------------------------

  gone(replica: Replica): void {
    const { begun } = replica;
    const notBegun: Work[] = [];
    for (const run of [...this.#runs.values()]) {
      if (run.replica !== replica) continue;
      const wasAlone = replica.suspect === run;
      this.#runs.delete(run.id);
      this.#countAlone(run.work, -1);
      const isWhole = run.exchange?.restore() ?? true;
      if (run.isHandedOn) run.work.over();
      else if (isWhole && run.at > begun) notBegun.push(this.#uncount(run));
      else if (isWhole && !run.hasEffect && !wasAlone && ++run.work.attempts < MOST_ATTEMPTS) this.#suspect(run.work);
      else this.#fail(run.work, `${replica.id} ended while it ran`);
    }
    this.#late.gone(replica);
    this.#rejected.gone(replica);
    for (const [ask, { replica: its }] of this.#echoes) if (its === replica) this.#echoed(ask);
    for (const [id, kept] of this.#kept) if (kept.replica === replica) this.#kept.delete(id);
    for (const [id, { replica: its }] of this.#uncounted) if (its === replica) this.#uncounted.delete(id);
    this.#waiting = new Set([...notBegun, ...this.#waiting]);
    this.pump();
  }

  #uncount({ work, replica }: Run): Work {
    this.#options.counts.ran(work.state.count, replica.id, -1);
    return work;
  }

  #runHere(work: Work): void {
    this.#isBack(work);
    work.scope.runInAsyncScope(() => work.runHere());
  }

  #suspect(work: Work): void {
    work.state.count.reruns++;
    this.#suspects.push(work);
  }
}

function whyAway({ id, mode, worthMs }: Movable): string {
  const ms = worthMs.toFixed(1);
  if (mode === 'trial')
    return `"${id}" is tried elsewhere: of each request ${ms} ms are computed where no handler is seen to`;
  return worthMs === 0 ? `"${id}" is to run elsewhere` : `"${id}", which takes ${ms} ms, is to run elsewhere`;
}
