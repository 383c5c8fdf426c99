/**
 * Reads: parts, origins of what they call.
 * Gives: for each part the packages through which it speaks over the network: databases, queues, mail. A replica can do so too,
 *        unless the package's connection was made by start-up, which a replica's start-up must not make a second time.
 */
import { isBuiltin } from 'node:module';
import type { Part } from '../analyzer/cut-parts.js';
import { type FunctionId, Op } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';

export function findConnects(pipeline: Pipeline): (part: Part) => readonly string[] {
  const known = new Map<FunctionId, readonly string[]>();
  const of = (fn: FunctionId): readonly string[] => {
    let packages = known.get(fn);
    if (packages === undefined) known.set(fn, (packages = connectsOf(pipeline, fn)));
    return packages;
  };
  return (part) => {
    const packages = new Set<string>();
    for (const { fn } of part.runs) for (const name of of(fn)) packages.add(name);
    return [...packages].sort();
  };
}

const none: readonly string[] = [];

function connectsOf({ facts, effects, origins, models }: Pipeline, fn: FunctionId): readonly string[] {
  const packages = new Set<string>();
  for (const op of effects.ops.of(fn)) {
    for (const id of origins.calleeTokens(op)) {
      let token = origins.tokens.get(id);
      while (token.kind === 'bound') token = origins.tokens.get(token.target);
      if (token.kind !== 'external' || token.shape.package === '' || isBuiltin(token.shape.package)) continue;
      const call = models.call(token.shape, facts.kind.get(op) === Op.construct);
      if (call?.does?.includes('network') || call?.connects) packages.add(token.shape.package);
    }
  }
  return packages.size === 0 ? none : [...packages];
}
