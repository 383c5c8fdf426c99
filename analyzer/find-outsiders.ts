/**
 * Reads:   facts, origins, effects.
 * Gives:   functions that may run although no call of them is in sight: handed to code that nobody knows, never called by
 *          anyone, or called by the language itself (setters, `toString`, `toJSON`, `then`, iterators).
 */
import { ANY_PROPERTY, type Facts, FunctionFlag, type FunctionId, Op } from './facts.js';
import type { Effects } from './summarise-effects.js';
import type { Origins } from './trace-origins.js';

const calledByLanguage = /^((get|set) .*|toString|valueOf|toJSON|then|toLocaleString|inspect)$/;

export function findOutsiders(facts: Facts, origins: Origins, effects: Effects): ReadonlySet<FunctionId> {
  const found = new Set<FunctionId>(origins.escaped);
  for (const fn of facts.functions) {
    const isTop = fn.parent === -1;
    const isOriginalOfCopies = (fn.flags & (FunctionFlag.wrapper | FunctionFlag.classConstructor)) !== 0;
    if (!isTop && !isOriginalOfCopies && effects.isEntry(fn.id)) found.add(fn.id);
  }
  for (let op = 0; op < facts.kind.length; op++) {
    if (facts.kind.get(op) !== Op.store || facts.d.get(op) !== 1) continue;
    const atom = facts.c.get(op);
    if (atom !== ANY_PROPERTY && !calledByLanguage.test(facts.atomName(atom))) continue;
    for (const id of origins.tokensOf(facts.b.get(op))) {
      const fn = origins.tokens.functionOf(id);
      if (fn !== null && isWritten(facts, fn, facts.position.get(op))) found.add(fn);
    }
  }
  return found;
}

/** The function stands at the property itself: a list of handlers is stored under no name either. */
function isWritten(facts: Facts, fn: FunctionId, position: number): boolean {
  const { start, flags } = facts.fn(fn);
  return (flags & FunctionFlag.method) !== 0 || Math.abs(start - position) < 40;
}
