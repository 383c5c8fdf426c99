/**
 * Reads:   texts of installed packages, before any of them is parsed.
 * Gives:   which packages are read like the app's own modules: those that are wanted, in plain JavaScript, and small enough.
 *
 * A package is looked at from the module that was asked for, along all that it asks for, other packages included. What is not
 * read stays unknown.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { PackageResolution, ResolveMode, Resolver } from './resolve-specifier.js';

export type Installed = Extract<PackageResolution, { installed: true }>;

export interface WantedPackages {
  /** `isAsked`: the app itself asks for it, not another package. */
  isWanted(name: string, isAsked: boolean): boolean;
  /** No model says what it does. */
  isUnknown(name: string): boolean;
  /** Characters that a package may have, with all that it asks for. */
  readonly mostOfOne: number;
}

/** All packages together. */
const mostOfAll = 1_000_000;

export class PackageReader {
  readonly #resolver: Resolver;
  readonly #wanted: WantedPackages;
  readonly #verdicts = new Map<string, boolean>();
  /** Why packages are not read that were wanted. */
  readonly refusals = new Map<string, string>();
  #left = mostOfAll;

  constructor(resolver: Resolver, wanted: WantedPackages) {
    this.#resolver = resolver;
    this.#wanted = wanted;
  }

  isUnknown(name: string): boolean {
    return this.#wanted.isUnknown(name);
  }

  /** The module is read. */
  reads({ name, path: file }: Installed, isAsked: boolean): boolean {
    const known = this.#verdicts.get(file);
    // What a package asks for has been looked at with it.
    if (known !== undefined && (known || isAsked)) return known;
    if (!this.#wanted.isWanted(name, isAsked)) return false;
    const found = this.#closure(file);
    if (typeof found === 'string') {
      this.#verdicts.set(file, false);
      this.refusals.set(name, found);
      return false;
    }
    for (const each of found) this.#verdicts.set(each, true);
    return true;
  }

  /** The modules that the module asks for, itself included; or why they are not to be read. */
  #closure(entry: string): readonly string[] | string {
    const root = packageRootOf(entry);
    const found = new Set([entry]);
    let size = 0;
    for (const file of found) {
      if (this.#verdicts.get(file) === true || this.#resolver.moduleKind(file) === 'json') continue;
      const read = this.#read(file);
      if (read.kind === 'refused') {
        if (packageRootOf(file) === root) return read.why;
        found.delete(file);
        continue;
      }
      const { text } = read;
      size += text.length;
      if (size > this.#wanted.mostOfOne) return `it has more than ${this.#wanted.mostOfOne} characters`;
      if (size > this.#left) return `all packages together have more than ${mostOfAll} characters`;
      for (const [mode, specifier] of specifiersIn(text)) {
        const resolution = this.#resolver.resolve(specifier, file, mode);
        if (resolution.kind !== 'package' || !resolution.installed) continue;
        if (packageRootOf(resolution.path) === root || this.#wanted.isWanted(resolution.name, false))
          found.add(resolution.path);
      }
    }
    this.#left -= size;
    return [...found];
  }

  /** Refused where it cannot be read, or says nothing that an analysis would understand. */
  #read(file: string): Read {
    const refused = (why: string): Read => ({ kind: 'refused', why: `${path.basename(file)} ${why}` });
    if (this.#resolver.moduleKind(file) === 'other') return refused('is no JavaScript');
    try {
      const text = readFileSync(file, 'utf8');
      if (isMinified(text)) return refused('is minified');
      return dynamicCode.test(text) ? refused('has `eval` or `with` in it') : { kind: 'text', text };
    } catch {
      return refused('cannot be read');
    }
  }
}

type Read = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'refused'; readonly why: string };

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
