/**
 * How much of the work is free to move: the share that more cores can take.
 *
 * Reads: the explanation of a running app; what its fluxions cost, where that was measured.
 * Gives: two estimates, from 0 to 1; null where there is nothing to go by.
 */
import { NOT_CALLED } from '../link-report.js';
import type { FluxionId, FluxionProgram } from '../program.js';
import type { Chain, Explanation } from './explain-model.js';

/** Computing time of each fluxion in milliseconds, as `fluxion run --report` measures it. */
export type Costs = ReadonlyMap<FluxionId, number>;

export interface FreeShare {
  /** Each route counts as much; one that is free in part counts by its fluxions. */
  readonly byRoutes: number | null;
  readonly byTime: number | null;
}

export function findFreeShare({ routes }: Explanation, { fluxions }: FluxionProgram, costs: Costs | null): FreeShare {
  const shares = routes.filter(isThere).map(freeIn);
  const measured = fluxions.flatMap(({ id, placement }) => {
    const cost = costs?.get(id) ?? 0;
    return cost > 0 ? [{ cost, free: placement === 'replicated' ? cost : 0 }] : [];
  });
  return {
    byRoutes: shares.length === 0 ? null : sum(shares) / shares.length,
    byTime:
      measured.length === 0 ? null : sum(measured.map(({ free }) => free)) / sum(measured.map(({ cost }) => cost)),
  };
}

/** Routes that the app did not register this time have no work. */
function isThere({ steps }: Chain): boolean {
  return steps.length > 0 && !steps.some(({ reasons }) => reasons.some(({ message }) => message.endsWith(NOT_CALLED)));
}

function freeIn({ steps }: Chain): number {
  return steps.filter(({ fluxion }) => fluxion.placement === 'replicated').length / steps.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
