/**
 * Reads: a handler that could not run at a replica after all, when its caller has long returned.
 * Gives: its call, with errors that look as if the caller had called it.
 */

import { IncomingMessage, ServerResponse } from '../node-http.js';
import { callHandler, type Handler } from './call-handler.js';
import type { Outcome } from './home-exchange.js';
import { isAskedFor } from './promised.js';
import { type Below, mendStack } from './stack.js';

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
  if (typeof next === 'function') given[at + 2] = mending(next, below);
  const fail = (kind: 'threw' | 'rejected', error: unknown): void => {
    mendStack(error, below);
    settle({ kind, error });
  };
  const restore = typeof next === 'function' ? mendOwnNext(req, below) : undefined;
  try {
    const result = callHandler(handler, receiver, given);
    if (isAskedFor(result, handler, req)) result.then(undefined, (error: unknown) => fail('rejected', error));
    return result;
  } catch (error) {
    fail('threw', error);
    return undefined;
  } finally {
    restore?.();
  }
}

function isRequest(value: unknown): boolean {
  return value instanceof IncomingMessage;
}

/** Express's own methods go on by `req.next`. */
function mendOwnNext(req: unknown, below: Below): (() => void) | undefined {
  if (typeof req !== 'object' || req === null) return undefined;
  const next: unknown = Reflect.get(req, 'next');
  if (typeof next !== 'function') return undefined;
  const ours = mending(next, below);
  Reflect.set(req, 'next', ours);
  return () => {
    if (Reflect.get(req, 'next') === ours) Reflect.set(req, 'next', next);
  };
}

function mending(next: object, below: Below): (...args: unknown[]) => unknown {
  return (...args) => {
    mendStack(args[0], below);
    return typeof next === 'function' ? next(...args) : undefined;
  };
}
