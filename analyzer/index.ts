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
import { leaveOutPatches } from './leave-out-patches.js';
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
  /** Methods of responses that middleware of single routes puts others in the place of. */
  readonly replaced: readonly string[];
  /** To be called where much has just been let go of. */
  readonly tidy: () => void;
}

/** The same with parts that cost less, in which nothing is proven. */
export function withCoarseParts(pipeline: Pipeline): Pipeline {
  return { ...pipeline, parts: cutCoarseParts(pipeline.cut) };
}

/** Work for what follows loading, each time that it is done. */
const leastWork = 3_000_000;
const workForOp = 80;
const mostForPackages = 1_500_000;

export interface AnalyzeInput {
  readonly graph: ModuleGraph;
  readonly models: Models;
  readonly precision: Precision;
  /** What the running app said of itself, if it was asked. */
  readonly live: LiveInput | null;
  /** Null with 'wrappers' too, where nothing may be proven. */
  readonly needsProof?: boolean;
  /** Collects garbage. */
  readonly tidy: () => void;
}

/**
 * Null where the work is too much: the same again with less told apart may get to its end. With 'wrappers' there is always
 * a result, though one in which nothing may be proven.
 */
export function analyze(input: AnalyzeInput): Pipeline | null {
  const { graph, models, precision, live, needsProof = false, tidy } = input;
  const { facts } = graph;
  const source = new SourceText(facts);
  const work = leastWork + workForOp * facts.kind.length;
  // Without packages there is a result already; more of one is not worth any time.
  const budget = new Budget(
    facts.hasPackages ? Math.min(work, mostForPackages) : work,
    precision === 'calls' || needsProof,
  );
  const traced = traceOrigins(graph, models, budget, precision, live);
  if (budget.isGivenUp) return null;
  // What was needed to find them is as much again.
  tidy();
  const ruptures = findRupturePoints(facts, traced, models, source);
  const { origins, replaced } = leaveOutPatches(facts, traced, ruptures);
  const effects = summariseEffects(facts, origins, ruptures, models, budget);
  if (budget.isGivenUp) return null;
  tidy();
  const outsiders = findOutsiders(facts, origins, effects, models);
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
  tidy();
  return { graph, facts, models, origins, ruptures, effects, outsiders, parts, source, budget, cut, replaced, tidy };
}
