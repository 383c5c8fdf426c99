/**
 * Child loggers of pino, as middleware puts them on requests (`req.log`).
 *
 * Reads: loggers of this loop.
 * Gives: what the other loop makes the same child of: the logger of start-up that it came from, which both loops have, and the texts of what
 *        each child on the way was bound to.
 *
 * A child inherits from the logger that made it and has nothing of its own but such a text, and what every child of that has. One that was given
 * more (a level, serializers, a prefix) is no such child, nor is one of a logger that tells somebody of its children.
 */
import { Reflector } from './reflect.js';

export interface Child {
  readonly of: object;
  readonly bound: readonly string[];
}

/** `isKnown`: to the other loop. */
export function childOf(logger: object, isKnown: (thing: object) => boolean): Child | null {
  const bound: string[] = [];
  for (let at: object = logger; bound.length < MOST_DEEP; ) {
    const parent: unknown = Object.getPrototypeOf(at);
    if (!isLogger(parent)) return null;
    const text = boundBy(at, parent);
    if (text === null) return null;
    bound.unshift(text);
    if (isKnown(parent)) return { of: parent, bound };
    at = parent;
  }
  return null;
}

export function makeChild(of: object, bound: readonly string[]): object {
  let at = of;
  for (const text of bound) {
    if (!isLogger(at)) throw new Error('only a logger has children');
    at = at.child({});
    const name = symbolOf(at);
    if (name !== undefined) Reflect.set(at, name, text);
  }
  return at;
}

/** What the middleware of pino-http logs by: start-up made it, and the middleware keeps it for good. */
export function loggerOf(middleware: object): object | null {
  const named: unknown = Object.getOwnPropertyDescriptor(middleware, 'logger')?.value;
  if (!isLogger(named)) return null;
  const reflector = new Reflector();
  const own = reflector.variables(middleware, (name) => name === 'logger').get('logger');
  reflector.close();
  return own === named ? named : null;
}

interface Logger {
  child(bindings: object): object;
}

const BOUND = 'pino.chindings';
const FORMATTERS = Symbol.for('pino.formatters');
const MOST_DEEP = 8;
const TELLS_NOBODY = /^function noop\s*\(\)\s*\{\s*\}$/;

export function isLogger(value: unknown): value is Logger {
  return typeof value === 'object' && value !== null && 'child' in value && symbolOf(value) !== undefined;
}

/** Each copy of the package has one of its own. */
function symbolOf(logger: object): symbol | undefined {
  return Object.getOwnPropertySymbols(logger).find(({ description }) => description === BOUND);
}

/** Null: it is more than that. */
function boundBy(child: object, parent: Logger): string | null {
  const plain = plainChildOf(parent);
  const name = symbolOf(child);
  if (plain === null || name === undefined) return null;
  const [own, expected] = [Reflect.ownKeys(child), Reflect.ownKeys(plain)];
  if (own.length !== expected.length || !own.every((key) => isSame(child, plain, key, name))) return null;
  const text: unknown = Reflect.get(child, name);
  return typeof text === 'string' && Object.isExtensible(child) ? text : null;
}

function isSame(child: object, plain: object, key: string | symbol, name: symbol): boolean {
  const [here, there] = [child, plain].map((of) => Object.getOwnPropertyDescriptor(of, key));
  if (here === undefined || there === undefined || !('value' in here) || !('value' in there)) return false;
  if (key === name || Object.is(here.value, there.value) || isSameCode(here.value, there.value)) return true;
  return key === FORMATTERS && haveSameParts(here.value, there.value);
}

/** Newer versions make the methods of its level anew for each child. */
function isSameCode(here: unknown, there: unknown): boolean {
  if (typeof here !== 'function' || typeof there !== 'function' || here.name !== there.name) return false;
  const [own, other] = [here, there].map((fn) => Function.prototype.toString.call(fn));
  return own === other && !/\{\s*\[native code\]\s*\}$/.test(own ?? '');
}

function haveSameParts(here: object, there: object): boolean {
  const [own, other] = [Object.entries(here), Object.entries(there)];
  return own.length === other.length && own.every(([key, value]) => Object.is(value, Reflect.get(there, key)));
}

const plain = new WeakMap<object, object | null>();

/** One that is bound to nothing. */
function plainChildOf(parent: Logger): object | null {
  let known = plain.get(parent);
  if (known === undefined) {
    const told: unknown = Reflect.get(parent, 'onChild');
    const isTold = told !== undefined && !TELLS_NOBODY.test(Function.prototype.toString.call(told));
    plain.set(parent, (known = isTold ? null : parent.child({})));
  }
  return known;
}
