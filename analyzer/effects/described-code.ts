/**
 * Functions of the program that packages call with nothing but what models say:
 *
 *     schema.options.toJSON = { transform(doc, plain) { plain.id = String(doc._id); } };      `plain` is new each time
 *
 * Reads: origins, models.
 * Gives: whether what a function does to a parameter concerns only what models say that it is given there. Any other function may be given
 *        whatever the package has in hands.
 */
import { isCall } from '../call-graph.js';
import { type Facts, FunctionFlag, type FunctionId, Op, type OpId, type ValueId } from '../facts.js';
import type { Models } from '../models.js';
import { type TokenId, UNKNOWN } from '../tokens.js';
import type { Origins } from '../trace-origins.js';

/** `copies`: what packages are given may be found within what the function is called with. */
type Described = 'all' | 'copies';

/** How far within what is given: `{ toJSON: { transform() {…} } }`. */
const deepest = 3;

export class DescribedCode {
  readonly #facts: Facts;
  readonly #origins: Origins;
  readonly #models: Models;
  #found: ReadonlyMap<FunctionId, Described> | null = null;

  constructor(facts: Facts, origins: Origins, models: Models) {
    this.#facts = facts;
    this.#origins = origins;
    this.#models = models;
  }

  /** What the function does to that parameter, or within what it holds, it does to nothing that the package was given. */
  isOwn(id: FunctionId, given: number | 'this', isDeep: boolean): boolean {
    this.#found ??= this.#find();
    const how = this.#found.get(id);
    if (how === undefined || (how === 'copies' && (isDeep || given === 'this'))) return false;
    const { flags, params, receiver } = this.#facts.fn(id);
    // A method may be called by whoever has the instance, and `arguments` is no parameter.
    if ((flags & FunctionFlag.usesArguments) !== 0) return false;
    if ((flags & FunctionFlag.method) !== 0 && (flags & FunctionFlag.inObject) === 0) return false;
    const value = given === 'this' ? receiver : params[given];
    return value !== undefined && !this.#origins.tokensOf(value).includes(UNKNOWN);
  }

  #find(): ReadonlyMap<FunctionId, Described> {
    const described = new Map<OpId, Set<FunctionId>>();
    const found = new Map<FunctionId, Described>();
    for (const { op, value, rupture } of this.#origins.callbacks) {
      const how = rupture.exactly;
      if (how === undefined) continue;
      let ofOp = described.get(op);
      if (ofOp === undefined) described.set(op, (ofOp = new Set()));
      const own = new Set<FunctionId>();
      this.#look(value, deepest, own);
      for (const fn of own) {
        ofOp.add(fn);
        if (how === 'copies' || !found.has(fn)) found.set(fn, how);
      }
    }
    const { kind } = this.#facts;
    const stored: ValueId[] = [];
    const elsewhere = new Set<FunctionId>();
    for (let op = 0; op < kind.length; op++) {
      if (kind.get(op) === Op.store) this.#lookAtStore(op, stored, elsewhere);
      else if (isCall(kind.get(op)) && this.#isOfPackage(op)) {
        const given = new Set<FunctionId>();
        for (const value of this.#argumentsOf(op)) this.#look(value, deepest, given);
        for (const fn of given) if (described.get(op)?.has(fn) !== true) elsewhere.add(fn);
      }
    }
    const storedOnes = new Set<FunctionId>();
    for (const value of stored) this.#look(value, deepest, storedOnes);
    for (const fn of storedOnes) if (!found.has(fn)) found.set(fn, 'all');
    for (const fn of elsewhere) found.delete(fn);
    return found;
  }

  #lookAtStore(op: OpId, stored: ValueId[], elsewhere: Set<FunctionId>): void {
    const value = this.#facts.b.get(op);
    for (const id of this.#origins.tokensOf(this.#facts.a.get(op))) {
      const token = this.#origins.tokens.get(id);
      if (token.kind !== 'external') continue;
      if (token.shape.member?.calledWith === undefined) this.#look(value, deepest, elsewhere);
      else stored.push(value);
    }
  }

  #isOfPackage(op: OpId): boolean {
    return this.#origins.calleeTokens(op).some((id) => {
      let token = this.#origins.tokens.get(id);
      while (token.kind === 'bound') token = this.#origins.tokens.get(token.target);
      if (token.kind !== 'external') return token.kind === 'unknown';
      const isNew = this.#facts.kind.get(op) === Op.construct;
      return token.shape.package !== '' && this.#models.call(token.shape, isNew)?.data !== true;
    });
  }

  #argumentsOf(op: OpId): readonly ValueId[] {
    const call = this.#facts.d.get(op);
    return Array.from({ length: this.#facts.callCount.get(call) }, (_, index) => this.#facts.argument(call, index));
  }

  #look(value: ValueId, depth: number, into: Set<FunctionId>, seen = new Set<TokenId>()): void {
    for (const id of this.#origins.tokensOf(value)) {
      const fn = this.#origins.tokens.functionOf(id);
      if (fn !== null) into.add(fn);
      if (fn !== null || depth === 0 || seen.has(id) || this.#origins.tokens.get(id).kind !== 'object') continue;
      seen.add(id);
      for (const each of this.#origins.tokens.knownProperties(id)?.values() ?? [])
        this.#look(each, depth - 1, into, seen);
    }
  }
}
