/**
 * Runs on replicas that were answered, or whose clients have gone, while something may still come of them: an error behind
 * the answer, `next` of a handler that outlived its client. Home keeps request and response as long as the replica does.
 */
import { applyFixes, NO_REFS } from './codec.js';
import type { RunId, ToHome } from './messages.js';

interface LateRun {
  readonly id: RunId;
  readonly replica: object;
  readonly work: { over(): void };
  /** Null until the replica has said whether anything may come. */
  isLate: boolean | null;
}

/** Clients that go away may be many, and who holds on to their requests for ever is at fault. */
const MOST = 4096;

export class LateRuns<R extends LateRun> {
  readonly #runs = new Map<RunId, R>();

  /** It is over as far as home can tell. */
  add(run: R): void {
    if (run.isLate === false) {
      run.work.over();
      return;
    }
    this.#runs.set(run.id, run);
    if (this.#runs.size <= MOST) return;
    for (const id of this.#runs.keys()) {
      this.forget(id);
      return;
    }
  }

  get(id: RunId): R | undefined {
    return this.#runs.get(id);
  }

  forget(id: RunId): void {
    const run = this.#runs.get(id);
    if (!this.#runs.delete(id)) return;
    run?.work.over();
  }

  gone(replica: object): void {
    for (const [id, run] of [...this.#runs]) if (run.replica === replica) this.forget(id);
  }
}

/** Of a message for a run that is not kept any more: what somebody here would have been told, as text. */
export function lostConclusion(message: ToHome): string | null {
  if (message.kind !== 'steps') return null;
  for (const step of message.steps) {
    if (step.do !== 'next' && step.do !== 'threw' && step.do !== 'rejected') continue;
    applyFixes(step.fixes, NO_REFS);
    const [value]: readonly unknown[] = step.do === 'next' ? step.arg : step.error;
    return value instanceof Error ? String(value.stack) : value === undefined ? 'next()' : String(value);
  }
  return null;
}
