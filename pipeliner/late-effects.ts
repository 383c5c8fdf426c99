/**
 * Start-up code that runs when start-up is long over: behind an `await` at which nothing is cut.
 *
 *     async function poll() { for (;;) { prices = await load(); await sleep(1000); } }
 *     poll();
 *
 * Reads: Pipeline.
 * Gives: the effects of such code, and of what it calls.
 */
import { type FunctionId, NOTHING, Op, type OpId, type ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import type { RootId } from '../analyzer/roots.js';

type Visit = (kind: number, root: RootId, fn: FunctionId, op: OpId, value: ValueId) => void;

export function eachLateEffect(pipeline: Pipeline, visit: Visit): void {
  const { parts, effects } = pipeline;
  const called = new Called(pipeline);
  for (const { fn, segment } of parts.list[0]?.runs ?? []) {
    const late = lateOps(pipeline, fn, segment);
    if (late.size === 0) continue;
    effects.each(fn, (kind, root, op, at, value) => {
      if (late.has(at)) visit(kind, root, fn, op, value);
    });
    for (const op of late) called.addBy(op);
  }
  for (const fn of called.functions) for (const op of effects.ops.of(fn)) called.addBy(op);
  for (const fn of called.functions) {
    effects.each(fn, (kind, root, op, _at, value) => {
      if (!called.changesItsOwn(fn, root)) visit(kind, root, fn, op, value);
    });
  }
}

class Called {
  readonly functions = new Set<FunctionId>();
  readonly #pipeline: Pipeline;
  /** Called otherwise than by `new`. */
  readonly #onOthers = new Set<FunctionId>();

  constructor(pipeline: Pipeline) {
    this.#pipeline = pipeline;
  }

  addBy(op: OpId): void {
    const { facts, effects } = this.#pipeline;
    const isNew = facts.kind.get(op) === Op.construct;
    for (const callee of effects.executes(op)) {
      this.functions.add(callee);
      if (!isNew) this.#onOthers.add(callee);
    }
  }

  /** What a constructor does to what it makes changes nothing that was there before. */
  changesItsOwn(fn: FunctionId, root: RootId): boolean {
    if (root < 0 || this.#onOthers.has(fn)) return false;
    return this.#pipeline.effects.roots.get(root).base === 'this';
  }
}

/** Ops are in the order in which they run, but for loops. */
function lateOps({ facts, effects }: Pipeline, fn: FunctionId, segment: number): ReadonlySet<OpId> {
  const late = new Set<OpId>();
  const ops = [...effects.ops.of(fn)].filter((op) => {
    const at = facts.segmentOf(op);
    return at >>> 16 <= segment && segment <= (at & 0xffff);
  });
  const first = facts.fn(fn).parent === -1 ? ops.findIndex((op) => listens(facts, op)) : 0;
  if (first === -1) return late;
  const awaits = ops.slice(first).filter((op) => facts.kind.get(op) === Op.await);
  const [earliest] = awaits;
  if (earliest === undefined) return late;
  const loops = new Set(awaits.flatMap((op) => loopsAround(facts, facts.loop.get(op))));
  const from = ops.indexOf(earliest);
  for (const [index, op] of ops.entries()) {
    const isBehind = index > from;
    if (isBehind || loopsAround(facts, facts.loop.get(op)).some((loop) => loops.has(loop))) late.add(op);
  }
  return late;
}

/** Modules await what start-up needs; what they await when they listen comes later. */
function listens(facts: Pipeline['facts'], op: OpId): boolean {
  return facts.kind.get(op) === Op.method && facts.atomName(facts.c.get(op)) === 'listen';
}

function loopsAround(facts: Pipeline['facts'], innermost: number): number[] {
  const found: number[] = [];
  for (let loop = innermost; loop !== NOTHING; loop = facts.loopParents.get(loop)) found.push(loop);
  return found;
}
