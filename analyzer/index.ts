/**
 * Reads:   the modules of a program, and models of the packages that it may use.
 * Gives:   Pipeline: what the program is. Nothing is decided yet.
 */
import { Budget } from './budget.js';
import { type CutInput, cutCoarseParts, cutParts, type Parts } from './cut-parts.js';
import type { Facts, FunctionId, OpId } from './facts.js';
import { findListeners } from './find-listeners.js';
import { findOutsiders, type Outsiders } from './find-outsiders.js';
import { findRupturePoints, type Ruptures } from './find-rupture-points.js';
import type { ModuleGraph } from './load-modules.js';
import type { Models } from './models.js';
import type { LiveInput } from './origins/live-copies.js';
import { SourceText } from './source-text.js';
import { type Effects, summariseEffects } from './summarise-effects.js';
import { type Origins, type Precision, traceOrigins } from './trace-origins.js';

export interface Pipeline {
  readonly graph: ModuleGraph;
  readonly facts: Facts;
  readonly models: Models;
  readonly origins: Origins;
  readonly ruptures: Ruptures;
  readonly effects: Effects;
  readonly outsiders: Outsiders;
  readonly parts: Parts;
  readonly source: SourceText;
  readonly budget: Budget;
  readonly cut: CutInput;
}

/** The same with parts that cost less, in which nothing is proven. */
export function withCoarseParts(pipeline: Pipeline): Pipeline {
  return { ...pipeline, parts: cutCoarseParts(pipeline.cut) };
}

/** Work for what follows loading, each time that it is done. */
const leastWork = 3_000_000;
const workForOp = 80;
const mostForPackages = 1_500_000;

/**
 * Null where the work is too much: the same again with less told apart may get to its end. With 'wrappers' there is always
 * a result, though one in which nothing may be proven.
 * `live`: what the running app said of itself, if it was asked.
 * `needsProof`: null with 'wrappers' too, where nothing may be proven.
 */
export function analyze(
  graph: ModuleGraph,
  models: Models,
  precision: Precision,
  live: LiveInput | null,
  needsProof = false,
): Pipeline | null {
  const { facts } = graph;
  const source = new SourceText(facts);
  const work = leastWork + workForOp * facts.kind.length;
  // Without packages there is a result already; more of one is not worth any time.
  const budget = new Budget(
    facts.hasPackages ? Math.min(work, mostForPackages) : work,
    precision === 'calls' || needsProof,
  );
  const origins = traceOrigins(graph, models, budget, precision, live);
  if (budget.isGivenUp) return null;
  const ruptures = findRupturePoints(facts, origins, models, source);
  const effects = summariseEffects(facts, origins, ruptures, models, budget);
  if (budget.isGivenUp) return null;
  const outsiders = findOutsiders(facts, origins, effects);
  const listeners = findListeners(facts, origins, ruptures);
  const runs = (op: OpId): readonly FunctionId[] => {
    const inPlace = origins.inPlaceOf(op);
    const emitted = listeners.get(op);
    return emitted === undefined ? inPlace : [...inPlace, ...emitted];
  };
  const cut: CutInput = {
    facts,
    inPlaceOf: runs,
    ruptures,
    effects,
    outsiders: outsiders.functions,
    mayRun: origins.mayRun,
    budget,
  };
  const parts = cutParts(cut);
  if (budget.isGivenUp) return null;
  return { graph, facts, models, origins, ruptures, effects, outsiders, parts, source, budget, cut };
}
