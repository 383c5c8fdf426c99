/** Gives: what was done to stand-ins in one turn, in order, for one message; `flush` is called when the turn is over. */
import type { Step } from './messages.js';

const SENT_AT_ONCE: ReadonlySet<Step['do']> = new Set(['write', 'end', 'uncork', 'flushHeaders', 'inform', 'destroy']);

/** Where home is here: it takes this while the call is made that it comes from. */
export function isSentAtOnce(step: Step): boolean {
  return SENT_AT_ONCE.has(step.do);
}

export class Outbox {
  readonly #flush: () => void;
  readonly #sendAtOnce: (() => void) | null;
  #steps: Step[] = [];
  #transfer: ArrayBuffer[] = [];
  #isScheduled = false;
  #isHeld = false;

  /** `sendAtOnce`: where home is here, what is written is sent then, as the handler may end the process or its connections next. */
  constructor(flush: () => void, sendAtOnce: (() => void) | null) {
    this.#sendAtOnce = sendAtOnce;
    this.#flush = () => {
      this.#isScheduled = false;
      flush();
    };
  }

  /** A handler runs. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  get isEmpty(): boolean {
    return this.#steps.length === 0;
  }

  push(step: Step): void {
    this.#steps.push(step);
    if (this.#sendAtOnce !== null && isSentAtOnce(step)) return this.#sendAtOnce();
    if (this.#isHeld) return;
    this.#schedule(process.nextTick);
  }

  /** Memory that changes hands with the steps. */
  handOver(memory: ArrayBuffer): void {
    this.#transfer.push(memory);
  }

  #schedule(when: (flush: () => void) => void): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    when(this.#flush);
  }

  /** While a handler runs, which is not longer than a turn. */
  hold(): void {
    this.#isHeld = true;
  }

  /** `soon`: behind what promises that are settled have to say. */
  release(soon: boolean): void {
    this.#isHeld = false;
    if (soon && !this.isEmpty) this.#schedule(queueMicrotask);
    else if (!soon) this.#flush();
  }

  takeSteps(): Step[] {
    const taken = this.#steps;
    this.#steps = [];
    return taken;
  }

  takeTransfer(): ArrayBuffer[] {
    const taken = this.#transfer;
    if (taken.length > 0) this.#transfer = [];
    return taken;
  }
}
