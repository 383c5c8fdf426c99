/**
 * What is found besides tokens: who calls what.
 */
import type { FunctionId, OpId, ValueId } from '../facts.js';
import { IntSets } from '../sets.js';
import type { CallbackUse } from './uses.js';

export class Found {
  readonly callees = new IntSets();
  readonly inPlaceCallees = new IntSets();
  /** Of method calls: the value that holds the method. */
  readonly calleeValue = new Map<OpId, ValueId>();
  /** All that is called, where each receiver has a call of its own. */
  readonly calleesOfAll = new Map<OpId, ValueId>();
  readonly callbacks: CallbackUse[] = [];
  readonly escaped = new Set<FunctionId>();
  readonly called = new Set<FunctionId>();
  readonly receiverOf = new Map<OpId, ValueId>();
}
