/**
 * Reads:   parts, and which of them speak over the network through a package.
 * Gives:   for each part that has spoken by then, what it puts on the request or response, if anything; or whose
 *          errors it may pass on that hold live objects. For any part, the function of its own that it puts there.
 *
 * Where the request then goes on to handlers on another loop, that would have to travel too: a document, or a row of a class of the
 * driver's. That it cannot shows when the database has been asked already, and nobody can ask it again.
 */
import { isCall } from '../analyzer/call-graph.js';
import type { Part } from '../analyzer/cut-parts.js';
import { Op, type OpId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { isContextName } from '../analyzer/origins/properties.js';
import { calleeText } from '../analyzer/source-text.js';
import { everyRequest, type TokenId } from '../analyzer/tokens.js';
import type { Brings } from '../flx/program.js';
import { findBehind } from './find-hampered.js';
import { changedIn, findOnRequests } from './find-late.js';

export type Brought = Omit<Brings, 'fluxion'>;

export function findBrought(pipeline: Pipeline, speaks: (part: Part) => boolean): (part: Part) => Brought | null {
  const behind = findBehind(pipeline.parts.list, speaks);
  let found: ReturnType<typeof findOnRequests> | null = null;
  const onRequests = (): ReturnType<typeof findOnRequests> => (found ??= findOnRequests(pipeline));
  return (part) => {
    if (!behind.has(part.id)) {
      const own = broughtBy(pipeline, part, holdsOwnFunction);
      return own === null ? null : { what: own, isError: false };
    }
    const failing = failingIn(pipeline, part);
    if (failing !== null) return { what: failing, isError: true };
    const what = broughtBy(pipeline, part) ?? putInContext(pipeline, part, onRequests());
    return what === null ? null : { what, isError: false };
  };
}

/** A call whose errors hold live objects: these go the same way as the request. */
function failingIn({ facts, effects, origins, models, source }: Pipeline, part: Part): string | null {
  for (const { fn, segment } of part.runs) {
    for (const op of effects.ops.of(fn)) {
      const at = facts.segmentOf(op);
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

type IsBrought = (pipeline: Pipeline, op: OpId) => boolean;

/** What hangs on a request and cannot travel shows when the handler has done its work, printing included. */
function holdsOwnFunction({ facts, origins }: Pipeline, op: OpId): boolean {
  return origins.tokensOf(facts.b.get(op)).some((id) => {
    const fn = origins.tokens.functionOf(id);
    const maker = fn === null ? -1 : facts.fn(fn).parent;
    // One that start-up has made goes by its name.
    return maker !== -1 && facts.fn(maker).parent !== -1 && facts.owner.get(op) === maker;
  });
}

function broughtBy(pipeline: Pipeline, part: Part, isBrought: IsBrought = () => true): string | null {
  const { facts, effects, source } = pipeline;
  for (const { fn, segment } of part.runs) {
    for (const op of effects.ops.of(fn)) {
      const at = facts.segmentOf(op);
      if (facts.kind.get(op) !== Op.store || segment < at >>> 16 || segment > (at & 0xffff)) continue;
      if (isOnRequest(pipeline, op) && isBrought(pipeline, op)) return source.changed(op);
    }
  }
  return null;
}

/** `storage.getStore().user = user` */
function putInContext(pipeline: Pipeline, part: Part, onRequests: ReturnType<typeof findOnRequests>): string | null {
  return changedIn(pipeline, part, onRequests).some(isContextName) ? 'the context' : null;
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
