/**
 * Reads: summaries.
 * Gives: what `fluxion run` is to reach, what it has reached, and whether that is enough; only where both sides were measured.
 */
import type { Relative, Summary, WorkloadSummary } from './summarise.js';
import { figure } from './tables.js';

export interface Judged {
  readonly what: string;
  readonly aim: string;
  readonly measured: string;
  readonly isMet: boolean;
}

interface Aim {
  readonly workload: string;
  readonly what: string;
  readonly against: string;
  readonly least?: number;
  readonly most?: number;
  readonly pick: (summary: Summary) => Relative | null | undefined;
}

const rate =
  (name = 'all') =>
  (summary: Summary): Relative | undefined =>
    summary.streams.find((each) => each.name === name)?.rate;
const lightP99 = (summary: Summary): Relative | undefined => summary.streams.find((each) => each.name === 'light')?.p99;

const AIMS: readonly Aim[] = [
  { workload: 'light', what: 'throughput', against: 'cluster', least: 1, pick: rate() },
  { workload: 'light', what: 'throughput', against: 'bun', least: 1, pick: rate() },
  { workload: 'primes', what: 'throughput', against: 'cluster', least: 1, pick: rate() },
  { workload: 'primes', what: 'throughput', against: 'node', least: 1.85, pick: rate() },
  { workload: 'mixed', what: 'p99 of light requests', against: 'cluster', most: 0.1, pick: lightP99 },
  { workload: 'mixed', what: 'throughput, light', against: 'offload', least: 0.9, pick: rate('light') },
  { workload: 'mixed', what: 'throughput, heavy', against: 'offload', least: 0.9, pick: rate('heavy') },
  { workload: 'counter', what: 'throughput', against: 'node', least: 0.97, pick: rate() },
  { workload: 'crud', what: 'throughput', against: 'node', least: 0.97, pick: rate() },
  { workload: 'pipeline', what: 'throughput', against: 'node', least: 1.6, pick: rate() },
  { workload: 'upload', what: 'throughput', against: 'cluster', least: 1, pick: rate() },
  { workload: 'render', what: 'throughput', against: 'cluster', least: 1, pick: rate() },
  { workload: 'startup', what: 'time', against: 'node', most: 1.1, pick: ({ start }) => start },
  // All of it is served by home: where threads serve as well, their memory is in the number.
  { workload: 'crud', what: 'memory', against: 'node', most: 1.15, pick: ({ memory }) => memory },
];

export function judgeAims(all: readonly WorkloadSummary[]): readonly Judged[] {
  const judged = AIMS.flatMap((aim) => judge(aim, all) ?? []);
  const rights = all.flatMap(({ workload, peers }) => {
    const own = peers.find(({ peer }) => peer.name === 'fluxion');
    if (own === undefined || workload.streams.length === 0) return [];
    return [{ what: `${workload.title}: right answers`, aim: 'all', ...judgeAnswers(own) }];
  });
  return [...judged, ...rights];
}

function judgeAnswers({ wrong, errors, failure, streams }: Summary): Pick<Judged, 'measured' | 'isMet'> {
  if (failure !== null || streams.length === 0) return { measured: 'did not last', isMet: false };
  const bad = wrong + errors;
  return { measured: bad === 0 ? 'all' : `${bad} not`, isMet: bad === 0 };
}

function judge(aim: Aim, all: readonly WorkloadSummary[]): Judged | null {
  const found = all.find(({ workload }) => workload.name === aim.workload);
  const of = (name: string): Summary | undefined => found?.peers.find(({ peer }) => peer.name === name);
  const [own, other] = [of('fluxion'), of(aim.against)];
  if (found === undefined || own === undefined || other === undefined) return null;
  const [one, two] = [aim.pick(own), aim.pick(other)];
  if (one === null || one === undefined || two === null || two === undefined) return null;
  // Against node, the rounds' own ratios; between two others, what both are in proportion to node.
  const ratio =
    aim.against === 'node' ? one.ratio?.median : (one.ratio?.median ?? one.value) / (two.ratio?.median ?? two.value);
  if (ratio === undefined) return null;
  const isMet = ratio >= (aim.least ?? 0) && ratio <= (aim.most ?? Number.POSITIVE_INFINITY);
  const bound = aim.least === undefined ? `at most ${aim.most}` : `at least ${aim.least}`;
  const what = `${found.workload.title}: ${aim.what}`;
  return { what, aim: `${bound} times ${other.peer.label}`, measured: figure(ratio), isMet };
}
