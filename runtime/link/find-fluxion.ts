/**
 * Reads: functions of the running program, and link.json.
 * Gives: the fluxion that a function is, if it is one, and the app's own function, which a package may have wrapped.
 *
 * V8 counts in the text that it was given, link.json in what was written; cuts shift columns, never lines.
 *
 * One function of the source may be several fluxions: `wrap(show)` and `wrap(list)` do what `show` and `list` do. What the
 * variables around it hold tells which one a function is. Where that is not enough, it is taken for one that stays home.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CapturedFunctions, Place } from '../../flx/program.js';
import type { LinkFluxion, LinkManifest, StartManifest } from '../../flx/run-manifest.js';
import type { FunctionPlace, Reflector } from './reflect.js';

const MOST_LOOKED_INTO = 12;

/** Of Fluxion itself. */
const OWN_FOLDER = fileURLToPath(new URL('../../', import.meta.url));

export class FluxionFinder {
  readonly #byModule = new Map<string, LinkFluxion[]>();
  readonly #ids: ReadonlyMap<string, string>;
  readonly #lines = new Map<string, readonly string[]>();
  /** Functions of packages through which no function of the app was found. */
  readonly #leadsNowhere = new WeakSet<object>();
  readonly #link: LinkManifest;

  constructor(start: StartManifest, link: LinkManifest) {
    this.#link = link;
    this.#ids = new Map(start.modules.map(({ source, id }) => [source, id]));
    for (const fluxion of link.fluxions) {
      const known = this.#byModule.get(fluxion.module);
      if (known === undefined) this.#byModule.set(fluxion.module, [fluxion]);
      else known.push(fluxion);
    }
  }

  find(fn: object, place: FunctionPlace, reflector: Reflector): FoundFluxion | null {
    const inner = this.#unwrap(fn, place, reflector);
    const fluxion = inner === null ? null : this.#fluxionAt(inner.fn, inner.place, reflector);
    return inner === null || fluxion === null ? null : { fluxion, fn: inner.fn };
  }

  /** The only function of the app that a wrapper of a package holds; null where there are several, or none. */
  #unwrap(fn: object, place: FunctionPlace, reflector: Reflector): Inner | null {
    if (!this.#isWrapper(place.url)) return { fn, place };
    const found = new Map<object, Inner>();
    // Wrappers of wrappers, and helpers that stand around them in the package.
    const wrappers = new Set([fn]);
    for (const wrapper of wrappers) {
      if (wrappers.size > MOST_LOOKED_INTO) return null;
      const held = [...reflector.variables(wrapper).values()].filter((value) => typeof value === 'function');
      for (const [index, at] of reflector.locate(held).entries()) {
        const each = held[index];
        if (at === null || each === undefined || this.#leadsNowhere.has(each)) continue;
        if (this.#asWritten(at) !== null) found.set(each, { fn: each, place: at });
        else if (this.#isWrapper(at.url)) wrappers.add(each);
      }
    }
    if (found.size === 0) for (const each of wrappers) this.#leadsNowhere.add(each);
    const [only] = found.values();
    return found.size === 1 && only !== undefined ? only : null;
  }

  #isWrapper(url: string): boolean {
    return this.#link.wrappers.some((name) => url.includes(`/node_modules/${name}/`));
  }

  #fluxionAt(fn: object, place: FunctionPlace, reflector: Reflector): LinkFluxion | null {
    const written = this.#asWritten(place);
    if (written === null) return null;
    const { line, column } = written;
    const before = (this.#byModule.get(written.module) ?? []).filter(
      (each) => each.kind !== 'main' && each.kind !== 'rest' && !isAfter(each, { line, column }),
    );
    const nearest = before.reduce<LinkFluxion | null>(
      (best, each) => (best !== null && isAfter(best, each) ? best : each),
      null,
    );
    if (nearest === null || !this.#begins(nearest, written)) return null;
    const alike = before.filter((each) => each.line === nearest.line && each.column === nearest.column);
    return alike.length === 1 ? nearest : this.#tellApart(alike, fn, reflector);
  }

  #tellApart(alike: readonly LinkFluxion[], fn: object, reflector: Reflector): LinkFluxion | null {
    const names = new Set(alike.flatMap(({ captures }) => captures.map(({ name }) => name)));
    const held = new Map<string, Written | null>();
    for (const [name, value] of names.size === 0 ? [] : reflector.variables(fn, (each) => names.has(each))) {
      const place = typeof value === 'function' ? reflector.locate([value])[0] : null;
      held.set(name, place ? this.#asWritten(place) : null);
    }
    const fitting = alike.filter(({ captures }) => captures.every((each) => this.#fits(each, held)));
    return fitting.find(({ movable }) => !movable) ?? fitting[0] ?? null;
  }

  /** V8 does not keep variables that no function uses: of these nothing is known. */
  #fits({ name, functions }: CapturedFunctions, held: ReadonlyMap<string, Written | null>): boolean {
    const found = held.get(name);
    if (found === undefined) return true;
    return found !== null && functions.some((place) => place.module === found.module && this.#begins(place, found));
  }

  /** Modules of the app that V8 runs and the compiler did not read. */
  unknownFiles(scripts: Iterable<string>): readonly string[] {
    const unknown: string[] = [];
    for (const url of scripts) {
      const file = fileOf(url);
      const isKnown = file === null || this.#ids.has(file) || file.startsWith(OWN_FOLDER);
      if (!isKnown && !/[\\/]node_modules[\\/]/.test(file)) unknown.push(file);
    }
    return unknown;
  }

  /** A place in the source as link.json has it; null for what is no module of the app. */
  writtenAt(place: FunctionPlace): Place | null {
    const written = this.#asWritten(place);
    return written === null ? null : { module: written.module, line: written.line, column: written.column };
  }

  /** Null for what is no module of the app. */
  #asWritten({ url, line, column }: FunctionPlace): Written | null {
    const file = fileOf(url);
    const module = file === null ? undefined : this.#ids.get(file);
    if (file === null || module === undefined) return null;
    let shift = 0;
    for (const [at, from, length] of this.#link.inserts[module] ?? []) {
      if (at === line && column >= from + shift + length) shift += length;
    }
    return { file, module, line, column: column - shift };
  }

  /** A function that is written at `from` has its parameters, which are its place for V8, at `place`. */
  #begins(from: Pick<Place, 'line' | 'column'>, place: Written): boolean {
    return !isAfter(from, place) && isHead(this.#between(from, place));
  }

  #between(from: Pick<Place, 'line' | 'column'>, { file, module, line, column }: Written): string {
    let lines = this.#lines.get(file);
    if (lines === undefined) {
      lines = (this.#link.texts[module] ?? readFileSync(file, 'utf8'))
        .replace(/^\ufeff/, '')
        .split(/\r\n|[\r\n\u2028\u2029]/);
      this.#lines.set(file, lines);
    }
    const part = lines.slice(from.line - 1, line);
    const last = (part.at(-1) ?? '').slice(0, column - 1);
    return [...part.slice(0, -1), last].join('\n').slice(from.column - 1);
  }
}

export interface FoundFluxion {
  readonly fluxion: LinkFluxion;
  readonly fn: object;
}

interface Inner {
  readonly fn: object;
  readonly place: FunctionPlace;
}

/** A place as link.json counts. */
interface Written extends Place {
  readonly file: string;
}

/** `async function name`, `get "key"`, `async *[key]`: nothing that another function could begin in. */
function isHead(text: string): boolean {
  return !/[(){};=,]/.test(text);
}

function isAfter(a: Pick<Place, 'line' | 'column'>, b: Pick<Place, 'line' | 'column'>): boolean {
  return a.line > b.line || (a.line === b.line && a.column > b.column);
}

/** CommonJS has paths in older versions of Node, ES modules have URLs, which may end in a question mark and more. */
function fileOf(url: string): string | null {
  if (url.startsWith('/') || /^[A-Za-z]:\\/.test(url)) return url;
  return url.startsWith('file:') ? fileURLToPath(url.replace(/[?#].*$/s, '')) : null;
}
