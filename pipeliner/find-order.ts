/**
 * Reads: parts of requests, and what they ask of packages that have one connection, on which all is done in the order in which it
 *        was asked (`ordered` in a model).
 * Gives: whether something is asked and nobody waits for the answer; and where the same function replies and asks. What comes
 *        behind the reply, the emitter looks up in the source.
 *
 * Whoever has the reply may ask next, and on another loop that goes over another connection: it would overtake what is still on its
 * way on the first.
 */
import { isCall } from '../analyzer/call-graph.js';
import { type FunctionId, Op, type OpId, type ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import type { TokenId } from '../analyzer/tokens.js';
import type { Order, Span } from '../flx/program.js';
import type { Flows } from './flows.js';

const REPLIES =
  /^(end|write|json|jsonp|send|sendStatus|sendFile|sendfile|download|render|redirect|writeHead|flushHeaders|pipe)$/;
const NEXT = 'express.Next';
const CHAINS = /^(then|catch|finally)$/;

export function findOrder(pipeline: Pipeline, flows: Flows): Order {
  const packages = pipeline.models.ordered();
  const nothing: Order = { packages, isLoose: false, asking: [] };
  if (packages.length === 0 || !mentions(pipeline, packages)) return nothing;
  const finder = new OrderFinder(pipeline, new Set(packages));
  const functions = new Set<FunctionId>();
  for (const part of pipeline.parts.list)
    if (flows.isInRequest(part.id)) for (const { fn } of part.runs) functions.add(fn);
  for (const fn of functions) if (finder.isLooseIn(fn)) return { ...nothing, isLoose: true };
  const { facts } = pipeline;
  return {
    ...nothing,
    asking: [...functions].flatMap((fn) => {
      const [replies, asked] = [finder.replies(fn), finder.asked(fn)];
      if (replies.length === 0 || asked.length === 0) return [];
      const module = facts.modules[facts.fn(fn).module]?.id ?? '';
      return [{ module, calls: replies.map(spanOf(pipeline)), noticed: asked.map(spanOf(pipeline)) }];
    }),
  };
}

function mentions({ graph }: Pipeline, packages: readonly string[]): boolean {
  return graph.externals.some(({ name }) => packages.includes(name));
}

function spanOf({ facts }: Pipeline): (op: OpId) => Span {
  return (op) => {
    const call = facts.d.get(op);
    return { start: facts.calleeStart.get(call), end: facts.callEnd.get(call) };
  };
}

class OrderFinder {
  readonly #pipeline: Pipeline;
  readonly #packages: ReadonlySet<string>;
  readonly #asking = new Map<FunctionId, boolean>();
  readonly #replying = new Map<FunctionId, boolean>();

  constructor(pipeline: Pipeline, packages: ReadonlySet<string>) {
    this.#pipeline = pipeline;
    this.#packages = packages;
  }

  asked(fn: FunctionId): readonly OpId[] {
    return this.#calls(fn).filter((op) => this.#asks(op));
  }

  replies(fn: FunctionId): readonly OpId[] {
    return this.#calls(fn).filter((op) => this.#replies(op));
  }

  /** Something is asked there, and the function goes on, or ends, without the answer. */
  isLooseIn(fn: FunctionId): boolean {
    const asked = this.asked(fn);
    if (asked.length === 0) return false;
    const awaited = this.#awaited(fn);
    return asked.some((op) => !awaited.has(this.#pipeline.facts.b.get(op)));
  }

  #calls(fn: FunctionId): readonly OpId[] {
    const { effects, facts } = this.#pipeline;
    return [...effects.ops.of(fn)].filter((op) => isCall(facts.kind.get(op)));
  }

  #asks(op: OpId): boolean {
    return (
      this.#isAsking(op) || this.#runs(op).some((fn) => this.#some(fn, this.#asking, (each) => this.#isAsking(each)))
    );
  }

  #isAsking(op: OpId): boolean {
    return this.#pipeline.origins.calleeTokens(op).some((id) => this.#isQuestion(id));
  }

  #isQuestion(id: TokenId): boolean {
    const { origins, models } = this.#pipeline;
    let token = origins.tokens.get(id);
    while (token.kind === 'bound') token = origins.tokens.get(token.target);
    if (token.kind !== 'external' || !this.#packages.has(token.shape.package)) return false;
    return models.call(token.shape, false)?.does?.includes('network') === true;
  }

  #replies(op: OpId): boolean {
    return (
      this.#isReplying(op) ||
      this.#runs(op).some((fn) => this.#some(fn, this.#replying, (each) => this.#isReplying(each)))
    );
  }

  #isReplying(op: OpId): boolean {
    const { facts, origins, models } = this.#pipeline;
    const isOf = (value: ValueId, test: (typeName: string | null, isReply: boolean) => boolean): boolean =>
      origins.tokensOf(value).some((id) => {
        const token = origins.tokens.get(id);
        if (token.kind !== 'external') return false;
        return test(token.shape.typeName, models.typeThat(token.shape, (type) => type.reply === true) !== null);
      });
    const kind = facts.kind.get(op);
    if (kind === Op.method && REPLIES.test(facts.atomName(facts.c.get(op)))) {
      if (isOf(facts.a.get(op), (_, isReply) => isReply)) return true;
      const call = facts.d.get(op);
      for (let index = 0; index < facts.callCount.get(call); index++)
        if (isOf(facts.argument(call, index), (_, isReply) => isReply)) return true;
    }
    return kind === Op.call && isOf(facts.a.get(op), (typeName) => typeName === NEXT);
  }

  /** Functions that the call runs, now or later. */
  #runs(op: OpId): readonly FunctionId[] {
    const { effects, facts, origins } = this.#pipeline;
    const functions = new Set(effects.executes(op));
    const call = facts.d.get(op);
    for (let index = 0; index < facts.callCount.get(call); index++) {
      for (const id of origins.tokensOf(facts.argument(call, index))) {
        const fn = origins.tokens.functionOf(id);
        if (fn !== null) functions.add(fn);
      }
    }
    return [...functions];
  }

  /** Does it, or what it runs? */
  #some(fn: FunctionId, known: Map<FunctionId, boolean>, test: (op: OpId) => boolean): boolean {
    const seen = new Set([fn]);
    for (const each of seen) {
      let direct = known.get(each);
      if (direct === undefined) known.set(each, (direct = this.#calls(each).some(test)));
      if (direct) return true;
      for (const op of this.#calls(each)) for (const run of this.#runs(op)) seen.add(run);
    }
    return false;
  }

  /** Values that the function awaits or gives back, and what they are made of. */
  #awaited(fn: FunctionId): ReadonlySet<ValueId> {
    const { effects } = this.#pipeline;
    const ops = effects.ops.of(fn);
    const awaited = new Set<ValueId>();
    for (let before = -1; awaited.size !== before; ) {
      before = awaited.size;
      for (let index = ops.length - 1; index >= 0; index--) this.#await(ops[index] as OpId, awaited);
    }
    awaited.delete(0);
    return awaited;
  }

  #await(op: OpId, awaited: Set<ValueId>): void {
    const { facts } = this.#pipeline;
    const [kind, a, b] = [facts.kind.get(op), facts.a.get(op), facts.b.get(op)];
    if (kind === Op.await || kind === Op.return) awaited.add(a);
    else if (kind === Op.copy && awaited.has(b)) awaited.add(a);
    else if (kind === Op.store && awaited.has(a)) awaited.add(b);
    else if (isCall(kind) && awaited.has(b)) {
      if (kind === Op.method && CHAINS.test(facts.atomName(facts.c.get(op)))) awaited.add(a);
      const call = facts.d.get(op);
      for (let index = 0; index < facts.callCount.get(call); index++) awaited.add(facts.argument(call, index));
    }
  }
}
