/**
 * What is done with values while origins are found: uses are run again for each token that arrives at their value.
 */
import type { Rupture, ValueRef } from '../../models/types.js';
import type { AtomId, FunctionId, Guard, OpId, ValueId } from '../facts.js';
import type { TokenId } from '../tokens.js';

/** A callback that a modelled call takes. */
export interface CallbackUse {
  readonly op: OpId;
  readonly rupture: Rupture;
  readonly value: ValueId;
  readonly argument: number;
  /** The value is what such a callback gives: functions may be anywhere in it. */
  readonly isResult?: boolean;
}

/** What a callback is called with: the values of the parameters that the model lists. */
export interface GivenTo {
  readonly params: readonly ValueRef[];
  readonly values: readonly ValueId[];
  /** The same for other parameters. */
  readonly before: GivenTo | null;
}

/** What is done with a value, run again for each token that it turns out to hold. */
export type Use =
  | {
      readonly kind: 'load';
      readonly atom: AtomId;
      readonly to: ValueId;
      readonly receiver: ValueId;
      readonly op: OpId;
      /** The load iterates: it gives items, and no other properties. */
      readonly items?: boolean | undefined;
      /** Of a Map: what is under its keys, and no key. */
      readonly values?: boolean | undefined;
      /** The property of a class that hides one of the same name in the class that it extends. */
      readonly shadow?: ValueId | undefined;
      /** How many classes it has gone up. */
      readonly up?: number | undefined;
      /** Its number among the uses, once it has one. */
      code?: number | undefined;
    }
  | { readonly kind: 'store'; readonly atom: AtomId; readonly from: ValueId; readonly op: OpId }
  | { readonly kind: 'call'; readonly view: CallView }
  | { readonly kind: 'callback'; readonly use: CallbackUse; readonly call: CallView; given: GivenTo | null }
  | {
      readonly kind: 'inPlace';
      /** It is a class, of which an instance is made. */
      readonly isMade?: boolean;
      readonly params: readonly ValueRef[];
      readonly call: CallView;
      readonly result: ValueId;
    }
  | { readonly kind: 'await'; readonly to: ValueId; readonly op?: OpId }
  | { readonly kind: 'copyProperties'; readonly to: ValueId }
  | { readonly kind: 'bind'; readonly view: CallView; readonly promisified: boolean; readonly stateful: boolean }
  | { readonly kind: 'keep'; readonly from: ValueId; readonly isKey?: boolean; readonly isHandler?: boolean }
  | { readonly kind: 'receive'; readonly receiver: ValueId; readonly isLent?: boolean }
  /** Code from outside has the object, and calls what is in it by it: `stream.write(line)`. */
  | { readonly kind: 'lend'; readonly depth: number; readonly receiver?: ValueId }
  /** Instances of a class below what lends to such values are made elsewhere. */
  | { readonly kind: 'lender'; readonly type: string; readonly prototype: TokenId }
  | { readonly kind: 'inherit'; readonly to: ValueId }
  /** It inherits from what `from` holds, from now on. */
  | { readonly kind: 'derive'; readonly from: ValueId }
  | { readonly kind: 'guard'; readonly guard: Guard; readonly fn: FunctionId; readonly to: ValueId }
  | { readonly kind: 'throw'; readonly op: OpId }
  | { readonly kind: 'pass'; readonly to: ValueId }
  | { readonly kind: 'formedBy'; readonly to: ValueId; readonly seen: Set<TokenId> }
  | { readonly kind: 'arrive'; readonly waiting: Waiting }
  | { readonly kind: 'super'; readonly callee: TokenId; readonly called: FunctionId; readonly view: CallView }
  | { readonly kind: 'start'; readonly isDeep: boolean }
  /** What is there in the running app: the function `of`, an instance of that class, an object with it under a name, or one of no class. */
  | {
      readonly kind: 'live';
      readonly to: ValueId;
      readonly of: FunctionId;
      readonly as: 'function' | 'instance' | 'plain' | AtomId;
    }
  /** `token` goes to `to` if what it has under the name is that function. */
  | { readonly kind: 'liveHolder'; readonly to: ValueId; readonly of: FunctionId; readonly token: TokenId }
  | { readonly kind: 'escape' };

/** One for all: nothing is laid on the same value twice. */
export const startIt: Use = { kind: 'start', isDeep: false };
export const startAll: Use = { kind: 'start', isDeep: true };
/** Objects within options. */
export const lendAll: Use = { kind: 'lend', depth: 2 };
export const lendWithin = [
  { kind: 'lend', depth: 0 },
  { kind: 'lend', depth: 1 },
] as const satisfies readonly Use[];

/** A call as its callee sees it. */
export interface CallView {
  readonly op: OpId;
  readonly to: ValueId;
  readonly receiver: ValueId;
  readonly args: readonly ValueId[];
  /** Index of the first argument that stands for any number of them, or -1. */
  readonly spread: number;
  readonly isNew: boolean;
  readonly promisified: boolean;
  /** The arguments are not those that stand in the source. */
  readonly rearranged?: boolean | undefined;
  readonly awaited?: boolean | undefined;
  /** The op that stands for all that give the same again. */
  readonly site?: OpId | undefined;
  /** The only receiver of the call, where each has a call of its own. */
  readonly only?: TokenId | undefined;
}

/** The same but for `other`. Spelled out: of nearly every object that is made by spreading another one the engine keeps a description apart. */
export function viewWith(view: CallView, other: Partial<CallView>): CallView {
  return {
    op: other.op ?? view.op,
    to: other.to ?? view.to,
    receiver: other.receiver ?? view.receiver,
    args: other.args ?? view.args,
    spread: other.spread ?? view.spread,
    isNew: other.isNew ?? view.isNew,
    promisified: other.promisified ?? view.promisified,
    rearranged: other.rearranged ?? view.rearranged,
    awaited: other.awaited ?? view.awaited,
    site: other.site ?? view.site,
    only: other.only ?? view.only,
  };
}

/** A call of a function that gives a closure, whose arguments hold nothing so far. */
export interface Waiting {
  readonly id: TokenId;
  readonly called: FunctionId;
  readonly view: CallView;
  isDone: boolean;
}

export type Load = Extract<Use, { kind: 'load' }>;

/** The same but for these; spelled out as in `viewWith`. */
export function loadWith(load: Load, to: ValueId, shadow: ValueId | undefined, up: number | undefined): Load {
  const { atom, receiver, op, items, values } = load;
  return { kind: 'load', atom, to, receiver, op, items, values, shadow, up, code: undefined };
}
