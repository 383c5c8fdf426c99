import { type Dirent, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * Reads: the file system.
 * Gives: what kind of thing a path is, its real path, and the package.json of a folder, each asked for once.
 *
 * A program of thousands of files asks for tens of thousands of paths, most of which do not exist (`./x`, `./x.js`,
 * `./x/package.json`). So a folder is listed once, and everything about its files is answered from the listing:
 * two system calls per folder (list, real path) and none per file.
 */
export class FileTable {
  readonly #listings = new Map<string, Listing | null>();
  readonly #realFolders = new Map<string, string>();
  readonly #stats = new Map<string, PathKind | null>();
  readonly #packages = new Map<string, PackageJson | null>();

  /** Files that are there whatever the disk says. */
  readonly #given: ReadonlyMap<string, string>;

  constructor(given: ReadonlyMap<string, string> = new Map()) {
    this.#given = given;
  }

  /** What is there, symbolic links followed; null for nothing. Lists the folder that the path lies in. */
  kindOf(path: string): PathKind | null {
    if (this.#given.has(path)) return 'file';
    const folder = dirname(path);
    if (folder === path) return this.#statKind(path);
    const listing = this.#list(folder);
    return listing === null ? this.#statKind(path) : this.#kindInListing(path, listing);
  }

  /** As `kindOf`, but never lists a folder: for folders above the app, which may be large or not readable. */
  probe(path: string): PathKind | null {
    const listing = this.#listings.get(dirname(path));
    return listing ? this.#kindInListing(path, listing) : this.#statKind(path);
  }

  /** The path that Node gives the module: all symbolic links resolved. The path must exist. */
  realPath(path: string): string {
    if (this.#given.has(path)) return path;
    const folder = dirname(path);
    if (folder === path) return path;
    const kind = this.#list(folder)?.get(basename(path));
    if (kind === 'file' || kind === 'folder') return join(this.#realFolder(folder), basename(path));
    return realpathSync.native(path);
  }

  /** The package.json in this very folder; null where there is none. Throws `BadPackageJson`. */
  packageIn(folder: string): PackageJson | null {
    const known = this.#packages.get(folder);
    if (known !== undefined) return known;
    const found = this.#readPackage(folder);
    this.#packages.set(folder, found);
    return found;
  }

  #readPackage(folder: string): PackageJson | null {
    const file = join(folder, 'package.json');
    const listing = this.#listings.get(folder);
    if (listing && !SAME_NAME_IN_OTHER_CASE && !listing.has('package.json')) return null;
    const text = readTextOrNull(file);
    return text === null ? null : parsePackageJson(folder, file, text);
  }

  #list(folder: string): Listing | null {
    const known = this.#listings.get(folder);
    if (known !== undefined) return known;
    const listing = readListing(folder);
    this.#listings.set(folder, listing);
    return listing;
  }

  #kindInListing(path: string, listing: Listing): PathKind | null {
    const kind = listing.get(basename(path));
    if (kind === 'file' || kind === 'folder') return kind;
    if (kind === undefined && !SAME_NAME_IN_OTHER_CASE) return null;
    return this.#statKind(path);
  }

  #statKind(path: string): PathKind | null {
    const known = this.#stats.get(path);
    if (known !== undefined) return known;
    const kind = statKind(path);
    this.#stats.set(path, kind);
    return kind;
  }

  #realFolder(folder: string): string {
    const known = this.#realFolders.get(folder);
    if (known !== undefined) return known;
    const real = realpathSync.native(folder);
    this.#realFolders.set(folder, real);
    return real;
  }
}

export type PathKind = 'file' | 'folder';

/** What a package.json says about resolution. */
export interface PackageJson {
  /** The folder it lies in. */
  readonly folder: string;
  readonly name: string | null;
  readonly version: string | null;
  readonly main: string | null;
  readonly type: 'commonjs' | 'module' | null;
  /** `undefined` where the field is missing or null. */
  readonly exports: unknown;
  readonly imports: unknown;
}

/** Node refuses to resolve anything through such a file. */
export class BadPackageJson {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
  }
}

/** `unclear` is a symbolic link, or what a file system does not tell in a listing. */
type Listing = ReadonlyMap<string, PathKind | 'unclear'>;

// There a name that no listing shows may still open a file: `./Users` opens users.js.
const SAME_NAME_IN_OTHER_CASE = process.platform === 'darwin' || process.platform === 'win32';

/** An empty listing for what is no folder; null where the folder may be entered but not listed. */
function readListing(folder: string): Listing | null {
  try {
    return new Map(readdirSync(folder, { withFileTypes: true }).map((entry) => [entry.name, kindOfEntry(entry)]));
  } catch (error) {
    return isAbsence(error) ? new Map() : null;
  }
}

function kindOfEntry(entry: Dirent): PathKind | 'unclear' {
  if (entry.isFile()) return 'file';
  return entry.isDirectory() ? 'folder' : 'unclear';
}

function statKind(path: string): PathKind | null {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return null;
    return stats.isDirectory() ? 'folder' : 'file';
  } catch {
    return null;
  }
}

function readTextOrNull(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

function isAbsence(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === 'ENOENT' || error.code === 'ENOTDIR';
}

function parsePackageJson(folder: string, file: string, text: string): PackageJson {
  const fields = parseObject(text);
  if (fields === null) throw new BadPackageJson(file);
  const { type } = fields;
  return {
    folder: resolve(folder),
    name: stringOrNull(fields.name),
    version: stringOrNull(fields.version),
    main: stringOrNull(fields.main),
    type: type === 'commonjs' || type === 'module' ? type : null,
    exports: fields.exports ?? undefined,
    imports: fields.imports ?? undefined,
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function stringOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
