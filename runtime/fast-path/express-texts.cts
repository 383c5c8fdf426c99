/**
 * Gives: whether a server's listener is an Express app of which it is known what it does with a request before it sets the
 *        prototypes of request and response: Express 4.16 and later, and 5. Its functions are known by their text, so an app
 *        that has replaced one of them is not known.
 */
import crypto = require('node:crypto');

/** sha1 of the text with single spaces: short, and the same wherever Express is installed. */
const APP = new Set(['02f5cefba3986ce5']);
const HANDLE_5 = new Set(['9d664e8f0419a6b6', '52d3f113d59e44e7']);
const HANDLE_4 = new Set(['bcb203964d6b6b19']);
/** What Express 4 runs until the second layer of its stack has set the prototypes. */
const ROUTER_4 = {
  handle: new Set(['6ccda2002d4c38b8', 'ceca511dc344e00a', '4bbca646e30e4c3a']),
  process_params: new Set(['0d1a7def7bc7b672']),
};
const LAYER_4 = { handle_request: new Set(['32c27d18488c3a1f']), match: new Set(['b2fced8df1901a8a']) };
const FIRST_LAYERS_4 = [new Set(['fd7eeb1b1cad254f']), new Set(['2bd8463e0364e50a'])];

interface ExpressApp {
  readonly handle: unknown;
  readonly request: object;
  readonly response: object;
}

function isKnown(value: unknown): value is ExpressApp {
  if (!isIn(value, APP)) return false;
  const { handle, request, response } = read(value, ['handle', 'request', 'response']);
  if (!isObject(request) || !isObject(response)) return false;
  return isIn(handle, HANDLE_5) || (isIn(handle, HANDLE_4) && isKnownRouter(read(value, ['_router'])._router));
}

function isKnownRouter(router: unknown): boolean {
  if (!isObject(router) || !hasTexts(router, ROUTER_4)) return false;
  const { stack } = read(router, ['stack']);
  if (!Array.isArray(stack)) return false;
  return FIRST_LAYERS_4.every((texts, index) => {
    const layer: unknown = stack[index];
    return isObject(layer) && hasTexts(layer, LAYER_4) && isIn(read(layer, ['handle']).handle, texts);
  });
}

function hasTexts(value: object, texts: { readonly [name: string]: ReadonlySet<string> }): boolean {
  return Object.entries(texts).every(([name, known]) => isIn(Reflect.get(value, name), known));
}

function isIn(fn: unknown, texts: ReadonlySet<string>): fn is object {
  if (typeof fn !== 'function') return false;
  const text = Reflect.apply(Function.prototype.toString, fn, []).replace(/\s+/g, ' ');
  return texts.has(crypto.createHash('sha1').update(text).digest('hex').slice(0, 16));
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function read<N extends string>(value: object, names: readonly N[]): { readonly [name in N]?: unknown } {
  const found: { [name in N]?: unknown } = {};
  for (const name of names) found[name] = Reflect.get(value, name);
  return found;
}

export = { isKnown };
