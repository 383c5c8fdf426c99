/**
 * What is found besides tokens: who calls what.
 */
import { invariant } from '../../diagnostics/invariant.js';
import { type CallId, type Facts, type FunctionId, NOTHING, Op, type OpId, type ValueId } from '../facts.js';
import { IntList } from '../int-list.js';
import { Ranks } from '../ranks.js';
import { IntSets } from '../sets.js';
import type { TokenId } from '../tokens.js';
import type { CallbackUse } from './uses.js';

const NO_CALL = -1;
const nobody: readonly FunctionId[] = [];

/** What is asked of calls when all is found. */
export interface Closed {
  /** Functions of the program that the call runs. */
  calleesOf(op: OpId): readonly FunctionId[];
  /** Functions of the program that the callee, which is not one, runs before it returns. */
  inPlaceOf(op: OpId): readonly FunctionId[];
  /** What holds all that a method call calls; 0 for other ops. */
  calleeOf(op: OpId): ValueId;
}

export class Found {
  /** By call, of which there are a fifth as many as ops; the latter of method calls: the value that holds the method. */
  readonly #callees = new IntSets();
  readonly #inPlaceCallees = new IntSets();
  readonly #methodValues = new IntList(1024);
  /** Of ops that are no calls: generators that are gone through. */
  readonly #stepped = new Map<OpId, Set<FunctionId>>();
  /** Method calls, in the order in which they were found. */
  readonly methods = new IntList(4096);
  /** All that is called, where each receiver has a call of its own. */
  readonly calleesOfAll = new Map<OpId, ValueId>();
  readonly callbacks: CallbackUse[] = [];
  readonly escaped = new Set<FunctionId>();
  /** Packages call them, by an object that they keep. */
  readonly lent = new Set<FunctionId>();
  /** One bit for each function: it is called. */
  readonly #called = new IntList(256);
  readonly receiverOf = new Map<OpId, ValueId>();
  /** Functions of packages that run, or may, in the order in which that was found. */
  readonly started: FunctionId[] = [];
  /** Functions behind a test that nothing passes so far. */
  readonly unmade = new Set<FunctionId>();
  /** Functions in whose place the closures of the running app have come, and what is in them. */
  readonly replaced = new Set<FunctionId>();
  /** These closures, by the function of the source. */
  readonly liveCopies = new Map<FunctionId, readonly FunctionId[]>();
  /** By instance the function of the source that made it. */
  readonly classOf = new Map<TokenId, FunctionId>();
  readonly #started = new Set<FunctionId>();
  readonly #facts: Facts;

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  /** What nobody is seen to run of a package does not run: nobody but the program has it. */
  start(fn: FunctionId): void {
    if (this.#started.has(fn) || !this.#facts.isOfPackage(fn)) return;
    this.#started.add(fn);
    this.started.push(fn);
  }

  /** It is made, as far as is known, and so it may be called. */
  mayRun(fn: FunctionId): boolean {
    for (let at: FunctionId = fn; this.unmade.size > 0 && at !== -1; at = this.#facts.fn(at).parent)
      if (this.unmade.has(at)) return false;
    return this.isStarted(fn);
  }

  isStarted(fn: FunctionId): boolean {
    if (this.replaced.size > 0 && this.replaced.has(fn)) return false;
    return this.#started.has(fn) || this.#facts.fn(fn).parent === -1 || !this.#facts.isOfPackage(fn);
  }

  /** What holds all that a method call calls; 0 for other ops. */
  calleeOf(op: OpId): ValueId {
    return this.calleesOfAll.get(op) ?? this.methodValueOf(op);
  }

  /** The value that holds the method of a method call; 0 for other ops. */
  methodValueOf(op: OpId): ValueId {
    const call = this.#callOf(op);
    return call !== NO_CALL && call < this.#methodValues.length ? this.#methodValues.get(call) : NOTHING;
  }

  setMethodValue(op: OpId, value: ValueId): void {
    const call = this.#facts.d.get(op);
    this.#methodValues.extend(call + 1);
    this.#methodValues.set(call, value);
  }

  addCallee(op: OpId, fn: FunctionId): void {
    const call = this.#callOf(op);
    if (call !== NO_CALL) {
      this.#callees.add(call, fn);
      return;
    }
    const known = this.#stepped.get(op);
    if (known === undefined) this.#stepped.set(op, new Set([fn]));
    else known.add(fn);
  }

  noteCalled(fn: FunctionId): void {
    this.#called.extend((fn >> 5) + 1);
    this.#called.set(fn >> 5, this.#called.get(fn >> 5) | (1 << (fn & 31)));
  }

  isCalled(fn: FunctionId): boolean {
    return fn >> 5 < this.#called.length && (this.#called.get(fn >> 5) & (1 << (fn & 31))) !== 0;
  }

  addInPlace(op: OpId, fn: FunctionId): void {
    const call = this.#callOf(op);
    invariant(call !== NO_CALL, `op ${op} runs something and calls nothing`);
    this.#inPlaceCallees.add(call, fn);
  }

  #callOf(op: OpId): CallId | typeof NO_CALL {
    const kind = this.#facts.kind.get(op);
    return kind === Op.call || kind === Op.method || kind === Op.construct ? this.#facts.d.get(op) : NO_CALL;
  }

  /** Nothing is added any more. */
  close(): Closed {
    const { callOp } = this.#facts;
    const methods = new Ranks();
    const held = new IntList(1024);
    const inPlaceOfCall = this.#inPlaceCallees.share();
    const inPlace = new Map<OpId, readonly FunctionId[]>();
    for (let call = 0; call < callOp.length; call++) {
      const op = callOp.get(call);
      const callee = this.calleeOf(op);
      if (callee !== NOTHING) {
        methods.push(op);
        held.push(callee);
      }
      const functions = inPlaceOfCall.get(call);
      if (functions.length > 0) inPlace.set(op, functions);
    }
    const calleesOfCall = this.#callees.share().renamed((call) => callOp.get(call));
    const stepped = new Map([...this.#stepped].map(([op, functions]) => [op, [...functions]]));
    const calleesOf = (op: OpId): readonly FunctionId[] => {
      const callees = calleesOfCall.get(op);
      return callees.length > 0 || stepped.size === 0 ? callees : (stepped.get(op) ?? nobody);
    };
    const calleeOf = (op: OpId): ValueId => {
      const place = methods.of(op);
      return place === -1 ? NOTHING : held.get(place);
    };
    return { calleesOf, inPlaceOf: (op) => inPlace.get(op) ?? nobody, calleeOf };
  }
}
