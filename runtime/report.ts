/** What ran where, and what it cost: counted while the program runs, written as JSON when it is linked, on exit and on SIGUSR2. */
import { renameSync, writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { LinkReport } from '../flx/link-report.js';
import type { Log } from './log.js';
import process from './node-process.cjs';

export interface LoopCount {
  readonly id: string;
  /** Whose last handler, so far, ran there. */
  requests: number;
  /** Share of its time in which it did something, 0 to 1. */
  busy: number;
  /** Of home, what the whole process has; of a thread its heap and its buffers, which are part of that. */
  rssMb: number;
}

/** A loop that can be asked how it is. */
export interface Gauge {
  busy(): number;
  /** In bytes. */
  memory(): number;
}

export interface FluxionCount {
  readonly id: string;
  readonly placement: string;
  /** Why it is where it is; empty where nothing is in the way. */
  reasons: string[];
  readonly runs: Record<string, number>;
  cpuMs: number;
  waitMs: number;
  reruns: number;
}

/** Something that was decided while the program ran. */
export interface Decision {
  /** Since the engine began. */
  readonly atMs: number;
  readonly what: string;
  readonly why: string;
}

/** What others know when the report is written. */
export interface ReportedState {
  /** Why nothing is gained from other threads; null where something is, or may be. */
  readonly aside: string | null;
  readonly link: LinkReport | null;
  readonly accept: readonly AcceptReport[];
}

/** Who takes connections of a server. */
export interface AcceptReport {
  readonly server: string;
  /** How many threads do so beside the main one, now. */
  readonly threads: number;
  /** Why the main thread does so alone; null where others do, or would if there were more to do. */
  readonly alone: string | null;
  /** What the main thread answers all the same: requests that may come to one of these. */
  readonly main: readonly string[];
}

/** The last ones tell how it got to be as it is. */
const MOST_DECISIONS = 100;

export class Counts {
  readonly #decisions: Decision[] = [];
  readonly #since = performance.now();
  readonly bus = { messages: 0, bytes: 0 };
  readonly #loops = new Map<string, LoopCount>();
  readonly #accepted = new Map<string, number>();
  readonly #gauges = new Map<string, Gauge>();
  readonly #fluxions = new Map<string, FluxionCount>();
  /** The loop on which a request is counted. */
  readonly #requests = new WeakMap<object, string>();
  readonly #begin = performance.eventLoopUtilization();

  constructor() {
    this.join('home', {
      busy: () => performance.eventLoopUtilization(this.#begin).utilization,
      memory: () => process.memoryUsage.rss(),
    });
  }

  /** From now on this loop is there; its counts stay when it is not any more. */
  join(id: string, gauge: Gauge): void {
    this.#loop(id);
    this.#gauges.set(id, gauge);
  }

  leave(id: string): void {
    this.#measure(id);
    this.#gauges.delete(id);
  }

  fluxion(id: string, placement: string): FluxionCount {
    const make = () => ({ id, placement, reasons: [], runs: {}, cpuMs: 0, waitMs: 0, reruns: 0 });
    return getOrMake(this.#fluxions, id, make);
  }

  ran(fluxion: FluxionCount, loop: string, by = 1): void {
    fluxion.runs[loop] = (fluxion.runs[loop] ?? 0) + by;
  }

  /** What a replica has run for connections of its own. */
  ranThere(fluxion: string, loop: string, runs: number, cpuMs: number): void {
    const count = this.#fluxions.get(fluxion);
    if (count === undefined) return;
    this.ran(count, loop, runs);
    this.cost(count, cpuMs, 0);
  }

  /** Of another loop it comes later than the run. */
  cost(fluxion: FluxionCount, cpuMs: number, waitMs: number): void {
    fluxion.cpuMs += cpuMs;
    fluxion.waitMs += waitMs;
  }

  /** A handler is called for this request: it counts where the last one is. */
  request(req: object, loop: string): void {
    const before = this.#requests.get(req);
    if (before === loop) return;
    if (before !== undefined) this.#loop(before).requests--;
    this.#loop(loop).requests++;
    this.#requests.set(req, loop);
  }

  /** Requests that a replica has answered by itself, in all. */
  accepted(loop: string, requests: number): void {
    this.#accepted.set(loop, requests);
  }

  decided(what: string, why: string): void {
    this.#decisions.push({ atMs: Math.round(performance.now() - this.#since), what, why });
    if (this.#decisions.length > MOST_DECISIONS) this.#decisions.shift();
  }

  print({ aside, link, accept }: ReportedState): string {
    for (const id of this.#gauges.keys()) this.#measure(id);
    const loops = [...this.#loops.values()].map((loop) => ({
      ...loop,
      requests: loop.requests + (this.#accepted.get(loop.id) ?? 0),
      busy: round(loop.busy),
      rssMb: round(loop.rssMb),
    }));
    const fluxions = [...this.#fluxions.values()].map(({ cpuMs, waitMs, ...rest }) => {
      return { ...rest, cpuMs: round(cpuMs), waitMs: round(waitMs) };
    });
    return `${JSON.stringify({ version: 1, loops, fluxions, bus: this.bus, decisions: this.#decisions, aside, link, accept }, null, 2)}\n`;
  }

  #loop(id: string): LoopCount {
    return getOrMake(this.#loops, id, () => ({ id, requests: 0, busy: 0, rssMb: 0 }));
  }

  #measure(id: string): void {
    const gauge = this.#gauges.get(id);
    if (gauge === undefined) return;
    const loop = this.#loop(id);
    // A thread that has ended says 0 of all that it ever was.
    loop.busy = gauge.busy() || loop.busy;
    loop.rssMb = gauge.memory() / 2 ** 20 || loop.rssMb;
  }
}

/** Written on exit, whatever way, each time SIGUSR2 comes, and when it is known what may move. */
export class Report {
  readonly #file: string;
  readonly #counts: Counts;
  readonly #state: () => ReportedState;
  readonly #log: Log;

  constructor(file: string, counts: Counts, state: () => ReportedState, log: Log) {
    this.#file = file;
    this.#counts = counts;
    this.#state = state;
    this.#log = log;
    process.on('exit', () => this.write());
    process.on('SIGUSR2', () => this.write());
  }

  write(): void {
    try {
      // Whoever reads it, or kills us meanwhile, finds a whole report.
      const draft = `${this.#file}.${process.pid}`;
      writeFileSync(draft, this.#counts.print(this.#state()));
      renameSync(draft, this.#file);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#log.error(`the report cannot be written to ${this.#file}: ${why}`);
    }
  }
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function getOrMake<V>(map: Map<string, V>, key: string, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
