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
  /** The layer, list or server that has the function: with it, what tells this slot from all others, wherever it moves to. */
  readonly holder: object;
  /** Something stands in its place there. */
  readonly hasStub: boolean;
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
  listenersOf(server).forEach((listener, index) => {
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

/**
 * All layers and functions below a server, one after the other: another list when one of them has come, gone, or taken the
 * place of another. To be asked for often, so nothing is looked into.
 */
export function partsOf(server: EventEmitter, things: ReadonlyMap<string, object>): readonly unknown[] {
  const parts = listenersOf(server);
  for (const thing of things.values()) {
    for (const layer of stackOf(thing) ?? []) parts.push(layer, isObject(layer) ? handlerIn(layer, 'handle') : null);
    const callbacks: unknown = Reflect.get(thing, 'callbacks');
    if (Array.isArray(callbacks)) addParts(callbacks, parts);
    for (const lists of [paramsOf(thing), mapOf(thing)]) {
      for (const list of Object.values(lists ?? {})) if (Array.isArray(list)) addParts(list, parts);
    }
  }
  return parts;
}

/** What Fluxion itself listens with. */
const ofFluxion = new WeakSet<object>();

export function prependOwnListener<Args extends unknown[]>(server: EventEmitter, fn: (...args: Args) => void): void {
  ofFluxion.add(fn);
  server.prependListener('request', fn);
}

function listenersOf(server: EventEmitter): unknown[] {
  return server.rawListeners('request').flatMap((each) => (ofFluxion.has(each) ? [] : [originalOf(each)]));
}

/** Functions for a parameter, or the routes of a method in Express 3. */
function addParts(list: readonly unknown[], into: unknown[]): void {
  for (const index of list.keys()) into.push(handlerIn(list, index));
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

/** `GET /sum/:n` of a route's function, `GET .../:n` where its router is mounted somewhere; a path into the stacks for others. */
export function labelOf(path: string, things: ReadonlyMap<string, object>): string {
  const above = path.slice(0, path.lastIndexOf('/'));
  const route = things.get(above);
  const at: unknown = route === undefined ? undefined : Reflect.get(route, 'path');
  if (route === undefined || typeof at !== 'string') return path;
  const depth = above.replace(/\/route$/, '').split('/').length;
  return `${methodsOf(route)} ${depth > 2 ? '...' : ''}${at}`;
}

function methodsOf(route: object): string {
  const one: unknown = Reflect.get(route, 'method');
  if (typeof one === 'string') return one.toUpperCase();
  const methods: unknown = Reflect.get(route, 'methods');
  const names = isObject(methods) ? Object.keys(methods).filter((name) => Reflect.get(methods, name) === true) : [];
  return names.length === 0 || names.includes('_all') ? 'ALL' : names.map((name) => name.toUpperCase()).join(', ');
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
      holder: server,
      replace: (stub) => {
        originals.set(stub, listener);
        replaceListener(server, listener, stub);
      },
      intercept: null,
      hasStub: server.rawListeners('request').some((each) => each !== listener && originalOf(each) === listener),
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
    const handle = handlerIn(layer, 'handle');
    if (!isHandler(handle)) return;
    if (hasStack(handle)) return this.walk(handle, path);
    // An app that is mounted stands behind a function that knows it as `fn`.
    if (handle.name === 'mounted_app') return this.walk(this.#reflector.variables(handle).get('fn'), path);
    this.#add({ path, fn: handle, owner, ...placeOf(layer, 'handle', handle) });
  }

  /** Express 3 keeps routes by method, each with a list of functions. */
  #oldRoutes(app: object, path: string): void {
    for (const [method, routes] of Object.entries(mapOf(app) ?? {})) {
      if (!Array.isArray(routes)) continue;
      routes.forEach((route: unknown, index) => void this.#oldRoute(route, `${path}/${method}/${index}`, app));
    }
  }

  #oldRoute(route: unknown, path: string, owner: object): void {
    const callbacks: unknown = isObject(route) ? Reflect.get(route, 'callbacks') : null;
    if (!isObject(route) || !Array.isArray(callbacks)) return;
    this.things.set(path, route);
    callbacks.forEach((_, index) => {
      const fn = handlerIn(callbacks, index);
      if (!isHandler(fn)) return;
      this.#add({ path: `${path}/${index}`, fn, owner, ...placeOf(callbacks, index, fn) });
    });
  }

  #params(owner: object, path: string): void {
    for (const [name, functions] of Object.entries(paramsOf(owner) ?? {})) {
      if (!Array.isArray(functions)) continue;
      functions.forEach((_, index) => {
        const fn = handlerIn(functions, index);
        if (!isHandler(fn)) return;
        const place = placeOf(functions, index, fn);
        this.slots.push({ path: `${path}/:${name}/${index}`, fn, kind: 'param', owner, ...place });
      });
    }
  }

  #add(slot: Omit<Slot, 'kind'>): void {
    this.slots.push({ ...slot, kind: slot.fn.length >= 4 ? 'error' : 'handler' });
  }
}

type Place = Pick<Slot, 'replace' | 'intercept' | 'holder' | 'hasStub'>;

/** Where a package has put an accessor on what the holder inherits from, the holder gets a property of its own. */
function placeOf(holder: object, key: string | number, fn: Handler): Place {
  const set = (value: unknown): void => {
    Object.defineProperty(holder, key, { value, configurable: true, enumerable: true, writable: true });
  };
  const replace = (stub: Handler): void => {
    originals.set(stub, fn);
    set(stub);
  };
  const intercept = (get: () => Handler): void => {
    originals.set(get, fn);
    Object.defineProperty(holder, key, { get, set, configurable: true, enumerable: true });
  };
  const own = Object.getOwnPropertyDescriptor(holder, key);
  const hasStub = own?.get === undefined ? own?.value !== fn : originals.has(own.get);
  return { holder, replace, intercept, hasStub };
}

/** What stubs, and accessors that may give one, stand for: routers are walked again when they have changed. */
const originals = new WeakMap<object, Handler>();

function originalOf(value: unknown): unknown {
  return typeof value === 'function' ? (originals.get(value) ?? value) : value;
}

/** An accessor of ours is not to be asked: that would count as a call. */
function handlerIn(holder: object, key: string | number): unknown {
  const get = Object.getOwnPropertyDescriptor(holder, key)?.get;
  const original = get === undefined ? undefined : originals.get(get);
  return original ?? originalOf(Reflect.get(holder, key));
}

/** Listeners are called in order, so all of them are put back in order. */
function replaceListener(server: EventEmitter, listener: Handler, stub: Handler): void {
  const all = server.rawListeners('request');
  server.removeAllListeners('request');
  for (const each of all) server.on('request', originalOf(each) === listener ? asListener(stub) : asListener(each));
}

function asListener(fn: unknown): (...args: unknown[]) => void {
  return typeof fn === 'function' ? (fn as (...args: unknown[]) => void) : () => {};
}

/** Express 5 has its router under `router`, Express 4 under `_router` once something is in it; connect, Express 3 and
 *  routers have the stack themselves. */
export function stackOf(value: object): readonly unknown[] | null {
  const own: unknown = Reflect.get(value, 'stack');
  if (Array.isArray(own)) return own;
  const router = routerOf(value);
  const stack: unknown = isObject(router) ? Reflect.get(router, 'stack') : null;
  return Array.isArray(stack) ? stack : null;
}

/** Functions for parameters of paths, by their names. */
function paramsOf(owner: object): object | null {
  const router = isObject(Reflect.get(owner, 'params')) ? owner : routerOf(owner);
  const params: unknown = isObject(router) ? Reflect.get(router, 'params') : null;
  return isObject(params) && !Array.isArray(params) ? params : null;
}

/** Routes of Express 3, by their methods. */
function mapOf(app: object): object | null {
  const router: unknown = Reflect.get(app, '_router');
  const map: unknown = isObject(router) ? Reflect.get(router, 'map') : null;
  return isObject(map) ? map : null;
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
