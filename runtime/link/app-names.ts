import type { Classes } from './classes.js';

/** Names of apps, routers and routes that are the same on both sides of a message: `server0 0/3/route`. */
export class AppNames {
  readonly #things = new Map<string, object>();
  readonly #names = new WeakMap<object, string>();

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
    return this.#names.get(thing);
  }

  thingOf(name: string): object | undefined {
    return this.#things.get(name);
  }
}
