/**
 * Reads: an app of the running program.
 * Gives: what it is worth to those who ask it: settings, view engines and what templates find. Express itself looks at these, too.
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Reached } from './compare.js';
import type { Reach } from './reach.js';

/** What of it only those look at who render, or ask for it by name. */
export const LOCALS = 'locals';

const require = createRequire(import.meta.url);

/** Null for routers and routes. */
export function reachedByApp(app: object, reach: Reach): Reached | null {
  const { settings, engines, locals, mountpath } = read(app);
  if (settings === undefined) return null;
  const parts = {
    settings: without(settings, ['view']),
    engines: without(engines, lookedUp(engines)),
    [LOCALS]: without(locals, ['settings']),
    mountpath,
  };
  return [...reach.ofValues(parts)];
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

function without(value: unknown, names: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}
