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

/** Listeners by the name of their event; those of a name that is not known listen to all. */
type Listeners = Map<string, FunctionId[]>;

const anyEvent = '*';

export function findListeners(
  facts: Facts,
  origins: Origins,
  ruptures: Ruptures,
): ReadonlyMap<OpId, readonly FunctionId[]> {
  const byEmitter = listenersByEmitter(facts, origins, ruptures);
  const found = new Map<OpId, readonly FunctionId[]>();
  if (byEmitter.size === 0) return found;
  for (let op = 0; op < facts.kind.length; op++) {
    if (!isCall(facts.kind.get(op))) continue;
    const listeners = new Set<FunctionId>();
    for (const { emitter, event } of sendingsOf(facts, origins, op)) {
      for (const id of origins.tokensOf(emitter)) addListeners(byEmitter.get(id), event, listeners);
    }
    if (listeners.size > 0) found.set(op, [...listeners]);
  }
  return found;
}

function addListeners(known: Listeners | undefined, event: string, found: Set<FunctionId>): void {
  if (known === undefined) return;
  const heard = event === anyEvent ? known.values() : [known.get(event), known.get(anyEvent)];
  for (const listeners of heard) for (const fn of listeners ?? []) found.add(fn);
}

interface Sending {
  readonly emitter: ValueId;
  readonly event: string;
}

/** What a call sends, and to what: `bus.emit('x')`, `bus.emit.call(bus, 'x')`, and `emit('x')` of `bus.emit.bind(bus)`. */
function sendingsOf(facts: Facts, origins: Origins, op: OpId): readonly Sending[] {
  const isMethod = facts.kind.get(op) === Op.method;
  const name = isMethod ? facts.atomName(facts.c.get(op)) : '';
  if (sends.test(name)) return [{ emitter: facts.a.get(op), event: eventOf(facts, op, 0) }];
  const isIndirect = name === 'call' || name === 'apply';
  const found: Sending[] = [];
  for (const id of isIndirect ? origins.tokensOf(facts.a.get(op)) : origins.calleeTokens(op)) {
    const token = origins.tokens.get(id);
    const target = token.kind === 'bound' ? origins.tokens.get(token.target) : token;
    if (target.kind !== 'external' || !/\.(emit|dispatchEvent)$/.test(target.shape.path)) continue;
    if (token.kind === 'bound' && token.receiver !== NOTHING) {
      const isPlain = !isIndirect && token.args.length === 0;
      found.push({ emitter: token.receiver, event: isPlain ? eventOf(facts, op, 0) : anyEvent });
    } else if (isIndirect) {
      const event = name === 'call' ? eventOf(facts, op, 1) : anyEvent;
      found.push({ emitter: facts.argument(facts.d.get(op), 0), event });
    }
  }
  return found;
}

/** The event that argument `index` names, where it is text in place and stands for itself. */
function eventOf(facts: Facts, op: OpId, index: number): string {
  const call = facts.d.get(op);
  if (facts.callSpread.get(call) >= 0) return anyEvent;
  const name = facts.strings.get(facts.argument(call, index));
  // Some emitters take patterns and lists of names.
  return name === undefined || !/^[\w:.-]+$/.test(name) ? anyEvent : name;
}

function listenersByEmitter(facts: Facts, origins: Origins, ruptures: Ruptures): ReadonlyMap<TokenId, Listeners> {
  const byEmitter = new Map<TokenId, Listeners>();
  for (const { op, callbacks } of ruptures.points) {
    if (facts.kind.get(op) !== Op.method || !registers.test(facts.atomName(facts.c.get(op)))) continue;
    const event = eventOf(facts, op, 0);
    for (const id of origins.tokensOf(facts.a.get(op))) {
      let known = byEmitter.get(id);
      if (known === undefined) byEmitter.set(id, (known = new Map()));
      const same = known.get(event);
      if (same === undefined)
        known.set(
          event,
          callbacks.map(({ fn }) => fn),
        );
      else same.push(...callbacks.map(({ fn }) => fn));
    }
  }
  return byEmitter;
}
