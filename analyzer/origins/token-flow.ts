/**
 * How tokens flow: sets of tokens, one for each value, along copies, with the uses that wait for them.
 *
 * Reads:   facts, models (of the names that a type's members have).
 * Gives:   the solution so far; `drain` carries it on until nothing moves.
 *
 * What a use does when a token arrives is not known here: `apply` is given from outside.
 */
import type { Budget } from '../budget.js';
import { ANY_PROPERTY, type AtomId, type Facts, NOTHING, type OpId, type ValueId } from '../facts.js';
import { IntList } from '../int-list.js';
import type { Models, Shape } from '../models.js';
import { IntSets } from '../sets.js';
import { type TokenId, TokenTable, UNKNOWN } from '../tokens.js';
import type { Use } from './uses.js';

const tooMany = 120;

export class TokenFlow {
  readonly facts: Facts;
  readonly models: Models;
  readonly tokens = new TokenTable();
  readonly held = new IntSets();
  readonly prototype: AtomId;
  readonly resolved: AtomId;
  readonly kept: AtomId;
  readonly #budget: Budget;
  readonly #edges = new IntSets();
  /** Uses by value: of ops by their number, others as they are. */
  readonly #uses: (number | Use | (number | Use)[] | undefined)[] = [];
  readonly #queueValues = new IntList(4096);
  readonly #queueTokens = new IntList(4096);
  readonly #laid = new Map<Use, Set<ValueId>>();
  readonly #made = new Map<string, TokenId>();
  /** For each instance a value that holds nothing else. */
  readonly #alone = new Map<TokenId, ValueId>();
  #unknownSource: ValueId = NOTHING;
  #apply: (use: Use, token: TokenId) => void = () => {};
  #useOfOp: (code: number) => Use = () => ({ kind: 'escape' });

  constructor(facts: Facts, models: Models, budget: Budget) {
    this.facts = facts;
    this.models = models;
    this.#budget = budget;
    this.prototype = facts.atom('prototype');
    this.resolved = facts.atom('[[resolved]]');
    this.kept = facts.atom('[[kept]]');
  }

  /** Before anything flows: what uses do, and what the use of an op is. */
  connect(apply: (use: Use, token: TokenId) => void, useOfOp: (code: number) => Use): void {
    this.#apply = apply;
    this.#useOfOp = useOfOp;
  }

  add(value: ValueId, token: TokenId): boolean {
    if (value === NOTHING) return false;
    const held = this.held.get(value);
    const most = this.#budget.isExhausted ? 4 : tooMany;
    if (held.length >= most && token !== UNKNOWN) {
      // Values that can be nearly anything say nothing; without a bound they cost the most.
      return this.add(value, UNKNOWN);
    }
    if (!this.held.add(value, token)) return false;
    this.#queueValues.push(value);
    this.#queueTokens.push(token);
    return true;
  }

  addShape(value: ValueId, shape: Shape, site: number): void {
    // Strings and numbers are no objects to keep track of.
    if (shape.member?.is === 'fresh' && shape.member.call === undefined) return;
    this.add(value, this.tokens.external(shape, site));
  }

  edge(from: ValueId, to: ValueId): void {
    if (from === NOTHING || to === NOTHING || from === to) return;
    if (!this.#edges.add(from, to)) return;
    for (const token of this.held.get(from)) this.add(to, token);
  }

  use(value: ValueId, use: Use): void {
    if (value === NOTHING) return;
    this.#addUse(value, use);
    const held = this.held.get(value);
    for (let index = 0; index < held.length; index++) this.#apply(use, held[index] as TokenId);
  }

  #addUse(value: ValueId, use: number | Use): void {
    while (this.#uses.length <= value) this.#uses.push(undefined);
    const uses = this.#uses[value];
    if (uses === undefined) this.#uses[value] = use;
    else if (Array.isArray(uses)) uses.push(use);
    else this.#uses[value] = [uses, use];
  }

  #applyEither(use: number | Use, token: TokenId): void {
    this.#apply(typeof use === 'number' ? this.#useOfOp(use) : use, token);
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
      this.#budget.spend(1 + this.#edges.get(value).length);
      for (const to of this.#edges.get(value)) this.add(to, token);
      const uses = this.#uses[value];
      if (uses === undefined) continue;
      if (!Array.isArray(uses)) this.#applyEither(uses, token);
      else for (let index = 0; index < uses.length; index++) this.#applyEither(uses[index] as number | Use, token);
    }
    this.#queueValues.length = 0;
    this.#queueTokens.length = 0;
  }

  property(token: TokenId, atom: AtomId): ValueId {
    const properties = this.tokens.properties(token);
    let value = properties.get(atom);
    if (value !== undefined) return value;
    value = this.facts.newValue();
    properties.set(atom, value);
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

  /** A use goes on where the object inherits from, and within lists, once: classes and lists may hold each other. */
  lay(value: ValueId, use: Use): void {
    let laid = this.#laid.get(use);
    if (laid === undefined) this.#laid.set(use, (laid = new Set()));
    if (laid.has(value)) return;
    laid.add(value);
    this.use(value, use);
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
    const key = `${op} ${type}`;
    let token = this.#made.get(key);
    if (token === undefined) {
      const fn = op < 0 ? 0 : this.facts.owner.get(op);
      const start = op < 0 ? 0 : this.facts.position.get(op);
      token = this.tokens.make({ kind: 'object', type, fn, start, proto: NOTHING });
      this.#made.set(key, token);
    }
    return token;
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
    this.#addUse(value, code);
    const held = this.held.get(value);
    for (let index = 0; index < held.length; index++) this.#apply(this.#useOfOp(code), held[index] as TokenId);
  }
}

export function isContainer(name: string): boolean {
  return (
    name === 'Array' ||
    name === 'Map' ||
    name === 'Set' ||
    name === 'WeakMap' ||
    name === 'WeakSet' ||
    name === 'Object' ||
    name === 'Promise'
  );
}
