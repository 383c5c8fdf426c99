import { basename, dirname, extname, join, sep } from 'node:path';
import type { PackageJson } from './resolution/file-table.js';
import { BadPackageJson, FileTable } from './resolution/file-table.js';
import { locateImported } from './resolution/locate-imported.js';
import { locateRequired } from './resolution/locate-required.js';
import { type Bare, type Context, type Located, NotFound, packageScope } from './resolution/located.js';

/**
 * Reads: a specifier, the file in which it stands, and whether `require` or `import` takes it.
 * Gives: what Node would load, by Node's own rules for CommonJS and for ES modules.
 *
 * `given` are modules that need not be on disk, by their real path. One resolver serves one compilation: what it once saw on disk it takes as unchanged.
 */
export function createResolver(given: ReadonlyMap<string, string> = new Map()): Resolver {
  const files = new FileTable(given);
  const known = new Map<string, Resolution>();
  return {
    resolve(specifier, fromFile, mode) {
      const key = `${mode}\0${dirname(fromFile)}\0${specifier}`;
      const before = known.get(key);
      if (before !== undefined) return before;
      const resolution = resolveOnce(files, specifier, fromFile, mode);
      known.set(key, resolution);
      return resolution;
    },
    moduleKind: (file) => moduleKind(files, file),
  };
}

export interface Resolver {
  /** `fromFile` is an absolute, real path, as resolutions give them. */
  resolve(specifier: string, fromFile: string, mode: ResolveMode): Resolution;
  moduleKind(file: string): ModuleKind;
}

export type ResolveMode = 'require' | 'import';

/** `detect`: Node looks for the syntax of ES modules in the text. */
export type ModuleKind = 'commonjs' | 'module' | 'detect' | 'json' | 'other';

export type Resolution =
  /** `path` is the real path. `query` is what an import has behind the file name (`?x#y`): each makes a module instance
   *  of its own from the same file. */
  | { readonly kind: 'file'; readonly path: string; readonly query: string }
  | PackageResolution
  /** Without `node:`. */
  | { readonly kind: 'core'; readonly name: string }
  | { readonly kind: 'missing'; readonly reason: string };

/** Code below node_modules, or a bare name for which nothing is installed. `subpath` is without `./`, empty for none. */
export type PackageResolution =
  | {
      readonly kind: 'package';
      readonly installed: true;
      /** The package's own name: `express` where package.json has `"express4": "npm:express@4"`. */
      readonly name: string;
      readonly subpath: string;
      readonly version: string | null;
      readonly path: string;
    }
  | { readonly kind: 'package'; readonly installed: false; readonly name: string; readonly subpath: string };

function resolveOnce(files: FileTable, specifier: string, fromFile: string, mode: ResolveMode): Resolution {
  const context: Context = { files, fromFile, folder: dirname(fromFile) };
  try {
    return finish(files, mode === 'require' ? locateRequired(specifier, context) : locateImported(specifier, context));
  } catch (error) {
    if (error instanceof NotFound) return { kind: 'missing', reason: error.reason };
    if (error instanceof BadPackageJson) {
      return { kind: 'missing', reason: `${join(basename(dirname(error.file)), 'package.json')} is not valid JSON` };
    }
    throw error;
  }
}

function finish(files: FileTable, located: Located): Resolution {
  switch (located.kind) {
    case 'core':
      return located;
    case 'absent':
      return { kind: 'package', installed: false, name: located.bare.name, subpath: located.bare.subpath };
    case 'path': {
      const path = files.realPath(located.path);
      const root = packageRoot(path);
      if (root === null) return { kind: 'file', path, query: located.query };
      return describePackage(files, path, root, located.bare);
    }
  }
}

/** `…/node_modules/@scope/name` for a path below it; null for what is the app's own. */
function packageRoot(path: string): string | null {
  const marker = `${sep}node_modules${sep}`;
  const at = path.lastIndexOf(marker);
  if (at === -1) return null;
  const below = path.slice(at + marker.length).split(sep);
  const depth = below[0]?.startsWith('@') === true ? 2 : 1;
  return path.slice(0, at + marker.length) + below.slice(0, depth).join(sep);
}

function describePackage(files: FileTable, path: string, root: string, bare: Bare | null): PackageResolution {
  const manifest = packageOrNull(files, root);
  const folderName = root.slice(root.lastIndexOf(`${sep}node_modules${sep}`) + sep.length * 2 + 'node_modules'.length);
  const name = manifest?.name ?? bare?.name ?? folderName.split(sep).join('/');
  const subpath =
    bare === null
      ? path
          .slice(root.length + 1)
          .split(sep)
          .join('/')
      : bare.subpath;
  return { kind: 'package', installed: true, name, subpath, version: manifest?.version ?? null, path };
}

function packageOrNull(files: FileTable, folder: string): PackageJson | null {
  try {
    return files.packageIn(folder);
  } catch {
    return null;
  }
}

function moduleKind(files: FileTable, file: string): ModuleKind {
  switch (extname(file)) {
    case '.cjs':
      return 'commonjs';
    case '.mjs':
      return 'module';
    case '.json':
      return 'json';
    case '.node':
    case '.wasm':
    case '.ts':
    case '.cts':
    case '.mts':
      return 'other';
    case '.js':
      return kindByScope(files, dirname(file));
    case '':
      // As the entry it goes by package.json; `require` looks at the text even where that says "module".
      return kindByScope(files, dirname(file)) === 'commonjs' ? 'commonjs' : 'detect';
    default:
      // Only `require` takes other extensions, and looks at the text whatever package.json says.
      return 'detect';
  }
}

function kindByScope(files: FileTable, folder: string): ModuleKind {
  try {
    return packageScope(files, folder)?.type ?? 'detect';
  } catch {
    // A package.json that is not valid JSON: Node stops there, and says so itself when the app starts.
    return 'detect';
  }
}
