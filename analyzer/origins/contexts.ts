/**
 * Contexts: which copy of a function a call runs.
 *
 * Reads:   facts; the call and the receiver.
 * Gives:   the function itself, or a copy of it, whose values and ops are seeded as they are made.
 *
 * Told apart are: calls of wrappers and factories, and those that give functions, `new` by place, methods by instance, and calls whose arguments
 * are not in place. `clone-function.ts` says which functions are what, and copies them.
 */
import { cloneFunction, cloneSize, isToldApart, markWrappers, mayChangeGiven } from '../clone-function.js';
import { type Facts, type FunctionFact, FunctionFlag, type FunctionId, type OpId } from '../facts.js';
import { IntKeys } from '../int-keys.js';
import { IntList } from '../int-list.js';
import { type TokenId, type TokenTable, UNKNOWN } from '../tokens.js';
import type { Precision } from '../trace-origins.js';
import type { Seeds } from './seeds.js';
import type { TokenFlow } from './token-flow.js';
import type { CallView } from './uses.js';

const NO = 1;
const YES = 2;

/** Of copies in copies. */
const deepest = 3;
/** Stands for all calls of a function that have their arguments in place. */
const direct = -1;

export class Contexts {
  readonly #flow: TokenFlow;
  readonly #seeds: Seeds;
  readonly #facts: Facts;
  readonly #tokens: TokenTable;
  /** Functions of which there may be copies, and by these the call, or receiver, that has the function itself. */
  readonly #originals = new IntKeys(true);
  readonly #firstKeys: number[] = [];
  /** Copies by original and call, or receiver: what is shared by few calls. */
  readonly #cloned = new Map<FunctionId, Map<number, FunctionFact>>();
  readonly #depths = new Map<FunctionId, number>();
  /** By function, plus one. */
  readonly #mayChange = new IntList(1024);
  readonly #precision: Precision;
  #cloneBudget: number;

  constructor(flow: TokenFlow, seeds: Seeds, precision: Precision) {
    this.#precision = precision;
    this.#flow = flow;
    this.#seeds = seeds;
    this.#facts = flow.facts;
    this.#tokens = flow.tokens;
    this.#cloneBudget = Math.max(20_000, flow.facts.valueCount);
    markWrappers(flow.facts);
  }

  /** The function itself for its first call (or first receiver), a copy for each further one, if these are told apart. */
  forCall(fn: FunctionFact, view: CallView): FunctionFact {
    const { op } = view;
    if (op < 0) return fn;
    const caller = this.#facts.fn(this.#facts.owner.get(op));
    // What calls itself goes on in the same copy: each level would bring as many objects again.
    if ((fn.flags & FunctionFlag.wrapper) !== 0)
      return this.#around(caller, fn) ?? this.#copyFor(fn, op, this.#depth(caller));
    if (!this.areAllCallsTold) return fn;
    if (makesInstance(fn, view)) return this.#copyFor(fn, op, this.#depth(caller));
    if ((fn.flags & FunctionFlag.factory) !== 0 || (isHolder(fn) && this.isGivenAny(view)))
      return this.#around(caller, fn) ?? this.#copyFor(fn, op, this.#depth(caller));
    if (this.#isGivenFunction(view))
      return this.#around(caller, fn) ?? this.#copyFor(fn, callBy(op, view.only), this.#depth(caller));
    if (view.spread >= 0 || view.rearranged === true) return this.forRearranged(fn, op);
    if (view.only === undefined) return this.forRearranged(fn, direct);
    if (view.only === UNKNOWN || !isToldApart(this.#facts, fn)) return fn;
    const token = this.#tokens.get(view.only);
    return this.#copyFor(fn, ~view.only, token.kind === 'object' ? this.#depth(this.#facts.fn(token.fn)) : 0);
  }

  /** Calls of factories, constructors and methods are told apart, not of wrappers only. */
  get areAllCallsTold(): boolean {
    return this.#precision === 'calls';
  }

  isGivenAny({ args }: CallView): boolean {
    return args.some((arg) => this.#flow.held.size(arg) > 0);
  }

  #isGivenFunction({ args }: CallView): boolean {
    for (const arg of args)
      for (let index = 0; index < this.#flow.held.size(arg); index++)
        if (this.#tokens.functionOf(this.#flow.held.at(arg, index)) !== null) return true;
    return false;
  }

  /** Where arguments are not where the call has them, it is what the parameters hold that counts: each such call has a copy,
   *  and all direct calls have one. */
  forRearranged(fn: FunctionFact, key: OpId | typeof direct): FunctionFact {
    if (fn.params.length === 0 || key < direct || !this.areAllCallsTold) return fn;
    this.#mayChange.extend(fn.id + 1);
    if (this.#mayChange.get(fn.id) === 0) this.#mayChange.set(fn.id, mayChangeGiven(this.#facts, fn) ? YES : NO);
    if (this.#mayChange.get(fn.id) === NO) return fn;
    return this.#copyFor(fn, key, key === direct ? 0 : this.#depth(this.#facts.fn(this.#facts.owner.get(key))));
  }

  /** Copies within copies: what instances make for themselves is told apart no further than this. */
  #depth(fn: FunctionFact): number {
    let depth = 0;
    for (let at: FunctionFact | undefined = fn; at !== undefined; at = this.#facts.functions[at.parent])
      depth = Math.max(depth, this.#depths.get(at.id) ?? 0);
    return depth;
  }

  /** `key` is the call or, inverted, the receiver. */
  #copyFor(fn: FunctionFact, key: number, depth: number): FunctionFact {
    const place = this.#originals.add(fn.id);
    if (place === this.#firstKeys.length) this.#firstKeys.push(key);
    if (this.#firstKeys[place] === key) return fn;
    let copy = this.#cloned.get(fn.id)?.get(key);
    if (copy !== undefined) return copy;
    if (depth >= deepest || this.#cloneBudget < cloneSize(fn)) return fn;
    this.#cloneBudget -= cloneSize(fn);
    const clone = cloneFunction(this.#facts, fn);
    copy = clone.root;
    const known = this.#cloned.get(fn.id);
    if (known === undefined) this.#cloned.set(fn.id, new Map([[key, copy]]));
    else known.set(key, copy);
    this.#depths.set(copy.id, depth + 1);
    for (let next = clone.firstFunction; next < this.#facts.functions.length; next++)
      this.#seeds.seedFunction(this.#facts.fn(next));
    for (const seed of clone.seeds) this.#seeds.seedOne(seed);
    // In what is written: `fn` may be a copy itself.
    const written = this.#facts.fn(fn.origin);
    for (const value of this.#seeds.loaded)
      if (value >= written.valueStart && value < written.valueEnd)
        this.#flow.edge(value, value - written.valueStart + copy.valueStart);
    for (let next = clone.firstOp; next < clone.lastOp; next++) this.#seeds.seedOp(next);
    return copy;
  }

  /** The copy of `fn` that the caller stands in. */
  #around(caller: FunctionFact, fn: FunctionFact): FunctionFact | null {
    for (let at: FunctionFact | undefined = caller; at !== undefined; at = this.#facts.functions[at.parent]) {
      if (at.origin === fn.origin) return at;
    }
    return null;
  }
}

/** Another number for each call and receiver. */
function callBy(op: OpId, only: TokenId | undefined): number {
  return only === undefined ? op : op + 2 ** 31 * (only + 1);
}

export function isHolder(fn: FunctionFact): boolean {
  return (fn.flags & FunctionFlag.holder) !== 0;
}

/** A constructor, or a function called as one or as the superclass's. */
function makesInstance(fn: FunctionFact, view: CallView): boolean {
  return (view.isNew || (fn.flags & FunctionFlag.classConstructor) !== 0) && (fn.flags & FunctionFlag.usesThis) !== 0;
}
