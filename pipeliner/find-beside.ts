/**
 * Reads:   parts, the streams between them, origins.
 * Gives:   fluxions of whose callbacks one may pass the request on, and another one, which may come behind that, looks at the request
 *          or its response.
 *
 *     stream.on('error', (error) => next(error));       stream.on('close', () => { if (!res.headersSent) res.end(); });
 *
 * At home all that follows in the chain has run when the other one begins. What follows another in one promise is told by its source
 * (`check-next.ts`), and what one callback has behind its own `next()` as well.
 */
import type { Part, PartId, PartStream } from '../analyzer/cut-parts.js';
import { Op, type OpId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { everyRequest } from '../analyzer/tokens.js';
import type { FluxionId } from '../flx/program.js';
import type { Folds } from './fold-packages.js';
import type { PassesOfParts } from './list-passes.js';

export function findBeside(
  pipeline: Pipeline,
  passes: PassesOfParts,
  folds: Folds,
  nameOf: (part: Part) => FluxionId,
): readonly FluxionId[] {
  const flows = new FlowFacts(pipeline, passes);
  return pipeline.parts.list.flatMap((part) => {
    if (part.kind === 'main' || folds.isFolded(part.id)) return [];
    const isBeside = [part, ...folds.within(part)].some(({ streams }) => flows.isAnyBehind(streams));
    return isBeside ? [nameOf(part)] : [];
  });
}

const TIMER = /^(?:.*\.)?set(?:Timeout|Interval)$/;
const PROMISE = /\.(?:then|catch|finally)$/;

/** What a stream does not say any more once it has said the other thing. */
const NEVER_BEHIND: { readonly [event: string]: ReadonlySet<string> } = {
  end: new Set(['data', 'readable', 'error']),
  finish: new Set(['error']),
  error: new Set(['data', 'readable', 'end', 'finish']),
  close: new Set(['data', 'readable', 'end', 'finish', 'error']),
};

class FlowFacts {
  readonly #pipeline: Pipeline;
  readonly #passes: PassesOfParts;
  readonly #passing = new Map<PartId, boolean>();
  readonly #looking = new Map<PartId, boolean>();

  constructor(pipeline: Pipeline, passes: PassesOfParts) {
    this.#pipeline = pipeline;
    this.#passes = passes;
  }

  isAnyBehind(streams: readonly PartStream[]): boolean {
    const callbacks = streams.filter(({ point }) => point !== null && !PROMISE.test(point.callee));
    if (callbacks.length < 2) return false;
    const siblings = new Set(callbacks.flatMap(({ to }) => to));
    const passing = callbacks.filter((each) => this.#some(each, siblings, (part) => this.#passesOn(part)));
    const others = callbacks.filter((each) => !passing.includes(each));
    const looking = others.filter((each) => this.#some(each, siblings, (part) => this.#looks(part)));
    return passing.some((first) => looking.some((other) => this.#mayFollow(first, other)));
  }

  /** A timer is there for what takes too long, which is nothing that has run in one turn. */
  #mayFollow({ point: first }: PartStream, { point: other }: PartStream): boolean {
    if (first === null || other === null || this.#isOfExchange(other.op)) return false;
    if (TIMER.test(other.callee) && !TIMER.test(first.callee)) return false;
    return NEVER_BEHIND[first.label]?.has(other.label) !== true;
  }

  /** The part, or what goes on behind it and is not looked at by itself. */
  #some({ to }: PartStream, siblings: ReadonlySet<PartId>, holds: (part: Part) => boolean): boolean {
    const { list } = this.#pipeline.parts;
    const flow = new Set(to);
    for (const id of flow) {
      const posts = (list[id]?.streams ?? []).filter(({ type }) => type === 'post');
      for (const each of posts.flatMap(({ to: next }) => next)) if (!siblings.has(each)) flow.add(each);
    }
    return [...flow].some((id) => {
      const part = list[id];
      return part !== undefined && holds(part);
    });
  }

  #passesOn(part: Part): boolean {
    return known(this.#passing, part.id, () => this.#passes.of(part).passing.length > 0);
  }

  #looks(part: Part): boolean {
    const { facts, effects } = this.#pipeline;
    const kinds = new Set<number>([Op.load, Op.store, Op.method]);
    return known(this.#looking, part.id, () =>
      part.runs.some(({ fn }) =>
        [...effects.ops.of(fn)].some((op) => kinds.has(facts.kind.get(op)) && this.#isOfExchange(op)),
      ),
    );
  }

  /** What is taken, set or called there is a request's or a response's own. */
  #isOfExchange(op: OpId): boolean {
    const { facts, origins } = this.#pipeline;
    return origins.tokensOf(facts.a.get(op)).some((id) => {
      const token = origins.tokens.get(id);
      return token.kind === 'external' && token.site === everyRequest;
    });
  }
}

function known(facts: Map<PartId, boolean>, id: PartId, find: () => boolean): boolean {
  let fact = facts.get(id);
  if (fact === undefined) facts.set(id, (fact = find()));
  return fact;
}
