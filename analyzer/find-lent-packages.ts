/**
 * Reads:   package.json of packages that are not read, and of all that these depend on.
 * Gives:   the packages that such code may use at any time: of those that are read like the app's own modules, all that they
 *          export may be called by code that nobody knows.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRootOf } from './read-packages.js';
import type { Resolver } from './resolve-specifier.js';

/** `unread` and what is given are folders of packages. */
export function findLentPackages(unread: Iterable<string>, resolver: Resolver): ReadonlySet<string> {
  const lent = new Set<string>();
  const queue = [...unread];
  for (let root = queue.pop(); root !== undefined; root = queue.pop()) {
    const manifest = path.join(root, 'package.json');
    for (const name of dependenciesIn(manifest)) {
      const found = resolver.resolve(name, manifest, 'require');
      if (found.kind !== 'package' || !found.installed) continue;
      const folder = packageRootOf(found.path);
      if (lent.has(folder)) continue;
      lent.add(folder);
      queue.push(folder);
    }
  }
  return lent;
}

function dependenciesIn(manifest: string): readonly string[] {
  try {
    const fields: unknown = JSON.parse(readFileSync(manifest, 'utf8'));
    return ['dependencies', 'peerDependencies', 'optionalDependencies'].flatMap((key) => namesOf(fields, key));
  } catch {
    return [];
  }
}

function namesOf(fields: unknown, key: string): readonly string[] {
  if (typeof fields !== 'object' || fields === null) return [];
  const value: unknown = Reflect.get(fields, key);
  return typeof value === 'object' && value !== null ? Object.keys(value) : [];
}
