/**
 * `npm run bench:bridge [requests]`: what it costs that a request crosses to another loop and back: the processor time of the whole
 * process for each request, with all handlers on a replica (`--placement eager`) against the same handlers at home. Both
 * sides of a ratio are measured in turns, in the same run; processor time says the same on a machine that is busy. On Linux also what the
 * main thread alone spends: however many replicas there are, it can send on no more than it has time for.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { ratioOf, shown } from './ratio.js';

const REQUESTS = Number(process.argv.find((word) => /^\d+$/.test(word)) ?? 1000);
const TURNS = 5;
const CONNECTIONS = 16;

const APP = `
const express = require('express');
const app = express();
let asked = 0;
app.get('/cpu', (req, res) => { asked++; const { user, system } = process.cpuUsage(); res.json(user + system); });
app.get('/small', (req, res) => { res.send('small'); });
app.get('/plain', (req, res) => { res.writeHead(200, { 'content-type': 'text/plain' }); res.end('plain'); });
app.get('/chain', (req, res, next) => { req.user = { name: 'ann' }; next(); }, (req, res) => { res.json(req.user); });
app.post('/json', express.json(), (req, res) => { res.json({ name: req.body.name, count: req.body.list.length }); });
app.get('/whole', (req, res) => { res.send('x'.repeat(1048576)); });
app.get('/streamed', (req, res) => {
  const chunk = Buffer.alloc(65536, 'x');
  let left = 16;
  const go = () => { while (left-- > 0) { if (!res.write(chunk)) { res.once('drain', go); return; } } res.end(); };
  go();
});
app.post('/upload', (req, res) => { let bytes = 0; req.on('data', (data) => { bytes += data.length; }); req.on('end', () => res.json(bytes)); });
const server = app.listen(0, () => console.log(server.address().port));
`;

interface Case {
  readonly name: string;
  readonly path: string;
  readonly body: string | null;
  /** Of the requests, for those that carry much. */
  readonly share: number;
}

const JSON_BODY = JSON.stringify({ name: 'ann', list: Array.from({ length: 20 }, (_, n) => ({ n, text: 'item' })) });

const CASES: readonly Case[] = [
  { name: 'a few bytes, without Express of its own', path: '/plain', body: null, share: 1 },
  { name: 'a few bytes, res.send', path: '/small', body: null, share: 1 },
  { name: 'two handlers', path: '/chain', body: null, share: 1 },
  { name: 'a JSON body of 600 bytes, parsed before', path: '/json', body: JSON_BODY, share: 1 },
  { name: 'an answer of 1 MB, whole', path: '/whole', body: null, share: 0.1 },
  { name: 'an answer of 1 MB, in 16 pieces', path: '/streamed', body: null, share: 0.1 },
  { name: 'a body of 1 MB, streamed', path: '/upload', body: 'x'.repeat(1_048_576), share: 0.1 },
];

async function main(): Promise<void> {
  process.stdout.write(`node ${process.version}, ${TURNS} turns, microseconds of processor time for a request\n\n`);
  const folder = mkdtempSync(join(tmpdir(), 'fluxion-bench-'));
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'app.js'), APP);
  const away = await Served.start(folder, ['--placement', 'eager', '--threads', '1', '--log-level', 'debug']);
  const home = await Served.start(folder, ['--placement', 'home']);
  try {
    for (const each of CASES) {
      for (const served of [away, home]) await served.costOf(each);
      const ratio = await ratioOf(
        TURNS,
        () => away.costOf(each),
        () => home.costOf(each),
      );
      process.stdout.write(`${each.name}\n  across / at home: ${shown(ratio)}\n`);
      if (!away.tellsMain) continue;
      const ofMain = await ratioOf(
        TURNS,
        () => away.costOf(each, 'main'),
        () => home.costOf(each, 'main'),
      );
      process.stdout.write(`  of the main thread: ${shown(ofMain)}\n`);
    }
  } finally {
    away.end();
    home.end();
    rmSync(folder, { recursive: true });
  }
}

class Served {
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  readonly #child: ChildProcess;
  readonly #port: number;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.#port = port;
  }

  static async start(folder: string, flags: readonly string[]): Promise<Served> {
    const cli = fileURLToPath(new URL('../bin/fluxion.cjs', import.meta.url));
    const child = spawn(process.execPath, [cli, 'run', ...flags, join(folder, 'app.js')], {
      env: { ...process.env, FLUXION_CACHE: join(folder, 'cache') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    const isReady = new Promise<void>((ready) => {
      child.stderr.on('data', (data) => {
        said += String(data);
        if (said.includes('is ready')) ready();
      });
    });
    const [text] = await once(child.stdout, 'data');
    if (flags.includes('eager')) await isReady;
    return new Served(child, Number(String(text)));
  }

  end(): void {
    this.#agent.destroy();
    this.#child.kill('SIGKILL');
  }

  get tellsMain(): boolean {
    return existsSync(this.#mainFile);
  }

  async costOf({ path, body, share }: Case, of: 'all' | 'main' = 'all'): Promise<number> {
    const count = Math.ceil(REQUESTS * share);
    let left = count;
    const cpu = (): number | Promise<number> => (of === 'all' ? this.#cpu() : this.#cpuOfMain());
    const before = await cpu();
    const client = async (): Promise<void> => {
      while (left-- > 0) await this.#ask(path, body);
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, client));
    return ((await cpu()) - before) / count;
  }

  get #mainFile(): string {
    return `/proc/${this.#child.pid}/task/${this.#child.pid}/schedstat`;
  }

  #cpuOfMain(): number {
    return Number(readFileSync(this.#mainFile, 'utf8').split(' ')[0]) / 1_000;
  }

  async #cpu(): Promise<number> {
    return Number(await this.#ask('/cpu', null));
  }

  #ask(path: string, body: string | null): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = body === null ? {} : { 'content-type': 'application/json', 'content-length': body.length };
      const options = { port: this.#port, path, agent: this.#agent, method: body === null ? 'GET' : 'POST', headers };
      const req = http.request(options, (res) => {
        let text = '';
        res.setEncoding('latin1').on('data', (data: string) => {
          if (text.length < 100) text += data;
        });
        res.on('end', () => resolve(text));
      });
      req.on('error', reject);
      req.end(body ?? undefined);
    });
  }
}

await main();
