/**
 * Reads: stack traces of errors that come from a replica.
 * Gives: the traces that they would have at home: without frames of the bridge, and with the frames of home below the
 *        handler's, where the handler was called by them.
 */
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { types } from 'node:util';
import { callFrom } from './calls-from.js';

type Fn = (...args: unknown[]) => unknown;

/** Where the runtime is, and where it was written, which is what source maps show. */
const BUILT = fileURLToPath(new URL('..', import.meta.url));
const WRITTEN = BUILT.replace(/([\\/])dist[\\/](?=runtime[\\/])/, '$1');
const BRIDGE = `http-bridge${sep}`;

let followsFlows = false;

/** From now on Node follows what is asynchronous for our sake, and calls callbacks by a function of its own for that. */
export function followFlows(): void {
  followsFlows = true;
}

function isOurs(line: string, file = ''): boolean {
  if (followsFlows && file === '' && line.includes('callbackTrampoline (node:internal/async_hooks')) return true;
  return line.includes(BUILT + file) || line.includes(WRITTEN + file);
}

/** Frames that would be below others. */
export interface Frames {
  readonly frames: readonly string[];
}

/** While a chain goes on because a replica said so: what would be below it. */
let resumed: Frames | null = null;

/** What `go` calls looks as if it were called where the handler was called, or by the handler. */
export function resumeAbove<Result>(below: Frames | null, go: () => Result): Result {
  const before = resumed;
  resumed = below;
  try {
    return go();
  } finally {
    resumed = before;
  }
}

/** Calls what takes a chain on, as `resumeAbove` says. It is given its arguments alone: traces say of what a function was called. */
export function callResumed(next: Fn, args: readonly unknown[]): unknown {
  const above = resumed;
  const go = (): unknown => (args.length === 0 ? next() : next(...args));
  if (above === null) return go();
  // Its frames are on the stack then.
  resumed = null;
  try {
    const called = callFrom(above.frames, next.bind(undefined, ...args));
    if (called !== null) return called.result;
  } finally {
    resumed = above;
  }
  return go();
}

/** Calls a function that `stub` stands for: traces show what has called that. */
export function callAs(stub: Fn, fn: (...args: never[]) => unknown, self: unknown, args: readonly unknown[]): unknown {
  const above = resumed;
  const { frames } = new Below(stub, self);
  resumed = null;
  try {
    const called = callFrom(frames, fn.bind(self, ...(args as never[])));
    if (called !== null) return called.result;
  } finally {
    resumed = above;
  }
  return Reflect.apply(fn, self, args);
}

/** Frames below the one of `stub`, as text. Taken when a handler is sent away, so it has to be cheap: one capture. */
export class Below implements Frames {
  readonly #holder: { stack?: string } = {};
  readonly #parent = resumed;
  readonly #stub: object;
  readonly #receiver: unknown;
  /** What stands below the handler in traces that are taken where it runs: these, or others that were there before. */
  told: readonly string[] = [];

  constructor(stub: Fn, receiver?: unknown) {
    this.#stub = stub;
    this.#receiver = receiver;
    Error.captureStackTrace(this.#holder, stub);
  }

  /** How V8 names a function that was called as a method of an object, as routers without classes do. */
  named(line: string): string {
    const receiver = this.#receiver;
    if (typeof receiver !== 'object' || receiver === null || receiver === globalThis) return line;
    const key = Object.keys(receiver).find((name) => {
      const found = Object.getOwnPropertyDescriptor(receiver, name);
      // A stub may be behind an accessor, which is not to be asked for nothing.
      return found?.value === this.#stub || found?.get !== undefined;
    });
    const [, name = '', place] = /^\s+at (?:(?:Object\.)?(\S+) )?\(?(.*?)\)?$/.exec(line) ?? [];
    if (place === undefined) return line;
    const isNameless = name === '' || name === '<anonymous>';
    // As an emitter calls its listeners.
    const { name: type = '' } = key === undefined ? Object(receiver.constructor) : {};
    if (type !== '' && type !== 'Object') return `    at ${type}.${isNameless ? '<anonymous>' : name} (${place})`;
    if (key === undefined) return line;
    return `    at Object.${isNameless ? key : name === key ? name : `${name} [as ${key}]`} (${place})`;
  }

  /** For a handler that is called above these. */
  telling(): readonly string[] {
    this.told = this.frames;
    return this.told;
  }

  /** With frames of the handler on top. */
  under(frames: readonly string[]): Frames {
    const below = this;
    return {
      get frames() {
        return [...frames.slice(0, -1), ...frames.slice(-1).map((line) => below.named(line)), ...below.frames];
      },
    };
  }

  /** V8 writes the text when it is asked for. */
  get frames(): readonly string[] {
    const lines = String(this.#holder.stack).split('\n').filter(isFrame);
    const resuming = lines.findIndex(isResuming);
    const own = (resuming === -1 ? lines : lines.slice(0, resuming)).filter((line) => !isOurs(line));
    return [...own, ...(this.#parent?.frames ?? [])];
  }
}

const NOTHING: Frames & Pick<Below, 'named' | 'told'> = { frames: [], named: (line) => line, told: [] };

/** Where frames begin that a handler was told to have below it; the trace may end before they do. */
function whereTold(frames: readonly string[], told: readonly string[]): number {
  if (told.length === 0) return -1;
  return frames.findIndex((_, at) =>
    frames.slice(at).every((frame, index) => (index < told.length ? frame === told[index] : isOurs(frame))),
  );
}

/** Frames of the app above the call of `next`, without what called the handler. */
export function framesOfCall(next: Fn, told: readonly string[]): readonly string[] {
  const limit = Error.stackTraceLimit;
  if (!(limit > 0)) return [];
  const holder: { stack?: string } = {};
  // Handlers call it themselves, or from a function or two of their own.
  Error.stackTraceLimit = Math.min(limit, MOST_OF_CALL);
  Error.captureStackTrace(holder, next);
  Error.stackTraceLimit = limit;
  const lines = String(holder.stack).split('\n').filter(isFrame);
  const end = [lines.findIndex((line) => isOurs(line)), whereTold(lines, told)].filter((at) => at !== -1);
  return end.length === 0 ? lines : lines.slice(0, Math.min(...end));
}

const MOST_OF_CALL = 5;

export function mendStack(error: unknown, below: Below | undefined, seen = new Set<unknown>()): void {
  if (!types.isNativeError(error) || seen.has(error)) return;
  seen.add(error);
  mendStack(error.cause, below, seen);
  const others: unknown = Reflect.get(error, 'errors');
  if (Array.isArray(others)) for (const other of others) mendStack(other, below, seen);
  if (typeof error.stack !== 'string') return;
  const lines = error.stack.split('\n');
  if (!isOurs(error.stack) && whereTold(lines.filter(isFrame), below?.told ?? []) === -1) return;
  const stack = mended(lines, below ?? NOTHING).join('\n');
  const found = Object.getOwnPropertyDescriptor(error, 'stack');
  if (found?.writable === true || found?.set !== undefined) error.stack = stack;
}

function mended(lines: readonly string[], below: typeof NOTHING): readonly string[] {
  const call = endOfHandler(lines, below.told);
  const own = (call === -1 ? lines : lines.slice(0, call)).filter((line) => !isFrame(line) || !isOurs(line));
  if (call === -1) return withoutResumed(own, lines);
  // The handler's own frame is the last.
  const last = own.length - 1;
  if (isFrame(own[last] ?? '')) own[last] = below.named(own[last] ?? '');
  const room = Error.stackTraceLimit - own.filter(isFrame).length;
  return [...own, ...below.frames.slice(0, Math.max(room, 0))];
}

function endOfHandler(lines: readonly string[], told: readonly string[]): number {
  const head = lines.length - lines.filter(isFrame).length;
  const at = whereTold(lines.slice(head), told);
  return at === -1 ? lines.findIndex((line) => isFrame(line) && isOurs(line, `${BRIDGE}call-handler.`)) : head + at;
}

/** An error of a chain that goes on at home ends in our frames and what called them. */
function withoutResumed(own: readonly string[], lines: readonly string[]): readonly string[] {
  const ours = lines.findIndex(isResuming);
  return ours === -1
    ? own
    : own.slice(0, lines.slice(0, ours).filter((line) => !isFrame(line) || !isOurs(line)).length);
}

/** The frame of `resumeAbove`. */
function isResuming(line: string): boolean {
  return isFrame(line) && isOurs(line, `${BRIDGE}stack.`);
}

/** It came about in Fluxion's own code, and no code of the app's or of a package was near. */
export function isOwnFault(error: unknown): boolean {
  if (!types.isNativeError(error) || typeof error.stack !== 'string') return false;
  const frames = error.stack.split('\n').filter((line) => isFrame(line) && !/\(?(node:|<anonymous>)/.test(line));
  return frames.length > 0 && frames.every((line) => isOurs(line));
}

function isFrame(line: string): boolean {
  return /^\s+at /.test(line);
}
