/**
 * Home's side of errors that nobody has caught on another loop, or that come from there. They are thrown, or rejected, here: so the
 * app's listeners, capture callbacks, domains and Node's own flags decide what becomes of them, and where nobody does the
 * process ends with what node would print.
 *
 *     replica                                          home
 *     an error that nobody catches ── uncaught ──────> thrown again ──> the app takes it ── goes on ─> the replica goes on
 *     (stands still)               <── dies ────────────────────────┘ nobody does
 *     Node prints it there, as it knows the line ────> the process ends
 */
import { fstatSync } from 'node:fs';
import timers from 'node:timers';
import { hideListener } from './hide-listener.js';
import { DIES, GOES_ON } from './messages.js';
import process from './node-process.cjs';
import { excerptOf } from './source-excerpt.js';

const { setImmediate } = timers;

/** Node takes no longer to print. */
const LONGEST_PRINT_MS = 2_000;

/** Of what is thrown next. */
let raised: Int32Array | null = null;
/** Made here of what came from elsewhere; of some, the verdict that a replica waits for. */
const foreign = new WeakMap<object, Int32Array | null>();
let isWatching = false;
/** What ends the process, if nobody takes it. */
let ending: { readonly error: unknown; readonly verdict: Int32Array | null; readonly isThrown: boolean } | null = null;

/** Between `process.exit` and its listeners is nothing of the app's. */
const MOST_FRAMES = 200;

/** What nobody catches, where it would have been thrown on an empty stack. */
export function throwLater(error: unknown): void {
  comesFromElsewhere(error);
  process.nextTick(() => {
    // Node shows no line that has these words in it.
    throw [error, 'node-do-not-add-exception-line'][0];
  });
}

/** If nobody catches it here either, it is shown with the line that it was made in. */
export function comesFromElsewhere(error: unknown, verdict: Int32Array | null = null): void {
  if (typeof error === 'object' && error !== null) foreign.set(error, verdict);
  watchFatal();
}

/** What nobody has caught on a replica, which waits for the verdict. */
export function raise(how: 'thrown' | 'rejected', error: unknown, verdict: Int32Array): Promise<never> | null {
  comesFromElsewhere(error, verdict);
  // Behind what Node does about it.
  setImmediate(() => setImmediate(() => decide(verdict, GOES_ON)));
  if (how === 'rejected') return Promise.reject(error);
  setImmediate(() => {
    raised = verdict;
    throw [error, 'node-do-not-add-exception-line'][0];
  });
  return null;
}

/** Before all others hear of an error; where nobody takes it, `exit` comes next, and Node prints it behind that. */
function watchFatal(): void {
  if (isWatching) return;
  isWatching = true;
  const heard = (error: unknown, origin: unknown): void => {
    const verdict = raised ?? (typeof error === 'object' && error !== null ? foreign.get(error) : undefined);
    raised = null;
    if (verdict === undefined) return;
    ending = { error, verdict, isThrown: origin !== 'unhandledRejection' };
    // The last of its listeners.
    process.on('exit', dies);
    setImmediate(() => {
      ending = null;
      process.off('exit', dies);
    });
  };
  hideListener(process, 'exit', dies);
  hideListener(process, 'uncaughtExceptionMonitor', heard);
  process.prependListener('uncaughtExceptionMonitor', heard);
}

/** Somebody has called `process.exit`, so nobody's error ends the process. */
function isExiting(): boolean {
  const { stackTraceLimit, prepareStackTrace } = Error;
  // Not without a limit: with --trace-uncaught, Node 26 dies of that.
  Error.stackTraceLimit = MOST_FRAMES;
  Reflect.set(Error, 'prepareStackTrace', undefined);
  const { stack = '' } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  Error.prepareStackTrace = prepareStackTrace;
  return /^\s+at process\.(exit|reallyExit) /m.test(stack);
}

function dies(): void {
  if (ending === null || isExiting()) return;
  const { error, verdict, isThrown } = ending;
  ending = null;
  // A report is written of this loop.
  const isReported = process.report.reportOnUncaughtException;
  if (verdict !== null && !isReported && printThere(verdict)) exit(process.exitCode ?? 1);
  else if (typeof error === 'object' && error !== null) showLine(error, isThrown);
}

function decide(verdict: Int32Array, what: number): void {
  if (Atomics.compareExchange(verdict, 0, 0, what) === 0) Atomics.notify(verdict, 0);
}

/**
 * The replica's Node prints the error, which knows where it was thrown. That it has done so is seen by a file of the thread, which is closed
 * when the thread ends: nothing else can be seen of that while this loop stands still.
 */
function printThere(verdict: Int32Array): boolean {
  decide(verdict, DIES);
  if (Atomics.wait(verdict, 1, 0, LONGEST_PRINT_MS) === 'timed-out') return false;
  const file = Atomics.load(verdict, 1) - 1;
  const latest = performance.now() + LONGEST_PRINT_MS;
  while (isOpen(file) && performance.now() < latest) Atomics.wait(verdict, 2, 0, 1);
  return true;
}

function isOpen(file: number): boolean {
  try {
    fstatSync(file);
    return true;
  } catch {
    return false;
  }
}

/** What comes after all listeners were called: packages put methods of their own in its place. */
const reallyExit: unknown = Reflect.get(process, 'reallyExit');

function exit(code: unknown): void {
  if (typeof reallyExit === 'function') Reflect.apply(reallyExit, process, [code]);
}

function showLine(error: object, isThrown: boolean): void {
  const stack: unknown = Reflect.get(error, 'stack');
  const excerpt = typeof stack === 'string' ? excerptOf(stack, isThrown) : null;
  if (excerpt !== null) Reflect.set(error, 'stack', `${excerpt}\n${stack}`);
}
