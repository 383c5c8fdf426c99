/**
 * What a message for a fluxion behind a cut names instead of carrying: requests, responses and `next` of exchanges that both
 * loops know, by the exchange's number (`7:res`), and the app's own objects.
 */
import type { Refs } from './codec.js';
import type { AppNames } from './link/app-names.js';

export interface Parts {
  readonly req: object;
  readonly res: object;
  readonly next: unknown;
}

export class CutRefs implements Refs {
  readonly #app: AppNames;
  readonly #partsOf: (id: number) => Parts | undefined;
  readonly #idOf: (thing: object) => number | undefined;
  /** Exchanges that were named, in order. */
  readonly named = new Set<number>();

  constructor(app: AppNames, partsOf: (id: number) => Parts | undefined, idOf: (thing: object) => number | undefined) {
    this.#app = app;
    this.#partsOf = partsOf;
    this.#idOf = idOf;
  }

  nameOf(thing: object): unknown {
    const id = this.#idOf(thing);
    const parts = id === undefined ? undefined : this.#partsOf(id);
    if (id === undefined || parts === undefined) return this.#app.nameOf(thing);
    this.named.add(id);
    return `${id}:${thing === parts.req ? 'req' : thing === parts.res ? 'res' : 'next'}`;
  }

  thingOf(name: unknown): unknown {
    const [, id, part] = /^(\d+):(req|res|next)$/.exec(String(name)) ?? [];
    if (id === undefined) return this.#app.thingOf(String(name));
    const parts = this.#partsOf(Number(id));
    // Nobody there has it any more, so nobody can ask for it.
    if (parts === undefined) return undefined;
    return part === 'req' ? parts.req : part === 'res' ? parts.res : parts.next;
  }
}

/** `vars[1].list[0]` as the app's author would say it. */
export function namedPath(path: string, message: readonly string[]): string {
  return path
    .replace(/^vars\[(\d+)\]/, (_, index) => message[Number(index)] ?? 'a variable')
    .replace(/^args\[(\d+)\]/, (_, index) => `argument ${Number(index) + 1}`);
}
