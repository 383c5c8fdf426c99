/**
 * Reads:   what home's process looks like.
 * Gives:   a `process` and a `worker_threads` that say the same in this thread. What a program does to its process is
 *          done to nothing at start-up; later it is home's to do.
 */
import cluster = require('node:cluster');
import fs = require('node:fs');
import path = require('node:path');
import workerThreads = require('node:worker_threads');
import patching = require('./patches.cjs');
import walls = require('./wall.cjs');

import type { FirewallOptions, ProcessFacts } from './startup-record.cjs';

type Fn = (this: unknown, ...args: unknown[]) => unknown;
type Wall = InstanceType<typeof walls.Wall>;
type Patches = InstanceType<typeof patching.Patches>;
type AtStartup = (args: unknown[], trap: Fn, real: () => unknown) => unknown;

const { apply } = Reflect;

/** What old packages read by `process.binding` without touching anything. */
const HARMLESS_BINDINGS: ReadonlySet<unknown> = new Set([
  'natives',
  'constants',
  'config',
  'util',
  'uv',
  'buffer',
  'http_parser',
  'v8',
]);

function disguise(
  wall: Wall,
  temporary: Patches,
  lasting: Patches,
  facts: ProcessFacts,
  options: FirewallOptions,
): void {
  lookLikeHome(lasting, facts);
  if (options.ownEnv === true) beginWithEnv(facts.env);
  stopProcess(wall, lasting, facts);
  stopFolders(wall, temporary, lasting, facts);
  stopBindings(wall, temporary);
  stopLastWords();
  const storage = Object.getOwnPropertyDescriptor(globalThis, 'localStorage');
  if (storage !== undefined)
    temporary.put(globalThis, 'localStorage', { get: () => wall.giveUp('localStorage is a file') });
}

function lookLikeHome(patches: Patches, facts: ProcessFacts): void {
  const ofProcess = {
    argv: [...facts.argv],
    argv0: facts.argv0,
    execArgv: [...facts.execArgv],
    execPath: facts.execPath,
    title: facts.title,
  };
  for (const [key, value] of Object.entries(ofProcess)) patches.put(process, key, { value });
  const ofThread = { isMainThread: true, parentPort: null, workerData: null, threadId: 0, resourceLimits: {} };
  for (const [key, value] of Object.entries(ofThread)) patches.put(workerThreads, key, { value });
  const { isClusterWorker } = facts;
  const ofCluster = { isWorker: isClusterWorker, isPrimary: !isClusterWorker, isMaster: !isClusterWorker };
  for (const [key, value] of Object.entries(ofCluster)) patches.put(cluster, key, { value });
}

function beginWithEnv(env: { readonly [name: string]: string }): void {
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(env, name)) Reflect.deleteProperty(process.env, name);
  for (const [name, value] of Object.entries(env)) if (process.env[name] !== value) process.env[name] = value;
}

function stopProcess(wall: Wall, patches: Patches, facts: ProcessFacts): void {
  const end =
    (what: string): AtStartup =>
    (args, trap, real) => {
      const { at } = wall.site(trap);
      // Node ends a thread this way too, after an error that nobody caught.
      if (at === null) return wall.outside(real);
      return wall.giveUp(`process.${what}(${args.map(String).join(', ')}) at ${at}: home's start-up did not end there`);
    };
  const nothing: AtStartup = () => undefined;
  const homes: { readonly [name: string]: AtStartup } = {
    exit: end('exit'),
    reallyExit: end('reallyExit'),
    abort: end('abort'),
    execve: end('execve'),
    kill: () => true,
    _kill: () => 0,
    initgroups: nothing,
    setgroups: nothing,
    setegid: nothing,
    seteuid: nothing,
    setgid: nothing,
    setuid: nothing,
    send: () => true,
    disconnect: nothing,
  };
  if (facts.hasChannel) {
    const channel = { ref: () => {}, unref: () => {} };
    const members = { send: () => true, disconnect: () => {}, connected: true, channel };
    for (const [key, value] of Object.entries(members)) patches.put(process, key, { value });
  }
  for (const [name, atStartup] of Object.entries(homes)) {
    patches.wrap(process, name, () => ({
      apply: function trap(target, self, args) {
        if (wall.passing > 0) return apply(target, self, args);
        if (wall.up) return atStartup(args, trap as Fn, () => apply(target, self, args));
        if (wall.hooks === null) return undefined;
        if (name !== 'exit' && name !== 'reallyExit') return wall.hooks.process(name, args);
        // For good: what the runtime does to end this thread is real.
        wall.passing += 1;
        apply(wall.hooks.exit, wall.hooks, [args[0]]);
        return apply(target, self, args);
      },
    }));
  }
}

/** The working directory belongs to the whole process, and home may be elsewhere by now. */
function stopFolders(wall: Wall, temporary: Patches, lasting: Patches, facts: ProcessFacts): void {
  let { cwd, umask } = facts;
  temporary.wrap(process, 'cwd', () => ({
    apply: (target, self, args) => (wall.up ? cwd : apply(target, self, args)),
  }));
  lasting.wrap(process, 'chdir', () => ({
    apply(_target, _self, args) {
      if (!wall.up) return wall.hooks?.process('chdir', args);
      const wanted = path.resolve(cwd, String(args[0]));
      if (!isFolder(wall, wanted))
        return wall.giveUp(`process.chdir: ${wanted} is no folder here, or was none at home either`);
      cwd = wanted;
      return undefined;
    },
  }));
  lasting.wrap(process, 'umask', () => ({
    apply(target, self, args) {
      const wanted = args[0];
      if (!wall.up) return wanted === undefined ? apply(target, self, args) : wall.hooks?.process('umask', args);
      const before = umask;
      if (wanted !== undefined) umask = typeof wanted === 'string' ? Number.parseInt(wanted, 8) : Number(wanted);
      return before;
    },
  }));
}

function isFolder(wall: Wall, name: string): boolean {
  return wall.outside(() => fs.statSync(name, { throwIfNoEntry: false })?.isDirectory() === true);
}

function stopBindings(wall: Wall, patches: Patches): void {
  patches.wrap(process, 'binding', () => ({
    apply: function trap(target, self, args) {
      if (wall.stops && !HARMLESS_BINDINGS.has(args[0])) {
        const { at } = wall.site(trap);
        wall.giveUp(`process.binding(${String(args[0])}) at ${at ?? 'an unknown place'} goes past all that is watched`);
      }
      return apply(target, self, args);
    },
  }));
}

/** The app's listeners for the end of the process run once, at home. */
function stopLastWords(): void {
  const emit = process.emit as Fn;
  const replaced = function emitted(this: unknown, ...args: unknown[]): unknown {
    if (args[0] === 'exit' || args[0] === 'beforeExit') return false;
    return apply(emit, this, args);
  };
  Object.defineProperty(replaced, 'name', { value: 'emit' });
  Object.defineProperty(process, 'emit', { value: replaced, configurable: true, writable: true });
}

export = { disguise };
