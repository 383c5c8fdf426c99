/**
 * Reads: what each peer did in each round.
 * Gives: medians, and ratios to the first peer in the same round, with their spread over the rounds.
 */
import { median, sorted } from '../ratio.js';
import type { Cell, Sample } from './measure.js';
import type { Peer } from './peers.js';
import type { Workload } from './workload.js';

export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export interface Relative {
  /** Median over the rounds, in the measure's own unit. */
  readonly value: number;
  /** To the first peer; null where one of the two has nothing to say. */
  readonly ratio: Spread | null;
}

export interface StreamSummary {
  readonly name: string;
  readonly rate: Relative;
  /** The same before the rounds, when everything was new. */
  readonly firstRate: Relative | null;
  readonly p50: Relative;
  readonly p99: Relative;
}

export interface Summary {
  readonly peer: Peer;
  readonly streams: readonly StreamSummary[];
  readonly cpu: Relative | null;
  readonly memory: Relative | null;
  readonly start: Relative | null;
  /** The most of one core that the load took in a round. */
  readonly ownLoad: number;
  readonly wrong: number;
  readonly errors: number;
  readonly failure: string | null;
}

export interface WorkloadSummary {
  readonly workload: Workload;
  readonly rounds: number;
  readonly peers: readonly Summary[];
}

type Measure = (sample: Sample) => number | null;

export function summarise(workload: Workload, cells: readonly Cell[]): WorkloadSummary {
  const rounds = Math.max(0, ...cells.map(({ samples }) => samples.length));
  return { workload, rounds, peers: cells.map((cell) => summariseCell(workload, cell, cells[0] ?? cell)) };
}

function summariseCell(workload: Workload, cell: Cell, base: Cell): Summary {
  const { peer, samples, wrong, errors, failure } = cell;
  const relative = (measure: Measure): Relative | null => relativeOf(samples, base.samples, measure);
  const streams = workload.streams.flatMap(({ name }) => {
    const of =
      (pick: 'perSecond' | 'p50' | 'p99'): Measure =>
      ({ streams: all }) =>
        all.find((each) => each.name === name)?.[pick] ?? null;
    const [rate, p50, p99] = [relative(of('perSecond')), relative(of('p50')), relative(of('p99'))];
    const firstRate = relativeOf(listOf(cell.first), listOf(base.first), of('perSecond'));
    return rate === null || p50 === null || p99 === null ? [] : [{ name, rate, firstRate, p50, p99 }];
  });
  return {
    peer,
    streams,
    cpu: relative(({ cpuMsPerAnswer }) => cpuMsPerAnswer),
    memory: relative(({ memoryMb }) => memoryMb),
    start: relative(({ startMs }) => startMs),
    ownLoad: Math.max(0, ...samples.map(({ ownLoad }) => ownLoad)),
    wrong,
    errors,
    failure,
  };
}

function relativeOf(samples: readonly Sample[], base: readonly Sample[], measure: Measure): Relative | null {
  const values = samples.flatMap((sample) => known(measure(sample)));
  if (values.length === 0) return null;
  const ratios = samples.flatMap((sample) => {
    const other = base.find(({ round }) => round === sample.round);
    const [one] = known(measure(sample));
    const [two] = other === undefined ? [] : known(measure(other));
    return one === undefined || two === undefined || two === 0 ? [] : [one / two];
  });
  return { value: median(values), ratio: ratios.length === 0 ? null : spreadOf(ratios) };
}

function listOf(sample: Sample | null): readonly Sample[] {
  return sample === null ? [] : [sample];
}

function known(value: number | null): readonly number[] {
  return value === null || Number.isNaN(value) ? [] : [value];
}

function spreadOf(values: readonly number[]): Spread {
  const all = sorted(values);
  return { median: median(all), least: all[0] ?? Number.NaN, most: all.at(-1) ?? Number.NaN };
}
