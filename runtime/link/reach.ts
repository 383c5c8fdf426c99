/**
 * Reads: a function of the running program.
 * Gives: what it can reach from there, as one short text for each variable that it names: code by its place, data by its
 *        content, recursively. A home and a replica in which these texts are the same went through the same start-up,
 *        as far as this function is concerned.
 *
 * Variables that the program changes while it serves are left out: fluxions that touch these do not leave their owner.
 * Objects of packages and of Node are told by their class only: models say what may be repeated of them.
 */
import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import Module from 'node:module';
import { fileURLToPath } from 'node:url';
import { types } from 'node:util';
import { ANY_NAME, type AppName } from '../../flx/program.js';
import { http } from '../node-http.js';
import process from '../node-process.cjs';
import { lexicalThis } from './arrows.js';
import type { Dependencies } from './guards.js';
import type { FunctionPlace, Reflector } from './reflect.js';

export interface ReachOptions {
  /** A file of the app, which can be looked into. */
  isApp(url: string): boolean;
  /** Some code changes this variable after start-up. */
  changes(url: string, name: string): boolean;
  /** Start-up sets this variable some time, and nobody else does. */
  isSetLater?(url: string, name: string): boolean;
  /** What modules of these files export is told by name. */
  isNamed?(file: string): boolean;
  /** What functions may find on the app's own apps, wherever they have these from. */
  readonly apps?: AppProperties;
}

export interface AppProperties {
  readonly apps: readonly object[];
  readonly names: readonly AppName[];
}

const NONE: ReadonlyMap<string, unknown> = new Map();
const NAMES = /[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/gu;

export const OF_NODE = new RegExp(
  `^node:|^(?:file://)?${fileURLToPath(new URL('../', import.meta.url)).replace(/\W/g, '\\$&')}`,
);

const OF_PACKAGE = 'package ';

/** In the place of a value that V8 does not tell. */
const UNTOLD = Symbol('untold');

/** Beyond this nothing is proven any more. */
const MOST_NODES = 300_000;
const MOST_FUNCTIONS = 6_000;

/** By variable, the objects, functions and symbols that it leads to, in the order in which they were told: where the texts are the same, so is
 *  the order. */
export type Parts = ReadonlyMap<string, readonly (object | symbol)[]>;

/** One answer: what has been met in it is told once. */
interface Told {
  readonly objects: Map<object | symbol, number>;
  readonly functions: Set<object>;
  /** What is code, or has methods, and is not looked into: with the file of that code, which may be empty. Null where nobody asks. */
  readonly strangers: Map<object, string> | null;
  /** The variable by which it is come by. */
  variable: string;
  readonly dependencies: Dependencies | null;
}

function newTold(variable: string, dependencies: Dependencies | null): Told {
  return { objects: new Map(), functions: new Set(), strangers: null, variable, dependencies };
}

interface FunctionFacts {
  /** Null for functions of Node and V8. */
  readonly place: FunctionPlace | null;
  readonly variables: ReadonlyMap<string, unknown>;
}

export class Reach {
  readonly #reflector: Reflector;
  readonly #options: ReachOptions;
  /** Asked for once: that is what costs time. */
  readonly #facts = new Map<object, FunctionFacts>();
  /** What modules of Node and of packages export: these are told by name. */
  readonly #modules: ReadonlyMap<unknown, string>;
  /** What bound functions stand for. */
  readonly #targets = new WeakMap<object, object>();
  /** Which names of app properties its text has. */
  readonly #named = new WeakMap<object, readonly AppName[]>();
  #nodes = 0;

  constructor(reflector: Reflector, options: ReachOptions) {
    this.#reflector = reflector;
    this.#options = options;
    this.#modules = findModules(options);
  }

  /** What a module exports, or the language has. */
  isShared(value: object): boolean {
    return this.#modules.has(value);
  }

  /** By variable, of those that the function's own text names. `strangers` gets what is not looked into. */
  of(
    fn: object,
    dependencies: Dependencies | null = null,
    strangers: Map<object, string> | null = null,
  ): ReadonlyMap<string, string> {
    const told: Told = { objects: new Map(), functions: new Set([fn]), strangers, variable: '', dependencies };
    const { place, variables } = this.#factsOf(fn);
    const found = new Map<string, string>();
    for (const [name, value] of variables) {
      told.variable = name;
      found.set(name, short(this.#tellVariable(place, name, value, told)));
    }
    for (const each of told.functions) dependencies?.addText(this.#textOf(each));
    for (const [name, text] of this.#ofApps(told.functions, dependencies)) found.set(name, text);
    return found;
  }

  /** The same of values that have names, each by itself. Code of packages that they hold asks the app for nothing. */
  ofValues(
    values: { readonly [name: string]: unknown },
    dependencies: Dependencies | null = null,
  ): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    for (const [name, value] of Object.entries(values)) {
      const told: Told = newTold(name, dependencies);
      found.set(name, short(this.#tell(value, told)));
      for (const each of told.functions) if (this.#isApps(each)) dependencies?.addText(this.#textOf(each));
    }
    return found;
  }

  #isApps(fn: object): boolean {
    const { place } = this.#factsOf(fn);
    return place !== null && this.#options.isApp(place.url);
  }

  /** What these functions, and those that are found there, may find on apps. Replicas may have them in another order. */
  #ofApps(functions: Iterable<object>, dependencies: Dependencies | null): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    const { apps, names } = this.#options.apps ?? { apps: [], names: [] };
    if (names.length === 0) return found;
    const queue = new Set(functions);
    const mixed = new Set<AppName>();
    for (const fn of queue) {
      for (const named of this.#namedIn(fn, names)) {
        const { name, changes, fields } = named;
        if (changes) mixed.add(named);
        const tell = (path: string, holders: readonly object[], key: string): void => {
          if (found.has(path)) return;
          const texts = new Set<string>();
          for (const holder of holders.filter((each) => key in each)) {
            const data = dataIn(holder, key);
            if (data === null) {
              // To ask it would run code of the app.
              texts.add(OF_THIS_LOOP);
              continue;
            }
            const told: Told = newTold(path, dependencies);
            texts.add(this.#tell(data.value, told));
            dependencies?.addProperty(path, holder, key);
            for (const each of told.functions) queue.add(each);
          }
          found.set(path, short([...texts].sort().join()));
        };
        const held = apps.map((app): unknown => dataIn(app, name)?.value).filter(isObject);
        if (!changes) tell(`app.${name}`, apps, name);
        for (const field of fields) if (!field.changes) tell(`app.${name}.${field.name}`, held, field.name);
      }
    }
    const isNamed = (name: string): boolean => [...queue].some((fn) => isNamedIn(this.#textOf(fn), name));
    for (const { name, fields } of mixed) {
      const changing = fields.filter(({ changes }) => changes);
      if (changing.length === 0 || changing.some((field) => isNamed(field.name)))
        found.set(`app.${name}`, OF_THIS_LOOP);
    }
    return found;
  }

  /** Of what is bound that of the function itself. */
  #textOf(fn: object): string {
    return textOf(this.#targets.get(fn) ?? fn);
  }

  #namedIn(fn: object, names: readonly AppName[]): readonly AppName[] {
    let found = this.#named.get(fn);
    if (found === undefined) {
      const text = this.#textOf(fn);
      const hasAny = names.some(({ name }) => name === ANY_NAME);
      found = names.filter(({ name }) => name !== ANY_NAME && (hasAny || isNamedIn(text, name)));
      this.#named.set(fn, found);
    }
    return found;
  }

  #factsOf(fn: object): FunctionFacts {
    const known = this.#facts.get(fn);
    if (known !== undefined) return known;
    const isBound = isBuiltIn(fn);
    const looked = this.#reflector.look(fn, ({ url }) => (isBound ? null : this.#wanted(fn, url)));
    const facts = looked.place === null ? looked : { ...looked, variables: this.#allVariables(fn, looked, isBound) };
    this.#facts.set(fn, facts);
    return facts;
  }

  #allVariables(fn: object, { place, variables }: FunctionFacts, isBound: boolean): ReadonlyMap<string, unknown> {
    if (isBound) return this.#boundVariables(fn);
    if (place === null || !this.#options.isApp(place.url)) return variables;
    const kind = lexicalThis(Function.prototype.toString.call(fn));
    if (kind === 'none') return variables;
    const around = kind === 'around' ? this.#reflector.lexicalThis(fn) : null;
    return new Map([...variables, ['this', around === null ? UNTOLD : around.is]]);
  }

  /** A bound function reaches what it is bound to. */
  #boundVariables(fn: object): ReadonlyMap<string, unknown> {
    const bound = this.#reflector.bound(fn);
    if (bound === null) return NONE;
    const { target, self, args } = bound;
    this.#targets.set(fn, this.#targets.get(target) ?? target);
    return new Map([...this.#factsOf(target).variables, ['this', self], ['arguments', args]]);
  }

  /** Which variables of a function it may go by. */
  #wanted(fn: object, url: string): ((name: string) => boolean) | null {
    if (!this.#options.isApp(url)) return null;
    const named = new Set(Function.prototype.toString.call(fn).match(NAMES));
    return (name) => named.has(name) && !this.#options.changes(url, name);
  }

  #tellVariable(place: FunctionPlace | null, name: string, value: unknown, told: Told): string {
    if (!isObject(value) && place !== null && this.#options.isSetLater?.(place.url, name) === true)
      return unlike('not set so far');
    return this.#tell(value, told);
  }

  #tell(value: unknown, told: Told): string {
    if (++this.#nodes > MOST_NODES) return unlike('too much');
    if (value === UNTOLD) return unlike('what nobody can tell');
    const name = this.#modules.get(value);
    if (name !== undefined) {
      if (!name.startsWith(OF_PACKAGE) || !isObject(value)) return name;
      if (isOneConnection(name, value)) return unlike('one connection');
      // Some export what the language has (`module.exports = Object`).
      if (!(typeof value === 'function' && isBuiltIn(value))) told.strangers?.set(value, name.slice(OF_PACKAGE.length));
      told.dependencies?.addExports(told.variable, value);
      return name;
    }
    if (typeof value === 'function') return this.#tellFunction(value, told);
    if (typeof value === 'symbol') return this.#tellSymbol(value, told);
    if (typeof value !== 'object' || value === null) return tellPrimitive(value);
    const known = told.objects.get(value);
    if (known !== undefined) return `#${known}`;
    told.objects.set(value, told.objects.size);
    if (types.isProxy(value)) {
      told.strangers?.set(value, '');
      return 'proxy';
    }
    if (types.isPromise(value)) return this.#tellPromise(value, told);
    return this.#tellObject(value, told);
  }

  #tellFunction(fn: object, told: Told): string {
    const { place, variables } = this.#factsOf(fn);
    // What the recorder and the firewall put in the place of Node's functions counts as these.
    if (place === null || types.isProxy(fn) || OF_NODE.test(place.url))
      return `native ${String(Reflect.get(fn, 'name'))}`;
    // What was made from text stands in no file.
    const at = `${place.url === '' ? hash(textOf(fn)) : place.url}:${place.line}:${place.column}`;
    if (!this.#options.isApp(place.url) && isOneConnection(place.url, fn)) return unlike('one connection');
    if (told.functions.has(fn)) return at;
    told.functions.add(fn);
    if (!this.#options.isApp(place.url)) told.strangers?.set(fn, place.url);
    told.dependencies?.addPart(told.variable, fn);
    if (this.#facts.size > MOST_FUNCTIONS) return unlike('too many functions');
    const inner = [...variables].map(([name, value]) => `${name}=${this.#tellVariable(place, name, value, told)}`);
    return `${at}{${inner.join()}}`;
  }

  /** Another one on each loop, unless it is registered. */
  #tellSymbol(symbol: symbol, told: Told): string {
    const known = told.objects.get(symbol);
    if (known !== undefined) return `#${known}`;
    told.objects.set(symbol, told.objects.size);
    if (Symbol.keyFor(symbol) === undefined) told.dependencies?.addPart(told.variable, symbol);
    return tellPrimitive(symbol);
  }

  /** One that waits here for what start-up began would wait for ever. */
  #tellPromise(promise: object, told: Told): string {
    const settled = this.#reflector.settled(promise);
    return settled === null ? unlike('a promise that is pending') : `promise(${this.#tell(settled.value, told)})`;
  }

  #tellObject(value: object, told: Told): string {
    const standard = standardName(value);
    if (standard !== null) return standard;
    const prototype: unknown = Object.getPrototypeOf(value);
    const isPlain = prototype === null || prototype === Object.prototype || prototype === Array.prototype;
    if (!isPlain && !hasOwnText(value)) return this.#tellInstance(value, prototype, told);
    told.dependencies?.addPart(told.variable, value);
    if (types.isDate(value)) return `date ${value.getTime()}`;
    if (types.isRegExp(value)) return `regexp ${String(value)}`;
    if (ArrayBuffer.isView(value))
      return `bytes ${hash(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))}`;
    if (types.isMap(value)) return `map(${[...value].map((entry) => this.#tell(entry, told)).join()})`;
    if (types.isSet(value)) return `set(${[...value].map((item) => this.#tell(item, told)).join()})`;
    return `{${this.#tellProperties(value, told)}}`;
  }

  #tellInstance(value: object, prototype: unknown, told: Told): string {
    const maker: unknown =
      typeof prototype === 'object' && prototype !== null ? Reflect.get(prototype, 'constructor') : null;
    if (typeof maker !== 'function') return 'an instance';
    const { place } = this.#factsOf(maker);
    if (told.strangers !== null && maker === Object)
      return `{${this.#tellProperties(value, told)}} of ${this.#tell(prototype, told)}`;
    if (place === null) return `a ${maker.name}`;
    told.dependencies?.addPart(told.variable, value);
    // Its methods are in the text of its class.
    if (this.#options.isApp(place.url)) {
      const privates = [...this.#reflector.privates(value)].map(([name, own]) => `${name}:${this.#tell(own, told)}`);
      return `a ${this.#tellFunction(maker, told)}{${privates.join()};${this.#tellProperties(value, told)}}`;
    }
    if (isOneConnection(place.url, value)) return unlike('one connection');
    if (!OF_NODE.test(place.url)) told.strangers?.set(value, place.url);
    else if (isLive(value)) told.strangers?.set(value, '');
    return `a ${place.url}:${place.line}:${place.column}`;
  }

  /** Code that runs where the property is read. */
  #noteAccessor(found: PropertyDescriptor | undefined, { strangers }: Told): void {
    if (strangers === null) return;
    for (const each of [found?.get, found?.set]) {
      const place = each === undefined ? null : this.#factsOf(each).place;
      if (each !== undefined && place !== null && !this.#options.isApp(place.url) && !OF_NODE.test(place.url))
        strangers.set(each, place.url);
    }
  }

  #tellProperties(value: object, told: Told): string {
    told.dependencies?.addObject(told.variable, value);
    const parts: string[] = [];
    for (const key of Reflect.ownKeys(value)) {
      const found = Object.getOwnPropertyDescriptor(value, key);
      this.#noteAccessor(found, told);
      parts.push(
        `${String(key)}:${found !== undefined && 'value' in found ? this.#tell(found.value, told) : 'accessor'}`,
      );
    }
    return parts.join();
  }
}

/** A connection to a database has a memory: settings, temporary tables, a transaction, the order of what it was asked. */
const CONNECTION =
  /[\\/]node_modules[\\/](?:pg[\\/]lib[\\/](?:native[\\/])?client|mysql[\\/]lib[\\/](?:Pool)?Connection|mysql2[\\/]lib[\\/](?:base[\\/]|promise[\\/])?(?:pool_)?connection)\.js$/;
const POOLED =
  /[\\/]node_modules[\\/](?:pg-pool|pg|mysql|mysql2|mariadb|mongodb|mongoose|knex|sequelize|mssql|generic-pool|oracledb|typeorm)[\\/]/;

/** Where these packages keep how many connections a pool may have, seen from a pool, a database, a mapper, a model. */
const SIZES: readonly (readonly string[])[] = [
  ...[
    '',
    'pool.',
    'client.',
    's.',
    's.client.',
    's.db.client.',
    'db.client.',
    'connection.client.',
    'client.s.',
  ].flatMap((to) => [
    `${to}options.max`,
    `${to}options.maxPoolSize`,
    `${to}options.poolSize`,
    `${to}options.extra.connectionLimit`,
    `${to}config.connectionLimit`,
    `${to}config.pool.max`,
  ]),
  'options.pool.max',
  'sequelize.options.pool.max',
  'config.max',
  'poolMax',
].map((path) => path.split('.'));

/** Or a pool of one. */
function isOneConnection(url: string, value: object): boolean {
  return CONNECTION.test(url) || (POOLED.test(url) && SIZES.some((path) => valueAt(value, path) === 1));
}

/** An open file, a socket, somebody's events: replicas have none that leads to the same. Each may have its own connections to a server. */
function isLive(value: object): boolean {
  if (!(value instanceof EventEmitter) || !Object.hasOwn(value, '_events')) return false;
  return !(value instanceof http.Agent) || value.maxSockets === 1 || value.maxTotalSockets === 1;
}

function valueAt(value: object, path: readonly string[]): unknown {
  let at: unknown = value;
  try {
    for (const name of path) at = isObject(at) ? Reflect.get(at, name) : undefined;
    return at;
  } catch {
    // Some cannot be asked before they are connected.
    return undefined;
  }
}

/** Replicas have streams in their place that lead to home's. Only what is known to be one is compared: Node makes them when they are asked for. */
function standardName(value: object): string | null {
  if (dataIn(value, '_isStdio')?.value !== true) return null;
  return value === process.stdout ? 'process.stdout' : value === process.stderr ? 'process.stderr' : null;
}

/** What is told by what it holds, whatever it inherits from. */
function hasOwnText(value: object): boolean {
  return (
    types.isDate(value) ||
    types.isRegExp(value) ||
    ArrayBuffer.isView(value) ||
    types.isMap(value) ||
    types.isSet(value)
  );
}

function findModules({ isApp, isNamed = () => true }: ReachOptions): ReadonlyMap<unknown, string> {
  const modules = new Map<unknown, string>([
    [globalThis, 'the global object'],
    [console, 'console'],
    [process, 'process'],
  ]);
  for (const name of loadedModules()) modules.set(require(name), `module ${name}`);
  for (const [file, module] of Object.entries(require.cache)) {
    if (!isApp(file) && isNamed(file) && isObject(module?.exports)) modules.set(module.exports, `${OF_PACKAGE}${file}`);
  }
  return modules;
}

const require = Module.createRequire(import.meta.url);

/** Only those: some do something when they are loaded. */
function loadedModules(): readonly string[] {
  const list: unknown = Reflect.get(process, 'moduleLoadList');
  const loaded = new Set(Array.isArray(list) ? list : []);
  return Module.builtinModules.filter((name) => loaded.has(`NativeModule ${name}`));
}

function textOf(fn: object): string {
  return Function.prototype.toString.call(fn);
}

/** Of functions that have a place only bound ones show no text. */
function isBuiltIn(fn: object): boolean {
  return /\{\s*\[native code\]\s*\}$/.test(Function.prototype.toString.call(fn));
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function tellPrimitive(value: unknown): string {
  return typeof value === 'string'
    ? JSON.stringify(value)
    : Object.is(value, -0)
      ? '-0'
      : `${typeof value} ${String(value)}`;
}

/** Null for an accessor. */
function dataIn(holder: object, key: string): { readonly value: unknown } | null {
  for (let at: object | null = holder; at !== null; at = Object.getPrototypeOf(at)) {
    const found = Object.getOwnPropertyDescriptor(at, key);
    if (found !== undefined) return 'value' in found ? { value: found.value } : null;
  }
  return { value: undefined };
}

/** As a property: behind a point, in quotes, or taken out of an object. */
function isNamedIn(text: string, name: string): boolean {
  if (!text.includes(name)) return false;
  const escaped = name.replace(/\$/g, '\\$');
  return new RegExp(`(?:[.'"\`{,\\n]|\\*/)\\s*${escaped}(?![\\p{ID_Continue}$])`, 'u').test(text);
}

let count = 0;

/** Like nothing else, on no loop. */
function unlike(what: string): string {
  return `${what} ${process.pid} ${performance.now()} ${count++}`;
}

/** The same each time, and different on each loop. */
const OF_THIS_LOOP = unlike('what changes');

function short(text: string): string {
  return text.length <= 60 ? text : hash(text);
}

function hash(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('base64url').slice(0, 22);
}
