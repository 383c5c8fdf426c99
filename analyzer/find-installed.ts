/**
 * Reads: which packages an app asks for, and the disk.
 * Gives: whether a package finds another, by its own way or because the app asks for that; and where it would have to be for that,
 *        as what is installed later makes another program.
 */
import path from 'node:path';
import process from 'node:process';
import type { AskedPackage } from './load-modules.js';
import { createResolver } from './resolve-specifier.js';

export interface Installed {
  has(owner: string, name: string): boolean;
  /** Files that were looked for: those that are there, and those that are not. */
  readonly places: ReadonlySet<string>;
}

export function findInstalled(asked: ReadonlyMap<string, AskedPackage>, entry: string): Installed {
  const resolver = createResolver(new Map());
  const places = new Set<string>();
  const known = new Map<string, boolean>();
  const isFound = (name: string, from: string): boolean => {
    for (const folder of foldersAbove(from)) places.add(path.join(folder, 'node_modules', name, 'package.json'));
    const found = resolver.resolve(name, from, 'require');
    return found.kind === 'package' && found.installed;
  };
  const look = (owner: string, name: string): boolean => {
    const { NODE_PATH = '' } = process.env;
    const from = asked.get(owner)?.path ?? entry;
    return NODE_PATH !== '' || asked.has(name) || isFound(name, from) || isFound(name, entry);
  };
  const has = (owner: string, name: string): boolean => {
    const key = `${owner} ${name}`;
    let found = known.get(key);
    if (found === undefined) known.set(key, (found = look(owner, name)));
    return found;
  };
  return { has, places };
}

function foldersAbove(file: string): readonly string[] {
  const folders: string[] = [];
  for (let at = path.dirname(file); ; at = path.dirname(at)) {
    folders.push(at);
    if (at === path.dirname(at)) return folders;
  }
}
