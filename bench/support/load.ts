/**
 * The process that sends the load, one job after the other. A job is one workload against one port for some time; what comes back
 * says how many answers came, how long they took, how many were wrong, and what this process itself used of a core.
 */
import process from 'node:process';
import { WORKLOADS } from '../workloads.js';
import { Connection } from './connection.js';
import type { Job, LoadResult, StreamResult } from './load-messages.js';
import type { Session, Stream } from './workload.js';

const ANSWER_MS = 10_000;
/** Of errors, so that a server that refuses everything does not make this loop spin. */
const PAUSE_MS = 20;

interface Tally {
  readonly session: Session;
  readonly latencies: number[];
  /** Answers that came before the time was over. */
  inTime: number;
  answers: number;
  errors: number;
  wrong: number;
}

async function run({ workload: name, port, ms }: Job): Promise<LoadResult> {
  const workload = WORKLOADS.find((each) => each.name === name);
  if (workload === undefined) throw new Error(`no workload is called ${name}`);
  const before = process.cpuUsage();
  const begin = performance.now();
  const end = begin + ms;
  const streams = await Promise.all(workload.streams.map((stream) => runStream(stream, port, end)));
  const { user, system } = process.cpuUsage(before);
  const wholeMs = performance.now() - begin;
  return { streams: streams.map((each) => result(each, ms)), wholeMs, ownLoad: (user + system) / 1000 / wholeMs };
}

async function runStream(stream: Stream, port: number, end: number): Promise<readonly [Stream, Tally]> {
  const session = stream.begin();
  const tally: Tally = { session, latencies: [], inTime: 0, answers: 0, errors: 0, wrong: 0 };
  const clients = Array.from({ length: stream.connections }, (_, index) => runClient(index, tally, port, end));
  await Promise.all(clients);
  return [stream, tally];
}

/** Whatever is under way when the time is over is waited for: it belongs to what is checked. */
async function runClient(index: number, tally: Tally, port: number, end: number): Promise<void> {
  const client = tally.session.client(index);
  const connection = new Connection(port);
  while (performance.now() < end) {
    const begin = performance.now();
    try {
      const reply = await connection.ask(client.next(), ANSWER_MS);
      const now = performance.now();
      tally.answers++;
      if (now <= end) tally.inTime++;
      tally.latencies.push(now - begin);
      if (!client.check(reply)) tally.wrong++;
    } catch {
      tally.errors++;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
  connection.close();
}

function result([{ name }, tally]: readonly [Stream, Tally], ms: number): StreamResult {
  const sorted = Float64Array.from(tally.latencies).sort();
  const percentile = (part: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
  return {
    name,
    answers: tally.answers,
    perSecond: (tally.inTime / ms) * 1000,
    p50: percentile(0.5),
    p99: percentile(0.99),
    errors: tally.errors,
    wrong: tally.wrong + (tally.session.wrong?.(tally.errors) ?? 0),
  };
}

process.on('message', (job: Job) => {
  run(job).then(
    (done) => process.send?.(done),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit());
