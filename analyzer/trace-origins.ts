/**
 * Where every value comes from: which functions, objects and outside values it can be.
 *
 * Reads:   facts of all modules, values from outside, models.
 * Gives:   Origins: for each value its tokens, for each call the functions that it runs, for each callback that a model
 *          knows of the functions that it can be.
 *
 * One set of tokens a value, whatever the order of execution and the caller (Andersen's analysis, solved by a worklist), but
 * for functions of which calls have copies. Tokens move along copies; loads, stores and calls add copies as tokens arrive at
 * what they work on.
 *
 *   origins/token-flow.ts     tokens, values, copies: what moves
 *   origins/seeds.ts          where tokens come from; what each op does
 *   origins/properties.ts     loads and stores
 *   origins/calls.ts          calls of functions of the program
 *   origins/contexts.ts       which copy of a function a call runs
 *   origins/live-copies.ts    closures of the running app in the place of a function
 *   origins/outside-calls.ts  calls of what models describe
 *   origins/given-values.ts   what such a call gives and keeps
 *   origins/taken-apart.ts    what of that is kept in parts
 */
import type { Place } from '../flx/program.js';
import type { Budget } from './budget.js';
import { type Facts, type FunctionId, Op, type OpId, type ValueId } from './facts.js';
import type { ModuleGraph } from './load-modules.js';
import type { Models } from './models.js';
import { Calls } from './origins/calls.js';
import { Contexts } from './origins/contexts.js';
import { Found } from './origins/found.js';
import { GivenValues } from './origins/given-values.js';
import { classAt, LiveCopies, type LiveCopy, type LiveInput } from './origins/live-copies.js';
import { LiveFields } from './origins/live-fields.js';
import { OutsideCalls } from './origins/outside-calls.js';
import { Properties } from './origins/properties.js';
import { Seeds } from './origins/seeds.js';
import { TakenApart } from './origins/taken-apart.js';
import { TokenFlow } from './origins/token-flow.js';
import type { CallbackUse, Use } from './origins/uses.js';
import type { TokenId, TokenSetId, TokenTable } from './tokens.js';

export type { CallbackUse } from './origins/uses.js';

/** What copies tell apart: calls of wrappers, factories, constructors and methods; or those of wrappers only. */
export type Precision = 'calls' | 'wrappers';

export interface Origins {
  readonly tokens: TokenTable;
  tokensOf(value: ValueId): readonly TokenId[];
  /** The same for values that hold the same; 0 for those that hold nothing. */
  setOf(value: ValueId): TokenSetId;
  membersOf(set: TokenSetId): readonly TokenId[];
  /** Gives what says of values whether one of their tokens is such. To make it takes some room: ask it more than once. */
  mayBe(is: (token: TokenId) => boolean): (value: ValueId) => boolean;
  /** Functions of the program that the call runs. */
  calleesOf(op: OpId): readonly FunctionId[];
  /** Functions of the program that the callee, which is not one, runs before it returns (`list.map(fn)`). */
  inPlaceOf(op: OpId): readonly FunctionId[];
  /** A value that holds all that is called. */
  calleeValue(op: OpId): ValueId;
  /** Tokens that the call's callee can be. */
  calleeTokens(op: OpId): readonly TokenId[];
  readonly callbacks: readonly CallbackUse[];
  /** Functions that code unknown to the analysis may call. */
  readonly escaped: ReadonlySet<FunctionId>;
  /** Methods of objects that packages keep, and call by these. */
  readonly lent: ReadonlySet<FunctionId>;
  /** False for functions of packages that nobody runs, and for those behind a test that nothing passes. */
  mayRun(fn: FunctionId): boolean;
  /** For a call of a bound function: the receiver that it was bound to. */
  readonly receiverOf: ReadonlyMap<OpId, ValueId>;
  /** The class whose instance a token stands for, as the source has it. */
  classOf(token: TokenId): FunctionId | undefined;
  /** The class that is written there. */
  liveClassOf(at: Place): FunctionId | null;
  /** Copies of functions that stand for closures of the running app. */
  readonly liveCopies: readonly LiveCopy[];
  /** Code that nobody has read is given requests or responses, and may put on them what it likes. */
  readonly areRequestsExposed: boolean;
}

export function traceOrigins(
  graph: ModuleGraph,
  models: Models,
  budget: Budget,
  precision: Precision,
  live: LiveInput | null,
): Origins {
  const { facts } = graph;
  const flow = new TokenFlow(facts, models, budget);
  const found = new Found(facts);
  const solver = new Solver(flow, found, precision);
  solver.solve(graph, live);
  // What was needed on the way to the solution is many times the solution, and is not held.
  const { tokens, held } = flow;
  const { liveCopies, areRequestsExposed } = solver;
  const shared = held.share();
  const { calleesOf, inPlaceOf, calleeOf } = found.close();
  const calleeValue = (op: OpId): ValueId => calleeOf(op) || facts.a.get(op);
  return {
    tokens,
    tokensOf: shared.get,
    setOf: shared.numberOf,
    membersOf: shared.membersOf,
    mayBe: (is) => shared.some(is),
    calleesOf,
    inPlaceOf,
    calleeValue,
    calleeTokens: (op) => shared.get(calleeValue(op)),
    callbacks: found.callbacks,
    escaped: found.escaped,
    lent: found.lent,
    mayRun: (fn) => found.mayRun(fn),
    receiverOf: found.receiverOf,
    classOf: (token) => found.classOf.get(token),
    liveClassOf: (at) => classAt(facts, at),
    liveCopies,
    areRequestsExposed,
  };
}

class Solver {
  readonly #facts: Facts;
  readonly #flow: TokenFlow;
  readonly #seeds: Seeds;
  readonly #properties: Properties;
  readonly #givenValues: GivenValues;
  readonly #outsideCalls: OutsideCalls;
  readonly #calls: Calls;
  readonly #live: LiveCopies;
  readonly #takenApart: TakenApart;

  constructor(flow: TokenFlow, found: Found, precision: Precision) {
    this.#facts = flow.facts;
    this.#flow = flow;
    const seeds = new Seeds(flow, found);
    const fields = new LiveFields(flow, found);
    const properties = new Properties(flow, found, fields);
    const takenApart = new TakenApart(flow);
    const givenValues = new GivenValues(flow, properties, takenApart);
    const outsideCalls = new OutsideCalls(flow, found, seeds, properties, givenValues);
    const contexts = new Contexts(flow, seeds, precision);
    const live = new LiveCopies(flow, found, seeds, fields);
    seeds.connect((fn) => live.takeOver(fn));
    this.#seeds = seeds;
    this.#properties = properties;
    this.#givenValues = givenValues;
    this.#outsideCalls = outsideCalls;
    this.#calls = new Calls({ flow, seeds, found, properties, givenValues, outsideCalls, contexts, live });
    this.#live = live;
    this.#takenApart = takenApart;
    flow.connect(
      (use, token) => this.#apply(use, token),
      (code, token) => this.#applyOp(code, token),
    );
  }

  /** Solves; then takes what nobody in the program calls as called by someone unknown, and solves on. */
  solve({ externals, unloaded, lent }: ModuleGraph, live: LiveInput | null): void {
    if (live !== null) this.#live.make(live);
    this.#properties.noteLoaded(externals.map(({ name }) => name));
    this.#seeds.seed(externals, unloaded, lent);
    this.#live.seed();
    this.#properties.startExports();
    this.#settle();
    for (let round = 0; round < 20 && !this.#flow.isGivenUp; round++) {
      const named = this.#outsideCalls.admitMethodNames();
      const apart = this.#takenApart.admit();
      if (!this.#calls.admitUnknownCallers() && !named && !apart) return;
      this.#settle();
    }
  }

  get areRequestsExposed(): boolean {
    return this.#properties.areRequestsExposed;
  }

  get liveCopies(): readonly LiveCopy[] {
    return this.#live.all;
  }

  #settle(): void {
    do this.#flow.drain();
    while (!this.#flow.isGivenUp && this.#findMore());
  }

  #findMore(): boolean {
    return (
      this.#seeds.seedStarted() ||
      this.#properties.copyLateProperties() ||
      this.#properties.loadInherited() ||
      this.#outsideCalls.admitErrors() ||
      this.#calls.admitSuperCalls() ||
      this.#live.admitOthersInstances() ||
      this.#calls.admitWaiting()
    );
  }

  #apply(use: Use, token: TokenId): void {
    switch (use.kind) {
      case 'load':
        return this.#properties.load(token, use);
      case 'store':
        return this.#properties.storeBy(token, use);
      case 'keep':
        return this.#properties.keep(token, use.from, use);
      case 'copyProperties':
        return this.#properties.copyProperties(token, use.to);
      case 'receive':
        return this.#properties.receive(token, use.receiver, use.isLent === true);
      case 'lend':
        return this.#properties.lend(token, use);
      case 'escape':
        return this.#properties.escape(token);
      case 'start':
        return this.#properties.start(token, use);
      case 'guard':
        return this.#seeds.passGuard(token, use);
      case 'lender':
        return this.#properties.lendAs(token, use);
      case 'inherit':
        return this.#outsideCalls.inherit(token, use.to);
      case 'derive':
        return this.#properties.derive(token, use.from);
      case 'pass':
        return this.#givenValues.pass(token, use.to);
      case 'formedBy':
        return this.#givenValues.formedBy(token, use);
      case 'throw':
        return this.#outsideCalls.throw(token, use.op);
      case 'await':
        return this.#givenValues.await(token, use.to, use.op ?? -1);
      case 'bind':
        return this.#givenValues.bind(token, use);
      case 'call':
        return this.#calls.call(token, use.view);
      case 'callback':
        return this.#calls.callback(token, use);
      case 'inPlace':
        return this.#calls.inPlace(token, use);
      case 'super':
        return this.#calls.callSuper(token, use);
      case 'live':
        return this.#live.pass(token, use);
      case 'liveHolder':
        return this.#live.passHolder(token, use);
      case 'arrive':
        return this.#calls.callWaiting(use.waiting);
    }
  }

  /** What an op does with a value; `~op` for what a method call does with the method. */
  #applyOp(code: number, token: TokenId): void {
    if (code < 0) return this.#calls.call(token, this.#seeds.viewOf(~code));
    const facts = this.#facts;
    switch (facts.kind.get(code)) {
      case Op.load:
        return this.#properties.load(token, this.#flow.loadOf(code));
      case Op.store:
        return this.#properties.store(token, facts.c.get(code), facts.b.get(code));
      case Op.await:
        return this.#givenValues.await(token, facts.b.get(code), code);
      case Op.copyProperties:
        return this.#properties.copyProperties(token, facts.b.get(code));
      case Op.method:
        return this.#calls.method(token, code);
      default:
        return this.#calls.call(token, this.#seeds.viewOf(code));
    }
  }
}
