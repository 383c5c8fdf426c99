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
import { types } from 'node:util';
import { ERROR_NAMES, isNodesOwn, nodeErrorName } from './errors.js';
import { define } from './fixes.js';
import {
  checkBytes,
  checkNoProperties,
  checkPattern,
  checkPlain,
  describe,
  hasHidden,
  hasSlots,
  integrityOf,
  isDomException,
  isHidden,
  isMostlyElsewhere,
  isObject,
  type Kind,
  kindOf,
  ownBytes,
  ownValue,
  pathTo,
} from './kinds.js';
import { CannotTravel, CLASS, type Fix, type Making, type Refs, type Special } from './types.js';

/** One for each message: what is one object to the app stays one object. */
export class Encoder {
  fixes: Fix[] | null = null;
  /** One set for each value that was put. */
  readonly #seen: Set<object>[] = [];
  #copies: Map<object, unknown> | null = null;
  #specials: Map<object, number> | null = null;
  #makings: Map<object, Making | null> | null = null;

  constructor(readonly refs: Refs) {}

  /** Sets `holder[at]`, which must be a part of the message. If it throws, nothing of `value` is in the message. */
  put(holder: unknown[], at: number, value: unknown, path: string): void {
    if (!isObject(value) && typeof value !== 'symbol') {
      holder[at] = value;
      return;
    }
    const before = this.fixes?.length ?? 0;
    const values = this.#seen.length;
    const copies = this.#copies?.size ?? 0;
    const specials = this.#specials?.size ?? 0;
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
      // What stands for them has lost its fixes.
      dropFrom(this.#copies, copies);
      dropFrom(this.#specials, specials);
      if (error instanceof RangeError) throw new CannotTravel(path, 'it is nested too deeply');
      throw error;
    }
  }

  #forget(fixes: number, values: number): void {
    if (this.fixes !== null) this.fixes.length = fixes;
    if (this.fixes?.length === 0) this.fixes = null;
    this.#seen.length = values;
  }

  /** It goes as it is. */
  #isKnown(value: object): boolean {
    for (const seen of this.#seen) if (seen.has(value)) return true;
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
    // Something else needs a copy of it.
    if (this.#copies?.has(value) === true) return false;
    this.#seen.at(-1)?.add(value);
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
    if (this.#makingOf(value) !== undefined) return false;
    return this.#scanInstance(value, this.#classOf(value, prototype, path), path);
  }

  /** Asked once for each message: it may have been looked at closely. */
  #makingOf(value: object): Making | undefined {
    if (this.refs.makingOf === undefined) return undefined;
    this.#makings ??= new Map();
    const known = this.#makings.get(value);
    if (known !== undefined) return known ?? undefined;
    const found = this.refs.makingOf(value);
    this.#makings.set(value, found ?? null);
    return found;
  }

  /** Of what is no more than its properties. */
  #classOf(value: object, prototype: unknown, path: string): string {
    const name = isObject(prototype) && !hasSlots(value) ? this.refs.classOf?.(prototype) : undefined;
    if (name === undefined)
      throw new CannotTravel(path, `it is ${describe(value)}`, this.refs.isCalled?.(value) === true);
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
    if (types.isNativeError(value)) return this.#error(value, path);
    const making = this.#makings?.get(value) ?? undefined;
    return making === undefined ? undefined : { is: 'made', id: this.#nextId(value), making };
  }

  /** For where it occurs again. */
  #nextId(of: object): number {
    this.#specials ??= new Map();
    const id = this.#specials.size;
    this.#specials.set(of, id);
    return id;
  }

  #error(error: Error, path: string): Special {
    const prototype: unknown = Object.getPrototypeOf(error);
    const known = isObject(prototype) ? ERROR_NAMES.get(prototype) : undefined;
    const name = known ?? nodeErrorName(error) ?? this.#classOf(error, prototype, path);
    const id = this.#nextId(error);
    const properties: unknown[] = [];
    for (const key of Reflect.ownKeys(error)) {
      const descriptor = Object.getOwnPropertyDescriptor(error, key);
      if (descriptor === undefined || isNodesOwn(error, key, descriptor)) continue;
      const sent = typeof key === 'symbol' ? this.refs.symbolName?.(key) : key;
      if (sent === undefined) throw new CannotTravel(path, `it has the property ${String(key)}`);
      // Newer versions of V8 have an accessor for the stack.
      const value: unknown = key === 'stack' ? error.stack : descriptor.value;
      if (key !== 'stack' && !('value' in descriptor)) throw new CannotTravel(`${path}.${sent}`, 'it is an accessor');
      properties.push(typeof key === 'symbol' ? [sent] : sent, descriptor.enumerable === true, undefined);
      this.#copyInto(properties, properties.length - 1, value, `${path}.${sent}`);
    }
    return { is: 'error', id, name, properties, level: integrityOf(error) };
  }

  #copy(value: unknown, path: string): unknown {
    if (!isObject(value)) {
      if (typeof value === 'symbol') throw new CannotTravel(path, 'it is a symbol');
      return value;
    }
    if (typeof value === 'function') throw new CannotTravel(path, 'it is a function');
    if (this.#isKnown(value)) return value;
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

/** All but the first ones. */
function dropFrom(map: Map<object, unknown> | null, count: number): void {
  if (map === null || map.size === count) return;
  for (const key of [...map.keys()].slice(count)) map.delete(key);
}
