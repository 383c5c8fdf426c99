/**
 * Functions that the program puts in the place of others': `console.log = fn`, `express.response.json = fn`,
 * `Object.defineProperty(app.request, 'id', { get })`. Whoever prints, or replies, runs them.
 *
 * Reads: facts, origins.
 * Gives: all of these functions; for each op that puts some, where to.
 */
import { type Facts, type FunctionId, Op, type OpId, type ValueId } from '../facts.js';
import type { Shape } from '../models.js';
import { everyRequest } from '../tokens.js';
import type { Origins } from '../trace-origins.js';

/** What is printed by, and what requests and responses inherit from. */
export type Patched = 'output' | 'exchange' | 'else';

export interface Patch {
  readonly fn: FunctionId;
  readonly of: Patched;
}

export function findPatches(facts: Facts, origins: Origins): Set<FunctionId> {
  const found = new Set<FunctionId>();
  for (let op = 0; op < facts.kind.length; op++) for (const { fn } of patchesOf(facts, origins, op)) found.add(fn);
  return found;
}

const none: readonly Patch[] = [];

export function patchesOf(facts: Facts, origins: Origins, op: OpId): readonly Patch[] {
  const kind = facts.kind.get(op);
  if (kind === Op.store) return patchesBy(origins, facts.a.get(op), [facts.b.get(op)]);
  if (kind !== Op.method || facts.atomName(facts.c.get(op)) !== 'defineProperty') return none;
  const call = facts.d.get(op);
  if (facts.callCount.get(call) < 3) return none;
  const values: ValueId[] = [];
  for (const id of origins.tokensOf(facts.argument(call, 2)))
    values.push(...(origins.tokens.knownProperties(id)?.values() ?? []));
  return patchesBy(origins, facts.argument(call, 0), values);
}

function patchesBy(origins: Origins, base: ValueId, values: readonly ValueId[]): readonly Patch[] {
  const patched = new Set<Patched>();
  for (const id of origins.tokensOf(base)) {
    const token = origins.tokens.get(id);
    if (token.kind !== 'external' || token.site === everyRequest) continue;
    const of = whatIs(token.shape);
    // Of one object among many (an app, a logger) its own functions are part.
    if (of === 'exchange' || token.site === -1) patched.add(of);
  }
  if (patched.size === 0) return none;
  const found: Patch[] = [];
  for (const of of patched) {
    for (const value of values) {
      for (const id of origins.tokensOf(value)) {
        const fn = origins.tokens.functionOf(id);
        if (fn !== null && origins.mayRun(fn)) found.push({ fn, of });
      }
    }
  }
  return found;
}

/** What somebody's own function stands in the place of. */
export function whatIs({ path, package: owner }: Shape): Patched {
  if (owner === 'console' || owner === 'tty' || /^(console|process)\b.*\b(stdout|stderr|console)\b/i.test(path))
    return 'output';
  const isOfExchange =
    /^express\b.*\.(request|response)$/.test(path) ||
    /^(http|express)\.(IncomingMessage|ServerResponse|OutgoingMessage|Request|Response)\b/.test(path);
  return isOfExchange ? 'exchange' : 'else';
}
