/**
 * How tokens flow: sets of tokens, one for each value, along copies, with the uses that wait for them.
 *
 * Reads:   facts, models (of the names that a type's members have).
 * Gives:   the solution so far; `drain` carries it on until nothing moves.
 *
 * What a use does when a token arrives is not known here: `apply` is given from outside.
 */
import type { Budget } from '../budget.js';
import { ANY_PROPERTY, type AtomId, type Facts, NOTHING, Op, type OpId, type ValueId } from '../facts.js';
import { IntKeys } from '../int-keys.js';
import { IntList } from '../int-list.js';
import type { Models, Shape } from '../models.js';
import { IntSets } from '../sets.js';
import { everyRequest, type TokenId, TokenTable, UNKNOWN } from '../tokens.js';
import type { Load, Use } from './uses.js';
import { WaitingUses } from './waiting-uses.js';

const tooMany = 120;
/** Where no work is left. */
const tooManyAtLast = 4;
/** From so many copies of a value on, those are left out that reach nothing any more. */
const manyCopies = 16;

const takenAtOnce = 1 << 14;

/** What is read there is no part that could change. */
const NUMBERS = /^(length|size|byteLength)$/;

interface OpenCopies {
  readonly to: ValueId[];
  /** How many of the value's copies have been looked at. */
  seen: number;
}

export class TokenFlow {
  readonly facts: Facts;
  readonly models: Models;
  readonly tokens = new TokenTable();
  readonly held = new IntSets();
  readonly prototype: AtomId;
  readonly resolved: AtomId;
  readonly kept: AtomId;
  /** Keys of a Map, which are told apart from what is under them. */
  readonly keys: AtomId;
  /** What an app or a router calls for requests: it does not come out again, as settings do. */
  readonly handlers: AtomId;
  readonly #budget: Budget;
  readonly #edges = new IntSets();
  /** One bit for each value: it is unknown, and holds so much that nothing is added any more. */
  readonly #full = new IntList(256);
  #areSomeFull = false;
  readonly #open = new Map<ValueId, OpenCopies>();
  readonly #uses: WaitingUses;
  readonly #queueValues = new IntList(4096);
  readonly #queueTokens = new IntList(4096);
  /** Codes of uses, and values on which they were laid. */
  readonly #laid = new IntKeys();
  readonly #firstSites = new Map<Shape, Map<string, OpId>>();
  readonly #made = new Map<string, Map<OpId, TokenId>>();
  /** For each instance a value that holds nothing else. */
  readonly #alone = new Map<TokenId, ValueId>();
  #unknownSource: ValueId = NOTHING;
  #apply: (use: Use, token: TokenId) => void = () => {};
  #applyOp: (code: number, token: TokenId) => void = () => {};

  /** Of types that have one instance for all: what the program makes, and values that requests lead to. */
  readonly #ones = new Map<Shape, { readonly made: Set<TokenId>; readonly led: Set<ValueId> }>();

  constructor(facts: Facts, models: Models, budget: Budget) {
    this.facts = facts;
    this.models = models;
    this.#budget = budget;
    this.#uses = new WaitingUses(facts);
    this.prototype = facts.atom('prototype');
    this.resolved = facts.atom('[[resolved]]');
    this.kept = facts.atom('[[kept]]');
    this.keys = facts.atom('[[keys]]');
    this.handlers = facts.atom('[[handlers]]');
  }

  /** Before anything flows: what uses and ops do. */
  connect(apply: (use: Use, token: TokenId) => void, applyOp: (code: number, token: TokenId) => void): void {
    this.#apply = apply;
    this.#applyOp = applyOp;
  }

  add(value: ValueId, token: TokenId): boolean {
    if (value === NOTHING || this.#isFull(value)) return false;
    const size = this.held.size(value);
    const isTooMuch = size >= tooManyAtLast && size >= this.#most;
    // Values that can be nearly anything say nothing; without a bound they cost the most.
    const added = isTooMuch ? UNKNOWN : token;
    const isNew = this.held.add(value, added);
    if (isTooMuch) this.#fill(value);
    if (!isNew) return false;
    this.#queueValues.push(value);
    this.#queueTokens.push(added);
    return true;
  }

  /** So many tokens a value may have. */
  get #most(): number {
    return this.#budget.isExhausted ? tooManyAtLast : tooMany;
  }

  #isFull(value: ValueId): boolean {
    if (!this.#areSomeFull) return false;
    const word = value >> 5;
    return word < this.#full.length && (this.#full.get(word) & (1 << (value & 31))) !== 0;
  }

  #fill(value: ValueId): void {
    this.#areSomeFull = true;
    const word = value >> 5;
    this.#full.extend(word + 1);
    this.#full.set(word, this.#full.get(word) | (1 << (value & 31)));
    this.held.close(value);
  }

  addShape(value: ValueId, shape: Shape, site: number): void {
    // Strings and numbers are no objects to keep track of.
    if (shape.member?.is === 'fresh' && shape.member.call === undefined) return;
    this.add(value, this.tokens.external(shape, site));
    if (this.models.typeThat(shape, isOne) !== null) this.#addOne(value, shape, site);
  }

  /** A request leads to the app that the program made (`req.app`): whoever has it from there has that one. */
  #addOne(value: ValueId, shape: Shape, site: number): void {
    let one = this.#ones.get(shape);
    if (one === undefined) this.#ones.set(shape, (one = { made: new Set(), led: new Set() }));
    if (site === everyRequest) {
      one.led.add(value);
      for (const token of one.made) this.add(value, token);
      return;
    }
    const token = this.tokens.external(shape, site);
    if (one.made.has(token)) return;
    one.made.add(token);
    for (const led of one.led) this.add(led, token);
  }

  edge(from: ValueId, to: ValueId): void {
    if (from === NOTHING || to === NOTHING || from === to) return;
    if (!this.#edges.add(from, to)) return;
    const held = this.held.size(from);
    for (let index = 0; index < held && !this.#isFull(to); index++) {
      // Nine in ten are there already, which says nothing but to who has as many as it may have.
      if (this.held.size(to) < this.#most) index = this.held.firstMissing(from, to, index);
      if (index < held) this.add(to, this.held.at(from, index));
    }
  }

  use(value: ValueId, use: Use): void {
    if (value === NOTHING) return;
    this.#uses.add(value, use);
    this.#applyToHeld(value, use);
  }

  #applyToHeld(value: ValueId, use: Use): void {
    for (let index = 0; this.#goesOn(index, value); index++) this.#apply(use, this.held.at(value, index));
  }

  /** The solution will not be needed. */
  get isGivenUp(): boolean {
    return this.#budget.isGivenUp;
  }

  drain(): void {
    let next = 0;
    while (next < this.#queueValues.length && !this.#budget.isGivenUp) {
      const value = this.#queueValues.get(next);
      const token = this.#queueTokens.get(next);
      next += 1;
      // What has been taken makes room: all that ever moves is many times what waits.
      if (next === takenAtOnce) {
        this.#queueValues.dropFirst(next);
        this.#queueTokens.dropFirst(next);
        next = 0;
      }
      const edges = this.#edges.size(value);
      this.#budget.spend(1 + edges);
      if (edges >= manyCopies) this.#copyAlongOpen(value, token);
      else for (let index = 0; index < edges; index++) this.add(this.#edges.at(value, index), token);
      this.#applyUses(value, token);
    }
    this.#queueValues.length = 0;
    this.#queueTokens.length = 0;
  }

  /** Where everything may be everything, nine copies in ten lead to what is full. */
  #copyAlongOpen(value: ValueId, token: TokenId): void {
    let open = this.#open.get(value);
    if (open === undefined) this.#open.set(value, (open = { to: [], seen: 0 }));
    const edges = this.#edges.size(value);
    for (; open.seen < edges; open.seen++) open.to.push(this.#edges.at(value, open.seen));
    let left = 0;
    for (const to of open.to) {
      if (this.#isFull(to)) continue;
      open.to[left++] = to;
      this.add(to, token);
    }
    open.to.length = left;
  }

  #applyUses(value: ValueId, token: TokenId): void {
    const first = this.#uses.first(value);
    const hasMore = first !== 0 && this.#uses.next(value, first) !== 0;
    for (let at = first; at !== 0 && !this.#budget.isGivenUp; at = hasMore ? this.#uses.next(value, at) : 0) {
      this.#budget.spend(1);
      const op = this.#uses.op(at);
      if (op === null) this.#apply(this.#uses.use(at), token);
      else this.#applyOp(op, token);
    }
  }

  property(token: TokenId, atom: AtomId): ValueId {
    let value = this.tokens.property(token, atom);
    if (value !== undefined) return value;
    value = this.facts.newValue();
    const properties = this.tokens.properties(token);
    properties.add(atom, value);
    this.edge(value, this.tokens.all(token));
    if (!this.#mayHaveAnyName(token)) return value;
    const any = properties.get(ANY_PROPERTY);
    if (atom === ANY_PROPERTY) for (const other of properties.values()) this.edge(value, other);
    else if (any !== undefined) this.edge(any, value);
    return value;
  }

  /** What is stored under a name that is not known may be loaded by any name, but not what a list or a router holds: that
   *  is no `list.map` and no `app.get`. */
  #mayHaveAnyName(id: TokenId): boolean {
    const token = this.tokens.get(id);
    if (token.kind === 'external') return this.models.isUnknown(token.shape);
    return token.kind !== 'object' || !isContainer(token.type) || token.type === 'Object';
  }

  /** Gathers all properties, those to come as well. */
  allProperties(token: TokenId): ValueId {
    let all = this.tokens.all(token);
    if (all !== NOTHING) return all;
    all = this.facts.newValue();
    this.tokens.setAll(token, all);
    for (const value of this.tokens.properties(token).values()) this.edge(value, all);
    return all;
  }

  /** False where the work is too much: what is asked for is unknown then. */
  mayGoOn(work: number): boolean {
    return this.#budget.spend(work);
  }

  /** A use goes on where the object inherits from, and within lists, once: classes and lists may hold each other. */
  lay(value: ValueId, use: Use): void {
    const code = this.#uses.knownCode(use);
    if (!this.#laid.isNew(code, value) || value === NOTHING) return;
    this.#uses.append(value, code);
    this.#applyToHeld(value, use);
  }

  /** The load of an op. */
  loadOf(op: OpId): Load {
    return this.#uses.loadOf(op);
  }

  /** The load, where what `shadow` holds hides what it would find: the same for the same. */
  shadowed(use: Load, shadow: ValueId, up: number): Load {
    return this.#uses.shadowed(use, shadow, up);
  }

  /** The first call of this by the same name (`loggers.get('x')`): what it gives the others give as well. */
  firstSite(shape: Shape, { op, args }: { readonly op: OpId; readonly args: readonly ValueId[] }): OpId {
    const name = this.facts.strings.get(args[0] ?? NOTHING) ?? '';
    let sites = this.#firstSites.get(shape);
    if (sites === undefined) this.#firstSites.set(shape, (sites = new Map()));
    const first = sites.get(name);
    if (first !== undefined) return first;
    sites.set(name, op);
    return op;
  }

  holding(id: TokenId): ValueId {
    let value = this.#alone.get(id);
    if (value === undefined) {
      this.#alone.set(id, (value = this.facts.newValue()));
      this.add(value, id);
    }
    return value;
  }

  madeAt(op: OpId, type: string): TokenId {
    let ofType = this.#made.get(type);
    if (ofType === undefined) this.#made.set(type, (ofType = new Map()));
    let token = ofType.get(op);
    if (token === undefined) {
      const fn = op < 0 ? 0 : this.facts.owner.get(op);
      const start = op < 0 ? 0 : this.facts.position.get(op);
      token = this.tokens.make({ kind: 'object', type, fn, start, proto: NOTHING });
      ofType.set(op, token);
    }
    return token;
  }

  /** Plain data: whatever is in it is taken for the whole of it. */
  addData(value: ValueId, op: OpId): TokenId {
    const token = this.madeAt(op, 'Object');
    this.add(this.property(token, ANY_PROPERTY), token);
    this.add(value, token);
    return token;
  }

  /** Where what the value holds is copied to, or a part of it; whatever it holds, or if it holds nothing. */
  eachLead(value: ValueId, visit: (to: ValueId, isPart: boolean) => void): void {
    const edges = this.#edges.size(value);
    for (let index = 0; index < edges; index++) visit(this.#edges.at(value, index), false);
    for (let at = this.#uses.first(value); at !== 0; at = this.#uses.next(value, at)) {
      const op = this.#uses.op(at);
      if (op !== null) {
        const kind = op < 0 ? -1 : this.facts.kind.get(op);
        const isPart = kind === Op.load && !NUMBERS.test(this.facts.atomName(this.facts.c.get(op)));
        if (isPart || kind === Op.await) visit(this.facts.b.get(op), isPart);
        continue;
      }
      const use = this.#uses.use(at);
      if (use.kind === 'load' || use.kind === 'await') visit(use.to, use.kind === 'load');
    }
  }

  isAffordable(): boolean {
    return this.#budget.spend(1);
  }

  contents(value: ValueId, op: OpId): ValueId {
    const contents = this.facts.newValue();
    this.use(value, { kind: 'load', atom: ANY_PROPERTY, to: contents, receiver: NOTHING, op });
    return contents;
  }

  unknownValue(): ValueId {
    if (this.#unknownSource === NOTHING) {
      this.#unknownSource = this.facts.newValue();
      this.add(this.#unknownSource, UNKNOWN);
    }
    return this.#unknownSource;
  }

  /** What an op does with a value; `~op` for what a method call does with the method. */
  useOp(value: ValueId, code: number): void {
    if (value === NOTHING) return;
    this.#uses.addOp(value, code);
    for (let index = 0; this.#goesOn(index, value); index++) this.#applyOp(code, this.held.at(value, index));
  }

  /** Objects whose properties are copied to many others, which are copied on, cost most of what there is here. */
  #goesOn(index: number, value: ValueId): boolean {
    if (index >= this.held.size(value) || this.#budget.isGivenUp) return false;
    this.#budget.spend(1);
    return true;
  }
}

export function isContainer(name: string): boolean {
  return (
    name === 'Array' ||
    name === 'Map' ||
    name === 'Set' ||
    name === 'Iterator' ||
    name === 'WeakMap' ||
    name === 'WeakSet' ||
    name === 'Object' ||
    name === 'Promise'
  );
}

function isOne({ one }: { readonly one?: boolean }): boolean {
  return one === true;
}
