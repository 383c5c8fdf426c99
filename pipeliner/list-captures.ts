/**
 * Reads: parts, origins of what the variables around them hold.
 * Gives: for fluxions that are one function of the source, made several times (`wrap(show)`, `wrap(list)`), what tells them
 *        apart in the running program: variables around them that hold functions, and which functions these are.
 */
import type { Part } from '../analyzer/cut-parts.js';
import type { FunctionId, ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { placeAt } from '../analyzer/source-text.js';
import type { CapturedFunctions, Place } from '../flx/program.js';

export function listCaptures({ facts, origins, parts }: Pipeline): ReadonlyMap<Part, readonly CapturedFunctions[]> {
  const alike = new Map<FunctionId, Part[]>();
  for (const part of parts.list) {
    if (part.kind !== 'start' && part.kind !== 'post') continue;
    const known = alike.get(part.fn.origin);
    if (known === undefined) alike.set(part.fn.origin, [part]);
    else known.push(part);
  }
  const unclear = [...alike.values()].filter((list) => list.length > 1).flat();
  if (unclear.length === 0) return new Map();

  const owners = new Set<FunctionId>();
  for (const { fn } of unclear)
    for (let at = facts.functions[fn.parent]; at !== undefined && at.parent !== -1; at = facts.functions[at.parent])
      owners.add(at.id);
  const variables = variablesOf(owners, facts.variables.values());
  const around = (part: Part): readonly CapturedFunctions[] => {
    const found: CapturedFunctions[] = [];
    for (
      let at = facts.functions[part.fn.parent];
      at !== undefined && at.parent !== -1;
      at = facts.functions[at.parent]
    ) {
      for (const { name, value } of variables.get(at.id) ?? []) {
        const functions = functionsIn(value);
        if (functions !== null && !found.some((inner) => inner.name === name)) found.push({ name, functions });
      }
    }
    return found;
  };
  const functionsIn = (value: ValueId): readonly Place[] | null => {
    const places: Place[] = [];
    for (const token of origins.tokensOf(value)) {
      const id = origins.tokens.functionOf(token);
      const fn = id === null ? undefined : facts.functions[id];
      const module = fn === undefined ? undefined : facts.modules[fn.module];
      if (fn === undefined || module === undefined) return null;
      places.push(placeAt(module, fn.start));
    }
    return places.length === 0 ? null : places;
  };
  return new Map(unclear.map((part) => [part, around(part)]));
}

interface Variable {
  readonly owner: FunctionId;
  readonly name: string;
  readonly value: ValueId;
}

function variablesOf(
  owners: ReadonlySet<FunctionId>,
  variables: Iterable<Variable>,
): ReadonlyMap<FunctionId, readonly Variable[]> {
  const found = new Map<FunctionId, Variable[]>();
  for (const variable of variables) {
    if (!owners.has(variable.owner)) continue;
    const known = found.get(variable.owner);
    if (known === undefined) found.set(variable.owner, [variable]);
    else known.push(variable);
  }
  return found;
}
