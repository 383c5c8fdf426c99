/**
 * `fluxion run`, and `node --import fluxion/register`: reads what the user wants, sees to it that the app is compiled, and
 * starts it in this process as Node would, or lets Node start it. Until the app serves, nothing more is loaded than what
 * stands here.
 *
 *     words ─> compiled program ─> registry, texts with cuts, recorder ─> the app ─> it listens ─> engine.ts
 */
import fs = require('node:fs');
import os = require('node:os');
import path = require('node:path');
import process = require('node:process');
import timers = require('node:timers');

import type { Problem, RunOptions } from './types.js' with { 'resolution-mode': 'import' };

import codeCache = require('./code-cache.cjs');
import compiled = require('./compiled.cjs');
import home = require('./home.cjs');
import homeLoop = require('./home-loop.cjs');
import nodeVersion = require('./node-version.cjs');
import options = require('./options.cjs');
import preloads = require('./preloads.cjs');

type Prepared = NonNullable<ReturnType<typeof compiled.prepare>>;

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
  const unable = read.options.placement === 'loopback' ? nodeVersion.withoutLoopback() : null;
  if (unable !== null) return unable;
  const { kind, file } = sourceOf(path.resolve(read.entry));
  const isPlain = kind === 'entry' && isHome(read.options);
  const prepared = isPlain ? null : compiled.prepare({ kind, file }, read.options, own.compiler);
  const entry = kind === 'flx' ? entryOf(prepared) : file;
  const emitted = kind === 'flx' ? (prepared?.emitted ?? new Map()) : textsOf(prepared, read.options);
  // Before the recorder looks at it: replicas are to have the same.
  process.argv.splice(1, process.argv.length - 1, entry, ...read.args);
  standBy(emitted);
  spread(prepared, read.options, emitted);
  home.launch({ emitted, ownFiles: ownFiles(own.starter) });
  return null;
}

/** With cuts in them, where something may leave at them; else the app's own run, which tools may look at and change. */
function textsOf(prepared: Prepared | null, given: RunOptions): Prepared['emitted'] {
  return prepared === null || whyAside(prepared, given) !== null ? new Map() : prepared.emitted;
}

/** Texts with cuts in them ask for it, also where nothing will ever leave. */
function standBy(emitted: ReadonlyMap<string, unknown>): void {
  if (emitted.size > 0) homeLoop.setLoop(homeLoop.makeLoop());
}

const ABORTS = /^--abort[-_]on[-_]uncaught[-_]exception$/;

/** Why nothing is to be gained from other threads; null where something may be. */
function whyAside(prepared: Prepared | null, given: RunOptions): string | null {
  if (isHome(given)) return 'it was told to stay there';
  if (prepared === null) return 'the program was not compiled';
  const { movable, failed } = prepared.manifest;
  if (failed !== null) return failed;
  if (!movable) return 'nothing of it may leave; "fluxion explain" says why';
  // It is of the texts that run, and of a thread nobody writes down what it has run.
  if (given.placement === 'auto' && process.env.NODE_V8_COVERAGE !== undefined) return 'coverage is measured';
  // What V8 takes for uncaught is caught further up, behind the recorder of start-up.
  const words = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)];
  if (words.some((word) => ABORTS.test(word))) return 'Node is told to abort where an error is not caught';
  const preload = preloads.foreignPreload();
  if (preload !== null) return `${preload} is loaded before the app`;
  // What a container may have stands in files, so that is looked at later.
  if (os.availableParallelism() > 1) return null;
  const cores: typeof import('./cores.cjs') = require('./cores.cjs');
  return cores.oneCore(given);
}

function isHome({ placement, threads }: RunOptions): boolean {
  return placement === 'home' || placement === 'loopback' || threads === 0;
}

interface Source {
  readonly kind: 'entry' | 'flx';
  readonly file: string;
}

/** What Node is given, a folder that was written by `fluxion compile -o`, or a program in the fluxional language. */
function sourceOf(given: string): Source {
  if (given.endsWith('.flx')) return { kind: 'flx', file: given };
  return { kind: 'entry', file: originalOf(given) ?? given };
}

function originalOf(folder: string): string | null {
  let manifest: Parameters<typeof home.checkOriginals>[0];
  try {
    manifest = JSON.parse(fs.readFileSync(path.join(folder, 'fluxion.json'), 'utf8'));
  } catch {
    return null;
  }
  const source = manifest.home?.[manifest.entry]?.source;
  if (typeof source !== 'string') return null;
  const real = fs.realpathSync(folder);
  home.checkOriginals(manifest, real);
  return path.resolve(real, source);
}

function entryOf(prepared: Prepared | null): string {
  const entry = prepared?.manifest.modules.find(({ id }) => id === prepared.manifest.entry);
  if (entry === undefined) throw new Error('the compiled program has no entry');
  return entry.source;
}

// --- once it serves -----------------------------------------------------------------------------------------------

function spread(given: Prepared | null, runOptions: RunOptions, emitted: Prepared['emitted']): void {
  if (runOptions.record !== null) recordTo(runOptions.record);
  if (runOptions.placement === 'loopback') loopBack(runOptions);
  const aside = whyAside(given, runOptions);
  const writeCode = given === null ? null : codeCache.keepCode(given.folder);
  // Why it was not compiled has been said.
  if (aside !== null && (given !== null || isHome(runOptions)))
    compiled.say('info', `all of it stays on the main thread: ${aside}`, runOptions.logLevel);
  if (aside !== null && runOptions.report === null) {
    if (runOptions.fastPath) bearAsExpressWants(writeCode);
    return;
  }
  const prepared = aside === null ? given : null;
  const engine: typeof import('./load-engine.cjs') = require('./load-engine.cjs');
  const loop = homeLoop.makeLoop();
  homeLoop.setLoop(loop);
  const recording: typeof import('./firewall/recorder.cjs') = require('./firewall/recorder.cjs');
  const beforeBuiltin = (name: `node:${string}`, tell: () => void): boolean => home.beforeBuiltin(emitted, name, tell);
  const recorder = prepared === null ? null : recording.record({ readsModule: home.readsModule, beforeBuiltin });
  const env = { ...process.env };
  const late = runOptions.report === null ? null : reportWithoutServer(runOptions.report, aside);
  // Where the compiler failed there are no modules, and nothing is known.
  const known = given !== null && !given.manifest.movable && given.manifest.modules.length > 0 ? given : null;
  engine.loadWhenOfUse({ prepared, known, aside, options: runOptions, loop, recorder, env, writeCode }, () => {
    late?.();
    // What it has loaded of ours the app need not see.
    home.forgetFiles(ownFiles());
  });
}

/** Start-up is over by then. */
const WRITE_CODE_MS = 100;

/** An app that stays on one thread is the faster for that as well. */
function bearAsExpressWants(writeCode: (() => void) | null): void {
  const watcher: typeof import('./watch-servers.cjs') = require('./watch-servers.cjs');
  const fastPath: typeof import('./fast-path/born-as-express.cjs') = require('./fast-path/born-as-express.cjs');
  watcher.watchServers((server) => {
    fastPath.apply(server);
    fastPath.shortenLater(server);
    if (writeCode !== null) timers.setTimeout(writeCode, WRITE_CODE_MS).unref();
  });
}

function recordTo(file: string): void {
  const recording: typeof import('./record.cjs') = require('./record.cjs');
  try {
    recording.record(file);
  } catch (error) {
    fs.writeSync(2, `requests cannot be recorded: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
}

/** A program that ends before it serves has a report as well. Gives what to call when another takes over. */
function reportWithoutServer(file: string, aside: string | null): () => void {
  const write = (): void => {
    const home = { id: 'home', requests: 0, busy: 0, rssMb: Math.round(process.memoryUsage.rss() / 2 ** 20) };
    const nothing = { fluxions: [], bus: { messages: 0, bytes: 0 }, decisions: [], aside, link: null };
    const report = { version: 1, loops: [home], ...nothing };
    try {
      fs.writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
    } catch (error) {
      fs.writeSync(2, `fluxion error: the report cannot be written to ${file}: ${String(error)}\n`);
    }
  };
  process.on('exit', write);
  return () => void process.off('exit', write);
}

/** The app's first line must find the bridge in place, so it is not imported but required. */
function loopBack({ logLevel }: RunOptions): void {
  const loopback: typeof import('./loopback.js') = require('./loopback.js');
  loopback.startLoopback(logLevel);
}

function ownFiles(...others: readonly string[]): readonly string[] {
  const isOurs = (file: string): boolean => file.startsWith(`${__dirname}${path.sep}`);
  return [...others.map((file) => fs.realpathSync(file)), ...Object.keys(require.cache).filter(isOurs)];
}

// --- Node has been given the entry --------------------------------------------------------------------------------

/** Before Node runs its entry: the same as `run`, but for what Node does itself. Gives what is wrong with the environment. */
function register(own: OwnPlaces): Problem | null {
  const tooOld = nodeVersion.tooOld();
  if (tooOld !== null) return tooOld;
  const read = options.readVariables(process.env);
  if ('kind' in read) return read;
  const unable = read.placement === 'loopback' ? nodeVersion.withoutLoopback() : null;
  if (unable !== null) return unable;
  const file = registeredEntry();
  const prepared = file === null || isHome(read) ? null : compiled.prepare({ kind: 'entry', file }, read, own.compiler);
  const emitted = textsOf(prepared, read);
  standBy(emitted);
  if (emitted.size > 0) home.replaceTexts(emitted);
  if (file !== null) spread(prepared, read, emitted);
  // Tests are started by a program that is no app, and have their apps in them.
  else if (read.placement === 'loopback') loopBack(read);
  home.forgetFiles(ownFiles(own.starter));
  return null;
}

/** What Node does with these is no app, or not its own work. */
const NO_APP =
  /^(-[ceip]+|--(check|eval|print|interactive|test|watch|watch-path|run|build-snapshot|prof-process)(=.*)?)$/;

/** Null where there is no app to compile: no file, a tool from node_modules, a process that its parent spreads itself. */
function registeredEntry(): string | null {
  const given = process.argv[1];
  if (given === undefined || process.execArgv.some((word) => NO_APP.test(word))) return null;
  if (process.env.NODE_UNIQUE_ID !== undefined) return null;
  const file = home.findMain(path.resolve(given));
  if (file === null || file.split(path.sep).includes('node_modules')) return null;
  return file;
}

export = { run, register };
