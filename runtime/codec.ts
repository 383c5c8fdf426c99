/** Any value of the app, on its way to another loop: `encode` here, `decode` there. */
import { Encoder } from './codec/encoder.js';
import { applyFixes } from './codec/fixes.js';
import { type Encoded, NO_REFS, type Refs } from './codec/types.js';

export { Encoder } from './codec/encoder.js';
export { applyFixes, findUnknownClass, isCarried } from './codec/fixes.js';
export { CannotTravel, type Encoded, type Fix, type Making, NO_REFS, type Refs } from './codec/types.js';

export function encode(value: unknown, refs: Refs = NO_REFS, path = 'value'): Encoded {
  const holder: unknown[] = [undefined];
  const encoder = new Encoder(refs);
  encoder.put(holder, 0, value, path);
  return { holder, fixes: encoder.fixes };
}

/** Each of them by itself: what one needs a copy for, the others do not. */
export function encodeAll(values: readonly unknown[], refs: Refs, path: string): Encoded {
  const list: unknown[] = [];
  const encoder = new Encoder(refs);
  for (const [at, value] of values.entries()) {
    list.push(undefined);
    encoder.put(list, at, value, `${path}[${at}]`);
  }
  return { holder: [list], fixes: encoder.fixes };
}

export function decode(encoded: Encoded, refs: Refs = NO_REFS): unknown {
  applyFixes(encoded.fixes, refs);
  return encoded.holder[0];
}
