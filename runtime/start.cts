/**
 * `fluxion run`: reads its words, sees to it that the app is compiled, and starts it in this process as Node would.
 * Until the app serves, nothing more is loaded than what stands here.
 *
 *     words ─> compiled folder (cache, or compiled now) ─> registry, texts with cuts, recorder ─> the app ─> it listens ─> engine.ts
 */
import childProcess = require('node:child_process');
import fs = require('node:fs');
import path = require('node:path');
import process = require('node:process');

import type { StartManifest } from '../flx/run-manifest.js' with { 'resolution-mode': 'import' };
import type { Emitted, Problem, RunOptions } from './types.js' with { 'resolution-mode': 'import' };

import cache = require('./cache.cjs');
import home = require('./home.cjs');
import homeLoop = require('./home-loop.cjs');
import options = require('./options.cjs');

/** Where the command's own files are. */
interface OwnPlaces {
  /** A program that fills a folder of the cache. */
  readonly compiler: string;
  readonly starter: string;
}

/** Gives what is wrong with the words; nothing has happened then. */
function run(words: readonly string[], own: OwnPlaces): Problem | null {
  const read = options.readWords(words, process.env);
  if ('kind' in read) return read;
  const entry = path.resolve(read.entry);
  const prepared = prepare(entry, read.options, own);
  const emitted = prepared === null ? new Map<string, Emitted>() : readEmitted(prepared);
  // Before the recorder looks at it: replicas are to have the same.
  process.argv.splice(1, process.argv.length - 1, entry, ...read.args);
  if (prepared === null) sayAtHome(read.options.logLevel);
  if (prepared !== null || read.options.report !== null) spread(prepared, read.options);
  home.launch({ emitted, ownFiles: ownFiles(own) });
  return null;
}

function sayAtHome(level: RunOptions['logLevel']): void {
  if (level === 'info' || level === 'debug') fs.writeSync(2, 'fluxion info: all of it stays on the main thread\n');
}

// --- compiled -----------------------------------------------------------------------------------------------------

interface Prepared {
  readonly folder: string;
  readonly manifest: StartManifest;
}

/** Null where nothing may leave home. */
function prepare(entry: string, { placement, threads, config }: RunOptions, own: OwnPlaces): Prepared | null {
  if (placement === 'home' || threads === 0) return null;
  const root = cache.cacheFolder();
  if (root === null) return null;
  const cwd = process.cwd();
  const key = cache.keyOf([entry, config ?? '', cwd, version(own), process.versions.node]);
  const folder = path.join(root, key);
  if (!cache.isFresh(folder) && !compile(entry, folder, config, own)) return null;
  const manifest: StartManifest = JSON.parse(fs.readFileSync(path.join(folder, 'start.json'), 'utf8'));
  return manifest.movable ? { folder, manifest } : null;
}

/** The file is new with each build, also between releases. */
function version(own: OwnPlaces): string {
  const { mtimeMs, size } = fs.statSync(own.compiler);
  return `${mtimeMs} ${size}`;
}

/** In a process of its own, which is waited for: what the compiler needs of memory is gone when the app starts. */
function compile(entry: string, folder: string, config: string | null, own: OwnPlaces): boolean {
  const words = [own.compiler, entry, folder, ...(config === null ? [] : [config])];
  const done = childProcess.spawnSync(process.execPath, words, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: plainEnv(),
  });
  if (done.status === 2) {
    fs.writeSync(2, done.stderr);
    process.exit(2);
  }
  return done.status === 0;
}

/** The compiler is not the app: what is preloaded or inspected there is not meant for it. */
function plainEnv(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...env } = process.env;
  return env;
}

function readEmitted({ folder, manifest }: Prepared): ReadonlyMap<string, Emitted> {
  const emitted = new Map<string, Emitted>();
  for (const { source, file, kind } of manifest.modules) {
    if (file === null) continue;
    emitted.set(source, { original: source, kind, text: home.withMap(path.join(folder, file), source) });
  }
  return emitted;
}

// --- once it serves -----------------------------------------------------------------------------------------------

function spread(prepared: Prepared | null, runOptions: RunOptions): void {
  const watcher: typeof import('./watch-servers.cjs') = require('./watch-servers.cjs');
  const loop = homeLoop.makeLoop();
  homeLoop.setLoop(loop);
  const recording: typeof import('./firewall/recorder.cjs') = require('./firewall/recorder.cjs');
  const recorder = prepared === null ? null : recording.record();
  const env = { ...process.env };
  watcher.watchServers((server) => {
    const early: object[] = [];
    const note = (req: object): void => void early.push(req);
    if (runOptions.report !== null) server.prependListener('request', note);
    void import('./engine.js').then(({ serve }) => {
      server.off('request', note);
      serve(server, { prepared, options: runOptions, loop, recorder, env }, early);
    });
  });
}

function ownFiles(own: OwnPlaces): readonly string[] {
  const isOurs = (file: string): boolean => file.startsWith(`${__dirname}${path.sep}`);
  return [fs.realpathSync(own.starter), ...Object.keys(require.cache).filter(isOurs)];
}

export = { run };
