import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { PEERS } from '../bench/support/peers.js';
import { summarise } from '../bench/support/summarise.js';
import { ratioText } from '../bench/support/tables.js';
import { Counts, known } from '../bench/support/workload.js';
import { counter } from '../bench/workloads/counter/workload.mjs';
import { tempFolder } from './support/temp-folder.js';

const bench = fileURLToPath(new URL('../bench/index.js', import.meta.url));
const run = promisify(execFile);

test('a short run measures, checks and writes a table and a picture', async (t) => {
  const out = tempFolder(t);
  const words = ['--only', 'counter', '--peers', 'node,cluster', '--rounds', '1', '--seconds', '0.3', '--out', out];
  const { stdout } = await run(process.execPath, [bench, ...words], { timeout: 60_000 });
  t.regex(stdout, /\n {2}node +\d.* yes\n/);
  t.regex(stdout, /\n {2}node:cluster +\d/);
  const page = readFileSync(join(out, 'results.md'), 'utf8');
  t.regex(page, /\| exact counter behind 2 ms of CPU \| 1\.00 \| /);
  t.regex(readFileSync(join(out, 'results.svg'), 'utf8'), /^<svg .*node:cluster.*<\/svg>\n$/s);
});

test('when the bench is killed, its servers end', async (t) => {
  const folder = tempFolder(t, {
    'app.cjs': "require('http').createServer((req, res) => res.end()).listen(process.env.PORT);",
  });
  const code = `
    import { freePort, Server } from ${JSON.stringify(new URL('../bench/support/server.js', import.meta.url).href)};
    const command = { file: process.execPath, args: ['app.cjs'], cwd: ${JSON.stringify(folder)}, env: {} };
    console.log((await Server.start(command, await freePort(), '/')).server.pid);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [text] = await once(child.stdout, 'data');
  const group = Number(String(text));
  t.true(isThere(group));
  child.kill('SIGKILL');
  while (isThere(group)) await wait(5);
});

function isThere(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}

test('what is not understood is said, and nothing is measured', async (t) => {
  const failed = await t.throwsAsync(run(process.execPath, [bench, '--only', 'nothing'], { timeout: 60_000 }));
  t.regex(failed?.message ?? '', /there is no workload "nothing"/);
});

test('answers that repeat or leave out a count are wrong', (t) => {
  const session = counter.streams[0]!.begin();
  const client = session.client(0);
  const answer = (count: number, sealed = 908134597) => ({
    status: 200,
    body: Buffer.from(JSON.stringify({ sealed, count })),
  });
  t.deepEqual(
    [5, 7, 7].map((count) => client.check(answer(count))),
    [true, true, false],
  );
  t.false(client.check(answer(8, 1)));
  t.is(session.wrong?.(0), 1);
  t.is(session.wrong?.(1), 0);
  t.is(new Counts().missing, 0);
});

test('known answers are compared with their bodies, each client beginning elsewhere', (t) => {
  const session = known([
    [Buffer.from('a'), 'one'],
    [Buffer.from('b'), 'two'],
  ])();
  const client = session.client(1);
  t.is(client.next().toString(), 'b');
  t.true(client.check({ status: 200, body: Buffer.from('two') }));
  t.is(client.next().toString(), 'a');
  t.false(client.check({ status: 200, body: Buffer.from('two') }));
});

test('ratios are taken within a round', (t) => {
  const sample = (round: number, perSecond: number) => ({
    round,
    streams: [{ name: 'all' as const, answers: 1, perSecond, p50: 1, p99: 1, errors: 0, wrong: 0 }],
    ...{ ownLoad: 0.1, cpuMsPerAnswer: null, memoryMb: null, startMs: null },
  });
  const cells = [
    [10, 100, 20],
    [20, 100, 50],
  ].map((rates, at) => ({
    peer: PEERS[at]!,
    first: sample(-1, [100, 150][at]!),
    samples: rates.map((rate, round) => sample(round, rate)),
    ...{ wrong: 0, errors: 0, failure: null },
  }));
  const [, other] = summarise(counter, cells).peers;
  t.is(ratioText(other?.streams[0]?.rate.ratio), '2.00 (1.00 to 2.50)');
  t.is(other?.streams[0]?.rate.value, 50);
  t.is(ratioText(other?.streams[0]?.firstRate?.ratio), '1.50');
});

test('each peer has an app to run', (t) => {
  const around = { node: process.execPath, folder: tempFolder(t), installed: null, port: 1 };
  for (const peer of PEERS) {
    const command = peer.command(counter, around);
    t.is(command === null, peer.isInstalled, peer.name);
    for (const word of command?.args ?? [])
      if (/\.c?js$/.test(word)) t.true(existsSync(join(command?.cwd ?? '', word)) || existsSync(word));
  }
});
