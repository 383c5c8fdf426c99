/**
 * Inside a replica: may its thread end, without anything being lost that a handler has begun?
 *
 * Reads: what keeps the thread's event loop alive, when start-up is over and when somebody asks.
 * Gives: what handlers have left behind there, if anything; and who has been asked not to keep the loop.
 *
 * A handler may have set a timer that fires in an hour: at home it would. What start-up left behind is dead in a replica, so
 * only what has been added counts. A timer that is not to keep the loop alive (`unref`) is not listed by Node and would fire
 * at home all the same, so who has ever made one here stays.
 */

import timers from 'node:timers';
import callSites from './firewall/call-site.cjs';
import process from './node-process.cjs';

const { getActiveResourcesInfo } = process;

/** These come and go by themselves, also with our own messages. */
const PASSING = 'Immediate';

export class Leaving {
  readonly #before = count();
  #hasLooseTimers = false;

  constructor() {
    const timer = timers.setTimeout(() => {}, 0);
    timers.clearTimeout(timer);
    const prototype: unknown = Object.getPrototypeOf(timer);
    if (typeof prototype === 'object' && prototype !== null) this.#watch(prototype);
  }

  /** Null where nothing is left. */
  holds(): string | null {
    if (this.#hasLooseTimers) return 'a timer that does not keep the loop alive';
    for (const [kind, now] of count()) if (now > (this.#before.get(kind) ?? 0)) return kind;
    return null;
  }

  /** Looked up through a getter, which gives the method as it is: nothing shows in stack traces. */
  #watch(prototype: object): void {
    let unref: unknown = Reflect.get(prototype, 'unref');
    const give = (): unknown => {
      // Node's own, and ours, end with the thread as they should.
      this.#hasLooseTimers ||= callSites.readCallSite(give).at !== null;
      return unref;
    };
    Object.defineProperty(prototype, 'unref', {
      configurable: true,
      enumerable: true,
      get: give,
      set(this: object, value: unknown) {
        if (this === prototype) unref = value;
        else Object.defineProperty(this, 'unref', { value, writable: true, enumerable: true, configurable: true });
      },
    });
  }
}

function count(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const kind of getActiveResourcesInfo.call(process)) {
    if (kind !== PASSING) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}
