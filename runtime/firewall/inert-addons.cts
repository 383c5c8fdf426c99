/**
 * Reads:   native addons that start-up loads.
 * Gives:   the same, but that start-up cannot call them unless they are known to touch nothing outside: what native code
 *          does, nobody sees. A call ends the replica, with a reason; so does an addon that does not load in a thread.
 */
import callSites = require('./call-site.cjs');
import patching = require('./patches.cjs');
import walls = require('./wall.cjs');

type Fn = (this: unknown, ...args: unknown[]) => unknown;
type Wall = InstanceType<typeof walls.Wall>;
type Patches = InstanceType<typeof patching.Patches>;

const { apply } = Reflect;

/** They only compute. */
const HARMLESS =
  /^(bcrypt|argon2|bufferutil|utf-8-validate|@node-rs\/(argon2|bcrypt|crc32|xxhash|jsonwebtoken).*|snappy|@napi-rs\/snappy.*|re2|farmhash|xxhash|msgpackr-extract|@msgpackr-extract\/.*|cpu-features)$/;
/** These too, but for some of their functions. */
const HARMLESS_BUT: readonly { readonly name: RegExp; readonly members: readonly string[] }[] = [
  { name: /^(sharp|@img\/sharp-.*)$/, members: ['pipeline', 'metadata', 'stats'] },
];

function guardAddons(wall: Wall, temporary: Patches, lasting: Patches): void {
  temporary.wrap(process, 'dlopen', () => ({
    apply(target, self, args) {
      if (!wall.stops) return apply(target, self, args);
      const [module, file] = args;
      const name = callSites.packageOf(String(file));
      const called = name ?? String(file);
      try {
        wall.outside(() => apply(target, self, args));
      } catch (error) {
        return wall.giveUp(`the native addon of ${called} does not load in a thread: ${String(error)}`);
      }
      const harmless = wall.allowsAddon(name, String(file)) || (name !== null && HARMLESS.test(name));
      if (!harmless && typeof module === 'object' && module !== null) guard(wall, lasting, module, name, called);
      return undefined;
    },
  }));
}

function guard(wall: Wall, patches: Patches, module: object, name: string | null, called: string): void {
  const watched = HARMLESS_BUT.find((each) => name !== null && each.name.test(name))?.members;
  const exported: unknown = Reflect.get(module, 'exports');
  const trap = (member: string) => () => guardHandler(wall, `${called}'s native ${member}`);
  if (patching.isFunction(exported)) patches.wrap(module, 'exports', trap('function'));
  if ((typeof exported !== 'object' && typeof exported !== 'function') || exported === null) return;
  for (const key of Object.keys(exported)) {
    if (watched !== undefined && !watched.includes(key)) continue;
    const isGuarded = patches.wrap(exported, key, trap(key));
    if (!isGuarded && patching.isFunction(Reflect.get(exported, key))) {
      wall.giveUp(`${called} has a native addon whose ${key} cannot be watched`);
    }
  }
}

function guardHandler(wall: Wall, what: string): ProxyHandler<Fn> {
  const check = (above: (...args: never[]) => unknown): void => {
    if (wall.stops) wall.giveUp(`${what} is called at ${wall.site(above).at}: nobody knows what it does outside`);
    if (wall.isArmed) wall.effect('other', what);
  };
  return {
    apply: function trap(target, self, args) {
      check(trap);
      return apply(target, self, args);
    },
    construct: function trap(target, args, newTarget) {
      check(trap);
      return Reflect.construct(target, args, newTarget);
    },
  };
}

export = { guardAddons };
