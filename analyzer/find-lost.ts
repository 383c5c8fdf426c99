/**
 * Reads:   Pipeline.
 * Gives:   whether code of the app that runs for requests may change anything, as far as can be told; and the packages of
 *          which that is so: they had better not been read, as what they are given is all that they could change then.
 */
import type { FunctionFact } from './facts.js';
import type { Pipeline } from './index.js';
import { Effect } from './summarise-effects.js';

export interface Lost {
  readonly isLost: boolean;
  readonly packages: readonly string[];
}

export function findLost({ facts, effects, parts, budget }: Pipeline): Lost {
  const packages = new Set<string>();
  let isLost = budget.isExhausted;
  const isOpaque = (fn: FunctionFact): boolean => {
    let found = false;
    effects.each(fn.id, (kind, _root, op) => {
      const loadsUnknown = kind === Effect.load && facts.lateLoads[facts.c.get(op)] === null;
      found ||= kind === Effect.opaque || (loadsUnknown && facts.isOfPackage(fn.id));
    });
    return found;
  };
  for (const fn of facts.functions) {
    const runsLater = parts.runners.get(fn.id)?.some((part) => part !== 0) === true;
    if (!runsLater || !isOpaque(fn)) continue;
    const { owner } = facts.moduleOf(fn.id);
    if (owner === null) isLost = true;
    else packages.add(owner);
  }
  return { isLost, packages: [...packages] };
}
