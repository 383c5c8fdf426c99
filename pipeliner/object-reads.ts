/**
 * Reads:   Pipeline, and which objects change while the app runs.
 * Gives:   for what a part runs, the ops that read such an object.
 */

import { isCall } from '../analyzer/call-graph.js';
import type { Run } from '../analyzer/cut-parts.js';
import { type FunctionId, Op, type OpId, type ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import type { TokenId } from '../analyzer/tokens.js';

export interface ObjectRead {
  readonly op: OpId;
  readonly token: TokenId;
}

export class ObjectReads {
  readonly #pipeline: Pipeline;
  readonly #changes: (id: TokenId) => boolean;
  readonly #reach: (tokens: readonly TokenId[]) => readonly TokenId[];
  readonly #held = new Map<ValueId, readonly TokenId[]>();
  readonly #byFunction = new Map<FunctionId, readonly ObjectRead[]>();

  /** `reach` gives what can be reached from objects, themselves included. */
  constructor(
    pipeline: Pipeline,
    changes: (id: TokenId) => boolean,
    reach: (tokens: readonly TokenId[]) => readonly TokenId[],
  ) {
    this.#pipeline = pipeline;
    this.#reach = reach;
    this.#changes = changes;
  }

  of(run: Run): readonly ObjectRead[] {
    let reads = this.#byFunction.get(run.fn);
    if (reads === undefined) this.#byFunction.set(run.fn, (reads = this.#find(run.fn)));
    const { segment } = this.#pipeline.facts;
    return reads.filter(({ op }) => segment.get(op) >>> 16 <= run.segment && run.segment <= (segment.get(op) & 0xffff));
  }

  #find(fn: FunctionId): ObjectRead[] {
    const { effects } = this.#pipeline;
    const found: ObjectRead[] = [];
    const isEntry = effects.isEntry(fn);
    for (const op of effects.ops.of(fn)) {
      for (const value of this.#operands(op)) {
        // For what a function is given its callers answer.
        if (value === 0 || (!isEntry && effects.isGiven(value, fn))) continue;
        for (const token of this.#changing(value)) found.push({ op, token });
      }
    }
    return found;
  }

  /** Values whose contents the op looks at, or hands on. */
  #operands(op: OpId): ValueId[] {
    const { facts } = this.#pipeline;
    const kind = facts.kind.get(op);
    // Who gets hold of such an object, or puts it into another, is taken to read it.
    if (kind === Op.load) return [facts.a.get(op), facts.b.get(op)];
    if (kind === Op.store) return [facts.b.get(op)];
    if (kind === Op.copyProperties) return [facts.a.get(op)];
    if (!isCall(kind)) return [];
    const call = facts.d.get(op);
    const values = kind === Op.method ? [facts.a.get(op)] : [];
    for (let index = 0; index < facts.callCount.get(call); index++) values.push(facts.argument(call, index));
    return values;
  }

  #changing(value: ValueId): readonly TokenId[] {
    let held = this.#held.get(value);
    if (held === undefined) {
      const tokens = this.#pipeline.origins.tokensOf(value);
      // Who holds an object holds what is in it; a variable at the top of a module answers for that itself.
      held = (this.#isOfModule(value) ? tokens : this.#reach(tokens)).filter(this.#changes);
      this.#held.set(value, held);
    }
    return held;
  }

  #isOfModule(value: ValueId): boolean {
    const owner = this.#pipeline.facts.variables.get(value)?.owner ?? -1;
    return owner >= 0 && this.#pipeline.facts.fn(owner).parent === -1;
  }
}
