/** What goes to the process that sends the load, and what comes back. */

export interface Job {
  readonly workload: string;
  readonly port: number;
  readonly ms: number;
}

export interface StreamResult {
  readonly name: 'light' | 'heavy' | 'all';
  readonly answers: number;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Requests without an answer. */
  readonly errors: number;
  readonly wrong: number;
}

export interface LoadResult {
  readonly streams: readonly StreamResult[];
  readonly wholeMs: number;
  /** How much of one core the load itself took. */
  readonly ownLoad: number;
}
