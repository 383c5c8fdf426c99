/**
 * Reads: what a handler gave.
 * Gives: whether to ask for its result, and who is told of it where nobody asks.
 */
import { types } from 'node:util';

/**
 * A rejected promise is noticed by Express 5, or else by the process. To ask anything else for its result may begin something, as with
 * queries of a database; Express 5 does it.
 *
 * Older ones do not ask. Who has made the promise may have (`made.catch(next); return made;`), and V8 does not tell: where we asked as well, a
 * rejection that nobody has taken would look the same as one that somebody has. Of an async function nobody else has the promise yet.
 */
export function isAskedFor(result: unknown, handler: unknown, req: unknown): result is PromiseLike<unknown> {
  const app: unknown = typeof req === 'object' && req !== null ? Reflect.get(req, 'app') : undefined;
  if (typeof app !== 'function' || !isExpress5(app)) return types.isPromise(result) && types.isAsyncFunction(handler);
  if (types.isPromise(result)) return true;
  return typeof result === 'object' && result !== null && typeof Reflect.get(result, 'then') === 'function';
}

/** Its router is made when it is asked for; older ones have `_router` as well, or in its place. */
function isExpress5(app: object): boolean {
  return (
    Object.getOwnPropertyDescriptor(app, 'router')?.get !== undefined && !('_router' in app || 'lazyrouter' in app)
  );
}

const left = new WeakMap<object, (error: unknown) => void>();

/** If nobody takes its rejection, the thread is told, and tells `rejected`. */
export function leaveToThread(result: unknown, rejected: (error: unknown) => void): void {
  if (types.isPromise(result)) left.set(result, rejected);
}

/** False for a promise that no handler gave. */
export function tellRejected(promise: unknown, error: unknown): boolean {
  const rejected = typeof promise === 'object' && promise !== null ? left.get(promise) : undefined;
  rejected?.(error);
  return rejected !== undefined;
}
