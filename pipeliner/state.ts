/**
 * State: what parts touch that outlives a single run of one function.
 *
 * Reads:   Pipeline.
 * Gives:   one Cell for each variable, and each field of `this`, that a part reads or changes, with who does what to it.
 *          Cells that may hold the same changing object are put into one Group.
 */
import { declares, type Part, type PartEffect, type PartId } from '../analyzer/cut-parts.js';
import { ANY_PROPERTY, type OpId, type ValueId, VariableKind } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import type { Root } from '../analyzer/roots.js';
import { Effect } from '../analyzer/summarise-effects.js';
import { type TokenId, UNKNOWN } from '../analyzer/tokens.js';

export interface Touch {
  readonly part: PartId;
  readonly reads: OpId[];
  /** Bindings changed, and changes within the value. */
  readonly writes: OpId[];
  readonly mutations: OpId[];
  /** Given to code that may change it. */
  readonly hands: OpId[];
  /** Order of first use among the part's cells; own code before that of functions it calls. */
  order: number;
  /** Used in the part's own code, not only in functions that it calls. */
  direct: boolean;
}

export type CellOrigin =
  /** The language, Node, or a package as it was imported. */
  | 'outside'
  /** Made by start-up code. */
  | 'startup'
  /** Made anew in each flow: locals and parameters of callbacks. */
  | 'flow';

export interface Cell {
  readonly id: number;
  readonly name: string;
  readonly module: number;
  readonly start: number;
  readonly variable: ValueId | null;
  readonly origin: CellOrigin;
  /** Parts in which it is declared. */
  readonly declaredBy: readonly PartId[];
  readonly tokens: readonly TokenId[];
  /** Belongs to one request; `reply` is bound to the connection. */
  readonly request: 'reply' | 'request' | null;
  readonly travels: boolean;
  readonly isFunction: boolean;
  readonly touches: Map<PartId, Touch>;
}

export interface Group {
  readonly cells: readonly Cell[];
}

export interface State {
  readonly cells: readonly Cell[];
  readonly groups: readonly Group[];
  readonly groupOf: ReadonlyMap<Cell, Group>;
  readonly cellOf: (variable: ValueId) => Cell | undefined;
}

export function collectState(pipeline: Pipeline): State {
  const collector = new Collector(pipeline);
  for (const part of pipeline.parts.list) collector.collect(part);
  return collector.state();
}

const deepestReach = 96;

class Collector {
  readonly #pipeline: Pipeline;
  readonly #cells: Cell[] = [];
  readonly #byVariable = new Map<ValueId, Cell>();
  readonly #byField = new Map<string, Cell>();
  readonly #receivers = new Map<ValueId, number>();
  #order = 0;
  #part!: Part;

  constructor(pipeline: Pipeline) {
    this.#pipeline = pipeline;
    for (const fn of pipeline.facts.functions) this.#receivers.set(fn.receiver, fn.id);
  }

  collect(part: Part): void {
    this.#part = part;
    this.#order = 0;
    this.#pipeline.parts.eachEffect(part, (effect) => this.#take(effect));
  }

  #take(effect: PartEffect): void {
    if (effect.root < 0) return;
    const root = this.#pipeline.effects.roots.get(effect.root);
    const own = effect.fn === this.#part.fn.id;
    if (root.base === 'variable') return this.#onVariable(root.id, root, effect, own);
    // Parameters and `this` of functions that the part calls have been repeated for what they stand for.
    if (!own || this.#part.kind === 'main') return;
    const fn = this.#part.fn;
    if (root.base === 'this') this.#onReceiver(fn.receiver, root, effect, own);
    else this.#onVariable(fn.params[root.id] ?? 0, root, effect, own);
  }

  #onVariable(value: ValueId, root: Root, effect: PartEffect, own: boolean): void {
    if (this.#receivers.has(value)) return this.#onReceiver(value, root, effect, own);
    const cell = this.#variableCell(value);
    if (cell !== null) this.#touch(cell, effect, root.deep || effect.kind === Effect.mutate, own);
  }

  #variableCell(value: ValueId): Cell | null {
    const canonical = this.#pipeline.graph.aliases.get(value) ?? value;
    const known = this.#byVariable.get(canonical);
    if (known !== undefined) return known;
    const fact = this.#pipeline.facts.variables.get(canonical) ?? this.#pipeline.facts.variables.get(value);
    if (fact === undefined) return null;
    const tokens = this.#pipeline.origins.tokensOf(canonical);
    const declaredBy = fact.owner < 0 ? [0] : (this.#pipeline.parts.runners.get(fact.owner) ?? []).filter((id) =>
      declares(this.#pipeline.facts, this.#pipeline.parts.list[id] as Part, canonical),
    );
    const cell = this.#add({
      name: fact.name,
      module: fact.module,
      start: fact.start,
      variable: canonical,
      origin: this.#originOf(fact.kind, declaredBy, tokens),
      declaredBy,
      tokens,
    });
    this.#byVariable.set(canonical, cell);
    return cell;
  }

  #originOf(kind: number, declaredBy: readonly PartId[], tokens: readonly TokenId[]): CellOrigin {
    if (kind === VariableKind.global) return 'outside';
    const startup = declaredBy.length === 0 || (declaredBy.length === 1 && declaredBy[0] === 0);
    if (!startup) return 'flow';
    return tokens.length > 0 && tokens.every((id) => this.#isImported(id)) ? 'outside' : 'startup';
  }

  #isImported(id: TokenId): boolean {
    const token = this.#pipeline.origins.tokens.get(id);
    return token.kind === 'external' && token.site === -1;
  }

  #add(base: Omit<Cell, 'id' | 'request' | 'travels' | 'isFunction' | 'touches'>): Cell {
    const cell: Cell = {
      ...base,
      id: this.#cells.length,
      request: this.#requestKind(base.tokens),
      travels: this.#travels(base.tokens),
      isFunction: base.tokens.length > 0 && base.tokens.every((id) => this.#pipeline.origins.tokens.functionOf(id) !== null),
      touches: new Map(),
    };
    this.#cells.push(cell);
    return cell;
  }

  #requestKind(tokens: readonly TokenId[]): Cell['request'] {
    const { models, origins } = this.#pipeline;
    let kind: Cell['request'] = null;
    for (const id of tokens) {
      const token = origins.tokens.get(id);
      if (token.kind !== 'external') continue;
      if (models.typeThat(token.shape, (type) => type.reply === true) !== null) return 'reply';
      if (models.typeThat(token.shape, (type) => type.perRequest === true || type.travels === 'bridge') !== null) kind = 'request';
    }
    return kind;
  }

  /** A message can carry it: what is not known to stand against it may be found to at run time. */
  #travels(tokens: readonly TokenId[]): boolean {
    const { models, origins } = this.#pipeline;
    return tokens.every((id) => {
      const token = origins.tokens.get(id);
      if (token.kind === 'unknown') return true;
      if (token.kind === 'function' || token.kind === 'bound') return false;
      if (token.kind === 'object') return token.type !== 'Instance' && token.type !== 'Promise' && token.type !== 'Generator';
      if (models.isUnknown(token.shape)) return true;
      if (token.shape.member !== null) return token.shape.member.call === undefined && token.shape.member.construct === undefined;
      return models.typeThat(token.shape, (type) => type.travels !== undefined) !== null;
    });
  }

  // ------------------------------------------------------------------------------------------------- `this`

  #onReceiver(receiver: ValueId, root: Root, effect: PartEffect, own: boolean): void {
    const { origins, facts } = this.#pipeline;
    if (root.field === -1 && (effect.kind === Effect.read || effect.kind === Effect.write)) return;
    let found = false;
    for (const id of origins.tokensOf(receiver)) {
      const token = origins.tokens.get(id);
      if (token.kind !== 'object') continue;
      found = true;
      // The whole of `this` is changed: every field that anybody uses.
      const fields = root.field === -1 ? [...(origins.tokens.knownProperties(id)?.keys() ?? [])] : [root.field];
      for (const field of fields) {
        if (field === ANY_PROPERTY && root.field === -1) continue;
        this.#touch(this.#fieldCell(id, field, token.fn), effect, root.deep, own);
      }
    }
    if (found || root.field === -1) return;
    const fn = this.#receivers.get(receiver) ?? 0;
    const name = facts.atomName(root.field);
    const key = `receiver ${receiver} ${root.field}`;
    let cell = this.#byField.get(key);
    if (cell === undefined) {
      const place = facts.fn(fn);
      cell = this.#add({ name, module: place.module, start: place.start, variable: null, origin: 'startup', declaredBy: [0], tokens: [UNKNOWN] });
      this.#byField.set(key, cell);
    }
    this.#touch(cell, effect, root.deep, own);
  }

  #fieldCell(token: TokenId, field: number, maker: number): Cell {
    const key = `${token} ${field}`;
    let cell = this.#byField.get(key);
    if (cell !== undefined) return cell;
    const { origins, facts, parts } = this.#pipeline;
    const object = origins.tokens.get(token);
    const value = origins.tokens.knownProperties(token)?.get(field) ?? 0;
    const declaredBy = parts.runners.get(maker) ?? [0];
    const startup = declaredBy.length === 0 || (declaredBy.length === 1 && declaredBy[0] === 0);
    cell = this.#add({
      name: facts.atomName(field).replace(/^#/, ''),
      module: facts.fn(maker).module,
      start: object.kind === 'object' ? object.start : 0,
      variable: null,
      origin: startup ? 'startup' : 'flow',
      declaredBy,
      tokens: origins.tokensOf(value),
    });
    this.#byField.set(key, cell);
    return cell;
  }

  // ------------------------------------------------------------------------------------------------ touches

  #touch(cell: Cell, effect: PartEffect, deep: boolean, own: boolean): void {
    let touch = cell.touches.get(this.#part.id);
    if (touch === undefined) {
      touch = { part: this.#part.id, reads: [], writes: [], mutations: [], hands: [], order: this.#order++, direct: own };
      cell.touches.set(this.#part.id, touch);
    }
    if (own) touch.direct = true;
    const list = listFor(touch, effect.kind, deep);
    if (list !== null && list.length < 8 && list.at(-1) !== effect.op) list.push(effect.op);
  }

  // ------------------------------------------------------------------------------------------------- groups

  state(): State {
    const leader = new Map<Cell, Cell>();
    const find = (cell: Cell): Cell => {
      let at = cell;
      for (let up = leader.get(at); up !== undefined; up = leader.get(at)) at = up;
      return at;
    };
    const union = (left: Cell, right: Cell): void => {
      const [a, b] = [find(left), find(right)];
      if (a !== b) leader.set(a.id < b.id ? b : a, a.id < b.id ? a : b);
    };
    this.#uniteAliases(union);
    const groups = new Map<Cell, Cell[]>();
    for (const cell of this.#cells) {
      const list = groups.get(find(cell));
      if (list === undefined) groups.set(find(cell), [cell]);
      else list.push(cell);
    }
    const made = [...groups.values()].map((cells): Group => ({ cells }));
    const groupOf = new Map(made.flatMap((group) => group.cells.map((cell) => [cell, group] as const)));
    return { cells: this.#cells, groups: made, groupOf, cellOf: (variable) => this.#byVariable.get(this.#pipeline.graph.aliases.get(variable) ?? variable) };
  }

  /** Two names for one object that changes are one piece of state. */
  #uniteAliases(union: (left: Cell, right: Cell) => void): void {
    const changed = new Map<TokenId, Cell>();
    for (const cell of this.#cells) {
      if (cell.request !== null || !isMutated(cell)) continue;
      for (const token of this.#reach(cell.tokens)) {
        const other = changed.get(token);
        if (other !== undefined) union(cell, other);
        else changed.set(token, cell);
      }
    }
    for (const cell of this.#cells) {
      if (cell.request !== null || isMutated(cell)) continue;
      for (const token of this.#reach(cell.tokens)) {
        const other = changed.get(token);
        if (other !== undefined) union(cell, other);
      }
    }
  }

  /** Objects that can be reached through properties; functions close over variables, which have cells of their own. */
  #reach(tokens: readonly TokenId[]): Set<TokenId> {
    const { origins } = this.#pipeline;
    const found = new Set<TokenId>();
    const queue = [...tokens];
    while (queue.length > 0 && found.size < deepestReach) {
      const id = queue.pop() as TokenId;
      const token = origins.tokens.get(id);
      const isObject = token.kind === 'object' && token.type !== 'Prototype';
      const isInstance = token.kind === 'external' && token.site !== -1;
      if (!(isObject || isInstance) || found.has(id)) continue;
      found.add(id);
      for (const value of origins.tokens.knownProperties(id)?.values() ?? []) queue.push(...origins.tokensOf(value));
    }
    return found;
  }
}

function listFor(touch: Touch, kind: number, deep: boolean): OpId[] | null {
  switch (kind) {
    case Effect.read:
      return touch.reads;
    case Effect.write:
      return deep ? touch.mutations : touch.writes;
    case Effect.mutate:
      return touch.mutations;
    case Effect.hand:
      return touch.hands;
    default:
      return null;
  }
}

/** Something within the value changes, at start-up or later. */
function isMutated(cell: Cell): boolean {
  for (const touch of cell.touches.values()) if (touch.mutations.length > 0 || touch.hands.length > 0) return true;
  return false;
}

export function changes(touch: Touch): boolean {
  return touch.writes.length > 0 || touch.mutations.length > 0 || touch.hands.length > 0;
}
