/**
 * Reads: facts, origins.
 * Gives: which of some objects are what modules export, and are only looked into by name: nobody is handed them as a whole.
 *
 *     module.exports = { toJSON, paginate };        const { toJSON } = require('./plugins');
 *
 * A function that such an object has under the name `toJSON` is not called by who writes JSON.
 */
import { type Facts, FunctionFlag, Op, type OpId, type ValueId } from './facts.js';
import type { TokenId } from './tokens.js';
import type { Origins } from './trace-origins.js';

export function findNamespaces(facts: Facts, origins: Origins, objects: ReadonlySet<TokenId>): ReadonlySet<TokenId> {
  const exported = new Set(facts.modules.flatMap(({ module }) => exportsOf(facts, origins, module)));
  const left = new Set([...objects].filter((id) => exported.has(id)));
  const handOn = (value: ValueId): void => {
    for (const id of left.size === 0 ? [] : origins.tokensOf(value)) left.delete(id);
  };
  const [entry] = facts.modules;
  if (entry !== undefined) for (const id of exportsOf(facts, origins, entry.module)) left.delete(id);
  const modules = new Set(facts.modules.flatMap(({ module }) => origins.tokensOf(module)));
  const isModule = (value: ValueId): boolean => origins.tokensOf(value).every((id) => modules.has(id));
  const { kind, a, b } = facts;
  for (let op = 0; op < kind.length && left.size > 0; op++) {
    switch (kind.get(op)) {
      case Op.store:
        if (!isModule(a.get(op))) handOn(b.get(op));
        break;
      case Op.call:
      case Op.method:
      case Op.construct:
        for (const value of argumentsOf(facts, op)) handOn(value);
        if (kind.get(op) !== Op.method || mayUseThis(facts, origins, op)) handOn(a.get(op));
        break;
      case Op.return:
      case Op.await:
      case Op.copyProperties:
        handOn(a.get(op));
        break;
      case Op.opaque:
        return new Set();
    }
  }
  return left;
}

/** What `module.exports` holds. */
function exportsOf(facts: Facts, origins: Origins, module: ValueId): readonly TokenId[] {
  const name = facts.atom('exports');
  return origins.tokensOf(module).flatMap((id) => {
    const value = origins.tokens.knownProperties(id)?.get(name);
    return value === undefined ? [] : origins.tokensOf(value);
  });
}

function argumentsOf(facts: Facts, op: OpId): readonly ValueId[] {
  const call = facts.d.get(op);
  return Array.from({ length: facts.callCount.get(call) }, (_, index) => facts.argument(call, index));
}

function mayUseThis(facts: Facts, origins: Origins, op: OpId): boolean {
  const callees = origins.calleeTokens(op);
  return (
    callees.length === 0 ||
    callees.some((id) => {
      const fn = origins.tokens.functionOf(id);
      return fn === null || (facts.fn(fn).flags & FunctionFlag.usesThis) !== 0;
    })
  );
}
