/**
 * Where tokens come from, and what each op does with its values.
 *
 * Reads:   facts, what comes from outside.
 * Gives:   to `TokenFlow`: the first tokens, the copies, and a use for each op.
 */
import {
  ANY_PROPERTY,
  type CallId,
  type Facts,
  type FunctionFact,
  FunctionFlag,
  type FunctionId,
  type Guard,
  type ModuleFact,
  NOTHING,
  Op,
  type OpId,
  type TokenSeed,
  type ValueId,
} from '../facts.js';
import type { External, Unloaded } from '../load-modules.js';
import type { Models, Shape } from '../models.js';
import { type TokenId, type TokenTable, UNKNOWN } from '../tokens.js';
import type { Found } from './found.js';
import type { TokenFlow } from './token-flow.js';
import type { CallView, Use } from './uses.js';

export class Seeds {
  readonly #flow: TokenFlow;
  readonly #found: Found;
  readonly #facts: Facts;
  readonly #models: Models;
  readonly #tokens: TokenTable;
  /** Calls with spread arguments, for which values are made. */
  readonly #spreads = new Map<OpId, CallView>();
  readonly #promises = new Map<FunctionId, ValueId>();
  #seeded = 0;
  /** Values that come from other modules and packages. */
  readonly loaded: ValueId[] = [];
  /** What stands for a function in the running app; null: itself. */
  #closuresOf: (fn: FunctionFact) => readonly FunctionId[] | null = () => null;

  constructor(flow: TokenFlow, found: Found) {
    this.#flow = flow;
    this.#found = found;
    this.#facts = flow.facts;
    this.#models = flow.models;
    this.#tokens = flow.tokens;
  }

  connect(closuresOf: (fn: FunctionFact) => readonly FunctionId[] | null): void {
    this.#closuresOf = closuresOf;
  }

  seed(externals: readonly External[], unloaded: readonly Unloaded[], lent: readonly ModuleFact[]): void {
    for (const fn of this.#facts.functions) this.seedFunction(fn);
    for (const seed of this.#facts.seeds) this.seedOne(seed);
    for (const external of externals) this.#seedExternal(external);
    for (const { value } of unloaded) this.#flow.add(value, UNKNOWN);
    for (const { value } of [...externals, ...unloaded]) this.loaded.push(value);
    for (const module of lent)
      for (const value of [module.module, module.exports]) this.#flow.use(value, { kind: 'escape' });
    // Calls may be copied on the way, and copies are seeded as they are made.
    const written = this.#facts.kind.length;
    for (let op = 0; op < written; op++) this.seedOp(op);
  }

  /** What functions do of which it was found since that they run. */
  seedStarted(): boolean {
    const before = this.#seeded;
    for (; this.#seeded < this.#found.started.length; this.#seeded++) {
      const fn = this.#facts.fn(this.#found.started[this.#seeded] as FunctionId);
      for (let op = fn.opStart; op < fn.opEnd; op++) if (this.#facts.owner.get(op) === fn.id) this.#seedOp(op);
    }
    return this.#seeded > before;
  }

  seedOne(seed: TokenSeed): void {
    if (seed.kind === 'function') this.#seedFunctionValue(seed);
    else if (seed.kind === 'global') this.#seedGlobal(seed.value, seed.name);
    else
      this.#flow.add(
        seed.value,
        this.#tokens.make({ kind: 'object', type: seed.type, start: seed.start, fn: seed.fn, proto: NOTHING }),
      );
  }

  /** A function behind a test is made where something passes it. */
  #seedFunctionValue({ value, fn, guard }: Extract<TokenSeed, { kind: 'function' }>): void {
    const closures = this.#found.liveCopies.size === 0 ? null : this.#closuresOf(this.#facts.fn(fn));
    if (closures !== null) {
      for (const closure of closures) this.#flow.add(value, this.#tokens.function(closure));
      return;
    }
    // Texts and lists have a length, too: that it is a function shows where it is called.
    if (guard === null || !this.#calls(this.#facts.fn(fn), guard.value))
      this.#flow.add(value, this.#tokens.function(fn));
    else {
      this.#found.unmade.add(fn);
      this.#flow.use(guard.value, { kind: 'guard', guard, fn, to: value });
    }
  }

  #calls(fn: FunctionFact, value: ValueId): boolean {
    const { kind, a, c } = this.#facts;
    for (let op = fn.opStart; op < fn.opEnd; op++) {
      if (a.get(op) !== value) continue;
      if (kind.get(op) === Op.call) return true;
      if (kind.get(op) === Op.method && /^(call|apply)$/.test(this.#facts.atomName(c.get(op)))) return true;
    }
    return false;
  }

  passGuard(id: TokenId, { guard, fn, to }: Extract<Use, { kind: 'guard' }>): void {
    const token = this.#tokens.get(id);
    if (token.kind === 'function' && !passes(this.#facts.fn(token.fn).arity, guard)) return;
    this.#found.unmade.delete(fn);
    this.#flow.add(to, this.#tokens.function(fn));
  }

  seedFunction(fn: FunctionFact): void {
    if (fn.rest >= 0) this.#flow.add(fn.params[fn.rest] ?? NOTHING, this.#object('Array', fn));
    if ((fn.flags & (FunctionFlag.async | FunctionFlag.generator)) === 0) return;
    const generator = (fn.flags & FunctionFlag.generator) !== 0;
    const token = this.#object(generator ? 'Generator' : 'Promise', fn);
    this.#flow.add(fn.result, token);
    this.#promises.set(
      fn.id,
      generator ? this.#flow.property(token, ANY_PROPERTY) : this.#flow.property(token, this.#flow.resolved),
    );
  }

  #object(type: string, fn: FunctionFact): TokenId {
    return this.#tokens.make({ kind: 'object', type, fn: fn.id, start: fn.start, proto: NOTHING });
  }

  #seedGlobal(value: ValueId, name: string): void {
    const shape = this.#models.global(name);
    if (shape !== null) this.#flow.addShape(value, shape, -1);
    else if (name === 'require') this.#flow.add(value, UNKNOWN);
  }

  #seedExternal(external: External): void {
    let shape: Shape | null = this.#models.package(external.name, external.subpath);
    if (external.binding !== null) shape = this.#models.member(shape, external.binding);
    if (shape !== null) this.#flow.addShape(external.value, shape, -1);
    else this.#flow.add(external.value, UNKNOWN);
  }

  /** Of functions that may not run, later, if they do. */
  seedOp(op: OpId): void {
    if (this.#found.isStarted(this.#facts.owner.get(op))) this.#seedOp(op);
  }

  #seedOp(op: OpId): void {
    const facts = this.#facts;
    const a = facts.a.get(op);
    const b = facts.b.get(op);
    switch (facts.kind.get(op)) {
      case Op.copy:
        if (b === facts.thrownNew) return this.#flow.use(a, { kind: 'throw', op });
        return this.#flow.edge(a, b);
      case Op.store:
        if (b !== NOTHING) this.#flow.useOp(a, op);
        return;
      case Op.load:
      case Op.call:
      case Op.construct:
      case Op.await:
      case Op.copyProperties:
        return this.#flow.useOp(a, op);
      case Op.method:
        return this.#seedMethod(op, a);
      case Op.return:
        return this.#seedReturn(a, facts.owner.get(op));
    }
  }

  #seedMethod(op: OpId, base: ValueId): void {
    const callee = this.#facts.newValue();
    this.#found.methods.push(op);
    this.#found.setMethodValue(op, callee);
    this.#flow.useOp(callee, ~op);
    this.#flow.useOp(base, op);
  }

  /** A call as it stands in the source. */
  viewOf(op: OpId): CallView {
    const { kind, a, b, c, d } = this.#facts;
    const isSpread = this.#facts.callSpread.get(d.get(op)) >= 0;
    const known = isSpread ? this.#spreads.get(op) : undefined;
    if (known !== undefined) return known;
    const receiver = kind.get(op) === Op.method ? a.get(op) : kind.get(op) === Op.call ? c.get(op) : NOTHING;
    const view = this.#view(op, b.get(op), receiver);
    if (isSpread) this.#spreads.set(op, view);
    return view;
  }

  #seedReturn(value: ValueId, owner: FunctionId): void {
    const fn = this.#facts.fn(owner);
    const resolved = this.#promises.get(owner);
    if (resolved === undefined) this.#flow.edge(value, fn.result);
    else if ((fn.flags & FunctionFlag.async) !== 0) this.#flow.use(value, { kind: 'await', to: resolved });
    else this.#flow.edge(value, resolved);
  }

  #view(op: OpId, to: ValueId, receiver: ValueId): CallView {
    const facts = this.#facts;
    const call = facts.d.get(op);
    const args = this.#argumentsOf(call);
    const spread = facts.callSpread.get(call);
    if (spread >= 0) {
      const rest = facts.newValue();
      this.#flow.use(args[spread] as ValueId, { kind: 'load', atom: ANY_PROPERTY, to: rest, receiver: NOTHING, op });
      // What is spread behind that is there as its items.
      for (let index = spread + 1; index < args.length; index++) this.#flow.edge(args[index] as ValueId, rest);
      args.length = spread;
      args.push(rest);
    }
    return { op, to, receiver, args, spread, isNew: facts.kind.get(op) === Op.construct, promisified: false };
  }

  /** Lists that grow item by item have room for seventeen. */
  #argumentsOf(call: CallId): ValueId[] {
    const { args, callFirst, callCount } = this.#facts;
    const first = callFirst.get(call);
    switch (callCount.get(call)) {
      case 0:
        return [];
      case 1:
        return [args.get(first)];
      case 2:
        return [args.get(first), args.get(first + 1)];
      case 3:
        return [args.get(first), args.get(first + 1), args.get(first + 2)];
    }
    const all: ValueId[] = [];
    for (let at = first; at < first + callCount.get(call); at++) all.push(args.get(at));
    return all.slice();
  }
}

function passes(arity: number, { test, count }: Guard): boolean {
  switch (test) {
    case '===':
      return arity === count;
    case '!==':
      return arity !== count;
    case '<':
      return arity < count;
    case '>=':
      return arity >= count;
    case '>':
      return arity > count;
    case '<=':
      return arity <= count;
  }
}
