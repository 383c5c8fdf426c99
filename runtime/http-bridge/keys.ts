/**
 * How messages and paths name properties. Those with a text for a name are called by it. A symbol is another one on each loop, so it goes
 * by what both loops call it: the other side looks for its own.
 */
import { CannotTravel, type Refs } from '../codec.js';

/** Stands before the name of a symbol: no program has such names for properties. */
const OF_SYMBOL = '\u0000';

/** Undefined: the other side would not know which property is meant. */
export function nameOfKey(key: string | symbol, refs: Refs): string | undefined {
  if (typeof key === 'string') return key.charCodeAt(0) <= 2 ? undefined : key;
  const name = refs.symbolName?.(key);
  return name === undefined ? undefined : `${OF_SYMBOL}${name}`;
}

/** Stands before the name of an entry of a Map: `['req', 'context', '\\1user']`. */
const OF_ENTRY = '\u0001';

export function entryNamed(key: string): string {
  return `${OF_ENTRY}${key}`;
}

/** All entries of a Map at once. */
export const ALL_ENTRIES = '\u0002';

/** Null: it names no entry. */
export function entryKey(name: string): string | null {
  return name.startsWith(OF_ENTRY) ? name.slice(OF_ENTRY.length) : null;
}

export function keyNamed(name: string, refs: Refs): string | symbol {
  if (!name.startsWith(OF_SYMBOL)) return name;
  const symbol = refs.symbolOf?.(name.slice(OF_SYMBOL.length));
  if (symbol === undefined) throw new CannotTravel(shown(name), 'the other loop does not have this symbol');
  return symbol;
}

/** As people know it. */
export function shown(name: string): string {
  if (name.startsWith(OF_ENTRY)) return `get(${name.slice(OF_ENTRY.length)})`;
  return name.startsWith(OF_SYMBOL) ? `[${name.slice(OF_SYMBOL.length)}]` : name;
}
