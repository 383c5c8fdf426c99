/**
 * State: what parts touch that outlives a single run of one function.
 *
 * Reads:   Pipeline.
 * Gives:   one Cell for each variable, and each field of `this`, that a part reads or changes, with who does what to it.
 *          Cells that may hold the same changing object are put into one Group.
 */
import type { Part } from '../analyzer/cut-parts.js';
import { findEngines, listRenderings } from '../analyzer/effects/engines.js';
import { kinds } from '../analyzer/effects/kinds.js';
import { ANY_PROPERTY, type FunctionId, Op, type OpId, type ValueId, VariableKind } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import type { RootId } from '../analyzer/roots.js';
import { Effect } from '../analyzer/summarise-effects.js';
import type { TokenId, TokenSetId } from '../analyzer/tokens.js';
import { CellTable } from './cell-table.js';
import { Cell, type CellContext, mostPlaces, type State, Use, type UseKind } from './cells.js';
import { ChangedObjects } from './changed-objects.js';
import type { Flows } from './flows.js';
import { groupCells } from './group-cells.js';
import { ImplicitCalls } from './implicit-calls.js';
import { LastingObjects } from './lasting-objects.js';
import { eachLateEffect } from './late-effects.js';
import { ObjectReads } from './object-reads.js';
import { Reach } from './reach.js';
import { findRunsAnywhere, type RunsAnywhere } from './runs-anywhere.js';
import { StoredData } from './stored-data.js';

/** Null where there is no budget for it: with parts that each run all of what they reach. */
export function collectState(pipeline: Pipeline, flows: Flows): State | null {
  const collector = new Collector(pipeline, flows);
  const isTooMuch = (): boolean => pipeline.budget.isExhausted && !pipeline.parts.isCoarse;
  for (const part of pipeline.parts.list) {
    collector.collect(part);
    if (isTooMuch()) return null;
  }
  collector.collect(pipeline.parts.outsiders);
  collector.collectLate();
  collector.collectImplicit();
  if (isTooMuch()) return null;
  // The peak of a large program comes with these: what has been let go of so far is to make room for them.
  pipeline.tidy();
  collector.collectReads();
  pipeline.tidy();
  const state = collector.state();
  return isTooMuch() ? null : state;
}

type Grouped = Pick<State, 'cells' | 'groups' | 'groupOf'>;

class Collector {
  readonly #pipeline: Pipeline;
  readonly #cells: CellTable;
  readonly #reach: Reach;
  readonly #objects: ChangedObjects;
  readonly #lasting: LastingObjects;
  readonly #storedData: StoredData;
  readonly #anywhere: RunsAnywhere[] = [];
  #order = 0;
  readonly #taken = new Map<number, number>();
  /** By what they hold: values of which the part has changed what is in them. */
  readonly #takenFrom = new Map<number, Set<TokenSetId>>();
  readonly #timesChanged = new Map<readonly TokenId[], Uint8Array>();
  readonly #cellsReached = new Map<readonly TokenId[], readonly Cell[]>();
  #part!: Part;
  #changing: ReadonlySet<TokenId> = new Set();

  constructor(pipeline: Pipeline, flows: Flows) {
    this.#pipeline = pipeline;
    this.#lasting = new LastingObjects(pipeline);
    this.#storedData = new StoredData(pipeline, this.#lasting);
    this.#reach = new Reach(pipeline, this.#lasting);
    this.#objects = new ChangedObjects(pipeline, this.#reach);
    this.#cells = new CellTable(pipeline, flows, this.#lasting);
  }

  collect(part: Part): void {
    this.#part = part;
    this.#order = 0;
    this.#taken.clear();
    this.#takenFrom.clear();
    this.#timesChanged.clear();
    this.#pipeline.parts.eachEffect(part, (kind, root, fn, op, _at, value) => {
      if (root >= 0) this.#take(kind, root, fn, op, value);
      else if (value !== 0) this.#onObjects(kind, op, value);
    });
  }

  /** What start-up does behind an await is done while requests come. */
  collectLate(): void {
    this.#part = this.#pipeline.parts.outsiders;
    this.#timesChanged.clear();
    const { effects, facts } = this.#pipeline;
    eachLateEffect(this.#pipeline, (kind, id, fnId, op, value) => {
      if (kind === Effect.read) return;
      if (value !== 0) this.#onObjects(kind, op, value);
      if (id < 0) return;
      if (effects.roots.isVariable(id)) this.#onVariable(effects.roots.of(id), id, kind, op, false, value);
      else if (effects.roots.baseOf(id) === 'this')
        this.#onReceiver(facts.fn(fnId).receiver, id, kind, op, false, value);
    });
  }

  #take(kind: number, id: RootId, fnId: FunctionId, op: OpId, value: ValueId): void {
    const { roots } = this.#pipeline.effects;
    const isHeld = kind !== Effect.read && value !== 0 && roots.isVariable(id) && this.#onHeld(kind, id, op, value);
    if (isHeld) return;
    // A few places of the same kind are enough to show; going through all fields of all receivers again is not.
    const key = id * 8 + kind;
    const times = this.#taken.get(key) ?? 0;
    const isNew = kind !== Effect.read && this.#isNew(key, value);
    if (times >= mostPlaces && !isNew) return;
    this.#taken.set(key, times + 1);
    const own = fnId === this.#part.fn.id;
    if (roots.isVariable(id)) return this.#onVariable(roots.of(id), id, kind, op, own, value);
    // Parameters and `this` of functions that the part calls have been repeated for what they stand for.
    const isThis = roots.baseOf(id) === 'this';
    if (!own && isThis && this.#part.id !== 0) this.#onLent(fnId, id, kind, op, value);
    if (!own || this.#part.kind === 'main') return;
    const fn = this.#part.fn;
    if (isThis) this.#onReceiver(fn.receiver, id, kind, op, own, value);
    else this.#onVariable(fn.params[roots.of(id)] ?? 0, id, kind, op, own, value);
  }

  /** Objects that the part has not changed there before. */
  #isNew(key: number, value: ValueId): boolean {
    const set = this.#pipeline.origins.setOf(value);
    const seen = this.#takenFrom.get(key);
    if (seen === undefined) this.#takenFrom.set(key, new Set([set]));
    else if (seen.has(set)) return false;
    else seen.add(set);
    return true;
  }

  /**
   * What an app holds is as many things: who changes one of them has not changed the app. Start-up that goes on registers routes,
   * which is no change of an app or a router either, but of what these hold it is. True: that is all there is to it.
   */
  #onHeld(kind: number, id: RootId, op: OpId, value: ValueId): boolean {
    const { roots } = this.#pipeline.effects;
    if (roots.isWhole(id)) return false;
    const cell = this.#cells.ofVariable(roots.of(id));
    if (cell === null || !(cell.isServer || this.#isOneOfAKind(cell))) return false;
    const tokens = this.#pipeline.origins.tokensOf(value);
    const held = tokens.filter((token) => !this.#lasting.isOneOfAKind(token));
    const isAll = held.length > 0 && tokens.every((token) => this.#lasting.has(token)) && held.length === tokens.length;
    const isApart = isAll && this.#isOneOfAKind(cell);
    if (!isApart && !cell.startUp.has(this.#part.id)) return false;
    for (const each of this.#lastingCells(this.#reach.from(held, kind === Effect.hand)))
      this.#touch(each, kind, op, null, false);
    return isApart;
  }

  #isOneOfAKind({ tokens }: Cell): boolean {
    return tokens.length > 0 && tokens.every((token) => this.#lasting.isOneOfAKind(token));
  }

  /** An object that lasts is changed, whatever the name by which it was reached. */
  #onObjects(kind: number, op: OpId, value: ValueId): void {
    const deep = kind === Effect.hand;
    if (!deep)
      for (const token of this.#storedData.keepersOf(value))
        this.#touch(this.#cells.ofObject(token), Effect.mutate, op, null, false);
    const reached = this.#reach.from(this.#pipeline.origins.tokensOf(value), deep);
    const cells = this.#lastingCells(reached);
    if (cells.length === 0 || this.#isShownOften(reached, kind)) return;
    if (!this.#pipeline.budget.spend(1 + (cells.length >> 3))) return;
    // A field of it that is bound anew is a change of the object.
    const change = kind === Effect.write ? Effect.mutate : kind;
    for (const cell of cells) this.#touch(cell, change, op, null, false);
  }

  /** The part has done the same to the same objects in a few places already. */
  #isShownOften(reached: readonly TokenId[], kind: number): boolean {
    let times = this.#timesChanged.get(reached);
    if (times === undefined) this.#timesChanged.set(reached, (times = new Uint8Array(kinds)));
    if ((times[kind] as number) >= mostPlaces) return true;
    times[kind] = (times[kind] as number) + 1;
    return false;
  }

  /** Cells of those that last; what is reached is the same list wherever it is reached from the same objects. */
  #lastingCells(reached: readonly TokenId[]): readonly Cell[] {
    let cells = this.#cellsReached.get(reached);
    if (cells === undefined) {
      const found = new Set<Cell>();
      for (const token of reached) if (this.#lasting.has(token)) found.add(this.#cells.ofObject(token));
      this.#cellsReached.set(reached, (cells = [...found]));
    }
    return cells;
  }

  /** `changed` holds what is changed; 0 where that is not known. */
  #onVariable(value: ValueId, root: RootId, kind: number, op: OpId, own: boolean, changed: ValueId): void {
    if (this.#cells.isReceiver(value)) return this.#onReceiver(value, root, kind, op, own, changed);
    const cell = this.#cells.ofVariable(value);
    if (cell !== null)
      this.#touch(
        cell,
        kind,
        op,
        this.#pipeline.effects.roots.isDeep(root) || this.#isElsewhere(kind, changed, cell) ? changed : null,
        own,
        cell.name === '' ? '' : (this.#pipeline.facts.variables.nameOf(value) ?? cell.name),
      );
  }

  /** What is changed is part of the cell, and not what the cell holds: what a promise gives has the promise's root. */
  #isElsewhere(kind: number, changed: ValueId, { tokens }: Cell): boolean {
    if (kind !== Effect.mutate || changed === 0) return false;
    return this.#pipeline.origins.tokensOf(changed).some((token) => !tokens.includes(token));
  }

  #isModuleObject(cell: Cell): boolean {
    return cell.variable !== null && this.#pipeline.facts.variables.get(cell.variable)?.kind === VariableKind.module;
  }

  // ------------------------------------------------------------------------------------------------- `this`

  #onReceiver(receiver: ValueId, root: RootId, kind: number, op: OpId, own: boolean, changed: ValueId): void {
    const { effects, origins } = this.#pipeline;
    const only = effects.roots.fieldOf(root);
    const within = effects.roots.isDeep(root) ? changed : null;
    if (only === -1 && (kind === Effect.read || kind === Effect.write)) return;
    let found = false;
    for (const id of origins.tokensOf(receiver)) {
      const token = origins.tokens.get(id);
      if (token.kind !== 'object') continue;
      found = true;
      // The whole of `this` is changed: every field that anybody uses.
      const fields = only === -1 ? [...(origins.tokens.knownProperties(id)?.keys() ?? [])] : [only];
      if (!this.#pipeline.budget.spend(fields.length)) return;
      for (const field of fields) {
        if (field === ANY_PROPERTY && only === -1) continue;
        this.#touch(this.#cells.ofField(id, field, token.fn), kind, op, within, own);
      }
    }
    if (found || only === -1) return;
    const cell = this.#cells.fieldOf(receiver, only);
    this.#touch(cell, kind, op, within, own);
  }

  /** `stream.write(line)`: code from outside calls it, by an object that it was given. */
  #onLent(fn: FunctionId, root: RootId, kind: number, op: OpId, changed: ValueId): void {
    const { facts, origins } = this.#pipeline;
    if (!origins.lent.has(fn)) return;
    const { receiver } = facts.fn(fn);
    const isObject = (id: TokenId): boolean => origins.tokens.get(id).kind === 'object';
    if (origins.tokensOf(receiver).some(isObject)) this.#onReceiver(receiver, root, kind, op, false, changed);
  }

  // ------------------------------------------------------------------------------------------------ touches

  /** `within` holds what is touched within the cell, null where that is what the cell itself holds. */
  #touch(cell: Cell, kind: number, op: OpId, within: ValueId | null, own: boolean, name = cell.name): void {
    const outsiders = this.#pipeline.parts.outsiders.id;
    // What runs in a flow is that flow's; and what start-up code hands to code that nobody knows, that may change later.
    if (this.#part.id === outsiders && cell.origin === 'flow') return;
    // `exports.x = …` at the top of a module declares.
    if (this.#part.id === 0 && kind === Effect.mutate && this.#isModuleObject(cell)) return;
    // A package has itself in hands anyway.
    if (this.#part.id === 0 && kind === Effect.hand && this.#isPackage(cell)) return;
    const part = this.#part.id === 0 && kind === Effect.hand ? outsiders : this.#part.id;
    const use = useOf(kind, within !== null);
    if (kind === Effect.hand) cell.changed = 'within';
    else if (kind !== Effect.read && within !== null) this.#objects.note(cell, within);
    else if (kind === Effect.mutate && cell.changed === 'nothing') cell.changed = 'itself';
    const touch = cell.touchOf(part);
    if (touch === undefined) {
      cell.addTouch(part, this.#order++, own, name, use, op);
      return;
    }
    if (own) touch.setDirect();
    if (use !== null) touch.add(use, op);
  }

  #isPackage({ tokens }: Cell): boolean {
    return tokens.length > 0 && tokens.every((id) => this.#isModule(id));
  }

  /** A module, or what a compiler's helper makes of one. */
  #isModule(id: TokenId): boolean {
    const token = this.#pipeline.origins.tokens.get(id);
    return token.kind === 'external' ? token.site === -1 : token.kind === 'object' && token.type === 'Namespace';
  }

  // --------------------------------------------------------------------------------------- implicit calls

  /** Using an object whose getters, `toString` or `toJSON` change something, or look at what changes, is no mere reading. */
  collectImplicit(): void {
    this.#part = this.#pipeline.parts.outsiders;
    const isChanged = (variable: ValueId): boolean => this.#cells.known(variable)?.isChangedLater === true;
    const calls = new ImplicitCalls(this.#pipeline, (id) => this.#lasting.has(id), isChanged);
    for (const { token, op } of calls.uses()) this.#touch(this.#cells.ofObject(token), Effect.mutate, op, null, false);
    for (const each of findRunsAnywhere(this.#pipeline)) if (calls.isUnsettled(each.fn)) this.#anywhere.push(each);
  }

  // ------------------------------------------------------------------------------------------- object reads

  /** Objects that change and are reached through no variable of start-up code: who reads them? */
  collectReads(): void {
    const changing = new Set<TokenId>();
    for (const [token, cell] of this.#cells.objects) if (cell.someTouch(({ part }) => part !== 0)) changing.add(token);
    for (const cell of this.#cells.all) {
      if (cell.origin !== 'startup' || cell.changed === 'nothing' || !cell.isChangedLater) continue;
      for (const token of this.#objects.of(cell)) changing.add(this.#lasting.representative(token));
    }
    this.#changing = changing;
    for (const memory of [this.#cellsReached, this.#timesChanged, this.#takenFrom]) memory.clear();
    this.#readApps(changing);
    if (changing.size === 0) return;
    this.#readRendered(changing);
    const readers = new ObjectReads(
      this.#pipeline,
      (id) => changing.has(this.#lasting.representative(id)),
      this.#changingWithin(changing),
    );
    const cells = new Map<readonly TokenId[], readonly Cell[]>();
    const cellsOf = (tokens: readonly TokenId[]): readonly Cell[] => {
      let found = cells.get(tokens);
      if (found === undefined) cells.set(tokens, (found = tokens.map((token) => this.#cells.ofObject(token))));
      return found;
    };
    for (const part of [...this.#pipeline.parts.list, this.#pipeline.parts.outsiders]) {
      this.#part = part;
      const times = new Map<readonly TokenId[], number>();
      for (const run of part.runs) {
        readers.each(run, (op, tokens) => {
          const before = times.get(tokens) ?? 0;
          if (before >= (tokens.length > manyObjects ? 1 : mostPlaces)) return;
          times.set(tokens, before + 1);
          if (tokens.length === 1)
            this.#touch(this.#cells.ofObject(tokens[0] as TokenId), Effect.read, op, null, false);
          else for (const cell of cellsOf(tokens)) this.#touch(cell, Effect.read, op, null, false);
        });
      }
    }
  }

  /** For each list of tokens what can be reached from them and changes; most values hold what another one holds as well. */
  #changingWithin(changing: ReadonlySet<TokenId>): (tokens: readonly TokenId[]) => readonly TokenId[] {
    const known = new Map<readonly TokenId[], readonly TokenId[]>();
    return (tokens) => {
      const reached = this.#reach.from(tokens, true);
      // Nearly all reach nothing that changes, or nothing else.
      if (reached.every((token) => changing.has(token))) return reached;
      if (reached.length === 1) return nothing;
      let found = known.get(reached);
      if (found === undefined) {
        const ids = new Set<TokenId>();
        for (const token of reached) if (changing.has(token)) ids.add(token);
        known.set(reached, (found = ids.size === 0 ? nothing : [...ids]));
      }
      return found;
    };
  }

  /** A reply is made with the settings of its app, and rendered with its locals: if those change, it depends on them. */
  #readApps(changing: ReadonlySet<TokenId>): void {
    const apps = [...changing].filter((id) => this.#lasting.isOneOfAKind(id));
    if (apps.length === 0) return;
    const all = apps.some((id) => this.#changesSettings(id));
    for (const cell of this.#cells.all.slice()) {
      if (cell.request !== 'reply') continue;
      for (let touch = cell.firstTouch; touch !== null; touch = touch.next) {
        this.#part =
          touch.part === this.#pipeline.parts.outsiders.id
            ? this.#pipeline.parts.outsiders
            : (this.#pipeline.parts.list[touch.part] as Part);
        const op = all
          ? (touch.first(Use.reads) ?? touch.first(Use.mutates) ?? 0)
          : touch.places(Use.mutates).find((found) => this.#isCallOf(found, /^render$/));
        if (op === undefined) continue;
        for (const app of apps) this.#touch(this.#cells.ofObject(app), Effect.read, op, null, false);
      }
    }
  }

  /** Templates find what the app has, and what its engines were given, wherever else it is changed. */
  #readRendered(changing: ReadonlySet<TokenId>): void {
    const { facts, models, origins, parts } = this.#pipeline;
    const { tokens } = origins;
    const from: TokenId[] = [...findEngines(facts, origins, models).tokens];
    for (let id = 1; id < tokens.length; id++) if (this.#lasting.isOneOfAKind(id)) from.push(id);
    const found = new Set<TokenId>();
    for (const id of from) for (const token of this.#reach.from([id], true)) if (changing.has(token)) found.add(token);
    if (found.size === 0) return;
    for (const op of listRenderings(facts, origins, models)) {
      for (const id of parts.runners.get(facts.owner.get(op)) ?? nothing) {
        const part = parts.list[id];
        if (part === undefined || id === 0) continue;
        this.#part = part;
        for (const token of found) this.#touch(this.#cells.ofObject(token), Effect.read, op, null, false);
      }
    }
  }

  #changesSettings(app: TokenId): boolean {
    const settings = /^(set|enable|disable|engine)$/;
    const cells = this.#cells.all.filter((cell) => cell.tokens.some((id) => this.#lasting.representative(id) === app));
    return cells.some((cell) =>
      cell.someTouch(
        (touch) =>
          touch.part !== 0 &&
          touch.places(Use.mutates).some((op) => this.#isCallOf(op, settings) && this.#isOfApp(op, app)),
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

  state(): State {
    const { context } = this.#cells;
    context.isComplete = true;
    context.indexes.clear();
    const grouped = groupCells({
      pipeline: this.#pipeline,
      reach: this.#reach,
      changed: this.#objects,
      isApp: (cell) => this.#isOneOfAKind(cell),
      cells: this.#cells.all,
      fieldOwners: this.#cells.fieldOwners,
      cellOf: (variable) => this.#cells.known(this.#pipeline.graph.aliases.get(variable) ?? variable),
    });
    const changing = new Set(this.#changing);
    for (const [cell, owner] of this.#cells.fieldOwners) if (cell.isChangedLater) changing.add(owner);
    return {
      ...withoutLocals(this.#pipeline, grouped),
      anywhere: this.#anywhere,
      ...askChanging(changing, this.#reach, this.#lasting),
      leave: leaving(context),
    };
  }
}

/**
 * Of nine in ten variables there is nothing to decide and nothing to send: whoever uses them makes them. What is made for a request is
 * kept, and what a callback is given, which comes in messages.
 */
function withoutLocals({ parts }: Pipeline, { cells, groups, groupOf }: Grouped): Grouped {
  const given = new Set(parts.list.flatMap(({ fn }) => fn.params));
  const isGiven = ({ variable }: Cell): boolean => variable !== null && given.has(variable);
  const isKept = (cell: Cell): boolean =>
    cell.request !== null || groupOf(cell) !== cell || !cell.isLocal || isGiven(cell);
  return {
    cells: cells.filter(isKept),
    groups: groups.filter((group) => !(group instanceof Cell) || isKept(group)),
    groupOf,
  };
}

/** Functions of their own: these live on, and what the collector has remembered on the way need not. */
function askChanging(
  changing: ReadonlySet<TokenId>,
  reach: Reach,
  lasting: LastingObjects,
): Pick<State, 'isChanging' | 'holdChanging'> {
  reach.forget();
  const isChanging = (token: TokenId): boolean => changing.has(lasting.representative(token));
  return { isChanging, holdChanging: (tokens) => reach.from(tokens, true).some(isChanging) };
}

/** Cells do not hold what was found of what they may be, and who holds this no more than cells do. */
function leaving(context: CellContext): () => void {
  return () => {
    context.membersOf = noMembers;
  };
}

function noMembers(): readonly TokenId[] {
  return nothing;
}

/** Who reads that many at once has shown it by one place. */
const manyObjects = 40;
const nothing: readonly TokenId[] = [];

function useOf(effect: number, deep: boolean): UseKind | null {
  switch (effect) {
    case Effect.read:
      return Use.reads;
    case Effect.write:
      return deep ? Use.mutates : Use.writes;
    case Effect.mutate:
      return Use.mutates;
    case Effect.hand:
      return Use.hands;
    default:
      return null;
  }
}
