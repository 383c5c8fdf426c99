/**
 * Reads: prototypes of objects that are to go to another loop, or names of such from there.
 * Gives: a name by which the other loop finds its own prototype of the same class, and that prototype.
 *
 * Both loops have gone through the same start-up. A class is named as what handlers reach on both is, or by where a module exports it, or
 * by the variable of a function that is called for requests; and by a text of what it is and what it reaches, which must be the same on both loops.
 * An instance is no more than its properties only where nothing else knows of it: classes with private fields, of files that
 * keep things in WeakMaps, with native parents, or whose methods touch what changes after start-up, have no name.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Module from 'node:module';
import { fileURLToPath } from 'node:url';
import type { LinkManifest, StartManifest } from '../../flx/run-manifest.js';
import { makeReach } from './compare.js';
import { Reflector } from './reflect.js';
import type { SharedObjects } from './shared-objects.js';

export interface ClassesContext {
  /** Functions that are called for requests, by names that are the same on both loops. */
  readonly slots: ReadonlyMap<string, object>;
  /** What their methods may find something on. */
  readonly apps: Iterable<object>;
  readonly start: StartManifest;
  readonly link: LinkManifest;
}

type Maker = (...args: never[]) => unknown;

/** How the other loop comes to it: `['export', file, 'errors', 'NotFound']`, `['slot', 'server0 0/1', 'NotFound']`, `['shared', '3 server0 0/1 find']`. */
type Way = readonly [kind: 'export' | 'slot' | 'shared', from: string, ...names: string[]];

interface Exported {
  readonly maker: Maker;
  readonly way: Way;
}

const require = Module.createRequire(import.meta.url);

/** Where a chain of prototypes may end. */
const ENDS: ReadonlySet<object | null> = new Set<object | null>([
  null,
  Object.prototype,
  ...[Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError].map(({ prototype }) => prototype),
]);

const KEEPS_ELSEWHERE = /\bWeak(Map|Set|Ref)\b|\bFinalizationRegistry\b/;
/** Its values are what their properties say: what it keeps elsewhere are their texts, to be made once. */
const PLAIN = /[\\/]node_modules[\\/]bson[\\/]/;
const PRIVATE = /^class\b[\s\S]*#[\p{ID_Start}$_]/u;

/** Deeper in what a module exports nobody keeps classes. */
const MOST_DEEP = 2;
const MOST_PROPERTIES = 500;
/** Handlers of one module see the same variables around them. */
const MOST_OF_FILE = 3;

export class Classes {
  readonly #context: ClassesContext;
  /** What is known by one name on both loops. */
  shared: SharedObjects | null = null;
  readonly #names = new WeakMap<object, string | null>();
  readonly #prototypes = new Map<string, object | null>();
  #exported: ReadonlyMap<object, Exported> = new Map();
  #modules = 0;

  constructor(context: ClassesContext) {
    this.#context = context;
  }

  classOf(prototype: object): string | undefined {
    const known = this.#names.get(prototype);
    if (known !== undefined) return known ?? undefined;
    const name = reflecting((reflector) => this.#name(prototype, reflector));
    this.#names.set(prototype, name);
    return name ?? undefined;
  }

  prototypeOf(name: string): object | undefined {
    const known = this.#prototypes.get(name);
    if (known !== undefined) return known ?? undefined;
    const found = reflecting((reflector) => this.#find(name, reflector));
    this.#prototypes.set(name, found);
    return found ?? undefined;
  }

  #name(prototype: object, reflector: Reflector): string | null {
    const exported = this.#exports().get(prototype);
    const way = exported?.way ?? this.#wayAsShared(prototype) ?? this.#wayOfSlot(prototype, reflector);
    const told = way === null ? null : this.#tell(prototype, reflector);
    return told === null ? null : JSON.stringify([...(way ?? []), told]);
  }

  #find(name: string, reflector: Reflector): object | null {
    const [kind, from = '', ...names]: readonly string[] = JSON.parse(name);
    const told = names.pop();
    const maker = this.#makerAt(kind, from, names, reflector);
    const prototype = typeof maker === 'function' ? prototypeOf(maker) : null;
    return prototype !== null && this.#tell(prototype, reflector) === told ? prototype : null;
  }

  // --- where it is ------------------------------------------------------------------------------------------------------

  #makerAt(kind: string | undefined, from: string, names: readonly string[], reflector: Reflector): unknown {
    if (kind === 'export') return exportOf(from, names);
    return kind === 'shared' ? this.shared?.objectOf(from) : this.#variable(from, names[0] ?? '', reflector);
  }

  #wayAsShared(prototype: object): Way | null {
    const maker = makerOf(prototype);
    const name = maker === null ? undefined : this.shared?.nameOf(maker);
    return name === undefined ? null : ['shared', name];
  }

  #exports(): ReadonlyMap<object, Exported> {
    const files = Object.keys(require.cache);
    if (files.length === this.#modules) return this.#exported;
    const found = new Map<object, Exported>();
    for (const file of files) listExports(require.cache[file]?.exports, ['export', file], found);
    this.#modules = files.length;
    this.#exported = found;
    return found;
  }

  #wayOfSlot(prototype: object, reflector: Reflector): Way | null {
    const maker = makerOf(prototype);
    if (maker === null) return null;
    const slots = [...this.#context.slots];
    const places = reflector.locate(slots.map(([, fn]) => fn));
    const seen = new Map<string, number>();
    for (const [index, [key, fn]] of slots.entries()) {
      const url = places[index]?.url ?? '';
      const count = seen.get(url) ?? 0;
      if (url === '' || count >= MOST_OF_FILE) continue;
      seen.set(url, count + 1);
      for (const [name, value] of reflector.variables(fn)) if (value === maker) return ['slot', key, name];
    }
    return null;
  }

  #variable(slot: string, name: string, reflector: Reflector): unknown {
    const fn = this.#context.slots.get(slot);
    return fn === undefined ? undefined : reflector.variables(fn, (other) => other === name).get(name);
  }

  // --- what it is -------------------------------------------------------------------------------------------------------

  /** Null: its instances are more than their properties, or not the same there. */
  #tell(prototype: object, reflector: Reflector): string | null {
    const { start, link, apps } = this.#context;
    let touchesState = false;
    const reach = makeReach(reflector, start, link, apps, () => (touchesState = true));
    const parts: string[] = [];
    for (let at: object | null = prototype; !ENDS.has(at) && at !== null; at = Object.getPrototypeOf(at)) {
      const functions = this.#functionsOf(at, parts);
      if (functions === null) return null;
      for (const [index, place] of reflector.locate(functions).entries()) {
        const fn = functions[index];
        if (fn === undefined || place === null || !/^(file:|[/\\]|\w:[/\\])/.test(place.url)) return null;
        if ((keepsElsewhere(place.url) && !PLAIN.test(place.url)) || PRIVATE.test(Function.prototype.toString.call(fn)))
          return null;
        parts.push(`${place.url}:${place.line}:${place.column} ${JSON.stringify([...reach.of(fn)])}`);
      }
    }
    return touchesState || parts.length === 0 ? null : hash(parts.join('\n'));
  }

  /** Its constructor and methods; primitives that it has for all instances go to `parts`. */
  #functionsOf(prototype: object, parts: string[]): readonly Maker[] | null {
    const maker = this.#exports().get(prototype)?.maker ?? makerOf(prototype);
    if (maker === null) return null;
    const functions = [maker];
    for (const key of Reflect.ownKeys(prototype)) {
      if (key === 'constructor') continue;
      const { value, get, set } = Object.getOwnPropertyDescriptor(prototype, key) ?? {};
      for (const each of [value, get, set]) {
        if (typeof each === 'function') functions.push(each);
        else if (typeof each === 'object' && each !== null) return null;
      }
      parts.push(`${String(key)}=${typeof value === 'function' ? 'method' : String(value)}`);
    }
    return functions;
  }
}

function reflecting<T>(use: (reflector: Reflector) => T): T {
  const reflector = new Reflector();
  try {
    return use(reflector);
  } finally {
    reflector.close();
  }
}

function listExports(value: unknown, way: Way, found: Map<object, Exported>): void {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return;
  if (isMaker(value)) {
    const prototype = prototypeOf(value);
    if (prototype !== null && !found.has(prototype)) found.set(prototype, { maker: value, way });
  } else if (!isPlain(value)) return;
  if (way.length - 2 >= MOST_DEEP) return;
  const keys = Object.keys(value);
  if (keys.length > MOST_PROPERTIES) return;
  for (const key of keys) listExports(ownValue(value, key), [...way, key], found);
}

/** Namespaces that a bundler has written down have no prototype. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function exportOf(file: string, names: readonly string[]): unknown {
  let at: unknown = require.cache[file]?.exports;
  for (const name of names)
    at = (typeof at === 'object' || typeof at === 'function') && at !== null ? ownValue(at, name) : undefined;
  return at;
}

/** Accessors are not asked: some load a module. */
function ownValue(of: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(of, key)?.value;
}

function isMaker(value: unknown): value is Maker {
  return typeof value === 'function';
}

function prototypeOf(maker: object): object | null {
  const prototype = ownValue(maker, 'prototype');
  return typeof prototype === 'object' ? prototype : null;
}

function makerOf(prototype: object): Maker | null {
  const maker = ownValue(prototype, 'constructor');
  return isMaker(maker) && prototypeOf(maker) === prototype ? maker : null;
}

const files = new Map<string, boolean>();

function keepsElsewhere(url: string): boolean {
  const known = files.get(url);
  if (known !== undefined) return known;
  const keeps = KEEPS_ELSEWHERE.test(textOf(url));
  files.set(url, keeps);
  return keeps;
}

/** A file that is not there is said to keep things elsewhere. */
function textOf(url: string): string {
  try {
    return readFileSync(url.startsWith('file:') ? fileURLToPath(url.replace(/[?#].*$/s, '')) : url, 'utf8');
  } catch {
    return 'WeakMap';
  }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
