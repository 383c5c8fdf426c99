/**
 * Reads: something that a package has made (a schema, a strategy).
 * Gives: the functions of the app that are somewhere in it, in the order in which they are come by, which is the same wherever it was made in the
 *        same way; null where there is what nobody can look into, or too much.
 *
 * What data it holds is not told: that is what its package makes of what it was given.
 */
import { types } from 'node:util';
import patching from '../firewall/patches.cjs';
import type { FunctionPlace, Reflector } from './reflect.js';

export type Origin = 'app' | 'known' | 'node' | 'other';

export interface HeldOptions {
  readonly reflector: Reflector;
  originOf(url: string): Origin;
  /** What a module exports, and what is there on every loop. */
  isShared(value: object): boolean;
}

const MOST_HELD = 60_000;
const MOST_ASKED = 1_500;
const NAMES = /[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/gu;

export function findHeldFunctions(root: object, options: HeldOptions): readonly object[] | null {
  const search = new Search(options);
  search.push(root);
  return search.run();
}

class Search {
  readonly #options: HeldOptions;
  readonly #queue = new Set<object>();
  readonly #found: object[] = [];
  #asked = 0;
  #isLost = false;

  constructor(options: HeldOptions) {
    this.#options = options;
  }

  push(value: unknown): void {
    const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
    if (isObject && !this.#options.isShared(value)) this.#queue.add(value);
  }

  run(): readonly object[] | null {
    for (const each of this.#queue) {
      this.#look(each);
      if (this.#isLost || this.#queue.size > MOST_HELD) return null;
    }
    return this.#found;
  }

  #look(value: object): void {
    if (patching.standsForNodes(value)) return;
    if (types.isProxy(value) || types.isWeakMap(value) || types.isWeakSet(value) || types.isPromise(value)) {
      this.#isLost = true;
      return;
    }
    if (typeof value === 'function' && !this.#lookAtFunction(value)) return;
    this.#lookAtProperties(value);
    if (types.isMap(value)) for (const entry of value) for (const each of entry) this.push(each);
    if (types.isSet(value)) for (const item of value) this.push(item);
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== Function.prototype) this.push(prototype);
  }

  /** True where its own properties are to be looked at as well. */
  #lookAtFunction(fn: object): boolean {
    if (++this.#asked > MOST_ASKED) {
      this.#isLost = true;
      return false;
    }
    const { reflector } = this.#options;
    const text = Function.prototype.toString.call(fn);
    const bound = /\{\s*\[native code\]\s*\}$/.test(text) ? reflector.bound(fn) : null;
    if (bound !== null) {
      for (const each of [bound.target, bound.self, ...bound.args]) this.push(each);
      return false;
    }
    const named = new Set(text.match(NAMES));
    const isKnown = ({ url }: FunctionPlace): boolean => this.#options.originOf(url) === 'known';
    const { place, variables } = reflector.look(fn, (at) => (isKnown(at) ? (name) => named.has(name) : null));
    if (place === null) return false;
    const origin = this.#options.originOf(place.url);
    if (origin === 'app') this.#found.push(fn);
    else if (origin === 'other') this.#isLost = true;
    if (origin !== 'known') return false;
    for (const each of variables.values()) this.push(each);
    return true;
  }

  #lookAtProperties(value: object): void {
    if (ArrayBuffer.isView(value)) return;
    for (const each of Object.values(Object.getOwnPropertyDescriptors(value)))
      for (const held of [each.value, each.get, each.set]) this.push(held);
    const { constructor: maker } = value;
    if (typeof maker === 'function' && maker !== Object && hasPrivates(maker))
      for (const each of this.#options.reflector.privates(value).values()) this.push(each);
  }
}

function hasPrivates(maker: object): boolean {
  return /#[\p{ID_Start}$_]/u.test(Function.prototype.toString.call(maker));
}
