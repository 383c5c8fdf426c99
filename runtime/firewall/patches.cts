/**
 * Reads:   functions of Node's core, where they hang.
 * Gives:   the same functions with something to say about each call, and a way back.
 *
 * What is put in place is a proxy: name, length, own properties and `new` are the original's, and once its trap is gone
 * the copies that the app has taken lead straight to the original. A function that hangs in several places
 * (`setTimeout`, `timers.setTimeout`) is replaced by the same proxy everywhere.
 */
import crypto = require('node:crypto');
import Module = require('node:module');

type Fn = (this: unknown, ...args: unknown[]) => unknown;
type Handler = ProxyHandler<Fn>;

interface Patch {
  readonly holder: object;
  readonly key: string | symbol;
  readonly before: PropertyDescriptor | undefined;
  put: unknown;
}

/** All that stand for functions of Node's. */
const replaced = new WeakSet<object>();

class Patches {
  readonly #patches: Patch[] = [];
  readonly #proxies = new Map<Fn, { readonly proxy: Fn; readonly handler: Handler }>();

  /** Replaces the function at `holder[key]`, if there is one; `make` gives what the proxy does, once for each function. */
  wrap(holder: object, key: string, make: (original: Fn) => Handler): boolean {
    const before = Object.getOwnPropertyDescriptor(holder, key);
    if (before === undefined || !before.configurable) return false;
    const original: unknown = before.value ?? Reflect.get(holder, key);
    if (!isFunction(original)) return false;
    this.#define(holder, key, before, { value: this.#proxyOf(original, make) });
    return true;
  }

  /**
   * The same for what Node loads when it is read for the first time, which may take longer than all that the app needs. `same` has it too:
   * of a global even asking what kind of property it is may load it.
   */
  wrapOnceRead(holder: object, key: string, make: (original: Fn) => Handler, same: object | null = null): void {
    const before =
      (same === null ? null : readElsewhere(holder, key, same)) ?? Object.getOwnPropertyDescriptor(holder, key);
    const read = before?.get;
    if (before?.configurable !== true || read === undefined) return void this.wrap(holder, key, make);
    const become = (value: unknown): unknown => {
      Object.defineProperty(holder, key, {
        value,
        writable: true,
        enumerable: !!before.enumerable,
        configurable: true,
      });
      patch.put = value;
      return value;
    };
    const get = (): unknown => {
      const original = Reflect.apply(read, holder, []);
      return become(isFunction(original) ? this.#proxyOf(original, make) : original);
    };
    const patch: Patch = { holder, key, before, put: get };
    Object.defineProperty(holder, key, { get, set: become, enumerable: !!before.enumerable, configurable: true });
    this.#patches.push(patch);
  }

  /** `tell` is called before an accessor of Node's is read for the first time; it is then as it was. */
  beforeRead(holder: object, key: string, tell: () => void): void {
    const before = Object.getOwnPropertyDescriptor(holder, key);
    const read = before?.get;
    if (before?.configurable !== true || read === undefined) return tell();
    const get = (): unknown => {
      if (Object.getOwnPropertyDescriptor(holder, key)?.get === get) Object.defineProperty(holder, key, before);
      tell();
      return Reflect.apply(read, holder, []);
    };
    Object.defineProperty(holder, key, { ...before, get });
    this.#patches.push({ holder, key, before, put: get });
  }

  #proxyOf(original: Fn, make: (original: Fn) => Handler): Fn {
    let known = this.#proxies.get(original);
    if (known === undefined) {
      const handler = make(original);
      known = { handler, proxy: new Proxy(original, handler) };
      this.#proxies.set(original, known);
      replaced.add(known.proxy);
      // What has been replaced already is left alone when it is met in another place.
      this.#proxies.set(known.proxy, known);
    }
    return known.proxy;
  }

  /** Replaces a value or an accessor. */
  put(holder: object, key: string | symbol, to: { readonly value: unknown } | { readonly get: () => unknown }): void {
    const before = Object.getOwnPropertyDescriptor(holder, key);
    if (before?.configurable !== false) this.#define(holder, key, before, to);
    else if ('value' in to) Reflect.set(holder, key, to.value);
  }

  #define(holder: object, key: string | symbol, before: PropertyDescriptor | undefined, to: PropertyDescriptor): void {
    const enumerable = before?.enumerable ?? true;
    const kind = 'get' in to ? { get: to.get, set: () => {} } : { value: to.value, writable: true };
    Object.defineProperty(holder, key, { ...kind, enumerable, configurable: true });
    this.#patches.push({ holder, key, before, put: to.value ?? to.get });
  }

  /** Puts everything back, but for what somebody else has replaced by now. */
  restore(): void {
    for (const { holder, key, before, put } of this.#patches.reverse()) {
      const now = Object.getOwnPropertyDescriptor(holder, key);
      if (now === undefined || (now.value ?? now.get) !== put) continue;
      if (before === undefined) Reflect.deleteProperty(holder, key);
      else Object.defineProperty(holder, key, before);
    }
    this.#patches.length = 0;
    for (const { handler } of this.#proxies.values()) forget(handler);
    this.#proxies.clear();
    Module.syncBuiltinESMExports();
  }

  /** ES modules see replaced members of Node's modules only after this. */
  publish(): void {
    Module.syncBuiltinESMExports();
  }
}

/** What reads it there in its place, and then is it; null where that cannot be had without loading it. */
function readElsewhere(holder: object, key: string, same: object): PropertyDescriptor | null {
  const read = Object.getOwnPropertyDescriptor(same, key)?.get;
  if (read === undefined || !Object.hasOwn(holder, key)) return null;
  const enumerable = Object.prototype.propertyIsEnumerable.call(holder, key);
  const become = (value: unknown): unknown => {
    Object.defineProperty(holder, key, { value, writable: true, enumerable, configurable: true });
    return value;
  };
  // Before a property is defined anew V8 reads the one that is there; a value that is set takes its place unread.
  Reflect.set(holder, key, undefined);
  return { get: () => become(Reflect.apply(read, same, [])), set: become, enumerable, configurable: true };
}

function forget(handler: Handler): void {
  for (const trap of Object.keys(handler)) Reflect.deleteProperty(handler, trap);
}

function isFunction(value: unknown): value is Fn {
  return typeof value === 'function';
}

/** Where the functions of a module of the table hang; nothing for what this Node does not have. */
function holdersOf(module: string): object[] {
  switch (module) {
    case 'globalThis':
      return [globalThis];
    case 'process':
      return [process];
    case 'Math':
      return [Math];
    case 'Date':
      return [Date];
    case 'performance':
      return owners(performance, 'now');
    case 'Crypto':
      return owners(globalThis.crypto, 'getRandomValues');
    case 'SubtleCrypto':
      return owners(globalThis.crypto?.subtle, 'generateKey');
    case 'Sign':
    case 'ECDH':
    case 'DiffieHellman':
      return objects(crypto[module].prototype);
    case 'WebAssembly':
      return objects(Reflect.get(globalThis, 'WebAssembly'));
    case 'LockManager':
      return owners(locksOf(globalThis), 'request');
    case 'report':
      return owners(process.report, 'writeReport');
    default: {
      return objects(process.getBuiltinModule?.(`node:${module}`) ?? load(module));
    }
  }
}

function objects(value: unknown): object[] {
  return (typeof value === 'object' && value !== null) || isFunction(value) ? [value] : [];
}

function load(module: string): unknown {
  return Module.isBuiltin(`node:${module}`) ? require(`node:${module}`) : undefined;
}

/** What all threads of a process share, in versions that have it. */
function locksOf(scope: object): object | undefined {
  const navigator: unknown = Reflect.get(scope, 'navigator');
  const locks: unknown =
    typeof navigator === 'object' && navigator !== null ? Reflect.get(navigator, 'locks') : undefined;
  return typeof locks === 'object' && locks !== null ? locks : undefined;
}

/** The object itself or the prototype that has the member. */
function owners(object: object | undefined, member: string): object[] {
  for (let at: object | null = object ?? null; at !== null; at = Object.getPrototypeOf(at)) {
    if (Object.hasOwn(at, member)) return [at];
  }
  return [];
}

/** `hrtime.bigint` hangs on `hrtime`. */
function placeOf(holder: object, member: string): { readonly holder: object; readonly key: string } | null {
  const dot = member.indexOf('.');
  if (dot === -1) return { holder, key: member };
  const inner: unknown = Reflect.get(holder, member.slice(0, dot));
  return isFunction(inner) ? { holder: inner, key: member.slice(dot + 1) } : null;
}

/** It stands for a function of Node's, or has done so. */
function standsForNodes(value: object): boolean {
  return replaced.has(value);
}

export = { Patches, standsForNodes, holdersOf, placeOf, isFunction };
