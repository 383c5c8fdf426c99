/**
 * Reads:   what the app does from its first line on, at home.
 * Gives:   a record of the results that its start-up goes on with, for replicas (`raise.cts`).
 *
 * It is loaded before the app. The app does not see it: results, names and stack traces are the originals'. A result is
 * kept under its callee and place of call, so that calls which home makes in between, asynchronously, shift nothing.
 */
import events = require('node:events');
import fs = require('node:fs');
import net = require('node:net');
import process = require('node:process');
import callSites = require('./call-site.cjs');
import clockDate = require('./clock-date.cjs');
import contextsOf = require('./contexts.cjs');
import codec = require('./outcome-codec.cjs');
import patching = require('./patches.cjs');
import processFacts = require('./process-facts.cjs');
import table = require('./table.cjs');

import unseenCall = require('./unseen-call.cjs');

import type { Encoded, Outcome, Recorder, StartupRecord, Written } from './startup-record.cjs';

type Fn = (this: unknown, ...args: unknown[]) => unknown;

const RECORDED: readonly string[] = ['clock', 'random', 'read', 'effect', 'run', 'promise', 'promise-effect'];
/** Modules of the table with anything to record that start-up may go on with. Loading others would only cost. */
const LEFT_OUT: readonly string[] = ['v8', 'inspector', 'timers', 'perf_hooks'];
const MODULES = Object.keys(table.TABLE).filter(
  (module) => !LEFT_OUT.includes(module) && RECORDED.some((kind) => kind in (table.TABLE[module] ?? {})),
);
const MAX_BYTES = 64 * 1024 * 1024;
/** Loading these takes longer than wrapping all the others, and most programs never ask for them: by name, or as a property. */
const LATE = [
  { module: 'fs/promises', builtin: 'fs/promises', holder: fs, key: 'promises' },
  { module: 'performance', builtin: 'perf_hooks', holder: globalThis, key: 'performance' },
] as const;
/** Reading the stack takes some microseconds: a program that waits in a loop for the clock must not wait for us. */
const MAX_CALLS = 100_000;
/** Of chance and clock: what comes after that is real in replicas too. */
const MAX_QUICK_CALLS = 5_000;

/** What Node's loader calls for each module. */
const LOADERS: ReadonlySet<string> = new Set(['fs.readFileSync', 'fs.realpathSync', 'fs.statSync']);

const { readKey, isByLoader } = callSites;
const { errorMonitor } = events;
const { nextTick } = process;

interface RecordOptions {
  readonly bytes?: number;
  readonly calls?: number;
  readonly quickCalls?: number;
  /** Node's loader is known to read a module now; where it is not known the stack tells, which takes longer. */
  readonly readsModule?: () => boolean;
  /** Has itself told before the app gets a module of Node's; false where that cannot be known. */
  readonly beforeBuiltin?: (name: `node:${string}`, tell: () => void) => boolean;
}

function record(options: RecordOptions = {}): Recorder {
  const maxBytes = options.bytes ?? MAX_BYTES;
  const maxCalls = options.calls ?? MAX_CALLS;
  const maxQuickCalls = options.quickCalls ?? MAX_QUICK_CALLS;
  const readsModule = options.readsModule ?? (() => false);
  const facts = processFacts.read();
  const patches = new patching.Patches();
  const unseen = new unseenCall.UnseenCalls();
  const calls = new Map<string, Outcome[]>();
  const listening: { readonly key: string; readonly server: WeakRef<net.Server> }[] = [];
  const clock: { time: (() => number) | null } = { time: null };
  const quickCalls = new Map<string, number>();
  let bytes = 0;
  let count = 0;
  let pending = 0;
  const whenSettled: (() => void)[] = [];
  let tooLarge: string | null = null;
  let stopped = false;
  /** We are being called by ourselves: what we do is no call of the app's. */
  let inside = false;

  const { now } = clockDate.replaceDate(clock);
  clock.time = () => recordedTime(now);
  const late = recordLate();
  for (const module of MODULES) if (!late.has(module)) recordModule(module);
  recordListens();
  const contexts = new contextsOf.Contexts();
  contexts.watch(patches);
  patches.publish();

  return {
    stop,
    contexts: contexts.made,
    take: (): StartupRecord => ({
      facts: { ...facts, timeOrigin: timeOrigin() },
      calls: copyOf(calls),
      exhausted: exhausted(),
      listens: readListens(),
      tooLarge,
    }),
    settled: () => (pending === 0 ? Promise.resolve() : new Promise((resolve) => whenSettled.push(resolve))),
  };

  function exhausted(): string[] {
    return [...quickCalls].filter(([, asked]) => asked >= maxQuickCalls).map(([callee]) => callee);
  }

  function stop(): void {
    if (stopped) return;
    stopped = true;
    clock.time = null;
    patches.restore();
    unseen.close();
  }

  function recordModule(module: string): void {
    const kinds = table.kindsOf(module);
    for (const holder of patching.holdersOf(module)) {
      for (const [member, kind] of kinds) {
        if (!RECORDED.includes(kind)) continue;
        const place = patching.placeOf(holder, member);
        if (place === null) continue;
        const callee = `${module}.${member}`;
        patches.wrap(place.holder, place.key, () => handlerFor(callee, kind));
      }
    }
  }

  /** When the app asks for them: by name, as a property, or where Node hands out all of its modules. Gives those of which that is known. */
  function recordLate(): ReadonlySet<string> {
    const begins = new Map<unknown, () => void>();
    const late = LATE.filter(({ module, builtin, holder, key }) => {
      const begin = once(() => {
        if (stopped) return;
        recordModule(module);
        patches.publish();
      });
      if (options.beforeBuiltin?.(`node:${builtin}`, begin) !== true) return false;
      patches.beforeRead(holder, key, begin);
      begins.set(builtin, begin).set(`node:${builtin}`, begin);
      return true;
    });
    if (late.length > 0)
      patches.wrap(process, 'getBuiltinModule', () => ({
        apply: (target, self, args): unknown => {
          begins.get(args[0])?.();
          return callSites.callHidden(target, self, args);
        },
      }));
    return new Set(late.map(({ module }) => module));
  }

  function handlerFor(callee: string, kind: string): ProxyHandler<Fn> {
    const isPromise = kind === 'promise' || kind === 'promise-effect';
    const isQuick = kind === 'clock' || kind === 'random';
    const handler: ProxyHandler<Fn> = { apply: isPromise ? recordPromise(callee) : recordCall(callee, isQuick, quick) };
    return handler;

    function quick(): void {
      if (isQuick && isExhausted(callee)) Reflect.deleteProperty(handler, 'apply');
    }
  }

  /** True once a program has asked so often for chance or time that recording it would hold it up. */
  function isExhausted(callee: string): boolean {
    const asked = (quickCalls.get(callee) ?? 0) + 1;
    quickCalls.set(callee, asked);
    return asked >= maxQuickCalls;
  }

  function recordCall(
    callee: string,
    isQuick: boolean,
    recorded: () => void,
  ): (target: Fn, self: unknown, args: unknown[]) => unknown {
    const isLoaders = LOADERS.has(callee);
    return function trap(target, self, args): unknown {
      // With a callback it is no call whose result start-up goes on with.
      if (stopped || inside) return Reflect.apply(target, self, args);
      if (typeof args[args.length - 1] === 'function') return callHidden(target, self, args);
      if (isLoaders && (hasLoadersKey(args[1]) || readsModule() || site(trap, isByLoader)))
        return callInside(target, self, args);
      const key = site(trap);
      if (key === '') return callHidden(target, self, args);
      let result: unknown;
      try {
        // Clocks do not fail, and are asked often.
        result = isQuick ? callSites.callHidden(target, self, args) : callHidden(target, self, args);
      } catch (error) {
        keepError(`${callee}|${key}`, error);
        throw error;
      }
      keep(`${callee}|${key}`, () => ({ kind: 'gave', value: encodeResult(result, args), ...written(callee, args) }));
      recorded();
      return result;
    };
  }

  function recordPromise(callee: string): (target: Fn, self: unknown, args: unknown[]) => unknown {
    return function trap(target, self, args): unknown {
      if (stopped || inside) return Reflect.apply(target, self, args);
      const result = callHidden(target, self, args);
      if (!(result instanceof Promise)) return result;
      const key = site(trap);
      if (key === '') return result;
      const list = listOf(`${callee}|${key}`);
      const index = list.length;
      list.push({ kind: 'pending' });
      pending += 1;
      const settle = (outcome: () => Outcome): void => {
        list[index] = outcomeOf(outcome);
        pending -= 1;
        if (pending === 0) for (const resolve of whenSettled.splice(0)) resolve();
      };
      // The app gets the promise behind ours: whoever listens to a promise would make it a handled one.
      return result.then(
        (value) => {
          settle(() => ({ kind: 'gave', value: encodeResult(value, args) }));
          return value;
        },
        (error) => {
          settle(() => ({ kind: 'threw', error: codec.encode(error, charge, 'no stack') }));
          throw error;
        },
      );
    };
  }

  function site(trap: Fn | ((...args: never[]) => unknown)): string;
  function site<T>(trap: Fn | ((...args: never[]) => unknown), read: (above: Fn) => T): T;
  function site(trap: Fn | ((...args: never[]) => unknown), read: (above: Fn) => unknown = readKey): unknown {
    inside = true;
    try {
      return read(trap as Fn);
    } finally {
      inside = false;
    }
  }

  function callInside(target: Fn, self: unknown, args: unknown[]): unknown {
    inside = true;
    try {
      return Reflect.apply(target, self, args);
    } finally {
      inside = false;
    }
  }

  /** Node's functions use each other: what happens in here does not happen where the call is answered from the record. */
  function callHidden(target: Fn, self: unknown, args: unknown[]): unknown {
    const before = inside;
    inside = true;
    try {
      return unseen.call(target, self, args);
    } finally {
      inside = before;
    }
  }

  function recordedTime(now: () => number): number {
    const time = now();
    const key = site(clock.time as Fn);
    if (key !== '') keep(`Date|${key}`, () => ({ kind: 'gave', value: time }));
    if (isExhausted('Date')) clock.time = null;
    return time;
  }

  function keepError(key: string, error: unknown): void {
    keep(key, () => ({ kind: 'threw', error: codec.encode(error, charge) }));
  }

  function keep(key: string, outcome: () => Outcome): void {
    if (tooLarge !== null) return;
    listOf(key).push(outcomeOf(outcome));
  }

  function outcomeOf(outcome: () => Outcome): Outcome {
    inside = true;
    try {
      return outcome();
    } catch (error) {
      if (error instanceof codec.NotData) return { kind: 'live' };
      throw error;
    } finally {
      inside = false;
    }
  }

  function listOf(key: string): Outcome[] {
    let list = calls.get(key);
    if (list === undefined) calls.set(key, (list = []));
    count += 1;
    if (count > maxCalls) giveUp(`start-up made more than ${maxCalls} calls whose results would have to be recorded`);
    return list;
  }

  function charge(more: number): void {
    bytes += more;
    if (bytes > maxBytes) giveUp(`start-up read more than ${maxBytes} bytes`);
  }

  function giveUp(reason: string): void {
    if (tooLarge !== null) return;
    tooLarge = reason;
    calls.clear();
    stop();
  }

  function encodeResult(result: unknown, args: readonly unknown[]): Encoded {
    const index = typeof result === 'object' && result !== null ? args.indexOf(result) : -1;
    return index === -1 ? codec.encode(result, charge) : { is: 'argument', index };
  }

  function written(callee: string, args: readonly unknown[]): { written?: Written } {
    const index = table.FILLS[callee];
    if (index === undefined) return {};
    const filled = args[index];
    const views = (Array.isArray(filled) ? filled : [filled]).filter((view) => ArrayBuffer.isView(view));
    const copies = views.map(({ buffer, byteOffset, byteLength }) => {
      charge(byteLength);
      return Uint8Array.from(new Uint8Array(buffer, byteOffset, byteLength));
    });
    return { written: { index, bytes: copies } };
  }

  /** A server that listens on port 0 has its port only later. */
  function recordListens(): void {
    patches.wrap(net.Server.prototype, 'listen', () => ({
      apply: function trap(target, self, args): unknown {
        const result = callSites.callHidden(target, self, args);
        if (self instanceof net.Server) {
          listening.push({ key: site(trap), server: new WeakRef(self) });
          if (!self.listening) hideInNextError(self);
        }
        return result;
      },
    }));
  }

  /** Why a server cannot listen is an error that was made within the call, and that it emits when the call has ended. */
  function hideInNextError(server: events.EventEmitter): void {
    if (server.listenerCount('newListener') > 0) return;
    server.once(errorMonitor, callSites.hideOwnFrames);
    nextTick(() => server.off(errorMonitor, callSites.hideOwnFrames));
  }

  function readListens(): Map<string, Encoded[]> {
    const listens = new Map<string, Encoded[]>();
    for (const { key, server } of listening) {
      const at = server.deref()?.address() ?? null;
      const list = listens.get(key) ?? [];
      list.push(codec.encode(at, () => {}));
      listens.set(key, list);
    }
    return listens;
  }
}

/** Its cache of real paths goes by a symbol that nobody else has: that spares a look at the stack for each module. */
function hasLoadersKey(option: unknown): boolean {
  return typeof option === 'object' && option !== null && Object.getOwnPropertySymbols(option).length > 0;
}

/** As Node has it, whatever the app calls `performance`. */
function timeOrigin(): number {
  const hooks: typeof import('node:perf_hooks') = require('node:perf_hooks');
  return hooks.performance.timeOrigin;
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}

function copyOf(calls: ReadonlyMap<string, Outcome[]>): Map<string, Outcome[]> {
  const copy = new Map<string, Outcome[]>();
  for (const [key, list] of calls) copy.set(key, [...list]);
  return copy;
}

export = { record };
