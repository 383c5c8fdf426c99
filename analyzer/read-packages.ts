/**
 * Reads:   texts of installed packages, before any of them is parsed.
 * Gives:   which packages are read like the app's own modules: those of which no model says what they do, in plain
 *          JavaScript, and small enough.
 *
 * A package is looked at from the module that was asked for, along what it asks for of itself; what it asks for of other
 * packages is decided for these. What is not read stays unknown.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { PackageResolution, ResolveMode, Resolver } from './resolve-specifier.js';

export type Installed = Extract<PackageResolution, { installed: true }>;

/** Characters that a package may have at most, and all of them together. */
const mostOfOne = 300_000;
const mostOfAll = 1_500_000;

export class PackageReader {
  readonly #resolver: Resolver;
  readonly #isWanted: (name: string) => boolean;
  readonly #verdicts = new Map<string, boolean>();
  readonly #sizes = new Map<string, number>();
  #left = mostOfAll;

  constructor(resolver: Resolver, isWanted: (name: string) => boolean) {
    this.#resolver = resolver;
    this.#isWanted = isWanted;
  }

  /** The module at `path` is read. */
  reads({ name, path: file }: Installed): boolean {
    if (!this.#isWanted(name)) return false;
    let verdict = this.#verdicts.get(file);
    if (verdict === undefined) {
      const found = this.#closure(file);
      verdict = found !== null;
      // What a module that is read asks for of its own package has been looked at with it.
      for (const each of found ?? [file]) this.#verdicts.set(each, verdict);
    }
    return verdict;
  }

  /** The modules of the package that the module asks for, itself included; null where they are not to be read. */
  #closure(entry: string): readonly string[] | null {
    const root = packageRootOf(entry);
    const found = new Set([entry]);
    const before = this.#sizes.get(root) ?? 0;
    let size = 0;
    for (const file of found) {
      if (this.#verdicts.get(file) === true || this.#resolver.moduleKind(file) === 'json') continue;
      const text = this.#textOf(file);
      if (text === null) return null;
      size += text.length;
      if (before + size > mostOfOne || size > this.#left) return null;
      for (const [mode, specifier] of specifiersIn(text)) {
        const resolution = this.#resolver.resolve(specifier, file, mode);
        if (resolution.kind === 'package' && resolution.installed && isWithin(resolution.path, root))
          found.add(resolution.path);
      }
    }
    this.#sizes.set(root, before + size);
    this.#left -= size;
    return [...found];
  }

  /** Null where it cannot be read, or says nothing that an analysis would understand. */
  #textOf(file: string): string | null {
    if (this.#resolver.moduleKind(file) === 'other') return null;
    try {
      const text = readFileSync(file, 'utf8');
      return isMinified(text) || dynamicCode.test(text) ? null : text;
    } catch {
      return null;
    }
  }
}

/** `eval` and `with`, which would make the rest of the program opaque as well. */
const dynamicCode = /(?:^|[^.\w$'"`*/-])eval\s*\(|(?:^|[;{}\n])[ \t]*with\s*\(/;

function isMinified(text: string): boolean {
  return text.length > 30_000 && text.length > 300 * (text.match(/\n/g)?.length ?? 0);
}

const asked = /\b(require)\s*\(\s*(['"])([^'"\n]+)\2|\b(?:from|import)\s*\(?\s*(['"])([^'"\n]+)\4/g;

function* specifiersIn(text: string): Generator<readonly [ResolveMode, string]> {
  for (const [, isRequired, , required, , imported] of text.matchAll(asked))
    yield isRequired === undefined ? ['import', imported ?? ''] : ['require', required ?? ''];
}

function isWithin(file: string, folder: string): boolean {
  return file.startsWith(folder + path.sep) && packageRootOf(file) === folder;
}

/** `…/node_modules/@scope/name` of a file below it. */
export function packageRootOf(file: string): string {
  const marker = `${path.sep}node_modules${path.sep}`;
  const start = file.lastIndexOf(marker) + marker.length;
  const first = file.indexOf(path.sep, start);
  const end = file[start] === '@' ? file.indexOf(path.sep, first + 1) : first;
  return end === -1 ? file : file.slice(0, end);
}

/**
 * What a module of a package is called: from `node_modules` on, or by the way there where two would have one name.
 * `root` is the folder that the app's own modules are named after.
 */
export function packageModuleId(file: string, root: string, isTaken: (id: string) => boolean): string {
  const steps = (from: string): string => from.split(path.sep).join('/');
  const marker = `${path.sep}node_modules${path.sep}`;
  const below = file.startsWith(root + path.sep) ? root.length : 0;
  const id = steps(file.slice(file.indexOf(marker, below) + 1));
  return isTaken(id) ? steps(path.relative(root, file)) : id;
}
