/**
 * Reads: what is to be run, and the cache.
 * Gives: the compiled program, from the cache or compiled now, in a process of its own that is waited for: what the
 *        compiler needs of memory is gone when the app starts. Null where the app is to run as it is.
 *
 * An app that cannot be compiled still starts: nobody may be worse off than with node.
 */
import fs = require('node:fs');
import path = require('node:path');
import process = require('node:process');

import type { StartFile, StartManifest } from '../flx/run-manifest.js' with { 'resolution-mode': 'import' };
import type { Emitted, LogLevel, RunOptions } from './types.js' with { 'resolution-mode': 'import' };

import cache = require('./cache.cjs');
import home = require('./home.cjs');

interface Prepared {
  readonly folder: string;
  /** Where it was compiled, wherever the app goes. */
  readonly cwd: string;
  readonly manifest: StartManifest;
  readonly emitted: ReadonlyMap<string, Emitted>;
}

/** The file that Node would be given, or a program in the fluxional language, which cannot do without being compiled. */
interface Source {
  readonly kind: 'entry' | 'flx';
  readonly file: string;
}

/** `compiler`: a program that fills a folder of the cache. */
function prepare(source: Source, options: RunOptions, compiler: string): Prepared | null {
  const key = keyOf(source, options.config, process.cwd(), compiler);
  const known = cache.open(key);
  if (known !== null) return read(known);
  const root = cache.writableFolder();
  if (root === null)
    return without(source, 'no folder for its cache can be written to (FLUXION_CACHE names one)', options);
  const failed = compile(source, path.join(root, key), options, compiler);
  if (failed !== null) return without(source, failed, options);
  const compiled = cache.open(key);
  // Changed while it was compiled: the next start will see it as it is then.
  return compiled === null ? without(source, 'its files changed while it was being compiled', options) : read(compiled);
}

/** Under which the cache has what is started in `cwd`. */
function keyOf({ kind, file }: Source, config: string | null, cwd: string, compiler: string): string {
  return cache.keyOf([kind, file, config ?? '', cwd, version(compiler), process.versions.node]);
}

function without({ kind, file }: Source, why: string, { logLevel }: RunOptions): null {
  if (kind === 'flx') {
    fs.writeSync(2, `${path.relative(process.cwd(), file)} cannot be run: ${why}\n`);
    process.exit(2);
  }
  say('info', `the app runs as it is, on one thread: ${why}`, logLevel);
  return null;
}

function read({ folder, texts }: NonNullable<ReturnType<typeof cache.open>>): Prepared | null {
  const file: StartFile | null = JSON.parse(texts.get('start.json') ?? 'null');
  if (file?.version !== 1) return null;
  const emitted = new Map<string, Emitted>();
  const modules = file.modules.map(({ text, ...module }) => {
    const { source, kind, isOnDisk } = module;
    if (module.file !== null && text !== null)
      emitted.set(source, {
        original: source,
        kind,
        isOnDisk,
        text: home.mapFrom(text, path.join(folder, module.file), source),
      });
    return module;
  });
  return { folder, cwd: process.cwd(), manifest: { ...file, modules }, emitted };
}

/** Packages that are installed have files of any age: the number alone, or the time alone, would not tell. */
function version(compiler: string): string {
  const { version: number } = JSON.parse(fs.readFileSync(path.join(__dirname, '../../package.json'), 'utf8'));
  const { mtimeMs, size } = fs.statSync(compiler);
  return `${number} ${mtimeMs} ${size}`;
}

// --- compiling ------------------------------------------------------------------------------------------------------

/** An app that needs more of the processor's time than that to be compiled starts without. */
const MOST_CPU_MS = 20_000;
/** Nor does it wait for longer, where others have the processor; a start some time later may have more luck. */
const LONGEST_MS = 45_000;
/** Then it is not tried again for a while: waiting at each start would be worse. */
const QUIET_MS = 60 * 60 * 1000;
const QUIET_WHEN_LATE_MS = 10 * 60 * 1000;

const BAD_CONFIGURATION = 2;
const APP_IS_WRONG = 3;
const TOOK_TOO_LONG = 75;

/** Gives why there is nothing. */
function compile(source: Source, keyFolder: string, options: RunOptions, compiler: string): string | null {
  // Here, as it is not needed for a second start.
  const childProcess: typeof import('node:child_process') = require('node:child_process');
  const begun = Date.now();
  const folder = cache.newFolder(keyFolder);
  const words = [compiler, source.kind, source.file, folder, options.config ?? '', '', String(MOST_CPU_MS)];
  const { status, signal, stderr, error } = childProcess.spawnSync(process.execPath, words, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...givesBack, ...plainEnv() },
    timeout: LONGEST_MS,
    killSignal: 'SIGKILL',
    maxBuffer: 2 ** 26,
  });
  if (status === 0) return null;
  if (status === BAD_CONFIGURATION) {
    fs.writeSync(2, stderr);
    process.exit(2);
  }
  say('debug', `the compiler said:\n${stderr}`, options.logLevel);
  if (status === APP_IS_WRONG) return `it cannot be compiled; "fluxion compile ${source.file}" says why`;
  const late = error !== undefined && 'code' in error && error.code === 'ETIMEDOUT';
  const why = late
    ? `compiling took longer than ${LONGEST_MS / 1000} s`
    : status === TOOK_TOO_LONG
      ? `compiling took more than ${MOST_CPU_MS / 1000} s of the processor's time`
      : `the compiler ended with ${signal ?? status}`;
  if (source.kind === 'entry')
    keepFailure(source, folder, { begun, why, quietMs: late ? QUIET_WHEN_LATE_MS : QUIET_MS });
  return why;
}

interface Failure {
  readonly begun: number;
  readonly why: string;
  readonly quietMs: number;
}

function keepFailure({ file }: Source, folder: string, { begun, why, quietMs }: Failure): void {
  const until = Date.now() + quietMs;
  const failed = `${why} at an earlier start; starts after ${new Date(until).toISOString()} try it again`;
  try {
    const nothing: StartManifest = { version: 1, entry: '', movable: false, failed, modules: [] };
    const files = new Map([['start.json', JSON.stringify(nothing)]]);
    cache.write(folder, { files, hashes: new Map(), others: [file], begun, until });
  } catch {
    // It is only tried again.
  }
}

/** glibc keeps what blocks were freed, but for large ones, and takes for large what is above the largest that was freed so far. Of
 *  the compiler's tables most are gone when it writes. */
const givesBack = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '131072' };

/** The compiler is not the app: what is preloaded or inspected there is not meant for it. */
function plainEnv(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, NODE_CHANNEL_FD: _channel, ...env } = process.env;
  return env;
}

const LEVELS: readonly LogLevel[] = ['silent', 'error', 'warn', 'info', 'debug'];

/** As log.ts does it, which is not loaded before the app serves. */
function say(level: LogLevel, text: string, wanted: LogLevel): void {
  if (LEVELS.indexOf(level) > LEVELS.indexOf(wanted)) return;
  try {
    fs.writeSync(2, `fluxion ${level}: ${text}\n`);
  } catch {
    // Nobody can be told.
  }
}

export = { prepare, keyOf, say };
