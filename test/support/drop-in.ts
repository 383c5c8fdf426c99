/**
 * One program, started by `node` and by `fluxion run`, in the same folder and with the same words, input and signals:
 * what can be seen of the two from outside is compared, byte for byte but for process ids and ports.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { turnOf } from './in-turn.js';
import { prepare } from './prepare.js';
import { cliPath } from './run-cli.js';
import { link, type Tree, tempFolder } from './temp-folder.js';

export interface Program {
  readonly files: Tree;
  /** What stands behind `node` or `fluxion run`; `app.js` if not given. */
  readonly words?: readonly string[];
  readonly nodeWords?: readonly string[];
  readonly env?: { readonly [name: string]: string };
  /** Below the program's folder. */
  readonly cwd?: string;
  readonly stdin?: string;
  /** Puts back what a run has changed. */
  readonly before?: (folder: string) => void;
  /** What is compared of the output. */
  readonly masked?: (text: string) => string;
  /** What is compared of what `act` gives. */
  readonly shown?: (given: unknown) => unknown;
  /** Called at once; what it does to the process, and what it gives, is part of the run. */
  readonly act?: (run: Running) => Promise<unknown>;
}

export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly folder: string;
  /** Resolves when the text has come on standard output (or error). */
  said(text: string | RegExp): Promise<RegExpExecArray>;
  /** How it was started. */
  readonly by: Way;
}

export interface Seen {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly act: unknown;
}

export const WAYS = ['node', 'home', 'auto', 'eager'] as const;
export type Way = (typeof WAYS)[number];

const packages = findPackages(fileURLToPath(new URL('../../', import.meta.url)));

/** The build that this file belongs to lies in the project's folder, or is that of another name beside it. */
function findPackages(folder: string): string {
  const found = join(folder, 'node_modules');
  return existsSync(join(found, 'express')) ? found : findPackages(join(folder, '..'));
}

/** The program in a folder of its own, from where it finds the project's packages. */
export function programFolder(t: ExecutionContext, files: Tree): string {
  return tempFolder(t, { ...files, node_modules: link(packages) });
}

/** What a run finds in its cache: the compiled program, or nothing, so that it compiles it itself. */
export type Cache = 'filled' | 'empty';

/** Runs it in these ways besides `node`, and gives what node did. */
export async function sameAsNode(
  t: ExecutionContext,
  program: Program,
  ways: readonly Way[] = WAYS,
  filled: Cache = 'filled',
): Promise<Seen> {
  await turnOf(t);
  const folder = programFolder(t, program.files);
  const cache = tempFolder(t);
  const expected = await runProgram(folder, cache, 'node', program);
  program.before?.(folder);
  if (filled === 'filled') await prepare(program.words?.[0] ?? 'app.js', join(folder, program.cwd ?? '.'), cache);
  for (const way of ways) {
    if (way !== 'node') t.deepEqual(await runProgram(folder, cache, way, program), expected, way);
  }
  return expected;
}

/** None outlives the test, however that ends. */
const running = new Set<ChildProcessWithoutNullStreams>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export async function runProgram(folder: string, cache: string, by: Way, program: Program): Promise<Seen> {
  program.before?.(folder);
  const { NO_COLOR: _noColor, FORCE_COLOR: _forceColor, NODE_OPTIONS: _options, ...env } = process.env;
  const words = program.words ?? ['app.js'];
  const starter = by === 'node' ? [] : [cliPath, 'run', '--placement', by, '--threads', '1'];
  const child = spawn(process.execPath, [...(program.nodeWords ?? []), ...starter, ...words], {
    cwd: join(folder, program.cwd ?? '.'),
    // The same for node: the app sees its environment. That something cannot travel is said, and is no part of the app.
    env: { ...env, FLUXION_LOG_LEVEL: 'error', ...program.env, FLUXION_CACHE: cache },
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const output = collect(child);
  const closed = once(child, 'close');
  child.stdin.on('error', () => {});
  if (program.stdin !== undefined || program.act === undefined) child.stdin.end(program.stdin ?? '');
  const said = (text: string | RegExp): Promise<RegExpExecArray> => output.said(text);
  const act = await program.act?.({ child, folder, said, by });
  const [code, signal] = await closed;
  const masked = (text: string): string => {
    // Not the line number of a stack frame that happens to be the same.
    const plain = text.replace(
      new RegExp(`(?<![-\\d]|node:[\\w/:]+:|\\.[cm]?js:[\\d:]*)${child.pid}(?![-\\d])`, 'g'),
      '<pid>',
    );
    return program.masked?.(plain) ?? plain;
  };
  return {
    code,
    signal,
    stdout: masked(output.stdout()),
    stderr: masked(output.stderr()),
    act: program.shown?.(act) ?? act,
  };
}

function collect(child: ChildProcessWithoutNullStreams) {
  const texts = { stdout: '', stderr: '' };
  const waiting = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
      for (const look of waiting) look();
    });
  }
  const said = (text: string | RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const pattern = typeof text === 'string' ? new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')) : text;
      const look = (): void => {
        const found = pattern.exec(texts.stdout) ?? pattern.exec(texts.stderr);
        if (found === null) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      child.once('close', () => reject(new Error(`ended without ${pattern}\n${texts.stdout}\n${texts.stderr}`)));
      look();
    });
  return { stdout: () => texts.stdout, stderr: () => texts.stderr, said };
}
