/**
 * Reads:   any value of the app that has to go to another loop.
 * Gives:   the same value in a form that structured clone carries faithfully, and the value back on the other side.
 * Reports: CannotTravel, with the path to what cannot travel and why.
 *
 * Most values go as they are: `put` walks over a value once and finds that structured clone will do. What clone changes but
 * keeps apart (objects without prototype, Buffers, frozen objects) also goes as it is, with a fix that names the
 * object; object identity inside of one message survives, so the fix finds its object on the other side. Only what clone
 * refuses or spoils (errors, URLs, references to things that both sides have) makes a copy necessary.
 */
import url from 'node:url';
import { types } from 'node:util';

/** The class is documented by what `url.parse` gives; its constructor is there, but not among the types. */
const LEGACY_URL: object = legacyUrlPrototype();

function legacyUrlPrototype(): object {
  const found: unknown = Reflect.get(url, 'Url');
  return typeof found === 'function' ? found.prototype : Object.create(null);
}

/** Live objects that both sides have, each under a name that structured clone carries. */
export interface Refs {
  /** Undefined: this one is not known to the other side. */
  nameOf(thing: object): unknown;
  thingOf(name: unknown): unknown;
  /** Prototypes of classes that are the same on both sides. */
  classOf?(prototype: object): string | undefined;
  prototypeOf?(name: string): object | undefined;
}

export const NO_REFS: Refs = { nameOf: () => undefined, thingOf: () => undefined };

/** What is still to be done to a message once structured clone has carried it. */
export type Fix =
  | { readonly fix: 'prototype'; readonly of: object; readonly name: string }
  | {
      readonly fix: 'hide';
      readonly in: object;
      readonly key: string;
      readonly holder: readonly unknown[];
      readonly configurable: boolean;
    }
  | { readonly fix: 'integrity'; readonly of: object; readonly level: Integrity }
  | { readonly fix: 'last-index'; readonly of: RegExp; readonly at: number }
  | { readonly fix: 'put'; readonly into: object; readonly at: string | number; readonly special: Special }
  | { readonly fix: 'fill'; readonly what: Map<unknown, unknown> | Set<unknown>; readonly with: unknown[] };

type Integrity = 'frozen' | 'sealed' | 'closed';

type Special =
  | { readonly is: 'reference'; readonly name: unknown }
  | { readonly is: 'url'; readonly href: string }
  | { readonly is: 'search-params'; readonly text: string }
  | { readonly is: 'dom-exception'; readonly message: string; readonly name: string; readonly stack: unknown }
  | { readonly is: 'error'; readonly id: number; readonly name: string; readonly properties: unknown[] }
  | { readonly is: 'again'; readonly id: number };

export interface Encoded {
  readonly holder: unknown[];
  readonly fixes: readonly Fix[] | null;
}

export class CannotTravel extends Error {
  override readonly name = 'CannotTravel';
  constructor(
    readonly path: string,
    readonly why: string,
  ) {
    super(`${path} cannot travel: ${why}`);
  }
}

export function encode(value: unknown, refs: Refs = NO_REFS, path = 'value'): Encoded {
  const holder: unknown[] = [undefined];
  const encoder = new Encoder(refs);
  encoder.put(holder, 0, value, path);
  return { holder, fixes: encoder.fixes };
}

export function decode(encoded: Encoded, refs: Refs = NO_REFS): unknown {
  applyFixes(encoded.fixes, refs);
  return encoded.holder[0];
}

/** One for each message: what is one object to the app stays one object. */
export class Encoder {
  fixes: Fix[] | null = null;
  /** One set for each value that was put. */
  readonly #seen: Set<object>[] = [];
  #copies: Map<object, unknown> | null = null;
  #specials: Map<object, number> | null = null;

  constructor(readonly refs: Refs) {}

  /** Sets `holder[at]`, which must be a part of the message. If it throws, nothing of `value` is in the message. */
  put(holder: unknown[], at: number, value: unknown, path: string): void {
    if (!isObject(value) && typeof value !== 'symbol') {
      holder[at] = value;
      return;
    }
    const before = this.fixes?.length ?? 0;
    const values = this.#seen.length;
    this.#seen.push(new Set());
    try {
      if (this.#scan(value, path)) {
        holder[at] = value;
        return;
      }
      this.#forget(before, values);
      this.#copyInto(holder, at, value, path);
    } catch (error) {
      this.#forget(before, values);
      if (error instanceof RangeError) throw new CannotTravel(path, 'it is nested too deeply');
      throw error;
    }
  }

  #forget(fixes: number, values: number): void {
    if (this.fixes !== null) this.fixes.length = fixes;
    if (this.fixes?.length === 0) this.fixes = null;
    this.#seen.length = values;
  }

  /** Marks it as seen. */
  #isKnown(value: object): boolean {
    for (const seen of this.#seen) if (seen.has(value)) return true;
    this.#seen.at(-1)?.add(value);
    return false;
  }

  #fix(fix: Fix): void {
    if (this.fixes === null) this.fixes = [fix];
    else this.fixes.push(fix);
  }

  // --- as it is -----------------------------------------------------------------------------------------------------

  /** Will structured clone, with fixes, carry it as it is? Throws where nothing will carry it. */
  #scan(value: unknown, path: string): boolean {
    if (!isObject(value)) {
      if (typeof value === 'symbol') throw new CannotTravel(path, 'it is a symbol');
      return true;
    }
    if (this.refs.nameOf(value) !== undefined) return false;
    if (types.isProxy(value)) throw new CannotTravel(path, 'it is a proxy');
    if (typeof value === 'function') throw new CannotTravel(path, 'it is a function');
    if (this.#isKnown(value)) return true;
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype) return this.#scanPlain(value, path);
    if (prototype === Array.prototype) return this.#scanPlain(value, path);
    return this.#scanOther(value, prototype, path);
  }

  #scanPlain(value: object, path: string): boolean {
    checkPlain(value, path);
    if (Array.isArray(value)) {
      if (!this.#scanItems(value, path)) return false;
    } else if (!this.#scanProperties(value, path)) return false;
    this.#fixIntegrity(value, value);
    return true;
  }

  #scanItems(items: unknown[], path: string): boolean {
    const names = Reflect.ownKeys(items);
    // An array's own names are its items and its length: anything else, and holes, take the longer way.
    if (names.length !== items.length + 1) return this.#scanProperties(items, path);
    for (let at = 0; at < items.length; at++) {
      const descriptor = Object.getOwnPropertyDescriptor(items, at);
      if (descriptor === undefined) return this.#scanProperties(items, path);
      const item = ownValue(items, descriptor, path, at);
      if ((isObject(item) || typeof item === 'symbol') && !this.#scan(item, `${path}[${at}]`)) return false;
    }
    return true;
  }

  #scanProperties(value: object, path: string): boolean {
    for (const key of Reflect.ownKeys(value)) {
      if (typeof key === 'symbol') throw new CannotTravel(path, `it has the property ${String(key)}`);
      if (key === 'length' && Array.isArray(value)) continue;
      const item = ownValue(value, Object.getOwnPropertyDescriptor(value, key), path, key);
      if ((isObject(item) || typeof item === 'symbol') && !this.#scan(item, `${path}.${key}`)) return false;
    }
    return true;
  }

  #scanOther(value: object, prototype: unknown, path: string): boolean {
    if (prototype === null) {
      if (!this.#scanPlain(value, path)) return false;
      this.#fix({ fix: 'prototype', of: value, name: 'null' });
      return true;
    }
    const kind = kindOf(value, prototype);
    switch (kind) {
      case 'buffer':
      case 'bytes':
        return this.#scanBytes(value, kind, path);
      case 'date':
        checkNoProperties(value, path);
        return true;
      case 'regexp':
        checkPattern(value, path);
        this.#fixLastIndex(value, value);
        return true;
      case 'map':
      case 'set':
        return this.#scanCollection(value, path);
      case 'legacy-url':
        return this.#scanInstance(value, 'Url', path);
      case 'substituted':
        return false;
      case 'unknown':
        break;
    }
    return this.#scanInstance(value, this.#classOf(value, prototype, path), path);
  }

  /** Of what is no more than its properties. */
  #classOf(value: object, prototype: unknown, path: string): string {
    const name = isObject(prototype) && !hasSlots(value) ? this.refs.classOf?.(prototype) : undefined;
    if (name === undefined) throw new CannotTravel(path, `it is ${describe(value)}`);
    return `${CLASS}${name}`;
  }

  #scanInstance(value: object, name: string, path: string): boolean {
    if (hasHidden(value) || !this.#scanPlain(value, path)) return false;
    this.#fix({ fix: 'prototype', of: value, name });
    return true;
  }

  #scanBytes(value: object, kind: 'buffer' | 'bytes', path: string): boolean {
    checkBytes(value, path);
    if (isMostlyElsewhere(value)) return false;
    if (kind === 'buffer') this.#fix({ fix: 'prototype', of: value, name: 'Buffer' });
    return true;
  }

  #scanCollection(value: object, path: string): boolean {
    checkNoProperties(value, path);
    const items = types.isMap(value) ? [...value.entries()].flat() : types.isSet(value) ? [...value] : [];
    return items.every((item, at) => this.#scan(item, `${path}<${at}>`));
  }

  #fixIntegrity(original: object, sent: object): void {
    const level = integrityOf(original);
    if (level !== undefined) this.#fix({ fix: 'integrity', of: sent, level });
  }

  #fixLastIndex(original: object, sent: object): void {
    if (!types.isRegExp(original) || !types.isRegExp(sent) || original.lastIndex === 0) return;
    this.#fix({ fix: 'last-index', of: sent, at: original.lastIndex });
  }

  // --- as a copy ----------------------------------------------------------------------------------------------------

  /** The copy's holder is known at each step: that is where the other side puts what takes the place of a special. */
  #copyInto(holder: object, at: string | number, value: unknown, path: string): void {
    const special = isObject(value) ? this.#special(value, path) : undefined;
    if (special !== undefined) {
      define(holder, at, null);
      this.#fix({ fix: 'put', into: holder, at, special });
    } else define(holder, at, this.#copy(value, path));
  }

  #special(value: object, path: string): Special | undefined {
    const name: unknown = this.refs.nameOf(value);
    if (name !== undefined) return { is: 'reference', name };
    if (types.isProxy(value)) throw new CannotTravel(path, 'it is a proxy');
    const id = this.#specials?.get(value);
    if (id !== undefined) return { is: 'again', id };
    if (value instanceof URL) return { is: 'url', href: value.href };
    if (value instanceof URLSearchParams) return { is: 'search-params', text: value.toString() };
    if (isDomException(value)) {
      return { is: 'dom-exception', message: value.message, name: value.name, stack: value.stack };
    }
    return types.isNativeError(value) ? this.#error(value, path) : undefined;
  }

  #error(error: Error, path: string): Special {
    const prototype: unknown = Object.getPrototypeOf(error);
    const known = isObject(prototype) ? ERROR_NAMES.get(prototype) : undefined;
    const name = known ?? nodeErrorName(error) ?? this.#classOf(error, prototype, path);
    this.#specials ??= new Map();
    const id = this.#specials.size;
    this.#specials.set(error, id);
    const properties: unknown[] = [];
    for (const key of Reflect.ownKeys(error)) {
      const descriptor = Object.getOwnPropertyDescriptor(error, key);
      if (descriptor === undefined || isNodesOwn(error, key, descriptor)) continue;
      if (typeof key === 'symbol') throw new CannotTravel(path, `it has the property ${String(key)}`);
      // Newer versions of V8 have an accessor for the stack.
      const value: unknown = key === 'stack' ? error.stack : descriptor.value;
      if (key !== 'stack' && !('value' in descriptor)) throw new CannotTravel(`${path}.${key}`, 'it is an accessor');
      properties.push(key, descriptor.enumerable === true, undefined);
      this.#copyInto(properties, properties.length - 1, value, `${path}.${key}`);
    }
    return { is: 'error', id, name, properties };
  }

  #copy(value: unknown, path: string): unknown {
    if (!isObject(value)) {
      if (typeof value === 'symbol') throw new CannotTravel(path, 'it is a symbol');
      return value;
    }
    if (typeof value === 'function') throw new CannotTravel(path, 'it is a function');
    this.#copies ??= new Map();
    const known = this.#copies.get(value);
    if (known !== undefined) return known;
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === Array.prototype) return this.#copyPlain(value, path);
    if (prototype === null) return this.#copyAs(value, 'null', path);
    return this.#copyOther(value, prototype, path);
  }

  #copyPlain(value: object, path: string, isInstance = false): object {
    checkPlain(value, path);
    const copy: object = Array.isArray(value) ? new Array(value.length) : {};
    this.#copies?.set(value, copy);
    for (const key of Reflect.ownKeys(value)) {
      if (typeof key === 'symbol') throw new CannotTravel(path, `it has the property ${String(key)}`);
      if (key === 'length' && Array.isArray(value)) continue;
      const found = Object.getOwnPropertyDescriptor(value, key);
      if (isInstance && isHidden(found)) this.#copyHidden(copy, key, found, path);
      else this.#copyInto(copy, key, ownValue(value, found, path, key), pathTo(value, path, key));
    }
    this.#fixIntegrity(value, copy);
    return copy;
  }

  /** What a class keeps out of sight of loops over its instances, and does not change. */
  #copyHidden(copy: object, key: string, { value, configurable = false }: PropertyDescriptor, path: string): void {
    const holder: unknown[] = [undefined];
    this.#copyInto(holder, 0, value, `${path}.${key}`);
    this.#fix({ fix: 'hide', in: copy, key, holder, configurable });
  }

  #copyAs(value: object, name: string, path: string): object {
    const copy = this.#copyPlain(value, path, name.startsWith(CLASS));
    this.#fix({ fix: 'prototype', of: copy, name });
    return copy;
  }

  #copyOther(value: object, prototype: unknown, path: string): unknown {
    const kind = kindOf(value, prototype);
    const copy = this.#copyKnown(kind, value, path);
    if (copy !== undefined) return copy;
    return this.#copyAs(value, this.#classOf(value, prototype, path), path);
  }

  #copyKnown(kind: Kind, value: object, path: string): unknown {
    if (kind === 'legacy-url') return this.#copyAs(value, 'Url', path);
    if (kind === 'map' || kind === 'set') return this.#copyCollection(value, path);
    if (kind === 'unknown' || kind === 'substituted') return undefined;
    if (kind === 'date') checkNoProperties(value, path);
    if (kind === 'regexp') {
      checkPattern(value, path);
      this.#fixLastIndex(value, value);
    }
    if (kind !== 'buffer' && kind !== 'bytes') return value;
    checkBytes(value, path);
    const sent = isMostlyElsewhere(value) && ArrayBuffer.isView(value) ? ownBytes(value) : value;
    this.#copies?.set(value, sent);
    if (kind === 'buffer') this.#fix({ fix: 'prototype', of: sent, name: 'Buffer' });
    return sent;
  }

  #copyCollection(value: object, path: string): object {
    checkNoProperties(value, path);
    const copy = types.isMap(value) ? new Map<unknown, unknown>() : new Set<unknown>();
    this.#copies?.set(value, copy);
    const items = types.isMap(value) ? [...value.entries()].flat() : types.isSet(value) ? [...value] : [];
    const entries: unknown[] = [];
    for (const [at, item] of items.entries()) this.#copyInto(entries, at, item, `${path}<${at}>`);
    this.#fix({ fix: 'fill', what: copy, with: entries });
    return copy;
  }
}

// --- what can travel ------------------------------------------------------------------------------------------------

type Kind = 'buffer' | 'bytes' | 'date' | 'regexp' | 'map' | 'set' | 'legacy-url' | 'substituted' | 'unknown';

function kindOf(value: object, prototype: unknown): Kind {
  if (prototype === Buffer.prototype) return 'buffer';
  if (prototype === Date.prototype && types.isDate(value)) return 'date';
  if (prototype === Map.prototype && types.isMap(value)) return 'map';
  if (prototype === Set.prototype && types.isSet(value)) return 'set';
  if (prototype === RegExp.prototype && types.isRegExp(value)) return 'regexp';
  if (isObject(prototype) && BYTES.has(prototype) && (ArrayBuffer.isView(value) || types.isArrayBuffer(value)))
    return 'bytes';
  if (prototype === LEGACY_URL) return 'legacy-url';
  if (prototype === URL.prototype || prototype === URLSearchParams.prototype) return 'substituted';
  return types.isNativeError(value) || isDomException(value) ? 'substituted' : 'unknown';
}

const BYTES: ReadonlySet<object> = new Set<object>([
  ArrayBuffer.prototype,
  DataView.prototype,
  Int8Array.prototype,
  Uint8Array.prototype,
  Uint8ClampedArray.prototype,
  Int16Array.prototype,
  Uint16Array.prototype,
  Int32Array.prototype,
  Uint32Array.prototype,
  Float32Array.prototype,
  Float64Array.prototype,
  BigInt64Array.prototype,
  BigUint64Array.prototype,
]);

const ERROR_CLASSES: readonly { readonly prototype: object; readonly name: string }[] = [
  Error,
  TypeError,
  RangeError,
  SyntaxError,
  ReferenceError,
  EvalError,
  URIError,
  AggregateError,
];

const ERROR_NAMES: ReadonlyMap<object, string> = new Map(ERROR_CLASSES.map(({ prototype, name }) => [prototype, name]));
const ERROR_PROTOTYPES: ReadonlyMap<string, object> = new Map(
  ERROR_CLASSES.map(({ prototype, name }) => [name, prototype]),
);

function isDomException(value: object): value is DOMException {
  return Object.getPrototypeOf(value) === DOMException.prototype;
}

/**
 * Node makes a class for each of its codes, which nobody can get at. They differ from the class below them by their
 * `toString`, which says the code.
 */
function nodeErrorName(error: Error): string | undefined {
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code !== 'string' || !code.startsWith('ERR_')) return undefined;
  const own = nodeErrorNames.get(Object.getPrototypeOf(error));
  if (own !== undefined) return own;
  if (!/\[\$\{key\}\]/.test(Function.prototype.toString.call(error.toString))) return undefined;
  for (let at: unknown = Object.getPrototypeOf(error); isObject(at); at = Object.getPrototypeOf(at)) {
    const base = ERROR_NAMES.get(at);
    if (base !== undefined) return `${NODE_ERROR}${base}:${code}`;
  }
  return undefined;
}

const NODE_ERROR = 'node:';
/** Stands before the name of a class of the program's, or of a package's. */
const CLASS = 'class:';
const nodeErrors = new Map<string, object>();
/** Those made here may have to travel on. */
const nodeErrorNames = new WeakMap<object, string>();

function nodeErrorPrototype(name: string): object {
  const known = nodeErrors.get(name);
  if (known !== undefined) return known;
  const [base = '', code] = name.slice(NODE_ERROR.length).split(':');
  const below = ERROR_PROTOTYPES.get(base) ?? Error.prototype;
  const made: object = Object.create(below, {
    constructor: { value: below.constructor, writable: true, configurable: true },
    toString: {
      value(this: Error) {
        return `${this.name} [${code}]: ${this.message}`;
      },
      writable: true,
      configurable: true,
    },
  });
  nodeErrors.set(name, made);
  nodeErrorNames.set(made, name);
  return made;
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function checkPlain(value: object, path: string): void {
  // What looks like an object of no class may still be one of those that the engine makes.
  if (types.isArgumentsObject(value)) throw new CannotTravel(path, 'it is an arguments object');
  if (types.isModuleNamespaceObject(value)) throw new CannotTravel(path, 'it is a module');
}

function ownValue(of: object, found: PropertyDescriptor | undefined, path: string, key: string | number): unknown {
  if (found === undefined) return undefined;
  if (found.enumerable === true && found.writable === true && found.configurable === true) return found.value;
  const at = `${path}.${key}`;
  if (!('value' in found)) throw new CannotTravel(at, 'it is an accessor');
  if (found.enumerable !== true) throw new CannotTravel(at, 'it is hidden');
  const level = integrityOf(of);
  if (level === 'frozen' || (level === 'sealed' && found.writable === true)) return found.value;
  throw new CannotTravel(at, 'it is read-only');
}

function isHidden(found: PropertyDescriptor | undefined): found is PropertyDescriptor {
  return found !== undefined && 'value' in found && found.enumerable === false && found.writable === false;
}

function hasHidden(value: object): boolean {
  return Object.getOwnPropertyNames(value).some((key) => !Object.prototype.propertyIsEnumerable.call(value, key));
}

function pathTo(of: object, path: string, key: string): string {
  return Array.isArray(of) ? `${path}[${key}]` : `${path}.${key}`;
}

/** Has it something that no property shows? */
function hasSlots(value: object): boolean {
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return true;
  return HAVE_SLOTS.some((has) => has(value));
}

const HAVE_SLOTS: readonly ((value: unknown) => boolean)[] = [
  types.isMap,
  types.isSet,
  types.isDate,
  types.isRegExp,
  types.isPromise,
  types.isAnyArrayBuffer,
  types.isBoxedPrimitive,
  types.isWeakMap,
  types.isWeakSet,
  types.isMapIterator,
  types.isSetIterator,
  types.isGeneratorObject,
  types.isExternal,
];

function integrityOf(value: object): Integrity | undefined {
  if (Object.isExtensible(value)) return undefined;
  return Object.isFrozen(value) ? 'frozen' : Object.isSealed(value) ? 'sealed' : 'closed';
}

function checkNoProperties(value: object, path: string): void {
  const key = Reflect.ownKeys(value)[0];
  if (key !== undefined) throw new CannotTravel(path, `it has the property ${String(key)}`);
  if (!Object.isExtensible(value)) throw new CannotTravel(path, 'it is frozen');
}

/** Its only own property is `lastIndex`. */
function checkPattern(value: object, path: string): void {
  if (Reflect.ownKeys(value).length > 1) throw new CannotTravel(path, 'it has properties');
  if (!Object.isExtensible(value)) throw new CannotTravel(path, 'it is frozen');
}

function checkBytes(value: object, path: string): void {
  if (ArrayBuffer.isView(value)) {
    if (types.isSharedArrayBuffer(value.buffer)) throw new CannotTravel(path, 'its memory is shared');
    // Own names of typed arrays are their indexes: counting them all would cost more than sending them.
    if (Object.getOwnPropertySymbols(value).length > 0) throw new CannotTravel(path, 'it has properties');
  } else checkNoProperties(value, path);
}

/** A small view of a large slab: clone would carry the slab. */
function isMostlyElsewhere(value: object): boolean {
  return ArrayBuffer.isView(value) && value.buffer.byteLength > value.byteLength + 16_384;
}

function ownBytes(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice();
}

/** Node marks errors of its own with a symbol and a `toString` that says the code. */
function isNodesOwn(error: Error, key: string | symbol, { value, enumerable }: PropertyDescriptor): boolean {
  if (enumerable === true || !('code' in error)) return false;
  return typeof key === 'symbol'
    ? key.description === 'kIsNodeError'
    : key === 'toString' && typeof value === 'function';
}

function describe(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  const maker: unknown = isObject(prototype) ? Reflect.get(prototype, 'constructor') : undefined;
  return typeof maker === 'function' && maker.name !== '' ? `a ${maker.name}` : 'an object of an unknown class';
}

// --- the other side -------------------------------------------------------------------------------------------------

export function applyFixes(fixes: readonly Fix[] | null, refs: Refs): void {
  if (fixes === null) return;
  const errors = new Map<number, unknown>();
  for (const fix of fixes) if (fix.fix === 'put') define(fix.into, fix.at, make(fix.special, errors, refs));
  // Errors that occur a second time may have been met before the first.
  for (const fix of fixes) {
    if (fix.fix === 'put' && fix.special.is === 'again') define(fix.into, fix.at, errors.get(fix.special.id));
  }
  for (const fix of fixes) {
    if (fix.fix === 'fill') fill(fix.what, fix.with);
    else if (fix.fix === 'last-index') fix.of.lastIndex = fix.at;
    else if (fix.fix === 'prototype') give(fix.of, fix.name, refs);
    else if (fix.fix === 'hide') hide(fix);
  }
  for (const fix of fixes) if (fix.fix === 'put' && fix.special.is === 'error') defineAll(fix.special, errors);
  for (const fix of fixes) if (fix.fix === 'integrity') restrict(fix.of, fix.level);
}

/** Before anything is done with a message: can all of it be made here? */
export function findUnknownClass(fixes: readonly Fix[] | null, refs: Refs): CannotTravel | null {
  for (const fix of fixes ?? []) {
    const name =
      fix.fix === 'prototype' ? fix.name : fix.fix === 'put' && fix.special.is === 'error' ? fix.special.name : '';
    if (!name.startsWith(CLASS) || refs.prototypeOf?.(name.slice(CLASS.length)) !== undefined) continue;
    return unknownClass(name);
  }
  return null;
}

/** The last of what says where it is, before the text that says what it is. */
function unknownClass(name: string): CannotTravel {
  const said = /"([^"]*)","[^"]*"\]$/.exec(name)?.[1] ?? name;
  return new CannotTravel(`an instance of ${said}`, 'the other loop does not have its class');
}

function make(special: Special, errors: Map<number, unknown>, refs: Refs): unknown {
  switch (special.is) {
    case 'reference':
      return refs.thingOf(special.name);
    case 'url':
      return new URL(special.href);
    case 'search-params':
      return new URLSearchParams(special.text);
    case 'dom-exception': {
      const exception = new DOMException(special.message, special.name);
      Object.defineProperty(exception, 'stack', { value: special.stack, writable: true, configurable: true });
      return exception;
    }
    case 'error': {
      const error = bareError(special.name, refs);
      errors.set(special.id, error);
      return error;
    }
    case 'again':
      return errors.get(special.id);
  }
}

/** Its properties come later: they may be specials themselves. */
function bareError(name: string, refs: Refs): Error {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  const error = new Error();
  Error.stackTraceLimit = limit;
  give(error, name, refs);
  instances.add(error);
  Reflect.deleteProperty(error, 'stack');
  return error;
}

function defineAll(special: Special, errors: ReadonlyMap<number, unknown>): void {
  if (special.is !== 'error') return;
  const error = errors.get(special.id);
  if (!isObject(error)) return;
  for (let at = 0; at < special.properties.length; at += 3) {
    const enumerable = special.properties[at + 1] === true;
    const value = special.properties[at + 2];
    Object.defineProperty(error, String(special.properties[at]), {
      value,
      enumerable,
      writable: true,
      configurable: true,
    });
  }
}

const instances = new WeakSet<object>();

/** Is it an instance of a class, of which a message has brought no more than the properties? */
export function isCarried(value: object): boolean {
  return instances.has(value);
}

function give(of: object, name: string, refs: Refs): void {
  Object.setPrototypeOf(of, prototypeNamed(name, refs));
  if (name.startsWith(CLASS)) instances.add(of);
}

function hide({ in: of, key, holder, configurable }: Extract<Fix, { fix: 'hide' }>): void {
  Object.defineProperty(of, key, { value: holder[0], enumerable: false, writable: false, configurable });
}

function prototypeNamed(name: string, refs: Refs): object | null {
  if (name === 'null') return null;
  if (name === 'Buffer') return Buffer.prototype;
  if (name === 'Url') return LEGACY_URL;
  if (name.startsWith(NODE_ERROR)) return nodeErrorPrototype(name);
  const found = name.startsWith(CLASS) ? refs.prototypeOf?.(name.slice(CLASS.length)) : ERROR_PROTOTYPES.get(name);
  if (found === undefined) throw unknownClass(name);
  return found;
}

function fill(what: Map<unknown, unknown> | Set<unknown>, items: readonly unknown[]): void {
  if (what instanceof Set) for (const item of items) what.add(item);
  else for (let at = 0; at < items.length; at += 2) what.set(items[at], items[at + 1]);
}

function restrict(value: object, level: Integrity): void {
  if (level === 'frozen') Object.freeze(value);
  else if (level === 'sealed') Object.seal(value);
  else Object.preventExtensions(value);
}

function define(holder: object, at: string | number, value: unknown): void {
  Object.defineProperty(holder, at, { value, enumerable: true, writable: true, configurable: true });
}
