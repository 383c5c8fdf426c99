/**
 * `npm run bench:bus [seconds] [--only port|run]`: what a message costs over runtime/bus.ts and over a bare MessagePort, and what
 * `fluxion run` costs an app in which nothing moves. Both sides of a ratio are measured in turns, in the same run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { Channel } from '../runtime/bus.js';
import { type Ratio, ratioOf, shown } from './ratio.js';

const seconds = Number(process.argv.find((word) => /^\d+(\.\d+)?$/.test(word)) ?? 0.3);
const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : null;
const TURNS = 7;
const DEPTHS = [1, 64] as const;

/** About as much as a small request has. */
const MESSAGE = {
  kind: 'dispatch',
  run: 1,
  slot: 'server0 0/3/route/0',
  envelope: {
    method: 'GET',
    url: '/items/17?full=1',
    headers: ['Host', 'localhost', 'Accept', '*/*', 'Connection', 'close'],
  },
};

interface Echo {
  /** Resolves with the round trips of one turn, `depth` of them under way at any time. */
  turn(depth: number): Promise<number>;
}

async function main(): Promise<void> {
  process.stdout.write(`node ${process.version}, ${TURNS} turns of ${seconds} s each, in turns\n\n`);
  if (only !== 'run') await measurePorts();
  if (only !== 'port') await measureRun();
}

// --- messages -----------------------------------------------------------------------------------------------------------

async function measurePorts(): Promise<void> {
  const worker = new Worker(new URL('./bus-echo.js', import.meta.url));
  const bare = new MessageChannel();
  const framed = new MessageChannel();
  worker.postMessage({ bare: bare.port2, framed: framed.port2 }, [bare.port2, framed.port2]);
  await once(worker, 'message');
  const port = echoByPort(bare.port1);
  const bus = echoByBus(framed.port1);
  for (const depth of DEPTHS) {
    for (const each of [port, bus]) await each.turn(depth);
    const ratio = await ratioOf(
      TURNS,
      () => bus.turn(depth),
      () => port.turn(depth),
    );
    report(`round trips a second, depth ${depth}`, 'bus', 'bare port', ratio);
  }
  await worker.terminate();
}

function echoByPort(port: MessagePort): Echo {
  let back = (): void => {};
  port.on('message', () => back());
  return echo(
    () => port.postMessage(MESSAGE),
    (listener) => (back = listener),
  );
}

function echoByBus(port: MessagePort): Echo {
  let back = (): void => {};
  const channel = new Channel<unknown, unknown>(port, {
    window: Number.POSITIVE_INFINITY,
    ackEvery: 64,
    receive: () => back(),
    closed: () => {},
  });
  port.ref();
  return echo(
    () => channel.send(MESSAGE),
    (listener) => (back = listener),
  );
}

function echo(send: () => void, listen: (back: () => void) => void): Echo {
  return {
    turn: (depth) =>
      new Promise((resolve) => {
        const begin = performance.now();
        let count = 0;
        let open = depth;
        listen(() => {
          count++;
          if (performance.now() - begin < seconds * 1000) return send();
          if (--open === 0) resolve((count / (performance.now() - begin)) * 1000);
        });
        for (let index = 0; index < depth; index++) send();
      }),
  };
}

// --- an app in which nothing moves ------------------------------------------------------------------------------------

const APP = `
const express = require('express');
const app = express();
let count = 0;
app.use((req, res, next) => { res.set('X-Powered-By', 'habit'); next(); });
app.get('/:name', (req, res) => { res.json({ hello: req.params.name, count: count += 1 }); });
const server = app.listen(0, () => console.log(server.address().port));
`;
/** Nothing of it shares state, so all of it might move, and none of it is worth it. */
const LIGHT = APP.replace('count: count += 1', 'count: 1');
const CONNECTIONS = 16;

async function measureRun(): Promise<void> {
  // Below this file, so that the app finds its packages.
  const folder = mkdtempSync(fileURLToPath(new URL('./app-', import.meta.url)));
  const cache = mkdtempSync(join(tmpdir(), 'fluxion-bench-'));
  const cli = fileURLToPath(new URL('../bin/fluxion.cjs', import.meta.url));
  writeFileSync(join(folder, 'package.json'), '{"type":"commonjs"}');
  try {
    for (const [name, source] of [
      ['nothing can move', APP],
      ['nothing is worth moving', LIGHT],
    ] as const) {
      const file = join(folder, `${name.replaceAll(' ', '-')}.js`);
      writeFileSync(file, source);
      const node = await Served.start([file], cache);
      const run = await Served.start([cli, 'run', file], cache);
      for (const each of [node, run]) await each.turn();
      const ratio = await ratioOf(
        TURNS,
        () => run.turn(),
        () => node.turn(),
      );
      report(`requests a second, ${name}`, 'fluxion run', 'node', ratio);
      node.end();
      run.end();
    }
  } finally {
    rmSync(folder, { recursive: true });
    rmSync(cache, { recursive: true });
  }
}

class Served {
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });

  private constructor(
    readonly port: number,
    readonly end: () => void,
  ) {}

  static async start(words: readonly string[], cache: string): Promise<Served> {
    const env = { ...process.env, FLUXION_CACHE: cache };
    const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const [text] = await once(child.stdout, 'data');
    const served: Served = new Served(Number(String(text)), () => {
      served.#agent.destroy();
      child.kill('SIGKILL');
    });
    return served;
  }

  async turn(): Promise<number> {
    const begin = performance.now();
    let count = 0;
    const client = async (): Promise<void> => {
      for (; performance.now() - begin < seconds * 1000; count++) await this.#get();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, client));
    return (count / (performance.now() - begin)) * 1000;
  }

  #get(): Promise<void> {
    return new Promise((resolve, reject) => {
      const options = { port: this.port, path: '/you', agent: this.#agent };
      http.get(options, (res) => void res.resume().on('end', resolve)).on('error', reject);
    });
  }
}

function report(what: string, one: string, other: string, ratio: Ratio): void {
  process.stdout.write(`${what}\n  ${one} / ${other}: ${shown(ratio)}\n`);
}

await main();
