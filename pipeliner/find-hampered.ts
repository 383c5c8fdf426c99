/**
 * Reads:   parts and the streams between them, messages, which parts speak over the network through a package.
 * Gives:   streams by which nothing may leave that cannot be shown to travel: once a flow has spoken with a database, nobody can
 *          run it again where its message turns out to hold a document or a connection; with the name of what it would hold.
 *
 * Of what such a package gives it is not known what it is made of. So what is left to travel is the request itself, and what
 * Node gives.
 */
import type { Part, PartId, PartStream } from '../analyzer/cut-parts.js';
import type { ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import type { Messages } from './write-messages.js';

export interface Hampered {
  readonly from: PartId;
  readonly to: PartId;
  readonly name: string;
}

export function findHampered(
  pipeline: Pipeline,
  messages: Messages,
  speaks: (part: Part) => boolean,
): readonly Hampered[] {
  const { list } = pipeline.parts;
  const found: Hampered[] = [];
  for (const id of findBehind(list, speaks)) {
    for (const stream of (list[id] as Part).streams) {
      if (stream.type !== 'post') continue;
      const carried = messages.of(stream).find(({ request }) => request === null)?.name;
      for (const to of stream.to) {
        const name = carried ?? given(pipeline, stream, list[to] as Part);
        if (name !== null) found.push({ from: id, to, name });
      }
    }
  }
  return found;
}

/** Parts that speak, and all that their flows go on with. */
export function findBehind(list: readonly Part[], speaks: (part: Part) => boolean): ReadonlySet<PartId> {
  const behind = new Set(list.filter((part) => part.kind !== 'main' && speaks(part)).map(({ id }) => id));
  for (const id of behind) {
    for (const { type, to } of (list[id] as Part).streams) if (type === 'post') for (const next of to) behind.add(next);
  }
  return behind;
}

/** What the asynchronous call itself gives, if it is no core function's. */
function given(pipeline: Pipeline, { point, cut }: PartStream, dest: Part): string | null {
  const { facts, origins } = pipeline;
  const callees = point === null ? [] : origins.calleeTokens(point.op).map((id) => origins.tokens.get(id));
  const isCores = callees.every((callee) => callee.kind === 'external' && callee.shape.isOfNode);
  if (isCores && callees.length > 0) return null;
  const [first] = cut === null ? dest.fn.params : boundBy(pipeline, dest, cut.targetStart, cut.targetEnd);
  return first === undefined ? null : (facts.variables.get(first)?.name ?? '');
}

function boundBy({ facts }: Pipeline, { fn }: Part, start: number, end: number): readonly ValueId[] {
  const bound: ValueId[] = [];
  for (let value = fn.valueStart; value < fn.valueEnd; value++) {
    const fact = facts.variables.get(value);
    if (fact?.owner === fn.id && fact.start >= start && fact.start < end) bound.push(value);
  }
  return bound;
}
