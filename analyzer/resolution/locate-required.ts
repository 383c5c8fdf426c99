/** How `require` finds a file: with extensions left out, folders, and every node_modules above. */
import { isAbsolute, join, resolve as resolvePath } from 'node:path';
import type { FileTable, PackageJson } from './file-table.js';
import { locateExported, locateSelf } from './locate-exported.js';
import { locateInternal } from './locate-imported.js';
import {
  atPath,
  brokenPackage,
  type Context,
  coreModule,
  type Located,
  NotFound,
  nodeModulesAbove,
  parseBare,
  withExtension,
} from './located.js';
import type { Conditions } from './package-targets.js';

const REQUIRE_CONDITIONS: Conditions = new Set(['node', 'require', 'module-sync', 'node-addons']);

export function locateRequired(specifier: string, context: Context): Located {
  const core = coreModule(specifier);
  if (core !== null) return core;
  if (specifier === '') throw new NotFound('the name is empty');
  if (/^\.\.?(?:[\\/]|$)|^\.\./.test(specifier) || isAbsolute(specifier)) {
    return atPath(requiredFile(context.files, specifier, context.folder), null);
  }
  return (
    (specifier.startsWith('#') ? locateInternal(specifier, context, REQUIRE_CONDITIONS) : null) ??
    locateSelf(specifier, context, REQUIRE_CONDITIONS) ??
    locateInNodeModules(specifier, context)
  );
}

function requiredFile(files: FileTable, specifier: string, folder: string): string {
  const path = resolvePath(folder, specifier);
  const found = requiredPath(files, path, isFolderOnly(specifier));
  if (found !== null) return found;
  if (files.kindOf(path) === 'folder') {
    throw new NotFound('the folder has no index.js, index.json or index.node, and no "main" that exists');
  }
  throw new NotFound(`there is no file "${specifier}", with or without .js, .json or .node`);
}

/** `./x/`, `.` and `..` are never files. */
function isFolderOnly(specifier: string): boolean {
  return /(?:^|\/)\.{0,2}$/.test(specifier);
}

function requiredPath(files: FileTable, path: string, folderOnly: boolean): string | null {
  const kind = files.kindOf(path);
  if (!folderOnly) {
    if (kind === 'file') return path;
    const extended = withExtension(files, path);
    if (extended !== null) return extended;
  }
  return kind === 'folder' ? folderFile(files, path) : null;
}

function folderFile(files: FileTable, folder: string): string | null {
  // Asked first because it lists the folder, after which a missing package.json costs nothing.
  const index = withExtension(files, join(folder, 'index'));
  const main = files.packageIn(folder)?.main;
  if (!main) return index;
  const path = resolvePath(folder, main);
  const kind = files.kindOf(path);
  const named = kind === 'file' ? path : withExtension(files, path);
  return named ?? (kind === 'folder' ? withExtension(files, join(path, 'index')) : null) ?? index;
}

/** CommonJS goes on to the next node_modules where a package is there but has not got the file. */
function locateInNodeModules(specifier: string, context: Context): Located {
  const { files } = context;
  const bare = parseBare(specifier);
  let nearest: PackageJson | string | null = null;
  for (const modules of nodeModulesAbove(files, context.folder)) {
    const root = bare === null ? null : join(modules, bare.name);
    const manifest = root === null || files.kindOf(root) !== 'folder' ? null : files.packageIn(root);
    if (bare !== null && manifest?.exports !== undefined) {
      return locateExported(files, manifest, bare, REQUIRE_CONDITIONS);
    }
    const path = requiredPath(files, join(modules, specifier), isFolderOnly(specifier));
    if (path !== null) return atPath(path, bare);
    nearest ??= manifest ?? (root !== null && files.kindOf(root) === 'folder' ? root : null);
  }
  if (bare === null) throw new NotFound(`"${specifier}" is no name that a package can have`);
  if (nearest === null) return { kind: 'absent', bare };
  throw new NotFound(brokenPackage(bare, typeof nearest === 'string' ? null : nearest.main));
}
