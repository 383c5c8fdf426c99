import { CannotTravel } from '../codec.js';
import type { Classes } from './classes.js';
import { ExportedSymbols } from './exported-symbols.js';
import type { Parts } from './reach.js';
import { SchemaFunctions } from './schema-functions.js';
import { SharedObjects } from './shared-objects.js';

const VALIDATES = 'validates ';
const SHARED = 'shared ';

const KEPT = 'kept ';
/** On their way there and back. */
const MOST_KEPT = 1024;

/** Names of what both sides of a message have: of apps, routers and routes (`server0 0/3/route`), and of what handlers reach. */
export class AppNames {
  readonly #things = new Map<string, object>();
  readonly #names = new WeakMap<object, string>();
  readonly #shared = new SharedObjects();
  readonly #functions = new SchemaFunctions();
  readonly #symbols = new ExportedSymbols();
  /** Names of what cannot travel, and is kept here until it is named again. */
  readonly #kept: string[] = [];
  #keptCount = 0;

  /** `root` is the replica's name of it. */
  add(root: string, things: ReadonlyMap<string, object>): void {
    for (const [path, thing] of things) {
      const name = `${root} ${path}`;
      this.#things.set(name, thing);
      if (!this.#names.has(thing)) this.#names.set(thing, name);
    }
  }

  /** `of`: a handler, under a name that is the same on both sides, and what it was found to reach on both. */
  share(of: string, parts: Parts): void {
    this.#shared.add(of, parts);
  }

  /** Something has changed of which nobody knew that it does: what is sent from now on goes as data. */
  shareNoMore(): void {
    this.#shared.forgetNames();
  }

  #classes: Classes | null = null;

  /** Of classes, where the other loop is known to have them. */
  nameClasses(classes: Classes | null): void {
    this.#classes = classes;
    if (classes !== null) classes.shared = this.#shared;
  }

  classOf(prototype: object): string | undefined {
    return this.#classes?.classOf(prototype);
  }

  prototypeOf(name: string): object | undefined {
    return this.#classes?.prototypeOf(name);
  }

  nameOf(thing: object): string | undefined {
    const name = this.#names.get(thing);
    if (name !== undefined) return name;
    const shared = this.#shared.nameOf(thing);
    if (shared !== undefined) return `${SHARED}${shared}`;
    if (typeof thing !== 'function') return undefined;
    const own = this.#functions.nameOf(thing);
    return own === undefined ? undefined : `${VALIDATES}${own}`;
  }

  thingOf(name: string): object | undefined {
    if (name.startsWith(SHARED)) return this.#shared.objectOf(name.slice(SHARED.length));
    if (name.startsWith(VALIDATES)) return this.#functions.functionOf(name.slice(VALIDATES.length));
    const known = this.#things.get(name);
    if (known !== undefined || !name.startsWith(KEPT) || this.#keptCount > 0) return known;
    const made = standIn();
    this.#names.set(made, name);
    return made;
  }

  /** For a while: the other side may hand it on, and hand it back. */
  keep(thing: object): void {
    const name = `${KEPT}${this.#keptCount++}`;
    this.#things.set(name, thing);
    this.#names.set(thing, name);
    this.#kept.push(name);
    const oldest = this.#kept.length > MOST_KEPT ? this.#kept.shift() : undefined;
    if (oldest !== undefined) this.#things.delete(oldest);
  }

  symbolName(symbol: symbol): string | undefined {
    return this.#symbols.nameOf(symbol);
  }

  symbolOf(name: string): symbol | undefined {
    return this.#symbols.symbolOf(name);
  }
}

/** Of what the other side has kept: to be handed on, and not to be looked at. */
function standIn(): object {
  const refuse = (): never => {
    throw new CannotTravel('its result', 'it was kept on another loop');
  };
  const traps = { has: refuse, set: refuse, getPrototypeOf: refuse, ownKeys: refuse, getOwnPropertyDescriptor: refuse };
  // A promise that it comes out of asks whether it is one itself.
  return new Proxy({}, { ...traps, get: (_target, key) => (key === 'then' ? undefined : refuse()) });
}
