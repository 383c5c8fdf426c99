/**
 * Guards: what handlers that may run elsewhere depend on, watched for changes of which the analysis cannot know, by code that nobody has
 * read.
 *
 * Reads: what a function reaches, as `reach.ts` comes by it: objects that its variables lead to, the texts of functions.
 * Gives: what of that is not as it was: a property of an object, a function that a package exports, a local of an app that is
 *        rendered with, a name in the environment, a method of the language's own objects.
 *
 * What the analysis has seen change is left out, as those who depend on it stay home. Looked at are the properties of the first
 * objects on the way, which is where settings are kept; all of the rest is for `--sanitize` to look at.
 */

import type { LinkManifest } from '../../flx/run-manifest.js';
import process from '../node-process.cjs';
import { isAsKept, type Kept, keep, keepPart } from './kept.js';
import type { Parts } from './reach.js';
import { ownObject } from './settings-watch.js';

/** For each function, so that it costs little to look. */
const MOST_PROPERTIES = 200;
const MOST_IN_OBJECT = 50;

const ENV_NAME =
  /\benv\s*(?:\?\.|\.)\s*([\p{ID_Start}$_][\p{ID_Continue}$]*)|\benv\s*(?:\?\.)?\[\s*(['"`])([^'"`$]+)\2\s*\]/gu;
const ENV_BY_NAMES = /\{([^{}]*)\}\s*=\s*process\s*\.\s*env\b/gu;
const ENV_ANY = /\benv\s*(?:\?\.)?\[\s*[^'"`\s]|(?:Object\s*\.\s*\w+|\.\.\.)\s*\(?\s*process\s*\.\s*env\b/u;
const LOCALS = /\.\s*render\b|\blocals\b/;
const ANY_SETTING = /\.\s*(?:get|enabled|disabled)\s*(?:\?\.)?\(\s*[^'"\s)]|\bsettings\b/;
const OF_RESPONSE = /\bres(?:ponse)?\s*\.\s*locals\b/g;

/** Gathers what one function depends on, while that is told. */
export class Dependencies {
  /** It renders, or asks an app for its locals. */
  readsLocals = false;
  readonly #changing: ReadonlySet<string>;
  readonly #kept = new Map<object, Kept>();
  readonly #parts = new Map<string, (object | symbol)[]>();
  readonly #texts: string[] = [];
  #count = 0;

  /** `changing`: names of which the analysis knows that they change. */
  constructor(changing: ReadonlySet<string>) {
    this.#changing = changing;
  }

  get kept(): readonly Kept[] {
    return [...this.#kept.values()];
  }

  /** What it can reach, in the order in which that is told. */
  get parts(): Parts {
    return this.#parts;
  }

  addPart(variable: string, part: object | symbol): void {
    const parts = this.#parts.get(variable);
    if (parts === undefined) this.#parts.set(variable, [part]);
    else parts.push(part);
  }

  /** `variable`: that leads to it. */
  addObject(variable: string, holder: object): void {
    if (this.#kept.has(holder) || this.#count >= MOST_PROPERTIES || Array.isArray(holder)) return;
    if (holder === process.env) return this.#add(keep('process.env', holder));
    const names = Object.keys(holder);
    if (names.length === 0 || names.length > MOST_IN_OBJECT || names.some((name) => this.#changing.has(name))) return;
    this.#add(keep(variable, holder));
  }

  /** One that may have others. */
  addProperty(path: string, holder: object, name: string): void {
    const before = this.#kept.get(holder);
    if (before?.isPart === false || before?.names.includes(name) === true) return;
    this.#add(keepPart(path, holder, [...(before?.names ?? []), name]));
  }

  /** Patched by somebody else, it would be so on one loop. What else a package keeps there is its own. */
  addExports(name: string, holder: object): void {
    if (this.#kept.has(holder) || this.#count >= MOST_PROPERTIES) return;
    const functions = Object.keys(holder).filter((key) => {
      const found = Object.getOwnPropertyDescriptor(holder, key);
      return typeof found?.value === 'function';
    });
    this.#add(keepPart(name, holder, functions.slice(0, MOST_IN_OBJECT)));
  }

  /** By its name, or by one that is put together. */
  mayReadSetting(name: string): boolean {
    return this.readsLocals || this.#texts.some((text) => text.includes(name) || ANY_SETTING.test(text));
  }

  addText(text: string): void {
    this.#texts.push(text);
    if (LOCALS.test(text.replace(OF_RESPONSE, ''))) this.readsLocals = true;
    if (!/\benv\b/.test(text)) return;
    const { env } = process;
    if (ENV_ANY.test(text)) return this.#add(keep('process.env', env));
    const names = [...text.matchAll(ENV_NAME)].map(([, name, , inQuotes]) => name ?? inQuotes ?? '');
    for (const [, list = ''] of text.matchAll(ENV_BY_NAMES))
      names.push(...list.split(',').map((each) => each.replace(/[:=].*$/s, '').trim()));
    const before = this.#kept.get(env);
    if (names.length === 0 || before?.isPart === false) return;
    this.#add(keepPart('process.env', env, [...new Set([...(before?.names ?? []), ...names])]));
  }

  #add(kept: Kept): void {
    this.#kept.set(kept.holder, kept);
    this.#count += kept.names.length;
  }
}

export function changingNames({ changing }: LinkManifest): ReadonlySet<string> {
  return new Set(Object.values(changing).flat());
}

/** What templates and handlers find in the apps. */
export function keptLocals(things: Iterable<object>): readonly Kept[] {
  return [...things].flatMap((app) => {
    const locals = ownObject(app, 'settings') === null ? null : ownObject(app, 'locals');
    return locals === null ? [] : [keep('app.locals', locals)];
  });
}

export function keptSettings(things: Iterable<object>): readonly Kept[] {
  return [...things].flatMap((app) => {
    const settings = ownObject(app, 'settings');
    return settings === null ? [] : [keep('settings of the app', settings)];
  });
}

/** Whatever code there is depends on these. Accessors among them are those of the language. */
export function keptLanguage(): readonly Kept[] {
  const makers = [Object, Array, Function, String, Number, Promise, Map, Set, Date, RegExp, Error];
  const holders = [...makers.flatMap((maker) => [maker, maker.prototype]), JSON, Math, Reflect];
  return holders.flatMap((holder) => {
    const names = Object.getOwnPropertyNames(holder).filter(
      (name) => typeof Object.getOwnPropertyDescriptor(holder, name)?.value === 'function',
    );
    const own = keepPart(LANGUAGE, holder, names);
    // What is put there by an assignment can be seen from all that inherit from it. `Error` itself has the length of traces, which many set
    // for a moment, Node and Fluxion among them.
    return holder === Error ? [own] : [own, keep(LANGUAGE, holder)];
  });
}

const LANGUAGE = 'what the language itself has';

/** As a reason; null where all is as it was. */
export function changedIn(kept: Iterable<Kept>): string | null {
  for (const each of kept) if (!isAsKept(each)) return changedText(each);
  return null;
}

export function changedText({ name }: Kept): string {
  return `"${name}" has changed since the app was linked, and nothing that the compiler has read changes it`;
}

/** Looks at one object after the other, one for every other request: that costs 0.1 µs, and none is left out for long. */
export class TurningGuard {
  readonly #kept: readonly Kept[];
  #at = 0;
  #isIdle = false;

  constructor(kept: Iterable<Kept>) {
    this.#kept = [...new Set(kept)];
  }

  next(): string | null {
    this.#isIdle = !this.#isIdle;
    if (this.#isIdle) return null;
    const kept = this.#kept[this.#at];
    if (kept === undefined) return null;
    this.#at = (this.#at + 1) % this.#kept.length;
    return isAsKept(kept) ? null : changedText(kept);
  }
}
