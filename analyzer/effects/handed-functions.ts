/**
 * Functions of the program that code from outside may run because it was given them: as arguments, within options, as
 * methods that it finds on its own objects.
 *
 * Reads:   facts, origins, rupture points, models.
 * Gives:   for a call or a store, the functions that run as part of whoever does it.
 */
import type { Budget } from '../budget.js';
import { isCalledByLanguage } from '../called-by-language.js';
import {
  ANY_PROPERTY,
  type AtomId,
  type Facts,
  type FunctionId,
  NOTHING,
  Op,
  type OpId,
  type ValueId,
} from '../facts.js';
import type { Ruptures } from '../find-rupture-points.js';
import type { Models, Shape } from '../models.js';
import type { TokenId } from '../tokens.js';
import type { Origins } from '../trace-origins.js';
import { ENGINE, RENDER } from './engines.js';
import { type Place, ReachedFrom } from './reached-from.js';
import { isUnheardOf } from './unheard-of.js';

const nothing: ReadonlySet<FunctionId> = new Set();
const printsOrSends: ReadonlySet<string> = new Set(['console', 'http', 'express']);
/** Options in options. */
const mostDeep = 3;

export class HandedFunctions {
  readonly #facts: Facts;
  readonly #origins: Origins;
  readonly #ruptures: Ruptures;
  readonly #models: Models;
  readonly #reached: ReachedFrom;
  #found: Lent | null = null;
  /** Somebody may look for functions in it. */
  readonly #mayBeLookedAt: (value: ValueId) => boolean;

  constructor(facts: Facts, origins: Origins, ruptures: Ruptures, models: Models, budget: Budget) {
    this.#facts = facts;
    this.#origins = origins;
    this.#ruptures = ruptures;
    this.#models = models;
    this.#reached = new ReachedFrom((place, found, visit) => this.#look(place, found, visit), budget);
    this.#mayBeLookedAt = origins.mayBe((id) => {
      const token = origins.tokens.get(id);
      return token.kind === 'external' && !models.isData(token.shape);
    });
  }

  /** Other than the callbacks of its rupture points. */
  toCall(op: OpId): ReadonlySet<FunctionId> {
    const call = this.#facts.d.get(op);
    const count = this.#facts.callCount.get(call);
    const found = new Set<FunctionId>();
    const depth = count === 0 || this.#isData(op) ? null : this.#depthOf(op);
    if (depth !== null)
      for (let index = 0; index < count; index++) this.#addFrom(this.#facts.argument(call, index), depth, found);
    for (const point of this.#ruptures.byOp.get(op) ?? []) for (const { fn } of point.callbacks) found.delete(fn);
    for (const fn of this.#lent.keptBy.get(op) ?? nothing) found.delete(fn);
    this.#addRunBy(op, found);
    return found;
  }

  /** What the language calls (`toString`), methods that it looks for, listeners (`signal.onabort`), and all that is put where nobody says what is looked for. */
  toObject(base: ValueId, value: ValueId, atom: AtomId): ReadonlySet<FunctionId> {
    const depth = this.#depthIn(base, atom);
    if (value === NOTHING || depth === null) return nothing;
    const found = new Set<FunctionId>();
    this.#addFrom(value, depth, found);
    return found;
  }

  /** Null where nobody looks. */
  #depthIn(base: ValueId, atom: AtomId): number | null {
    if (atom !== ANY_PROPERTY && isCalledByLanguage(this.#facts.atomName(atom))) return 0;
    const isLookedFor = (id: TokenId): boolean => this.#isLookedFor(id, atom);
    return this.#mayBeLookedAt(base) && this.#origins.tokensOf(base).some(isLookedFor) ? mostDeep : null;
  }

  /** How deep it looks for functions in its arguments. The language calls no others than those that it is given, but may give
   *  them to others: `Object.assign(res, { end() {} })`. */
  #depthOf(op: OpId): number {
    let depth = 0;
    for (const id of this.#origins.calleeTokens(op)) {
      const shape = this.#shapeOf(id);
      if (shape === null) continue;
      const call = this.#models.call(shape, this.#facts.kind.get(op) === Op.construct);
      if (shape.package !== '' && call?.data !== true) return mostDeep;
      if (call?.mutates?.some((target) => target !== 'this' && this.#isOutside(op, target)) === true) depth = mostDeep;
    }
    return depth;
  }

  /** Who prints or sends a function does not call it: `console.log(app.get('port'))`, of which it is not known what it gives. Others may
   *  pass it on to who does. */
  #isData(op: OpId): boolean {
    const callees = this.#origins.calleeTokens(op);
    return (
      callees.length > 0 &&
      callees.every((id) => {
        const shape = this.#shapeOf(id);
        if (shape === null || !printsOrSends.has(shape.package)) return false;
        return this.#models.call(shape, this.#facts.kind.get(op) === Op.construct)?.data === true;
      })
    );
  }

  #isOutside(op: OpId, argument: number): boolean {
    const call = this.#facts.d.get(op);
    if (argument < 0 || argument >= this.#facts.callCount.get(call)) return false;
    return this.#origins
      .tokensOf(this.#facts.argument(call, argument))
      .some((id) => this.#isLookedFor(id, ANY_PROPERTY));
  }

  #shapeOf(id: TokenId): Shape | null {
    let token = this.#origins.tokens.get(id);
    while (token.kind === 'bound') token = this.#origins.tokens.get(token.target);
    return token.kind === 'external' ? token.shape : null;
  }

  #isLookedFor(id: TokenId, atom: AtomId): boolean {
    const token = this.#origins.tokens.get(id);
    if (token.kind !== 'external' || this.#models.isData(token.shape)) return false;
    const name = atom === ANY_PROPERTY ? '' : this.#facts.atomName(atom);
    if (name.startsWith('on')) return true;
    if (token.shape.package === '') return false;
    if (name === '' || token.shape.type === null) return true;
    const member = this.#models.member(token.shape, name);
    return member !== null && !this.#models.isOfOthers(member);
  }

  #addFrom(value: ValueId, depth: number, found: Set<FunctionId>): void {
    for (const fn of this.#reached.of({ kind: 'value', value, depth })) found.add(fn);
  }

  #look(place: Place, found: Set<FunctionId>, visit: (next: Place) => void): void {
    if (place.kind === 'value') this.#lookAtValue(place.value, place.depth, found, visit);
    if (place.kind === 'within') this.#lookAtObject(place.id, place.depth, visit);
  }

  #lookAtValue(value: ValueId, depth: number, found: Set<FunctionId>, visit: (next: Place) => void): void {
    for (const id of this.#origins.tokensOf(value)) {
      const fn = this.#origins.tokens.functionOf(id);
      if (fn !== null) found.add(fn);
      // Who has a class may make instances, and call what these have.
      if (depth > 0) visit({ kind: 'within', id, depth });
    }
  }

  #lookAtObject(id: TokenId, depth: number, visit: (next: Place) => void): void {
    const token = this.#origins.tokens.get(id);
    if (token.kind !== 'object' && token.kind !== 'function') return;
    for (const [atom, value] of this.#origins.tokens.knownProperties(id) ?? [])
      if (!isUnheardOf(this.#facts, this.#origins, this.#models, id, atom))
        visit({ kind: 'value', value, depth: depth - 1 });
    if (token.kind === 'object' && token.proto !== NOTHING) visit({ kind: 'value', value: token.proto, depth });
  }

  // --- functions that were given before, to be run by other calls (`app.locals.show = fn`, then `res.render()`) -------

  #addRunBy(op: OpId, found: Set<FunctionId>): void {
    for (const id of this.#origins.calleeTokens(op)) {
      const shape = this.#shapeOf(id);
      if (shape === null) continue;
      const runs = this.#models.call(shape, this.#facts.kind.get(op) === Op.construct)?.runs;
      if (runs !== undefined) for (const fn of this.#lent.runBy.get(runs) ?? nothing) found.add(fn);
    }
  }

  /** Found when they are first asked for: then all is known of who holds what. */
  get #lent(): Lent {
    this.#found ??= this.#findLent();
    return this.#found;
  }

  #findLent(): Lent {
    const lent: Lent = { runBy: new Map(), keptBy: new Map() };
    const { tokens, callbacks } = this.#origins;
    for (const { rupture, value, op } of callbacks) {
      if (rupture.runBy === undefined) continue;
      this.#addFrom(value, 1, setOf(lent.runBy, rupture.runBy));
      this.#addFrom(value, 1, setOf(lent.keptBy, op));
    }
    const engine = this.#facts.knownAtom(ENGINE);
    for (let id = 0; id < tokens.length; id++) {
      const token = tokens.get(id);
      const found = engine === undefined ? undefined : tokens.property(id, engine);
      if (found !== undefined) this.#addFrom(found, 1, setOf(lent.runBy, RENDER));
      const group = token.kind === 'external' ? token.shape.member?.runBy : undefined;
      if (group === undefined) continue;
      for (const value of tokens.knownProperties(id)?.values() ?? [])
        this.#addFrom(value, mostDeep, setOf(lent.runBy, group));
    }
    return lent;
  }
}

/** Functions by the word of who runs them, and by the call that only keeps them. */
interface Lent {
  readonly runBy: Map<string, Set<FunctionId>>;
  readonly keptBy: Map<OpId, Set<FunctionId>>;
}

function setOf<Key>(sets: Map<Key, Set<FunctionId>>, key: Key): Set<FunctionId> {
  const known = sets.get(key);
  if (known !== undefined) return known;
  const made = new Set<FunctionId>();
  sets.set(key, made);
  return made;
}
