/**
 * Reads:   the kind of a function, from the table.
 * Gives:   what the firewall does when it is called, for all kinds but `special`.
 */
import fs = require('node:fs');
import process = require('node:process');
import timers = require('node:timers');
import callSites = require('./call-site.cjs');
import patching = require('./patches.cjs');
import table = require('./table.cjs');
import walls = require('./wall.cjs');

import type { EffectKind } from './startup-record.cjs';

type Fn = (this: unknown, ...args: unknown[]) => unknown;
type Wall = InstanceType<typeof walls.Wall>;
type Trap = (target: Fn, self: unknown, args: unknown[]) => unknown;
type Handler = ProxyHandler<Fn>;

const { apply } = Reflect;
const { setImmediate } = timers;
const { nextTick } = process;
const { callHidden } = callSites;

/** Kinds that are of no interest any more once the firewall is lifted. */
const TEMPORARY: ReadonlySet<string> = new Set(['clock', 'random', 'read', 'unlike', 'later', 'compute', 'promise']);

/** `undefined`: the function stays as it is. */
function handlerFor(wall: Wall, module: string, member: string): Handler | undefined {
  const callee = `${module}.${member}`;
  const kind = table.kindOf(module, member);
  const effect = effectKindOf(module);
  switch (kind) {
    case 'pure':
    case 'special':
      return undefined;
    case 'clock':
    case 'random':
    case 'read':
      return replayHandler(wall, callee);
    case 'unlike':
      return { apply: unlike(wall, callee) };
    case 'later':
      return { apply: module === 'LockManager' ? neverSettles(wall, callee) : never(wall, callee, kind) };
    case 'compute':
      return { apply: compute(wall) };
    case 'promise':
      return { apply: replayPromise(wall, callee, kind) };
    case 'effect':
      return { apply: told(wall, effect, callee, replayEffect(wall, callee)) };
    case 'run':
      return { apply: told(wall, 'subprocess', callee, replayRun(wall, callee)) };
    case 'later-effect':
      return { apply: told(wall, effect, callee, never(wall, callee, kind)) };
    case 'promise-effect':
      return { apply: told(wall, effect, callee, replayPromise(wall, callee, kind)) };
    case 'give-up':
      return giveUpHandler(wall, effect, callee);
  }
}

function effectKindOf(module: string): EffectKind {
  if (module.startsWith('fs')) return 'files';
  if (module === 'child_process' || module === 'cluster') return 'subprocess';
  return module === 'worker_threads' ? 'thread' : 'other';
}

/** Opening a file to read it, and closing it, changes nothing outside. */
function isHarmless(callee: string, [, flags]: readonly unknown[]): boolean {
  if (callee === 'fs.closeSync' || callee === 'fs.close') return true;
  if (callee !== 'fs.openSync' && callee !== 'fs.open') return false;
  return flags == null || flags === 'r' || flags === 'rs' || flags === fs.constants.O_RDONLY || isFunction(flags);
}

function told(wall: Wall, kind: EffectKind, callee: string, atStartup: Trap): Trap {
  const prints = PRINTING[callee];
  return function trap(target, self, args) {
    if (wall.up) return atStartup(target, self, args);
    if (wall.isArmed && !isHarmless(callee, args)) wall.effect(kind, callee);
    const printed = prints === undefined || (args[0] !== 1 && args[0] !== 2) ? null : prints(wall, args[0], args);
    return printed === null ? callHidden(target, self, args) : printed.result;
  };
}

/**
 * Loggers write to the process's output by its descriptor. Each loop would do so by itself, and a line of this one could come behind
 * what home prints of the request's end: so it goes to home in front of the answer, as what `console.log` prints does.
 * Null: it is called in a way of which nothing is known here.
 */
const PRINTING: { readonly [callee: string]: Printing | undefined } = {
  'fs.writeSync': (wall, fd, [, data, encoding, ...others]) => {
    const chunk = others.length === 0 ? bytesOf(data, encoding) : null;
    return chunk === null ? null : print(wall, fd, chunk, () => chunk.length);
  },
  'fs.write': (wall, fd, [, data, ...others]) => {
    const callback = others.pop();
    const chunk = others.length < 2 && isFunction(callback) ? bytesOf(data, others[0]) : null;
    if (chunk === null || !isFunction(callback)) return null;
    return print(wall, fd, chunk, () => callBack(() => apply(callback, undefined, [null, chunk.length, data])));
  },
};

type Printing = (wall: Wall, fd: 1 | 2, args: readonly unknown[]) => { readonly result: unknown } | null;

function print(wall: Wall, fd: 1 | 2, chunk: Uint8Array, done: () => unknown): { readonly result: unknown } | null {
  const { hooks } = wall;
  if (hooks === null) return null;
  if (chunk.length > 0) hooks.output(fd, chunk, true);
  return { result: done() };
}

/** In one turn of the loop; a writer that goes on for ever must not keep all else from its turn. */
const mostInTurn = 100;
let calledBack = 0;

/** Loggers keep back what they are given until they have been called back, and the next request may be there in this turn: its lines would come
 *  behind its answer. */
function callBack(call: () => void): void {
  if (calledBack === 0) setImmediate(() => (calledBack = 0));
  if (calledBack++ < mostInTurn) nextTick(call);
  else setImmediate(call);
}

/** A copy: the caller may fill its buffer again before that leaves. */
function bytesOf(data: unknown, encoding: unknown): Buffer | null {
  if (typeof data === 'string' && (encoding == null || encoding === 'utf8')) return Buffer.from(data);
  return data instanceof Uint8Array && encoding == null ? Buffer.from(data) : null;
}

function replayHandler(wall: Wall, callee: string): Handler {
  const handler: Handler = { apply: replay(wall, callee, () => Reflect.deleteProperty(handler, 'apply')) };
  return handler;
}

function replay(wall: Wall, callee: string, giveWay: () => void): Trap {
  const isRead = callee.startsWith('fs.');
  return function trap(target, self, args) {
    if (!wall.stops) return apply(target, self, args);
    // Most calls are the loader's, and to find that out takes a fraction of what finding a place does.
    if (isRead && wall.isByLoader(trap)) return wall.outside(() => apply(target, self, args));
    const site = wall.site(trap);
    // What a connection goes by is its own: two that say the same of themselves could not be told apart.
    if (site.key === '' || wall.connects(site)) return wall.outside(() => apply(target, self, args));
    if (isFunction(args[args.length - 1])) return neverCallsBack(wall, callee, site);
    const outcome = wall.next(callee, site);
    if (outcome?.kind === 'gave' && table.FILLS[callee] !== undefined) wall.pools(args[table.FILLS[callee]], site);
    if (outcome?.kind === 'gave' || outcome?.kind === 'threw') return walls.answer(callee, outcome, args);
    if (movesHomesFile(wall, callee, args)) return wall.giveUp(`${callee} at ${site.at}: home did not read there`);
    wall.miss(callee, site, 'real');
    if (wall.isExhausted(callee)) giveWay();
    return wall.outside(() => callHidden(target, self, args));
  };
}

function unlike(wall: Wall, callee: string): Trap {
  return function trap(target, self, args) {
    if (wall.stops) wall.miss(callee, wall.site(trap), 'real');
    return apply(target, self, args);
  };
}

/** Threads share open files: reading one that home has opened would move home's position in it. */
function movesHomesFile(wall: Wall, callee: string, [file]: readonly unknown[]): boolean {
  return callee.startsWith('fs.') && callee !== 'fs.fstatSync' && typeof file === 'number' && !wall.opened.has(file);
}

function replayEffect(wall: Wall, callee: string): Trap {
  return function trap(target, self, args) {
    if (!wall.stops) return apply(target, self, args);
    const site = wall.site(trap);
    if (site.byLoader) return wall.outside(() => apply(target, self, args));
    const outcome = wall.next(callee, site);
    if (outcome?.kind === 'gave' || outcome?.kind === 'threw') return walls.answer(callee, outcome, args);
    if (callee === 'fs.openSync' && isHarmless(callee, args)) {
      wall.miss(callee, site, 'real');
      const opened = wall.outside(() => apply(target, self, args));
      wall.opened.add(opened);
      return opened;
    }
    // Node's own calls on behalf of the app: no result of theirs is the app's.
    if (site.key !== '') wall.miss(callee, site, 'nothing');
    return undefined;
  };
}

function replayRun(wall: Wall, callee: string): Trap {
  return function trap(target, self, args) {
    if (!wall.stops) return apply(target, self, args);
    const site = wall.site(trap);
    const outcome = wall.next(callee, site);
    if (outcome?.kind === 'gave' || outcome?.kind === 'threw') return walls.answer(callee, outcome, args);
    return wall.giveUp(`${callee} at ${site.at ?? 'an unknown place'}: home's start-up ran no such subprocess`);
  };
}

function replayPromise(wall: Wall, callee: string, kind: string): Trap {
  return function trap(target, self, args) {
    if (!wall.stops) return apply(target, self, args);
    const site = wall.site(trap);
    if (site.byLoader || (wall.connects(site) && TEMPORARY.has(kind)))
      return wall.outside(() => apply(target, self, args));
    const outcome = wall.next(callee, site);
    if (outcome?.kind === 'gave' || outcome?.kind === 'threw') {
      return new Promise((resolve) => resolve(walls.answer(callee, outcome, args)));
    }
    wall.note(callee, site);
    return new Promise(() => {});
  };
}

function never(wall: Wall, callee: string, kind: string): Trap {
  return function trap(target, self, args) {
    if (!wall.stops) return apply(target, self, args);
    const site = wall.site(trap);
    if (wall.connects(site) && TEMPORARY.has(kind)) return wall.outside(() => apply(target, self, args));
    return neverCallsBack(wall, callee, site);
  };
}

function neverSettles(wall: Wall, callee: string): Trap {
  return function trap(target, self, args) {
    if (!wall.stops) return apply(target, self, args);
    wall.note(callee, wall.site(trap));
    return new Promise(() => {});
  };
}

function neverCallsBack(wall: Wall, callee: string, site: ReturnType<Wall['site']>): undefined {
  wall.note(callee, site);
  return undefined;
}

/** What only computes is done, and its callback is part of start-up: `settled` waits for it. */
function compute(wall: Wall): Trap {
  return function trap(target, self, args) {
    const callback = args[args.length - 1];
    if (!wall.stops) return apply(target, self, args);
    if (!isFunction(callback)) return counted(wall, apply(target, self, args));
    const callBack = (...results: unknown[]): unknown => {
      wall.pending -= 1;
      return wall.up ? apply(callback, undefined, results) : undefined;
    };
    const given = apply(target, self, [...args.slice(0, -1), callBack]);
    wall.pending += 1;
    return given;
  };
}

/** Observing a promise does not handle its rejection: the app gets the one behind. */
function counted(wall: Wall, given: unknown): unknown {
  if (!(given instanceof Promise)) return given;
  wall.pending += 1;
  return given.finally(() => {
    wall.pending -= 1;
  });
}

function giveUpHandler(wall: Wall, kind: EffectKind, callee: string): Handler {
  function check(above: Fn | Trap | ((...args: never[]) => unknown)): void {
    if (wall.stops) {
      const { at } = wall.site(above);
      wall.giveUp(`${callee} at ${at ?? 'an unknown place'}: not known to leave the outside alone`);
    }
    if (wall.isArmed) wall.effect(kind, callee);
  }
  return {
    apply: function trap(target, self, args) {
      check(trap);
      return apply(target, self, args);
    },
    construct: function trap(target, args, newTarget) {
      check(trap);
      return Reflect.construct(target, args, newTarget);
    },
  };
}

const { isFunction } = patching;

export = { handlerFor, TEMPORARY };
