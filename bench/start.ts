/**
 * How long an Express app takes until it listens: `node`, and `fluxion run` with the app compiled before. One after the other in
 * turn, so that what else the machine does falls on both; medians, and the spread of the ratio over the rounds.
 *
 *     npm run bench:start [rounds]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('../bin/fluxion.cjs', import.meta.url));
const ROUNDS = Number(process.argv[2] ?? 20);
const ROUTES = 30;

/** A module for each router, with a handler that may move, a cut, and state. */
const router = (index: number): string => `const fs = require('fs');
const router = require('express').Router();
let count = 0;
router.get('/a${index}', (req, res) => { let sum = 0; for (let i = 0; i < 1e5; i++) sum += i; res.json(sum); });
router.get('/b${index}', (req, res) => { fs.stat('.', (error, found) => { count += 1; res.json([count, found.size]); }); });
module.exports = router;
`;
const app = `const app = require('express')();
${Array.from({ length: ROUTES }, (_, index) => `app.use(require('./routes/r${index}'));`).join('\n')}
app.listen(0, '127.0.0.1', () => {
  const { user, system } = process.cpuUsage();
  require('fs').writeSync(3, String((user + system) / 1000));
  process.stdout.write('x');
});
`;

interface Times {
  readonly wall: number;
  /** User and system time of the process, which a busy machine changes less. */
  readonly cpu: number;
}

function makeApp(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fluxion-bench-'));
  mkdirSync(join(folder, 'routes'));
  writeFileSync(join(folder, 'app.js'), app);
  for (let index = 0; index < ROUTES; index++) writeFileSync(join(folder, `routes/r${index}.js`), router(index));
  symlinkSync(packagesAbove(dirname(cli)), join(folder, 'node_modules'));
  return folder;
}

function packagesAbove(folder: string): string {
  const found = join(folder, 'node_modules');
  return existsSync(join(found, 'express')) ? found : packagesAbove(dirname(folder));
}

/** `lastsMs`: the first one goes on for a while, as servers do: what V8 has made of the modules is written down then. */
async function start(folder: string, words: readonly string[], lastsMs = 0): Promise<Times> {
  const begin = performance.now();
  const child = spawn(process.execPath, [...words, 'app.js'], {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: '', FLUXION_CACHE: join(folder, '.cache') },
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  const said = child.stdio[3];
  let text = '';
  said?.on('data', (chunk) => (text += String(chunk)));
  await once(child.stdout!, 'data');
  const wall = performance.now() - begin;
  if (lastsMs > 0) await new Promise((resolve) => setTimeout(resolve, lastsMs));
  child.kill('SIGKILL');
  await once(child, 'close');
  return { wall, cpu: Number(text) };
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const ms = (value: number): string => `${value.toFixed(1)} ms`;

const folder = makeApp();
try {
  const ways = { node: [], fluxion: [cli, 'run'] } as const;
  const first = await start(folder, ways.fluxion, 1_000);
  const times = { node: [] as Times[], fluxion: [] as Times[] };
  for (let round = 0; round < ROUNDS; round++) {
    // Who goes first takes turns as well.
    for (const way of round % 2 === 0 ? (['node', 'fluxion'] as const) : (['fluxion', 'node'] as const)) {
      times[way].push(await start(folder, ways[way]));
    }
  }
  process.stdout.write(
    `Node ${process.version}, ${availableParallelism()} cores, ${ROUNDS} rounds, ${ROUTES + 1} modules\n`,
  );
  process.stdout.write(`first start, which compiles: ${ms(first.wall)}\n`);
  for (const kind of ['wall', 'cpu'] as const) {
    const [node, fluxion] = [times.node.map((each) => each[kind]), times.fluxion.map((each) => each[kind])];
    const ratios = fluxion.map((value, index) => value / (node[index] ?? Number.NaN)).sort((a, b) => a - b);
    const spread = [0.25, 0.5, 0.75].map((part) => (ratios[Math.floor(ratios.length * part)] ?? Number.NaN).toFixed(2));
    process.stdout.write(
      `${kind}: node ${ms(median(node))}, fluxion run ${ms(median(fluxion))}, ratio ${(median(fluxion) / median(node)).toFixed(2)} (pairs: quartiles ${spread.join(', ')})\n`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
