/**
 * Reads: which packages hold a function of the app that changes something.
 * Gives: the fluxions that speak through them, with what keeps them home: the function would be called on their loop.
 */
import type { FluxionId, FluxionProgram } from '../program.js';

export function findHeldBack({ link }: FluxionProgram): ReadonlyMap<FluxionId, string> {
  const places = new Map(link.holds.map(({ package: name, at }) => [name, `${at.module}:${at.line}`]));
  const found = new Map<FluxionId, string>();
  for (const { fluxion, packages } of link.connects) {
    const name = packages.find((each) => places.has(each));
    if (name !== undefined)
      found.set(fluxion, `${name} calls what it was given at ${places.get(name)}, and that changes something`);
  }
  return found;
}
