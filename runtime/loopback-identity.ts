/**
 * Gives: one request where there are many objects for it. In loopback each handler of a chain has stand-ins of its own, and
 *        all share the program's variables: what one of them keeps for a request in a WeakMap, another one finds by its own.
 */
import { Mark } from './http-bridge/exchange-of.js';

interface Pair {
  readonly req: object;
  readonly res: object;
}

const reals = new Mark<object>();

export function noteStandIns(standIns: Pair, real: Pair): void {
  reals.set(standIns.req, real.req);
  reals.set(standIns.res, real.res);
}

export function sameRequest(): void {
  for (const name of ['get', 'set', 'has', 'delete']) replace(WeakMap.prototype, name);
  for (const name of ['add', 'has', 'delete']) replace(WeakSet.prototype, name);
}

function replace(prototype: object, name: string): void {
  const method: unknown = Reflect.get(prototype, name);
  if (typeof method !== 'function') return;
  const replaced = {
    [name](this: unknown, key: unknown, ...rest: unknown[]): unknown {
      return Reflect.apply(method, this, [realOf(key), ...rest]);
    },
  }[name];
  if (replaced === undefined) return;
  Object.defineProperty(replaced, 'length', { value: method.length, configurable: true });
  Object.defineProperty(prototype, name, { value: replaced, writable: true, configurable: true });
}

function realOf(key: unknown): unknown {
  return (typeof key === 'object' && key !== null ? reals.get(key) : undefined) ?? key;
}
