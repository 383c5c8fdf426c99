/**
 * Reads: the apps and routers below a server.
 * Gives: a text, and a number, that change when routes or settings do.
 */
import type { LinkedServer } from '../link/link-home.js';
import { layersOf } from '../link/routers.js';

/** Changes with the routes and the settings of all apps. */
export function printOf({ things }: LinkedServer): string {
  return [...things.values()].map((thing) => `${layersOf(thing)} ${settingsPrint(thing)}`).join();
}

/** The same of routes alone: it costs next to nothing. */
export function countLayers({ things }: LinkedServer): number {
  let count = 0;
  for (const thing of things.values()) count += layersOf(thing);
  return count;
}

const numbers = new WeakMap<object, number>();
let last = 0;

function settingsPrint(app: object): string {
  const settings: unknown = Reflect.get(app, 'settings');
  const locals: unknown = Reflect.get(app, 'locals');
  if (typeof settings !== 'object' || settings === null) return '';
  return [settings, locals].map((each) => (typeof each === 'object' && each !== null ? valuesPrint(each) : '')).join();
}

/** Accessors are not asked: that would run code of the app. */
function valuesPrint(values: object): string {
  return Object.keys(values)
    .map((name) => {
      const found = Object.getOwnPropertyDescriptor(values, name);
      return `${name}=${found !== undefined && 'value' in found ? valuePrint(found.value) : 'accessor'}`;
    })
    .join();
}

/** Objects and functions count as themselves. */
function valuePrint(value: unknown): string {
  const isThing = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isThing ? `#${numberOf(value)}` : String(value);
}

function numberOf(value: object): number {
  let number = numbers.get(value);
  if (number === undefined) numbers.set(value, (number = ++last));
  return number;
}
