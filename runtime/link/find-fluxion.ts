/**
 * Reads: places of functions in what V8 runs, and link.json.
 * Gives: the fluxion that a function is, if it is one.
 *
 * V8 counts in the text that it was given, link.json in what was written; cuts shift columns, never lines.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { LinkFluxion, LinkManifest, StartManifest } from '../../flx/run-manifest.js';
import type { FunctionPlace } from './reflect.js';

/** Of Fluxion itself. */
const OWN_FOLDER = fileURLToPath(new URL('../../', import.meta.url));

export class FluxionFinder {
  readonly #byModule = new Map<string, LinkFluxion[]>();
  readonly #ids: ReadonlyMap<string, string>;
  readonly #lines = new Map<string, readonly string[]>();
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

  find(place: FunctionPlace): LinkFluxion | null {
    const file = fileOf(place.url);
    const module = file === null ? undefined : this.#ids.get(file);
    if (file === null || module === undefined) return null;
    const column = this.#originalColumn(module, place);
    const before = (this.#byModule.get(module) ?? []).filter(
      ({ kind, line, column: at }) =>
        kind !== 'main' && kind !== 'rest' && (line < place.line || (line === place.line && at <= column)),
    );
    const nearest = before.reduce<LinkFluxion | null>(
      (best, each) => (best !== null && isAfter(best, each) ? best : each),
      null,
    );
    if (nearest === null) return null;
    return isHead(this.#between(file, nearest, place.line, column)) ? nearest : null;
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

  #originalColumn(module: string, { line, column }: FunctionPlace): number {
    let shift = 0;
    for (const [at, from, length] of this.#link.inserts[module] ?? []) {
      if (at === line && column >= from + shift + length) shift += length;
    }
    return column - shift;
  }

  /** What stands between a function's beginning and its parameters. */
  #between(file: string, from: LinkFluxion, line: number, column: number): string {
    let lines = this.#lines.get(file);
    if (lines === undefined) {
      lines = (this.#link.texts[from.module] ?? readFileSync(file, 'utf8'))
        .replace(/^\ufeff/, '')
        .split(/\r\n|[\r\n\u2028\u2029]/);
      this.#lines.set(file, lines);
    }
    const part = lines.slice(from.line - 1, line);
    const last = (part.at(-1) ?? '').slice(0, column - 1);
    return [...part.slice(0, -1), last].join('\n').slice(from.column - 1);
  }
}

/** `async function name`, `get "key"`, `async *[key]`: nothing that another function could begin in. */
function isHead(text: string): boolean {
  return !/[(){};=,]/.test(text);
}

function isAfter(a: LinkFluxion, b: LinkFluxion): boolean {
  return a.line > b.line || (a.line === b.line && a.column > b.column);
}

/** CommonJS has paths in older versions of Node, ES modules have URLs, which may end in a question mark and more. */
function fileOf(url: string): string | null {
  if (url.startsWith('/') || /^[A-Za-z]:\\/.test(url)) return url;
  return url.startsWith('file:') ? fileURLToPath(url.replace(/[?#].*$/s, '')) : null;
}
