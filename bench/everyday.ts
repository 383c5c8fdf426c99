/**
 * The seven everyday checks (fixtures/apps/everyday) under node, under `node:cluster` with four workers, and under every
 * placement of `fluxion run`: what holds, and what does not. Nothing is measured; it shows why state needs one owner.
 *
 *     npm run everyday
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CHECKS, type Results, runChecks } from '../test/support/everyday.js';

const APP = fileURLToPath(new URL('../../fixtures/apps/everyday/app.js', import.meta.url));
const CLI = fileURLToPath(new URL('../bin/fluxion.cjs', import.meta.url));
const WORKERS = 4;
const CLUSTER = `
const cluster = require('node:cluster');
cluster.setupPrimary({ exec: ${JSON.stringify(APP)}, execArgv: [] });
for (let n = 0; n < ${WORKERS}; n++) cluster.fork();
process.on('SIGTERM', () => process.exit());`;

const fluxion = (placement: string): readonly string[] => {
  return [CLI, 'run', '--placement', placement, '--threads', '2', '--log-level', 'debug', APP];
};
const WAYS: { readonly [name: string]: readonly string[] } = {
  node: [APP],
  [`node:cluster, ${WORKERS} workers`]: ['-e', CLUSTER],
  'fluxion run --placement home': fluxion('home'),
  'fluxion run --placement loopback': fluxion('loopback'),
  'fluxion run --placement eager': fluxion('eager'),
  'fluxion run': fluxion('auto'),
};

class Running {
  stdout = '';
  stderr = '';
  readonly #child: ChildProcess;

  constructor(words: readonly string[]) {
    this.#child = spawn(process.execPath, words, {
      env: { ...process.env, PORT: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    process.once('exit', () => this.#child.kill());
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.#child.exitCode !== null) throw new Error(`it has ended:\n${this.stderr}`);
      await setTimeout(20);
    }
  }

  count(pattern: RegExp): number {
    return [...`${this.stdout}${this.stderr}`.matchAll(pattern)].length;
  }

  async end(): Promise<void> {
    this.#child.kill('SIGTERM');
    await once(this.#child, 'close');
  }
}

async function run(name: string, words: readonly string[]): Promise<void> {
  const app = new Running(words);
  const processes = name.startsWith('node:cluster') ? WORKERS : 1;
  await app.until(() => app.count(/^port \d+$/gm) === processes);
  const port = Number(/^port (\d+)$/m.exec(app.stdout)?.[1]);
  const hasReplicas = (): boolean => app.count(/is ready$/gm) === 2;
  if (name.endsWith('eager')) await app.until(hasReplicas);
  // They are started when the work is found to be heavy.
  while (name === 'fluxion run' && !hasReplicas())
    await (await fetch(`http://127.0.0.1:${port}/work/primes/2000000`)).text();
  for (const connections of ['new', 'kept'] as const) {
    const results = await runChecks({ port, stdout: () => app.stdout, connections });
    const way = connections === 'new' ? 'a connection for each request' : 'connections that are kept';
    print(`${name}, ${way}`, results);
  }
  await app.end();
}

function print(title: string, results: Results): void {
  const names = Object.keys(CHECKS);
  const held = names.filter((check) => results[check] === 'ok').length;
  console.log(`${held} of ${names.length}  ${title}`);
  for (const [check, result] of Object.entries(results))
    if (result !== 'ok') console.log(`          ${check}: ${result}`);
}

process.once('SIGTERM', () => process.exit(1));
process.once('SIGINT', () => process.exit(1));
for (const [name, words] of Object.entries(WAYS)) await run(name, words);
