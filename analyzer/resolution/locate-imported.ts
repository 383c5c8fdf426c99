/** How `import` finds a file: by URL, with nothing left out, and in the nearest node_modules that has the package. */
import { basename, extname, join, resolve as resolvePath, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FileTable, PackageJson } from './file-table.js';
import { locateExported, locateSelf, pathOfUrl, targetFile } from './locate-exported.js';
import {
  atPath,
  type Bare,
  brokenPackage,
  type Context,
  coreModule,
  type Located,
  NotFound,
  nodeModulesAbove,
  packageScope,
  parseBare,
  withExtension,
} from './located.js';
import { type Conditions, importsTarget } from './package-targets.js';

const IMPORT_CONDITIONS: Conditions = new Set(['node', 'import', 'module-sync', 'node-addons']);
const LEGACY_MAINS = ['', '.js', '.json', '.node', '/index.js', '/index.json', '/index.node'];
const LEGACY_INDEXES = ['index.js', 'index.json', 'index.node'];

export function locateImported(specifier: string, context: Context): Located {
  if (specifier.startsWith('/') || /^\.\.?(?:\/|$)/.test(specifier)) return locateRelative(specifier, context);
  if (specifier.startsWith('#')) {
    const located = locateInternal(specifier, context, IMPORT_CONDITIONS);
    if (located === null) throw new NotFound('no package.json above this file has "imports"');
    return located;
  }
  const core = coreModule(specifier);
  if (core !== null) return core;
  return URL.canParse(specifier)
    ? locateUrl(new URL(specifier), specifier, context)
    : locatePackage(specifier, context, IMPORT_CONDITIONS);
}

// Names without anything that a URL would change.
const PLAIN_PATH = /^[\w./@-]+$/;

function locateRelative(specifier: string, context: Context): Located {
  if (!PLAIN_PATH.test(specifier) || /\/\.{0,2}$|^\.{1,2}$/.test(specifier)) {
    return locateUrl(new URL(specifier, pathToFileURL(context.fromFile)), specifier, context);
  }
  const path = resolvePath(context.folder, specifier);
  checkImported(context.files, path, specifier);
  return atPath(path, null);
}

function locateUrl(url: URL, specifier: string, context: Context): Located {
  if (url.protocol === 'data:') throw new NotFound('its code is in the URL itself, which Fluxion does not read');
  if (url.protocol !== 'file:') {
    throw new NotFound(`import takes files, packages and core modules, but no "${url.protocol}" addresses`);
  }
  const path = pathOfUrl(url, specifier);
  if (url.pathname.endsWith('/')) throw new NotFound(folderReason(context.files, path, specifier));
  checkImported(context.files, path, specifier);
  return { kind: 'path', path, query: url.search + url.hash, bare: null };
}

function checkImported(files: FileTable, path: string, specifier: string): void {
  const kind = files.kindOf(path);
  if (kind === 'file') return;
  if (kind === 'folder') throw new NotFound(folderReason(files, path, specifier));
  const extended = withExtension(files, path);
  if (extended === null) throw new NotFound(`there is no file "${specifier}"`);
  throw new NotFound(`import needs the whole file name, and "${specifier}${extname(extended)}" exists`);
}

function folderReason(files: FileTable, path: string, specifier: string): string {
  const index = withExtension(files, join(path, 'index'));
  const hint = index === null ? '' : `; name the file, as in "${specifier.replace(/\/$/, '')}/${basename(index)}"`;
  return `import does not look into folders${hint}`;
}

/** Names with `#`, for `require` too. Null where the package has no "imports". */
export function locateInternal(specifier: string, context: Context, conditions: Conditions): Located | null {
  const scope = packageScope(context.files, context.folder);
  if (scope === null || scope.imports === undefined) return null;
  if (specifier === '#') throw new NotFound('the name behind "#" is missing');
  const target = importsTarget(scope.imports, specifier, conditions);
  if (target.kind === 'bare') {
    return locatePackage(target.specifier, { ...context, folder: scope.folder }, conditions);
  }
  return atPath(targetFile(context.files, scope, target, `"imports" in package.json has no "${specifier}"`), null);
}

/** As Node does for `import`, and for both where the "imports" field leads to a package. */
function locatePackage(specifier: string, context: Context, conditions: Conditions): Located {
  const core = coreModule(specifier);
  if (core !== null) return core;
  const bare = parseBare(specifier);
  if (bare === null) throw new NotFound(`"${specifier}" is no name that a package can have`);
  const self = locateSelf(specifier, context, conditions);
  if (self !== null) return self;
  const { files } = context;
  for (const modules of nodeModulesAbove(files, context.folder)) {
    const root = join(modules, bare.name);
    if (files.kindOf(root) !== 'folder') continue;
    const manifest = files.packageIn(root);
    if (manifest?.exports !== undefined) return locateExported(files, manifest, bare, conditions);
    if (bare.key === '.') return atPath(legacyMain(files, root, manifest, bare), bare);
    const located = locateUrl(new URL(`./${bare.subpath}`, pathToFileURL(root + sep)), specifier, context);
    return located.kind === 'path' ? { ...located, bare } : located;
  }
  return { kind: 'absent', bare };
}

function legacyMain(files: FileTable, root: string, manifest: PackageJson | null, bare: Bare): string {
  const main = manifest?.main ?? null;
  const candidates = [...(main ? LEGACY_MAINS.map((ending) => main + ending) : []), ...LEGACY_INDEXES];
  for (const candidate of candidates) {
    const path = resolvePath(root, candidate);
    if (files.kindOf(path) === 'file') return path;
  }
  throw new NotFound(brokenPackage(bare, main));
}
