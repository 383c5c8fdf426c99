/**
 * The same app three times: as written, as emitted, and as emitted with every cut taken (`factories`: what is behind a
 * cut runs from its factory and its message, as on a loop that never ran what is before it). Each gets the same
 * arguments and the same requests, one after the other; what can be seen from outside is compared.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import Module from 'node:module';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { compile } from '../../compile.js';
import { emitFiles } from '../../flx/emit/files.js';
import { writeOutput } from '../../flx/emit/write-output.js';
import type { FluxionProgram } from '../../flx/program.js';
import { turnOf } from './in-turn.js';
import { prepare } from './prepare.js';
import { link, type Tree, tempFolder } from './temp-folder.js';

/** As in a fixture's requests.json. */
export interface Request {
  readonly method?: string;
  readonly path: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  readonly times?: number;
}

export interface Answer {
  readonly status: number | undefined;
  readonly message: string | undefined;
  readonly headers: readonly string[];
  readonly body: string;
}

export interface Run {
  readonly answers: readonly (Answer | string)[];
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunOptions {
  readonly args?: readonly string[];
  readonly nodeArgs?: readonly string[];
  readonly requests?: readonly Request[];
  readonly env?: { readonly [name: string]: string };
  readonly cwd?: string;
  /** What has to stand on standard error before the first request is sent. */
  readonly ready?: RegExp;
}

export interface App {
  readonly folder: string;
  readonly entry: string;
  readonly out: string;
  readonly program: FluxionProgram;
  /** Where it is not the emitted file's whole name that is given to node. */
  readonly starter?: string;
}

const packages = findPackages(fileURLToPath(new URL('../../', import.meta.url)));

/** The build that this file belongs to lies in the project's folder, or is that of another name beside it. */
function findPackages(folder: string): string {
  const found = join(folder, 'node_modules');
  return existsSync(join(found, 'express')) ? found : findPackages(join(folder, '..'));
}

/** The app in a folder of its own, from where it finds the project's packages, and compiled to `out` in it. */
export async function makeApp(t: ExecutionContext, entry: string, tree: Tree, change = unchanged): Promise<App> {
  await turnOf(t);
  const folder = tempFolder(t, { ...tree, node_modules: link(packages) });
  return { folder, entry, ...(await compileApp(folder, entry, join(folder, 'out'), change)) };
}

export async function compileApp(folder: string, entry: string, out: string, change = unchanged) {
  const program = change((await compile({ entry, cwd: folder })).program);
  await writeOutput(out, emitFiles(program, out));
  return { out, program };
}

function unchanged(program: FluxionProgram): FluxionProgram {
  return program;
}

export function runOriginal(app: Pick<App, 'folder' | 'entry'>, options: RunOptions = {}): Promise<Run> {
  return run(join(app.folder, app.entry), app.folder, options);
}

export function runEmitted(app: App, options: RunOptions = {}): Promise<Run> {
  return run(join(app.out, app.starter ?? app.program.entry), app.folder, options);
}

/** Also gives the fluxions that were run from their factories. */
export async function runFactories(app: App, options: RunOptions = {}): Promise<Run & { readonly cuts: string[] }> {
  const preload = join(app.out, '../every-cut.cjs');
  const log = join(app.out, '../cuts.log');
  rmSync(log, { force: true });
  writeFileSync(preload, EVERY_CUT.replace('LOG', JSON.stringify(log)));
  const nodeArgs = [...(options.nodeArgs ?? []), '--require', preload];
  const result = await runEmitted(app, { ...options, nodeArgs });
  const cuts = existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
  return { ...result, cuts: [...new Set(cuts)].sort() };
}

const cli = fileURLToPath(new URL('../../bin/fluxion.cjs', import.meta.url));

/** With `fluxion run`, and everything moved that may move; what Fluxion itself says is left out. */
export async function runEager(
  app: Pick<App, 'folder' | 'entry' | 'out'>,
  options: RunOptions = {},
): Promise<Run & { readonly said: string }> {
  const flags = ['--placement', 'eager', '--threads', '1', '--log-level', 'debug'];
  const cache = join(app.out, '../cache');
  await prepare(app.entry, app.folder, cache);
  const result = await run(cli, app.folder, {
    ...options,
    args: ['run', ...flags, join(app.folder, app.entry), ...(options.args ?? [])],
    env: { ...options.env, FLUXION_CACHE: cache },
    ready: /^fluxion (?:debug: replica-1 is ready|info: .* main thread)/m,
  });
  const said = result.stderr.match(SAID)?.join('') ?? '';
  return { ...result, stderr: result.stderr.replace(SAID, ''), said };
}

const SAID = /^fluxion \w+: .*\n(?: {4}at .*\n)*/gm;

const EVERY_CUT = `'use strict';
const { appendFileSync } = require('node:fs');
const makes = new Map();
const make = (id, vars) => { appendFileSync(LOG, id + '\\n'); return makes.get(id)(...vars); };
globalThis[Symbol.for('fluxion.loop')] = {
  define: (id, factory) => makes.set(id, factory),
  post: (id, closure, vars) => function (...args) { return Reflect.apply(make(id, vars()), this, args); },
  away: () => true,
  send: (id, vars) => make(id, vars)(),
};
`;

// -------------------------------------------------------------------------------------------------------------------

async function run(file: string, folder: string, options: RunOptions): Promise<Run> {
  const port = await freePort();
  const { NO_COLOR: _noColor, FORCE_COLOR: _forceColor, NODE_OPTIONS: _options, ...env } = process.env;
  const child = spawn(process.execPath, [...(options.nodeArgs ?? []), file, ...(options.args ?? [])], {
    cwd: options.cwd ?? folder,
    env: { ...env, ...options.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  const closed = once(child, 'close');
  const answers: (Answer | string)[] = [];
  if (options.requests !== undefined) {
    await isOpen(port, child);
    while (options.ready?.test(output.stderr) === false && child.exitCode === null) await setTimeout(10);
    for (const each of options.requests) {
      for (let left = each.times ?? 1; left > 0; left--) answers.push(await ask(port, each));
    }
    await roundTrip(port);
    child.kill('SIGTERM');
  }
  await closed;
  const mask = (text: string): string => masked(text, port, child.pid);
  return {
    answers: answers.map((answer) => (typeof answer === 'string' ? answer : maskedAnswer(answer, mask))),
    stdout: mask(output.stdout),
    stderr: mask(output.stderr),
    code: child.exitCode,
    signal: child.signalCode,
  };
}

/** What differs from run to run of one and the same program. */
function masked(text: string, port: number, pid: number | undefined): string {
  const same = text.replaceAll(String(port), 'PORT').replaceAll(`(node:${pid})`, '(node:PID)');
  return ownFrames(same)
    .replace(/\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT/g, '(date)')
    .replace(/\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/g, '(uuid)');
}

function maskedAnswer(answer: Answer, mask: (text: string) => string): Answer {
  return { ...answer, headers: answer.headers.map(mask), body: mask(answer.body) };
}

/** Whatever the app does at once behind its last answer is done when it has refused this. */
async function roundTrip(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1', () => socket.end('no request\r\n\r\n'));
  socket.resume();
  await once(socket, 'close').catch(() => {});
}

/** Before Node 22.15, V8 cannot tell the name of one function of Node's loader where the emitted text is run. */
function ownFrames(text: string): string {
  if ('registerHooks' in Module) return text;
  return text.replace(
    /at Module\.(?:_compile \(|<anonymous> \()?(node:internal\/modules\/cjs\/loader:\d+:\d+)\)?/g,
    'at Module._compile ($1)',
  );
}

/** Nobody says when: the app may print nothing. No request is sent, for it may count them. */
async function isOpen(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null && child.signalCode === null) {
    const socket = connect(port, '127.0.0.1');
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (open) return;
    await setTimeout(10);
  }
}

/** Below those that the system gives to outgoing connections: between this look and the app's own there is time. */
const ports = { first: 12_000, last: 31_000 };
let nextPort = ports.first + Math.floor(Math.random() * (ports.last - ports.first));

async function freePort(): Promise<number> {
  for (;;) {
    const port = nextPort;
    nextPort = port === ports.last ? ports.first : port + 1;
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, () => resolve(true));
    });
    if (!free) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** Gives the error's code where there is no answer: the server may be gone. */
async function ask(port: number, { method = 'GET', path, headers = {}, body = '' }: Request): Promise<Answer | string> {
  const sent = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false });
  sent.end(body);
  try {
    const [response]: IncomingMessage[] = (await once(sent, 'response')) as IncomingMessage[];
    if (response === undefined) return 'nothing';
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return {
      status: response.statusCode,
      message: response.statusMessage,
      headers: response.rawHeaders,
      body: Buffer.concat(chunks).toString('latin1'),
    };
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}
