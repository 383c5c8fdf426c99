import type { Classes } from './classes.js';
import { ExportedSymbols } from './exported-symbols.js';
import { SchemaFunctions } from './schema-functions.js';

const VALIDATES = 'validates ';

/** Names of apps, routers and routes that are the same on both sides of a message: `server0 0/3/route`. */
export class AppNames {
  readonly #things = new Map<string, object>();
  readonly #names = new WeakMap<object, string>();
  readonly #functions = new SchemaFunctions();
  readonly #symbols = new ExportedSymbols();

  /** `root` is the replica's name of it. */
  add(root: string, things: ReadonlyMap<string, object>): void {
    for (const [path, thing] of things) {
      const name = `${root} ${path}`;
      this.#things.set(name, thing);
      if (!this.#names.has(thing)) this.#names.set(thing, name);
    }
  }

  /** Of classes, where the other loop is known to have them. */
  classes: Classes | null = null;

  classOf(prototype: object): string | undefined {
    return this.classes?.classOf(prototype);
  }

  prototypeOf(name: string): object | undefined {
    return this.classes?.prototypeOf(name);
  }

  nameOf(thing: object): string | undefined {
    const name = this.#names.get(thing);
    if (name !== undefined || typeof thing !== 'function') return name;
    const own = this.#functions.nameOf(thing);
    return own === undefined ? undefined : `${VALIDATES}${own}`;
  }

  thingOf(name: string): object | undefined {
    if (name.startsWith(VALIDATES)) return this.#functions.functionOf(name.slice(VALIDATES.length));
    return this.#things.get(name);
  }

  symbolName(symbol: symbol): string | undefined {
    return this.#symbols.nameOf(symbol);
  }

  symbolOf(name: string): symbol | undefined {
    return this.#symbols.symbolOf(name);
  }
}
