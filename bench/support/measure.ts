/**
 * Measures one workload under all peers. Their servers are started first and stay until all is measured; then each round sends
 * the load to one after the other, in another order each time: whatever else the machine does falls on all of them.
 */

import type { StreamResult } from './load-messages.js';
import type { LoadProcess } from './load-process.js';
import type { Peer, Surroundings } from './peers.js';
import { freePort, Server } from './server.js';
import type { Workload } from './workload.js';

/** What one peer did in one round. */
export interface Sample {
  readonly round: number;
  readonly streams: readonly StreamResult[];
  /** How much of a core the load took. */
  readonly ownLoad: number;
  /** What the server used of the processor for each answer; null where the system does not tell. */
  readonly cpuMsPerAnswer: number | null;
  readonly memoryMb: number | null;
  /** Of a start, from nothing to the first answer. */
  readonly startMs: number | null;
}

export interface Cell {
  readonly peer: Peer;
  /** From the first request on, when neither the engine nor the peer knows the app; it is in no round. Null for starts. */
  readonly first: Sample | null;
  readonly samples: readonly Sample[];
  /** Answers in `first` count as well. */
  readonly wrong: number;
  readonly errors: number;
  /** Why there is nothing more: it did not start, or did not last. */
  readonly failure: string | null;
}

export interface Plan {
  readonly rounds: number;
  readonly turnMs: number;
  /** Of the load before the rounds, which all peers get alike. */
  readonly warmMs: number;
  /** `performance.now()` at which no further round is begun. */
  readonly until: number;
  readonly say: (line: string) => void;
}

interface Running {
  readonly peer: Peer;
  server: Server | null;
  first: Sample | null;
  readonly samples: Sample[];
  wrong: number;
  errors: number;
  failure: string | null;
}

type Around = Omit<Surroundings, 'port'>;

export async function measureLoad(
  workload: Workload,
  peers: readonly Peer[],
  load: LoadProcess,
  around: Around,
  plan: Plan,
): Promise<readonly Cell[]> {
  const all: Running[] = [];
  try {
    for (const peer of peers) {
      const running = await start(workload, peer, around);
      if (running !== null) all.push(running);
    }
    for (const each of all) each.first = await turn(workload, each, load, plan.warmMs, BEFORE_ROUNDS);
    for (let round = 0; round < plan.rounds && (round === 0 || performance.now() < plan.until); round++) {
      for (const each of inTurn(all, round)) {
        const sample = await turn(workload, each, load, plan.turnMs, round);
        if (sample !== null) each.samples.push(sample);
      }
      plan.say(`${workload.name}: round ${round + 1} of ${plan.rounds}`);
    }
  } finally {
    await Promise.all(all.map(({ server }) => server?.stop()));
  }
  return all.map(cellOf);
}

const BEFORE_ROUNDS = -1;

/** Who goes first takes turns. */
function inTurn<T>(all: readonly T[], round: number): readonly T[] {
  const from = all.length === 0 ? 0 : round % all.length;
  return [...all.slice(from), ...all.slice(0, from)];
}

async function start(workload: Workload, peer: Peer, around: Around): Promise<Running | null> {
  const port = await freePort();
  const command = peer.command(workload, { ...around, port });
  if (command === null) return null;
  const running: Running = { peer, server: null, first: null, samples: [], wrong: 0, errors: 0, failure: null };
  try {
    running.server = (await Server.start(command, port, workload.first)).server;
  } catch (error) {
    running.failure = String(error);
  }
  return running;
}

async function turn(
  workload: Workload,
  running: Running,
  load: LoadProcess,
  ms: number,
  round: number,
): Promise<Sample | null> {
  const { server } = running;
  if (server === null || running.failure !== null) return null;
  const before = server.usage();
  const { streams, ownLoad } = await load.run({ workload: workload.name, port: server.port, ms });
  const after = server.usage();
  for (const { wrong, errors } of streams) {
    running.wrong += wrong;
    running.errors += errors;
  }
  if (server.isOver) running.failure = `it ended: ${server.said}`;
  const answers = streams.reduce((sum, each) => sum + each.answers, 0);
  const isKnown = before !== null && after !== null && answers > 0;
  return {
    round,
    streams,
    ownLoad,
    cpuMsPerAnswer: isKnown ? (after.cpuMs - before.cpuMs) / answers : null,
    memoryMb: after?.memoryMb ?? null,
    startMs: null,
  };
}

const FIRST_START_MS = 1_000;

/** Starts and ends each peer's server once a round. The first start, which may compile, is not counted. */
export async function measureStarts(
  workload: Workload,
  peers: readonly Peer[],
  around: Around,
  plan: Plan,
): Promise<readonly Cell[]> {
  const all = new Map<Peer, Running>();
  for (let round = -1; round < plan.rounds && (round < 1 || performance.now() < plan.until); round++) {
    for (const peer of inTurn(peers, Math.max(0, round))) {
      const known = all.get(peer) ?? {
        peer,
        server: null,
        first: null,
        samples: [],
        wrong: 0,
        errors: 0,
        failure: null,
      };
      if (known.failure === null && (await startOnce(workload, known, around, round))) all.set(peer, known);
    }
    if (round >= 0) plan.say(`${workload.name}: round ${round + 1} of ${plan.rounds}`);
  }
  return peers.flatMap((peer) => all.get(peer) ?? []).map(cellOf);
}

async function startOnce(workload: Workload, running: Running, around: Around, round: number): Promise<boolean> {
  const port = await freePort();
  const command = running.peer.command(workload, { ...around, port });
  if (command === null) return false;
  try {
    const { server, startMs } = await Server.start(command, port, workload.first);
    const usage = server.usage();
    // No server ends with its first answer, and some write down for their next start what they have made in this one.
    if (round < 0) await new Promise((resolve) => setTimeout(resolve, FIRST_START_MS));
    await server.stop();
    const none = { streams: [], ownLoad: 0, cpuMsPerAnswer: usage?.cpuMs ?? null };
    if (round >= 0) running.samples.push({ round, ...none, memoryMb: usage?.memoryMb ?? null, startMs });
  } catch (error) {
    running.failure = String(error);
  }
  return true;
}

function cellOf({ peer, first, samples, wrong, errors, failure }: Running): Cell {
  return { peer, first, samples, wrong, errors, failure };
}
