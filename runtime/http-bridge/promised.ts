/** Tells whether anybody waits for what a handler gives. */
import { types } from 'node:util';

/**
 * A rejected promise is noticed by Express 5, or else by the process. To ask anything else for its result may begin something, as with
 * queries of a database; Express 5 does it.
 */
export function isPromised(result: unknown, req: unknown): result is PromiseLike<unknown> {
  if (types.isPromise(result)) return true;
  if (typeof result !== 'object' || result === null || typeof Reflect.get(result, 'then') !== 'function') return false;
  const app: unknown = typeof req === 'object' && req !== null ? Reflect.get(req, 'app') : undefined;
  return typeof app === 'function' && isExpress5(app);
}

/** Its router is made when it is asked for; older ones have `_router` as well, or in its place. */
function isExpress5(app: object): boolean {
  return (
    Object.getOwnPropertyDescriptor(app, 'router')?.get !== undefined && !('_router' in app || 'lazyrouter' in app)
  );
}
