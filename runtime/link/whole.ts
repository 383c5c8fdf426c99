/**
 * Whether a replica can serve all that a server calls, from the first middleware to the last handler, with nobody else.
 *
 * Reads: functions in routers, on both loops.
 * Gives: what they reach, where nothing but start-up decides what they do; null for all others.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LinkManifest, StartManifest } from '../../flx/run-manifest.js';
import type { Reached } from './compare.js';
import { FluxionFinder, type FoundFluxion } from './find-fluxion.js';
import { findHeldFunctions, type Origin } from './held-functions.js';
import { OF_NODE, Reach } from './reach.js';
import type { FunctionPlace, Reflector } from './reflect.js';
import { goesByItsParameters } from './text-function.js';

/** What Express 4 puts into each stack itself: it looks at the request, and at the app's settings. Apps of Express 3 are served by home. */
const OWN_OF_EXPRESS: { readonly [name: string]: RegExp } = {
  express: /[\\/]lib[\\/]middleware[\\/](?:init|query)\.js$/,
};

interface KnownPackage {
  readonly folder: string;
  readonly reach: Reach;
  /** It, and all that it may load itself. */
  readonly own: ReadonlySet<string>;
}

export interface WholeSlot {
  readonly reached: Reached;
  /** Functions of the app that it was given speak to others. */
  readonly speaks: boolean;
}

export class WholeReach {
  readonly #reflector: Reflector;
  readonly #finder: FluxionFinder;
  readonly #own: ReadonlySet<string>;
  readonly #repeatable: ReadonlySet<string>;
  readonly #reach: Reach;
  readonly #packages = new Map<string, KnownPackage>();
  /** `app.all` has the same function for each method. */
  readonly #ofMiddleware = new Map<object, WholeSlot | null>();

  /** `reach`: of functions of the app. */
  constructor(reflector: Reflector, start: StartManifest, link: LinkManifest, reach: Reach) {
    this.#reflector = reflector;
    this.#finder = new FluxionFinder(start, link);
    this.#own = new Set(start.modules.map(({ source }) => source));
    this.#repeatable = new Set(link.repeatable);
    this.#reach = reach;
  }

  /** `found`: the fluxion that it is, if it is one. */
  ofSlot(fn: object, place: FunctionPlace, found: FoundFluxion | null): WholeSlot | null {
    if (found !== null) return found.fluxion.whole ? { reached: [...this.#reach.of(found.fn)], speaks: false } : null;
    let told = this.#ofMiddleware.get(fn);
    if (told === undefined) this.#ofMiddleware.set(fn, (told = this.#lookAt(fn, fileOf(place.url))));
    return told;
  }

  #lookAt(fn: object, file: string): WholeSlot | null {
    const folder = packageFolder(file);
    const known = folder === null ? null : this.#packageIn(folder, file);
    if (known === null) return null;
    const strangers = new Map<object, string>();
    const reached = [...known.reach.of(fn, null, strangers)];
    let speaks = false;
    for (const [index, [stranger, url]] of [...strangers].entries()) {
      const inner = this.#ofStranger(stranger, fileOf(url), known);
      if (inner === null) return null;
      for (const [name, told] of inner.reached) reached.push([`${index} ${name}`, told]);
      speaks ||= inner.speaks;
    }
    return { reached, speaks };
  }

  /** What middleware has in hands that is not its package's own; null where nobody knows what that does. */
  #ofStranger(stranger: object, file: string, known: KnownPackage): WholeSlot | null {
    if (file === '' && typeof stranger === 'function')
      return goesByItsParameters(stranger) ? { reached: [], speaks: false } : null;
    if (!this.#own.has(file)) return this.#ofForeign(stranger, file, known);
    return typeof stranger === 'function' ? this.#ofFluxion(stranger) : null;
  }

  #ofFluxion(fn: object): WholeSlot | null {
    const [place] = this.#reflector.locate([fn]);
    const found = place ? this.#finder.find(fn, place, this.#reflector) : null;
    if (found?.fluxion.whole !== true) return null;
    return { reached: [...this.#reach.of(found.fn)], speaks: found.fluxion.connects.length > 0 };
  }

  /** What a package has made that it asks for itself: a schema, a signer. */
  #ofForeign(stranger: object, file: string, known: KnownPackage): WholeSlot | null {
    if (this.#originOf(file, known) !== 'known') return null;
    if (known.reach.isShared(stranger)) return { reached: [], speaks: false };
    const held = findHeldFunctions(stranger, {
      reflector: this.#reflector,
      originOf: (url) => this.#originOf(url, known),
      isShared: (value) => known.reach.isShared(value),
    });
    if (held === null) return null;
    const reached: [string, string][] = [];
    let speaks = false;
    for (const [index, fn] of held.entries()) {
      const inner = this.#ofFluxion(fn);
      if (inner === null) return null;
      for (const [name, told] of inner.reached) reached.push([`${index} ${name}`, told]);
      speaks ||= inner.speaks;
    }
    return { reached, speaks };
  }

  #originOf(url: string, known: KnownPackage): Origin {
    if (OF_NODE.test(url)) return 'node';
    const file = fileOf(url);
    if (this.#own.has(file)) return 'app';
    const folder = packageFolder(file);
    const name = folder === null ? '' : nameOf(folder);
    return known.own.has(name) || this.#repeatable.has(name) ? 'known' : 'other';
  }

  /** Null where nothing is known of the middleware in this file. */
  #packageIn(folder: string, file: string): KnownPackage | null {
    const name = nameOf(folder);
    if (!this.#repeatable.has(name) && OWN_OF_EXPRESS[name]?.test(file) !== true) return null;
    const known = this.#packages.get(folder);
    if (known !== undefined) return known;
    const reach = new Reach(this.#reflector, {
      isApp: (url) => packageFolder(fileOf(url)) === folder,
      // What modules of the app export is what the middleware was given.
      isNamed: (each) => !this.#own.has(each),
      changes: () => false,
    });
    const made = { folder, reach, own: dependenciesOf(folder) };
    this.#packages.set(folder, made);
    return made;
  }
}

/** Names: the package's own, and those that it, or one of them, asks for. */
function dependenciesOf(folder: string): ReadonlySet<string> {
  const found = new Set<string>();
  const queue: (string | null)[] = [folder];
  for (const at of queue) {
    const { name, dependencies } = manifestIn(at ?? '');
    if (at === null || name === '' || found.has(name)) continue;
    found.add(name);
    for (const each of dependencies) queue.push(findPackage(at, each));
  }
  return found;
}

/** Where Node would find it. */
function findPackage(from: string, name: string): string | null {
  for (let at = from; ; at = path.dirname(at)) {
    const folder = path.join(at, 'node_modules', name);
    if (existsSync(path.join(folder, 'package.json'))) return folder;
    if (path.dirname(at) === at) return null;
  }
}

/** `…/node_modules/@scope/name` */
function packageFolder(file: string): string | null {
  return /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(file)?.[0] ?? null;
}

/** The folder may be called otherwise (`"express4": "npm:express@4"`). */
function nameOf(folder: string): string {
  return manifestIn(folder).name;
}

interface PackageManifest {
  readonly name: string;
  readonly dependencies: readonly string[];
}

const manifests = new Map<string, PackageManifest>();

function manifestIn(folder: string): PackageManifest {
  let known = manifests.get(folder);
  if (known === undefined) manifests.set(folder, (known = readManifest(folder)));
  return known;
}

function readManifest(folder: string): PackageManifest {
  try {
    const text: unknown = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
    const { name, ...rest }: Record<string, unknown> = { ...(text as object) };
    const dependencies = ['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((kind) =>
      Object.keys(rest[kind] ?? {}),
    );
    return { name: String(name), dependencies };
  } catch {
    return { name: '', dependencies: [] };
  }
}

function fileOf(url: string): string {
  return url.startsWith('file:') ? fileURLToPath(url.replace(/[?#].*$/s, '')) : url;
}
