/**
 * Whether what the running app said holds for good, in the program as it is if that holds.
 *
 * Reads:   Pipeline of a program that was analysed with it; what was said.
 * Gives:   what of it holds; the same object where all does.
 *
 * As long as it holds, code does nothing but what this analysis has seen. So the first that would change it has been seen as
 * well: what nothing is seen to change holds for ever. The same goes for functions that were taken to run for requests only.
 */
import type { FunctionId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import type { LiveInput } from '../analyzer/origins/live-copies.js';
import type { LiveClass } from '../flx/live-facts.js';
import { FieldChanges } from './find-open-fields.js';
import { findLater, findNotForRequests } from './later.js';

/** To begin with: functions that no other code is seen to run, in the program as it is without. */
export function assumeLate(pipeline: Pipeline): ReadonlySet<FunctionId> {
  const others = findNotForRequests(pipeline, false);
  const own = pipeline.facts.functions.filter(({ id, origin, parent }) => id === origin && parent !== -1);
  return new Set(own.flatMap(({ id }) => (others.has(id) ? [] : [id])));
}

export function verifyLive(pipeline: Pipeline, input: LiveInput): LiveInput {
  const others = findNotForRequests(pipeline, true);
  const late = new Set([...input.late].filter((fn) => !others.has(fn)));
  const fields = new FieldChanges(pipeline, findLater(pipeline));
  const classes = input.facts.classes.flatMap((each): readonly LiveClass[] => {
    const maker = pipeline.origins.liveClassOf(each.at);
    const names = Object.keys(each.fields).filter((name) => maker !== null && !fields.changes(maker, name));
    const held = Object.fromEntries(names.map((name) => [name, each.fields[name] ?? []]));
    return names.length === 0 ? [] : [{ at: each.at, fields: held }];
  });
  const count = (all: readonly LiveClass[]): number =>
    all.reduce((sum, each) => sum + Object.keys(each.fields).length, 0);
  if (late.size === input.late.size && count(classes) === count(input.facts.classes)) return input;
  return { facts: { ...input.facts, classes }, late };
}
