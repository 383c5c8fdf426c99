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
  /** The nearest line of the app's own, or else of a package. */
  readonly at: string | null;
  /** the file that makes the call, and the nearest package */
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
/** Frames of ours that may be on the stack when one of Node's functions throws: errors get room for them. */
const OWN_FRAMES = 8;
const BY_LOADER: CallSite = { key: '', at: null, file: null, package: null, byLoader: true };

/** For the record: `above` is the function of ours that the app called; frames from there up are read. */
function readKey(above: Fn): string {
  const frames = readFrames(above, SHALLOW);
  const key = keyOf(frames);
  return key === '' && frames.length === SHALLOW && !isLoader(frames) ? keyOf(readFrames(above, DEEP)) : key;
}

/** For notes too: as many frames as it takes to find the app's own. */
function readCallSite(above: Fn): CallSite {
  const frames = readFrames(above, DEEP);
  if (isLoader(frames)) return BY_LOADER;
  let nearest: { at: string; file: string } | null = null;
  let packageName: string | null = null;
  for (const frame of frames) {
    const file = appFileOf(frame);
    if (file === null) continue;
    const at = placeOf(frame, file);
    const inPackage = packageOf(file);
    nearest ??= { at, file };
    packageName ??= inPackage;
    if (inPackage === null) return { ...siteOf(frames, nearest.file, packageName), at };
  }
  return { ...siteOf(frames, nearest?.file ?? null, packageName), at: nearest?.at ?? null };
}

/** Is the code in this folder all that is on the stack, beside Node's and ours? What awaits it is not. */
function isWithin(folder: string, above: Fn): boolean {
  for (const frame of readFrames(above, DEEP)) {
    if (frame.isAsync()) break;
    const file = appFileOf(frame);
    if (file !== null && !file.startsWith(folder)) return false;
  }
  return true;
}

function siteOf(
  frames: readonly NodeJS.CallSite[],
  file: string | null,
  packageName: string | null,
): Omit<CallSite, 'at'> {
  return { key: keyOf(frames), file, package: packageName, byLoader: false };
}

/** Loading modules makes many calls: asking for one frame is several times faster than asking for all. */
function isByLoader(above: Fn): boolean {
  const caller = nearestLine(above);
  if (caller !== null && !/\bnode:(fs|internal\/fs\/)/.test(caller)) return caller.includes('node:internal/modules/');
  return isLoader(readFrames(above, FRAMES_OF_A_READ));
}

/** Newer versions of Node have one of their own, which writes what V8 would. */
const nodesPrepare: unknown = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace')?.value;

/** As text, which takes a third of the time; unless the app writes stacks itself. */
function nearestLine(above: Fn): string | null {
  if (Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace')?.value !== nodesPrepare) return null;
  const { stackTraceLimit } = Error;
  const holder: { stack?: unknown } = {};
  Error.stackTraceLimit = 1;
  Error.captureStackTrace(holder, above);
  const { stack } = holder;
  Error.stackTraceLimit = stackTraceLimit;
  return typeof stack === 'string' ? stack : null;
}

/** `readFileSync` calls `openSync` and `readSync` as the app would. */
const FRAMES_OF_A_READ = 8;

function isNodesFile(frame: NodeJS.CallSite | undefined): boolean {
  return /^node:(fs|internal\/fs\/)/.test(frame?.getFileName() ?? '');
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

function isLoader(frames: readonly NodeJS.CallSite[]): boolean {
  const caller = frames.find((frame) => !isNodesFile(frame) && fileOf(frame)?.startsWith(runtimeFolder) !== true);
  return caller?.getFileName()?.startsWith('node:internal/modules/') === true;
}

function keyOf(frames: readonly NodeJS.CallSite[]): string {
  if (isLoader(frames)) return '';
  const key: string[] = [];
  for (const frame of frames) {
    // The module above is being evaluated from here; or what is above was called by whatever came first.
    if (key.length > 0 && (key.length === FRAMES_IN_KEY || frame.isAsync())) break;
    if (key.length > 0 && frame.getFileName()?.startsWith('node:internal/modules/') === true) break;
    const file = appFileOf(frame);
    if (file !== null) key.push(placeOf(frame, file));
  }
  return key.join('|');
}

function placeOf(frame: NodeJS.CallSite, file: string): string {
  return `${file}:${frame.getLineNumber()}:${frame.getColumnNumber()}`;
}

/** Nothing for frames of Node, of the language and of this runtime. */
function appFileOf(frame: NodeJS.CallSite): string | null {
  const file = fileOf(frame);
  return file === null || file.startsWith('node:') || file.startsWith(runtimeFolder) ? null : file;
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
  const isFrame = (line: string): boolean => /^\s+at /.test(line);
  const kept = stack.split('\n').filter((line) => !(isFrame(line) && line.includes(__dirname)));
  // There was more room than the app asked for.
  const first = kept.findIndex(isFrame);
  if (first !== -1 && kept.slice(first).every(isFrame))
    kept.length = Math.min(kept.length, first + Error.stackTraceLimit);
  // Not an assignment: that would throw where the error is frozen.
  Reflect.set(error, 'stack', kept.join('\n'));
}

/** As if the app called it: an error shows none of our frames, and as many of the others as it would. */
function callHidden(target: Fn, self: unknown, args: readonly unknown[]): unknown {
  const limit = Error.stackTraceLimit;
  if (typeof limit === 'number') Error.stackTraceLimit = limit + OWN_FRAMES;
  let failed: unknown;
  try {
    return Reflect.apply(target, self, args);
  } catch (error) {
    failed = error;
  } finally {
    if (Error.stackTraceLimit === limit + OWN_FRAMES) Error.stackTraceLimit = limit;
  }
  hideOwnFrames(failed);
  throw failed;
}

export = { callHidden, isWithin, packageOf, readKey, readCallSite, isByLoader, hideOwnFrames };
