/**
 * Reads: how busy the loops are, and how much work waits, at each look.
 * Gives: whether more replicas are to be started, or one is to end. A pure decision: it starts and ends nothing itself.
 *
 *     none ── one is wanted ──> one ── no loop has time, or work waits ──> all ── idle for long ──> one less at a time ──> one spare
 *
 * One is started first, as a second one is of no use where the first has time. When no loop has time there is no telling how
 * much more would come if there were room, so then all are started: a crowd should not have to wait for several looks. That home has
 * none says nothing where others cannot do what keeps it busy.
 */

export interface LoopLoads {
  /** How many replicas there may be. */
  readonly most: number;
  /** Others may do what keeps home busy. */
  readonly relieves: boolean;
  /** Of its time since the last look, 0 to 1. */
  readonly home: number;
  /** Of each replica that is ready. */
  readonly replicas: readonly number[];
  /** Replicas that are being started. */
  readonly starting: number;
  /** Work that waits at home for room. */
  readonly waiting: number;
}

export type CountDecision =
  | { readonly kind: 'stay' }
  | { readonly kind: 'start'; readonly count: number; readonly why: string }
  | { readonly kind: 'retire'; readonly why: string };

const BUSY = 0.85;
/** How busy replicas may be on average before another one is of use. */
const FULL = 0.7;
/** How busy those that are left would be at most, if one ended. */
const EMPTY = 0.4;
const IDLE_MS = 30_000;
/** Once it has been idle for long, those that are too many end one behind the other. */
const NEXT_MS = 5_000;
/** In a row: one look may fall on a short burst. */
const PRESSED_LOOKS = 2;
const STAY: CountDecision = { kind: 'stay' };

export class ReplicaCount {
  /** Since when one less would have been enough; null where it would not. */
  #idleSince: number | null = null;
  #pressed = 0;

  look(now: number, { most, relieves, home, replicas, starting, waiting }: LoopLoads): CountDecision {
    const there = replicas.length + starting;
    const demand = replicas.reduce((sum, busy) => sum + busy, 0);
    const hasTime = home < BUSY || !relieves || replicas.some((busy) => busy < BUSY);
    this.#pressed = waiting > 0 || !hasTime ? this.#pressed + 1 : 0;
    if (there < most && this.#pressed >= PRESSED_LOOKS) {
      this.#idleSince = null;
      const why = waiting > 0 ? 'work waits for room' : 'no loop has time';
      return { kind: 'start', count: most - there, why };
    }
    const enough = Math.min(most, Math.max(1, Math.ceil(demand / FULL)));
    if (there < enough) {
      this.#idleSince = null;
      return {
        kind: 'start',
        count: enough - there,
        why: `replicas are busy for ${percent(demand / there)} of their time`,
      };
    }
    if (replicas.length <= 1 || waiting > 0 || demand > EMPTY * (replicas.length - 1)) {
      this.#idleSince = null;
      return STAY;
    }
    this.#idleSince ??= now;
    if (now - this.#idleSince < IDLE_MS) return STAY;
    this.#idleSince = now - IDLE_MS + NEXT_MS;
    return { kind: 'retire', why: `${replicas.length} replicas had next to nothing to do for ${IDLE_MS / 1000} s` };
  }
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
