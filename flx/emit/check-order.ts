/**
 * Reads: what is asked, for requests, of packages with one connection, and the text of these modules.
 * Gives: the fluxions that ask them, where something is asked that may not be done when its request has been answered; with what
 *        keeps them home.
 *
 *     await redis.del(key); res.end()    (done)        redis.del(key); res.end()    (may not be done)
 *     res.end(); await redis.del(key)    (may not be done)
 */
import type { FluxionId, FluxionProgram } from '../program.js';
import { findBehindCalls } from './check-next.js';

export function findOvertaking(program: FluxionProgram): ReadonlyMap<FluxionId, string> {
  const { packages, isLoose, asking } = program.link.order;
  const found = new Map<FluxionId, string>();
  const asks = program.link.connects.flatMap(({ fluxion, packages: own }) => {
    const name = own.find((each) => packages.includes(each));
    return name === undefined ? [] : [{ fluxion, name }];
  });
  if (asks.length === 0 || !(isLoose || findBehindCalls(program, asking))) return found;
  for (const { fluxion, name } of asks)
    found.set(
      fluxion,
      `all that is asked of ${name} keeps its order on one connection, and somewhere nobody waits for the answer`,
    );
  return found;
}
