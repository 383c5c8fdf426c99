/**
 * Reads:   Pipeline of a program of which no package was read.
 * Gives:   the packages without a model on which it depends what handlers do: those that handlers use, and those that
 *          start-up code hands on, or hands functions, apps or routers. What else start-up does with packages is done before any request.
 */
import { isCall } from './call-graph.js';
import { type FunctionId, Op, type OpId, type ValueId } from './facts.js';
import type { Pipeline } from './index.js';
import type { TokenId } from './tokens.js';

export function findWantedPackages({ facts, origins, models, parts, effects }: Pipeline): ReadonlySet<string> {
  const wanted = new Set<string>();
  const packageOf = (id: TokenId): string | null => {
    const token = origins.tokens.get(id);
    if (token.kind === 'bound') return packageOf(token.target);
    const name = token.kind === 'external' && models.isUnknown(token.shape) ? token.shape.package : '';
    return name === '' || models.isModelled(name) ? null : name;
  };
  const note = (ids: readonly TokenId[]): void => {
    for (const id of ids) {
      const name = packageOf(id);
      if (name !== null) wanted.add(name);
    }
  };
  const isHandedOn = (value: ValueId): boolean =>
    origins.tokensOf(value).some((id) => {
      const token = origins.tokens.get(id);
      return token.kind === 'external' ? token.shape.typeName !== null : origins.tokens.functionOf(id) !== null;
    });
  const argumentsOf = (op: OpId): readonly ValueId[] => {
    const call = facts.d.get(op);
    return Array.from({ length: facts.callCount.get(call) }, (_, index) => facts.argument(call, index));
  };
  const runsLater = (fn: FunctionId): boolean => parts.runners.get(fn)?.some((part) => part !== 0) === true;
  for (const fn of facts.functions) {
    const isLater = runsLater(fn.id);
    for (const op of effects.ops.of(fn.id)) {
      const kind = facts.kind.get(op);
      if (isLater && kind !== Op.write) note(origins.tokensOf(facts.a.get(op)));
      if (!isCall(kind)) continue;
      if (isLater || argumentsOf(op).some(isHandedOn)) note(origins.calleeTokens(op));
      // `Object.assign(exports, require('helpers'))`
      for (const value of argumentsOf(op)) note(origins.tokensOf(value));
    }
  }
  for (const { value } of origins.callbacks) note(origins.tokensOf(value));
  return wanted;
}
