/**
 * Reads: the live stacks below a server (Express 4 and 5), and which of their functions have to run at home.
 * Gives: whether a request with this method and this address may come to one of them. It says so too often rather than too
 *        seldom: where a layer cannot be asked, it counts as one that takes every request.
 *
 * The layers themselves are asked, as the router would ask them; nothing of the request has run by then. What code may do that
 * changes the answer (`req.url = …`) is for others to rule out.
 */
import { stackOf } from '../link/routers.js';

/** A function that has to run at home. */
export interface Stay {
  readonly path: string;
  /** It answers only requests whose addresses begin with this, and passes on the others; null: all that come to it. */
  readonly prefix: string | null;
}

export interface Stack {
  /** Apps, routers and routes by their paths. */
  readonly things: ReadonlyMap<string, object>;
}

/** What is left of the path for what is mounted there; null where the layer does not match, `UNKNOWN` where that is not known. */
type Match = (path: string) => string | null | typeof UNKNOWN;

const UNKNOWN = Symbol('unknown');

interface Node {
  readonly match: Match;
  /** Every path comes to what is below. */
  readonly isOpen: boolean;
  readonly below: Map<unknown, Node>;
  /** Methods, in small letters, whose requests have to be served at home; null: all. */
  methods: Set<string> | null;
}

/** Where a path ends other than by `?`, routers leave the parsing to others. */
const ODD = /[\t\n\f\r #\u00a0\ufeff]/;
const MOST_KNOWN = 1_000;
const LONG = 200;

export class Meets {
  readonly #roots: readonly Node[];
  readonly #known = new Map<string, boolean>();

  constructor({ things }: Stack, stays: readonly Stay[]) {
    const roots = new Map<unknown, Node>();
    for (const { path, prefix } of stays) {
      if (prefix === null) add(roots, path, things);
      else addPrefix(roots, prefix);
    }
    this.#roots = [...roots.values()];
  }

  /** All requests do. */
  get isAlways(): boolean {
    return this.#roots.some(isAlways);
  }

  mayMeet(method: string, url: string): boolean {
    if (this.#roots.length === 0) return false;
    if (!url.startsWith('/') || ODD.test(url)) return true;
    const end = url.indexOf('?');
    const path = end === -1 ? url : url.slice(0, end);
    const key = `${method} ${path}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const found = this.#roots.some((root) => meets(root, method.toLowerCase(), path));
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    if (key.length <= LONG) this.#known.set(key, found);
    return found;
  }
}

function isAlways({ isOpen, methods, below }: Node): boolean {
  return isOpen && (methods === null || [...below.values()].some(isAlways));
}

function meets(node: Node, method: string, path: string): boolean {
  const rest = node.match(path);
  if (rest === null) return false;
  const { methods } = node;
  // An answer to HEAD may come from what answers GET.
  if (methods === null || methods.has(method) || (method === 'head' && methods.has('get'))) return true;
  if (rest === UNKNOWN) return node.below.size > 0;
  for (const each of node.below.values()) if (meets(each, method, rest)) return true;
  return false;
}

// --- the layers above a function ----------------------------------------------------------------------------------------

/** `0/3/1/route/0`: layer 3 of the app, layer 1 of the router there, the first function of the route there. */
function add(roots: Map<unknown, Node>, path: string, things: ReadonlyMap<string, object>): void {
  const [top = '', ...steps] = path.split('/');
  let node = nodeIn(roots, top, everything, true);
  let at = top;
  for (const step of steps) {
    // Functions for a parameter are called wherever their router has it.
    if (step.startsWith(':')) break;
    if (step === 'route') {
      at += '/route';
      continue;
    }
    const layer = stackOf(things.get(at) ?? {})?.[Number(step)];
    if (!isObject(layer)) break;
    at += `/${step}`;
    if (at.endsWith(`/route/${step}`)) return addMethod(node, Reflect.get(layer, 'method'));
    node = nodeIn(node.below, layer, matchOf(layer), isOpen(layer));
  }
  node.methods = null;
}

function addPrefix(roots: Map<unknown, Node>, prefix: string): void {
  const match: Match = (path) => (path.startsWith(prefix) ? path : null);
  nodeIn(roots, `begins with ${prefix}`, match, false).methods = null;
}

function nodeIn(nodes: Map<unknown, Node>, key: unknown, match: Match, open: boolean): Node {
  const known = nodes.get(key);
  if (known !== undefined) return known;
  const made: Node = { match, isOpen: open, below: new Map(), methods: new Set() };
  nodes.set(key, made);
  return made;
}

/** Of a function of a route; without one it takes all of them. */
function addMethod(node: Node, method: unknown): void {
  if (typeof method !== 'string') node.methods = null;
  else node.methods?.add(method.toLowerCase());
}

// --- what a layer matches -------------------------------------------------------------------------------------------------

const everything: Match = (path) => path;
const unknown: Match = () => UNKNOWN;

/** `use(fn)`, and what cannot be asked. */
function isOpen(layer: object): boolean {
  const match = matchOf(layer);
  return match === everything || match === unknown;
}

function matchOf(layer: object): Match {
  const { slash, matchers, regexp } = read(layer);
  if (Array.isArray(matchers)) {
    if (slash === true) return everything;
    return matchers.every(isMatcher) && hasPlainPath(layer) ? matchBy(matchers) : unknown;
  }
  if (!(regexp instanceof RegExp)) return unknown;
  if (Reflect.get(regexp, 'fast_slash') === true) return everything;
  if (Reflect.get(regexp, 'fast_star') === true) return unknown;
  // One of the app's own may remember where it stopped.
  const own = new RegExp(regexp.source, regexp.flags.replace(/[gy]/g, ''));
  return (path) => {
    const found = own.exec(path);
    return found === null ? null : behind(found[0], path);
  };
}

type Matcher = (path: string) => unknown;

function matchBy(matchers: readonly Matcher[]): Match {
  return (path) => {
    try {
      for (const matcher of matchers) {
        const found = matcher(path);
        const removed: unknown = isObject(found) ? Reflect.get(found, 'path') : false;
        if (typeof removed === 'string') return behind(removed, path);
        if (found !== false) return UNKNOWN;
      }
      return null;
    } catch {
      // A parameter that is not well encoded: handlers of errors may be called.
      return UNKNOWN;
    }
  };
}

function behind(removed: string, path: string): string | typeof UNKNOWN {
  if (!path.startsWith(removed)) return UNKNOWN;
  const rest = path.slice(removed.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function isMatcher(value: unknown): value is Matcher {
  return typeof value === 'function';
}

/** What `path-to-regexp` makes remembers nothing; a regular expression of the app may, and then asking changes its next answer. */
function hasPlainPath(layer: object): boolean {
  const { matchers, route } = read(layer);
  const given: unknown = isObject(route) ? Reflect.get(route, 'path') : undefined;
  const paths: readonly unknown[] = Array.isArray(given) ? given : [given];
  const expressions = paths.filter((path) => path instanceof RegExp);
  if (expressions.some(({ global, sticky }) => global || sticky)) return false;
  return expressions.length > 0 || (Array.isArray(matchers) && matchers.every(({ name }) => name === 'match'));
}

const NAMES = ['slash', 'matchers', 'regexp', 'route'] as const;

function read(layer: object): { readonly [name in (typeof NAMES)[number]]?: unknown } {
  return Object.fromEntries(NAMES.map((name) => [name, Reflect.get(layer, name)]));
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}
