/**
 * Reads:   a method call on a receiver of which nothing is known.
 * Gives:   the model of the language's own methods of that name, null where it could be anything else.
 */
import type { Call } from '../models/types.js';
import { type Facts, Op, type OpId, type ValueId } from './facts.js';
import type { Models } from './models.js';
import type { TokenId, TokenTable } from './tokens.js';

export function methodByName(
  facts: Facts,
  models: Models,
  op: OpId,
  tokensOf: (value: ValueId) => readonly TokenId[],
  tokens: TokenTable,
): Call | null {
  if (facts.kind.get(op) !== Op.method) return null;
  const model = models.byMethodName.get(facts.atomName(facts.c.get(op)));
  if (model === undefined) return null;
  const receiver = facts.a.get(op);
  // A global that no model describes has methods of its own (`Atomics.add`).
  if (facts.globals.has(receiver) && tokensOf(receiver).length === 0) return null;
  for (const id of tokensOf(receiver)) {
    const token = tokens.get(id);
    if (token.kind === 'external' && models.isUnknown(token.shape)) {
      // What is put on a request goes to other loops as data, or not at all: it has methods of the language.
      if (!models.isOfOthers(token.shape) || !isPure(model)) return null;
    }
    if (token.kind === 'object' && (token.type === 'Instance' || token.type === 'Prototype')) return null;
  }
  return takesOnlyCallbacksOf(facts, model, op, tokensOf, tokens) ? model : null;
}

/** It looks at its receiver, and that is all. */
export function isPure(call: Call): boolean {
  const { mutates = [], keeps = [], does = [], stateful = false, ruptures = [] } = call;
  const isQuiet = mutates.length === 0 && keeps.length === 0 && does.length === 0 && !stateful;
  return isQuiet && ruptures.every(({ kind }) => kind === 'sync');
}

/** Functions among the arguments are where the model has callbacks: `collection.find({}, fn)` is no `list.find(fn)`. */
function takesOnlyCallbacksOf(
  facts: Facts,
  model: Call,
  op: OpId,
  tokensOf: (value: ValueId) => readonly TokenId[],
  tokens: TokenTable,
): boolean {
  const call = facts.d.get(op);
  const expected = new Set((model.ruptures ?? []).map(({ callback }) => callback));
  for (let index = 0; index < facts.callCount.get(call); index++) {
    const isFunction = tokensOf(facts.argument(call, index)).some((id) => tokens.functionOf(id) !== null);
    if (isFunction && !expected.has(index)) return false;
  }
  return true;
}
