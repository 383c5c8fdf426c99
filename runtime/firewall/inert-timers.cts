/**
 * Reads:   timers that start-up sets.
 * Gives:   genuine `Timeout` and `Immediate` objects that never fire.
 *
 * A timer of start-up stays dead after the firewall has been lifted: it ticks at home.
 */
import timers = require('node:timers');
import timersPromises = require('node:timers/promises');
import patching = require('./patches.cjs');
import walls = require('./wall.cjs');

type Fn = (this: unknown, ...args: unknown[]) => unknown;
type Wall = InstanceType<typeof walls.Wall>;
type Patches = InstanceType<typeof patching.Patches>;

const LONGEST = 2 ** 31 - 1;
const { apply } = Reflect;

function stopTimers(wall: Wall, patches: Patches): void {
  const { setTimeout, setImmediate } = timers;
  const makers: { readonly [name: string]: () => unknown } = {
    // Not held by what the app does with it: `ref`, `hasRef` and `refresh` answer as they would.
    setTimeout: () => setTimeout(() => {}, LONGEST),
    setInterval: () => setTimeout(() => {}, LONGEST),
    setImmediate: () => setImmediate(() => {}),
  };
  for (const [name, make] of Object.entries(makers)) {
    const stop = (): ProxyHandler<Fn> => ({
      apply: function trap(target, self, args) {
        // A wrong callback is told by the original.
        if (!wall.stops || !patching.isFunction(args[0])) return apply(target, self, args);
        const site = wall.site(trap);
        if (wall.connects(site)) return apply(target, self, args);
        wall.note(name, site);
        return make();
      },
    });
    patches.wrap(timers, name, stop);
    patches.wrap(globalThis, name, stop);
  }
  stopPromises(wall, patches);
  stopSignals(wall, patches);
}

function stopPromises(wall: Wall, patches: Patches): void {
  const scheduler: unknown = Reflect.get(timersPromises, 'scheduler');
  const prototype: unknown =
    typeof scheduler === 'object' && scheduler !== null ? Object.getPrototypeOf(scheduler) : null;
  const places: [object, string, () => unknown][] = [
    [timersPromises, 'setTimeout', neverSettles],
    [timersPromises, 'setImmediate', neverSettles],
    [timersPromises, 'setInterval', neverIterates],
  ];
  if (typeof prototype === 'object' && prototype !== null) {
    places.push([prototype, 'wait', neverSettles], [prototype, 'yield', neverSettles]);
  }
  for (const [holder, name, make] of places)
    replaceUntilLift(wall, patches, holder, name, `timers/promises.${name}`, make);
}

/** `AbortSignal.timeout` is a timer too. */
function stopSignals(wall: Wall, patches: Patches): void {
  replaceUntilLift(wall, patches, AbortSignal, 'timeout', 'AbortSignal.timeout', () => new AbortController().signal);
}

/** `patches` are those that are restored when the firewall is lifted. */
function replaceUntilLift(
  wall: Wall,
  patches: Patches,
  holder: object,
  name: string,
  what: string,
  make: () => unknown,
): void {
  patches.wrap(holder, name, () => ({
    apply: function trap(target, self, args) {
      if (!wall.stops) return apply(target, self, args);
      const site = wall.site(trap);
      if (site.byLoader || wall.connects(site)) return wall.outside(() => apply(target, self, args));
      wall.note(what, site);
      return make();
    },
  }));
}

function neverSettles(): Promise<never> {
  return new Promise(() => {});
}

async function* neverIterates(): AsyncGenerator<never> {
  yield await neverSettles();
}

export = { stopTimers, replaceUntilLift, neverSettles, neverIterates };
