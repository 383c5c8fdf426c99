/**
 * Reads:   the `Date` of this thread.
 * Gives:   a `Date` whose current time somebody else tells.
 *
 * It stays for good: programs keep `Date` in tables and compare `value.constructor` with it, so that there has to be one
 * `Date` from the app's first line to its last. When nobody tells the time any more, it is the clock's.
 */
import callSites = require('./call-site.cjs');

interface Clock {
  /** for `new Date()` and `Date()`; the same function as it was, while nobody tells another time */
  time: (() => number) | null;
}

type Make = new (...args: unknown[]) => object;

function replaceDate(clock: Clock): { readonly now: () => number } {
  const Original: DateConstructor = Date;
  const { now } = Original;
  const Plain: Make = Original as unknown as Make;

  function Replaced(this: unknown, only?: unknown): unknown {
    if (new.target === undefined) {
      return clock.time === null ? Original() : new Original(clock.time()).toString();
    }
    // biome-ignore lint/complexity/noArguments: rest parameters would make the common calls slower
    const count = arguments.length;
    if (new.target === Replaced) {
      if (count === 0) return clock.time === null ? new Original() : new Original(clock.time());
      if (count === 1) return convert(only);
    }
    const made = new.target === Replaced ? Plain : new.target;
    // biome-ignore lint/complexity/noArguments: as above
    const args = count === 0 && clock.time !== null ? [clock.time()] : arguments;
    return Reflect.construct(Plain, args, made);
  }

  function convert(value: unknown): object {
    try {
      return new Plain(value);
    } catch (error) {
      callSites.hideOwnFrames(error);
      throw error;
    }
  }

  for (const key of Reflect.ownKeys(Original)) {
    const descriptor = Object.getOwnPropertyDescriptor(Original, key);
    if (descriptor !== undefined) Object.defineProperty(Replaced, key, descriptor);
  }
  Object.defineProperty(Original.prototype, 'constructor', { value: Replaced, writable: true, configurable: true });
  const before = Object.getOwnPropertyDescriptor(globalThis, 'Date');
  Object.defineProperty(globalThis, 'Date', { ...before, value: Replaced });
  return { now };
}

export = { replaceDate };
