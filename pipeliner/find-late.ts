/**
 * Reads:   parts, the streams between them, origins.
 * Gives:   what callbacks put on a request that may have been passed on by then, and who reads that behind a wait of its own.
 *
 *     setTimeout(() => { req.late = true; }, 1000); next();          app.get('/', async (req, res) => { await work(); if (req.late) … });
 *
 * Another loop has the request as it was when it left. Whether it is passed on beside such a call, the emitter looks up in the source.
 */
import { isCall } from '../analyzer/call-graph.js';
import type { Part, PartId, Run } from '../analyzer/cut-parts.js';
import { ANY_PROPERTY, FunctionFlag, type FunctionId, Op, type OpId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { contextName } from '../analyzer/origins/properties.js';
import { Effect } from '../analyzer/summarise-effects.js';
import { everyRequest, type TokenId } from '../analyzer/tokens.js';
import { ANY_NAME, type FluxionId, type Late, type LateWrite } from '../flx/program.js';
import { asksForContext } from './find-asking.js';
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
  const { parts } = pipeline;
  const onRequests = findOnRequests(pipeline);
  const namesOf = (part: Part): readonly string[] => [
    ...namesIn(pipeline, part, Op.store, () => true),
    ...changedIn(pipeline, part, onRequests),
  ];
  const written = new Map<PartId, readonly string[]>();
  for (const part of parts.list) {
    const names = part.kind === 'main' ? [] : namesOf(part);
    if (names.length > 0) written.set(part.id, names);
  }
  if (written.size === 0) return;
  const passes = new PassesOfParts(pipeline);
  for (const owner of parts.list) {
    if (owner.kind === 'main' || folds.isFolded(owner.id)) continue;
    for (const from of [owner, ...folds.within(owner)]) {
      const passed = passes.of(from);
      if (passed.passing.length === 0 && !passed.isUnclear) continue;
      const passing = passed.isUnclear ? null : passed.passing;
      const goingOn = from.streams.map(({ point, owner: fn, to }) => ({
        names: flowOf(parts.list, to).flatMap((id) => written.get(id) ?? []),
        // Behind an `await` comes what the function itself does there: it is those who call it that may not wait.
        calls: passes.waysTo(fn, point === null ? [] : [point.op], from),
      }));
      const uncut = [...asyncIn(pipeline, from)].map(({ fn, runs }) => ({
        names: namesOf({ ...from, runs }),
        calls: passes.waysTo(fn, [], from),
      }));
      for (const { names, calls } of [...goingOn, ...uncut])
        if (names.length > 0) yield { fluxion: nameOf(owner), names: [...new Set(names)].sort(), calls, passing };
    }
  }
}

/** Async functions that the part calls, with what they run: where an `await` in them is not cut, all of that is the part's. */
function* asyncIn(
  { facts, effects }: Pipeline,
  part: Part,
): Generator<{ readonly fn: FunctionId; readonly runs: readonly Run[] }> {
  const run = new Map(part.runs.map((each) => [each.fn, each]));
  for (const { fn, segment } of part.runs) {
    if (fn === part.fn.id || (facts.fn(fn).flags & FunctionFlag.async) === 0) continue;
    const waits = effects.ops
      .of(fn)
      .some((op) => facts.kind.get(op) === Op.await && isIn(facts.segmentOf(op), segment));
    if (!waits) continue;
    const runs = new Set<Run>();
    const functions = new Set([fn]);
    for (const each of functions) {
      const own = run.get(each);
      if (own !== undefined) runs.add(own);
      for (const op of effects.ops.of(each)) for (const callee of effects.executes(op)) functions.add(callee);
    }
    yield { fn, runs: [...runs] };
  }
}

/** An op's segments: the last, and (high half) the first. */
function isIn(segments: number, segment: number): boolean {
  return segment >= segments >>> 16 && segment <= (segments & 0xffff);
}

export function flowOf(list: readonly Part[], first: readonly PartId[]): readonly PartId[] {
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
      if (!isIn(facts.segmentOf(op), segment)) continue;
      const name = nameOn(pipeline, op, kind);
      if (name !== null && isMeant(fn)) names.push(name);
      if (kind === Op.load && isMeant(fn)) names.push(...contextsAskedFor(pipeline, op));
    }
  }
  return names;
}

/** Objects of the program that hang on requests, however deep, and by what names. */
export function findOnRequests({
  origins: { tokens, tokensOf },
  facts,
}: Pipeline): ReadonlyMap<TokenId, ReadonlySet<string>> {
  const found = new Map<TokenId, Set<string>>();
  for (let id = 1; id < tokens.length; id++) {
    const token = tokens.get(id);
    if (token.kind !== 'external' || token.site !== everyRequest) continue;
    for (const [atom, value] of tokens.knownProperties(id) ?? []) {
      const name = atom === ANY_PROPERTY ? ANY_NAME : facts.atomName(atom);
      const within = new Set(tokensOf(value));
      for (const each of within) {
        if (tokens.get(each).kind !== 'object') continue;
        found.set(each, (found.get(each) ?? new Set()).add(name));
        for (const below of tokens.knownProperties(each)?.values() ?? [])
          for (const next of tokensOf(below)) within.add(next);
      }
    }
  }
  return found;
}

/** By which names that hangs on requests which the part changes: `req.box.late = true`. */
export function changedIn(
  pipeline: Pipeline,
  part: Part,
  onRequests: ReadonlyMap<TokenId, ReadonlySet<string>>,
): string[] {
  const names = new Set<string>();
  if (onRequests.size === 0) return [];
  pipeline.parts.eachEffect(part, (kind, _root, _fn, _op, _at, value) => {
    if (kind !== Effect.mutate && kind !== Effect.write) return;
    for (const id of pipeline.origins.tokensOf(value)) for (const name of onRequests.get(id) ?? []) names.add(name);
  });
  return [...names];
}

/** `storage.getStore()` reads what hangs on the request. */
function contextsAskedFor({ facts, origins, models }: Pipeline, op: OpId): readonly string[] {
  if (!isCall(facts.kind.get(op)) || !asksForContext({ facts, origins, models }, op)) return [];
  const receiver = origins.receiverOf.get(op) ?? facts.a.get(op);
  return origins.tokensOf(receiver).flatMap((id) => {
    const token = origins.tokens.get(id);
    return token.kind === 'external' ? [contextName(token.site)] : [ANY_NAME];
  });
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
