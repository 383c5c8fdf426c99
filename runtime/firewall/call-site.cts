/**
 * Reads:   the stack.
 * Gives:   where the app made a call, as a key that is the same at home and in replicas, and for people.
 *
 * Frames of Node and of this runtime do not count. The key holds the frames from the call up to the top level of the
 * module that is being evaluated (or up to an `await`): what started that is not the same on all loops.
 */
import path = require('node:path');

interface CallSite {
  /** empty if the app has no part in it */
  readonly key: string;
  readonly at: string | null;
  readonly file: string | null;
  readonly package: string | null;
  /** Node's own module loader made the call. */
  readonly byLoader: boolean;
}

type Fn = (this: unknown, ...args: unknown[]) => unknown;

const runtimeFolder = path.dirname(__dirname) + path.sep;
const FRAMES_IN_KEY = 5;
const SHALLOW = 14;
const DEEP = 200;

/** `above` is the function of ours that the app called: frames from there up are read. */
function readCallSite(above: Fn): CallSite {
  const frames = readFrames(above, SHALLOW);
  const site = describe(frames);
  if (site.key !== '' || site.byLoader || frames.length < SHALLOW) return site;
  return describe(readFrames(above, DEEP));
}

function readFrames(above: Fn, count: number): readonly NodeJS.CallSite[] {
  const { stackTraceLimit } = Error;
  const prepare = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  const holder: { stack?: unknown } = {};
  Error.stackTraceLimit = count;
  // Defined and not assigned: a setter of the app's would run.
  Object.defineProperty(Error, 'prepareStackTrace', { value: giveFrames, configurable: true, writable: true });
  Error.captureStackTrace(holder, above);
  const frames: unknown = holder.stack;
  Error.stackTraceLimit = stackTraceLimit;
  if (prepare === undefined) Reflect.deleteProperty(Error, 'prepareStackTrace');
  else Object.defineProperty(Error, 'prepareStackTrace', prepare);
  return Array.isArray(frames) ? frames : [];
}

function giveFrames(_error: Error, frames: NodeJS.CallSite[]): NodeJS.CallSite[] {
  return frames;
}

function describe(frames: readonly NodeJS.CallSite[]): CallSite {
  const key: string[] = [];
  let nearest: { at: string; file: string } | null = null;
  let packageName: string | null = null;
  let first = true;
  let evaluated = false;
  for (const frame of frames) {
    const file = fileOf(frame);
    if (file === null || file.startsWith(runtimeFolder)) continue;
    if (file.startsWith('node:')) {
      const loader = file.startsWith('node:internal/modules/');
      if (loader && first) return { key: '', at: null, file: null, package: null, byLoader: true };
      if (loader && nearest !== null) evaluated = true;
      first = false;
      continue;
    }
    first = false;
    packageName ??= packageOf(file);
    if (evaluated || key.length === FRAMES_IN_KEY || (nearest !== null && frame.isAsync())) {
      if (packageName !== null || evaluated) break;
      continue;
    }
    const at = `${file}:${frame.getLineNumber()}:${frame.getColumnNumber()}`;
    nearest ??= { at, file };
    key.push(at);
  }
  return {
    key: key.join('|'),
    at: nearest?.at ?? null,
    file: nearest?.file ?? null,
    package: packageName,
    byLoader: false,
  };
}

/** ES modules are named by URL, others by path. Code made from text is named by where that was done. */
function fileOf(frame: NodeJS.CallSite): string | null {
  const name = frame.getFileName() ?? (frame.isEval() ? frame.getEvalOrigin() : undefined);
  if (typeof name !== 'string' || name === '') return null;
  return name.startsWith('file:') ? decodeURI(name.slice('file://'.length)) : name;
}

function packageOf(file: string): string | null {
  const parts = file.split(/[\\/]/);
  const at = parts.lastIndexOf('node_modules');
  const name = parts[at + 1];
  if (at === -1 || name === undefined) return null;
  return name.startsWith('@') ? `${name}/${parts[at + 2]}` : name;
}

/** Takes our frames out of what `error.stack` says. */
function hideOwnFrames(error: unknown): void {
  if (!(error instanceof Error)) return;
  const { stack } = error;
  if (typeof stack !== 'string' || !stack.includes(__dirname)) return;
  const kept = stack.split('\n').filter((line) => !(/^\s+at /.test(line) && line.includes(__dirname)));
  // Not an assignment: that would throw where the error is frozen.
  Reflect.set(error, 'stack', kept.join('\n'));
}

export = { readCallSite, hideOwnFrames };
