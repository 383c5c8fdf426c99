/** Reads: the words behind `npm run bench`. Gives: what to measure and how; or what is wrong with them. */
import { resolve } from 'node:path';
import { WORKLOADS } from '../workloads.js';
import { PEERS, type Peer } from './peers.js';
import type { Workload } from './workload.js';

export interface BenchOptions {
  readonly workloads: readonly Workload[];
  readonly peers: readonly Peer[];
  readonly rounds: number;
  readonly starts: number;
  readonly turnMs: number;
  readonly warmMs: number;
  /** No round is begun when so much time has gone. */
  readonly budgetMs: number;
  /** Null for the Node that runs the bench. */
  readonly node: string | null;
  /** Where `results.md` and `results.svg` are written; null where this is not a measurement of everything. */
  readonly out: string | null;
}

export const HELP = `npm run bench [-- flags]

  --quick            few, short rounds, without the peers that have to be installed
  --only a,b         these workloads: ${WORKLOADS.map(({ name }) => name).join(', ')}
  --peers a,b        these peers, compared with the first: ${PEERS.map(({ name }) => name).join(', ')}
  --rounds 3         how often each peer has its turn
  --seconds 3        how long a turn is
  --node file        runs all peers on this Node
  --out folder       writes results.md and results.svg there; without it they go to bench/, if nothing else is given
`;

/** Engines take seconds to compile what a server runs, those of several processes or threads longer than that of one. */
const WARM_MS = 5000;

type Read = BenchOptions | { readonly wrong: string };

export function readArguments(words: readonly string[], ownFolder: string): Read {
  const flags = new Map<string, string>();
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--quick' || word === '--help') flags.set(word, '');
    else if (TAKES_VALUE.has(word) && words[at + 1] !== undefined) flags.set(word, words[++at] ?? '');
    else return { wrong: `"${word}" is not understood` };
  }
  if (flags.has('--help')) return { wrong: '' };
  const isQuick = flags.has('--quick');
  const workloads = pick(WORKLOADS, flags.get('--only') ?? WORKLOADS.map(({ name }) => name).join(','));
  const peers = pick(PEERS, flags.get('--peers') ?? (isQuick ? QUICK_PEERS : DEFAULT_PEERS));
  if (typeof workloads === 'string') return { wrong: `there is no workload "${workloads}"` };
  if (typeof peers === 'string') return { wrong: `there is no peer "${peers}"` };
  const rounds = Number(flags.get('--rounds') ?? (isQuick ? 2 : 3));
  const seconds = Number(flags.get('--seconds') ?? (isQuick ? 1 : 3));
  if (!(rounds >= 1) || !(seconds > 0)) return { wrong: '--rounds and --seconds take numbers' };
  const node = flags.get('--node');
  const isWhole = !['--quick', '--only', '--peers', '--rounds', '--seconds', '--node'].some((flag) => flags.has(flag));
  return {
    workloads,
    peers,
    rounds,
    starts: Math.max(rounds, isQuick ? 3 : 7),
    turnMs: seconds * 1000,
    warmMs: Math.min(WARM_MS, seconds * 1000 * 2),
    budgetMs: (isQuick ? 2.6 : 15) * 60_000,
    node: node === undefined ? null : resolve(node),
    out: flags.get('--out') ?? (isWhole ? ownFolder : null),
  };
}

const TAKES_VALUE = new Set(['--only', '--peers', '--rounds', '--seconds', '--node', '--out']);
const DEFAULT_PEERS = 'node,cluster,offload,fluxion,watt,bun';
const QUICK_PEERS = 'node,cluster,offload,fluxion';

/** In the order in which they are known, but for the first: the others are compared with it. Or the name of who is not. */
function pick<T extends { readonly name: string }>(all: readonly T[], names: string): readonly T[] | string {
  const found: T[] = [];
  for (const name of new Set(names.split(','))) {
    const each = all.find((one) => one.name === name);
    if (each === undefined) return name;
    found.push(each);
  }
  return found;
}
