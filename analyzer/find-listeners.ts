/**
 * Reads:   facts, origins, rupture points.
 * Gives:   for each call of `emit`, the listeners that it runs before it returns.
 *
 * A listener is a start of its own, whoever emits; but an emitter of the program's own runs its listeners in the turn of
 * the sender, so what they touch the sender touches.
 */
import { isCall } from './call-graph.js';
import { type Facts, type FunctionId, NOTHING, Op, type OpId, type ValueId } from './facts.js';
import type { Ruptures } from './find-rupture-points.js';
import type { TokenId } from './tokens.js';
import type { Origins } from './trace-origins.js';

const registers = /^(on|once|addListener|prependListener|prependOnceListener|addEventListener)$/;
const sends = /^(emit|dispatchEvent)$/;

export function findListeners(facts: Facts, origins: Origins, ruptures: Ruptures): ReadonlyMap<OpId, FunctionId[]> {
  const byEmitter = listenersByEmitter(facts, origins, ruptures);
  const found = new Map<OpId, FunctionId[]>();
  if (byEmitter.size === 0) return found;
  for (let op = 0; op < facts.kind.length; op++) {
    if (!isCall(facts.kind.get(op))) continue;
    const listeners = new Set<FunctionId>();
    for (const emitter of emittersOf(facts, origins, op)) {
      for (const id of origins.tokensOf(emitter)) for (const fn of byEmitter.get(id) ?? []) listeners.add(fn);
    }
    if (listeners.size > 0) found.set(op, [...listeners]);
  }
  return found;
}

/** What a call sends events to: `bus.emit(…)`, `bus.emit.call(bus, …)`, and `emit(…)` of `bus.emit.bind(bus)`. */
function emittersOf(facts: Facts, origins: Origins, op: OpId): readonly ValueId[] {
  const isMethod = facts.kind.get(op) === Op.method;
  const name = isMethod ? facts.atomName(facts.c.get(op)) : '';
  if (sends.test(name)) return [facts.a.get(op)];
  const isIndirect = name === 'call' || name === 'apply';
  const found: ValueId[] = [];
  for (const id of isIndirect ? origins.tokensOf(facts.a.get(op)) : origins.calleeTokens(op)) {
    const token = origins.tokens.get(id);
    const target = token.kind === 'bound' ? origins.tokens.get(token.target) : token;
    if (target.kind !== 'external' || !/\.(emit|dispatchEvent)$/.test(target.shape.path)) continue;
    if (token.kind === 'bound' && token.receiver !== NOTHING) found.push(token.receiver);
    else if (isIndirect) found.push(facts.argument(facts.d.get(op), 0));
  }
  return found;
}

function listenersByEmitter(facts: Facts, origins: Origins, ruptures: Ruptures): ReadonlyMap<TokenId, FunctionId[]> {
  const byEmitter = new Map<TokenId, FunctionId[]>();
  for (const { op, callbacks } of ruptures.points) {
    if (facts.kind.get(op) !== Op.method || !registers.test(facts.atomName(facts.c.get(op)))) continue;
    for (const id of origins.tokensOf(facts.a.get(op))) {
      const known = byEmitter.get(id) ?? [];
      known.push(...callbacks.map(({ fn }) => fn));
      byEmitter.set(id, known);
    }
  }
  return byEmitter;
}
