/**
 * Changes: by the root of what is changed, and, where no root says all of it, by the object itself.
 *
 * Reads:   origins, models, the roots of values.
 * Gives:   effects, in the list and in the function's summary.
 */
import { ANY_PROPERTY, type Facts, NOTHING, type OpId, type ValueId } from '../facts.js';
import type { Models, Shape } from '../models.js';
import type { RootId } from '../roots.js';
import { everyRequest, type TokenId, UNKNOWN } from '../tokens.js';
import type { Origins } from '../trace-origins.js';
import type { EffectList } from './effect-list.js';
import type { FunctionValues } from './function-values.js';
import { Effect, kinds } from './kinds.js';
import { OwnObjects } from './own-objects.js';
import type { Changed } from './summary.js';

const tooManyTokens = 120;
const always = (): boolean => true;
const usedUp = /^(Iterator|Generator|StickyRegExp)$/;

export class Changes {
  readonly #facts: Facts;
  readonly #origins: Origins;
  readonly #models: Models;
  readonly #list: EffectList;
  readonly #values: FunctionValues;
  readonly #own: OwnObjects;
  readonly #isUsedUpIn: (value: ValueId) => boolean;
  readonly #mayBeFunction: (value: ValueId) => boolean;
  readonly #mayBeEnvironment: (value: ValueId) => boolean;
  readonly #mayOutliveRequest: (value: ValueId) => boolean;

  constructor(facts: Facts, origins: Origins, models: Models, list: EffectList, values: FunctionValues) {
    this.#facts = facts;
    this.#origins = origins;
    this.#models = models;
    this.#list = list;
    this.#values = values;
    this.#own = new OwnObjects(facts);
    this.#isUsedUpIn = origins.mayBe((id) => this.#isUsedUp(id));
    this.#mayBeFunction = origins.mayBe((id) => origins.tokens.functionOf(id) !== null);
    this.#mayBeEnvironment = origins.mayBe((id) => this.#isEnvironment(id));
    this.#mayOutliveRequest = origins.mayBe((id) => this.#shapeThatOutlives(id) !== null);
  }

  /** `at` is the op of this function, `op` the one that really does it, perhaps in a callee. */
  effect(kind: number, root: RootId, op: OpId, at: OpId, value: ValueId = NOTHING): void {
    this.#note(kind, root, op, value);
    if (this.#values.recording) this.#list.push(kind, root, op, at, value);
  }

  /** Below the same root as something that a callee changes. */
  also(kind: number, roots: readonly RootId[], { op, value }: Changed, at: OpId): void {
    for (const root of roots) this.effect(kind, root, op, at, value);
    this.changeObjectOf(kind, value, roots, op, at);
  }

  #note(kind: number, root: RootId, op: OpId, value: ValueId): void {
    if (root < 0 || this.#values.roots.isVariable(root)) return;
    const key = root * kinds + kind;
    if (this.#values.summary.addEffect(key, { op, value }, kind === Effect.read ? always : this.#isSame))
      this.#values.changed = true;
  }

  /** What holds nothing is no object. */
  readonly #isSame = (left: ValueId, right: ValueId): boolean => {
    if (left === right) return true;
    const set = this.#origins.setOf(right);
    return set === 0 || set === this.#origins.setOf(left);
  };

  /** Of a variable: callers have nothing to know of it. */
  list(kind: number, root: RootId, op: OpId, at: OpId): void {
    if (this.#values.recording) this.#list.push(kind, root, op, at, NOTHING);
  }

  /** Any object of the program that is within what `value` holds: `_.set(object, 'a.b', x)`. */
  changeWithin(value: ValueId, op: OpId): void {
    if (!this.#values.recording) return;
    const { tokens } = this.#origins;
    const seen = new Set(this.#origins.tokensOf(value));
    for (const id of seen) {
      if (tokens.get(id).kind !== 'object') continue;
      for (const inner of tokens.knownProperties(id)?.values() ?? []) {
        const held = this.#origins.tokensOf(inner);
        if (held.some((each) => tokens.get(each).kind === 'object')) this.#list.push(Effect.mutate, -1, op, op, inner);
        for (const each of held) seen.add(each);
      }
    }
  }

  /** What `value` holds is changed: by its roots, and by what it may be. */
  change(kind: number, value: ValueId, op: OpId): void {
    if (value === NOTHING) return;
    for (const root of this.#values.selfOf(value)) this.effect(kind, root, op, op, value);
    this.changeObject(kind, value, op, op);
  }

  /** Whoever goes through an iterator, or is given one, leaves less for the next; a sticky regular expression remembers where it stopped. */
  useUp(value: ValueId, op: OpId): void {
    if (!this.#isUsedUpIn(value)) return;
    // What comes out of it may be part of anything, and stays as it is.
    for (const root of this.#values.selfOf(value))
      if (this.#values.roots.isVariable(root) && this.#isUsedUpIn(this.#values.roots.of(root)))
        this.effect(Effect.mutate, root, op, op, value);
    if (this.#values.recording && !this.#own.has(value, this.#values.fn))
      this.#list.push(Effect.mutate, -1, op, op, value);
  }

  #isUsedUp(id: TokenId): boolean {
    const token = this.#origins.tokens.get(id);
    return token.kind === 'object' && usedUp.test(token.type);
  }

  /** Whoever gives a parameter answers for what is done to it, unless nobody is known to give it; and a variable at the top
   *  of a module answers for what it holds. For all else the object itself has to. */
  changeObject(kind: number, value: ValueId, op: OpId, at: OpId): void {
    const roots = this.#values.selfOf(value);
    if (roots.length === 0 && this.#own.has(value, this.#values.fn)) return;
    const given = this.#values.isGivenTo(value, this.#values.fn) && this.#values.entries[this.#values.fn.id] === 0;
    // A parameter may have its default as well, of which no caller knows.
    if (!given || roots.some((root) => this.#values.isOfOuterFunction(root)))
      this.#changeUnanswered(kind, value, roots, op, at);
  }

  /** The same for a value of a callee, of which `roots` is what it is here. */
  changeObjectOf(kind: number, value: ValueId, roots: readonly RootId[], op: OpId, at: OpId): void {
    const isGiven = (root: RootId): boolean =>
      !this.#values.roots.isVariable(root) && this.#values.entries[this.#values.fn.id] === 0;
    if (roots.length > 0 && roots.every(isGiven)) return;
    this.#changeUnanswered(
      kind,
      value,
      roots.filter((root) => !isGiven(root)),
      op,
      at,
    );
  }

  #changeUnanswered(kind: number, value: ValueId, roots: readonly RootId[], op: OpId, at: OpId): void {
    if (!this.#values.recording || value === NOTHING) return;
    const tokens = this.#origins.tokensOf(value);
    if (tokens.length === 0) return;
    if (roots.length > 0 && !this.#mayBeFunction(value) && roots.every((root) => this.#values.isOfModule(root))) return;
    if (tokens.length >= tooManyTokens) this.#values.loseTrack();
    if (tokens.length > 0) this.#list.push(kind, -1, op, at, value);
  }

  /** What a function gives that unknown code was handed: `container.register('repo', () => repo)`. */
  handResult(result: ValueId, op: OpId): void {
    if (this.#values.recording && this.#origins.tokensOf(result).length > 0)
      this.#list.push(Effect.hand, -1, op, op, result);
  }

  /** A value that may be more things than are told apart: what is read of it may be any state. */
  readTooMany(op: OpId, value: ValueId): void {
    if (this.#values.recording && this.#origins.tokensOf(value).length >= tooManyTokens)
      this.#list.push(Effect.unknown, -1, op, op, NOTHING);
  }

  /** `this` of a function that was called without one. */
  readUnknown(op: OpId, receiver: ValueId): void {
    if (this.#values.recording && this.#origins.tokensOf(receiver).includes(UNKNOWN))
      this.#list.push(Effect.unknown, -1, op, op, NOTHING);
  }

  /** `process.env`: what is read from it is text, and part of nothing. */
  isEnvironment(base: ValueId): boolean {
    return this.#mayBeEnvironment(base) && this.#origins.tokensOf(base).length === 1;
  }

  #isEnvironment(id: TokenId): boolean {
    const token = this.#origins.tokens.get(id);
    return token.kind === 'external' && this.#models.isEnvironment(token.shape);
  }

  /** The program's own properties of what a request leads to and what outlives it: `req.socket.hits`. */
  outlivesRequest(base: ValueId, atom: number): boolean {
    return this.#mayOutliveRequest(base) && this.#origins.tokensOf(base).some((id) => this.#outlives(id, atom));
  }

  #outlives(id: TokenId, atom: number): boolean {
    const shape = this.#shapeThatOutlives(id);
    if (shape === null) return false;
    const member = atom === ANY_PROPERTY ? null : this.#models.member(shape, this.#facts.atomName(atom));
    return member === null || this.#models.isUnknown(member);
  }

  #shapeThatOutlives(id: TokenId): Shape | null {
    const token = this.#origins.tokens.get(id);
    if (token.kind !== 'external' || token.site !== everyRequest) return null;
    return this.#models.typeThat(token.shape, (type) => type.outlivesRequest === true) === null ? null : token.shape;
  }
}
