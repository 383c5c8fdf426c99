/**
 * Reads: modules that are loaded where start-up may not come by, effects of their top-level code.
 * Gives: what it does that they are loaded there.
 */
import { isCall } from '../analyzer/call-graph.js';
import { type FunctionId, Op, type OpId, type ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { Effect } from '../analyzer/summarise-effects.js';

/** `nothing`: they make objects, the same each time. `its own`: what happens once, as output or a timer, but changes nothing
 *  of other modules. `others`: anything else. */
export type LateLoad = 'nothing' | 'its own' | 'others';

export class LateLoads {
  readonly #pipeline: Pipeline;
  readonly #known = new Map<number, LateLoad>();

  constructor(pipeline: Pipeline) {
    this.#pipeline = pipeline;
  }

  of(op: OpId): LateLoad {
    const load = this.#pipeline.facts.c.get(op);
    let does = this.#known.get(load);
    if (does === undefined) {
      // One that loads itself in a circle is loaded once.
      this.#known.set(load, 'nothing');
      const tops = this.#pipeline.facts.lateLoads[load] ?? null;
      this.#known.set(load, (does = tops === null ? 'others' : this.#does(tops)));
    }
    return does;
  }

  #does(tops: readonly FunctionId[]): LateLoad {
    const { facts, effects } = this.#pipeline;
    const modules = new Set(tops.map((top) => facts.fn(top).module));
    const functions = new Set(tops);
    let worst: LateLoad = 'nothing';
    for (const fn of functions) {
      effects.each(fn, (kind, root, op, _at, value) => {
        worst = worse(worst, this.#effect(kind, root, op, value, modules));
      });
      for (const op of effects.ops.of(fn)) {
        for (const callee of effects.executes(op)) functions.add(callee);
        if (isCall(facts.kind.get(op)) && this.#isSeenOutside(op)) worst = worse(worst, 'its own');
      }
      if (worst === 'others') break;
    }
    return worst;
  }

  #effect(kind: number, root: number, op: OpId, value: ValueId, modules: ReadonlySet<number>): LateLoad {
    const { effects, facts } = this.#pipeline;
    if (kind === Effect.read) return 'nothing';
    if (kind === Effect.load) return this.of(op);
    if (kind === Effect.stateful || kind === Effect.process) return 'its own';
    if (kind !== Effect.write && kind !== Effect.mutate) return 'others';
    if (root < 0) return this.#isOwn(value, modules) ? 'nothing' : 'others';
    const { base, id } = effects.roots.get(root);
    // What a function does to what it is given is told of its callers, and what a constructor makes is new.
    if (base !== 'variable') return 'nothing';
    const variable = facts.variables.get(id);
    if (variable === undefined || variable.owner < 0 || !modules.has(variable.module)) return 'others';
    return kind === Effect.write || this.#isOwn(id, modules) ? 'nothing' : 'others';
  }

  /** It holds only what these modules make. */
  #isOwn(value: ValueId, modules: ReadonlySet<number>): boolean {
    const { facts, origins } = this.#pipeline;
    return origins.tokensOf(value).every((id) => {
      const token = origins.tokens.get(id);
      if (token.kind === 'object' || token.kind === 'function') return modules.has(facts.fn(token.fn).module);
      if (token.kind !== 'external' || token.site < 0) return false;
      return modules.has(facts.fn(facts.owner.get(token.site)).module);
    });
  }

  #isSeenOutside(op: OpId): boolean {
    const { facts, models, origins } = this.#pipeline;
    return origins.calleeTokens(op).some((id) => {
      const token = origins.tokens.get(id);
      if (token.kind !== 'external') return false;
      const call = models.call(token.shape, facts.kind.get(op) === Op.construct);
      return call === null || (call.does ?? []).length > 0 || (call.ruptures ?? []).some(({ kind }) => kind !== 'sync');
    });
  }
}

function worse(a: LateLoad, b: LateLoad): LateLoad {
  if (a === 'others' || b === 'others') return 'others';
  return a === 'its own' || b === 'its own' ? 'its own' : 'nothing';
}
