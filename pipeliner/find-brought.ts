/**
 * Reads:   parts, and which of them speak over the network through a package.
 * Gives:   for each part that has spoken by then, what it puts on the request or response, if anything; or whose
 *          errors it may pass on that hold live objects.
 *
 * Where the request then goes on to handlers on another loop, that would have to travel too: a document, or a row of a class of the
 * driver's. That it cannot shows when the database has been asked already, and nobody can ask it again.
 */
import { isCall } from '../analyzer/call-graph.js';
import type { Part } from '../analyzer/cut-parts.js';
import { Op, type OpId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { calleeText } from '../analyzer/source-text.js';
import { everyRequest, type TokenId } from '../analyzer/tokens.js';
import type { Brings } from '../flx/program.js';
import { findBehind } from './find-hampered.js';

export type Brought = Omit<Brings, 'fluxion'>;

export function findBrought(pipeline: Pipeline, speaks: (part: Part) => boolean): (part: Part) => Brought | null {
  const behind = findBehind(pipeline.parts.list, speaks);
  return (part) => {
    if (!behind.has(part.id)) return null;
    const failing = failingIn(pipeline, part);
    if (failing !== null) return { what: failing, isError: true };
    const what = broughtBy(pipeline, part);
    return what === null ? null : { what, isError: false };
  };
}

/** A call whose errors hold live objects: these go the same way as the request. */
function failingIn({ facts, effects, origins, models, source }: Pipeline, part: Part): string | null {
  for (const { fn, segment } of part.runs) {
    for (const op of effects.ops.of(fn)) {
      const at = facts.segment.get(op);
      if (!isCall(facts.kind.get(op)) || segment < at >>> 16 || segment > (at & 0xffff)) continue;
      const isFailing = origins.calleeTokens(op).some((id) => {
        const token = origins.tokens.get(id);
        return token.kind === 'external' && models.call(token.shape, false)?.failsLive === true;
      });
      if (isFailing) return calleeText(facts, source, op);
    }
  }
  return null;
}

function broughtBy(pipeline: Pipeline, part: Part): string | null {
  const { facts, effects, source } = pipeline;
  for (const { fn, segment } of part.runs) {
    for (const op of effects.ops.of(fn)) {
      const at = facts.segment.get(op);
      if (facts.kind.get(op) !== Op.store || segment < at >>> 16 || segment > (at & 0xffff)) continue;
      if (isOnRequest(pipeline, op)) return source.changed(op);
    }
  }
  return null;
}

/** Of what Node itself has there all are numbers and texts. */
const OF_NODE = /^status(Code|Message)$/;

function isOnRequest({ facts, origins }: Pipeline, op: OpId): boolean {
  if (OF_NODE.test(facts.atomName(facts.c.get(op)))) return false;
  const isRequest = (id: TokenId): boolean => {
    const token = origins.tokens.get(id);
    return token.kind === 'external' && token.site === everyRequest;
  };
  return origins.tokensOf(facts.a.get(op)).some(isRequest);
}
