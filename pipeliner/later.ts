/**
 * Reads: parts, outsiders.
 * Gives: functions, as the source has them, that may run when start-up is over; and those that others than requests run.
 */
import type { FunctionId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { Flows } from './flows.js';

export function findLater(pipeline: Pipeline): ReadonlySet<FunctionId> {
  const { facts, parts } = pipeline;
  const found = new Set<FunctionId>();
  for (const fn of facts.functions) {
    if (parts.runners.get(fn.id)?.some((part) => part !== 0)) found.add(fn.origin);
  }
  addOutsiders(pipeline, found);
  // A module that is loaded later runs later.
  for (const tops of facts.lateLoads) for (const fn of tops ?? []) found.add(fn);
  return found;
}

/** Start-up is over, as far as it goes in one piece, before any request comes. */
export function findNotForRequests(pipeline: Pipeline, withOutsiders: boolean): ReadonlySet<FunctionId> {
  const { facts, parts } = pipeline;
  const flows = new Flows(facts, parts);
  const found = new Set<FunctionId>();
  for (const fn of facts.functions) {
    if (parts.runners.get(fn.id)?.some((part) => !flows.isInRequest(part))) found.add(fn.origin);
  }
  if (withOutsiders) addOutsiders(pipeline, found);
  return found;
}

/** Functions that may run without a call in sight, at any time. */
function addOutsiders({ facts, parts }: Pipeline, found: Set<FunctionId>): void {
  for (const { fn } of parts.outsiders.runs) found.add(facts.fn(fn).origin);
}
