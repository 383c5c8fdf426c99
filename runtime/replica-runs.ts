/**
 * A replica's side of what runs there: takes requests for handlers and messages for fluxions behind cuts, and sends home
 * what comes of them.
 */
import { performance } from 'node:perf_hooks';
import type { Transferable } from 'node:worker_threads';
import { CannotTravel } from './codec.js';
import { openExchange, type ReplicaExchange } from './http-bridge/index.js';
import type { AppNames } from './link/app-names.js';
import type { Handler } from './link/routers.js';
import type { RunId, ToHome, ToReplica } from './messages.js';
import type { SwitchableLoop } from './types.js';

export interface ReplicaRunsOptions {
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly loop: SwitchableLoop;
  readonly names: AppNames;
  send(message: ToHome, transfer?: readonly Transferable[]): void;
}

export class ReplicaRuns {
  readonly #options: ReplicaRunsOptions;
  readonly #exchanges = new Map<RunId, Open>();
  #begins = (): void => {};

  constructor(options: ReplicaRunsOptions) {
    this.#options = options;
  }

  /** `begins` is called before each run: what it does from there on is its own. */
  onBegin(begins: () => void): void {
    this.#begins = begins;
  }

  receive(message: ToReplica): void {
    switch (message.kind) {
      case 'dispatch':
        this.#dispatch(message);
        return;
      case 'ping':
        this.#options.send({ kind: 'pong', busy: performance.eventLoopUtilization().utilization });
        return;
      case 'run':
      case 'result':
        return;
      default:
        this.#exchanges.get(message.id)?.exchange.receive(message);
    }
  }

  #dispatch({ run, slot, envelope, at }: Extract<ToReplica, { kind: 'dispatch' }>): void {
    const waitMs = Math.max(0, performance.timeOrigin + performance.now() - at);
    const handler = this.#options.handlers.get(slot);
    const exchange = this.#open(run, envelope);
    if (handler === undefined || exchange === null) return;
    const meter = new Meter(this.#exchanges.size);
    this.#exchanges.set(run, { exchange, meter, waitMs });
    this.#begins();
    const { req, res, next } = exchange;
    exchange.run(handler as (this: unknown, ...args: unknown[]) => unknown, undefined, [req, res, next]);
  }

  #open(run: RunId, envelope: Extract<ToReplica, { kind: 'dispatch' }>['envelope']): ReplicaExchange | null {
    try {
      return openExchange(envelope, {
        app: this.#options.names,
        send: (message, transfer) => this.#options.send(message, transfer),
        closed: () => this.#closed(run),
      });
    } catch (error) {
      if (!(error instanceof CannotTravel)) throw error;
      const { path, why } = error;
      this.#options.send({ kind: 'cannot-travel', id: envelope.id, what: path, why });
      return null;
    }
  }

  #closed(run: RunId): void {
    const open = this.#exchanges.get(run);
    if (open === undefined) return;
    this.#exchanges.delete(run);
    this.#options.send({ kind: 'ran', run, cpuMs: open.meter.read(this.#exchanges.size + 1), waitMs: open.waitMs });
  }
}

interface Open {
  readonly exchange: ReplicaExchange;
  readonly meter: Meter;
  readonly waitMs: number;
}

/** What a run costs: the time in which this loop was busy meanwhile, shared with those that ran at the same time. */
class Meter {
  readonly #begin = performance.eventLoopUtilization();
  readonly #others: number;

  constructor(others: number) {
    this.#others = others;
  }

  read(others: number): number {
    const { active } = performance.eventLoopUtilization(this.#begin);
    return active / Math.max(1, (this.#others + others) / 2);
  }
}
