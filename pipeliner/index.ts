/**
 * Reads:   Pipeline.
 * Gives:   FluxionProgram: every static decision is taken here.
 */
import type { ReadonlyById } from '../analyzer/by-id.js';
import type { Part } from '../analyzer/cut-parts.js';
import type { FunctionId } from '../analyzer/facts.js';
import { type Pipeline, withCoarseParts } from '../analyzer/index.js';
import { placeAt } from '../analyzer/source-text.js';
import { callbackUnresolved } from '../diagnostics/catalogue.js';
import type { LinkFacts, Unresolved } from '../flx/program.js';
import type { Group, State } from './cells.js';
import { chooseCuts } from './choose-cuts.js';
import type { Decision } from './decide-state.js';
import { decideState } from './decide-state.js';
import { asksBehind, asksOfExchange } from './find-asking.js';
import { findBeside } from './find-beside.js';
import { findBrought } from './find-brought.js';
import { findConnects } from './find-connects.js';
import { findHampered } from './find-hampered.js';
import { findHeld } from './find-held.js';
import { findLate } from './find-late.js';
import { findOpen } from './find-open.js';
import { findOrder } from './find-order.js';
import { findRepeatable } from './find-repeatable.js';
import { Flows } from './flows.js';
import { type Folds, foldPackages } from './fold-packages.js';
import { listAppNames } from './list-app-names.js';
import { listCaptures } from './list-captures.js';
import { PassesOfParts } from './list-passes.js';
import { nameFluxions } from './name-fluxions.js';
import { type Placed, placeFluxions } from './place-fluxions.js';
import { collectState } from './state.js';
import { tagGroups } from './tag-groups.js';
import { noCode, writeCode } from './write-code.js';
import { Messages } from './write-messages.js';
import { type Draft, nameOf } from './write-program.js';

export { assumeLate, verifyLive } from './verify-live.js';
export { type Draft, writeProgram } from './write-program.js';

export interface Drafted {
  readonly draft: Draft;
  /** What only running it and explaining it asks for, while the analysis is still there: it takes a tenth of the time. */
  link(): LinkFacts;
  /** Nobody asks for that, or has done so: the draft is all that is left. */
  leave(): void;
}

/**
 * All decisions. `withCode`: fluxions and modules get their code; only what shows source text needs it. Null where the analysis
 * should be done again with less told apart.
 */
export function draftProgram(pipeline: Pipeline, withCode: boolean): Drafted | null {
  const { facts, parts, source } = pipeline;
  const flows = new Flows(facts, parts);
  const state = collectState(pipeline, flows);
  if (pipeline.budget.isGivenUp) return null;
  if (state === null) return draftProgram(withCoarseParts(pipeline), withCode);
  pipeline.tidy();
  const decisions = decideState(state, flows, parts.outsiders.id);
  const tags = tagGroups(facts, state, decisions, parts.list);
  const names = nameFluxions(facts, parts.list);
  const messages = new Messages(facts, parts.list, state, decisions);
  const folds = foldPackages(pipeline);
  const connectsOf = findConnects(pipeline);
  const speaks = (part: Part): boolean => [part, ...folds.within(part)].some((each) => connectsOf(each).length > 0);
  const hampered = findHampered(pipeline, messages, speaks);
  const placed = placeFluxions({ pipeline, flows, state, decisions, messages, names, folds, hampered });
  if (pipeline.budget.isGivenUp) return null;
  pipeline.tidy();
  const draft: Draft = {
    facts,
    source,
    parts: parts.list,
    decisions,
    tags,
    names,
    messages,
    placed,
    code: withCode ? writeCode(facts, parts, names) : noCode,
    folds,
    unresolved: listUnresolved(pipeline),
    cuts: chooseCuts(pipeline, placed, messages, names, folds),
  };
  const link = (): LinkFacts =>
    listLinkFacts(pipeline, names, folds, placed, connectsOf, speaks, flows, decisions, state);
  return { draft, link, leave: () => state.leave() };
}

function listLinkFacts(
  pipeline: Pipeline,
  names: ReadonlyById<string>,
  folds: Folds,
  placed: ReadonlyById<Placed>,
  connectsOf: (part: Part) => readonly string[],
  speaks: (part: Part) => boolean,
  flows: Flows,
  decisions: ReadonlyMap<Group, Decision>,
  state: State,
): LinkFacts {
  const { models, graph, parts, origins } = pipeline;
  const closures = new Map(origins.liveCopies.map((copy) => [copy.fn, copy]));
  const open = findOpen(pipeline, flows, ({ id }) => placed.get(id));
  const fluxions = parts.list.filter(({ id }) => !folds.isFolded(id));
  const passes = new PassesOfParts(pipeline);
  const isFree = (fn: FunctionId): boolean => {
    const part = parts.byFunction.get(fn);
    const behind = new Set(part === undefined ? [] : [part]);
    for (const id of behind)
      for (const { to } of parts.list[id]?.streams ?? []) for (const each of to) behind.add(each);
    return part !== undefined && [...behind].every((id) => placed.get(id)?.placement === 'replicated');
  };
  return {
    connects: fluxions.flatMap((part) => {
      const packages = [...new Set([part, ...folds.within(part)].flatMap(connectsOf))].sort();
      return packages.length === 0 ? [] : [{ fluxion: nameOf({ names }, part.id), packages }];
    }),
    repeatable: findRepeatable(pipeline, state, flows, isFree),
    replaced: pipeline.replaced,
    wrappers: [...new Set(graph.externals.map(({ name }) => name))].filter((name) => models.wraps(name)),
    appNames: listAppNames(pipeline, state),
    passes: listPasses(pipeline, passes, names, folds),
    beside: findBeside(pipeline, passes, folds, ({ id }) => nameOf({ names }, id)),
    once: listOnce(pipeline, decisions),
    order: findOrder(pipeline, flows),
    holds: findHeld(
      pipeline,
      flows,
      state,
      new Set(parts.list.filter(({ id }) => flows.isInRequest(id)).flatMap(connectsOf)),
    ),
    brings: listBrought(pipeline, names, folds, speaks),
    asking: fluxions
      .filter((part) => [part, ...folds.within(part)].some(asksBehind(pipeline)))
      .map(({ id }) => nameOf({ names }, id)),
    straying: fluxions
      .filter((part) => [part, ...folds.within(part)].some(asksOfExchange(pipeline)))
      .map(({ id }) => nameOf({ names }, id)),
    late: findLate(pipeline, folds, ({ id }) => nameOf({ names }, id)),
    captures: [...listCaptures(pipeline)]
      .filter(([part]) => !folds.isFolded(part.id))
      .map(([part, variables]) => ({ fluxion: nameOf({ names }, part.id), variables })),
    open: open.parts
      .filter(({ part }) => !folds.isFolded(part.id))
      .map(({ part, variables }) => ({ fluxion: nameOf({ names }, part.id), variables })),
    openClasses: open.classes.map(({ maker, fields }) => {
      const { name, start } = pipeline.facts.fn(maker);
      return { at: placeAt(pipeline.facts.moduleOf(maker), start), name, fields };
    }),
    closures: fluxions.flatMap((part) => {
      const copy = part.kind === 'start' ? closures.get(part.fn.id) : undefined;
      return copy === undefined ? [] : [{ fluxion: nameOf({ names }, part.id), at: copy.at, index: copy.index }];
    }),
  };
}

function listOnce({ facts }: Pipeline, decisions: ReadonlyMap<Group, Decision>): LinkFacts['once'] {
  return [...decisions.values()].flatMap((decision) => {
    if (decision.kind !== 'constant' || decision.once === null) return [];
    const { module, name } = decision.once;
    return [{ module: facts.modules[module]?.id ?? '', name }];
  });
}

function listBrought(
  pipeline: Pipeline,
  names: ReadonlyById<string>,
  folds: Folds,
  speaks: (part: Part) => boolean,
): LinkFacts['brings'] {
  const broughtBy = findBrought(pipeline, speaks);
  return pipeline.parts.list.flatMap((part) => {
    if (folds.isFolded(part.id)) return [];
    const found = [part, ...folds.within(part)].flatMap((each) => broughtBy(each) ?? []);
    const [worst] = [...found.filter(({ isError }) => isError), ...found];
    return worst === undefined ? [] : [{ fluxion: nameOf({ names }, part.id), ...worst }];
  });
}

function listPasses(
  pipeline: Pipeline,
  passes: PassesOfParts,
  names: ReadonlyById<string>,
  folds: Folds,
): LinkFacts['passes'] {
  return pipeline.parts.list.flatMap((part) => {
    if (part.kind === 'main' || folds.isFolded(part.id)) return [];
    const within = folds.within(part);
    const all = [part, ...within].map((each) => passes.of(each));
    const passing = all.flatMap((each) => each.passing);
    // Of a listener in a package's code nobody else is told that it waits for the end of the response.
    const isUnclear = all.some((each) => each.isUnclear) || (passing.length > 0 && within.some(waitsForEnd));
    return passing.length === 0 && !isUnclear ? [] : [{ fluxion: nameOf({ names }, part.id), passing, isUnclear }];
  });
}

function waitsForEnd({ entry }: Part): boolean {
  return /^(finish|prefinish|close)$/.test(entry?.point?.label ?? '');
}

// ------------------------------------------------------------------------------------------------ unresolved

function listUnresolved(pipeline: Pipeline): Unresolved[] {
  const { facts, graph, ruptures } = pipeline;
  const isOwn = ({ module }: { module: number }): boolean => facts.modules[module]?.owner === null;
  const calls = ruptures.unresolved.filter(isOwn).map((point) => {
    const module = facts.modules[point.module];
    const diagnostic = callbackUnresolved(null, point.reason);
    return {
      callee: point.callee,
      loc: module === undefined ? { module: '', line: 1, column: 1 } : placeAt(module, point.start),
      code: diagnostic.code,
      reason: diagnostic.message,
      lift: diagnostic.lift,
    };
  });
  const loads = graph.unloaded.filter(isOwn).map(({ module, start, diagnostic }) => {
    const fact = facts.modules[module];
    return {
      callee: 'require',
      loc: fact === undefined ? { module: '', line: 1, column: 1 } : placeAt(fact, start),
      code: diagnostic.code,
      reason: diagnostic.message,
      lift: diagnostic.lift,
    };
  });
  return [...calls, ...loads];
}
