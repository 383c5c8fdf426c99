/**
 * Reads:   parts, the streams between them, origins.
 * Gives:   what callbacks put on a request that may have been passed on by then, and who reads that behind a wait of its own.
 *
 *     setTimeout(() => { req.late = true; }, 1000); next();          app.get('/', async (req, res) => { await work(); if (req.late) … });
 *
 * Another loop has the request as it was when it left. Whether it is passed on beside such a call, the emitter looks up in the source.
 */
import { isCall } from '../analyzer/call-graph.js';
import type { Part, PartId } from '../analyzer/cut-parts.js';
import { ANY_PROPERTY, type FunctionId, Op, type OpId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { everyRequest } from '../analyzer/tokens.js';
import { ANY_NAME, type FluxionId, type Late, type LateWrite } from '../flx/program.js';
import type { Folds } from './fold-packages.js';
import { PassesOfParts } from './list-passes.js';

export function findLate(pipeline: Pipeline, folds: Folds, nameOf: (part: Part) => FluxionId): Late {
  const { graph, models, parts } = pipeline;
  const loaded = [...new Set(graph.externals.map(({ name }) => name))];
  const byPackages = loaded.flatMap((name) => models.setsLater(name));
  const writes = [...listWrites(pipeline, folds, nameOf)];
  if (writes.length === 0 && byPackages.length === 0) return { writes, byPackages, reads: [] };
  const reads = parts.list.flatMap((part) => {
    if (part.kind === 'main' || folds.isFolded(part.id)) return [];
    const names = [part, ...folds.within(part)].flatMap((each) => [...readBehindWait(pipeline, each)]);
    return names.length === 0 ? [] : [{ fluxion: nameOf(part), names: [...new Set(names)].sort() }];
  });
  return { writes, byPackages, reads };
}

function* listWrites(pipeline: Pipeline, folds: Folds, nameOf: (part: Part) => FluxionId): Generator<LateWrite> {
  const { facts, parts } = pipeline;
  const written = new Map<PartId, readonly string[]>();
  for (const part of parts.list) {
    const names = part.kind === 'main' ? [] : namesIn(pipeline, part, Op.store, () => true);
    if (names.length > 0) written.set(part.id, names);
  }
  if (written.size === 0) return;
  const passes = new PassesOfParts(pipeline);
  for (const owner of parts.list) {
    if (owner.kind === 'main' || folds.isFolded(owner.id)) continue;
    for (const from of [owner, ...folds.within(owner)]) {
      for (const { point, to } of from.streams) {
        if (point === null) continue;
        const names = flowOf(parts.list, to).flatMap((id) => written.get(id) ?? []);
        if (names.length === 0) continue;
        const { passing, isUnclear } = passes.of(from);
        if (passing.length === 0 && !isUnclear) continue;
        const module = facts.moduleOf(point.owner).id;
        const what = { fluxion: nameOf(owner), names: [...new Set(names)].sort() };
        yield { ...what, module, call: passes.spanOf(point.op), passing: isUnclear ? null : passing };
      }
    }
  }
}

function flowOf(list: readonly Part[], first: readonly PartId[]): readonly PartId[] {
  const flow = new Set(first);
  for (const id of flow) {
    for (const { type, to } of list[id]?.streams ?? []) if (type === 'post') for (const next of to) flow.add(next);
  }
  return [...flow];
}

/** What a part does as soon as it has the request is done with what that was then. */
function readBehindWait(pipeline: Pipeline, part: Part): readonly string[] {
  const { facts, effects } = pipeline;
  const isBehind = part.kind !== 'start' || (part.entry !== null && part.entry.from !== 0);
  return namesIn(
    pipeline,
    part,
    Op.load,
    (fn) => isBehind || effects.ops.of(fn).some((op) => facts.kind.get(op) === Op.await),
  );
}

function namesIn(pipeline: Pipeline, part: Part, kind: number, isMeant: (fn: FunctionId) => boolean): string[] {
  const { facts, effects } = pipeline;
  const names: string[] = [];
  for (const { fn, segment } of part.runs) {
    for (const op of effects.ops.of(fn)) {
      const at = facts.segment.get(op);
      if (segment < at >>> 16 || segment > (at & 0xffff)) continue;
      const name = nameOn(pipeline, op, kind);
      if (name !== null && isMeant(fn)) names.push(name);
    }
  }
  return names;
}

function nameOn({ facts, origins }: Pipeline, op: OpId, kind: number): string | null {
  const isRendering = kind === Op.load && isCall(facts.kind.get(op)) && facts.kind.get(op) === Op.method;
  if (facts.kind.get(op) !== kind && !isRendering) return null;
  const atom = facts.c.get(op);
  if (isRendering && facts.atomName(atom) !== 'render') return null;
  const isRequest = origins.tokensOf(facts.a.get(op)).some((id) => {
    const token = origins.tokens.get(id);
    return token.kind === 'external' && token.site === everyRequest;
  });
  if (!isRequest) return null;
  return isRendering || atom === ANY_PROPERTY ? ANY_NAME : facts.atomName(atom);
}
