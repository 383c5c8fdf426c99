/**
 * Reads: what package.json says in `exports` and `imports`, of the package that is asked for or of the one that asks.
 * Gives: the file that it leads to; null where package.json has nothing to say about the name.
 */
import { sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { FileTable, PackageJson } from './file-table.js';
import { atPath, type Bare, type Context, type Located, NotFound, packageScope, parseBare } from './located.js';
import { type Conditions, exportsTarget, type Target } from './package-targets.js';

/** A package may load itself by its own name where it has `exports`. */
export function locateSelf(specifier: string, context: Context, conditions: Conditions): Located | null {
  const bare = parseBare(specifier);
  if (bare === null) return null;
  const scope = packageScope(context.files, context.folder);
  if (scope === null || scope.name !== bare.name || scope.exports === undefined) return null;
  return locateExported(context.files, scope, bare, conditions);
}

export function locateExported(files: FileTable, manifest: PackageJson, bare: Bare, conditions: Conditions): Located {
  const target = exportsTarget(manifest.exports, bare.key, conditions);
  const what = bare.subpath === '' ? 'a main file' : `"${bare.subpath}"`;
  return atPath(targetFile(files, manifest, target, `the package "${bare.name}" does not export ${what}`), bare);
}

export function targetFile(files: FileTable, manifest: PackageJson, target: Target, absent: string): string {
  switch (target.kind) {
    case 'none':
    case 'bare':
      throw new NotFound(absent);
    case 'invalid':
      throw new NotFound(target.reason);
    case 'path': {
      const path = pathOfUrl(new URL(target.url, pathToFileURL(manifest.folder + sep)), target.url);
      if (files.kindOf(path) === 'file') return path;
      throw new NotFound(`package.json leads to "${target.url}", which is no file`);
    }
  }
}

export function pathOfUrl(url: URL, specifier: string): string {
  if (/%2f|%5c/i.test(url.pathname))
    throw new NotFound(`"${specifier}" has an encoded slash, which Node does not allow`);
  try {
    return fileURLToPath(url);
  } catch {
    throw new NotFound(`"${specifier}" is no address of a file`);
  }
}
