/**
 * Reads: a stand-in, and the real object that it stands for, on one loop.
 * Gives: the stand-in as another name of the real one. Whoever still holds it, in a closure, a field or a private one, has the real one's
 *        properties and methods, and what is set goes there. Listeners move.
 *
 * The stand-in cannot be replaced where it is held; its prototype can be. What the real one has as its own is its own as well, for those who
 * ask for that, as of the last `renewNames`.
 */
import { EventEmitter } from 'node:events';
import { Mark } from './exchange-of.js';

const names = new Mark<object[]>();

export function becomeOther(standIn: EventEmitter, real: EventEmitter): void {
  moveListeners(standIn, real);
  for (const key of Reflect.ownKeys(standIn)) Reflect.deleteProperty(standIn, key);
  // Getters and setters are called on the real one, which has what they look for.
  const other = new Proxy(real, {
    get: (_real, key): unknown => Reflect.get(real, key),
    set: (_real, key, value) => Reflect.set(real, key, value),
  });
  Object.setPrototypeOf(standIn, other);
  const known = names.get(real);
  if (known === undefined) names.set(real, [standIn]);
  else known.push(standIn);
  renew(standIn, real);
}

/** Other names of it have what it has now. */
export function renewNames(real: object): void {
  for (const name of names.get(real) ?? []) renew(name, real);
}

function renew(name: object, real: object): void {
  for (const key of Reflect.ownKeys(name)) if (!Object.hasOwn(real, key)) Reflect.deleteProperty(name, key);
  for (const key of Reflect.ownKeys(real)) {
    if (Object.hasOwn(name, key)) continue;
    const { enumerable = true } = Object.getOwnPropertyDescriptor(real, key) ?? {};
    const get = (): unknown => Reflect.get(real, key);
    const set = (value: unknown): void => void Reflect.set(real, key, value);
    Object.defineProperty(name, key, { get, set, enumerable, configurable: true });
  }
}

function moveListeners(standIn: EventEmitter, real: EventEmitter): void {
  const { on } = EventEmitter.prototype;
  for (const event of standIn.eventNames()) {
    if (isPast(standIn, event)) continue;
    for (const listener of standIn.rawListeners(event)) Reflect.apply(on, real, [event, listener]);
  }
}

/** These come once, and the stand-in's listeners have been told. */
function isPast(standIn: object, event: string | symbol): boolean {
  const is = (name: string): boolean => Reflect.get(standIn, name) === true;
  if (event === 'end') return is('readableEnded');
  if (event === 'finish') return is('writableFinished');
  return event === 'close' && is('closed');
}
