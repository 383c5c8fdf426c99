/**
 * Reads: what start-up gives to packages that make middleware, state.
 * Gives: the packages whose middleware any loop may have of its own: it remembers nothing by itself, and was given nothing that changes.
 *
 *     const allowed = ['https://one.example'];
 *     app.use(cors({ origin: allowed }));
 *     app.post('/origins', (req, res) => { allowed.push(req.body.origin); … });
 *
 * Functions that they call for requests are fluxions, if the model says so: the linker looks at these one by one. Whatever else they were given
 * that can be called may do anything.
 */
import { isCall } from '../analyzer/call-graph.js';
import { type FunctionId, NOTHING, Op, type OpId, type ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import type { TokenId } from '../analyzer/tokens.js';
import type { State } from './cells.js';
import { ConfiguredPackages } from './find-configured.js';
import type { Flows } from './flows.js';

/** Options in options. */
const MOST_DEEP = 8;

export function findRepeatable(
  pipeline: Pipeline,
  state: State,
  flows: Flows,
  isFree: (fn: FunctionId) => boolean,
): readonly string[] {
  const { facts, models, origins } = pipeline;
  const names = new Set(models.repeatable());
  const serving = new Set<FunctionId>();
  for (const part of pipeline.parts.list)
    if (flows.isInRequest(part.id)) for (const { fn } of part.runs) serving.add(fn);
  const code = new GivenCode(pipeline, isFree);
  const isGivenWhatChanges = (op: OpId): boolean => {
    const call = facts.d.get(op);
    const given = Array.from({ length: facts.callCount.get(call) }, (_, index) => facts.argument(call, index));
    return given.some((value) => state.holdChanging(origins.tokensOf(value))) || code.isIn(op, given);
  };
  for (let call = 0; call < facts.callOp.length; call++) {
    const op = facts.callOp.get(call);
    if (!isCall(facts.kind.get(op)) || serving.has(facts.owner.get(op))) continue;
    const makers = packagesOf(pipeline, op).filter((name) => names.has(name));
    if (makers.length > 0 && isGivenWhatChanges(op)) for (const name of makers) names.delete(name);
  }
  for (let id = 0; id < origins.tokens.length; id++) {
    const token = origins.tokens.get(id);
    if (token.kind === 'external' && names.has(token.shape.package) && state.isChanging(id))
      names.delete(token.shape.package);
  }
  const configured = new ConfiguredPackages(pipeline);
  return [...names].filter((name) => !configured.has(name));
}

/** Whose function, or whose object's method, is called. */
function packagesOf({ facts, origins }: Pipeline, op: OpId): readonly string[] {
  const found = new Set<string>();
  const receivers = facts.kind.get(op) === Op.method ? origins.tokensOf(facts.a.get(op)) : [];
  for (const id of [...origins.calleeTokens(op), ...receivers]) {
    let token = origins.tokens.get(id);
    while (token.kind === 'bound') token = origins.tokens.get(token.target);
    if (token.kind === 'external') found.add(token.shape.package);
  }
  return [...found];
}

/** Functions of which no model says when they are called, and what has methods. */
class GivenCode {
  readonly #pipeline: Pipeline;
  readonly #isFree: (fn: FunctionId) => boolean;

  constructor(pipeline: Pipeline, isFree: (fn: FunctionId) => boolean) {
    this.#pipeline = pipeline;
    this.#isFree = isFree;
  }

  isIn(op: OpId, given: readonly ValueId[]): boolean {
    const { facts, ruptures } = this.#pipeline;
    const points = ruptures.byOp.get(op) ?? [];
    const callbacks = new Set(points.flatMap((point) => point.callbacks.map(({ fn }) => fn)));
    if (this.#holds(given, (fn) => !callbacks.has(fn))) return true;
    // What such a function gives is seen by nobody but who calls it.
    if (!points.some((point) => point.callsResult)) return false;
    if (![...callbacks].every(this.#isFree)) return true;
    const results = [...callbacks].map((fn) => facts.fn(fn).result);
    return this.#holds(results, (fn) => !callbacks.has(fn));
  }

  #holds(values: readonly ValueId[], isCode: (fn: FunctionId) => boolean): boolean {
    const { tokens, tokensOf } = this.#pipeline.origins;
    const depths = new Map<TokenId, number>();
    const queue = values.map((value) => ({ value, depth: 0 }));
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      for (const id of tokensOf(next.value)) {
        const fn = tokens.functionOf(id);
        if (fn !== null && isCode(fn)) return true;
        const token = tokens.get(id);
        if (fn !== null || token.kind !== 'object' || depths.has(id)) continue;
        depths.set(id, next.depth);
        if ((token.type === 'Instance' && token.proto !== NOTHING) || next.depth === MOST_DEEP) return true;
        for (const value of tokens.knownProperties(id)?.values() ?? []) queue.push({ value, depth: next.depth + 1 });
      }
    }
    return false;
  }
}
