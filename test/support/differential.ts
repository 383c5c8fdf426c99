/**
 * The same app three times: as written, as emitted, and as emitted with every cut taken (`factories`: what is behind a
 * cut runs from its factory and its message, as on a loop that never ran what is before it). Each gets the same
 * arguments and the same requests, one after the other; what can be seen from outside is compared.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { compile } from '../../compile.js';
import { emitFiles } from '../../flx/emit/files.js';
import { writeOutput } from '../../flx/emit/write-output.js';
import type { FluxionProgram } from '../../flx/program.js';
import { link, type Tree, tempFolder } from './temp-folder.js';

export interface Request {
  readonly method?: string;
  readonly path: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
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
  readonly cwd?: string;
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

export function runOriginal(app: App, options: RunOptions = {}): Promise<Run> {
  return run(join(app.folder, app.entry), app.folder, options);
}

export function runEmitted(app: App, options: RunOptions = {}): Promise<Run> {
  return run(join(app.out, app.starter ?? app.program.entry), app.folder, options);
}

/** Also gives the fluxions that were run from their factories. */
export async function runFactories(app: App, options: RunOptions = {}): Promise<Run & { readonly cuts: string[] }> {
  const preload = join(app.folder, 'every-cut.cjs');
  const log = join(app.folder, 'cuts.log');
  rmSync(log, { force: true });
  writeFileSync(preload, EVERY_CUT.replace('LOG', JSON.stringify(log)));
  const nodeArgs = [...(options.nodeArgs ?? []), '--require', preload];
  const result = await runEmitted(app, { ...options, nodeArgs });
  const cuts = existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
  return { ...result, cuts: [...new Set(cuts)].sort() };
}

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
    env: { ...env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (output.stderr += text));
  const closed = once(child, 'close');
  const answers: (Answer | string)[] = [];
  if (options.requests !== undefined) {
    await Promise.race([heard(child.stdout, /^listening/m), closed]);
    for (const each of options.requests) answers.push(await ask(port, each));
    child.kill('SIGTERM');
  }
  await closed;
  const mask = (text: string): string =>
    text.replaceAll(String(port), 'PORT').replaceAll(`(node:${child.pid})`, '(node:PID)');
  return {
    answers: answers.map((answer) => (typeof answer === 'string' ? answer : { ...answer, body: mask(answer.body) })),
    stdout: mask(output.stdout),
    stderr: mask(output.stderr),
    code: child.exitCode,
    signal: child.signalCode,
  };
}

function heard(stream: Readable, words: RegExp): Promise<void> {
  return new Promise((resolve) => {
    let text = '';
    stream.on('data', (chunk: string) => {
      text += chunk;
      if (words.test(text)) resolve();
    });
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
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
      headers: response.rawHeaders.map((text, index, all) => (all[index - 1] === 'Date' ? '(date)' : text)),
      body: Buffer.concat(chunks).toString('latin1'),
    };
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}
