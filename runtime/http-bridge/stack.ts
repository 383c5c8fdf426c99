/**
 * Reads: stack traces of errors that come from a replica.
 * Gives: the traces that they would have at home: without frames of the bridge, and with the frames of home below the
 *        handler's, where the handler was called by them.
 */
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { types } from 'node:util';

/** Where the runtime is, and where it was written, which is what source maps show. */
const BUILT = fileURLToPath(new URL('..', import.meta.url));
const WRITTEN = BUILT.replace(/([\\/])dist[\\/](?=runtime[\\/])/, '$1');
const BRIDGE = `http-bridge${sep}`;

function isOurs(line: string, file = ''): boolean {
  return line.includes(BUILT + file) || line.includes(WRITTEN + file);
}

/** While a chain goes on because a replica said so: what would be below it. */
let resumed: Below | null = null;

/** What `go` calls looks as if it were called where the handler was called. */
export function resumeAbove(below: Below | null, go: () => void): void {
  const before = resumed;
  resumed = below;
  try {
    go();
  } finally {
    resumed = before;
  }
}

/** Frames below the one of `stub`, as text. Taken when a handler is sent away, so it has to be cheap: one capture. */
export class Below {
  readonly #holder: { stack?: string } = {};
  readonly #parent = resumed;

  constructor(stub: (...args: unknown[]) => unknown) {
    Error.captureStackTrace(this.#holder, stub);
  }

  /** V8 writes the text when it is asked for. */
  get frames(): readonly string[] {
    const lines = String(this.#holder.stack).split('\n').filter(isFrame);
    const ours = lines.findIndex((line) => isOurs(line));
    return ours === -1 ? lines : [...lines.slice(0, ours), ...(this.#parent?.frames ?? [])];
  }
}

export function mendStack(error: unknown, below: readonly string[], seen = new Set<unknown>()): void {
  if (!types.isNativeError(error) || seen.has(error)) return;
  seen.add(error);
  mendStack(error.cause, below, seen);
  if (typeof error.stack !== 'string' || !isOurs(error.stack)) return;
  const stack = mended(error.stack.split('\n'), below).join('\n');
  const found = Object.getOwnPropertyDescriptor(error, 'stack');
  if (found?.writable === true || found?.set !== undefined) error.stack = stack;
}

function mended(lines: readonly string[], below: readonly string[]): readonly string[] {
  const call = lines.findIndex((line) => isFrame(line) && isOurs(line, `${BRIDGE}call-handler.`));
  const own = (call === -1 ? lines : lines.slice(0, call)).filter((line) => !isFrame(line) || !isOurs(line));
  if (call === -1) return withoutResumed(own, lines);
  const room = Error.stackTraceLimit - own.filter(isFrame).length;
  return [...own, ...below.slice(0, Math.max(room, 0))];
}

/** An error of a chain that goes on at home ends in our frames and what called them. */
function withoutResumed(own: readonly string[], lines: readonly string[]): readonly string[] {
  const ours = lines.findIndex((line) => isFrame(line) && isOurs(line, `${BRIDGE}home-exchange.`));
  return ours === -1
    ? own
    : own.slice(0, lines.slice(0, ours).filter((line) => !isFrame(line) || !isOurs(line)).length);
}

function isFrame(line: string): boolean {
  return /^\s+at /.test(line);
}
