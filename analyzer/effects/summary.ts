/**
 * What a function does, as its callers have to know it.
 */
import type { OpId, ValueId } from '../facts.js';
import type { RootId } from '../roots.js';

export interface Summary {
  /** Effects on parameters and `this`, by kind and root, with an op to show for it. */
  readonly effects: Map<number, { readonly op: OpId; readonly value: ValueId }>;
  readonly returnsSelf: Set<RootId>;
  readonly returnsInner: Set<RootId>;
  /** Parameter roots that end up within other roots. */
  readonly keeps: Map<RootId, Set<RootId>>;
}

export function emptySummary(): Summary {
  return { effects: new Map(), returnsSelf: new Set(), returnsInner: new Set(), keeps: new Map() };
}
