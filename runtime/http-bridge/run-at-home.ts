/**
 * Reads: a handler that could not run at a replica after all, when its caller has long returned.
 * Gives: its call, with errors that look as if the caller had called it.
 */

import { IncomingMessage, ServerResponse } from '../node-http.js';
import { callHandler, type Handler } from './call-handler.js';
import type { Outcome } from './home-exchange.js';
import { isAskedFor } from './promised.js';
import { type Below, callResumed, framesOfCall, mendStack, resumeAbove } from './stack.js';

/** `args` has a request, its response and, if there is one, `next`, one behind the other. */
export function runAtHome(
  handler: Handler,
  receiver: unknown,
  args: readonly unknown[],
  below: Below,
  settle: (outcome: Outcome) => void,
): unknown {
  const at = args.findIndex((arg, index) => isRequest(arg) && args[index + 1] instanceof ServerResponse);
  const [req, next] = [args[at], args[at + 2]];
  const given = [...args];
  const call = { isRunning: true };
  if (typeof next === 'function') given[at + 2] = mending(next, below, call);
  const fail = (kind: 'threw' | 'rejected', error: unknown): void => {
    mendStack(error, below);
    settle({ kind, error });
  };
  const restore = typeof next === 'function' ? mendOwnNext(req, below, call) : undefined;
  try {
    const result = callHandler(handler, receiver, given);
    if (isAskedFor(result, handler, req)) result.then(undefined, (error: unknown) => fail('rejected', error));
    return result;
  } catch (error) {
    fail('threw', error);
    return undefined;
  } finally {
    call.isRunning = false;
    restore?.();
  }
}

function isRequest(value: unknown): boolean {
  return value instanceof IncomingMessage;
}

/** Express's own methods go on by `req.next`. */
function mendOwnNext(req: unknown, below: Below, call: Call): (() => void) | undefined {
  if (typeof req !== 'object' || req === null) return undefined;
  const next: unknown = Reflect.get(req, 'next');
  if (typeof next !== 'function') return undefined;
  const ours = mending(next, below, call);
  Reflect.set(req, 'next', ours);
  return () => {
    if (Reflect.get(req, 'next') === ours) Reflect.set(req, 'next', next);
  };
}

/** What goes on does so above the handler, and that above its caller, as long as it has not returned. */
function mending(next: object, below: Below, call: Call): (...args: unknown[]) => unknown {
  return function goesOn(...args) {
    mendStack(args[0], below);
    if (typeof next !== 'function') return undefined;
    const frames = framesOfCall(goesOn, []);
    const above = call.isRunning ? below.under(frames) : { frames };
    return resumeAbove(above, () => callResumed(next as (...args: unknown[]) => unknown, args));
  };
}

interface Call {
  isRunning: boolean;
}
