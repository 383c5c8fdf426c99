/**
 * Reads:   processes, threads, watchers and file handles that start-up wants.
 * Gives:   objects that look like them and never say a thing.
 */
import childProcess = require('node:child_process');
import events = require('node:events');
import fs = require('node:fs');
import fsPromises = require('node:fs/promises');
import stream = require('node:stream');
import workerThreads = require('node:worker_threads');
import callSites = require('./call-site.cjs');
import inertTimers = require('./inert-timers.cjs');
import patching = require('./patches.cjs');
import walls = require('./wall.cjs');

type Wall = InstanceType<typeof walls.Wall>;
type Patches = InstanceType<typeof patching.Patches>;

const { apply } = Reflect;

/** `temporary` patches are restored when the firewall is lifted, `lasting` ones stay. */
function stopChildren(wall: Wall, temporary: Patches, lasting: Patches): void {
  stopSubprocesses(wall, lasting);
  stopThreads(wall, lasting);
  stopBroadcasts(wall, lasting);
  stopWatchers(wall, temporary);
  stopFileStreams(wall, lasting);
  stopFileHandles(wall, lasting);
}

/** `spawn`, `exec`, `execFile` and `fork` all end here. */
function stopSubprocesses(wall: Wall, patches: Patches): void {
  patches.wrap(childProcess.ChildProcess.prototype, 'spawn', () => ({
    apply: function trap(target, self, args) {
      if (!wall.stops || !(self instanceof childProcess.ChildProcess)) {
        if (wall.isArmed) wall.effect('subprocess', 'child_process');
        return callSites.callHidden(target, self, args);
      }
      wall.note('child_process', wall.site(trap));
      const [options] = args;
      makeInertChild(self, typeof options === 'object' && options !== null ? options : {});
      return 0;
    },
  }));
}

function makeInertChild(child: object, options: object): void {
  const wanted: unknown = Reflect.get(options, 'stdio');
  const kinds = Array.isArray(wanted) ? wanted : [wanted, wanted, wanted];
  const piped = (index: number): boolean =>
    kinds[index] === undefined || kinds[index] === 'pipe' || kinds[index] === 'overlapped';
  const streams = [piped(0) ? deafStream() : null, piped(1) ? silentStream() : null, piped(2) ? silentStream() : null];
  const [stdin, stdout, stderr] = streams;
  const members = {
    // No process has this one, should somebody send it a signal.
    pid: 0x7fffffff,
    spawnfile: Reflect.get(options, 'file'),
    spawnargs: Reflect.get(options, 'args') ?? [],
    stdin,
    stdout,
    stderr,
    stdio: streams,
    kill: () => true,
    ref: () => {},
    unref: () => {},
    ...(kinds.includes('ipc') ? { send: () => true, disconnect: () => {}, connected: true } : {}),
  };
  for (const [key, value] of Object.entries(members)) {
    Object.defineProperty(child, key, {
      value,
      writable: true,
      configurable: true,
      enumerable: typeof value !== 'function',
    });
  }
}

function silentStream(): stream.Readable {
  return new stream.Readable({ read: () => {} });
}

/** What is written waits for ever. */
function deafStream(): stream.Writable {
  return new stream.Writable({ write: () => {} });
}

function stopThreads(wall: Wall, patches: Patches): void {
  patches.wrap(workerThreads, 'Worker', () => ({
    construct: function trap(target, args, newTarget) {
      if (!wall.stops) {
        if (wall.isArmed) wall.effect('thread', 'worker_threads.Worker');
        return Reflect.construct(target, args, newTarget);
      }
      wall.note('worker_threads.Worker', wall.site(trap));
      return inertThread(newTarget.prototype);
    },
  }));
}

function inertThread(prototype: object): object {
  const thread = new events.EventEmitter();
  Object.setPrototypeOf(thread, prototype);
  const members = {
    threadId: 1,
    stdin: null,
    stdout: silentStream(),
    stderr: silentStream(),
    resourceLimits: {},
    postMessage: () => {},
    terminate: inertTimers.neverSettles,
    getHeapSnapshot: inertTimers.neverSettles,
    ref: () => {},
    unref: () => {},
  };
  for (const [key, value] of Object.entries(members))
    Object.defineProperty(thread, key, { value, configurable: true, writable: true });
  return thread;
}

/** Other threads of this process would hear it: such a channel gets a name of its own. */
function stopBroadcasts(wall: Wall, patches: Patches): void {
  const stop = (): ProxyHandler<(this: unknown, ...args: unknown[]) => unknown> => ({
    construct: function trap(target, args, newTarget) {
      if (!wall.stops || args.length === 0) {
        if (wall.isArmed) wall.effect('thread', 'BroadcastChannel');
        return Reflect.construct(target, args, newTarget);
      }
      const name = String(args[0]);
      wall.note('BroadcastChannel', wall.site(trap));
      const channel = Reflect.construct(
        target,
        [`fluxion.inert.${workerThreads.threadId}.${wall.blocked.length}.${name}`],
        newTarget,
      );
      Object.defineProperty(channel, 'name', { value: name });
      if ('unref' in channel && patching.isFunction(channel.unref)) apply(channel.unref, channel, []);
      return channel;
    },
  });
  patches.wrap(workerThreads, 'BroadcastChannel', stop);
  patches.wrap(globalThis, 'BroadcastChannel', stop);
}

function stopWatchers(wall: Wall, patches: Patches): void {
  const watcher = (): events.EventEmitter => {
    const nothing = (): void => {};
    const made = new events.EventEmitter();
    return Object.assign(made, { close: nothing, start: nothing, stop: nothing, ref: () => made, unref: () => made });
  };
  inertTimers.replaceUntilLift(wall, patches, fs, 'watch', 'fs.watch', watcher);
  inertTimers.replaceUntilLift(wall, patches, fs, 'watchFile', 'fs.watchFile', watcher);
  inertTimers.replaceUntilLift(wall, patches, fsPromises, 'watch', 'fs/promises.watch', inertTimers.neverIterates);
}

/** The streams are genuine: what they need, `fs.open`, never comes. */
function stopFileStreams(wall: Wall, patches: Patches): void {
  for (const name of ['createReadStream', 'createWriteStream']) {
    patches.wrap(fs, name, () => ({
      apply: function trap(target, self, args) {
        if (wall.stops) wall.note(`fs.${name}`, wall.site(trap));
        else if (wall.isArmed && name === 'createWriteStream') wall.effect('files', 'fs.createWriteStream');
        return apply(target, self, args);
      },
    }));
  }
}

/** A handle to read from has no outside effect; others never open. */
function stopFileHandles(wall: Wall, patches: Patches): void {
  let known = false;
  patches.wrap(fsPromises, 'open', () => ({
    apply: function trap(target, self, args) {
      const flags = args[1] ?? 'r';
      const reads = flags === 'r' || flags === 'rs' || flags === fs.constants.O_RDONLY;
      if (wall.stops) {
        const site = wall.site(trap);
        if (!reads) {
          wall.note('fs/promises.open', site);
          return inertTimers.neverSettles();
        }
        if (!site.byLoader) wall.miss('fs/promises.open', site, 'real');
        return wall.outside(() => apply(target, self, args));
      }
      if (wall.isArmed && !reads) wall.effect('files', 'fs/promises.open');
      const opened = apply(target, self, args);
      if (known || !(opened instanceof Promise)) return opened;
      return opened.then((handle: object) => {
        if (!known) watchHandles(wall, patches, Object.getPrototypeOf(handle));
        known = true;
        return handle;
      });
    },
  }));
}

function watchHandles(wall: Wall, patches: Patches, prototype: object): void {
  for (const name of [
    'appendFile',
    'chmod',
    'chown',
    'truncate',
    'utimes',
    'write',
    'writeFile',
    'writev',
    'createWriteStream',
  ]) {
    patches.wrap(prototype, name, () => ({
      apply(target, self, args) {
        if (wall.isArmed) wall.effect('files', `FileHandle.${name}`);
        return apply(target, self, args);
      },
    }));
  }
}

export = { stopChildren };
