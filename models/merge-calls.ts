/**
 * What a call does that is one of two.
 *
 * Reads:   two calls.
 * Gives:   a call that does whatever either of them does.
 * Reports: nothing.
 */
import type { Call, Rupture, ValueRef } from './types.js';

export function mergeCalls(a: Call, b: Call): Call {
  const ruptures = mergeRuptures(a.ruptures ?? [], b.ruptures ?? []);
  const mutates = union(a.mutates, b.mutates);
  const keeps = union(a.keeps, b.keeps);
  const does = union(a.does, b.does);
  return {
    returns: mergeRefs(a.returns, b.returns),
    ...(ruptures.length > 0 && { ruptures }),
    ...(mutates.length > 0 && { mutates }),
    ...(keeps.length > 0 && { keeps }),
    ...(does.length > 0 && { does }),
    ...(a.promise && b.promise && { promise: true }),
    ...((a.promiseWithoutCallback || b.promiseWithoutCallback) && { promiseWithoutCallback: true }),
    ...((a.stateful || b.stateful) && { stateful: true }),
    ...((a.shared || b.shared) && { shared: a.shared === true || b.shared === true ? true : ('kept' as const) }),
    ...((a.deep || b.deep) && { deep: true }),
    ...((a.failsLive || b.failsLive) && { failsLive: true }),
    // Safe to repeat only if both are.
    ...(a.connects && b.connects && { connects: true }),
  };
}

function union<T>(a: readonly T[] = [], b: readonly T[] = []): readonly T[] {
  return [...new Set([...a, ...b])];
}

const SHORT = /^(this|contents|within|copy|formed|results?|argument|bound|promisified|unknown)\b/;

/** `fresh` and new instances of different types have nothing that could be shared, so they vanish beside the others. */
export function mergeRefs(a: ValueRef = 'unknown', b: ValueRef = 'unknown'): ValueRef {
  if (a === b) return a;
  const all = [...new Set([...a.split(' | '), ...b.split(' | ')])];
  if (all.includes('unknown')) return 'unknown';
  const held = all.filter((ref) => SHORT.test(ref));
  return held.length > 0 ? held.join(' | ') : 'fresh';
}

function mergeRuptures(a: readonly Rupture[], b: readonly Rupture[]): Rupture[] {
  const only = (from: readonly Rupture[], other: readonly Rupture[]): Rupture[] =>
    from.filter((one) => !other.some((two) => sameCallback(one, two)));
  const both = a.flatMap((one) => {
    const two = b.find((other) => sameCallback(one, other));
    return two ? [mergeParams(one, two)] : [];
  });
  return [...both, ...only(a, b), ...only(b, a)];
}

function sameCallback(a: Rupture, b: Rupture): boolean {
  return a.kind === b.kind && a.callback === b.callback && a.from === b.from;
}

/** Parameters that only one of them describes are unknown. */
function mergeParams(a: Rupture, b: Rupture): Rupture {
  const length = Math.min(a.params?.length ?? 0, b.params?.length ?? 0);
  const params = Array.from({ length }, (_, index) => mergeRefs(a.params?.[index], b.params?.[index]));
  return { ...a, params };
}
