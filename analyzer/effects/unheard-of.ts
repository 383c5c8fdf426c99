/**
 * Reads:   an object of the program that code of a package has, and the name of a property.
 * Gives:   whether that code does not know the name: of a class that extends one of the package's, of which all members are listed,
 *          or of a value of such a type, the package calls what is listed, and nothing that the program has put beside it.
 */
import { ANY_PROPERTY, type AtomId, type Facts } from '../facts.js';
import type { Models } from '../models.js';
import type { TokenId } from '../tokens.js';
import type { Origins } from '../trace-origins.js';

export function isUnheardOf(facts: Facts, origins: Origins, models: Models, id: TokenId, atom: AtomId): boolean {
  const name = atom === ANY_PROPERTY ? '' : facts.atomName(atom);
  // Other names than those of a program are the analysis's own, and what a package has for itself is not listed.
  if (!/^[a-z$][\w$]*$/i.test(name) || name === 'prototype' || name === 'constructor') return false;
  const seen = new Set([id]);
  let isAbove = false;
  for (const each of seen) {
    const token = origins.tokens.get(each);
    if (token.kind === 'external') {
      if (!models.isComplete(token.shape) || models.member(token.shape, name) !== null) return false;
      isAbove = true;
    } else if (token.kind !== 'function') return false;
    else for (const above of origins.tokensOf(facts.classes.get(token.fn)?.superclass ?? 0)) seen.add(above);
  }
  return isAbove;
}
