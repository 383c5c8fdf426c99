/**
 * Reads:   Pipeline, which parts are start-up.
 * Gives:   the cells of the program: one for each variable, field of `this` and lasting object that somebody asks for, with
 *          all that is known of it whoever uses it.
 */
import { declares, type Part, type PartId } from '../analyzer/cut-parts.js';
import {
  type AtomId,
  type FunctionId,
  NOTHING,
  Op,
  type OpId,
  type ValueId,
  type VariableFact,
  VariableKind,
} from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { IntList } from '../analyzer/int-list.js';
import { setOfOne, type TokenId, UNKNOWN } from '../analyzer/tokens.js';
import type { TypeModel } from '../models/types.js';
import { Cell, CellColumns, type CellContext, type CellFacts, type CellOrigin } from './cells.js';
import type { Flows } from './flows.js';
import type { LastingObjects } from './lasting-objects.js';
import { TouchTable } from './touches.js';

export class CellTable {
  readonly #pipeline: Pipeline;
  readonly #lasting: LastingObjects;
  readonly #startUp: ReadonlySet<PartId>;
  readonly #context: CellContext;
  readonly #cells: Cell[] = [];
  /** By row of the variable its cell, plus one; of those that have no row. */
  readonly #byRow: Int32Array;
  readonly #byOther = new Map<ValueId, Cell>();
  readonly #byField = new Map<TokenId, Map<AtomId, Cell>>();
  readonly #byReceiver = new Map<ValueId, Map<AtomId, Cell>>();
  readonly #byObject = new Map<TokenId, Cell>();
  /** For fields of `this`: the object that they are fields of. */
  readonly #fieldOwners = new Map<Cell, TokenId>();
  /** Functions by the value that is their `this`. */
  readonly #receivers = new Map<ValueId, FunctionId>();
  readonly #declaredIn = new Map<number, readonly PartId[]>();
  /** By token the variable that holds it, or 0. */
  #holders: Int32Array | null = null;
  #declarations: Map<string, OpId> | null = null;
  /** Names of properties that somebody gives an instance. */
  #stored: Set<AtomId> | null = null;

  constructor(pipeline: Pipeline, flows: Flows, lasting: LastingObjects) {
    this.#pipeline = pipeline;
    this.#lasting = lasting;
    this.#byRow = new Int32Array(pipeline.facts.variables.rows);
    // Start-up goes on behind what it awaits; but what a request runs as well is no start-up.
    this.#startUp = new Set([0, ...flows.behind(0).keys()].filter((part) => !flows.isInRequest(part)));
    this.#context = {
      columns: new CellColumns(),
      startUp: this.#startUp,
      touches: new TouchTable(),
      indexes: new Map(),
      hints: new Map(),
      membersOf: pipeline.origins.membersOf,
      isComplete: false,
    };
    for (const fn of pipeline.facts.functions) this.#receivers.set(fn.receiver, fn.id);
  }

  /** In the order in which they were asked for. */
  get all(): readonly Cell[] {
    return this.#cells;
  }

  get objects(): ReadonlyMap<TokenId, Cell> {
    return this.#byObject;
  }

  get fieldOwners(): ReadonlyMap<Cell, TokenId> {
    return this.#fieldOwners;
  }

  isReceiver(value: ValueId): boolean {
    return this.#receivers.has(value);
  }

  get context(): CellContext {
    return this.#context;
  }

  /** The cell of a variable, if anybody has asked for it. */
  known(variable: ValueId): Cell | undefined {
    const row = this.#pipeline.facts.variables.rowOf(variable);
    return row === -1 ? this.#byOther.get(variable) : this.#cells[(this.#byRow[row] as number) - 1];
  }

  ofObject(id: TokenId): Cell {
    const token = this.#lasting.representative(id);
    let cell = this.#byObject.get(token);
    if (cell === undefined) {
      cell = this.#add({
        name: '',
        module: 0,
        start: 0,
        variable: null,
        origin: 'startup',
        declaredBy: onlyMain,
        set: setOfOne(token),
      });
      this.#byObject.set(token, cell);
    }
    return cell;
  }

  ofVariable(value: ValueId): Cell | null {
    const canonical = this.#pipeline.graph.aliases.get(value) ?? value;
    const known = this.known(canonical);
    if (known !== undefined) return known;
    const fact = this.#pipeline.facts.variables.get(canonical) ?? this.#pipeline.facts.variables.get(value);
    if (fact === undefined) return null;
    const set = this.#pipeline.origins.setOf(canonical);
    const declaredBy = fact.owner < 0 ? onlyMain : this.#declarers(fact);
    const cell = this.#add({
      // `exports` and `module` are no variables of the program: their state has other names.
      name: fact.kind === VariableKind.module ? '' : fact.name,
      module: fact.module,
      start: fact.start,
      variable: canonical,
      origin: this.#originOf(fact.kind, declaredBy, this.#pipeline.origins.membersOf(set)),
      declaredBy,
      set,
    });
    const row = this.#pipeline.facts.variables.rowOf(canonical);
    if (row === -1) this.#byOther.set(canonical, cell);
    else this.#byRow[row] = cell.id + 1;
    return cell;
  }

  /** Parts that run the declaration; variables of one function are mostly declared together. */
  #declarers(fact: VariableFact): readonly PartId[] {
    const { facts, parts } = this.#pipeline;
    const runners = parts.runners.get(fact.owner) ?? noParts;
    // Without a cut in it, whoever runs the function runs all of it.
    if (facts.fn(fact.owner).cuts.length === 0) return runners;
    const key = (fact.owner * 0x10000 + fact.segmentFrom) * 0x10000 + fact.segment;
    let declarers = this.#declaredIn.get(key);
    if (declarers === undefined) {
      // As long as it is, where a list that has grown has room for more.
      declarers = runners.filter((id) => declares(parts.list[id] as Part, fact)).slice();
      this.#declaredIn.set(key, declarers);
    }
    return declarers;
  }

  #originOf(kind: number, declaredBy: readonly PartId[], tokens: readonly TokenId[]): CellOrigin {
    if (kind === VariableKind.global) return 'outside';
    if (!declaredBy.every((part) => this.#startUp.has(part))) return 'flow';
    return tokens.length > 0 && tokens.every((id) => this.#isImported(id)) ? 'outside' : 'startup';
  }

  #isImported(id: TokenId): boolean {
    const token = this.#pipeline.origins.tokens.get(id);
    return token.kind === 'external' && token.site === -1;
  }

  #add(base: Pick<CellFacts, 'name' | 'module' | 'start' | 'variable' | 'origin' | 'declaredBy' | 'set'>): Cell {
    const { name, module, start, variable, origin, declaredBy, set } = base;
    const tokens = this.#pipeline.origins.membersOf(set);
    // Key by key: to spread `base` here took half of the time of this pass.
    const facts: CellFacts = {
      name,
      module,
      start,
      variable,
      origin,
      declaredBy,
      set,
      hint: name === '' ? this.#hint(tokens) : name,
      isServer: tokens.some((id) => this.#isServer(id)),
      isOfPackage: tokens.length === 1 && this.#isOfPackage(tokens[0] as TokenId),
      request: this.#requestKind(tokens),
      travels: this.#travels(tokens),
      isFunction: tokens.length > 0 && tokens.every((id) => this.#pipeline.origins.tokens.functionOf(id) !== null),
    };
    const cell = new Cell(this.#cells.length, facts, this.#context);
    this.#cells.push(cell);
    return cell;
  }

  #isOfPackage(id: TokenId): boolean {
    const token = this.#pipeline.origins.tokens.get(id);
    return token.kind === 'external' && token.shape.package !== '' && !token.shape.isOfNode;
  }

  #requestKind(tokens: readonly TokenId[]): Cell['request'] {
    const { models, origins } = this.#pipeline;
    let kind: Cell['request'] = null;
    for (const id of tokens) {
      const token = origins.tokens.get(id);
      if (token.kind !== 'external') continue;
      if (models.typeThat(token.shape, (type) => type.reply === true) !== null) return 'reply';
      if (models.typeThat(token.shape, (type) => type.perRequest === true || type.travels === 'bridge') !== null)
        kind = 'request';
    }
    return kind;
  }

  /** The variable that holds such an object, itself or within what it holds, if any. */
  #hint(tokens: readonly TokenId[]): string {
    this.#holders ??= this.#findHolders();
    const holder = tokens.map((id) => this.#holders?.[id] as ValueId).find((variable) => variable !== NOTHING);
    return this.#pipeline.facts.variables.nameOf(holder ?? NOTHING) ?? 'object';
  }

  /** The nearest ones first. */
  #findHolders(): Int32Array {
    const { facts, origins } = this.#pipeline;
    const holders = new Int32Array(origins.tokens.length);
    const queue = new IntList(1024);
    const hold = (value: ValueId, variable: ValueId): void => {
      for (const id of origins.tokensOf(value)) {
        if (id === UNKNOWN || holders[id] !== NOTHING) continue;
        holders[id] = variable;
        queue.push(id);
      }
    };
    for (const { kind, value } of facts.variables.values()) if (kind !== VariableKind.module) hold(value, value);
    for (let at = 0; at < queue.length; at++) {
      const id = queue.get(at);
      if (origins.tokens.get(id).kind !== 'object') continue;
      for (const value of origins.tokens.knownProperties(id)?.values() ?? []) hold(value, holders[id] as ValueId);
    }
    return holders;
  }

  #isServer(id: TokenId): boolean {
    const token = this.#pipeline.origins.tokens.get(id);
    // Of a mere emitter, whoever counts its listeners would miss one.
    if (token.kind !== 'external' || token.shape.typeName === 'events.EventEmitter') return false;
    // A question to a database in the making, too: start-up asks it and forgets it.
    const isQuestion = (type: TypeModel): boolean => type.extends === 'Promise' && token.shape.package !== '';
    const { models } = this.#pipeline;
    if (models.typeThat(token.shape, isQuestion) !== null) return true;
    // What computes in memory (a renderer, an index) answers otherwise once it has been set up.
    const isSetUp = (type: TypeModel): boolean => type.identity === true;
    return models.typeThat(token.shape, isSetUp) !== null && models.typeThat(token.shape, isOfOutside) !== null;
  }

  /** A message can carry it: what is not known to stand against it may be found to at run time. */
  #travels(tokens: readonly TokenId[]): boolean {
    const { models, origins } = this.#pipeline;
    return tokens.every((id) => {
      const token = origins.tokens.get(id);
      if (token.kind === 'unknown') return true;
      if (token.kind === 'function' || token.kind === 'bound') return false;
      if (token.kind === 'object')
        return token.type !== 'Instance' && token.type !== 'Promise' && token.type !== 'Generator';
      if (models.isUnknown(token.shape)) return true;
      if (token.shape.member !== null)
        return token.shape.member.call === undefined && token.shape.member.construct === undefined;
      return models.typeThat(token.shape, (type) => type.travels !== undefined) !== null;
    });
  }

  /** A field of a `this` of which it is not known what it is. */
  fieldOf(receiver: ValueId, field: AtomId): Cell {
    const { facts } = this.#pipeline;
    const fn = this.#receivers.get(receiver) ?? 0;
    const name = facts.atomName(field);
    const fields = entriesOf(this.#byReceiver, receiver);
    let cell = fields.get(field);
    if (cell === undefined) {
      const place = facts.fn(fn);
      cell = this.#add({
        name,
        module: place.module,
        start: place.start,
        variable: null,
        origin: 'startup',
        declaredBy: onlyMain,
        set: setOfOne(UNKNOWN),
      });
      fields.set(field, cell);
    }
    return cell;
  }

  ofField(token: TokenId, field: number, maker: number): Cell {
    const cells = entriesOf(this.#byField, token);
    let cell = cells.get(field);
    if (cell !== undefined) return cell;
    const { origins, facts, parts } = this.#pipeline;
    const object = origins.tokens.get(token);
    const value = origins.tokens.knownProperties(token)?.get(field) ?? 0;
    const declaredBy = parts.runners.get(maker) ?? onlyMain;
    const startup = declaredBy.every((part) => this.#startUp.has(part));
    const made = { module: facts.fn(maker).module, start: object.kind === 'object' ? object.start : 0 };
    const declared = this.#declarationOf(token, field);
    cell = this.#add({
      name: declared === null && this.#isInherited(token, field) ? '' : fieldName(facts.atomName(field)),
      ...(declared ?? made),
      variable: null,
      origin: startup ? 'startup' : 'flow',
      declaredBy,
      set: origins.setOf(value),
    });
    cells.set(field, cell);
    this.#fieldOwners.set(cell, token);
    return cell;
  }

  /** What an instance has from its class is changed with all else of `this`, and nobody takes it for a variable. */
  #isInherited(token: TokenId, field: AtomId): boolean {
    if (!this.#isInstance(token)) return false;
    this.#stored ??= this.#findStored();
    return !this.#stored.has(field);
  }

  #isInstance(token: TokenId): boolean {
    const object = this.#pipeline.origins.tokens.get(token);
    return object.kind === 'object' && object.type === 'Instance';
  }

  /** Names of what instances are given. */
  #findStored(): Set<AtomId> {
    const { facts, origins } = this.#pipeline;
    const stored = new Set<AtomId>();
    const { kind: kinds } = facts;
    for (let op = 0; op < kinds.length; op++) {
      if (kinds.get(op) !== Op.store || stored.has(facts.c.get(op))) continue;
      if (origins.tokensOf(facts.a.get(op)).some((id) => this.#isInstance(id))) stored.add(facts.c.get(op));
    }
    return stored;
  }

  /** Where a field first gets a value: in the class, or in its constructor. */
  #declarationOf(token: TokenId, field: number): { readonly module: number; readonly start: number } | null {
    this.#declarations ??= this.#findDeclarations();
    const { facts } = this.#pipeline;
    const op = this.#declarations.get(`${token} ${field}`);
    return op === undefined ? null : { module: facts.fn(facts.owner.get(op)).module, start: facts.position.get(op) };
  }

  #findDeclarations(): Map<string, OpId> {
    const { facts, origins } = this.#pipeline;
    const found = new Map<string, OpId>();
    const { kind: kinds } = facts;
    for (let op = 0; op < kinds.length; op++) {
      if (kinds.get(op) !== Op.store || !this.#receivers.has(facts.a.get(op))) continue;
      for (const id of origins.tokensOf(facts.a.get(op))) {
        const key = `${id} ${facts.c.get(op)}`;
        if (!found.has(key)) found.set(key, op);
      }
    }
    return found;
  }
}

/** What a package keeps of its own in an instance (`[[kept]]`), such as listeners, has no name in the program. */
function fieldName(text: string): string {
  return text.startsWith('[[') ? '' : text.replace(/^#/, '');
}

const onlyMain: readonly PartId[] = [0];
const noParts: readonly PartId[] = [];

function entriesOf(map: Map<number, Map<AtomId, Cell>>, key: number): Map<AtomId, Cell> {
  let entries = map.get(key);
  if (entries === undefined) map.set(key, (entries = new Map()));
  return entries;
}

const ofOutside = new WeakMap<TypeModel, boolean>();

/** Its methods are called by others, or ask others: routers, servers, clients. */
function isOfOutside(type: TypeModel): boolean {
  let known = ofOutside.get(type);
  if (known === undefined) ofOutside.set(type, (known = /"kind":"start"|"network"/.test(JSON.stringify(type))));
  return known;
}
