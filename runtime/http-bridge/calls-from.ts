/**
 * Reads: frames of a stack trace, as text, the one of the caller first.
 * Gives: a call of a function that has these frames below it, in each trace that is taken while it runs.
 *
 *     next            router/index.js:280        what the chain does at home
 *     first           app.js:3:106               a script that says so; it calls `next`
 *     Layer.handle    router/layer.js:95:5       a script that says so; it calls that one
 *     …
 *     the bridge
 *
 * V8 ends a trace after `Error.stackTraceLimit` frames, so what is really below is not in it. Errors are made anywhere, by the
 * router too, and their text is written when somebody looks: nothing else could mend them all.
 */
import { Script } from 'node:vm';

type Go = () => unknown;
type Caller = (go: Go) => unknown;

/** There is one for each place from which handlers are called, or call `next`. */
const MOST_CALLERS = 1000;
const callers = new Map<string, Caller | null>();

/** What is covered is told by the names of scripts: these would count as the app's. */
const isCovered = process.env.NODE_V8_COVERAGE !== undefined;

/** Null where one of the frames cannot be made. */
export function callFrom(frames: readonly string[], go: Go): { readonly result: unknown } | null {
  if (isCovered || frames.length === 0) return null;
  const below: Caller[] = [];
  for (const frame of frames.slice(0, Math.max(Error.stackTraceLimit, 0))) {
    const caller = callerAt(frame);
    if (caller !== null) below.push(caller);
    else if (!isNative(frame)) return null;
  }
  // A function that is bound has no frame.
  return { result: below.reduce<Go>((called, caller) => caller.bind(undefined, called), go)() };
}

function callerAt(frame: string): Caller | null {
  const known = callers.get(frame);
  if (known !== undefined) return known;
  if (callers.size >= MOST_CALLERS) return null;
  const made = makeCaller(frame);
  callers.set(frame, made);
  return made;
}

/** `at Array.forEach (<anonymous>)`: it has no place to stand at, and is left out. */
function isNative(frame: string): boolean {
  return /\((<anonymous>|native)\)$/.test(frame);
}

function makeCaller(frame: string): Caller | null {
  const found = frame.endsWith(')')
    ? /^\s+at (.*?) \((.+):(\d+):(\d+)\)$/.exec(frame)
    : /^\s+at ()(.+):(\d+):(\d+)$/.exec(frame);
  if (found === null) return null;
  const [, name = '', filename, line, column] = found;
  const lineOffset = Number(line) - 1;
  const columnOffset = Number(column) - 1 - HEAD.length;
  try {
    const script = new Script(`${HEAD}go()`, { filename, lineOffset, columnOffset });
    return Object.defineProperty(script.runInThisContext() as Caller, 'name', { value: name });
  } catch {
    return null;
  }
}

const HEAD = 'go=>';
