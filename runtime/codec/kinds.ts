/** Reads: a value. Gives: what kind it is to structured clone. Reports: CannotTravel for what nothing will carry. */
import url from 'node:url';
import { types } from 'node:util';
import { CannotTravel, type Integrity } from './types.js';

/** The class is documented by what `url.parse` gives; its constructor is there, but not among the types. */
export const LEGACY_URL: object = legacyUrlPrototype();

function legacyUrlPrototype(): object {
  const found: unknown = Reflect.get(url, 'Url');
  return typeof found === 'function' ? found.prototype : Object.create(null);
}

export type Kind = 'buffer' | 'bytes' | 'date' | 'regexp' | 'map' | 'set' | 'legacy-url' | 'substituted' | 'unknown';

export function kindOf(value: object, prototype: unknown): Kind {
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

export function isDomException(value: object): value is DOMException {
  return Object.getPrototypeOf(value) === DOMException.prototype;
}

export function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

export function checkPlain(value: object, path: string): void {
  // What looks like an object of no class may still be one of those that the engine makes.
  if (types.isArgumentsObject(value)) throw new CannotTravel(path, 'it is an arguments object');
  if (types.isModuleNamespaceObject(value)) throw new CannotTravel(path, 'it is a module');
}

export function ownValue(
  of: object,
  found: PropertyDescriptor | undefined,
  path: string,
  key: string | number,
): unknown {
  if (found === undefined) return undefined;
  if (found.enumerable === true && found.writable === true && found.configurable === true) return found.value;
  const at = `${path}.${key}`;
  if (!('value' in found)) throw new CannotTravel(at, 'it is an accessor');
  if (found.enumerable !== true) throw new CannotTravel(at, 'it is hidden');
  const level = integrityOf(of);
  if (level === 'frozen' || (level === 'sealed' && found.writable === true)) return found.value;
  throw new CannotTravel(at, 'it is read-only');
}

export function isHidden(found: PropertyDescriptor | undefined): found is PropertyDescriptor {
  return found !== undefined && 'value' in found && found.enumerable === false && found.writable === false;
}

export function hasHidden(value: object): boolean {
  return Object.getOwnPropertyNames(value).some((key) => !Object.prototype.propertyIsEnumerable.call(value, key));
}

export function pathTo(of: object, path: string, key: string): string {
  return Array.isArray(of) ? `${path}[${key}]` : `${path}.${key}`;
}

/** Has it something that no property shows? */
export function hasSlots(value: object): boolean {
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

export function integrityOf(value: object): Integrity | undefined {
  if (Object.isExtensible(value)) return undefined;
  return Object.isFrozen(value) ? 'frozen' : Object.isSealed(value) ? 'sealed' : 'closed';
}

export function checkNoProperties(value: object, path: string): void {
  const key = Reflect.ownKeys(value)[0];
  if (key !== undefined) throw new CannotTravel(path, `it has the property ${String(key)}`);
  if (!Object.isExtensible(value)) throw new CannotTravel(path, 'it is frozen');
}

/** Its only own property is `lastIndex`. */
export function checkPattern(value: object, path: string): void {
  if (Reflect.ownKeys(value).length > 1) throw new CannotTravel(path, 'it has properties');
  if (!Object.isExtensible(value)) throw new CannotTravel(path, 'it is frozen');
}

export function checkBytes(value: object, path: string): void {
  if (ArrayBuffer.isView(value)) {
    if (types.isSharedArrayBuffer(value.buffer)) throw new CannotTravel(path, 'its memory is shared');
    // Own names of typed arrays are their indexes: counting them all would cost more than sending them.
    if (Object.getOwnPropertySymbols(value).length > 0) throw new CannotTravel(path, 'it has properties');
  } else checkNoProperties(value, path);
}

/** A small view of a large slab: clone would carry the slab. */
export function isMostlyElsewhere(value: object): boolean {
  return ArrayBuffer.isView(value) && value.buffer.byteLength > value.byteLength + 16_384;
}

export function ownBytes(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice();
}

export function describe(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  const maker: unknown = isObject(prototype) ? Reflect.get(prototype, 'constructor') : undefined;
  return typeof maker === 'function' && maker.name !== ''
    ? `${/^[AEIOU]/i.test(maker.name) ? 'an' : 'a'} ${maker.name}`
    : 'an object of an unknown class';
}
