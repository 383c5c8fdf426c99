/**
 * Handlers that stay home for want of knowing what the variables around them hold, and of which the running app can tell.
 *
 * Reads:   Pipeline, placements.
 * Gives:   for each of them the variables to look at; and fields of classes.
 *
 * What the app says when it serves must hold for good. So start-up alone makes such functions, routers alone call them, and
 * nobody binds these variables anew later. Then the closures that are there are all that there will ever be.
 */
import { isCall } from '../analyzer/call-graph.js';
import type { Part } from '../analyzer/cut-parts.js';
import { type FunctionFact, type FunctionId, Op, type ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { outerVariables } from '../analyzer/origins/live-copies.js';
import { UNKNOWN } from '../analyzer/tokens.js';
import { findOpenFields, type OpenClass } from './find-open-fields.js';
import type { Flows } from './flows.js';
import { findLater } from './later.js';
import type { Placed } from './place-fluxions.js';

export interface OpenPart {
  readonly part: Part;
  readonly variables: readonly string[];
}

export interface Open {
  readonly parts: readonly OpenPart[];
  /** What handlers use, not only those that are listed. */
  readonly classes: readonly OpenClass[];
}

const nothing: Open = { parts: [], classes: [] };

export function findOpen(pipeline: Pipeline, flows: Flows, placedOf: (part: Part) => Placed | undefined): Open {
  const { parts, facts, budget } = pipeline;
  if (budget.isExhausted || parts.isCoarse) return nothing;
  const candidates = parts.list.filter(
    (part) =>
      part.kind === 'start' &&
      part.cut === null &&
      flows.isInRequest(part.id) &&
      placedOf(part)?.placement !== 'replicated' &&
      !facts.isOfPackage(part.fn.id),
  );
  if (candidates.length === 0) return nothing;
  const later = findLater(pipeline);
  const classes = findOpenFields(pipeline, later);
  const finder = new Finder(pipeline, later);
  const found = candidates.flatMap((part) => {
    const variables = finder.variablesOf(part);
    return variables === null && classes.length === 0 ? [] : [{ part, variables: variables ?? [] }];
  });
  return found.length === 0 ? nothing : { parts: found, classes };
}

class Finder {
  readonly #pipeline: Pipeline;
  /** Functions, as the source has them, that may run when start-up is over. */
  readonly #later: ReadonlySet<FunctionId>;
  /** Functions that others than routers call. */
  readonly #called = new Set<FunctionId>();
  readonly #writers = new Map<ValueId, FunctionId[]>();
  /** Functions behind a test, which may be made or not. */
  readonly #guarded = new Set<FunctionId>();

  constructor(pipeline: Pipeline, later: ReadonlySet<FunctionId>) {
    this.#pipeline = pipeline;
    this.#later = later;
    for (const seed of pipeline.facts.seeds)
      if (seed.kind === 'function' && seed.guard !== null) this.#guarded.add(seed.fn);
    this.#findCalled();
  }

  #originOf(fn: FunctionId): FunctionId {
    return this.#pipeline.facts.fn(fn).origin;
  }

  #findCalled(): void {
    const { facts, origins, parts } = this.#pipeline;
    const { kind: kinds } = facts;
    for (let op = 0; op < kinds.length; op++) {
      if (kinds.get(op) === Op.write) {
        const known = this.#writers.get(facts.a.get(op));
        if (known === undefined) this.#writers.set(facts.a.get(op), [facts.owner.get(op)]);
        else known.push(facts.owner.get(op));
      }
      for (const fn of origins.calleesOf(op)) this.#called.add(this.#originOf(fn));
      if (!isCall(kinds.get(op))) continue;
      for (const fn of origins.inPlaceOf(op)) this.#called.add(this.#originOf(fn));
    }
    for (const fn of origins.escaped) this.#called.add(this.#originOf(fn));
    for (const part of parts.list) {
      // The rest of an async function is run by whoever runs its beginning.
      const isRequests = part.kind === 'start' && part.entry?.point?.request === true;
      if (part.kind !== 'rest' && !isRequests) this.#called.add(part.fn.origin);
    }
  }

  /** Null where the running app has nothing to say that would hold. */
  variablesOf({ fn }: Part): readonly string[] | null {
    const { facts } = this.#pipeline;
    const original = facts.fn(fn.origin);
    if (this.#called.has(fn.origin) || !this.#isMadeAtStartUp(original)) return null;
    const variables = [...outerVariables(facts, original)].filter((variable) => this.#isConstant(variable, original));
    const names = variables.map((variable) => facts.variables.get(variable)?.name ?? '');
    return variables.some((variable) => this.#isUnclear(variable, original)) ? [...new Set(names)] : null;
  }

  #isMadeAtStartUp(fn: FunctionFact): boolean {
    const { facts } = this.#pipeline;
    if (this.#guarded.has(fn.id)) return false;
    for (let at = facts.functions[fn.parent]; at !== undefined; at = facts.functions[at.parent])
      if (this.#later.has(at.origin)) return false;
    return true;
  }

  /** Whoever binds it does so at start-up: the functions that the variable's own function is made of, copies included. */
  #isConstant(variable: ValueId, fn: FunctionFact): boolean {
    const writers = this.#writers.get(variable) ?? [];
    return writers.every((writer) => {
      const isInside = writer >= fn.id && writer < fn.functionEnd;
      return !isInside && !this.#later.has(this.#originOf(writer));
    });
  }

  /** The name of a property, or what may be one of several objects. */
  #isUnclear(variable: ValueId, fn: FunctionFact): boolean {
    const { facts, origins } = this.#pipeline;
    for (let op = fn.opStart; op < fn.opEnd; op++) if (facts.keys.get(op) === variable) return true;
    const tokens = origins.tokensOf(variable);
    if (tokens.includes(UNKNOWN)) return true;
    return tokens.filter((id) => origins.tokens.get(id).kind === 'object').length > 1;
  }
}
