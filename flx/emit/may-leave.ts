/**
 * Reads: a FluxionProgram, and which of its cuts were really made.
 * Gives: which fluxions `fluxion run` may send to another loop, which another loop may run that serves a request to its end,
 *        and what keeps the others home beside their placement.
 */
import type { Fluxion, FluxionId, FluxionProgram } from '../program.js';
import { findBringing } from './check-brought.js';
import { findHeldBack } from './check-held.js';
import { findLateState } from './check-late.js';
import { findGoingOn } from './check-next.js';
import { findOvertaking } from './check-order.js';

export interface Whys {
  /** What keeps fluxions home that are replicated otherwise. */
  readonly whys: ReadonlyMap<FluxionId, string>;
  /** Those of them that may be served by no other loop either. */
  readonly bound: ReadonlyMap<FluxionId, string>;
}

export function findWhys(program: FluxionProgram): Whys {
  const goingOn = [...findGoingOn(program)].map((id) => [id, GOES_ON] as const);
  const bound = new Map([...findOvertaking(program), ...findHeldBack(program)]);
  const straying = program.link.straying.map((id) => [id, STRAYS] as const);
  return {
    bound,
    whys: new Map([...straying, ...findLateState(program), ...findBringing(program), ...goingOn, ...bound]),
  };
}

const STRAYS = 'it asks for its context in a callback of its request or response';
const GOES_ON = 'it goes on after it has called "next"';

/**
 * A fluxion may leave home if it is free and so is all that goes on behind it in place: what has to be elsewhere must be
 * behind a cut that was really made, wherever it is reached from.
 */
export function findMovable(
  program: FluxionProgram,
  made: ReadonlySet<FluxionId>,
  whys: ReadonlyMap<FluxionId, string>,
): ReadonlySet<FluxionId> {
  const byId = new Map(program.fluxions.map((fluxion) => [fluxion.id, fluxion]));
  const uncut = new Set(program.uncut);
  const free = program.fluxions.filter(({ id, placement }) => placement === 'replicated' && !whys.has(id));
  return closed(free, (dest, movable) =>
    byId.get(dest)?.placement === 'replicated' ? movable.has(dest) : made.has(dest) && !uncut.has(dest),
  );
}

/** Where a request is on one loop from its beginning to its end, code behind `next()` is where it belongs. */
export function findWhole({ fluxions }: FluxionProgram, bound: ReadonlyMap<FluxionId, string>): ReadonlySet<FluxionId> {
  return closed(
    fluxions.filter(({ id, placement }) => placement === 'replicated' && !bound.has(id)),
    (dest, whole) => whole.has(dest),
  );
}

/** Those of `all` behind which there are only such as `mayFollow` allows. */
function closed(
  all: readonly Fluxion[],
  mayFollow: (dest: FluxionId, rest: ReadonlySet<FluxionId>) => boolean,
): ReadonlySet<FluxionId> {
  const byId = new Map(all.map((fluxion) => [fluxion.id, fluxion]));
  const rest = new Set(byId.keys());
  for (let changed = true; changed; ) {
    changed = false;
    for (const id of rest) {
      if (byId.get(id)?.streams.every(({ dest }) => dest.every((each) => mayFollow(each, rest)))) continue;
      rest.delete(id);
      changed = true;
    }
  }
  return rest;
}
