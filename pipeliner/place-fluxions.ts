/**
 * Reads:   parts, decisions, messages, effects.
 * Gives:   where each part is expected to run, with every reason for it.
 *
 *   home        start-up, whatever is no request, and what cannot be shown to be free
 *   group       what keeps or shares state that changes: one owner
 *   replicated  all else
 */
import { ById, type ReadonlyById } from '../analyzer/by-id.js';
import { isCall } from '../analyzer/call-graph.js';
import type { Part, PartId } from '../analyzer/cut-parts.js';
import {
  ANY_PROPERTY,
  type FunctionId,
  NOTHING,
  Op,
  Opaque,
  type OpId,
  type ValueId,
  VariableKind,
} from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import type { RootId } from '../analyzer/roots.js';
import { calleeText } from '../analyzer/source-text.js';
import { Effect } from '../analyzer/summarise-effects.js';
import { UNKNOWN } from '../analyzer/tokens.js';
import {
  actsOnProcess,
  boundTo,
  callUnresolved,
  changesByLoading,
  changesUnknown,
  filesChange,
  globalVariable,
  heldElsewhere,
  hiddenState,
  keepsState,
  loadsLate,
  notRequest,
  oneRequest,
  opaqueCode,
  packageUnmodelled,
  runsAnywhere,
  settingsChange,
  sharesState,
  startUpCode,
  stateless,
  tooEntangled,
} from '../diagnostics/catalogue.js';
import type { Diagnostic } from '../diagnostics/types.js';
import type { Place, Placement, Reason } from '../flx/program.js';
import { type Cell, type Group, type State, Use } from './cells.js';
import type { Decision } from './decide-state.js';
import { ConfiguredPackages } from './find-configured.js';
import { findFileUsers } from './find-file-users.js';
import type { Hampered } from './find-hampered.js';
import { PutByOthers } from './find-put-by-others.js';
import type { Flows } from './flows.js';
import type { Folds } from './fold-packages.js';
import { LateLoads } from './late-loads.js';
import { causeOf } from './tag-groups.js';
import type { Messages } from './write-messages.js';

export interface Placed {
  readonly placement: Placement;
  readonly reasons: readonly Reason[];
}

export interface PlacingInput {
  readonly pipeline: Pipeline;
  readonly flows: Flows;
  readonly state: State;
  readonly decisions: ReadonlyMap<Group, Decision>;
  readonly messages: Messages;
  readonly names: ReadonlyById<string>;
  readonly folds: Folds;
  readonly hampered: readonly Hampered[];
}

export function placeFluxions(input: PlacingInput): ReadonlyById<Placed> {
  const placer = new Placer(input);
  placer.lookAtParts();
  placer.bindTogether();
  return placer.placed();
}

interface Change {
  readonly root: RootId;
  readonly fn: FunctionId;
  readonly op: OpId;
  readonly at: OpId;
  readonly value: ValueId;
}

const mostReasons = 6;
const rank = { replicated: 0, group: 1, home: 2 } as const;

class Placer {
  readonly #input: PlacingInput;
  readonly #own = new Map<PartId, { placement: Placement; reasons: Reason[] }>();
  /** Variables to which `require`s with an unknown result are assigned. */
  readonly #unloadedInto = new Map<ValueId, ValueId>();
  readonly #bonds: { readonly left: PartId; readonly right: PartId; readonly name: string }[] = [];

  readonly #lateLoads: LateLoads;
  readonly #putByOthers: PutByOthers;
  readonly #texts = new Map<string, string>();
  /** Those that name no place, by what they say. */
  readonly #placeless = new Map<string, Reason>();
  /** The app makes code from texts, which no source shows. */
  readonly #runsText: boolean;

  constructor(input: PlacingInput) {
    this.#runsText = runsText(input.pipeline);
    this.#lateLoads = new LateLoads(input.pipeline);
    this.#putByOthers = new PutByOthers(input.pipeline);
    this.#input = input;
    const { facts, graph } = input.pipeline;
    const unloaded = new Set(graph.unloaded.map(({ value }) => value));
    for (let op = 0; unloaded.size > 0 && op < facts.kind.length; op++) {
      const isCopy = facts.kind.get(op) === Op.copy && unloaded.has(facts.a.get(op));
      if (isCopy) this.#unloadedInto.set(facts.a.get(op), facts.b.get(op));
    }
  }

  placed(): ReadonlyById<Placed> {
    for (const own of this.#own.values()) {
      if (own.placement === 'replicated') own.reasons.unshift(this.#reason(stateless(), null));
      // A list that has grown keeps room for many more.
      own.reasons = own.reasons.slice();
    }
    const placed = new ById<Placed>(this.#input.pipeline.parts.list.length);
    for (const [part, own] of this.#own) placed.set(part, own);
    return placed;
  }

  // --------------------------------------------------------------------------------------- each on its own

  lookAtParts(): void {
    const { pipeline } = this.#input;
    for (const part of pipeline.parts.list) this.#own.set(part.id, this.#lookAt(part));
    this.#mindDynamicCode();
    this.#mindUnknownSources();
    this.#mindWhatRunsAnywhere();
    if (pipeline.budget.isExhausted) this.#keepAllHome();
    for (const decision of this.#input.decisions.values()) this.#addState(decision);
    this.#mindConfigured();
    this.#mindFiles();
  }

  #lookAt(part: Part): { placement: Placement; reasons: Reason[] } {
    if (part.kind === 'main') return { placement: 'home', reasons: [this.#reason(startUpCode(), null)] };
    const reasons = this.#obstacles(part);
    if (!this.#input.flows.isInRequest(part.id)) {
      return { placement: 'home', reasons: [this.#reason(notRequest(this.#describe(part)), null), ...reasons] };
    }
    return { placement: reasons.length > 0 ? 'home' : 'replicated', reasons };
  }

  #describe(part: Part): string {
    return part.kind === 'start' ? 'what a timer or listener runs' : 'this';
  }

  /** Everything in what the part runs of which nobody can say what it does. */
  #obstacles(part: Part): Reason[] {
    const found = new Map<string, Reason>();
    this.#input.pipeline.parts.eachEffect(part, (kind, root, fn, op, at, value) => {
      // What may change anything counts for all others too, so it is not left out however much else there is to say.
      if (kind === Effect.read || kind === Effect.hand || (found.size >= mostReasons && kind < Effect.opaque)) return;
      const obstacle = this.#obstacle(kind, root, op) ?? this.#changeOfUnknown(part, { root, fn, op, at, value });
      if (obstacle !== null && !found.has(obstacle.message)) found.set(obstacle.message, obstacle);
    });
    return [...found.values()];
  }

  #obstacle(kind: number, root: RootId, op: OpId): Reason | null {
    const { facts, source } = this.#input.pipeline;
    switch (kind) {
      case Effect.unknown:
        return this.#reason(this.#unknownCall(op), source.place(op));
      case Effect.stateful:
        return this.#reason(
          hiddenState(isCall(facts.kind.get(op)) ? calleeText(facts, source, op) : source.property(op)),
          source.place(op),
        );
      case Effect.process:
        return this.#reason(actsOnProcess(calleeText(facts, source, op)), source.place(op));
      case Effect.opaque:
        // Where no such code stands, the analysis has lost track of what a function changes.
        if (facts.kind.get(op) !== Op.opaque) return this.#reason(tooEntangled(), source.place(op));
        return this.#reason(opaqueCode(facts.d.get(op) === Opaque.with ? 'with' : 'eval'), source.place(op));
      case Effect.load:
        return this.#lateLoad(op);
      default:
        return this.#changeOutside(root, op);
    }
  }

  #lateLoad(op: OpId): Reason | null {
    const { source } = this.#input.pipeline;
    const does = this.#lateLoads.of(op);
    if (does === 'nothing') return null;
    return this.#reason((does === 'its own' ? loadsLate : changesByLoading)(source.loaded(op)), source.place(op));
  }

  /**
   * An object that comes from code that is not read may be held there too: a cache hands out its entries, and what it puts on a request may be what
   * the app gave it (`done(null, user)`, then `req.user.seen = now`).
   */
  #changeOfUnknown(part: Part, change: Change): Reason | null {
    const { origins, models, source } = this.#input.pipeline;
    const known = (): Reason => this.#reason(changesUnknown(source.changed(change.op)), source.place(change.op));
    // Whoever calls `touch(req.user)`: what is changed is that, whatever it is called there.
    if (origins.tokensOf(change.value).some((id) => this.#putByOthers.has(id))) return known();
    for (const id of origins.tokensOf(this.#changedIn(part, change))) {
      const token = origins.tokens.get(id);
      const owner = token.kind === 'external' ? models.unmodelledPackage(token.shape) : null;
      if (id === UNKNOWN || this.#putByOthers.has(id) || (owner !== null && !models.isModelled(owner))) return known();
    }
    return null;
  }

  /** What is changed, as the function knows it of which the change is told; NOTHING where others answer for it. */
  #changedIn(part: Part, { root, fn, op, at, value }: Change): ValueId {
    const { effects, facts } = this.#input.pipeline;
    const isOwn = fn === part.fn.id;
    const known = (changed: ValueId): ValueId => (!isOwn && effects.isGiven(changed, fn) ? NOTHING : changed);
    if (op === at) return known(value);
    // What a callee does to its arguments is told of the variables that were passed.
    if (root < 0) return NOTHING;
    const { base, id } = effects.roots.get(root);
    if (base === 'variable') return known(id);
    return isOwn && base === 'param' ? (facts.fn(fn).params[id] ?? NOTHING) : NOTHING;
  }

  /** Changing what every module sees: globals, `process.env`, an imported package's exports. */
  #changeOutside(id: RootId, op: OpId): Reason | null {
    if (id < 0) return null;
    const { pipeline } = this.#input;
    const { roots } = pipeline.effects;
    if (!roots.isVariable(id)) return null;
    const of = roots.of(id);
    const variable = pipeline.facts.variables.get(pipeline.graph.aliases.get(of) ?? of);
    if (variable === undefined || variable.owner >= 0) return null;
    if (variable.name === 'process' && this.#concernsProcessAlone(op))
      return this.#reason(actsOnProcess(pipeline.source.changed(op)), pipeline.source.place(op));
    return this.#reason(opaqueCode(`changing the global "${variable.name}"`), pipeline.source.place(op));
  }

  /** `process.on('SIGTERM', …)` and `process.exitCode = 1` concern the process, and whoever uses it by name. What packages
   *  and the language look at by themselves (`process.env.TZ`) may change what any code does. */
  #concernsProcessAlone(op: OpId): boolean {
    const { facts, origins, models } = this.#input.pipeline;
    switch (facts.kind.get(op)) {
      case Op.method:
        return origins.calleeTokens(op).every((id) => {
          const token = origins.tokens.get(id);
          return token.kind === 'external' && models.call(token.shape, false) !== null;
        });
      case Op.store:
        return facts.c.get(op) !== ANY_PROPERTY && !looked.test(facts.atomName(facts.c.get(op)));
      default:
        return false;
    }
  }

  #unknownCall(op: OpId): Diagnostic {
    const { facts, source, origins, models } = this.#input.pipeline;
    const callee = calleeText(facts, source, op);
    for (const id of origins.calleeTokens(op)) {
      const token = origins.tokens.get(id);
      if (token.kind !== 'external' || models.call(token.shape, facts.kind.get(op) === Op.construct) !== null) continue;
      const name = models.isUnknown(token.shape) ? models.unmodelledPackage(token.shape) : token.shape.package;
      if (name !== null && name !== '') return packageUnmodelled(callee, name);
    }
    return callUnresolved(callee);
  }

  /** What `eval` in one handler changes, and what a changed `Array.prototype` does, all others may depend on. */
  #mindDynamicCode(): void {
    for (const [part, own] of this.#own) {
      const dynamic = part === 0 ? undefined : own.reasons.find(({ code }) => changesAnything.has(code));
      if (dynamic === undefined) continue;
      for (const [other, there] of this.#own) {
        if (other === 0 || other === part || there.reasons.some(({ code }) => changesAnything.has(code))) continue;
        there.placement = 'home';
        const by = dynamic.code === 'pipeliner/opaque-code' ? `; "${this.#name(part)}" does so` : '';
        there.reasons.push({ ...dynamic, message: dynamic.message + by });
      }
      return;
    }
  }

  /** What a package without a model gives, and what a module that is not known gives, may change by itself. */
  #mindUnknownSources(): void {
    for (const cell of this.#input.state.cells) {
      const source = this.#unknownSource(cell);
      if (source === null) continue;
      for (let touch = cell.firstTouch; touch !== null; touch = touch.next) {
        const { part } = touch;
        const own = this.#own.get(part);
        const op = touch.first(Use.reads);
        if (part === 0 || own === undefined || op === undefined || own.placement === 'home') continue;
        own.placement = 'home';
        own.reasons.push(this.#reason(source(cell.nameIn(touch) || cell.hint), this.#input.pipeline.source.place(op)));
      }
    }
  }

  /** What is to be said of a variable of start-up code that holds something from a package without a model, or from who
   *  knows where; null for all others. */
  #unknownSource(cell: Cell): ((name: string) => Diagnostic) | null {
    if (cell.request !== null || cell.origin === 'flow') return null;
    if (this.#isOwnGlobal(cell)) return globalVariable;
    const { origins, models, graph } = this.#input.pipeline;
    if (cell.variable !== null && graph.unloaded.some(({ value }) => this.#unloadedInto.get(value) === cell.variable))
      return callUnresolved;
    // Whoever handed it to start-up code may hold on to it, and change it at any time.
    if (cell.origin === 'startup' && cell.tokens.includes(UNKNOWN)) return heldElsewhere;
    for (const id of cell.tokens) {
      const token = origins.tokens.get(id);
      if (
        token.kind === 'external' &&
        token.shape.package !== '' &&
        models.isUnknown(token.shape) &&
        !models.isModelled(token.shape.package)
      ) {
        const { shape } = token;
        return (name) => packageUnmodelled(name, shape.package);
      }
    }
    return null;
  }

  /** A global that the app makes, perhaps by code from a text; those of the language and of Node have models. */
  #isOwnGlobal(cell: Cell): boolean {
    const { facts, models } = this.#input.pipeline;
    const variable = cell.variable === null ? undefined : facts.variables.get(cell.variable);
    if (variable?.kind !== VariableKind.global || models.global(variable.name) !== null) return false;
    return this.#runsText || cell.someTouch((touch) => touch.has(Use.writes));
  }

  /** What a package does may change with its settings, for all who use it. */
  #mindConfigured(): void {
    const { pipeline } = this.#input;
    const configured = new ConfiguredPackages(pipeline);
    for (const part of pipeline.parts.list) {
      const own = this.#own.get(part.id);
      const used = own?.placement === 'replicated' ? configured.usedBy(part) : null;
      if (used === null || own === undefined) continue;
      own.placement = 'home';
      own.reasons.push(this.#reason(settingsChange(used.package), pipeline.source.place(used.op)));
    }
  }

  /** Who works on files takes turns with all others who do. */
  #mindFiles(): void {
    const { flows, pipeline } = this.#input;
    for (const [part, op] of findFileUsers(pipeline, flows)) {
      const own = this.#own.get(part);
      if (own === undefined || own.placement === 'home') continue;
      own.placement = 'home';
      const callee = calleeText(pipeline.facts, pipeline.source, op);
      own.reasons.push(this.#reason(filesChange(callee), pipeline.source.place(op)));
    }
  }

  /** Each request may run it, on whatever loop it is. */
  #mindWhatRunsAnywhere(): void {
    const [first] = this.#input.state.anywhere;
    if (first === undefined) return;
    const { source } = this.#input.pipeline;
    for (const [part, own] of this.#own) {
      if (part === 0) continue;
      own.placement = 'home';
      own.reasons.unshift(this.#reason(runsAnywhere(first.name), source.place(first.op)));
    }
  }

  /** The analysis gave up telling things apart, so nothing is proven. */
  #keepAllHome(): void {
    for (const [part, own] of this.#own) {
      if (part === 0) continue;
      own.placement = 'home';
      own.reasons.unshift(this.#reason(tooEntangled(), null));
    }
  }

  // -------------------------------------------------------------------------------------------------- state

  #addState(decision: Decision): void {
    if (decision.kind === 'scope') {
      const names = decision.group.cells
        .filter((cell) => cell.touchOf(decision.owner) !== undefined)
        .map((cell) => `"${cell.hint}"`);
      this.#own1(decision.owner, this.#reason(keepsState([...new Set(names)].join(', ')), this.#firstChange(decision)));
    } else if (decision.kind === 'share') {
      const place = this.#firstChange(decision);
      for (const part of decision.parts) if (part !== 0) this.#addShare(decision, part, place);
    }
  }

  #addShare(decision: Extract<Decision, { kind: 'share' }>, part: PartId, place: Place | null): void {
    const listed = this.#listOthers(decision.parts, part);
    const { cells } = decision.group;
    const touched = cells.filter((cell) => cell.touchOf(part) !== undefined);
    // By a name that a reader finds among the group's variables.
    const shown = new Set(cells.map((cell) => cell.name));
    const known = touched.find((cell) => cell.name !== '') ?? touched.find((cell) => shown.has(cell.hint));
    const name = (known ?? causeOf(decision.group)).hint;
    if (!decision.perFlow)
      return this.#own1(part, this.#reason(sharesState(name, listed === '' ? 'itself' : listed), place));
    this.#own.get(part)?.reasons.push(this.#reason(oneRequest(name, listed), place));
    // A chain of bonds holds as well as one between each two.
    const first = decision.parts.find((other) => other !== 0);
    if (first !== undefined && first !== part) this.#bonds.push({ left: first, right: part, name });
  }

  #listOthers(parts: readonly PartId[], part: PartId): string {
    const others = parts
      .slice(0, 4)
      .filter((other) => other !== part)
      .slice(0, 3);
    const more = parts.length - 1 - others.length;
    const listed = others.map((other) => `"${this.#name(other)}"`).join(', ');
    return more > 0 ? `${listed} and ${more} more` : listed;
  }

  #own1(part: PartId, why: Reason): void {
    const own = this.#own.get(part);
    if (own === undefined) return;
    // Objects without a name of their own are told alike; once is enough.
    if (!own.reasons.some(({ code, message }) => code === why.code && message === why.message))
      own.reasons.unshift(why);
    // Unknown calls keep it home; what is no request keeps its state there all the same.
    const isFree = own.reasons.every(({ code }) => code !== 'pipeliner/call-unresolved' && !obstacleCodes.has(code));
    if (isFree) own.placement = 'group';
  }

  #firstChange(decision: Decision): Place | null {
    for (const cell of decision.group.cells) {
      for (let touch = cell.firstTouch; touch !== null; touch = touch.next) {
        if (touch.part === 0) continue;
        const op = touch.first(Use.writes) ?? touch.first(Use.mutates) ?? touch.first(Use.hands);
        if (op !== undefined) return this.#input.pipeline.source.place(op);
      }
    }
    return null;
  }

  #reason({ code, message, lift }: Diagnostic, loc: Place | null): Reason {
    const known = loc === null ? this.#placeless.get(message) : undefined;
    if (known !== undefined && known.code === code) return known;
    const reason = { code, message: this.#text(message), loc, lift: this.#text(lift) };
    if (loc === null) this.#placeless.set(message, reason);
    return reason;
  }

  /** Many reasons say the same, and a text is held in the pieces that it was put together from until somebody looks at it. */
  #text(text: string): string {
    const known = this.#texts.get(text);
    if (known === undefined) this.#texts.set(text, text);
    return known ?? text;
  }

  #name(part: PartId): string {
    return this.#input.names.get(part) ?? 'main';
  }

  // --------------------------------------------------------------------------------------------- together

  /**
   * What one flow shares keeps all parts of the flow on one loop. What cannot travel keeps who would send it where it has to
   * arrive. Not the other way round: what is free runs where it is called, for each of those that call it.
   */
  bindTogether(): void {
    const stays: { readonly from: PartId; readonly to: PartId; readonly name: string }[] = [];
    for (const part of this.#input.pipeline.parts.list) {
      for (const stream of part.streams) {
        if (part.kind === 'main') continue;
        const stuck = this.#input.messages.stuckIn(stream);
        if (stuck === null) continue;
        for (const to of stream.to) stays.push({ from: part.id, to, name: stuck.name });
      }
    }
    for (let changed = true; changed; ) {
      changed = this.#takeInAll();
      for (const { from, to, name } of stays) if (this.#pull(from, to, name)) changed = true;
      for (const bond of this.#bonds)
        if (this.#pull(bond.left, bond.right, bond.name) || this.#pull(bond.right, bond.left, bond.name))
          changed = true;
      for (const { from, to, name } of this.#input.hampered) if (this.#pull(from, to, name)) changed = true;
    }
  }

  /** What keeps a part of a package's code keeps whoever goes on with it, as nothing is cut there. */
  #takeInAll(): boolean {
    let changed = false;
    for (const part of this.#input.pipeline.parts.list)
      for (const within of this.#input.folds.within(part)) if (this.#takeIn(part, within)) changed = true;
    return changed;
  }

  #takeIn(part: Part, within: Part): boolean {
    const own = this.#own.get(part.id);
    const there = this.#own.get(within.id);
    if (part.id === 0 || own === undefined || there === undefined || rank[own.placement] >= rank[there.placement])
      return false;
    own.placement = 'home';
    const told = new Set(own.reasons.map(({ message }) => message));
    own.reasons.push(...there.reasons.filter(({ message }) => !told.has(message)).slice(0, mostReasons));
    return true;
  }

  /** `part` goes where `other` has to be. */
  #pull(part: PartId, other: PartId, name: string): boolean {
    const own = this.#own.get(part);
    const there = this.#own.get(other);
    if (own === undefined || there === undefined || other === 0) return false;
    if (rank[own.placement] >= rank[there.placement]) return false;
    own.placement = 'home';
    own.reasons.push(this.#reason(boundTo(name, this.#name(other)), null));
    return true;
  }
}

function runsText({ facts, graph }: Pipeline): boolean {
  if (graph.externals.some(({ name }) => name === 'vm')) return true;
  for (let op = 0; op < facts.kind.length; op++) {
    const isText = facts.kind.get(op) === Op.opaque && facts.d.get(op) === Opaque.eval;
    if (isText && facts.moduleOf(facts.owner.get(op)).owner === null) return true;
  }
  return false;
}

/** Names that others than the app look up in the environment, and members of `process` that they use. */
const looked =
  /^(?!(?:exitCode|title)$)(TZ|LANG.*|LC_.*|NODE_.*|DEBUG.*|HOME|PATH|TE?MP.*|HTTPS?_PROXY|NO_PROXY|[a-z].*)$/;

/** What does this may change what others use, whoever they are. */
const changesAnything = new Set(['pipeliner/opaque-code', 'pipeliner/changes-by-loading', 'pipeliner/too-entangled']);

const obstacleCodes = new Set([
  'pipeliner/package-unmodelled',
  'pipeliner/changes-unknown',
  'pipeliner/global-variable',
  'pipeliner/held-elsewhere',
  'pipeliner/hidden-state',
  'pipeliner/acts-on-process',
  'pipeliner/opaque-code',
  'pipeliner/loads-late',
  'pipeliner/changes-by-loading',
  'pipeliner/runs-anywhere',
  'pipeliner/settings-change',
  'pipeliner/too-entangled',
]);
