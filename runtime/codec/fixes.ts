/** The other side: what structured clone has carried becomes what was sent. */
import { ERROR_PROTOTYPES, NODE_ERROR, nodeErrorPrototype } from './errors.js';
import { isObject, LEGACY_URL } from './kinds.js';
import { CannotTravel, CLASS, type Fix, type Integrity, type Refs, type Special } from './types.js';

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
  for (const fix of fixes) if (fix.fix === 'put' && fix.special.is === 'error') defineAll(fix.special, errors, refs);
  for (const fix of fixes) {
    if (fix.fix === 'integrity') restrict(fix.of, fix.level);
    else if (fix.fix === 'put' && fix.special.is === 'error') restrictError(fix.special, errors);
  }
}

function restrictError({ id, level }: Extract<Special, { is: 'error' }>, errors: ReadonlyMap<number, unknown>): void {
  const error = errors.get(id);
  if (level !== undefined && isObject(error)) restrict(error, level);
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
    case 'made': {
      const made = refs.make?.(special.making);
      if (made === undefined)
        throw new CannotTravel('a logger', 'the other loop does not have the one that it came from');
      errors.set(special.id, made);
      return made;
    }
    case 'again':
      return errors.get(special.id);
  }
}

/** Its properties come later: they may be specials themselves. */
function bareError(name: string, refs: Refs): Error {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 1;
  // If nobody catches it, Node shows the line where it was made, unless this is in that line.
  const error = new Error('node-do-not-add-exception-line');
  Error.stackTraceLimit = limit;
  give(error, name, refs);
  instances.add(error);
  Reflect.deleteProperty(error, 'message');
  Reflect.deleteProperty(error, 'stack');
  return error;
}

function defineAll(special: Special, errors: ReadonlyMap<number, unknown>, refs: Refs): void {
  if (special.is !== 'error') return;
  const error = errors.get(special.id);
  if (!isObject(error)) return;
  for (let at = 0; at < special.properties.length; at += 3) {
    const enumerable = special.properties[at + 1] === true;
    const value = special.properties[at + 2];
    Object.defineProperty(error, keyOf(special.properties[at], refs), {
      value,
      enumerable,
      writable: true,
      configurable: true,
    });
  }
}

/** Symbols are named in a list of one. */
function keyOf(sent: unknown, refs: Refs): string | symbol {
  if (!Array.isArray(sent)) return String(sent);
  const symbol = refs.symbolOf?.(String(sent[0]));
  if (symbol === undefined) throw new CannotTravel(String(sent[0]), 'the other loop does not have this symbol');
  return symbol;
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

export function define(holder: object, at: string | number, value: unknown): void {
  Object.defineProperty(holder, at, { value, enumerable: true, writable: true, configurable: true });
}
