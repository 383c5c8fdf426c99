/**
 * Many requests of all kinds through `fluxion run`, with the memory of every loop looked at on the way: it must not grow.
 *
 *     npm run soak [-- --requests 200000]
 *
 * For `eager` and `auto`: the heap in use after two collections, of home and of each replica, and the process's resident
 * memory, every twentieth part of the way. The first quarter is not counted: caches fill, code is compiled.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SOAK_APP } from './soak-app.js';

const CLI = fileURLToPath(new URL('../bin/fluxion.cjs', import.meta.url));
const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));
const { values } = parseArgs({ options: { requests: { type: 'string', default: '200000' } } });
const REQUESTS = Number(values.requests);
const SAMPLES = 20;
const CLIENTS = 16;
const THREADS = 2;
/** Between the second quarter and the last. */
const MOST_GROWTH_MB = 2;

interface Memory {
  readonly loop: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly rss: number;
}

class App {
  #child: ChildProcess;
  port = 0;
  #said = '';

  constructor(folder: string, placement: string) {
    const flags = ['--placement', placement, '--threads', String(THREADS), '--log-level', 'debug'];
    this.#child = spawn(process.execPath, ['--expose-gc', CLI, 'run', ...flags, join(folder, 'app.js')], {
      env: { ...process.env, FLUXION_CACHE: join(folder, 'cache'), NODE_ENV: 'production' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    process.once('exit', () => this.#child.kill());
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.#said += text));
  }

  async starts(): Promise<void> {
    this.port = Number((await this.#says(/^port (\d+)$/m))[1]);
  }

  hasReplicas(): boolean {
    return [...this.#said.matchAll(/is ready$/gm)].length >= THREADS;
  }

  /** Its own words, without those that come with each start. */
  get said(): string {
    return this.#said.replace(/^(?:port \d+|.*is ready)\n|^Warning: connect\.session[^.]*\.\n/gm, '');
  }

  async #says(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.#said);
      if (found !== null) return found;
      if (this.#child.exitCode !== null) throw new Error(this.#said);
      await setTimeout(20);
    }
  }

  async end(): Promise<void> {
    this.#child.kill('SIGTERM');
    await once(this.#child, 'close');
  }
}

// --- requests ---------------------------------------------------------------------------------------------------------

interface Kind {
  readonly method?: string;
  readonly path: (n: number) => string;
  readonly body?: (n: number) => string;
  readonly status: number;
  /** The client hangs up when the answer has begun. */
  readonly isCutOff?: boolean;
}

const KINDS: readonly Kind[] = [
  { path: (n) => `/plain/${n}?a=${n % 7}`, status: 200 },
  { path: () => '/heavy/20000', status: 200 },
  { path: () => '/heavy/200000', status: 200 },
  { method: 'POST', path: () => '/echo', body: (n) => 'x'.repeat(n % 40_000), status: 200 },
  { method: 'POST', path: () => '/json', body: (n) => JSON.stringify({ a: n, b: 'y'.repeat(n % 500) }), status: 201 },
  { method: 'POST', path: () => '/json', body: () => '{"a":', status: 400 },
  { path: () => '/page', status: 200 },
  { path: () => '/file', status: 200 },
  { path: () => '/stream', status: 200 },
  { path: () => '/stream', status: 200, isCutOff: true },
  { path: () => '/file', status: 200, isCutOff: true },
  { path: () => '/read', status: 200 },
  { path: () => '/later', status: 200 },
  { path: (n) => `/cut/${(n % 9) + 1}`, status: 200 },
  { method: 'POST', path: () => '/count', status: 200 },
  { path: () => '/listen', status: 200, isCutOff: true },
  { path: () => '/throws', status: 418 },
  { path: () => '/rejects', status: 500 },
  { path: () => '/chain', status: 200 },
  { path: () => '/session', status: 200 },
  { path: () => '/nowhere', status: 404 },
];

const agent = new http.Agent({ keepAlive: true, maxSockets: CLIENTS });

function ask(port: number, kind: Kind, n: number): Promise<string> {
  const { method = 'GET', path, body, isCutOff = false } = kind;
  const headers =
    method === 'POST' ? { 'Content-Type': kind.path(n) === '/json' ? 'application/json' : 'text/plain' } : {};
  // One in twenty has a connection of its own.
  const own = isCutOff || n % 20 === 0;
  return new Promise((resolve, reject) => {
    const request = http.request({ port, method, path: path(n), headers, agent: own ? false : agent }, (res) => {
      if (res.statusCode !== kind.status) reject(new Error(`${method} ${path(n)} gave ${res.statusCode}`));
      let text = '';
      res.setEncoding('latin1').on('data', (chunk: string) => {
        if (isCutOff) request.destroy();
        else text += chunk;
      });
      res.on('error', () => {});
      res.on('close', () => resolve(text));
    });
    request.on('error', (error) => (isCutOff ? resolve('') : reject(error)));
    request.end(body?.(n));
  });
}

async function askMany(port: number, from: number, to: number): Promise<void> {
  let next = from;
  const client = async (): Promise<void> => {
    while (next < to) {
      const n = next++;
      const kind = KINDS[n % KINDS.length];
      if (kind !== undefined) await ask(port, kind, n);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

// --- memory -----------------------------------------------------------------------------------------------------------

const probe = (path: string): Kind => ({ path: () => path, status: 200 });

/** In which they were first heard of. */
const known: number[] = [];
function order(loop: number): number {
  if (!known.includes(loop)) known.push(loop);
  return known.indexOf(loop);
}

/**
 * Home comes first. What replicas have in hands home has too, until their collectors have found that they have not, and that
 * has been told: so they are asked first, often enough that all of them have answered, and home is asked a little later.
 */
async function measure(port: number, hasReplicas: boolean): Promise<readonly Memory[]> {
  const first = await probeHome(port);
  const replicas = new Map<number, Memory>();
  for (let tries = 0; hasReplicas && replicas.size < THREADS && tries < 50; tries++) {
    for (const text of await Promise.all(Array.from({ length: 2 * THREADS }, () => ask(port, probe('/probe'), 1)))) {
      const memory: Memory = JSON.parse(text);
      if (memory.loop !== first.loop) replicas.set(memory.loop, memory);
    }
  }
  if (hasReplicas) await setTimeout(500);
  const sorted = [...replicas.values()].sort((a, b) => order(a.loop) - order(b.loop));
  return [hasReplicas ? await probeHome(port) : first, ...sorted];
}

async function probeHome(port: number): Promise<Memory> {
  return JSON.parse(await ask(port, probe('/probe-home'), 1));
}

const inMb = (bytes: number): number => bytes / 2 ** 20;
const shown = (bytes: number, width: number): string => inMb(bytes).toFixed(1).padStart(width);
const mean = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

async function soak(folder: string, placement: string): Promise<boolean> {
  const app = new App(folder, placement);
  await app.starts();
  const begin = performance.now();
  if (placement === 'eager') while (!app.hasReplicas()) await setTimeout(20);
  const samples: (readonly Memory[])[] = [];
  console.log(`--placement ${placement}: heap and buffers in use, in MB, of home and of each replica; resident`);
  for (let sample = 0; sample < SAMPLES; sample++) {
    await askMany(app.port, (sample * REQUESTS) / SAMPLES, ((sample + 1) * REQUESTS) / SAMPLES);
    const memory = await measure(app.port, app.hasReplicas());
    samples.push(memory);
    const both = ({ heapUsed, external }: Memory): string => `${shown(heapUsed, 8)} +${shown(external, 5)}`;
    const heaps = memory.map(both).join('');
    const done = String(((sample + 1) * REQUESTS) / SAMPLES).padStart(8);
    console.log(`${done}${heaps}   ${inMb(memory[0]?.rss ?? 0).toFixed(0)}`);
  }
  const seconds = (performance.now() - begin) / 1000;
  console.log(`${Math.round(REQUESTS / seconds)} requests a second`);
  await app.end();
  if (app.said !== '') console.log(app.said.trimEnd());
  return isFlat(samples);
}

function isFlat(samples: readonly (readonly Memory[])[]): boolean {
  const quarter = SAMPLES / 4;
  let flat = true;
  for (const [loop] of (samples.at(-1) ?? []).entries()) {
    const heapOf = (sample: readonly Memory[]): number[] => {
      const memory = sample[loop];
      return memory === undefined ? [] : [inMb(memory.heapUsed + memory.external)];
    };
    const growth =
      mean(samples.slice(-quarter).flatMap(heapOf)) - mean(samples.slice(quarter, 2 * quarter).flatMap(heapOf));
    const name = loop === 0 ? 'home' : `replica ${loop}`;
    console.log(`${name}: ${growth < 0 ? '' : '+'}${growth.toFixed(2)} MB from the second quarter to the last`);
    if (!(growth <= MOST_GROWTH_MB)) flat = false;
  }
  return flat;
}

process.once('SIGTERM', () => process.exit(1));
process.once('SIGINT', () => process.exit(1));

const folder = mkdtempSync(join(tmpdir(), 'fluxion-soak-'));
try {
  for (const [path, text] of Object.entries(SOAK_APP)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  for (const name of ['express', 'express-session', 'ejs'])
    symlinkSync(join(PACKAGES, name), join(folder, 'node_modules', name));
  for (const placement of ['eager', 'auto']) {
    if (await soak(folder, placement)) continue;
    console.log('memory grows');
    process.exitCode = 1;
  }
} finally {
  agent.destroy();
  rmSync(folder, { recursive: true, force: true });
}
