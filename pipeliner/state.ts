/**
 * State: what parts touch that outlives a single run of one function.
 *
 * Reads:   Pipeline.
 * Gives:   one Cell for each variable, and each field of `this`, that a part reads or changes, with who does what to it.
 *          Cells that may hold the same changing object are put into one Group.
 */
import { declares, type Part, type PartId } from '../analyzer/cut-parts.js';
import {
  ANY_PROPERTY,
  FunctionFlag,
  type FunctionId,
  Op,
  type OpId,
  type ValueId,
  VariableKind,
} from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import type { Root, RootId } from '../analyzer/roots.js';
import { Effect } from '../analyzer/summarise-effects.js';
import { everyRequest, type TokenId, UNKNOWN } from '../analyzer/tokens.js';
import type { Flows } from './flows.js';
import { ImplicitCalls } from './implicit-calls.js';
import { LastingObjects } from './lasting-objects.js';
import { ObjectReads } from './object-reads.js';

export interface Touch {
  readonly part: PartId;
  reads: OpId[];
  /** Bindings changed, and changes within the value. */
  writes: OpId[];
  mutations: OpId[];
  /** Given to code that may change it. */
  hands: OpId[];
  /** Order of first use among the part's cells; own code before that of functions it calls. */
  order: number;
  /** Used in the part's own code, not only in functions that it calls. */
  direct: boolean;
  /** The name by which the part knows it: an import may have another than what it imports. */
  readonly name: string;
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
  /** A server, app or router: start-up goes on filling it, which changes nothing for requests. */
  readonly isServer: boolean;
  /** What an object without a name of its own is called in tags and reasons. */
  readonly hint: string;
  /** Start-up code runs in these parts. */
  readonly startUp: ReadonlySet<PartId>;
  /** Parts in which it is declared. */
  readonly declaredBy: readonly PartId[];
  readonly tokens: readonly TokenId[];
  /** Belongs to one request; `reply` is bound to the connection. */
  readonly request: 'reply' | 'request' | null;
  readonly travels: boolean;
  readonly isFunction: boolean;
  readonly touches: Map<PartId, Touch>;
  /** What is changed: the object that it holds, or anything that can be reached through it. */
  changed: 'nothing' | 'itself' | 'within';
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

export function collectState(pipeline: Pipeline, flows: Flows): State {
  const collector = new Collector(pipeline, flows);
  for (const part of pipeline.parts.list) collector.collect(part);
  collector.collect(pipeline.parts.outsiders);
  collector.collectImplicit();
  collector.collectReads();
  return collector.state();
}

class Collector {
  readonly #pipeline: Pipeline;
  readonly #cells: Cell[] = [];
  readonly #byVariable = new Map<ValueId, Cell>();
  readonly #byField = new Map<string, Cell>();
  /** For fields of `this`: the object that they are fields of. */
  readonly #fieldOwners = new Map<Cell, TokenId>();
  readonly #reached = new Map<string, readonly Reached[]>();
  readonly #byObject = new Map<TokenId, Cell>();
  readonly #receivers = new Map<ValueId, number>();
  readonly #lasting: LastingObjects;
  readonly #startUp: ReadonlySet<PartId>;
  #order = 0;
  #holders: Map<TokenId, string> | null = null;
  #declarations: Map<string, OpId> | null = null;
  readonly #taken = new Map<number, number>();
  #part!: Part;

  constructor(pipeline: Pipeline, flows: Flows) {
    this.#pipeline = pipeline;
    // Start-up goes on behind what it awaits; but what a request runs as well is no start-up.
    this.#startUp = new Set([0, ...flows.behind(0).keys()].filter((part) => !flows.isInRequest(part)));
    this.#lasting = new LastingObjects(pipeline);
    for (const fn of pipeline.facts.functions) this.#receivers.set(fn.receiver, fn.id);
  }

  collect(part: Part): void {
    this.#part = part;
    this.#order = 0;
    this.#taken.clear();
    this.#pipeline.parts.eachEffect(part, (kind, root, fn, op, _at, value) => {
      if (root >= 0) this.#take(kind, root, fn, op);
      else if (value !== 0) this.#onObjects(kind, op, value);
    });
  }

  #take(kind: number, id: RootId, fnId: FunctionId, op: OpId): void {
    // A few places of the same kind are enough to show; going through all fields of all receivers again is not.
    const key = id * 8 + kind;
    const times = this.#taken.get(key) ?? 0;
    if (times >= mostPlaces) return;
    this.#taken.set(key, times + 1);
    const root = this.#pipeline.effects.roots.get(id);
    const own = fnId === this.#part.fn.id;
    if (root.base === 'variable') return this.#onVariable(root.id, root, kind, op, own);
    // Parameters and `this` of functions that the part calls have been repeated for what they stand for.
    if (!own || this.#part.kind === 'main') return;
    const fn = this.#part.fn;
    if (root.base === 'this') this.#onReceiver(fn.receiver, root, kind, op, own);
    else this.#onVariable(fn.params[root.id] ?? 0, root, kind, op, own);
  }

  /** An object that lasts is changed, whatever the name by which it was reached. */
  #onObjects(kind: number, op: OpId, value: ValueId): void {
    if (!this.#pipeline.budget.spend(1)) return;
    const deep = kind === Effect.hand;
    const reached = this.#reach(this.#pipeline.origins.tokensOf(value), deep);
    this.#pipeline.budget.spend(reached.length);
    for (const { token } of reached) {
      if (this.#lasting.has(token)) this.#touch(this.#objectCell(token), kind, op, false, false);
    }
  }

  #objectCell(id: TokenId): Cell {
    const token = this.#lasting.representative(id);
    let cell = this.#byObject.get(token);
    if (cell === undefined) {
      cell = this.#add({
        name: '',
        module: 0,
        start: 0,
        variable: null,
        origin: 'startup',
        declaredBy: [0],
        tokens: [token],
      });
      this.#byObject.set(token, cell);
    }
    return cell;
  }

  #onVariable(value: ValueId, root: Root, kind: number, op: OpId, own: boolean): void {
    if (this.#receivers.has(value)) return this.#onReceiver(value, root, kind, op, own);
    const cell = this.#variableCell(value);
    if (cell !== null)
      this.#touch(
        cell,
        kind,
        op,
        root.deep,
        own,
        cell.name === '' ? '' : (this.#pipeline.facts.variables.get(value)?.name ?? cell.name),
      );
  }

  #variableCell(value: ValueId): Cell | null {
    const canonical = this.#pipeline.graph.aliases.get(value) ?? value;
    const known = this.#byVariable.get(canonical);
    if (known !== undefined) return known;
    const fact = this.#pipeline.facts.variables.get(canonical) ?? this.#pipeline.facts.variables.get(value);
    if (fact === undefined) return null;
    const tokens = this.#pipeline.origins.tokensOf(canonical);
    const declaredBy =
      fact.owner < 0
        ? [0]
        : (this.#pipeline.parts.runners.get(fact.owner) ?? []).filter((id) =>
            declares(this.#pipeline.facts, this.#pipeline.parts.list[id] as Part, canonical),
          );
    const cell = this.#add({
      // `exports` and `module` are no variables of the program: their state has other names.
      name: fact.kind === VariableKind.module ? '' : fact.name,
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
    if (!declaredBy.every((part) => this.#startUp.has(part))) return 'flow';
    return tokens.length > 0 && tokens.every((id) => this.#isImported(id)) ? 'outside' : 'startup';
  }

  #isImported(id: TokenId): boolean {
    const token = this.#pipeline.origins.tokens.get(id);
    return token.kind === 'external' && token.site === -1;
  }

  #add(
    base: Omit<
      Cell,
      'id' | 'request' | 'travels' | 'isFunction' | 'touches' | 'changed' | 'isServer' | 'startUp' | 'hint'
    >,
  ): Cell {
    const cell: Cell = {
      id: this.#cells.length,
      name: base.name,
      module: base.module,
      start: base.start,
      variable: base.variable,
      origin: base.origin,
      declaredBy: base.declaredBy,
      tokens: base.tokens,
      hint: base.name === '' ? this.#hint(base.tokens) : base.name,
      isServer: base.tokens.some((id) => this.#isServer(id)),
      startUp: this.#startUp,
      request: this.#requestKind(base.tokens),
      travels: this.#travels(base.tokens),
      isFunction:
        base.tokens.length > 0 && base.tokens.every((id) => this.#pipeline.origins.tokens.functionOf(id) !== null),
      touches: new Map(),
      changed: 'nothing',
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
      if (models.typeThat(token.shape, (type) => type.perRequest === true || type.travels === 'bridge') !== null)
        kind = 'request';
    }
    return kind;
  }

  /** The variable that holds such an object, itself or within what it holds, if any. */
  #hint(tokens: readonly TokenId[]): string {
    this.#holders ??= this.#findHolders();
    return tokens.map((id) => this.#holders?.get(id)).find((name) => name !== undefined) ?? 'object';
  }

  /** The nearest ones first. */
  #findHolders(): Map<TokenId, string> {
    const { facts, origins } = this.#pipeline;
    const holders = new Map<TokenId, string>();
    const hold = (value: ValueId, name: string): void => {
      for (const id of origins.tokensOf(value)) if (id !== UNKNOWN && !holders.has(id)) holders.set(id, name);
    };
    for (const variable of facts.variables.values())
      if (variable.kind !== VariableKind.module) hold(variable.value, variable.name);
    // A map visits what is added to it on the way.
    for (const [id, name] of holders) {
      if (origins.tokens.get(id).kind !== 'object') continue;
      for (const value of origins.tokens.knownProperties(id)?.values() ?? []) hold(value, name);
    }
    return holders;
  }

  #isServer(id: TokenId): boolean {
    const token = this.#pipeline.origins.tokens.get(id);
    return (
      token.kind === 'external' &&
      this.#pipeline.models.typeThat(token.shape, (type) => type.identity === true) !== null
    );
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

  #isModuleObject(cell: Cell): boolean {
    return cell.variable !== null && this.#pipeline.facts.variables.get(cell.variable)?.kind === VariableKind.module;
  }

  // ------------------------------------------------------------------------------------------------- `this`

  #onReceiver(receiver: ValueId, root: Root, kind: number, op: OpId, own: boolean): void {
    const { origins, facts } = this.#pipeline;
    if (root.field === -1 && (kind === Effect.read || kind === Effect.write)) return;
    let found = false;
    for (const id of origins.tokensOf(receiver)) {
      const token = origins.tokens.get(id);
      if (token.kind !== 'object') continue;
      found = true;
      // The whole of `this` is changed: every field that anybody uses.
      const fields = root.field === -1 ? [...(origins.tokens.knownProperties(id)?.keys() ?? [])] : [root.field];
      if (!this.#pipeline.budget.spend(fields.length)) return;
      for (const field of fields) {
        if (field === ANY_PROPERTY && root.field === -1) continue;
        this.#touch(this.#fieldCell(id, field, token.fn), kind, op, root.deep, own);
      }
    }
    if (found || root.field === -1) return;
    const fn = this.#receivers.get(receiver) ?? 0;
    const name = facts.atomName(root.field);
    const key = `receiver ${receiver} ${root.field}`;
    let cell = this.#byField.get(key);
    if (cell === undefined) {
      const place = facts.fn(fn);
      cell = this.#add({
        name,
        module: place.module,
        start: place.start,
        variable: null,
        origin: 'startup',
        declaredBy: [0],
        tokens: [UNKNOWN],
      });
      this.#byField.set(key, cell);
    }
    this.#touch(cell, kind, op, root.deep, own);
  }

  #fieldCell(token: TokenId, field: number, maker: number): Cell {
    const key = `${token} ${field}`;
    let cell = this.#byField.get(key);
    if (cell !== undefined) return cell;
    const { origins, facts, parts } = this.#pipeline;
    const object = origins.tokens.get(token);
    const value = origins.tokens.knownProperties(token)?.get(field) ?? 0;
    const declaredBy = parts.runners.get(maker) ?? [0];
    const startup = declaredBy.every((part) => this.#startUp.has(part));
    const made = { module: facts.fn(maker).module, start: object.kind === 'object' ? object.start : 0 };
    cell = this.#add({
      name: facts.atomName(field).replace(/^#/, ''),
      ...(this.#declarationOf(token, field) ?? made),
      variable: null,
      origin: startup ? 'startup' : 'flow',
      declaredBy,
      tokens: origins.tokensOf(value),
    });
    this.#byField.set(key, cell);
    this.#fieldOwners.set(cell, token);
    return cell;
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
    for (let op = 0; op < facts.kind.length; op++) {
      if (facts.kind.get(op) !== Op.store || !this.#receivers.has(facts.a.get(op))) continue;
      for (const id of origins.tokensOf(facts.a.get(op))) {
        const key = `${id} ${facts.c.get(op)}`;
        if (!found.has(key)) found.set(key, op);
      }
    }
    return found;
  }

  // ------------------------------------------------------------------------------------------------ touches

  #touch(cell: Cell, kind: number, op: OpId, deep: boolean, own: boolean, name = cell.name): void {
    const outsiders = this.#pipeline.parts.outsiders.id;
    // What runs in a flow is that flow's; and what start-up code hands to code that nobody knows, that may change later.
    if (this.#part.id === outsiders && cell.origin === 'flow') return;
    // `exports.x = …` at the top of a module declares.
    if (this.#part.id === 0 && kind === Effect.mutate && this.#isModuleObject(cell)) return;
    const part = this.#part.id === 0 && kind === Effect.hand ? outsiders : this.#part.id;
    let touch = cell.touches.get(part);
    if (touch === undefined) {
      touch = {
        part,
        reads: none,
        writes: none,
        mutations: none,
        hands: none,
        order: this.#order++,
        direct: own,
        name,
      };
      cell.touches.set(part, touch);
    }
    if (own) touch.direct = true;
    if (kind === Effect.hand || (kind !== Effect.read && deep)) cell.changed = 'within';
    else if (kind === Effect.mutate && cell.changed === 'nothing') cell.changed = 'itself';
    switch (kind) {
      case Effect.read:
        touch.reads = withOp(touch.reads, op);
        break;
      case Effect.write:
        if (deep) touch.mutations = withOp(touch.mutations, op);
        else touch.writes = withOp(touch.writes, op);
        break;
      case Effect.mutate:
        touch.mutations = withOp(touch.mutations, op);
        break;
      case Effect.hand:
        touch.hands = withOp(touch.hands, op);
        break;
    }
  }

  // --------------------------------------------------------------------------------------- implicit calls

  /** Using an object whose getters, `toString` or `toJSON` change something, or look at what changes, is no mere reading. */
  collectImplicit(): void {
    this.#part = this.#pipeline.parts.outsiders;
    const isChanged = (variable: ValueId): boolean => {
      const cell = this.#byVariable.get(variable);
      return cell !== undefined && [...cell.touches.values()].some((touch) => touch.part !== 0 && changes(touch));
    };
    const calls = new ImplicitCalls(this.#pipeline, (id) => this.#lasting.has(id), isChanged);
    for (const { token, op } of calls.uses()) this.#touch(this.#objectCell(token), Effect.mutate, op, false, false);
  }

  // ------------------------------------------------------------------------------------------- object reads

  /** Objects that change and are reached through no variable of start-up code: who reads them? */
  collectReads(): void {
    const changing = new Set<TokenId>();
    for (const [token, cell] of this.#byObject)
      if ([...cell.touches.keys()].some((part) => part !== 0)) changing.add(token);
    for (const cell of this.#cells) {
      const later = [...cell.touches.values()].some((touch) => touch.part !== 0 && changes(touch));
      if (cell.origin !== 'startup' || !later || cell.changed === 'nothing') continue;
      for (const { token } of this.#reach(cell.tokens, cell.changed === 'within'))
        changing.add(this.#lasting.representative(token));
    }
    this.#readApps(changing);
    if (changing.size === 0) return;
    const readers = new ObjectReads(
      this.#pipeline,
      (id) => changing.has(this.#lasting.representative(id)),
      (tokens) => this.#reach(tokens, true).map(({ token }) => token),
    );
    for (const part of [...this.#pipeline.parts.list, this.#pipeline.parts.outsiders]) {
      this.#part = part;
      for (const run of part.runs) {
        for (const { op, token } of readers.of(run))
          this.#touch(this.#objectCell(token), Effect.read, op, false, false);
      }
    }
  }

  /** A reply is made with the settings of its app, and rendered with its locals: if those change, it depends on them. */
  #readApps(changing: ReadonlySet<TokenId>): void {
    const apps = [...changing].filter((id) => this.#lasting.isOneOfAKind(id));
    if (apps.length === 0) return;
    const all = apps.some((id) => this.#changesSettings(id));
    for (const cell of this.#cells.slice()) {
      if (cell.request !== 'reply') continue;
      for (const touch of [...cell.touches.values()]) {
        this.#part =
          touch.part === this.#pipeline.parts.outsiders.id
            ? this.#pipeline.parts.outsiders
            : (this.#pipeline.parts.list[touch.part] as Part);
        const op = all
          ? (touch.reads[0] ?? touch.mutations[0] ?? 0)
          : touch.mutations.find((found) => this.#isCallOf(found, /^render$/));
        if (op === undefined) continue;
        for (const app of apps) this.#touch(this.#objectCell(app), Effect.read, op, false, false);
      }
    }
  }

  #changesSettings(app: TokenId): boolean {
    const settings = /^(set|enable|disable|engine)$/;
    const cells = this.#cells.filter((cell) => cell.tokens.some((id) => this.#lasting.representative(id) === app));
    return cells.some((cell) =>
      [...cell.touches.values()].some(
        (touch) =>
          touch.part !== 0 && touch.mutations.some((op) => this.#isCallOf(op, settings) && this.#isOfApp(op, app)),
      ),
    );
  }

  #isOfApp(op: OpId, app: TokenId): boolean {
    const { facts, origins } = this.#pipeline;
    return origins.tokensOf(facts.a.get(op)).some((id) => this.#lasting.representative(id) === app);
  }

  #isCallOf(op: OpId, name: RegExp): boolean {
    const { facts } = this.#pipeline;
    return facts.kind.get(op) === Op.method && name.test(facts.atomName(facts.c.get(op)));
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
    this.#uniteFields(union);
    this.#uniteUntraced(union);
    const groups = new Map<Cell, Cell[]>();
    for (const cell of this.#cells) {
      const list = groups.get(find(cell));
      if (list === undefined) groups.set(find(cell), [cell]);
      else list.push(cell);
    }
    const made = [...groups.values()].map((cells): Group => ({ cells }));
    const groupOf = new Map(made.flatMap((group) => group.cells.map((cell) => [cell, group] as const)));
    return {
      cells: this.#cells,
      groups: made,
      groupOf,
      cellOf: (variable) => this.#byVariable.get(this.#pipeline.graph.aliases.get(variable) ?? variable),
    };
  }

  /** Fields of an object, and a variable by which all of it is used, are one piece of state. */
  #uniteFields(union: (left: Cell, right: Cell) => void): void {
    const holders = new Map<TokenId, Cell[]>();
    for (const cell of this.#cells) {
      if (cell.request !== null || this.#fieldOwners.has(cell) || this.#isAnsweredFor(cell)) continue;
      if (![...cell.touches.keys()].some((part) => part !== 0)) continue;
      for (const token of cell.tokens) holders.set(token, [...(holders.get(token) ?? []), cell]);
    }
    for (const [cell, owner] of this.#fieldOwners) for (const holder of holders.get(owner) ?? []) union(cell, holder);
  }

  /** A parameter: what it holds in a call the caller knows, and it has a variable for it. */
  #isAnsweredFor({ variable }: Cell): boolean {
    const { facts, effects } = this.#pipeline;
    const owner = variable === null ? undefined : facts.variables.get(variable)?.owner;
    if (variable === null || owner === undefined || owner < 0 || effects.isEntry(owner)) return false;
    return effects.isGiven(variable, owner) && !effects.aliases.has(variable);
  }

  /** Where it is not known what a variable holds, what its declaration was made from says what else is changed. */
  #uniteUntraced(union: (left: Cell, right: Cell) => void): void {
    for (const cell of this.#cells) {
      if (cell.variable === null || cell.origin !== 'startup' || !this.#isUntraced(cell)) continue;
      for (const alias of this.#pipeline.effects.aliases.get(cell.variable) ?? []) {
        const other = this.#byVariable.get(this.#pipeline.graph.aliases.get(alias) ?? alias);
        if (other !== undefined && other.origin === 'startup') union(cell, other);
      }
    }
  }

  #isUntraced(cell: Cell): boolean {
    return cell.tokens.some((id) => {
      const token = this.#pipeline.origins.tokens.get(id);
      return token.kind === 'unknown' || (token.kind === 'external' && token.site >= 0);
    });
  }

  /** Two names for one object that changes are one piece of state. */
  #uniteAliases(union: (left: Cell, right: Cell) => void): void {
    const changed = new Map<TokenId, Map<TokenId, Cell>>();
    const candidates = this.#cells.filter((cell) => cell.tokens.length > 0 && cell.request === null && !isLocal(cell));
    for (const cell of candidates) {
      if (cell.changed === 'nothing') continue;
      for (const { token, within } of this.#reach(cell.tokens, cell.changed === 'within')) {
        const holders = changed.get(token);
        if (holders === undefined) changed.set(token, new Map([[within, cell]]));
        else if (!holders.has(within)) holders.set(within, cell);
      }
    }
    for (const cell of candidates) {
      const reached = this.#reach(cell.tokens, true);
      if (!this.#pipeline.budget.spend(reached.length)) return;
      for (const { token, within } of reached) {
        for (const [other, holder] of changed.get(token) ?? []) {
          if (other === within || other === -1 || within === -1) union(cell, holder);
        }
      }
    }
  }

  /**
   * Objects that can be reached through properties; functions close over variables, which have cells of their own. What a
   * constructor makes for its instance is another object for each instance: it is told apart by the instance it was
   * reached through (`within`).
   */
  #reach(tokens: readonly TokenId[], deep: boolean): readonly Reached[] {
    if (tokens.length === 0) return [];
    const key = `${deep} ${tokens.join(' ')}`;
    let reached = this.#reached.get(key);
    if (reached === undefined)
      this.#reached.set(key, (reached = this.#findReached(tokens, deep && !this.#pipeline.budget.isExhausted)));
    return reached;
  }

  #findReached(tokens: readonly TokenId[], deep: boolean): Reached[] {
    const { origins, budget } = this.#pipeline;
    const found = new Map<string, Reached>();
    const seen = new Set<TokenId>();
    const queue: Reached[] = tokens.map((token) => ({ token, within: -1 }));
    while (queue.length > 0) {
      const next = queue.pop() as Reached;
      if (!budget.spend(4)) break;
      const token = origins.tokens.get(next.token);
      const isInstance =
        token.kind === 'external' && (token.site !== -1 || origins.tokens.knownProperties(next.token) !== undefined);
      const key = `${this.#lasting.representative(next.token)} ${next.within}`;
      if (!(token.kind === 'object' || token.kind === 'function' || isInstance) || found.has(key)) continue;
      // Of a prototype only the data in it is state.
      const isPrototype = token.kind === 'object' && token.type === 'Prototype' && !tokens.includes(next.token);
      if (isPrototype) seen.add(next.token);
      else found.set(key, { token: this.#lasting.representative(next.token), within: next.within });
      if (!deep) continue;
      const maker = token.kind === 'object' && token.type === 'Instance' ? next.token : next.within;
      const values = [...(origins.tokens.knownProperties(next.token)?.values() ?? [])];
      if (token.kind === 'object' && token.proto !== 0) values.push(token.proto);
      for (const value of values) {
        for (const inner of origins.tokensOf(value)) {
          if (this.#isPlace(inner) && !seen.has(inner))
            queue.push({ token: inner, within: this.#isOwn(inner) ? maker : -1 });
        }
      }
    }
    return [...found.values()];
  }

  /** Something that holds state: functions have variables of their own, and requests are not the program's. */
  #isPlace(id: TokenId): boolean {
    const token = this.#pipeline.origins.tokens.get(id);
    return token.kind === 'object' || (token.kind === 'external' && token.site !== everyRequest);
  }

  /** Made by a constructor. */
  #isOwn(id: TokenId): boolean {
    const token = this.#pipeline.origins.tokens.get(id);
    if (token.kind !== 'object' && token.kind !== 'external') return false;
    const maker = token.kind === 'object' ? token.fn : token.site < 0 ? -1 : this.#pipeline.facts.owner.get(token.site);
    return maker >= 0 && (this.#pipeline.facts.fn(maker).flags & FunctionFlag.classConstructor) !== 0;
  }
}

interface Reached {
  readonly token: TokenId;
  readonly within: TokenId;
}

/** Made anew in each run and used nowhere else: for what it may hold, others answer. */
export function isLocal(cell: Cell): boolean {
  if (cell.origin !== 'flow') return false;
  for (const part of cell.touches.keys()) if (!cell.declaredBy.includes(part)) return false;
  return true;
}

const none: OpId[] = [];
const mostPlaces = 8;

/** Most touches are one read: lists are made when there is something to put in. */
function withOp(list: OpId[], op: OpId): OpId[] {
  if (list === none) return [op];
  if (list.length < mostPlaces && list.at(-1) !== op) list.push(op);
  return list;
}

export function changes(touch: Touch): boolean {
  return touch.writes.length > 0 || touch.mutations.length > 0 || touch.hands.length > 0;
}
