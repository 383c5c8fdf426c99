/**
 * Reads: parts, origins, models.
 * Gives: which parts ask for the context that they are called in (`storage.getStore()`), or go on with such a part behind a wait.
 *
 * A request that is sent to another loop takes its context along. A message for what comes behind a wait does not. What home tells of a request
 * and its response (a part of the body, that all is sent) comes to the other loop by itself: who asks there asks in another context than at home.
 */
import { isCall } from '../analyzer/call-graph.js';
import type { Part, PartId } from '../analyzer/cut-parts.js';
import { type FunctionId, Op, type OpId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import type { Token } from '../analyzer/tokens.js';

const known = new WeakMap<Pipeline, (part: Part) => boolean>();

export function asksBehind(pipeline: Pipeline): (part: Part) => boolean {
  let found = known.get(pipeline);
  if (found === undefined) known.set(pipeline, (found = makeAsks(pipeline)));
  return found;
}

function makeAsks(pipeline: Pipeline): (part: Part) => boolean {
  const { parts } = pipeline;
  const calls = listAskingCalls(pipeline);
  const asking = new Set(parts.list.filter((part) => asks(pipeline, part, calls)).map(({ id }) => id));
  if (asking.size === 0) return () => false;
  return ({ id }) => {
    const flow = new Set<PartId>([id]);
    for (const each of flow) {
      if (asking.has(each)) return true;
      for (const { to } of parts.list[each]?.streams ?? []) for (const next of to) flow.add(next);
    }
    return false;
  };
}

/** It, or what goes on behind it, asks in a callback of a request or a response: `res.on('finish', () => log(storage.getStore()))`. */
export function asksOfExchange(pipeline: Pipeline): (part: Part) => boolean {
  const { parts } = pipeline;
  const asks = asksBehind(pipeline);
  return (part) => {
    if (!asks(part)) return false;
    const flow = new Set([part]);
    for (const { streams } of flow) {
      for (const { point, to } of streams) {
        const next = to.flatMap((id) => parts.list[id] ?? []);
        if (point !== null && next.some(asks) && isOfExchange(pipeline, point.op)) return true;
        for (const each of next) flow.add(each);
      }
    }
    return false;
  };
}

/** A request, a response or something of theirs is called, or given to what is called. */
function isOfExchange({ facts, origins, models }: Pipeline, op: OpId): boolean {
  if (op < 0 || !isCall(facts.kind.get(op))) return true;
  const call = facts.d.get(op);
  const values = Array.from({ length: facts.callCount.get(call) }, (_, index) => facts.argument(call, index));
  values.push(origins.receiverOf.get(op) ?? facts.a.get(op));
  return values.some((value) =>
    origins.tokensOf(value).some((id) => {
      const token = origins.tokens.get(id);
      if (token.kind === 'unknown') return true;
      return (
        token.kind === 'external' &&
        models.typeThat(token.shape, (type) => type.perRequest === true || type.travels === 'bridge') !== null
      );
    }),
  );
}

/** By the function whose calls they are: of few programs there are any. */
function listAskingCalls(pipeline: Pipeline): ReadonlyMap<FunctionId, readonly OpId[]> {
  const { callOp, owner } = pipeline.facts;
  const found = new Map<FunctionId, OpId[]>();
  for (let call = 0; call < callOp.length; call++) {
    const op = callOp.get(call);
    if (!asksForContext(pipeline, op)) continue;
    const others = found.get(owner.get(op));
    if (others === undefined) found.set(owner.get(op), [op]);
    else others.push(op);
  }
  return found;
}

function asks({ facts }: Pipeline, { runs }: Part, calls: ReadonlyMap<FunctionId, readonly OpId[]>): boolean {
  if (calls.size === 0) return false;
  return runs.some(({ fn, segment }) =>
    calls.get(fn)?.some((op) => {
      const at = facts.segmentOf(op);
      return segment >= at >>> 16 && segment <= (at & 0xffff);
    }),
  );
}

export function asksForContext(
  { origins, models, facts }: Pick<Pipeline, 'origins' | 'models' | 'facts'>,
  op: OpId,
): boolean {
  return origins.calleeTokens(op).some((id) => {
    let token: Token = origins.tokens.get(id);
    while (token.kind === 'bound') token = origins.tokens.get(token.target);
    const isNew = facts.kind.get(op) === Op.construct;
    return token.kind === 'external' && models.call(token.shape, isNew)?.asksContext === true;
  });
}
