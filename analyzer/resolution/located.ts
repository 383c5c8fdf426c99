/**
 * What the rules for `require` and those for `import` have in common: what they are asked, what they give before symbolic
 * links are resolved, and the steps that both take.
 */
import { isBuiltin } from 'node:module';
import { basename, dirname, join } from 'node:path';
import type { FileTable, PackageJson } from './file-table.js';

/** A module of a package, as it was asked for. */
export interface Bare {
  readonly name: string;
  readonly subpath: string;
  /** As "exports" has it: `.`, `./sub`; `./` for a name that ends in a slash, which is not the same as `.`. */
  readonly key: string;
}

/** What the rules give before symbolic links are resolved. */
export type Located =
  | { readonly kind: 'path'; readonly path: string; readonly query: string; readonly bare: Bare | null }
  | { readonly kind: 'core'; readonly name: string }
  | { readonly kind: 'absent'; readonly bare: Bare };

/** Thrown where Node throws. No Error: nobody needs its stack, and optional modules that are missing are common. */
export class NotFound {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

export interface Context {
  readonly files: FileTable;
  readonly fromFile: string;
  readonly folder: string;
}

export function atPath(path: string, bare: Bare | null): Located {
  return { kind: 'path', path, query: '', bare };
}

export function coreModule(specifier: string): Located | null {
  if (isBuiltin(specifier)) return { kind: 'core', name: specifier.replace(/^node:/, '') };
  if (!specifier.startsWith('node:')) return null;
  throw new NotFound(`Node ${process.versions.node} has no core module "${specifier.slice('node:'.length)}"`);
}

export function parseBare(specifier: string): Bare | null {
  const match = /^((?:@[^/\\%]+\/)?[^./\\%][^/\\%]*)(?:\/(.*))?$/s.exec(specifier);
  if (match === null || match[1] === undefined || /^@[^/]*$/.test(match[1])) return null;
  return { name: match[1], subpath: match[2] ?? '', key: match[2] === undefined ? '.' : `./${match[2]}` };
}

export function* nodeModulesAbove(files: FileTable, folder: string): Generator<string> {
  for (let at = folder; ; at = dirname(at)) {
    if (basename(at) !== 'node_modules') {
      const modules = join(at, 'node_modules');
      if (files.probe(modules) === 'folder') yield modules;
    }
    if (dirname(at) === at) return;
  }
}

/** The package.json that a folder's files belong to: the nearest one, but not one outside of node_modules. */
export function packageScope(files: FileTable, folder: string): PackageJson | null {
  for (let at = folder; basename(at) !== 'node_modules'; at = dirname(at)) {
    const found = files.packageIn(at);
    if (found !== null) return found;
    if (dirname(at) === at) return null;
  }
  return null;
}

const REQUIRE_EXTENSIONS = ['.js', '.json', '.node'];

export function withExtension(files: FileTable, path: string): string | null {
  for (const extension of REQUIRE_EXTENSIONS) {
    if (files.kindOf(path + extension) === 'file') return path + extension;
  }
  return null;
}

export function brokenPackage(bare: Bare, main: string | null): string {
  const lacks =
    bare.subpath !== '' ? `no "${bare.subpath}"` : main !== null ? `not its main file "${main}"` : 'no main file';
  return `the package "${bare.name}" is installed, but it has ${lacks}`;
}
