import type { AsyncLocalStorage } from 'node:async_hooks';
import { CannotTravel, type Making } from '../codec.js';
import type { Args } from '../http-bridge/names.js';
import { childOf, isLogger, loggerOf, makeChild } from './child-loggers.js';
import type { Classes } from './classes.js';
import { PackageSymbols } from './package-symbols.js';
import type { Parts } from './reach.js';
import { SchemaFunctions } from './schema-functions.js';
import { SharedObjects } from './shared-objects.js';

/** The place at which it was made comes first. */
const OF_PACKAGE = /^[^|]*[\\/]node_modules[\\/]/;

const VALIDATES = 'validates ';
const SHARED = 'shared ';

const KEPT = 'kept ';
/** On their way there and back. */
const MOST_KEPT = 1024;

/** Names of what both sides of a message have: of apps, routers and routes (`server0 0/3/route`), and of what handlers reach. */
export class AppNames {
  readonly #things = new Map<string, object>();
  readonly #names = new WeakMap<object, string>();
  readonly #shared = new SharedObjects();
  readonly #functions = new SchemaFunctions();
  readonly #symbols = new PackageSymbols();
  readonly #contexts = new Map<string, AsyncLocalStorage<unknown>>();
  /** Names of what cannot travel, and is kept here until it is named again. */
  readonly #kept: string[] = [];
  #keptCount = 0;

  /** `root` is the replica's name of it. */
  add(root: string, things: ReadonlyMap<string, object>): void {
    for (const [path, thing] of things) {
      const name = `${root} ${path}`;
      this.#things.set(name, thing);
      if (!this.#names.has(thing)) this.#names.set(thing, name);
    }
  }

  /** `of`: a handler, under a name that is the same on both sides, and what it was found to reach on both. */
  share(of: string, parts: Parts): void {
    this.#shared.add(of, parts);
  }

  /** Something has changed of which nobody knew that it does: what is sent from now on goes as data. */
  shareNoMore(): void {
    this.#shared.forgetNames();
  }

  #classes: Classes | null = null;

  /** Of classes, where the other loop is known to have them. */
  nameClasses(classes: Classes | null): void {
    this.#classes = classes;
    if (classes !== null) classes.shared = this.#shared;
  }

  classOf(prototype: object): string | undefined {
    return this.#classes?.classOf(prototype);
  }

  prototypeOf(name: string): object | undefined {
    return this.#classes?.prototypeOf(name);
  }

  nameOf(thing: object): string | undefined {
    const name = this.#names.get(thing);
    if (name !== undefined) return name;
    const shared = this.#shared.nameOf(thing);
    if (shared !== undefined) return `${SHARED}${shared}`;
    if (typeof thing !== 'function') return undefined;
    const own = this.#functions.nameOf(thing);
    return own === undefined ? undefined : `${VALIDATES}${own}`;
  }

  thingOf(name: string): object | undefined {
    if (name.startsWith(SHARED)) {
      const found = this.#shared.objectOf(name.slice(SHARED.length));
      return typeof found === 'symbol' ? undefined : found;
    }
    if (name.startsWith(VALIDATES)) return this.#functions.functionOf(name.slice(VALIDATES.length));
    const known = this.#things.get(name);
    if (known !== undefined || !name.startsWith(KEPT) || this.#keptCount > 0) return known;
    const made = standIn();
    this.#names.set(made, name);
    return made;
  }

  /** For a while: the other side may hand it on, and hand it back. */
  keep(thing: object): void {
    const name = `${KEPT}${this.#keptCount++}`;
    this.#things.set(name, thing);
    this.#names.set(thing, name);
    this.#kept.push(name);
    const oldest = this.#kept.length > MOST_KEPT ? this.#kept.shift() : undefined;
    if (oldest !== undefined) this.#things.delete(oldest);
  }

  /** `functions`: those that are called for requests, by names that are the same on both sides. */
  addLoggers(functions: Iterable<readonly [key: string, fn: object]>): void {
    const loggers = new Map<string, object>();
    for (const [key, fn] of functions) {
      const logger = loggerOf(fn);
      if (logger !== null) loggers.set(key, logger);
    }
    if (loggers.size > 0) this.add('logger of', loggers);
  }

  makingOf(thing: object, nameOf: (thing: object) => unknown): Making | undefined {
    const child = childOf(thing, (other) => nameOf(other) !== undefined);
    return child === null ? undefined : { of: nameOf(child.of), texts: child.bound };
  }

  isCalled(thing: object): boolean {
    return isLogger(thing);
  }

  make(of: unknown, texts: readonly string[]): object | undefined {
    return typeof of === 'object' && of !== null ? makeChild(of, texts) : undefined;
  }

  /** What start-up made to keep contexts of requests in, by names that are the same on both sides. */
  addContexts(contexts: ReadonlyMap<string, AsyncLocalStorage<unknown>>): void {
    for (const [name, context] of contexts) this.#contexts.set(name, context);
  }

  get hasContexts(): boolean {
    return this.#contexts.size > 0;
  }

  /** Of the app's own. */
  isContext(thing: object): boolean {
    for (const [name, context] of this.#contexts) if (context === thing) return !OF_PACKAGE.test(name);
    return true;
  }

  contextNamed(name: string): AsyncLocalStorage<unknown> | undefined {
    return this.#contexts.get(name);
  }

  /** What whoever asks now would be given. */
  stores(): Args {
    return Object.fromEntries([...this.#contexts].map(([name, context]) => [name, context.getStore()]));
  }

  symbolName(symbol: symbol): string | undefined {
    const shared = this.#shared.nameOf(symbol);
    return shared === undefined ? this.#symbols.nameOf(symbol) : `${SHARED}${shared}`;
  }

  symbolOf(name: string): symbol | undefined {
    if (!name.startsWith(SHARED)) return this.#symbols.symbolOf(name);
    const found = this.#shared.objectOf(name.slice(SHARED.length));
    return typeof found === 'symbol' ? found : undefined;
  }
}

/** Of what the other side has kept: to be handed on, and not to be looked at. */
function standIn(): object {
  const refuse = (): never => {
    throw new CannotTravel('its result', 'it was kept on another loop');
  };
  const traps = { has: refuse, set: refuse, getPrototypeOf: refuse, ownKeys: refuse, getOwnPropertyDescriptor: refuse };
  // A promise that it comes out of asks whether it is one itself.
  return new Proxy({}, { ...traps, get: (_target, key) => (key === 'then' ? undefined : refuse()) });
}
