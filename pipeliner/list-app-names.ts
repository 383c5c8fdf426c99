/**
 * Reads: origins, state.
 * Gives: names of properties that the program puts on its apps, or looks for there, and that are none of Express's own; `*` where it
 *        looks by names that it puts together. Who goes by these may run where they hold the same as at home, which nobody can
 *        tell of what changes.
 */

import { NOTHING, type ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import type { TokenId } from '../analyzer/tokens.js';
import { ANY_NAME, type AppName } from '../flx/program.js';
import type { State } from './cells.js';

export function listAppNames(pipeline: Pipeline, state: State): readonly AppName[] {
  const { origins } = pipeline;
  const found = new Map<string, Set<TokenId>>();
  for (const id of appsIn(pipeline)) {
    if (origins.tokens.all(id) !== NOTHING) found.set(ANY_NAME, new Set());
    for (const [name, value] of namedProperties(pipeline, id)) {
      if (!isOwn(pipeline, id, name)) continue;
      const held = found.get(name) ?? new Set();
      for (const token of origins.tokensOf(value)) held.add(token);
      found.set(name, held);
    }
  }
  return [...found]
    .map(([name, held]) => ({ name, ...describe(pipeline, state, [...held]) }))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
}

function* appsIn({ models, origins: { tokens } }: Pipeline): Iterable<TokenId> {
  for (let id = 0; id < tokens.length; id++) {
    const token = tokens.get(id);
    if (token.kind !== 'external' || !models.holdsStored(token.shape)) continue;
    if (models.oneOf(token.shape) === token.shape.typeName) yield id;
  }
}

/** Express has nothing of that name. */
function isOwn({ models, origins }: Pipeline, id: TokenId, name: string): boolean {
  const token = origins.tokens.get(id);
  const member = token.kind === 'external' ? models.member(token.shape, name) : null;
  return member !== null && models.isUnknown(member);
}

function describe(pipeline: Pipeline, state: State, held: readonly TokenId[]): Omit<AppName, 'name'> {
  if (!state.holdChanging(held)) return { changes: false, fields: [] };
  const { tokens } = pipeline.origins;
  const isPlain = held.every((id) => {
    const token = tokens.get(id);
    return token.kind === 'object' && token.type === 'Object' && token.proto === NOTHING && tokens.all(id) === NOTHING;
  });
  if (!isPlain || held.some((id) => state.isChanging(id))) return { changes: true, fields: [] };
  const fields = new Map<string, boolean>();
  for (const [name, value] of held.flatMap((id) => [...namedProperties(pipeline, id)]))
    fields.set(name, fields.get(name) === true || state.holdChanging(pipeline.origins.tokensOf(value)));
  return { changes: true, fields: [...fields].map(([name, changes]) => ({ name, changes })) };
}

function* namedProperties({ facts, origins }: Pipeline, id: TokenId): Iterable<readonly [string, ValueId]> {
  const properties = origins.tokens.knownProperties(id);
  for (const atom of properties?.keys() ?? []) {
    const name = facts.atomName(atom);
    const value = properties?.get(atom);
    if (value !== undefined && NAME.test(name)) yield [name, value];
  }
}

const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
