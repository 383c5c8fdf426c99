/**
 * Reads: handlers of the running app that stay home for want of knowing what the variables around them hold.
 * Gives: what these hold in each of the closures that there are, in the words of `flx/live-facts.ts`; and which handler is
 *        which closure. Null where there is nothing to say.
 *
 * All closures of a function are looked for, wherever they are kept: one that no router has yet may be put into one later.
 */
import { types } from 'node:util';
import type { LiveClosure, LiveFacts, LiveFunction, LiveValue } from '../../flx/live-facts.js';
import type { Place } from '../../flx/program.js';
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
const MOST_TEXT = 200;
const MOST_NAMES = 50;

/** Of itself it stays home, and may not if more is known of what is around it. */
export function isOpen({ fluxion }: LinkedSlot): boolean {
  return fluxion !== null && !fluxion.movable && fluxion.open.length > 0;
}

export function gatherLiveFacts(
  slots: readonly LinkedSlot[],
  finder: FluxionFinder,
  reflector: Reflector,
): LiveHandlers | null {
  const open = groupByPlace(slots.filter(isOpen));
  if (open.length === 0) return null;
  const texts = new Set(open.flatMap(({ handlers }) => handlers.map(textOf)));
  const alike = reflector.functions().filter((fn) => texts.has(textOf(fn)));
  const places = reflector.locate(alike);
  const functions: LiveFunction[] = [];
  const indexes = new Map<object, { readonly at: Place; readonly index: number }>();
  for (const { at, place, names, handlers } of open) {
    const closures = alike.filter((fn, index) => isSamePlace(places[index], place) && !isBound(fn));
    if (!handlers.every((fn) => closures.includes(fn))) continue;
    const told = closures.map((fn) => JSON.stringify(closureOf(fn, names, finder, reflector)));
    const different = [...new Set(told)].sort();
    if (different.length > MOST_CLOSURES || different.every((text) => text === '{}')) continue;
    functions.push({ at, closures: different.map((text): LiveClosure => JSON.parse(text)) });
    for (const [index, fn] of closures.entries()) indexes.set(fn, { at, index: different.indexOf(told[index] ?? '') });
  }
  return functions.length === 0 ? null : { facts: { version: 1, functions }, indexes };
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
    if (known === undefined) found.set(key, { at, place, names: fluxion.open, handlers: [own] });
    else known.handlers.push(own);
  }
  return [...found.values()].sort((left, right) => (JSON.stringify(left.at) < JSON.stringify(right.at) ? -1 : 1));
}

export function placeOf({ module, line, column }: Pick<LinkFluxion, 'module' | 'line' | 'column'>): Place {
  return { module, line, column };
}

function closureOf(fn: object, names: readonly string[], finder: FluxionFinder, reflector: Reflector): LiveClosure {
  const values = reflector.variables(fn, (name) => names.includes(name));
  const found: Record<string, LiveValue> = {};
  for (const name of [...names].sort()) {
    const value = values.has(name) ? describe(values.get(name), finder, reflector) : null;
    if (value !== null) found[name] = value;
  }
  return found;
}

/** Null where nothing is to be said of it. */
function describe(value: unknown, finder: FluxionFinder, reflector: Reflector): LiveValue | null {
  if (typeof value === 'string') return value.length > MOST_TEXT ? null : { kind: 'text', text: value };
  if (types.isProxy(value)) return null;
  if (typeof value === 'function') {
    const at = isBound(value) ? null : writtenAt(value, finder, reflector);
    return at === null ? null : { kind: 'function', at };
  }
  if (typeof value !== 'object' || value === null) return null;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return describeObject(value, finder, reflector);
  const maker = makerOf(value);
  const of = maker === null ? null : writtenAt(maker, finder, reflector);
  return of === null ? null : { kind: 'instance', of };
}

/** By the first function of the app in it, in the order of their names. */
function describeObject(value: object, finder: FluxionFinder, reflector: Reflector): LiveValue | null {
  for (const name of Object.keys(value).sort().slice(0, MOST_NAMES)) {
    const held: unknown = Object.getOwnPropertyDescriptor(value, name)?.value;
    const at = typeof held === 'function' && !types.isProxy(held) ? writtenAt(held, finder, reflector) : null;
    if (typeof held === 'function' && at !== null && !isBound(held)) return { kind: 'object', name, at };
  }
  return null;
}

/** What made an object, as its prototype is that function's and no other. */
function makerOf(value: object): object | null {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (typeof prototype !== 'object' || prototype === null || types.isProxy(prototype)) return null;
  const maker: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value;
  if (typeof maker !== 'function' || types.isProxy(maker) || isBound(maker)) return null;
  return Object.getOwnPropertyDescriptor(maker, 'prototype')?.value === prototype ? maker : null;
}

function writtenAt(fn: object, finder: FluxionFinder, reflector: Reflector): Place | null {
  const [place] = reflector.locate([fn]);
  return place === null || place === undefined ? null : finder.writtenAt(place);
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
