/**
 * Whether a replica can serve all that a server calls, from the first middleware to the last handler, with nobody else.
 *
 * Reads: functions in routers, on both loops.
 * Gives: what they reach, where nothing but start-up decides what they do; null for all others.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LinkManifest, StartManifest } from '../../flx/run-manifest.js';
import type { Reached } from './compare.js';
import type { FoundFluxion } from './find-fluxion.js';
import { Reach } from './reach.js';
import type { FunctionPlace, Reflector } from './reflect.js';

/** What Express 4 puts into each stack itself: it looks at the request, and at the app's settings. Apps of Express 3 are served by home. */
const OWN_OF_EXPRESS: { readonly [name: string]: RegExp } = {
  express: /[\\/]lib[\\/]middleware[\\/](?:init|query)\.js$/,
};

export class WholeReach {
  readonly #reflector: Reflector;
  readonly #own: ReadonlySet<string>;
  readonly #repeatable: ReadonlySet<string>;
  readonly #reach: Reach;
  readonly #packages = new Map<string, { readonly reach: Reach; callsApp: boolean }>();

  /** `reach`: of functions of the app. */
  constructor(reflector: Reflector, start: StartManifest, { repeatable }: LinkManifest, reach: Reach) {
    this.#reflector = reflector;
    this.#own = new Set(start.modules.map(({ source }) => source));
    this.#repeatable = new Set(repeatable);
    this.#reach = reach;
  }

  /** `found`: the fluxion that it is, if it is one. */
  ofSlot(fn: object, place: FunctionPlace, found: FoundFluxion | null): Reached | null {
    if (found !== null) return found.fluxion.whole ? [...this.#reach.of(found.fn)] : null;
    const file = fileOf(place.url);
    const folder = packageFolder(file);
    const known = folder === null ? null : this.#packageIn(folder, file);
    if (known === null) return null;
    const reached = [...known.reach.of(fn)];
    return known.callsApp ? null : reached;
  }

  /** Null where nothing is known of the middleware in this file. */
  #packageIn(folder: string, file: string): { readonly reach: Reach; readonly callsApp: boolean } | null {
    const name = nameOf(folder);
    if (!this.#repeatable.has(name) && OWN_OF_EXPRESS[name]?.test(file) !== true) return null;
    const known = this.#packages.get(folder);
    if (known !== undefined) return known;
    const made = {
      /** Who knows what functions of the app do that a middleware was given. */
      callsApp: false,
      reach: new Reach(this.#reflector, {
        isApp: (url) => packageFolder(fileOf(url)) === folder,
        changes: () => false,
        meets: (url) => {
          if (this.#own.has(fileOf(url))) made.callsApp = true;
        },
      }),
    };
    this.#packages.set(folder, made);
    return made;
  }
}

/** `…/node_modules/@scope/name` */
function packageFolder(file: string): string | null {
  return /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(file)?.[0] ?? null;
}

/** The folder may be called otherwise (`"express4": "npm:express@4"`). */
function nameOf(folder: string): string {
  try {
    const { name }: { readonly name?: unknown } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
    return String(name);
  } catch {
    return '';
  }
}

function fileOf(url: string): string {
  return url.startsWith('file:') ? fileURLToPath(url.replace(/[?#].*$/s, '')) : url;
}
