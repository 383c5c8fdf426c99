/** Gives: names for the classes of errors that the language and Node have, and their prototypes by name. */
import { isObject } from './kinds.js';

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

export const ERROR_NAMES: ReadonlyMap<object, string> = new Map(
  ERROR_CLASSES.map(({ prototype, name }) => [prototype, name]),
);
export const ERROR_PROTOTYPES: ReadonlyMap<string, object> = new Map(
  ERROR_CLASSES.map(({ prototype, name }) => [name, prototype]),
);

/**
 * Node makes a class for each of its codes, which nobody can get at. They differ from the class below them by their
 * `toString`, which says the code.
 */
export function nodeErrorName(error: Error): string | undefined {
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

export const NODE_ERROR = 'node:';
const nodeErrors = new Map<string, object>();
/** Those made here may have to travel on. */
const nodeErrorNames = new WeakMap<object, string>();

export function nodeErrorPrototype(name: string): object {
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

/** Node marks errors of its own with a symbol and a `toString` that says the code. */
export function isNodesOwn(error: Error, key: string | symbol, { value, enumerable }: PropertyDescriptor): boolean {
  if (enumerable === true || !('code' in error)) return false;
  return typeof key === 'symbol'
    ? key.description === 'kIsNodeError'
    : key === 'toString' && typeof value === 'function';
}
