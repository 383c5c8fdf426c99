/**
 * Reads: functions of this loop that may run on others, start.json and link.json.
 * Gives: what each of them reaches, as `reach.ts` tells it; and in which variable two loops differ.
 */
import { fileURLToPath } from 'node:url';
import type { LinkManifest, StartManifest } from '../../flx/run-manifest.js';
import { isExpressApp, reachedByApp } from './app-reach.js';
import { changingNames, Dependencies } from './guards.js';
import { Reach } from './reach.js';
import { Reflector } from './reflect.js';

/** Names and texts, as they cross between loops. */
export type Reached = readonly (readonly [name: string, told: string])[];

/** `touched` is called where a function names a variable that the program changes while it serves. */
export function makeReach(
  reflector: Reflector,
  start: StartManifest,
  link: LinkManifest,
  apps: Iterable<object>,
  touched = (): void => {},
): Reach {
  const ids = new Map(start.modules.map(({ source, id }) => [source, id]));
  const idOf = (url: string) => ids.get(url.startsWith('file:') ? fileURLToPath(url.replace(/[?#].*$/s, '')) : url);
  const named = (all: LinkManifest['changing']) =>
    new Map(Object.entries(all).map(([id, names]) => [id, new Set(names)]));
  const [changing, once] = [named(link.changing), named(link.once)];
  return new Reach(reflector, {
    isApp: (url) => idOf(url) !== undefined,
    apps: { apps: [...apps].filter(isExpressApp), names: link.appNames },
    isSetLater: (url, name) => once.get(idOf(url) ?? '')?.has(name) ?? false,
    changes: (url, name) => {
      const isChanging = changing.get(idOf(url) ?? '')?.has(name) ?? false;
      if (isChanging) touched();
      return isChanging;
    },
  });
}

export interface FreshReach {
  of(fn: object): Reached;
  close(): void;
}

/** Knows nothing of what was there before. */
export function freshReach(start: StartManifest, link: LinkManifest, apps: Iterable<object>): FreshReach {
  const reflector = new Reflector();
  const reach = makeReach(reflector, start, link, apps);
  return { of: (fn) => [...reach.of(fn)], close: () => reflector.close() };
}

/** Home's own, asked for once: start-up's constants do not change. */
export class HomeReach {
  readonly #start: StartManifest;
  readonly #link: LinkManifest;
  /** Apps that are linked by now. */
  readonly #apps: () => Iterable<object>;
  readonly #changing: ReadonlySet<string>;
  readonly #known = new WeakMap<object, Reached>();
  readonly #dependencies = new WeakMap<object, Dependencies>();
  #reach: { readonly reflector: Reflector; readonly reach: Reach } | null = null;

  constructor(start: StartManifest, link: LinkManifest, apps: () => Iterable<object>) {
    this.#start = start;
    this.#link = link;
    this.#apps = apps;
    this.#changing = changingNames(link);
  }

  /** As it is now. `dependencies` are those of the functions that it holds. */
  ofApp(app: object, reflector: Reflector, dependencies: Dependencies): Reached | null {
    return reachedByApp(app, makeReach(reflector, this.#start, this.#link, this.#apps()), dependencies);
  }

  /** Looks at all of them once, so that it is known where their functions are. */
  ofApps(reflector: Reflector): void {
    const reach = makeReach(reflector, this.#start, this.#link, this.#apps());
    for (const app of this.#apps()) reachedByApp(app, reach);
  }

  /** As it was when this was asked what it reaches. */
  dependenciesOf(fn: object): Dependencies | undefined {
    return this.#dependencies.get(fn);
  }

  of(fn: object, reflector: Reflector): Reached {
    const known = this.#known.get(fn);
    if (known !== undefined) return known;
    if (this.#reach?.reflector !== reflector) {
      this.#reach = { reflector, reach: makeReach(reflector, this.#start, this.#link, this.#apps()) };
    }
    const dependencies = new Dependencies(this.#changing);
    const reached = [...this.#reach.reach.of(fn, dependencies)];
    this.#known.set(fn, reached);
    this.#dependencies.set(fn, dependencies);
    return reached;
  }
}

/** The first variable that is not the same; null where all are. */
export function findDifference(here: Reached, there: Reached): string | null {
  const other = new Map(there);
  for (const [name, told] of here) if (other.get(name) !== told) return name;
  return here.length === there.length ? null : (there.find(([name]) => !here.some(([own]) => own === name))?.[0] ?? '');
}
