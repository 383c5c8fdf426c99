/**
 * Names of properties whose functions run without a call in sight: accessors, conversions, iterators, thenables.
 */
const implicit = /^((get|set) .*|@@.*|toString|valueOf|toJSON|then|toLocaleString|inspect)$/;

export function isCalledByLanguage(property: string): boolean {
  return implicit.test(property);
}

/** What gives an iterator, whose `next` then runs without a call in sight. */
export function isIterator(property: string): boolean {
  return property === '@@iterator' || property === '@@asyncIterator';
}
