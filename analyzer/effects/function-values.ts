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
import { INNER, OpReads, SELF } from './op-reads.js';
import type { Summary } from './summary.js';

const mostRoots = 500;
const noRoots: readonly RootId[] = [];

/** What a value is, in bits. */
const IS_VARIABLE = 1;
const IS_RECEIVER = 2;
/** It is (part of) what its function is given. */
const IS_GIVEN = 4;
/** A variable of a module's top level. */
const IS_OF_MODULE = 8;

export class FunctionValues {
  readonly roots: RootTable;
  /** Functions that are called by others than code that the analysis follows. */
  readonly entries: Uint8Array;
  readonly thisAliases: Map<ValueId, ValueId>;
  readonly #facts: Facts;
  readonly #origins: Origins;
  readonly #ops: OpsByFunction;
  readonly #list: EffectList;
  #bits: Uint8Array;
  readonly #lost = new Set<FunctionId>();

  // The function being looked at. Each value that it uses has a slot, by whose number the lists go.
  fn!: FunctionFact;
  summary!: Summary;
  #slotOf: Int32Array;
  #used: ValueId[] = [NOTHING];
  /** The root that the value is by itself, -1 if none. */
  #own: RootId[] = [-1];
  #self: (RootId[] | undefined)[] = [undefined];
  #inner: (RootId[] | undefined)[] = [undefined];
  /** Its own root and `#self`, once somebody has asked. */
  #all: (readonly RootId[] | undefined)[] = [undefined];
  /** What ops look at. */
  readonly reads = new OpReads();
  /** Some list is as long as one may be: what is done with it is to be done again. */
  isCrowded = false;
  /** Something new in the summary. */
  changed = false;
  /** Something new for a value that has been looked at in this round. */
  moved = false;
  /** Effects are listed in this round. */
  recording = false;

  constructor(facts: Facts, origins: Origins, ops: OpsByFunction, list: EffectList, entries: Uint8Array) {
    this.#facts = facts;
    this.#origins = origins;
    this.#ops = ops;
    this.#list = list;
    this.entries = entries;
    this.roots = new RootTable(facts.variables);
    this.#slotOf = new Int32Array(facts.valueCount + 1);
    this.#bits = new Uint8Array(facts.valueCount + 1);
    for (const fn of facts.functions) {
      this.#mark(fn.receiver, IS_RECEIVER | IS_GIVEN);
      for (const param of fn.params) this.#mark(param, IS_GIVEN);
    }
    for (const { value, owner } of facts.variables.values())
      this.#mark(value, owner >= 0 && facts.fn(owner).parent === -1 ? IS_VARIABLE | IS_OF_MODULE : IS_VARIABLE);
    this.thisAliases = this.#findThisAliases();
  }

  isVariable(value: ValueId): boolean {
    return this.#is(value, IS_VARIABLE);
  }

  #mark(value: ValueId, bits: number): void {
    this.#bits[value] = (this.#bits[value] as number) | bits;
  }

  #is(value: ValueId, bits: number): boolean {
    return ((this.#bits[value] as number) & bits) !== 0;
  }

  enter(fn: FunctionFact, summary: Summary): void {
    this.fn = fn;
    this.summary = summary;
    for (const value of this.#used) this.#slotOf[value] = 0;
    this.#used.length = 1;
    this.isCrowded = false;
    this.reads.clear();
    this.reads.addSlot();
    for (const [index, param] of fn.params.entries()) {
      // Of two parameters of one name the last one counts.
      if (param === NOTHING) continue;
      const slot = this.#slot(param);
      if (!this.#is(param, IS_RECEIVER)) this.#own[slot] = this.roots.param(index);
    }
  }

  /** Nothing is looked at any more. */
  leave(): void {
    this.recording = false;
    this.#used = [NOTHING];
    this.#slotOf = new Int32Array(0);
    this.reads.leave();
    for (const lists of [this.#own, this.#self, this.#inner, this.#all]) lists.length = 1;
  }

  startRound(record: boolean): void {
    this.moved = false;
    this.recording = record;
    this.#lost.delete(this.fn.id);
    this.reads.startRound();
  }

  #slot(value: ValueId): number {
    const known = this.#slotOf[value] as number;
    if (known !== 0) return known;
    const slot = this.#used.push(value) - 1;
    this.#slotOf[value] = slot;
    this.#own[slot] = this.#ownRoot(value);
    this.#self[slot] = undefined;
    this.#inner[slot] = undefined;
    this.#all[slot] = undefined;
    this.reads.addSlot();
    return slot;
  }

  #ownRoot(value: ValueId): RootId {
    if (this.#is(value, IS_RECEIVER)) {
      const isOwn = value === this.fn.receiver && (this.fn.flags & FunctionFlag.arrow) === 0;
      return isOwn ? this.roots.this() : this.roots.variable(value);
    }
    return this.#is(value, IS_VARIABLE) ? this.roots.variable(value) : -1;
  }

  /** `const self = this` */
  #findThisAliases(): Map<ValueId, ValueId> {
    const aliases = new Map<ValueId, ValueId>();
    const assigned = new Set<ValueId>();
    const { kind: kinds } = this.#facts;
    for (let op = 0; op < kinds.length; op++) {
      if (kinds.get(op) !== Op.copy) continue;
      const [from, to] = [this.#facts.a.get(op), this.#facts.b.get(op)];
      if (this.#is(from, IS_RECEIVER) && !assigned.has(to) && this.#is(to, IS_VARIABLE)) aliases.set(to, from);
      else if (aliases.size > 0) aliases.delete(to);
      assigned.add(to);
    }
    return aliases;
  }

  selfOf(value: ValueId): readonly RootId[] {
    if (value === NOTHING) return noRoots;
    if (this.thisAliases.size > 0) {
      const alias = this.thisAliases.get(value);
      if (alias !== undefined) return this.selfOf(alias);
    }
    const slot = this.#slot(value);
    this.reads.look(slot, SELF);
    return (this.#all[slot] ??= this.#allOf(slot, value));
  }

  #allOf(slot: number, value: ValueId): readonly RootId[] {
    const own = this.#own[slot] as RootId;
    const found = this.#self[slot];
    if (own === -1) return found ?? noRoots;
    if (found === undefined || this.#is(value, IS_RECEIVER)) return [own];
    return [own, ...found.filter((root) => root !== own)];
  }

  innerOf(value: ValueId): readonly RootId[] {
    if (value === NOTHING) return noRoots;
    const slot = this.#slot(value);
    this.reads.look(slot, INNER);
    return this.#inner[slot] ?? noRoots;
  }

  contentsOf(value: ValueId): readonly RootId[] {
    const self = this.selfOf(value);
    const inner = this.innerOf(value);
    if (self.length === 0 && inner.length === 0) return noRoots;
    return [...self, ...inner].map((root) => this.roots.deep(root));
  }

  addSelf(value: ValueId, roots: readonly RootId[]): void {
    if (value === NOTHING) return;
    const slot = this.#slotOf[value] as number;
    if (slot !== 0 && (this.#self[slot]?.length ?? 0) >= mostRoots) this.loseTrack();
    if (roots.length === 0) return;
    const to = this.#slot(value);
    if (!addAll(this.#self, to, roots)) return;
    this.#all[to] = undefined;
    this.#noteMore(to, SELF, this.#self);
    if (!this.#is(value, IS_GIVEN) && roots.some((root) => !this.roots.isVariable(root))) this.#mark(value, IS_GIVEN);
  }

  addInner(value: ValueId, roots: readonly RootId[]): void {
    if (value === NOTHING) return;
    const slot = this.#slotOf[value] as number;
    if (slot !== 0 && (this.#inner[slot]?.length ?? 0) >= mostRoots) this.loseTrack();
    if (roots.length === 0) return;
    const to = this.#slot(value);
    if (addAll(this.#inner, to, roots)) this.#noteMore(to, INNER, this.#inner);
  }

  #noteMore(slot: number, kind: number, lists: readonly (readonly RootId[] | undefined)[]): void {
    if (this.reads.change(slot, kind)) this.moved = true;
    if ((lists[slot]?.length ?? 0) >= mostRoots) this.isCrowded = true;
  }

  /** Calls `visit` with each value that is used and with what it is part of, or holds a part of. */
  eachUsed(visit: (value: ValueId, self: readonly RootId[], inner: readonly RootId[]) => void): void {
    for (let slot = 1; slot < this.#used.length; slot++) {
      const self = this.#self[slot];
      const inner = this.#inner[slot];
      if (self !== undefined || inner !== undefined)
        visit(this.#used[slot] as ValueId, self ?? noRoots, inner ?? noRoots);
    }
  }

  /** A value may be part of more things than can be told apart. Start-up code changes nothing later; any other function may
   *  then change anything. */
  loseTrack(): void {
    if (!this.recording || this.#lost.has(this.fn.id) || this.fn.parent === -1) return;
    this.#lost.add(this.fn.id);
    this.#list.push(Effect.opaque, -1, this.#ops.of(this.fn.id)[0] ?? 0, this.#ops.of(this.fn.id)[0] ?? 0, NOTHING);
  }

  copy(from: ValueId, to: ValueId): void {
    const wasRead = this.reads.isSeen(this.#slotOf[from] as number, SELF);
    this.addSelf(to, this.selfOf(from));
    if (this.#isRootless(from) && this.#isFromElsewhere(from) && this.#isAnyGiven(this.selfOf(to)))
      this.addSelf(to, [this.roots.variable(from)]);
    this.addInner(to, this.innerOf(from));
    if (!this.#is(to, IS_VARIABLE)) return;
    // From now on the value is also reached through the variable. To the variable itself that is no news, to a parameter it is.
    const root = this.roots.variable(to);
    if (this.#own[this.#slot(to)] === root) this.reads.setSeen(this.#slotOf[from] as number, SELF, wasRead);
    this.link(from, [root]);
  }

  /** A second source beside what is given: a default, of which no caller knows. It has no root but itself. */
  isGivenElse(value: ValueId, others: Iterable<RootId>): boolean {
    return this.#isRootless(value) && this.#isFromElsewhere(value) && this.#isAnyGiven(others);
  }

  #isRootless(value: ValueId): boolean {
    return value !== NOTHING && this.selfOf(value).length === 0;
  }

  #isAnyGiven(roots: Iterable<RootId>): boolean {
    for (const root of roots) if (!this.roots.isVariable(root)) return true;
    return false;
  }

  #isFromElsewhere(value: ValueId): boolean {
    for (const id of this.#origins.tokensOf(value)) if (!this.#isMadeHere(id)) return true;
    return false;
  }

  #isMadeHere(id: TokenId): boolean {
    const token = this.#origins.tokens.get(id);
    if (token.kind === 'external') return token.site >= 0 && this.#facts.owner.get(token.site) === this.fn.id;
    return token.kind === 'object' && token.fn === this.fn.id;
  }

  /** What `value` is becomes part of `roots`: changing it through any name changes those. */
  link(value: ValueId, roots: readonly RootId[]): void {
    if (value === NOTHING || roots.length === 0) return;
    const wasRead = this.reads.isSeen(this.#slotOf[value] as number, SELF);
    for (const root of this.selfOf(value)) if (!this.roots.isVariable(root)) this.#keep(root, roots);
    // What is looked for here is none of those.
    if (!this.#isAnyGiven(roots)) this.reads.setSeen(this.#slotOf[value] as number, SELF, wasRead);
    this.addSelf(value, roots);
  }

  #keep(param: RootId, into: readonly RootId[]): void {
    const kept = this.summary.keptOf(param);
    for (const root of into) {
      if (root === param || kept.has(root)) continue;
      if (kept.size + 1 >= mostRoots) this.isCrowded = true;
      if (kept.size >= mostRoots) return this.loseTrack();
      kept.add(root);
      this.changed = true;
    }
  }

  /** Fields are told apart on `this` itself, and on nothing else. */
  hasFields(root: RootId): boolean {
    const base = this.roots.baseOf(root);
    const mayHave = base === 'this' || (base === 'variable' && this.#is(this.roots.of(root), IS_RECEIVER));
    return mayHave && this.roots.isWhole(root);
  }

  noteReturned(root: RootId): void {
    const { returnsSelf } = this.summary;
    if (returnsSelf.has(root)) return;
    if (returnsSelf.size + 1 >= mostRoots) this.isCrowded = true;
    if (returnsSelf.size >= mostRoots) return this.loseTrack();
    this.summary.addReturnsSelf(root);
    this.changed = true;
  }

  noteReturnedWithin(root: RootId): void {
    const { returnsInner } = this.summary;
    if (returnsInner.has(root)) return;
    if (returnsInner.size + 1 >= mostRoots) this.isCrowded = true;
    if (returnsInner.size >= mostRoots) return this.loseTrack();
    this.summary.addReturnsInner(root);
    this.changed = true;
  }

  variableRoot(variable: ValueId): RootId {
    if (this.thisAliases.size === 0) return this.roots.variable(variable);
    return this.roots.variable(this.thisAliases.get(variable) ?? variable);
  }

  /** (Part of) a parameter or `this` of that very function: a function within it gets it from nobody. */
  isGivenTo(value: ValueId, fn: FunctionFact): boolean {
    // Another part of the same function may show that it is.
    if (this.recording && fn === this.fn) this.reads.look(this.#slot(value), SELF);
    if (!this.#is(value, IS_GIVEN)) return false;
    if (this.#is(value, IS_RECEIVER)) return value === fn.receiver && (fn.flags & FunctionFlag.arrow) === 0;
    return !this.#is(value, IS_VARIABLE) || this.#facts.variables.ownerOf(value) === fn.id;
  }

  isOfModule(root: RootId): boolean {
    return this.roots.isVariable(root) && this.#is(this.roots.of(root), IS_OF_MODULE);
  }

  isOfOuterFunction(root: RootId): boolean {
    if (!this.roots.isVariable(root)) return false;
    const value = this.roots.of(root);
    // What no variable holds: see `isGivenElse`.
    if (!this.#is(value, IS_VARIABLE)) return !this.#is(value, IS_RECEIVER);
    if (this.#is(value, IS_OF_MODULE)) return false;
    const owner = this.#facts.variables.ownerOf(value) ?? -1;
    return owner >= 0 && owner !== this.fn.id;
  }
}

/** True if anything is new. */
function addAll(lists: (RootId[] | undefined)[], slot: number, roots: readonly RootId[]): boolean {
  const list = lists[slot];
  if (list === undefined) {
    lists[slot] = roots.length === 1 ? [roots[0] as RootId] : [...new Set(roots)].slice(0, mostRoots);
    return true;
  }
  const before = list.length;
  // Lists are short: a value is part of one or two things, or of more than it is worth to tell apart.
  for (const root of roots) if (list.length < mostRoots && !list.includes(root)) list.push(root);
  return list.length > before;
}
