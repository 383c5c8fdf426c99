/**
 * Reads: the servers of the app, from the moment that they listen, and what the main loop has to do.
 * Gives: the engine, loaded when it is of use: an app that has little to do is as if node ran it.
 *
 *     a server listens ──> has the loop work? (first-work.cts) ──> engine, in slices ──> it serves all that listen
 *            └── somebody wants to see what it does: at once ──────────┘
 */
import timers = require('node:timers');

import type http from 'node:http' with { 'resolution-mode': 'import' };
import type { EngineContext } from './engine.js' with { 'resolution-mode': 'import' };
import type { RunOptions } from './types.js' with { 'resolution-mode': 'import' };

import cache = require('./cache.cjs');
import compiled = require('./compiled.cjs');
import fastPath = require('./fast-path/born-as-express.cjs');
import firstWork = require('./first-work.cjs');
import watcher = require('./watch-servers.cjs');

const { setTimeout } = timers;

type Engine = typeof import('./engine.js');

/** What an app does right after it has begun to listen is start-up, too. */
const START_UP_ENDS_MS = 100;

interface Listening {
  readonly server: http.Server;
  /** Requests that it has taken before the engine was there. */
  readonly early: object[];
  readonly note: (req: object) => void;
}

/** `loaded` is called when the engine is there, before it does anything. */
function loadWhenOfUse(context: EngineContext, loaded: () => void): void {
  const { options, recorder, prepared, loop } = context;
  const listening: Listening[] = [];
  let serve: ((listening: Listening) => void) | null = null;
  let isFirst = true;
  watcher.watchServers((server) => {
    const early: object[] = [];
    const each: Listening = { server, early, note: (req) => void early.push(req) };
    fastPath.isHarmless(each.note);
    if (options.fastPath) {
      fastPath.apply(server);
      fastPath.shortenLater(server);
    }
    if (options.report !== null) server.prependListener('request', each.note);
    if (serve !== null) return serve(each);
    listening.push(each);
    if (!isFirst) return;
    isFirst = false;
    if (isUrgent(options)) void load(importEngine);
    else loop.noticed(firstWork.awaitWork(() => void load(importInSlices)));
    setTimeout(() => {
      recorder?.stop();
      context.writeCode?.();
      if (prepared !== null) cache.markUsed(prepared.folder);
    }, START_UP_ENDS_MS).unref();
  });

  /** The app runs on as it is. */
  function stayAside(error: unknown): null {
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
    compiled.say(
      'error',
      `all of it stays on the main thread, as Fluxion's engine cannot be loaded: ${why}`,
      options.logLevel,
    );
    for (const { server, note } of listening.splice(0)) server.off('request', note);
    serve = ({ server, note }) => void server.off('request', note);
    return null;
  }

  async function load(importing: () => Promise<Engine>): Promise<void> {
    // Not before: that takes a look at files.
    const cores: typeof import('./cores.cjs') = require('./cores.cjs');
    const limited = prepared === null ? null : cores.oneCore(options);
    if (limited !== null) compiled.say('info', `all of it stays on the main thread: ${limited}`, options.logLevel);
    if (limited !== null && options.report === null) return;
    const engine = await importing().catch(stayAside);
    if (engine === null) return;
    loaded();
    const given = limited === null ? context : { ...context, prepared: null, aside: limited };
    serve = ({ server, early, note }) => {
      server.off('request', note);
      engine.serve(server, given, early);
    };
    for (const each of listening.splice(0)) if (each.server.listening || isUrgent(options)) serve(each);
  }
}

/** Somebody looks at what it does, or says how it is to be done. */
function isUrgent({ report, placement, accept, sanitize, logLevel }: RunOptions): boolean {
  const isTold = logLevel === 'info' || logLevel === 'debug';
  return report !== null || placement === 'eager' || accept === 'every' || sanitize || isTold;
}

/** Requests are answered in between: all at once takes some tens of milliseconds. */
async function importInSlices(): Promise<Engine> {
  for (const slice of ['codec', 'compare', 'bridge', 'dispatch', 'plan']) {
    await importBundled(slice);
    // Nothing that keeps the process, or that the app sees among what it has under way.
    await new Promise((resolve) => void setTimeout(resolve, 0).unref());
  }
  return importEngine();
}

async function importEngine(): Promise<Engine> {
  return (await importBundled('engine')) as Engine;
}

/** As build.ts names it. */
function importBundled(name: string): Promise<unknown> {
  return import(`./bundle/${name}.js`);
}

export = { loadWhenOfUse };
