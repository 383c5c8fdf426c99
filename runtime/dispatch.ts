/**
 * Home's side of what runs elsewhere: sends work to replicas, applies what comes back, and runs again what a lost replica
 * left behind, where that is safe.
 *
 *     stub, cut ─> work ─┬─> here
 *                        └─> a replica ─> steps on the real response, `next`, a result, an error
 */
import { CannotTravel, decode } from './codec.js';
import { CutRefs } from './cut-refs.js';
import { HomeExchange, type Outcome } from './http-bridge/index.js';
import { AppNames } from './link/app-names.js';
import type { Log } from './log.js';
import type { ResultMessage, RunId, ToHome } from './messages.js';
import type { Replica } from './replicas.js';
import type { Counts } from './report.js';
import type { Scheduler } from './scheduler.js';
import type { FluxionState, Work } from './work.js';

export interface DispatchOptions {
  readonly scheduler: () => Scheduler<Replica>;
  readonly replicas: () => readonly Replica[];
  /** Will there be another replica? */
  readonly expectsMore: () => boolean;
  readonly counts: Counts;
  readonly log: Log;
}

/** Work on a replica, until it is known how it came out. */
interface Run {
  readonly id: RunId;
  readonly work: Work;
  readonly replica: Replica;
  exchange: HomeExchange | null;
  /** The outside may have seen something of it. */
  hasEffect: boolean;
}

export class Dispatcher {
  readonly #options: DispatchOptions;
  readonly #runs = new Map<RunId, Run>();
  /** Runs of which the costs are not known yet: that may be later than their end. */
  readonly #uncounted = new Map<RunId, FluxionState>();
  readonly #names = new WeakMap<Replica, AppNames>();
  /** Work whose replica died while no other was there. */
  #orphans: Work[] = [];
  #count = 0;

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
  refsFor(replica: Replica): CutRefs {
    const partsOf = (id: RunId) => {
      const run = this.#runs.get(id);
      return run?.replica === replica ? (run.exchange?.side ?? undefined) : undefined;
    };
    return new CutRefs(this.namesOf(replica), partsOf, () => undefined);
  }

  send(replica: Replica, work: Work): void {
    const run: Run = { id: ++this.#count, work, replica, exchange: null, hasEffect: false };
    const { id } = run;
    try {
      if (work.parts !== null) run.exchange = this.#exchange(run, work.parts);
      const message = work.message(replica, id, run.exchange?.envelope ?? null);
      this.#runs.set(id, run);
      this.#uncounted.set(id, work.state);
      replica.active++;
      replica.channel.send(message);
    } catch (error) {
      if (!(error instanceof CannotTravel)) throw error;
      run.exchange?.restore();
      // What is wrong with the request itself says nothing of the next one.
      if (error.path !== 'req') this.#keepHome(work.state, error.path, error.why);
      work.runHere();
    }
  }

  #exchange(run: Run, parts: NonNullable<Work['parts']>): HomeExchange {
    return new HomeExchange({
      id: run.id,
      ...parts,
      app: this.namesOf(run.replica),
      send: (message) => run.replica.channel.send(message),
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
        work.settle(outcome);
        return;
      case 'lost':
        // The request is served; but listeners at home may have wanted what is missing.
        this.#keepHome(work.state, outcome.what, outcome.why);
        return;
      case 'cannot-travel':
        this.#cannotTravel(run, outcome.what, outcome.why, outcome.untouched);
        return;
    }
  }

  #cannotTravel(run: Run, what: string, why: string, untouched: boolean): void {
    this.#keepHome(run.work.state, what, why);
    this.#forget(run);
    if (untouched && !run.hasEffect) run.work.runHere();
    else this.#fail(run.work, `${what} cannot travel: ${why}`);
  }

  #keepHome(state: FluxionState, what: string, why: string): void {
    if (state.staysHome) return;
    state.staysHome = true;
    const { id, module, line } = state.fluxion;
    state.count.reasons.push(`${what} cannot travel: ${why}`);
    this.#options.log.warn(`${what} cannot travel: ${why}; "${id}" (${module}:${line}) stays on the main thread`);
  }

  #fail(work: Work, why: string): void {
    const { id, module, line } = work.state.fluxion;
    const { req } = work.parts ?? {};
    const what = req === undefined ? 'a message' : `${req.method} ${req.url}`;
    const place = `"${id}" (${module}:${line})`;
    this.#options.log.error(`${what}: the answer was lost, and it is not safe to run ${place} again: ${why}`);
    work.failed(why);
  }

  // --- what comes back ------------------------------------------------------------------------------------------------

  receive(replica: Replica, message: ToHome): void {
    switch (message.kind) {
      case 'ran':
        this.#ran(replica, message);
        return;
      case 'result':
        this.#result(message);
        return;
      case 'effect':
        this.hasEffect([], replica);
        return;
      case 'steps':
      case 'pull':
      case 'cannot-travel':
      case 'done':
        this.#runs.get(message.id)?.exchange?.receive(message);
        return;
      default:
        return;
    }
  }

  /** Something was done for these that must not be done a second time; where it is not known for which, for all. */
  hasEffect(ids: readonly RunId[], replica: Replica): void {
    for (const run of this.#runs.values()) {
      if (run.replica === replica && (ids.length === 0 || ids.includes(run.id))) run.hasEffect = true;
    }
  }

  countHere(state: FluxionState, call: () => unknown): unknown {
    const begin = performance.now();
    try {
      return call();
    } finally {
      this.#options.counts.ran(state.count, 'home', performance.now() - begin, 0);
    }
  }

  #ran(replica: Replica, { run: id, cpuMs, waitMs }: Extract<ToHome, { kind: 'ran' }>): void {
    const state = this.#uncounted.get(id);
    if (state === undefined) return;
    this.#uncounted.delete(id);
    this.#options.counts.ran(state.count, replica.id, cpuMs, waitMs);
    if (state.fluxion.kind === 'start') this.#options.counts.loop(replica.id).requests++;
    this.#options.scheduler().ranAway(state.movable, cpuMs);
    const run = this.#runs.get(id);
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
    run.work.result(how, decode(value, this.refsFor(run.replica)));
    if (run.exchange === null) this.#over(run);
  }

  #over(run: Run): void {
    if (this.#forget(run)) run.work.over();
  }

  #forget(run: Run): boolean {
    if (!this.#runs.delete(run.id)) return false;
    run.replica.active--;
    return true;
  }

  // --- deaths ---------------------------------------------------------------------------------------------------------

  gone(replica: Replica): void {
    for (const run of [...this.#runs.values()]) {
      if (run.replica !== replica) continue;
      this.#runs.delete(run.id);
      this.#uncounted.delete(run.id);
      const isWhole = run.exchange?.restore() ?? true;
      if (isWhole && !run.hasEffect && !run.work.isAgain) this.#again(run.work);
      else this.#fail(run.work, `${replica.id} ended while it ran`);
    }
  }

  /** Once, and not at home if that can be helped: it may be what the replica died of. */
  #again(work: Work): void {
    work.isAgain = true;
    work.state.count.reruns++;
    const other = this.#options.replicas().find((each) => each.isReady && !each.isFull && work.canRunOn(each));
    if (other !== undefined) this.send(other, work);
    else if (this.#options.expectsMore()) this.#orphans.push(work);
    else work.runHere();
  }

  /** A replica has come, or none will come any more. */
  adopt(): void {
    const orphans = this.#orphans;
    this.#orphans = [];
    for (const work of orphans) {
      const any = this.#options.replicas().find((each) => each.isReady && work.canRunOn(each));
      if (any !== undefined) this.send(any, work);
      else work.runHere();
    }
  }
}
