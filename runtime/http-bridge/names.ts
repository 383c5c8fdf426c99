/**
 * What of an exchange both loops have, so that a message can name it instead of carrying it: the request, the response
 * and `next`, and the app's own objects (Express apps, routers, routes), for which the linker knows names.
 */
import type { Making, Refs } from '../codec.js';
import { type Path, valueAt } from './changes.js';

/** Apps, routers and routes by the names that are the same on all loops. */
export interface AppNames {
  nameOf(thing: object): string | undefined;
  thingOf(name: string): object | undefined;
  classOf?(prototype: object): string | undefined;
  prototypeOf?(name: string): object | undefined;
  symbolName?(symbol: symbol): string | undefined;
  symbolOf?(name: string): symbol | undefined;
  /** Child loggers; `nameOf` knows what messages name. */
  makingOf?(thing: object, nameOf: (thing: object) => unknown): Making | undefined;
  make?(of: unknown, texts: readonly string[]): object | undefined;
  isCalled?(thing: object): boolean;
  /** Where both sides are one loop: what the program may hold is the same object there. `nameOf` knows all that has a name without that. */
  hold?(thing: object, nameOf: (thing: object) => unknown): string | undefined;
}

export interface Parts {
  readonly req: object;
  readonly res: object;
  readonly next: unknown;
  /** What the handler is called with beside these, by names that both sides use. */
  readonly args?: Args;
  /** Contexts that the handler is called in, by names that both sides use. */
  readonly stores?: Args;
}

export type Args = { readonly [name: string]: unknown };

/** Of what one side was given by the other: where both find it. */
export type PathOf = (thing: object) => Path | undefined;

/** `['req', 'user', 'tags']` */
export function follow({ req, res, args, stores }: Parts, [part, ...path]: Path, refs: Refs): unknown {
  const of = part === 'req' ? req : part === 'res' ? res : part === 'stores' ? stores : args;
  return valueAt(of ?? {}, path, refs);
}

/** Of a message that belongs to no exchange: an error that nobody caught. */
export function refsOutside(app: AppNames): Refs {
  return new ExchangeRefs({ req: {}, res: {}, next: undefined }, app);
}

export class ExchangeRefs implements Refs {
  readonly classOf?: (prototype: object) => string | undefined;
  readonly prototypeOf?: (name: string) => object | undefined;
  readonly symbolName?: (symbol: symbol) => string | undefined;
  readonly symbolOf?: (name: string) => symbol | undefined;
  readonly makingOf?: (thing: object) => Making | undefined;
  readonly make?: (making: Making) => object | undefined;
  readonly isCalled?: (thing: object) => boolean;

  constructor(
    readonly parts: Parts,
    readonly app: AppNames,
    readonly pathOf: PathOf | null = null,
  ) {
    if (app.classOf !== undefined) this.classOf = (prototype) => app.classOf?.(prototype);
    if (app.symbolName !== undefined) this.symbolName = (symbol) => app.symbolName?.(symbol);
    if (app.symbolOf !== undefined) this.symbolOf = (name) => app.symbolOf?.(name);
    if (app.makingOf !== undefined) this.makingOf = (thing) => app.makingOf?.(thing, (other) => this.#known(other));
    if (app.make !== undefined) this.make = ({ of, texts }) => app.make?.(this.thingOf(of), texts);
    if (app.isCalled !== undefined) this.isCalled = (thing) => app.isCalled?.(thing) === true;
    if (app.prototypeOf !== undefined) this.prototypeOf = (name) => app.prototypeOf?.(name);
  }

  nameOf(thing: object): unknown {
    const known = this.#known(thing);
    if (known !== undefined || this.app.hold === undefined) return known;
    const held = this.app.hold(thing, (other) => this.#known(other));
    return held === undefined ? undefined : `:${held}`;
  }

  #known(thing: object): unknown {
    const { req, res, next } = this.parts;
    if (thing === req) return 'req';
    if (thing === res) return 'res';
    if (thing === next) return 'next';
    const name = this.app.nameOf(thing);
    return name === undefined ? this.pathOf?.(thing) : `:${name}`;
  }

  thingOf(name: unknown): unknown {
    if (Array.isArray(name)) return follow(this.parts, name, this);
    switch (name) {
      case 'req':
        return this.parts.req;
      case 'res':
        return this.parts.res;
      case 'next':
        return this.parts.next;
      default:
        return this.app.thingOf(String(name).slice(1));
    }
  }
}
