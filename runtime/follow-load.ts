/**
 * Looks again and again how busy the loops are, has replicas started when replica-count.ts says so, and lets one end that is too
 * many: once it serves no connections, has nothing to do, and says itself that nothing is left there (leaving.ts).
 */
import timers from 'node:timers';
import { ReplicaCount } from './replica-count.js';
import type { Replica, ReplicaEvents } from './replicas.js';

const { setTimeout } = timers;

/** More seldom where there is next to nothing to do. */
const LOOK_EVERY_MS = 100;
const LOOK_IDLE_EVERY_MS = 500;
const IDLE = 0.02;
/** What a replica cannot leave behind may be there for long. */
const ASK_AGAIN_MS = 60_000;

export interface FollowLoadOptions {
  readonly most: () => number;
  readonly relieves: () => boolean;
  readonly ready: () => readonly Replica[];
  readonly starting: () => number;
  /** Work that waits at home for room. */
  readonly waiting: () => number;
  start(count: number, why: string): void;
  /** Of their time since the last look. */
  looked(home: number, replicas: readonly number[]): void;
  readonly events: Pick<ReplicaEvents, 'leaves' | 'stays' | 'decided' | 'took'>;
}

export class FollowLoad {
  readonly #options: FollowLoadOptions;
  readonly #count = new ReplicaCount();
  /** It is to end, and has not answered yet whether it may. */
  #leaving: Replica | null = null;
  #last = { at: 0, home: performance.eventLoopUtilization() };
  #isOver = false;

  constructor(options: FollowLoadOptions) {
    this.#options = options;
  }

  begin(): void {
    this.#last = { at: performance.now(), home: performance.eventLoopUtilization() };
    this.#lookIn(LOOK_EVERY_MS);
  }

  end(): void {
    this.#isOver = true;
  }

  #lookIn(ms: number): void {
    setTimeout(() => {
      if (!this.#isOver) this.#lookIn(this.#look() ? LOOK_IDLE_EVERY_MS : LOOK_EVERY_MS);
    }, ms).unref();
  }

  /** Is there next to nothing to do? */
  #look(): boolean {
    const { most, relieves, ready, starting, waiting, start } = this.#options;
    const now = performance.now();
    const since = Math.max(1, now - this.#last.at);
    const home = performance.eventLoopUtilization(this.#last.home).utilization;
    this.#last = { at: now, home: performance.eventLoopUtilization() };
    const replicas = ready().map((replica) => {
      const busyMs = replica.thread.busyMs();
      const share = Math.min(1, (busyMs - replica.busyMs) / since);
      replica.busyMs = busyMs;
      return share;
    });
    this.#options.looked(home, replicas);
    this.#ask();
    const loads = { most: most(), relieves: relieves(), starting: starting(), waiting: waiting() };
    const decision = this.#count.look(now, { ...loads, home, replicas });
    if (decision.kind === 'start') {
      this.#letStay(decision.why);
      start(decision.count, decision.why);
    }
    if (decision.kind === 'retire') this.#retireOne(now, decision.why);
    return waiting() === 0 && home < IDLE && replicas.every((busy) => busy < IDLE);
  }

  #retireOne(now: number, why: string): void {
    const ready = this.#options.ready();
    const replica = ready.findLast((each) => each.isQuiet && each.staysUntil <= now);
    if (replica === undefined || ready.length < 2 || this.#leaving !== null) return;
    this.#options.events.decided(`${replica.id} is to end`, why);
    this.#leaving = replica;
    this.#ask();
  }

  /** It is needed again, if it has not been asked yet. */
  #letStay(why: string): void {
    const replica = this.#leaving;
    if (replica === null || !replica.isReady) return;
    this.#leaving = null;
    this.#options.events.stays(replica);
    this.#options.events.decided(`${replica.id} stays`, why);
  }

  /** Once it has nothing to do, nothing is sent there until it has answered. */
  #ask(): void {
    const replica = this.#leaving;
    if (replica === null || !replica.isReady || !this.#options.events.leaves(replica) || replica.active > 0) return;
    replica.isReady = false;
    replica.channel.send({ kind: 'retire' });
  }

  /** It has answered: `holds` is what is left there. */
  mayRetire(replica: Replica, holds: string | null): void {
    const { events } = this.#options;
    this.#leaving = null;
    if (replica.isEnding) return;
    if (holds === null) return replica.retire();
    replica.isReady = true;
    replica.staysUntil = performance.now() + ASK_AGAIN_MS;
    events.stays(replica);
    events.decided(`${replica.id} stays`, `something is left there: ${holds}`);
    events.took(replica);
  }

  gone(replica: Replica): void {
    if (this.#leaving === replica) this.#leaving = null;
  }
}
