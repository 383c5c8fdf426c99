/**
 * Reads:   modules that are loaded.
 * Gives:   whether a symbol is one by which the router of Express 5 notes on a request where it is. Its own copy alone asks for that, on the
 *          loop on which it walks through its layers: nobody else looks for it.
 */
import Module from 'node:module';

const require = Module.createRequire(import.meta.url);

const NAME = 'router.tracing.matchedRoute';
const FILE = /[\\/]node_modules[\\/]router[\\/]lib[\\/]symbols\.js$/;
/** Those of its errors that it has told tracers of, who keep all handlers home: what it notes on one loop nobody asks for on another. */
const TOLD = Symbol.for('router.tracing.publishedErrors');
const known = new Set<symbol>();

export function isRoutersOwn(key: symbol): boolean {
  if (key === TOLD) return true;
  if (key.description !== NAME) return false;
  if (known.has(key)) return true;
  for (const [file, module] of Object.entries(require.cache)) {
    if (!FILE.test(file) || Reflect.get(Object(module?.exports), 'matchedRoute') !== key) continue;
    known.add(key);
    return true;
  }
  return false;
}
