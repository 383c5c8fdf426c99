/**
 * Gives: whether a server's listener is an Express app of which it is known what it does with a request before it sets the
 *        prototypes of request and response: Express 4.16 and later, and 5. Its functions are known by their text, so an app
 *        that has replaced one of them is not known.
 */
import crypto = require('node:crypto');
import net = require('node:net');

/** Node's own: this is loaded before the app. */
const asLoaded = { createHash: crypto.createHash, hash: crypto.hash, write: net.Socket.prototype.write };

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

/** What answers, and what it calls on the way. */
const SEND_4 = new Set(['e109c3ade1ec720b', '96bd14764e42f0e1']);
const SEND_5 = new Set(['2f3e207ce051116a', 'd994bd791195c7ac', '9f5f2867fcd8bbe7']);
const RESPONSE = {
  get: new Set(['5194cd2ac0e555bd']),
  set: new Set(['694f315f2fb1b01d', 'adb8659e98f540d4']),
  status: new Set(['84c0c1343228103d', '25bcb94576613f81', '2d659ff10c070089']),
};
const SETTINGS = {
  get: new Set(['7af9483b9099a9ea', '66c66a5858609f2b', 'dd0c349d79e6761f']),
  set: new Set(['b93088b58b7039c2', 'd59b056278c632fd']),
};
const UTILS = {
  setCharset: new Set(['eaa449386d5aa1a4']),
  etag: new Set(['cdcc50d1f698487f']),
  wetag: new Set(['cdcc50d1f698487f']),
};
const ETAG = new Set(['c9f1445f0c955623']);

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

interface Send {
  /** Has it, for all apps of this Express. */
  readonly holder: object;
  readonly send: Fn;
  readonly get: unknown;
  readonly set: unknown;
  readonly status: unknown;
  readonly appGet: unknown;
  readonly appSet: unknown;
  readonly isFive: boolean;
  /** Two functions that make tags for bodies. */
  readonly tags: { readonly weak: unknown; readonly strong: unknown };
  /** Gives a type the charset in which texts are sent. */
  readonly setCharset: (type: string, charset: string) => unknown;
  /** Nobody has replaced what takes types apart. */
  isUntouched(): boolean;
}

type Fn = (this: unknown, ...args: never[]) => unknown;

/** How this app's Express answers, if that is known. */
function findSend(app: object): Send | null {
  let holder: unknown = read(app, ['response']).response;
  while (isObject(holder) && !Object.hasOwn(holder, 'send')) holder = Object.getPrototypeOf(holder);
  if (!isObject(holder) || !hasTexts(holder, RESPONSE) || !hasTexts(app, SETTINGS)) return null;
  const own = Object.getOwnPropertyDescriptor(holder, 'send');
  const isFive = isIn(own?.value, SEND_5);
  if (own?.writable !== true || !own.configurable || !(isFive || isIn(own.value, SEND_4))) return null;
  const used = usedBy(holder);
  if (used === null) return null;
  const { get, set, status } = read(holder, ['get', 'set', 'status']);
  const { get: appGet, set: appSet } = read(app, ['get', 'set']);
  return { holder, send: own.value, get, set, status, appGet, appSet, isFive, ...used };
}

/** The modules behind: as Node keeps them, since functions do not show what they close over. */
function usedBy(response: object): Pick<Send, 'tags' | 'setCharset' | 'isUntouched'> | null {
  const module = Object.values(require.cache).find((each) => each?.exports === response);
  const utils = childOf(module, (each) => hasTexts(each, UTILS));
  const etag = childOf(utils, (each) => isIn(each, ETAG));
  const types = childOf(utils, (each) => hasAll(each, ['parse', 'format']));
  if (utils === undefined || etag === undefined || types === undefined) return null;
  const { wetag: weak, etag: strong, setCharset } = read(utils.exports, ['wetag', 'etag', 'setCharset']);
  const mimes = childOf(module, (each) => hasAll(each, ['contentType', 'lookup'])) ?? types;
  const [parser, named]: readonly Parsers[] = [types.exports, mimes.exports];
  if (parser === undefined || named === undefined) return null;
  const { parse, format } = parser;
  const { contentType } = named;
  return {
    tags: { weak, strong },
    setCharset: setCharset as Send['setCharset'],
    isUntouched: () => parser.parse === parse && parser.format === format && named.contentType === contentType,
  };
}

interface Parsers {
  readonly parse?: unknown;
  readonly format?: unknown;
  readonly contentType?: unknown;
}

function childOf(parent: NodeModule | undefined, is: (value: object) => boolean): NodeModule | undefined {
  return parent?.children.find(({ exports: value }: { readonly exports: unknown }) => isObject(value) && is(value));
}

function hasAll(value: object, names: readonly string[]): boolean {
  return names.every((name) => typeof Reflect.get(value, name) === 'function');
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

export = { isKnown, findSend, asLoaded };
