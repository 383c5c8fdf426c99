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
  const functions = new Set<FunctionId>();
  for (const part of pipeline.parts.list)
    if (flows.isInRequest(part.id)) for (const { fn } of part.runs) functions.add(fn);
  const finder = new OrderFinder(pipeline, new Set(packages), functions);
  for (const fn of functions) if (finder.isLooseIn(fn)) return { ...nothing, isLoose: true };
  const { facts } = pipeline;
  return {
    ...nothing,
    asking: [...functions].flatMap((fn) => {
      const asked = finder.asked(fn);
      const replies = asked.length === 0 ? [] : finder.replies(fn);
      if (replies.length === 0) return [];
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
  /** Whoever runs a function, by that function; of all that those run which were given. */
  readonly #runners: ReadonlyMap<FunctionId, readonly FunctionId[]>;
  readonly #questions = new Map<TokenId, boolean>();
  readonly #asking: ReadonlySet<FunctionId>;
  #replying: ReadonlySet<FunctionId> | null = null;

  constructor(pipeline: Pipeline, packages: ReadonlySet<string>, functions: ReadonlySet<FunctionId>) {
    this.#pipeline = pipeline;
    this.#packages = packages;
    this.#runners = this.#findRunners(functions);
    this.#asking = this.#findThose((op) => this.#isAsking(op));
  }

  #findRunners(functions: ReadonlySet<FunctionId>): ReadonlyMap<FunctionId, readonly FunctionId[]> {
    const runners = new Map<FunctionId, FunctionId[]>();
    for (const fn of functions) runners.set(fn, []);
    for (const fn of runners.keys()) {
      for (const run of new Set(this.#calls(fn).flatMap((op) => this.#runs(op)))) {
        const known = runners.get(run);
        if (known === undefined) runners.set(run, [fn]);
        else known.push(fn);
      }
    }
    return runners;
  }

  /** Functions that do it, or run who does. */
  #findThose(does: (op: OpId) => boolean): ReadonlySet<FunctionId> {
    const found = new Set<FunctionId>();
    for (const fn of this.#runners.keys()) if (this.#calls(fn).some(does)) found.add(fn);
    for (const fn of found) for (const runner of this.#runners.get(fn) ?? []) found.add(runner);
    return found;
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
    return this.#isAsking(op) || this.#runs(op).some((fn) => this.#asking.has(fn));
  }

  #isAsking(op: OpId): boolean {
    return this.#pipeline.origins.calleeTokens(op).some((id) => this.#isQuestion(id));
  }

  #isQuestion(id: TokenId): boolean {
    let is = this.#questions.get(id);
    if (is === undefined) this.#questions.set(id, (is = this.#asksOver(id)));
    return is;
  }

  #asksOver(id: TokenId): boolean {
    const { origins, models } = this.#pipeline;
    let token = origins.tokens.get(id);
    while (token.kind === 'bound') token = origins.tokens.get(token.target);
    if (token.kind !== 'external' || !this.#packages.has(token.shape.package)) return false;
    return models.call(token.shape, false)?.does?.includes('network') === true;
  }

  #replies(op: OpId): boolean {
    const replying = (this.#replying ??= this.#findThose((each) => this.#isReplying(each)));
    return this.#isReplying(op) || this.#runs(op).some((fn) => replying.has(fn));
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
