/**
 * Reads:   Pipeline.
 * Gives:   FluxionProgram: every static decision is taken here.
 */
import type { Part, PartId, PartStream } from '../analyzer/cut-parts.js';
import type { Facts, ModuleFact, OpId } from '../analyzer/facts.js';
import type { RupturePoint } from '../analyzer/find-rupture-points.js';
import { type Pipeline, withCoarseParts } from '../analyzer/index.js';
import { placeAt } from '../analyzer/source-text.js';
import { callbackUnresolved } from '../diagnostics/catalogue.js';
import type {
  Fluxion,
  FluxionProgram,
  Loc,
  ModuleSource,
  Place,
  StateVariable,
  StreamFact,
  Unresolved,
} from '../flx/program.js';
import { type Cell, type Group, type State, type Touch, Use, type UseKind } from './cells.js';
import { chooseCuts } from './choose-cuts.js';
import { type Decision, decideState } from './decide-state.js';
import { findConnects } from './find-connects.js';
import { Flows } from './flows.js';
import { type Folds, foldPackages } from './fold-packages.js';
import { listCaptures } from './list-captures.js';
import { PassesOfParts } from './list-passes.js';
import { listStreams } from './list-streams.js';
import { nameFluxions } from './name-fluxions.js';
import { placeFluxions } from './place-fluxions.js';
import { collectState } from './state.js';
import { type Tags, tagGroups } from './tag-groups.js';
import { noCode, type ProgramCode, writeCode } from './write-code.js';
import { Messages } from './write-messages.js';

/**
 * `withCode`: fluxions and modules get their code; only what shows source text needs it. Null where the analysis should be
 * done again with less told apart.
 */
export function buildProgram(pipeline: Pipeline, withCode: boolean): FluxionProgram | null {
  const { facts, parts } = pipeline;
  const flows = new Flows(facts, parts);
  const state = collectState(pipeline, flows);
  if (pipeline.budget.isGivenUp) return null;
  if (state === null) return buildProgram(withCoarseParts(pipeline), withCode);
  const decisions = decideState(state, flows, parts.outsiders.id);
  const tags = tagGroups(facts, state, decisions, parts.list);
  const names = nameFluxions(facts, parts.list);
  const messages = new Messages(facts, parts, state, decisions);
  const folds = foldPackages(pipeline);
  const placed = placeFluxions({ pipeline, flows, state, decisions, messages, names, folds });
  if (pipeline.budget.isGivenUp) return null;
  const code = withCode ? writeCode(facts, parts, names) : noCode;
  const contexts = listContexts(facts, decisions);
  const connectsOf = findConnects(pipeline);
  const streamsOf = listStreams(parts.list, (part) => placed.get(part)?.placement === 'home');
  const builder: Builder = {
    pipeline,
    state,
    decisions,
    tags,
    names,
    messages,
    code,
    contexts,
    streamsOf: (part) => folds.streams(part, streamsOf),
    folds,
  };
  const fluxions = parts.list.filter(({ id }) => !folds.isFolded(id));
  const own = facts.modules.filter(({ owner }) => owner === null);
  const entry = facts.modules[0]?.id ?? '';
  return {
    version: 1,
    entry,
    modules: own.map((module) => ({ id: module.id, code: module.id === entry ? '' : code.ofModule(module) })),
    fluxions: fluxions.map((part) => {
      const { placement, reasons } = placed.get(part.id) ?? { placement: 'home', reasons: [] };
      return makeFluxion(builder, part, placement, reasons);
    }),
    variables: listVariables(builder),
    unresolved: listUnresolved(pipeline),
    sources: own.map(toSource),
    packages: facts.modules.filter(({ owner }) => owner !== null).map(toSource),
    ...chooseCuts(pipeline, placed, messages, names, folds),
    link: {
      connects: fluxions.flatMap((part) => {
        const packages = [...new Set([part, ...folds.within(part)].flatMap(connectsOf))].sort();
        return packages.length === 0 ? [] : [{ fluxion: nameOf(builder, part.id), packages }];
      }),
      repeatable: pipeline.models.repeatable(),
      wrappers: [...new Set(pipeline.graph.externals.map(({ name }) => name))].filter((name) =>
        pipeline.models.wraps(name),
      ),
      passes: listPasses(builder, placed),
      captures: [...listCaptures(pipeline)]
        .filter(([part]) => !folds.isFolded(part.id))
        .map(([part, variables]) => ({ fluxion: nameOf(builder, part.id), variables })),
    },
  };
}

function listPasses(
  builder: Builder,
  placed: ReadonlyMap<PartId, Pick<Fluxion, 'placement'>>,
): FluxionProgram['link']['passes'] {
  const passes = new PassesOfParts(builder.pipeline);
  return builder.pipeline.parts.list.flatMap((part) => {
    if (placed.get(part.id)?.placement !== 'replicated' || builder.folds.isFolded(part.id)) return [];
    const within = builder.folds.within(part);
    const all = [part, ...within].map((each) => passes.of(each));
    // Of a listener in a package's code nobody else is told that it waits for the end of the response.
    const isUnclear = all.includes(null) || (all.some((each) => each?.length !== 0) && within.some(waitsForEnd));
    const passing = isUnclear ? null : all.flatMap((each) => each ?? []);
    return passing?.length === 0 ? [] : [{ fluxion: nameOf(builder, part.id), passing }];
  });
}

function waitsForEnd({ entry }: Part): boolean {
  return /^(finish|prefinish|close)$/.test(entry?.point?.label ?? '');
}

function toSource({ id, file, kind, text, codeStart }: ModuleFact): ModuleSource {
  return { id, file, kind, text, codeStart };
}

interface Builder {
  readonly pipeline: Pipeline;
  readonly state: State;
  readonly decisions: ReadonlyMap<Group, Decision>;
  readonly tags: Tags;
  readonly names: ReadonlyMap<PartId, string>;
  readonly messages: Messages;
  readonly code: ProgramCode;
  readonly contexts: ReadonlyMap<PartId, readonly string[]>;
  readonly streamsOf: (part: Part) => readonly PartStream[];
  readonly folds: Folds;
}

function nameOf(builder: Builder, part: PartId): string {
  return builder.names.get(part) ?? 'main';
}

function makeFluxion(
  builder: Builder,
  part: Part,
  placement: Fluxion['placement'],
  reasons: Fluxion['reasons'],
): Fluxion {
  return {
    id: nameOf(builder, part.id),
    kind: part.kind,
    tags: builder.tags.ofPart.get(part.id) ?? [],
    context: builder.contexts.get(part.id) ?? [],
    streams: builder.streamsOf(part).map((stream) => makeStream(builder, stream)),
    at: placeOf(builder, part),
    placement,
    reasons,
    code: builder.pipeline.facts.isOfPackage(part.fn.id) ? '' : builder.code.ofPart(part),
  };
}

function placeOf(builder: Builder, part: Part): Place {
  const module = builder.pipeline.facts.modules[part.fn.module];
  const offset = part.cut === null ? (part.kind === 'main' ? 0 : part.fn.start) : part.cut.awaitStart;
  return module === undefined ? { module: '', line: 1, column: 1 } : placeAt(module, offset);
}

/** Variables that live where the fluxion lives: what it keeps, shares, or reads and nothing changes. */
function listContexts(facts: Facts, decisions: ReadonlyMap<Group, Decision>): ReadonlyMap<PartId, string[]> {
  const found = new Map<PartId, { name: string; order: number }[]>();
  for (const [group, decision] of decisions) {
    if (decision.kind === 'stream') continue;
    for (const cell of group.cells) {
      if (cell.request !== null || cell.origin === 'outside' || cell.isLocal) continue;
      // An object without a name of its own is in the context only where nothing else stands for it.
      if (cell.name === '' && (decision.kind === 'constant' || group.cells.some((other) => other.name !== '')))
        continue;
      for (let touch = cell.firstTouch; touch !== null; touch = touch.next) {
        const { part, order, direct } = touch;
        const name = cell.nameIn(touch);
        if (!isContextOf(decision, part, direct) || isLocalOfStartUp(facts, cell, part)) continue;
        const list = found.get(part);
        const entry = { name: name === '' ? cell.hint : name, order };
        if (list === undefined) found.set(part, [entry]);
        else list.push(entry);
      }
    }
  }
  // What keeps state has a name for it, if only that of the object.
  for (const decision of decisions.values()) {
    if (decision.kind !== 'scope' || found.has(decision.owner)) continue;
    const touched = decision.group.cells.filter((cell) => cell.touchOf(decision.owner) !== undefined);
    found.set(
      decision.owner,
      touched.map((cell, order) => ({ name: cell.hint, order })),
    );
  }
  return new Map([...found].map(([part, list]) => [part, inOrder(list)]));
}

/** Locals of a start-up function travel to what it does behind an `await`. */
function isLocalOfStartUp(facts: Facts, cell: Cell, part: PartId): boolean {
  const owner = cell.variable === null ? -1 : (facts.variables.ownerOf(cell.variable) ?? -1);
  return owner >= 0 && facts.fn(owner).parent !== -1 && cell.startUp.has(part);
}

function inOrder(list: { readonly name: string; readonly order: number }[]): string[] {
  return [...new Set(list.sort((left, right) => left.order - right.order).map(({ name }) => name))];
}

function isContextOf(decision: Exclude<Decision, { kind: 'stream' }>, part: PartId, direct: boolean): boolean {
  switch (decision.kind) {
    case 'constant':
      return part !== 0 && direct;
    case 'scope':
      return decision.owner === part;
    case 'share':
      return decision.parts.includes(part);
  }
}

function makeStream(builder: Builder, stream: PartStream): StreamFact {
  const { point, cut } = stream;
  const { type } = stream;
  const message = builder.messages.names(stream);
  const dest = stream.to.map((to) => nameOf(builder, to));
  if (point !== null) {
    return {
      type,
      dest,
      message,
      callee: point.callee,
      loc: builder.pipeline.source.place(point.op),
      inferred: point.inferred,
      label: labelOf(point, stream.type),
    };
  }
  const module = builder.pipeline.facts.moduleOf(stream.owner);
  const callee =
    cut === null || cut.calleeEnd === 0
      ? 'await'
      : builder.pipeline.source.slice(module, cut.calleeStart, cut.calleeEnd);
  const loc = placeAt(module, cut?.awaitStart ?? 0);
  return { type, dest, message, callee, loc, inferred: false, label: null };
}

/** How requests write their method, by the name of the call that takes them. */
const verbs = new Map(
  ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'all'].map((name) => [name, name.toUpperCase()]),
).set('del', 'DELETE');

function labelOf({ callee, address, request }: RupturePoint, type: 'start' | 'post'): string | null {
  if (type !== 'start') return null;
  const method = /[\p{ID_Continue}$]+$/u.exec(callee)?.[0] ?? callee;
  // Which one `app[method]` is cannot be told.
  const word = request && callee.endsWith(']') ? 'ANY' : (verbs.get(method) ?? method);
  return address === '' ? word : `${word} ${address}`;
}

// ------------------------------------------------------------------------------------------------- variables

const classes = { constant: 'scope', scope: 'scope', stream: 'stream', share: 'share' } as const;

function listVariables(builder: Builder): StateVariable[] {
  const found: { readonly variable: StateVariable; readonly order: number }[] = [];
  for (const [group, decision] of builder.decisions) {
    const tag = builder.tags.ofGroup.get(group) ?? null;
    for (const cell of group.cells) {
      const variable = makeVariable(builder, cell, decision, tag);
      if (variable !== null) found.push({ variable, order: cell.module });
    }
  }
  found.sort((a, b) => a.order - b.order || byPlace(a.variable.loc, b.variable.loc));
  return found.map(({ variable }) => variable);
}

function byPlace(left: Loc, right: Loc): number {
  return left.line - right.line || left.column - right.column;
}

function makeVariable(builder: Builder, cell: Cell, decision: Decision, tag: string | null): StateVariable | null {
  const module = builder.pipeline.facts.modules[cell.module];
  if (module === undefined || cell.name === '' || cell.origin === 'outside') return null;
  // Made in one part and used in another, or handed to a request's first part.
  if (cell.origin === 'flow' && cell.request === null && !cell.isUsedElsewhere) return null;
  const isShown = (part: PartId): boolean => !builder.folds.isFolded(part) && isPartOf(builder, cell, decision, part);
  const touches = touchesOf(cell, isShown);
  if (touches.length === 0) return null;
  const parts = touches.map(({ part }) => part);
  const isReply = decision.kind === 'stream' && tag !== null;
  const members = isReply ? [0, ...parts.filter((part) => builder.tags.ofPart.get(part)?.includes(tag))] : parts;
  return {
    name: cell.name,
    module: module.id,
    loc: placeAt(module, cell.start),
    class: tag === null ? classes[decision.kind] : 'share',
    tag,
    fluxions: [...new Set(members)].sort((left, right) => left - right).map((part) => nameOf(builder, part)),
    writes: places(builder, touches, isWrite),
    reads: places(builder, touches, isRead),
  };
}

function isPartOf(builder: Builder, cell: Cell, decision: Decision, part: PartId): boolean {
  // What is shared has a tag, which its parts have and no other.
  const isOfRequest = cell.request !== null && decision.kind !== 'share';
  return decision.parts.includes(part) || (isOfRequest && builder.names.has(part));
}

function touchesOf(cell: Cell, test: (part: PartId) => boolean): Touch[] {
  const found: Touch[] = [];
  for (let touch = cell.firstTouch; touch !== null; touch = touch.next) if (test(touch.part)) found.push(touch);
  return found;
}

const isWrite = [Use.writes, Use.mutates, Use.hands] as const;
const isRead = [Use.reads] as const;

function places(builder: Builder, touches: readonly Touch[], uses: readonly UseKind[]): Place[] {
  const ops: OpId[] = [];
  for (const touch of touches) for (const use of uses) if (touch.has(use)) ops.push(...touch.places(use));
  return inSourceOrder(builder.pipeline.facts, ops).map((op) => builder.pipeline.source.place(op));
}

/** One op for each place: copies of a function stand where the function does. */
function inSourceOrder(facts: Facts, ops: OpId[]): readonly OpId[] {
  if (ops.length < 2) return ops;
  const module = (op: OpId): number => facts.fn(facts.owner.get(op)).module;
  const order = (left: OpId, right: OpId): number =>
    module(left) - module(right) || facts.position.get(left) - facts.position.get(right);
  ops.sort(order);
  return ops.filter((op, index) => index === 0 || order(ops[index - 1] as OpId, op) !== 0);
}

// ------------------------------------------------------------------------------------------------ unresolved

function listUnresolved(pipeline: Pipeline): Unresolved[] {
  const { facts, graph, ruptures } = pipeline;
  const isOwn = ({ module }: { module: number }): boolean => facts.modules[module]?.owner === null;
  const calls = ruptures.unresolved.filter(isOwn).map((point) => {
    const module = facts.modules[point.module];
    const diagnostic = callbackUnresolved(null, point.reason);
    return {
      callee: point.callee,
      loc: module === undefined ? { module: '', line: 1, column: 1 } : placeAt(module, point.start),
      code: diagnostic.code,
      reason: diagnostic.message,
      lift: diagnostic.lift,
    };
  });
  const loads = graph.unloaded.filter(isOwn).map(({ module, start, diagnostic }) => {
    const fact = facts.modules[module];
    return {
      callee: 'require',
      loc: fact === undefined ? { module: '', line: 1, column: 1 } : placeAt(fact, start),
      code: diagnostic.code,
      reason: diagnostic.message,
      lift: diagnostic.lift,
    };
  });
  return [...calls, ...loads];
}
