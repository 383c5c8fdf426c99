/**
 * What linking costs: an app with many handlers and packages of many files, by `node` and by `fluxion run --placement eager` with
 * one thread. When the app listens it serves; the link goes on beside that. Told are how long home is busy with it, how long it is
 * until handlers move, what the first start costs, which compiles, and memory.
 *
 *     npm run bench:link [handlers] [package files] [rounds]
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('../bin/fluxion.cjs', import.meta.url));
const [HANDLERS = 300, FILES = 1500, ROUNDS = 5] = process.argv.slice(2).map(Number);
/** Handlers of a router, and files of a package. */
const OF_ROUTER = 10;
const OF_PACKAGE = 50;

// -------------------------------------------------------------------------------------------------------------- the app

/** Of ten handlers one has state, two work with the services of their feature, the others use packages. */
function routerText(feature: number, packages: number): string {
  const handlers = Array.from({ length: OF_ROUTER }, (_, index) => {
    const path = `/f${feature}/h${index}/:n`;
    if (index === 0) return `router.get('${path}', (req, res) => { count += 1; res.json(count); });`;
    if (index < 3) return `router.get('${path}', (req, res) => { res.json(service.price(Number(req.params.n))); });`;
    return `router.get('${path}', (req, res) => { res.json(pkg.step${(feature * 7 + index) % OF_PACKAGE}(Number(req.params.n))); });`;
  });
  return `const router = require('express').Router();
const { Service } = require('../services/s${feature}');
const pkg = require('pkg-${feature % packages}');
const service = new Service({ rate: ${feature} });
let count = 0;
${handlers.join('\n')}
module.exports = router;
`;
}

const serviceText = `class Service {
  constructor(options) { this.options = options; this.table = Array.from({ length: 20 }, (_, n) => ({ n, rate: options.rate * n })); }
  price(n) { return this.table.reduce((sum, row) => sum + row.rate * n, 0); }
}
module.exports = { Service };
`;

function packageFile(index: number): string {
  const next = index + 1 < OF_PACKAGE ? `const { table } = require('./m${index + 1}');` : 'const table = {};';
  return `'use strict';
${next}
const names = Object.freeze(['a${index}', 'b${index}', 'c${index}']);
class Step {
  constructor(n) { this.n = n; }
  run() { return names.map((name) => name + this.n).join('-'); }
}
exports.step${index} = (n) => new Step(n).run();
exports.table = { ...table, step${index}: exports.step${index}, at${index}: ${index} };
`;
}

function makeApp(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fluxion-bench-'));
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  const packages = Math.max(1, Math.round(FILES / OF_PACKAGE));
  const features = Math.max(1, Math.round(HANDLERS / OF_ROUTER));
  for (let at = 0; at < packages; at++) {
    write(`node_modules/pkg-${at}/package.json`, `{"name":"pkg-${at}","main":"m0.js"}`);
    for (let index = 0; index < OF_PACKAGE; index++) {
      const all = index === 0 ? 'Object.assign(exports, table);\n' : '';
      write(`node_modules/pkg-${at}/m${index}.js`, packageFile(index) + all);
    }
  }
  for (let feature = 0; feature < features; feature++) {
    write(`routes/r${feature}.js`, routerText(feature, packages));
    write(`services/s${feature}.js`, serviceText);
  }
  const mounts = Array.from({ length: features }, (_, feature) => `app.use(require('./routes/r${feature}'));`);
  // All packages are loaded, as apps load more than their handlers use.
  const loads = Array.from({ length: packages }, (_, at) => `require('pkg-${at}');`);
  write(
    'app.js',
    `const app = require('express')();
${[...loads, ...mounts].join('\n')}
app.get('/memory', (req, res) => { res.json(process.memoryUsage().rss); });
const server = app.listen(0, '127.0.0.1', () => console.log('port ' + server.address().port));
`,
  );
  write('package.json', '{}');
  symlinkSync(join(packagesAbove(dirname(cli)), 'express'), join(folder, 'node_modules/express'));
  return folder;
}

function packagesAbove(folder: string): string {
  const found = join(folder, 'node_modules');
  return existsSync(join(found, 'express')) ? found : packagesAbove(dirname(folder));
}

// -------------------------------------------------------------------------------------------------------------- a start

interface Start {
  readonly listensMs: number;
  readonly rssMb: number;
  readonly link: Link | null;
}

interface Link {
  readonly handlers: number;
  readonly moving: number;
  /** Time in which home does nothing else: when it listens, and when the replica has told what it has. */
  readonly homeMs: number;
  /** From listening to when handlers move. */
  readonly movesMs: number;
}

const LINKED = /server0 is linked: (\d+) functions, ([\d.]+) ms/;
const COMPARED = /replica-1 is compared: (\d+) functions may run there, ([\d.]+) ms/;
const READY = /replica-1 is ready/;
const STAYS = /server0: all that it calls stays/;

async function start(folder: string, isFluxion: boolean): Promise<Start> {
  const flags = [cli, 'run', '--placement', 'eager', '--threads', '1', '--log-level', 'debug'];
  const begin = performance.now();
  const child = spawn(process.execPath, [...(isFluxion ? flags : []), 'app.js'], {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: '', FLUXION_CACHE: join(folder, '.cache') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    const said = hear(child);
    const [, port] = await said.until(/port (\d+)/);
    const listens = performance.now();
    const link = isFluxion ? await linkOf(said, listens) : null;
    const memory = await fetch(`http://127.0.0.1:${port}/memory`);
    return { listensMs: listens - begin, rssMb: Number(await memory.text()) / 2 ** 20, link };
  } finally {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
}

async function linkOf(said: Said, listens: number): Promise<Link> {
  const [, handlers, walkMs] = await said.until(LINKED);
  const ready = await said.until(new RegExp(`${READY.source}|${STAYS.source}`));
  const movesMs = performance.now() - listens;
  if (STAYS.test(ready[0])) return { handlers: Number(handlers), moving: 0, homeMs: Number(walkMs), movesMs };
  const [, moving, compareMs] = await said.until(COMPARED);
  return { handlers: Number(handlers), moving: Number(moving), homeMs: Number(walkMs) + Number(compareMs), movesMs };
}

interface Said {
  until(pattern: RegExp): Promise<RegExpExecArray>;
}

function hear(child: ChildProcess): Said {
  let text = '';
  let ended = false;
  let heard = (): void => {};
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      heard();
    });
  }
  child.on('close', () => {
    ended = true;
    heard();
  });
  return {
    async until(pattern) {
      for (;;) {
        const found = pattern.exec(text);
        if (found !== null) return found;
        if (ended) throw new Error(`the app has ended:\n${text}`);
        await new Promise<void>((resolve) => (heard = resolve));
      }
    },
  };
}

// ------------------------------------------------------------------------------------------------------------- the table

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const folder = makeApp();
try {
  const first = await start(folder, true);
  const node: Start[] = [];
  const fluxion: Start[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    node.push(await start(folder, false));
    fluxion.push(await start(folder, true));
  }
  const links = fluxion.flatMap(({ link }) => link ?? []);
  const listens = median(node.map(({ listensMs }) => listensMs));
  const rss = { node: median(node.map(({ rssMb }) => rssMb)), fluxion: median(fluxion.map(({ rssMb }) => rssMb)) };
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  say(`Node ${process.version}, ${HANDLERS} handlers, ${FILES} package files, ${ROUNDS} rounds; medians`);
  say(`handlers that may move           ${links[0]?.moving} of ${links[0]?.handlers}`);
  say(`node listens after               ${listens.toFixed(0)} ms`);
  say(
    `fluxion run listens after        ${median(fluxion.map((each) => each.listensMs)).toFixed(0)} ms; the first time, when it compiles, ${first.listensMs.toFixed(0)} ms`,
  );
  say(`home is busy with the link for   ${median(links.map((each) => each.homeMs)).toFixed(0)} ms`);
  say(
    `handlers move after another      ${median(links.map((each) => each.movesMs)).toFixed(0)} ms, start of a thread and of the app in it included`,
  );
  say(
    `memory                           node ${rss.node.toFixed(0)} MB, fluxion run ${rss.fluxion.toFixed(0)} MB with one thread`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
