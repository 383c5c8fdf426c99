/**
 * Reads: the `AsyncLocalStorage`s that start-up makes.
 * Gives: each under a name that is the same on all loops: where it was made, and the how-many-th it is of that place. In a replica also
 *        who is asked and has nothing: home may have something there.
 */
import asyncHooks = require('node:async_hooks');
import callSites = require('./call-site.cjs');

import type patching = require('./patches.cjs');

type Patches = InstanceType<typeof patching.Patches>;
type Fn = (this: unknown, ...args: unknown[]) => unknown;

/** Nobody has more. */
const MOST = 200;

class Contexts {
  readonly made = new Map<string, asyncHooks.AsyncLocalStorage<unknown>>();
  #empty: ((context: object) => void) | null = null;

  /** While `patches` hold. */
  watch(patches: Patches): void {
    const note = (made: unknown, trap: unknown): void => this.#note(made, trap as Fn);
    patches.wrap(asyncHooks, 'AsyncLocalStorage', () => ({
      construct: function trap(target: Fn, args: unknown[], newTarget): object {
        const made: object = Reflect.construct(target, args, newTarget);
        note(made, trap);
        return made;
      },
    }));
  }

  #note(made: unknown, trap: Fn): void {
    if (!(made instanceof asyncHooks.AsyncLocalStorage) || this.made.size >= MOST) return;
    const place = callSites.readKey(trap);
    if (place === '') return;
    let name = place;
    for (let count = 1; this.made.has(name); count++) name = `${place} ${count}`;
    this.made.set(name, made);
  }

  /** `patches` hold for good. */
  guard(patches: Patches): void {
    const empty = (context: object): void => this.#empty?.(context);
    patches.wrap(asyncHooks.AsyncLocalStorage.prototype, 'getStore', () => ({
      apply(target, self, args): unknown {
        const store = Reflect.apply(target, self, args);
        if (store === undefined && typeof self === 'object' && self !== null) empty(self);
        return store;
      },
    }));
  }

  onEmpty(listener: (context: object) => void): void {
    this.#empty = listener;
  }
}

export = { Contexts };
