/**
 * Functions that the program puts in the place of others': `console.log = fn`, `express.response.json = fn`,
 * `Object.defineProperty(app.request, 'id', { get })`. Whoever prints, or replies, runs them.
 *
 * Reads: facts, origins.
 * Gives: all of these functions; for each op that puts some, where to.
 */
import { type Facts, type FunctionId, NOTHING, Op, type OpId, type ValueId } from '../facts.js';
import type { Shape } from '../models.js';
import { everyRequest } from '../tokens.js';
import type { Origins } from '../trace-origins.js';

/** What is printed by, and what requests and responses inherit from. */
export type Patched = 'output' | 'exchange' | 'else';

export function* findPatches(facts: Facts, origins: Origins): Generator<FunctionId> {
  for (let op = 0; op < facts.kind.length; op++) for (const { fn } of patchesOf(facts, origins, op)) yield fn;
}

export function* patchesOf(
  facts: Facts,
  origins: Origins,
  op: OpId,
): Generator<{ readonly fn: FunctionId; readonly of: Patched }> {
  const { base, values } = placeOf(facts, origins, op);
  if (values.length === 0) return;
  const patched = new Set<Patched>();
  for (const id of origins.tokensOf(base)) {
    const token = origins.tokens.get(id);
    if (token.kind !== 'external' || token.site === everyRequest) continue;
    const of = whatIs(token.shape);
    // Of one object among many (an app, a logger) its own functions are part.
    if (of === 'exchange' || token.site === -1) patched.add(of);
  }
  for (const of of patched) {
    for (const value of values) {
      for (const id of origins.tokensOf(value)) {
        const fn = origins.tokens.functionOf(id);
        if (fn !== null && origins.mayRun(fn)) yield { fn, of };
      }
    }
  }
}

const nothing = { base: NOTHING, values: [] } as const;

function placeOf(facts: Facts, origins: Origins, op: OpId): { base: ValueId; values: readonly ValueId[] } {
  const kind = facts.kind.get(op);
  if (kind === Op.store) return { base: facts.a.get(op), values: [facts.b.get(op)] };
  if (kind !== Op.method || facts.atomName(facts.c.get(op)) !== 'defineProperty') return nothing;
  const call = facts.d.get(op);
  if (facts.callCount.get(call) < 3) return nothing;
  const values: ValueId[] = [];
  for (const id of origins.tokensOf(facts.argument(call, 2)))
    values.push(...(origins.tokens.knownProperties(id)?.values() ?? []));
  return { base: facts.argument(call, 0), values };
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
