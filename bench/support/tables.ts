/**
 * Reads: summaries.
 * Gives: a block of text for the terminal, with what was measured; the page for the repository, with ratios only, as machines differ.
 */
import { judgeAims } from './aims.js';
import { PEERS, type Peer } from './peers.js';
import type { Relative, Spread, StreamSummary, Summary, WorkloadSummary } from './summarise.js';

export interface About {
  readonly command: string;
  readonly machine: string;
  readonly node: string;
  readonly seconds: number;
  /** Of load before the rounds. */
  readonly warmSeconds: number;
  /** Peers that were asked for and are missing, and why; whatever else a reader should know. */
  readonly notes: readonly string[];
}

export function ratioText(ratio: Spread | null | undefined): string {
  if (ratio === null || ratio === undefined) return '–';
  const [least, middle, most] = [figure(ratio.least), figure(ratio.median), figure(ratio.most)];
  return least === most ? middle : `${middle} (${least} to ${most})`;
}

/** Three digits are all that such a measurement gives. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

// --- terminal -----------------------------------------------------------------------------------------------------------

const COLUMNS = ['', 'a second', 'times node', 'at first', 'p50 ms', 'p99 ms', 'CPU ms', 'MB', 'load', 'right answers'];

export function printText({ workload, rounds, peers }: WorkloadSummary): string {
  const rows = peers.flatMap((summary) => textRows(summary));
  const title = `${workload.title} (${workload.name}), ${rounds} ${rounds === 1 ? 'round' : 'rounds'}`;
  return `${title}\n${alignColumns([COLUMNS, ...rows])}\n`;
}

function textRows(summary: Summary): readonly (readonly string[])[] {
  const { peer, streams, cpu, memory, start, ownLoad, failure } = summary;
  if (failure !== null && streams.length === 0 && start === null) return [[peer.label, firstLine(failure)]];
  const rest = [value(cpu), value(memory), `${Math.round(ownLoad * 100)} %`, rightText(summary)];
  // Of a start, the processor's time is all that it took.
  if (start !== null)
    return [[peer.label, '', ratioText(start.ratio), '', value(start), '', ...rest.slice(0, 2), '', '']];
  return streams.map(({ name, rate, firstRate, p50, p99 }, index) => {
    const label = name === 'all' ? peer.label : `${peer.label}, ${name}`;
    const own = index === 0 ? rest : [];
    return [
      label,
      figure(rate.value),
      ratioText(rate.ratio),
      ratioText(firstRate?.ratio),
      value(p50),
      value(p99),
      ...own,
    ];
  });
}

function value(relative: Relative | null): string {
  return relative === null ? '–' : figure(relative.value);
}

function rightText({ wrong, errors, failure }: Summary): string {
  const lost = errors === 0 ? '' : `, ${errors} without an answer`;
  const ended = failure === null ? '' : `, ${firstLine(failure)}`;
  return `${wrong === 0 ? 'yes' : `no: ${wrong} wrong`}${lost}${ended}`;
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').slice(0, 160);
}

function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = COLUMNS.map((_, at) =>
    Math.max(...rows.filter((row) => row.length > 2).map((row) => row[at]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row.map((text, at) => (at === 0 ? text.padEnd(widths[at] ?? 0) : text.padStart(widths[at] ?? 0))).join('  ');
  return rows.map((row) => `  ${line(row)}`.trimEnd()).join('\n');
}

// --- page ---------------------------------------------------------------------------------------------------------------

type Pick = (summary: Summary, stream: StreamSummary | undefined) => string;

export function printPage(all: readonly WorkloadSummary[], about: About): string {
  const peers = peersOf(all);
  const loads = all.filter(({ workload }) => workload.streams.length > 0);
  const starts = all.filter(({ workload }) => workload.streams.length === 0);
  const share = Math.max(0, ...loads.flatMap((each) => each.peers.map(({ ownLoad }) => ownLoad)));
  const parts = [
    `# Benchmark\n\n![Throughput in proportion to node app.js](results.svg)\n\nWritten by \`${about.command}\`: ${about.machine}, Node ${about.node}. All numbers are ratios to \`node app.js\` in the same round: the`,
    `median, and the range over the rounds. The load came from the same machine, in a process that took up to ${Math.round(share * 100)} % of one`,
    `core; each connection sends its next request when it has its answer. ${about.seconds} seconds for each peer and round, after ${about.warmSeconds} that all got before\nthe first one.\n`,
    ...about.notes.map((note) => `- ${note}`),
    about.notes.length > 0 ? '' : null,
    section('Throughput', 'More is better.', loads, peers, ({ wrong }, stream) => {
      const text = ratioText(stream?.rate.ratio);
      return wrong > 0 && text !== '–' ? `~~${text}~~ wrong answers` : text;
    }),
    section(
      `The first ${about.warmSeconds} seconds`,
      'Throughput from the first request on, before the rounds: engines compile the app, and `fluxion run` finds out what is worth moving, and starts threads.',
      loads,
      peers,
      (_, stream) => ratioText(stream?.firstRate?.ratio),
    ),
    section('Latency', 'The 99th percentile; less is better.', loads, peers, (_, stream) =>
      ratioText(stream?.p99.ratio),
    ),
    section('Half of the answers within', 'Less is better.', loads, peers, (_, stream) => ratioText(stream?.p50.ratio)),
    section('Right answers', 'Wrong answers and requests without one, in all rounds.', loads, peers, rightText, true),
    section(
      'Processor time for each answer',
      'Less is better.',
      loads,
      peers,
      ({ cpu }) => ratioText(cpu?.ratio),
      true,
    ),
    section('Memory after the load', 'Of all processes.', loads, peers, ({ memory }) => ratioText(memory?.ratio), true),
    section('Time to the first answer', 'An app with 31 routers, compiled before.', starts, peers, ({ start }) =>
      ratioText(start?.ratio),
    ),
    section('Memory at the first answer', '', starts, peers, ({ memory }) => ratioText(memory?.ratio)),
    aimsTable(all),
  ];
  return `${parts.filter((part) => part !== null && part !== 'none').join('\n')}\n`;
}

export function peersOf(all: readonly WorkloadSummary[]): readonly Peer[] {
  const found = new Set(all.flatMap(({ peers }) => peers.map(({ peer }) => peer)));
  return PEERS.filter((peer) => found.has(peer));
}

function section(
  title: string,
  about: string,
  all: readonly WorkloadSummary[],
  peers: readonly Peer[],
  pick: Pick,
  isOfAllStreams = false,
): string {
  if (all.length === 0) return 'none';
  const rows = all.flatMap(({ workload, peers: summaries }) => {
    const names = isOfAllStreams || workload.streams.length === 0 ? ['all'] : workload.streams.map(({ name }) => name);
    return names.map((name) => {
      const label = name === 'all' ? workload.title : `${workload.title}: ${name}`;
      const cells = peers.map((peer) => {
        const summary = summaries.find((each) => each.peer === peer);
        if (summary === undefined) return '–';
        if (summary.failure !== null && summary.streams.length === 0 && summary.start === null) return 'did not start';
        return pick(
          summary,
          summary.streams.find((each) => each.name === name),
        );
      });
      return [label, ...cells];
    });
  });
  const shown = peers.filter((_, at) => rows.some((row) => row[at + 1] !== '–'));
  const kept = [0, ...shown.map((peer) => peers.indexOf(peer) + 1)];
  const head = ['workload', ...peers.map(({ label }) => label)];
  const text = [head, head.map(() => '---'), ...rows].map((row) => `| ${kept.map((at) => row[at]).join(' | ')} |`);
  return `## ${title}\n\n${about === '' ? '' : `${about}\n\n`}${text.join('\n')}\n`;
}

function aimsTable(all: readonly WorkloadSummary[]): string {
  const rows = judgeAims(all).map(
    ({ what, aim, measured, isMet }) => `| ${what} | ${aim} | ${measured} | ${isMet ? 'yes' : 'no'} |`,
  );
  if (rows.length === 0) return 'none';
  return `## Aims\n\n| of \`fluxion run\` | aim | measured | met |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}
