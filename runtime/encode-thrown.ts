/**
 * Reads: what was thrown, and nobody caught.
 * Gives: the same for another loop: all of it, or as much as can travel, as nobody can run again what threw it.
 */
import { types } from 'node:util';
import { ERROR_NAMES } from './codec/errors.js';
import { isObject } from './codec/kinds.js';
import { CannotTravel, type Encoded, encode, type Refs } from './codec.js';

const DEEPEST = 4;

export function encodeThrown(thrown: unknown, refs: Refs): Encoded {
  const whole = tryEncode(thrown, refs);
  return whole ?? tryEncode(reduced(thrown, refs), refs) ?? encode(String(thrown));
}

function tryEncode(value: unknown, refs: Refs): Encoded | null {
  try {
    return encode(value, refs);
  } catch (error) {
    if (error instanceof CannotTravel) return null;
    throw error;
  }
}

/** Without what cannot travel, and of the nearest class that the other loop has. */
function reduced(value: unknown, refs: Refs, depth = 0): unknown {
  if (!isObject(value) || typeof value === 'function') return String(value);
  const made = types.isNativeError(value) ? errorLike(value) : {};
  for (const key of Object.getOwnPropertyNames(value)) {
    const found = Object.getOwnPropertyDescriptor(value, key);
    // Newer versions of V8 have an accessor for the stack.
    const property: unknown = key === 'stack' ? Reflect.get(value, key) : found?.value;
    const isWhole = tryEncode(property, refs) !== null;
    if (!isWhole && (depth === DEEPEST || !types.isNativeError(property))) continue;
    const given = isWhole ? property : reduced(property, refs, depth + 1);
    define(made, key, given, found?.enumerable === true);
  }
  return made;
}

function errorLike(error: Error): Error {
  let base: unknown = Object.getPrototypeOf(error);
  while (isObject(base) && !ERROR_NAMES.has(base)) base = Object.getPrototypeOf(base);
  const made: Error = Object.setPrototypeOf(new Error(), isObject(base) ? base : Error.prototype);
  if (made.name !== error.name) define(made, 'name', error.name, false);
  return made;
}

function define(holder: object, key: string, value: unknown, enumerable: boolean): void {
  Object.defineProperty(holder, key, { value, enumerable, writable: true, configurable: true });
}
