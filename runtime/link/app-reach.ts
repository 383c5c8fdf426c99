/**
 * Reads: an app of the running program.
 * Gives: what it is worth to those who ask it: settings, view engines and what templates find. Express itself looks at these, too.
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Reached } from './compare.js';
import type { Dependencies } from './guards.js';
import type { Reach } from './reach.js';

/** What of it only those look at who render, or ask for it by name. */
export const LOCALS = 'locals';

/** Before the name of a setting that is none of Express's own: nobody looks at it who does not name it. */
export const SETTING = 'settings.';

/** Express goes by these with each answer. */
const OF_EXPRESS: ReadonlySet<string> = new Set([
  ...['env', 'etag', 'etag fn', 'query parser', 'query parser fn', 'subdomain offset', 'trust proxy', 'trust proxy fn'],
  ...[
    'view',
    'views',
    'view cache',
    'view engine',
    'view options',
    'jsonp callback',
    'jsonp callback name',
    'json replacer',
  ],
  ...['json spaces', 'json escape', 'case sensitive routing', 'strict routing', 'strict query', 'x-powered-by'],
]);

const require = createRequire(import.meta.url);

/** Null for routers and routes. */
export function reachedByApp(app: object, reach: Reach, dependencies: Dependencies | null = null): Reached | null {
  const { settings, engines, locals, mountpath } = read(app);
  if (typeof settings !== 'object' || settings === null) return null;
  const given = Object.keys(settings).filter((name) => !OF_EXPRESS.has(name));
  const parts = {
    settings: without(settings, ['view', ...given]),
    ...Object.fromEntries(given.map((name) => [`${SETTING}${name}`, valueIn(settings, name)])),
    engines: without(engines, lookedUp(engines)),
    [LOCALS]: without(locals, ['settings']),
    mountpath,
  };
  return [...reach.ofValues(parts, dependencies)];
}

/** Routers and routes have no settings. */
export function isExpressApp(thing: object): boolean {
  return typeof Reflect.get(thing, 'settings') === 'object' && typeof Reflect.get(thing, 'engines') === 'object';
}

function read(app: object): { readonly [name: string]: unknown } {
  const names = ['settings', 'engines', 'locals', 'mountpath'];
  return Object.fromEntries(names.map((name) => [name, Reflect.get(app, name)]));
}

/** View engines that Express finds by itself, when a view is first rendered: `.ejs` is what the package `ejs` has for it. */
function lookedUp(engines: unknown): readonly string[] {
  if (typeof engines !== 'object' || engines === null) return [];
  const loaded = Object.values(require.cache);
  return Object.entries(engines)
    .filter(([ending, engine]) => {
      const folder = path.join(path.sep, 'node_modules', ending.slice(1), path.sep);
      const isIts = (module: NodeModule | undefined): boolean =>
        module?.filename.includes(folder) === true && Reflect.get(Object(module.exports), '__express') === engine;
      return loaded.some(isIts);
    })
    .map(([ending]) => ending);
}

/** Accessors stay such: to ask them would run code of the app. */
function without(value: unknown, names: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return only(
    value,
    Object.keys(value).filter((name) => !names.includes(name)),
  );
}

function valueIn(holder: object, name: string): unknown {
  const found = Object.getOwnPropertyDescriptor(holder, name);
  return found !== undefined && 'value' in found ? found.value : only(holder, [name]);
}

function only(value: object, names: readonly string[]): object {
  const found = names.map((name) => [name, Object.getOwnPropertyDescriptor(value, name)] as const);
  return Object.defineProperties({}, Object.fromEntries(found) as PropertyDescriptorMap);
}
