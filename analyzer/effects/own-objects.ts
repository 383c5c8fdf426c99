/**
 * Reads: facts.
 * Gives: variables which no other function names, and that hold nothing but objects which the same call of their function has made: `const found = []; … found.push(x)`.
 *
 * To change such an object is to change nothing that anybody else has by then: a function without `await` or `yield` runs in one piece,
 * and where it has put the object somewhere before, it has changed that place, which says so itself.
 */
import { type Facts, type FunctionFact, FunctionFlag, Op, type ValueId } from '../facts.js';

export class OwnObjects {
  readonly #facts: Facts;
  /** By variable: the function that made all that it holds, where there is one. */
  #makers: Map<ValueId, number> | null = null;

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  has(variable: ValueId, fn: FunctionFact): boolean {
    if ((fn.flags & (FunctionFlag.async | FunctionFlag.generator)) !== 0) return false;
    this.#makers ??= this.#findMakers();
    return this.#makers.get(variable) === fn.id;
  }

  /** New objects, by the function that makes them; each copy of it makes its own. */
  #findMade(): Map<ValueId, number> {
    const made = new Map<ValueId, number>();
    const byFunction = new Map<number, ValueId[]>();
    for (const seed of this.#facts.seeds) {
      if (seed.kind !== 'object' || seed.fn === 0) continue;
      made.set(seed.value, seed.fn);
      const known = byFunction.get(seed.fn);
      if (known === undefined) byFunction.set(seed.fn, [seed.value]);
      else known.push(seed.value);
    }
    for (const { id, origin, valueStart } of this.#facts.functions) {
      if (id === origin) continue;
      const delta = valueStart - this.#facts.fn(origin).valueStart;
      for (const value of byFunction.get(origin) ?? []) made.set(value + delta, id);
    }
    return made;
  }

  #findMakers(): Map<ValueId, number> {
    const facts = this.#facts;
    const made = this.#findMade();
    // One more than the function; -1 where there are others.
    const makers = new Int32Array(facts.valueCount);
    for (let op = 0; op < facts.kind.length; op++) {
      if (facts.kind.get(op) !== Op.copy) continue;
      const [from, to] = [facts.a.get(op), facts.b.get(op)];
      const maker = made.get(from);
      // Listed are variables that other functions name as well: these may be parts of one flow.
      const isOwn = maker !== undefined && maker === facts.owner.get(op) && facts.variables.ownerOf(to) === undefined;
      makers[to] = isOwn && (makers[to] === 0 || makers[to] === maker + 1) ? maker + 1 : -1;
    }
    const found = new Map<ValueId, number>();
    for (let value = 0; value < makers.length; value++) {
      const maker = (makers[value] as number) - 1;
      if (maker >= 0) found.set(value, maker);
    }
    return found;
  }
}
