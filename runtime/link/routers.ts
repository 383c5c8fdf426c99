/**
 * Reads: what a server calls for each request: an Express 3, 4 or 5 app, a router, a plain function.
 * Gives: every function that is called for requests below it, in order, each with a path that says where it hangs
 *        (`0/3/route/1`) and a way to put another function in its place.
 */
import type { EventEmitter } from 'node:events';
import type { Reflector } from './reflect.js';

export interface Slot {
  readonly path: string;
  readonly fn: Handler;
  /** Handlers of errors have one parameter more; those of parameters of a path come before the path's own. */
  readonly kind: 'handler' | 'error' | 'param';
  /** The app or router whose stack it is in; null for a listener of a plain server. */
  readonly owner: object | null;
  replace(fn: Handler): void;
  /** `give` is asked each time that the router takes the function. Null where it keeps it elsewhere. */
  readonly intercept: ((give: () => Handler) => void) | null;
}

export type Handler = (this: unknown, ...args: never[]) => unknown;

/** What hangs below one server or app. */
export interface Stacks {
  readonly slots: readonly Slot[];
  /** Apps, routers and routes by their paths. */
  readonly things: ReadonlyMap<string, object>;
}

/** Below a server: its listeners, and what these call. */
export function stacksOfServer(server: EventEmitter, reflector: Reflector): Stacks {
  const walker = new Walker(reflector);
  // As they were given: one that was added by `once` is inside of another function.
  server.rawListeners('request').forEach((listener, index) => {
    if (!isHandler(listener)) return;
    if (!hasStack(listener)) walker.addListener(server, listener, `${index}`);
    walkListener(walker, listener, `${index}`, reflector);
  });
  return walker;
}

/** What takes the place of other listeners may do so again: nobody does it more often. */
const MOST_TAKEN_OVER = 4;

function walkListener(walker: Walker, listener: Handler, path: string, reflector: Reflector, depth = 0): void {
  if (hasStack(listener)) return walker.walk(listener, path);
  if (depth > MOST_TAKEN_OVER) return;
  for (const [name, value] of reflector.variables(listener)) {
    // `http.createServer((req, res) => app(req, res))`: the app is one of the function's variables.
    if (hasStack(value)) walker.walk(value, `${path}.${name}`);
    // Who answers some requests itself, as socket.io does, passes the others to the listeners that were there before.
    if (!Array.isArray(value)) continue;
    value.forEach((each: unknown, index) => {
      if (isHandler(each)) walkListener(walker, each, `${path}.${name}.${index}`, reflector, depth + 1);
    });
  }
}

export function stacksOfApp(app: object, reflector: Reflector): Stacks {
  const walker = new Walker(reflector);
  walker.walk(app, '0');
  return walker;
}

/** How many layers an app, a router or a route has: more or fewer when routes have come or gone. */
export function layersOf(value: object): number {
  const stack = stackOf(value) ?? Reflect.get(value, 'callbacks');
  return Array.isArray(stack) ? stack.length : 0;
}

/** True for an app or router; false for what is simply called with each request. */
export function hasStack(value: unknown): boolean {
  return typeof value === 'function' && stackOf(value) !== null;
}

/** Express's own: one path with its handlers. */
export function isRoute(value: object): boolean {
  return typeof value === 'object' && 'path' in value && isArrayIn(value, ['stack', 'callbacks']);
}

function isArrayIn(value: object, names: readonly string[]): boolean {
  return names.some((name) => Array.isArray(Reflect.get(value, name))) && value.constructor?.name === 'Route';
}

class Walker implements Stacks {
  readonly slots: Slot[] = [];
  readonly things = new Map<string, object>();
  readonly #seen = new Set<unknown>();
  readonly #reflector: Reflector;

  constructor(reflector: Reflector) {
    this.#reflector = reflector;
  }

  walk(value: unknown, path: string): void {
    if (typeof value !== 'function' || this.#seen.has(value)) return;
    const stack = stackOf(value);
    if (stack === null) return;
    this.#seen.add(value);
    this.things.set(path, value);
    stack.forEach((layer, index) => void this.#layer(layer, `${path}/${index}`, value));
    this.#oldRoutes(value, path);
    this.#params(value, path);
  }

  addListener(server: EventEmitter, listener: Handler, path: string): void {
    this.#add({
      path,
      fn: listener,
      owner: null,
      replace: (stub) => replaceListener(server, listener, stub),
      intercept: null,
    });
  }

  #layer(layer: unknown, path: string, owner: object): void {
    if (!isObject(layer)) return;
    const route: unknown = Reflect.get(layer, 'route');
    if (isObject(route)) {
      this.things.set(`${path}/route`, route);
      const stack: unknown = Reflect.get(route, 'stack');
      if (Array.isArray(stack))
        stack.forEach((each, index) => void this.#handler(each, `${path}/route/${index}`, owner));
      return;
    }
    this.#handler(layer, path, owner);
  }

  #handler(layer: unknown, path: string, owner: object): void {
    if (!isObject(layer)) return;
    const handle: unknown = Reflect.get(layer, 'handle');
    if (!isHandler(handle)) return;
    if (hasStack(handle)) return this.walk(handle, path);
    // An app that is mounted stands behind a function that knows it as `fn`.
    if (handle.name === 'mounted_app') return this.walk(this.#reflector.variables(handle).get('fn'), path);
    this.#add({ path, fn: handle, owner, ...placeOf(layer, 'handle') });
  }

  /** Express 3 keeps routes by method, each with a list of functions. */
  #oldRoutes(app: object, path: string): void {
    const router: unknown = Reflect.get(app, '_router');
    const map: unknown = isObject(router) ? Reflect.get(router, 'map') : null;
    if (!isObject(map)) return;
    for (const [method, routes] of Object.entries(map)) {
      if (!Array.isArray(routes)) continue;
      routes.forEach((route: unknown, index) => void this.#oldRoute(route, `${path}/${method}/${index}`, app));
    }
  }

  #oldRoute(route: unknown, path: string, owner: object): void {
    const callbacks: unknown = isObject(route) ? Reflect.get(route, 'callbacks') : null;
    if (!isObject(route) || !Array.isArray(callbacks)) return;
    this.things.set(path, route);
    callbacks.forEach((fn: unknown, index) => {
      if (!isHandler(fn)) return;
      this.#add({ path: `${path}/${index}`, fn, owner, ...placeOf(callbacks, index) });
    });
  }

  #params(owner: object, path: string): void {
    const router = isObject(Reflect.get(owner, 'params')) ? owner : routerOf(owner);
    const params: unknown = isObject(router) ? Reflect.get(router, 'params') : null;
    if (!isObject(params) || Array.isArray(params)) return;
    for (const [name, functions] of Object.entries(params)) {
      if (!Array.isArray(functions)) continue;
      functions.forEach((fn: unknown, index) => {
        if (!isHandler(fn)) return;
        this.slots.push({ path: `${path}/:${name}/${index}`, fn, kind: 'param', owner, ...placeOf(functions, index) });
      });
    }
  }

  #add(slot: Omit<Slot, 'kind'>): void {
    this.slots.push({ ...slot, kind: slot.fn.length >= 4 ? 'error' : 'handler' });
  }
}

function placeOf(holder: object, key: string | number): Pick<Slot, 'replace' | 'intercept'> {
  const set = (value: unknown): void => {
    Object.defineProperty(holder, key, { value, configurable: true, enumerable: true, writable: true });
  };
  const intercept = (get: () => Handler): void => {
    Object.defineProperty(holder, key, { get, set, configurable: true, enumerable: true });
  };
  return { replace: set, intercept };
}

/** Listeners are called in order, so all of them are put back in order. */
function replaceListener(server: EventEmitter, listener: Handler, stub: Handler): void {
  const all = server.rawListeners('request');
  server.removeAllListeners('request');
  for (const each of all) server.on('request', each === listener ? asListener(stub) : asListener(each));
}

function asListener(fn: unknown): (...args: unknown[]) => void {
  return typeof fn === 'function' ? (fn as (...args: unknown[]) => void) : () => {};
}

/** Express 5 has its router under `router`, Express 4 under `_router` once something is in it; connect, Express 3 and
 *  routers have the stack themselves. */
function stackOf(value: object): readonly unknown[] | null {
  const own: unknown = Reflect.get(value, 'stack');
  if (Array.isArray(own)) return own;
  const router = routerOf(value);
  const stack: unknown = isObject(router) ? Reflect.get(router, 'stack') : null;
  return Array.isArray(stack) ? stack : null;
}

function routerOf(app: object): unknown {
  const old: unknown = Reflect.get(app, '_router');
  if (old !== undefined) return old;
  try {
    return Reflect.get(app, 'router');
  } catch {
    // Express 4 throws, to say that the property is no more.
    return null;
  }
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function isHandler(value: unknown): value is Handler {
  return typeof value === 'function';
}
