/**
 * Reads: a handler that could not run at a replica after all, when its caller has long returned.
 * Gives: its call, with errors that look as if the caller had called it.
 */
import { callHandler, type Handler } from './call-handler.js';
import type { Outcome } from './home-exchange.js';
import { isPromised } from './promised.js';
import { type Below, mendStack } from './stack.js';

/** `req`, `res` and, if there is one, `next` are the last of `args`. */
export function runAtHome(
  handler: Handler,
  receiver: unknown,
  args: readonly unknown[],
  below: Below,
  settle: (outcome: Outcome) => void,
): unknown {
  const next = args.at(-1);
  const req = args.at(typeof next === 'function' ? -3 : -2);
  const given = typeof next === 'function' ? [...args.slice(0, -1), mending(next, below)] : [...args];
  const fail = (kind: 'threw' | 'rejected', error: unknown): void => {
    mendStack(error, below);
    settle({ kind, error });
  };
  const restore = typeof next === 'function' ? mendOwnNext(req, below) : undefined;
  try {
    const result = callHandler(handler, receiver, given);
    if (isPromised(result, req)) result.then(undefined, (error: unknown) => fail('rejected', error));
    return result;
  } catch (error) {
    fail('threw', error);
    return undefined;
  } finally {
    restore?.();
  }
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
