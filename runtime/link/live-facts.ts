/**
 * Reads: handlers of the running app that stay home for want of knowing what the variables around them hold.
 * Gives: what these hold in each of the closures that there are, in the words of `flx/live-facts.ts`; and which handler is
 *        which closure. Null where there is nothing to say.
 *
 * All closures of a function are looked for, wherever they are kept: one that no router has yet may be put into one later.
 */
import { types } from 'node:util';
import type { LiveClass, LiveClosure, LiveFacts, LiveFunction, LiveValue } from '../../flx/live-facts.js';
import type { OpenClass, Place } from '../../flx/program.js';
import type { LinkFluxion } from '../../flx/run-manifest.js';
import type { FluxionFinder } from './find-fluxion.js';
import type { LinkedSlot } from './link-home.js';
import type { FunctionPlace, Reflector } from './reflect.js';

export interface LiveHandlers {
  readonly facts: LiveFacts;
  /** By place of the function: which closure a handler is. */
  readonly indexes: ReadonlyMap<object, { readonly at: Place; readonly index: number }>;
}

/** Of one function. Each is compiled by itself. */
const MOST_CLOSURES = 60;
const MOST_IN_FIELD = 8;
const MOST_TEXT = 200;
const MOST_NAMES = 50;

/** Of itself it stays home, and may not if more is known of what is around it. */
export function isOpen({ fluxion }: LinkedSlot): boolean {
  return fluxion !== null && !fluxion.movable && fluxion.open !== null;
}

export function gatherLiveFacts(
  slots: readonly LinkedSlot[],
  openClasses: readonly OpenClass[],
  finder: FluxionFinder,
  reflector: Reflector,
): LiveHandlers | null {
  const open = slots.filter(isOpen);
  if (open.length === 0) return null;
  const all = reflector.objects();
  const describer = new Describer(finder, reflector);
  const { functions, indexes } = tellFunctions(groupByPlace(open), all, describer, reflector);
  const classes = openClasses.length === 0 ? [] : tellClasses(openClasses, all, describer);
  return functions.length + classes.length === 0 ? null : { facts: { version: 1, functions, classes }, indexes };
}

function tellFunctions(
  open: readonly OpenFunction[],
  all: readonly object[],
  describer: Describer,
  reflector: Reflector,
): { readonly functions: readonly LiveFunction[]; readonly indexes: LiveHandlers['indexes'] } {
  const functions: LiveFunction[] = [];
  const indexes = new Map<object, { readonly at: Place; readonly index: number }>();
  const texts = new Set(open.flatMap(({ handlers }) => handlers.map(textOf)));
  const alike = texts.size === 0 ? [] : all.filter((fn) => typeof fn === 'function' && texts.has(textOf(fn)));
  const places = reflector.locate(alike);
  for (const { at, place, names, handlers } of open) {
    const closures = alike.filter((fn, index) => isSamePlace(places[index], place) && !isBound(fn));
    if (!handlers.every((fn) => closures.includes(fn))) continue;
    const told = closures.map((fn) => JSON.stringify(describer.closure(fn, names)));
    const different = [...new Set(told)].sort();
    if (different.length > MOST_CLOSURES || different.every((text) => text === '{}')) continue;
    functions.push({ at, closures: different.map((text): LiveClosure => JSON.parse(text)) });
    for (const [index, fn] of closures.entries()) indexes.set(fn, { at, index: different.indexOf(told[index] ?? '') });
  }
  return { functions, indexes };
}

/** A field of which something in some instance cannot be told is not told at all. */
function tellClasses(open: readonly OpenClass[], all: readonly object[], describer: Describer): readonly LiveClass[] {
  const wanted = new Map(open.map((each) => [JSON.stringify(each.at), each]));
  const names = new Set(open.map(({ name }) => name));
  const byPrototype = new Map<object, OpenClass>();
  const double = new Set<OpenClass>();
  for (const maker of all) {
    if (typeof maker !== 'function' || (!names.has(nameOf(maker)) && !names.has(''))) continue;
    const prototype: unknown = Object.getOwnPropertyDescriptor(maker, 'prototype')?.value;
    const is =
      typeof prototype === 'object' && prototype !== null ? wanted.get(describer.classKey(maker, open)) : undefined;
    if (is === undefined || typeof prototype !== 'object' || prototype === null) continue;
    if ([...byPrototype.values()].includes(is)) double.add(is);
    byPrototype.set(prototype, is);
  }
  const held = new Map<OpenClass, Map<string, Set<string> | null>>();
  for (const object of byPrototype.size === 0 ? [] : all) {
    const is = typeof object === 'object' ? byPrototype.get(Object.getPrototypeOf(object)) : undefined;
    if (is === undefined) continue;
    const fields = held.get(is) ?? new Map<string, Set<string> | null>();
    held.set(is, fields);
    for (const name of is.fields) noteField(object, name, fields, describer);
  }
  return open.flatMap((is): readonly LiveClass[] => {
    const fields = [...(held.get(is) ?? [])].flatMap(([name, told]) =>
      told === null || told.size === 0 || told.size > MOST_IN_FIELD
        ? []
        : [[name, [...told].sort().map((text): LiveValue => JSON.parse(text))] as const],
    );
    return fields.length === 0 || double.has(is) ? [] : [{ at: is.at, fields: Object.fromEntries(fields) }];
  });
}

function noteField(object: object, name: string, fields: Map<string, Set<string> | null>, describer: Describer): void {
  const own = Object.getOwnPropertyDescriptor(object, name);
  if (own === undefined || fields.get(name) === null) return;
  const { value } = own;
  const isPlain = 'value' in own && (value === null || (typeof value !== 'object' && typeof value !== 'function'));
  if (isPlain) return;
  const told = 'value' in own ? describer.describe(value) : null;
  if (told === null) fields.set(name, null);
  else fields.set(name, (fields.get(name) ?? new Set()).add(JSON.stringify(told)));
}

function nameOf(fn: object): string {
  const name: unknown = Object.getOwnPropertyDescriptor(fn, 'name')?.value;
  return typeof name === 'string' ? name : '';
}

interface OpenFunction {
  readonly at: Place;
  readonly place: FunctionPlace;
  readonly names: readonly string[];
  readonly handlers: readonly object[];
}

function groupByPlace(slots: readonly LinkedSlot[]): readonly OpenFunction[] {
  const found = new Map<string, OpenFunction & { readonly handlers: object[] }>();
  for (const { own, place, fn, fluxion } of slots) {
    // What a package made of the app's function is not where that is.
    if (fluxion === null || place === null || own !== fn) continue;
    const at = placeOf(fluxion);
    const key = JSON.stringify(at);
    const known = found.get(key);
    if (known === undefined) found.set(key, { at, place, names: fluxion.open ?? [], handlers: [own] });
    else known.handlers.push(own);
  }
  return [...found.values()].sort((left, right) => (JSON.stringify(left.at) < JSON.stringify(right.at) ? -1 : 1));
}

export function placeOf({ module, line, column }: Pick<LinkFluxion, 'module' | 'line' | 'column'>): Place {
  return { module, line, column };
}

const PLAIN: ReadonlySet<unknown> = new Set<unknown>([Array.prototype, Map.prototype, Set.prototype]);

/** Says what a value is in terms of the source. */
class Describer {
  readonly #finder: FluxionFinder;
  readonly #reflector: Reflector;
  readonly #written = new Map<object, Place | null>();

  constructor(finder: FluxionFinder, reflector: Reflector) {
    this.#finder = finder;
    this.#reflector = reflector;
  }

  closure(fn: object, names: readonly string[]): LiveClosure {
    const values = this.#reflector.variables(fn, (name) => names.includes(name));
    const found: Record<string, LiveValue> = {};
    for (const name of [...names].sort()) {
      const value = values.has(name) ? this.describe(values.get(name)) : null;
      if (value !== null) found[name] = value;
    }
    return found;
  }

  /** Null where nothing is to be said of it. */
  describe(value: unknown): LiveValue | null {
    if (typeof value === 'string') return value.length > MOST_TEXT ? null : { kind: 'text', text: value };
    if (types.isProxy(value)) return null;
    if (typeof value === 'function') {
      const at = isBound(value) ? null : this.#writtenAt(value);
      return at === null ? null : { kind: 'function', at };
    }
    if (typeof value !== 'object' || value === null) return null;
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype) return this.#describeObject(value) ?? { kind: 'plain' };
    if (prototype === null) return this.#describeObject(value);
    if (PLAIN.has(prototype)) return { kind: 'plain' };
    const maker = makerOf(value);
    const of = maker === null ? null : this.#writtenAt(maker);
    return of === null ? null : { kind: 'instance', of };
  }

  /** By the first function of the app in it, in the order of their names. */
  #describeObject(value: object): LiveValue | null {
    for (const name of Object.keys(value).sort().slice(0, MOST_NAMES)) {
      const held: unknown = Object.getOwnPropertyDescriptor(value, name)?.value;
      if (typeof held !== 'function' || types.isProxy(held) || isBound(held)) continue;
      const at = this.#writtenAt(held);
      if (at !== null) return { kind: 'object', name, at };
    }
    return null;
  }

  /** Which of these classes it is the constructor of, as a key; a place in the text of the class is as good as its beginning. */
  classKey(maker: object, classes: readonly OpenClass[]): string {
    const at = this.#writtenAt(maker);
    const own = classes.filter((each) => at !== null && each.at.module === at.module && !isAfter(each.at, at));
    const nearest = own.reduce<OpenClass | null>(
      (best, each) => (best === null || isAfter(each.at, best.at) ? each : best),
      null,
    );
    return nearest === null || nearest.name !== nameOf(maker) ? '' : JSON.stringify(nearest.at);
  }

  #writtenAt(fn: object): Place | null {
    let at = this.#written.get(fn);
    if (at === undefined) {
      const [place] = this.#reflector.locate([fn]);
      at = place === null || place === undefined ? null : this.#finder.writtenAt(place);
      this.#written.set(fn, at);
    }
    return at;
  }
}

function isAfter(a: Place, b: Place): boolean {
  return a.line > b.line || (a.line === b.line && a.column > b.column);
}

/** What made an object, as its prototype is that function's and no other. */
function makerOf(value: object): object | null {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (typeof prototype !== 'object' || prototype === null || types.isProxy(prototype)) return null;
  const maker: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value;
  if (typeof maker !== 'function' || types.isProxy(maker) || isBound(maker)) return null;
  return Object.getOwnPropertyDescriptor(maker, 'prototype')?.value === prototype ? maker : null;
}

function textOf(fn: object): string {
  try {
    return Function.prototype.toString.call(fn);
  } catch {
    return '';
  }
}

/** Functions of the language have such a text, too: neither is written anywhere. */
function isBound(fn: object): boolean {
  return textOf(fn).endsWith('{ [native code] }');
}

function isSamePlace(a: FunctionPlace | null | undefined, b: FunctionPlace): boolean {
  return a?.url === b.url && a.line === b.line && a.column === b.column;
}
