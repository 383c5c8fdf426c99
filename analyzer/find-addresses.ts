/**
 * Addresses: the paths of routes and middleware as a client would write them, with those of the routers around them.
 *
 * Reads:   facts, origins, models.
 * Gives:   what goes in front of a route's own path: `/api` for `router.get('/users')`, where somewhere stands
 *          `app.use('/api', router)`; `/users` for `router.route('/users').get()`.
 *
 * Addresses are for people to read, nothing is decided by them. `...` stands for a path that is not known.
 */
import type { Rupture } from '../models/types.js';
import { ANY_PROPERTY, type Facts, Op, type OpId, type ValueId } from './facts.js';
import type { Models } from './models.js';
import type { SourceText } from './source-text.js';
import type { TokenId } from './tokens.js';
import type { Origins } from './trace-origins.js';

const UNKNOWN_PATH = '...';
/** A router that is mounted in more places than this is said to be mounted in some of them. */
const mostMounts = 3;

export class Addresses {
  readonly #facts: Facts;
  readonly #origins: Origins;
  readonly #models: Models;
  readonly #source: SourceText;
  /** Calls that mount a router or an app. */
  readonly #mounts = new Map<TokenId, Set<OpId>>();
  readonly #prefixes = new Map<TokenId, readonly string[]>();
  readonly #inProgress = new Set<TokenId>();

  constructor(facts: Facts, origins: Origins, models: Models, source: SourceText) {
    this.#facts = facts;
    this.#origins = origins;
    this.#models = models;
    this.#source = source;
    for (const { op, rupture, value } of origins.callbacks) {
      if (rupture.mounts === true && op >= 0) this.#collectMounts(op, value);
    }
  }

  /** The label of a route with all that goes in front of it; the label itself where that is nothing. */
  of(op: OpId, rupture: Rupture, label: string): string {
    if (rupture.request !== true) return label;
    const prefixes = this.#prefixesOf(this.#receiver(op));
    if (prefixes.every((prefix) => prefix === '')) return label;
    // What is no path in so many words, such as a regular expression, stands beside what goes in front of it.
    const isPath = label === '' || label.startsWith('/') || label === '*';
    return prefixes
      .slice(0, mostMounts)
      .map((prefix) => (isPath ? joinPaths(prefix, label) : `${prefix} ${label}`.trim()))
      .join(', ');
  }

  /** The label, or the path of the object that the route is made by (`router.route('/users').get()`): where the router is mounted does not count. */
  own(op: OpId, rupture: Rupture, label: string): string {
    if (label !== '' || rupture.request !== true) return label;
    const paths = this.#receiver(op).map((id) => this.#pathOfMaker(id) ?? '');
    return paths.find((path) => path !== '') ?? '';
  }

  /** Null for what no path was given to. */
  #pathOfMaker(id: TokenId): string | null {
    const token = this.#origins.tokens.get(id);
    if (token.kind !== 'external' || token.site < 0) return null;
    const label = this.#models.typeThat(token.shape, (type) => type.label !== undefined)?.label;
    return label === undefined ? null : this.#pathOf(token.site, label);
  }

  #receiver(op: OpId): readonly TokenId[] {
    return this.#facts.kind.get(op) === Op.method ? this.#origins.tokensOf(this.#facts.a.get(op)) : [];
  }

  #collectMounts(op: OpId, value: ValueId): void {
    for (const id of this.#routersOf(value)) {
      let ops = this.#mounts.get(id);
      if (ops === undefined) this.#mounts.set(id, (ops = new Set()));
      ops.add(op);
    }
  }

  /** Values from outside that a value can be, those in lists included. */
  #routersOf(value: ValueId): Set<TokenId> {
    const found = new Set<TokenId>();
    const seen = new Set([value]);
    // A set visits what is added to it on the way.
    for (const next of seen) {
      for (const id of this.#origins.tokensOf(next)) {
        const token = this.#origins.tokens.get(id);
        if (token.kind === 'external') found.add(id);
        const items = token.kind === 'object' && this.#origins.tokens.knownProperties(id)?.get(ANY_PROPERTY);
        if (typeof items === 'number') seen.add(items);
      }
    }
    return found;
  }

  #prefixesOf(tokens: readonly TokenId[]): readonly string[] {
    return [...new Set(tokens.flatMap((id) => this.#prefixesOfOne(id)))];
  }

  #prefixesOfOne(id: TokenId): readonly string[] {
    const known = this.#prefixes.get(id);
    if (known !== undefined) return known;
    // An app that is mounted on itself, as far as can be told.
    if (this.#inProgress.has(id)) return [];
    this.#inProgress.add(id);
    const found = this.#findPrefixes(id);
    this.#inProgress.delete(id);
    this.#prefixes.set(id, found);
    return found;
  }

  #findPrefixes(id: TokenId): readonly string[] {
    const token = this.#origins.tokens.get(id);
    if (token.kind !== 'external') return [];
    const label = this.#models.typeThat(token.shape, (type) => type.label !== undefined)?.label;
    if (label !== undefined) return token.site < 0 ? [] : this.#below(token.site, label);
    const mounts = [...(this.#mounts.get(id) ?? [])];
    const found = mounts.slice(0, mostMounts).flatMap((op) => this.#below(op, 0));
    return mounts.length === 0 ? [''] : [...new Set(found)].slice(0, mostMounts);
  }

  /** The path that a call gives by an argument, behind those of its receiver. */
  #below(op: OpId, argument: number): readonly string[] {
    const path = this.#pathOf(op, argument);
    return this.#prefixesOf(this.#receiver(op)).map((prefix) => joinPaths(prefix, path));
  }

  #pathOf(op: OpId, argument: number): string {
    const call = this.#facts.d.get(op);
    const value = this.#facts.argument(call, argument);
    const text = this.#facts.strings.get(value);
    if (text !== undefined) return text;
    const isAlone = this.#facts.callCount.get(call) <= argument + 1;
    const words = this.#source.argument(op, argument);
    return isAlone || words === '' || (this.#isHandler(value) && !namesPath(words)) ? '' : UNKNOWN_PATH;
  }

  /** `app.use(router, router)`: the first argument is no path. */
  #isHandler(value: ValueId): boolean {
    const { tokens } = this.#origins;
    return (
      this.#routersOf(value).size > 0 || this.#origins.tokensOf(value).some((id) => tokens.functionOf(id) !== null)
    );
  }
}

/** `config.basePath` of `app.use(config.basePath, router)` */
export function namesPath(text: string): boolean {
  return /(path|url|uri|prefix|base|mount|endpoint)s?\b/i.test(text);
}

function joinPaths(prefix: string, path: string): string {
  const before = prefix.replace(/\/+$/, '');
  const after = path.replace(/^\/+/, '');
  if (prefix === '') return path;
  return after === '' ? before || '/' : `${before}/${after}`;
}
