/**
 * Reads:   parts, and which of them speak over the network through a package.
 * Gives:   for each part that has spoken by then, what it puts on the request or response, if anything.
 *
 * Where the request then goes on to handlers on another loop, that would have to travel too: a document, or a row of a class of the
 * driver's. That it cannot shows when the database has been asked already, and nobody can ask it again.
 */
import type { Part } from '../analyzer/cut-parts.js';
import { Op, type OpId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { everyRequest, type TokenId } from '../analyzer/tokens.js';
import { findBehind } from './find-hampered.js';

export function findBrought(pipeline: Pipeline, speaks: (part: Part) => boolean): (part: Part) => string | null {
  const behind = findBehind(pipeline.parts.list, speaks);
  return (part) => (behind.has(part.id) ? broughtBy(pipeline, part) : null);
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
