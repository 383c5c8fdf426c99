/**
 * What the values of one function are part of: their roots, while the function is looked at.
 *
 * Reads:   facts, origins.
 * Gives:   for each value the roots that it is, and those that it holds; to the summary: what is returned and kept.
 */
import type { OpsByFunction } from '../call-graph.js';
import { type Facts, type FunctionFact, FunctionFlag, type FunctionId, NOTHING, Op, type ValueId } from '../facts.js';
import { type RootId, RootTable } from '../roots.js';
import type { TokenId } from '../tokens.js';
import type { Origins } from '../trace-origins.js';
import type { EffectList } from './effect-list.js';
import { Effect } from './kinds.js';
import type { Summary } from './summary.js';

const mostRoots = 500;
const noRoots: readonly RootId[] = [];

export class FunctionValues {
  readonly roots = new RootTable();
  /** Functions that are called by others than code that the analysis follows. */
  readonly entries: Uint8Array;
  /** Values that are some function's `this`. */
  readonly receivers = new Set<ValueId>();
  readonly thisAliases: Map<ValueId, ValueId>;
  readonly #facts: Facts;
  readonly #origins: Origins;
  readonly #ops: OpsByFunction;
  readonly #list: EffectList;
  readonly #given: Uint8Array;
  readonly #lost = new Set<FunctionId>();

  // The function being looked at.
  fn!: FunctionFact;
  summary!: Summary;
  self = new Map<ValueId, RootId[]>();
  inner = new Map<ValueId, RootId[]>();
  #params = new Map<ValueId, number>();
  /** Something new in the summary. */
  changed = false;
  /** Something new for a value. */
  moved = false;
  /** Effects are listed in this round. */
  recording = false;

  constructor(facts: Facts, origins: Origins, ops: OpsByFunction, list: EffectList, entries: Uint8Array) {
    this.#facts = facts;
    this.#origins = origins;
    this.#ops = ops;
    this.#list = list;
    this.entries = entries;
    this.#given = new Uint8Array(facts.valueCount + 1);
    for (const fn of facts.functions) {
      this.receivers.add(fn.receiver);
      for (const value of [fn.receiver, ...fn.params]) this.#given[value] = 1;
    }
    this.thisAliases = this.#findThisAliases();
  }

  enter(fn: FunctionFact, summary: Summary): void {
    this.fn = fn;
    this.summary = summary;
    this.self = new Map();
    this.inner = new Map();
    this.#params = new Map(fn.params.map((param, index) => [param, index]));
  }

  startRound(record: boolean): void {
    this.moved = false;
    this.recording = record;
    this.#lost.delete(this.fn.id);
  }

  /** `const self = this` */
  #findThisAliases(): Map<ValueId, ValueId> {
    const aliases = new Map<ValueId, ValueId>();
    const assigned = new Set<ValueId>();
    for (let op = 0; op < this.#facts.kind.length; op++) {
      if (this.#facts.kind.get(op) !== Op.copy) continue;
      const [from, to] = [this.#facts.a.get(op), this.#facts.b.get(op)];
      if (this.receivers.has(from) && !assigned.has(to) && this.#facts.variables.has(to)) aliases.set(to, from);
      else aliases.delete(to);
      assigned.add(to);
    }
    return aliases;
  }

  selfOf(value: ValueId): readonly RootId[] {
    if (value === NOTHING) return noRoots;
    const alias = this.thisAliases.get(value);
    if (alias !== undefined) return this.selfOf(alias);
    if (this.receivers.has(value)) {
      const own = value === this.fn.receiver && (this.fn.flags & FunctionFlag.arrow) === 0;
      return [own ? this.roots.this() : this.roots.variable(value)];
    }
    const found = this.self.get(value) ?? noRoots;
    const param = this.#params.get(value);
    const own =
      param !== undefined
        ? this.roots.param(param)
        : this.#facts.variables.has(value)
          ? this.roots.variable(value)
          : -1;
    if (own === -1) return found;
    return found.length === 0 ? [own] : [own, ...found];
  }

  innerOf(value: ValueId): readonly RootId[] {
    return this.inner.get(value) ?? noRoots;
  }

  contentsOf(value: ValueId): readonly RootId[] {
    const self = this.selfOf(value);
    const inner = this.innerOf(value);
    if (self.length === 0 && inner.length === 0) return noRoots;
    return [...self, ...inner].map((root) => this.roots.deep(root));
  }

  addSelf(value: ValueId, roots: readonly RootId[]): void {
    if ((this.self.get(value)?.length ?? 0) >= mostRoots) this.loseTrack();
    if (!addAll(this.self, value, roots)) return;
    this.moved = true;
    if (this.#given[value] === 0 && roots.some((root) => this.roots.get(root).base !== 'variable'))
      this.#given[value] = 1;
  }

  addInner(value: ValueId, roots: readonly RootId[]): void {
    if ((this.inner.get(value)?.length ?? 0) >= mostRoots) this.loseTrack();
    if (addAll(this.inner, value, roots)) this.moved = true;
  }

  /** A value may be part of more things than can be told apart. Start-up code changes nothing later; any other function may
   *  then change anything. */
  loseTrack(): void {
    if (!this.recording || this.#lost.has(this.fn.id) || this.fn.parent === -1) return;
    this.#lost.add(this.fn.id);
    this.#list.push(Effect.opaque, -1, this.#ops.of(this.fn.id)[0] ?? 0, this.#ops.of(this.fn.id)[0] ?? 0, NOTHING);
  }

  copy(from: ValueId, to: ValueId): void {
    this.addSelf(to, this.selfOf(from));
    if (this.isGivenElse(from, this.selfOf(to))) this.addSelf(to, [this.roots.variable(from)]);
    this.addInner(to, this.innerOf(from));
    if (!this.#facts.variables.has(to)) return;
    // From now on the value is also reached through the variable.
    this.link(from, [this.roots.variable(to)]);
  }

  /** A second source beside what is given: a default, of which no caller knows. It has no root but itself. */
  isGivenElse(value: ValueId, others: Iterable<RootId>): boolean {
    if (value === NOTHING || this.selfOf(value).length > 0) return false;
    const isGiven = [...others].some((root) => this.roots.get(root).base !== 'variable');
    return isGiven && this.#origins.tokensOf(value).some((id) => !this.#isMadeHere(id));
  }

  #isMadeHere(id: TokenId): boolean {
    const token = this.#origins.tokens.get(id);
    if (token.kind === 'external') return token.site >= 0 && this.#facts.owner.get(token.site) === this.fn.id;
    return token.kind === 'object' && token.fn === this.fn.id;
  }

  /** What `value` is becomes part of `roots`: changing it through any name changes those. */
  link(value: ValueId, roots: readonly RootId[]): void {
    if (value === NOTHING || roots.length === 0) return;
    for (const root of this.selfOf(value)) {
      if (this.roots.get(root).base !== 'variable') this.#keep(root, roots);
    }
    this.addSelf(value, roots);
  }

  #keep(param: RootId, into: readonly RootId[]): void {
    let kept = this.summary.keeps.get(param);
    if (kept === undefined) this.summary.keeps.set(param, (kept = new Set()));
    for (const root of into) {
      if (root === param || kept.has(root)) continue;
      if (kept.size >= mostRoots) return this.loseTrack();
      kept.add(root);
      this.changed = true;
    }
  }

  /** Fields are told apart on `this` itself, and on nothing else. */
  hasFields(root: RootId): boolean {
    const { base, id, field, deep } = this.roots.get(root);
    return field === -1 && !deep && (base === 'this' || (base === 'variable' && this.receivers.has(id)));
  }

  note(set: Set<RootId>, root: RootId): void {
    if (set.has(root)) return;
    if (set.size >= mostRoots) return this.loseTrack();
    set.add(root);
    this.changed = true;
  }

  variableRoot(variable: ValueId): RootId {
    return this.roots.variable(this.thisAliases.get(variable) ?? variable);
  }

  /** (Part of) a parameter or `this` of that very function: a function within it gets it from nobody. */
  isGivenTo(value: ValueId, fn: FunctionFact): boolean {
    if (this.#given[value] !== 1) return false;
    if (this.receivers.has(value)) return value === fn.receiver && (fn.flags & FunctionFlag.arrow) === 0;
    const owner = this.#facts.variables.get(value)?.owner;
    return owner === undefined || owner === fn.id;
  }

  isOfModule(root: RootId): boolean {
    const { base, id } = this.roots.get(root);
    const owner = base === 'variable' ? this.#facts.variables.get(id)?.owner : undefined;
    return owner !== undefined && owner >= 0 && this.#facts.fn(owner).parent === -1;
  }

  isOfOuterFunction(root: RootId): boolean {
    const { base, id } = this.roots.get(root);
    if (base !== 'variable') return false;
    const owner = this.#facts.variables.get(id)?.owner;
    // What no variable holds: see `isGivenElse`.
    if (owner === undefined) return !this.receivers.has(id);
    return owner >= 0 && owner !== this.fn.id && this.#facts.fn(owner).parent !== -1;
  }
}

/** True if anything is new. */
function addAll(sets: Map<ValueId, RootId[]>, value: ValueId, roots: readonly RootId[]): boolean {
  if (value === NOTHING || roots.length === 0) return false;
  let list = sets.get(value);
  if (list === undefined) sets.set(value, (list = []));
  const before = list.length;
  // Lists are short: a value is part of one or two things, or of more than it is worth to tell apart.
  for (const root of roots) if (list.length < mostRoots && !list.includes(root)) list.push(root);
  return list.length > before;
}
