/**
 * Names of properties whose functions run without a call in sight: accessors, conversions, iterators, thenables.
 */
const implicit = /^((get|set) .*|@@.*|toString|valueOf|toJSON|then|toLocaleString|inspect|handleEvent)$/;

export function isCalledByLanguage(property: string): boolean {
  return implicit.test(property);
}

/** Methods that others of the language's own methods, and its constructors, call by way of the object: by type. */
const overridden: ReadonlyMap<string, readonly string[]> = new Map([
  ['join', ['Array']],
  ['toISOString', ['Date']],
  ['exec', ['RegExp', 'StatefulRegExp', 'StickyRegExp']],
  ['set', ['Map', 'WeakMap']],
  ['add', ['Set', 'WeakSet']],
  ['next', ['Iterator']],
  ['then', ['Promise']],
  ['resolve', ['Promise']],
]);

/** The types of which a value runs what the program has put there under this name, where another of its methods is called. */
export function typesThatCall(property: string): readonly string[] {
  return overridden.get(property) ?? [];
}

/** What gives an iterator, whose `next` then runs without a call in sight. */
export function isIterator(property: string): boolean {
  return property === '@@iterator' || property === '@@asyncIterator';
}
