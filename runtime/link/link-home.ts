/**
 * Reads: a server that has begun to listen, link.json.
 * Gives: each function that it calls for requests, with the fluxion that it is.
 */
import type { EventEmitter } from 'node:events';
import type { LinkFluxion } from '../../flx/run-manifest.js';
import type { FluxionFinder } from './find-fluxion.js';
import type { FunctionPlace, Reflector } from './reflect.js';
import { type Slot, stacksOfServer } from './routers.js';

export interface LinkedSlot extends Slot {
  readonly root: string;
  readonly place: FunctionPlace | null;
  /** Another one when the compiler has heard what the function holds. */
  fluxion: LinkFluxion | null;
  /** The app's own function, within what a package made of it. */
  readonly own: object;
}

export interface LinkedServer {
  readonly root: string;
  readonly slots: readonly LinkedSlot[];
  readonly things: ReadonlyMap<string, object>;
}

export function linkServer(
  server: EventEmitter,
  root: string,
  finder: FluxionFinder | null,
  reflector: Reflector,
): LinkedServer {
  const { slots, things } = stacksOfServer(server, reflector);
  const places = reflector.locate(slots.map(({ fn }) => fn));
  const linked = slots.map((slot, index): LinkedSlot => {
    const place = places[index] ?? null;
    const found = place === null ? null : (finder?.find(slot.fn, place, reflector) ?? null);
    const [fluxion, own] = [found?.fluxion ?? null, found?.fn ?? slot.fn];
    return { ...slot, root, place, fluxion, own };
  });
  return { root, slots: linked, things };
}

/** What it is called where people read it: many functions have no name. */
export function slotText({ fluxion, fn, place }: LinkedSlot): string {
  if (fluxion !== null) return `"${fluxion.id}" (${fluxion.module}:${fluxion.line})`;
  const name = fn.name === '' ? 'a function' : `"${fn.name}"`;
  if (place === null) return name;
  const file = /node_modules[\\/](.*)$/.exec(place.url)?.[1] ?? place.url.replace(/^.*[\\/]/, '');
  return `${name} (${file}:${place.line})`;
}
