/**
 * Reads:   all decisions, parts, source text.
 * Gives:   FluxionProgram, but for what only the linker asks for.
 *
 * A draft holds nothing of how its decisions were found, origins and effects above all: where nobody else does, that is free
 * again before the program is written.
 */
import type { ReadonlyById } from '../analyzer/by-id.js';
import type { Part, PartId, PartStream } from '../analyzer/cut-parts.js';
import type { Facts, ModuleFact, OpId } from '../analyzer/facts.js';
import type { RupturePoint } from '../analyzer/find-rupture-points.js';
import { placeAt, type SourceText } from '../analyzer/source-text.js';
import type {
  Fluxion,
  Loc,
  ModuleSource,
  Place,
  ShownProgram,
  StateVariable,
  StreamFact,
  Unresolved,
} from '../flx/program.js';
import { type Cell, type Group, type Touch, Use, type UseKind } from './cells.js';
import type { Decision } from './decide-state.js';
import type { Folds } from './fold-packages.js';
import { listContexts } from './list-contexts.js';
import { listStreams } from './list-streams.js';
import type { Placed } from './place-fluxions.js';
import type { Tags } from './tag-groups.js';
import type { ProgramCode } from './write-code.js';
import type { Messages } from './write-messages.js';

/** What a program is made of. */
export interface Draft {
  readonly facts: Facts;
  readonly source: SourceText;
  readonly parts: readonly Part[];
  /** None any more once the variables are written. */
  decisions: ReadonlyMap<Group, Decision>;
  tags: Tags;
  readonly names: ReadonlyById<string>;
  readonly placed: ReadonlyById<Placed>;
  readonly code: ProgramCode;
  readonly messages: Messages;
  readonly folds: Folds;
  readonly unresolved: readonly Unresolved[];
  readonly cuts: Pick<ShownProgram, 'cuts' | 'uncut'>;
}

/** `withTexts`: those of the modules are part of it. */
export function writeProgram(draft: Draft, withTexts: boolean): ShownProgram {
  const { facts, folds, placed, code } = draft;
  facts.keepPlaces();
  // What follows from decisions is found now that the analysis is gone.
  const contexts = listContexts(facts, draft.decisions, draft.parts.length);
  const variables = listVariables(draft);
  // Who does what to what takes as much room as what is written of it.
  draft.decisions = new Map();
  draft.tags = { ofPart: draft.tags.ofPart, ofGroup: new Map() };
  const writing = { draft, contexts, messageOf: draft.messages.allNames(), streamsOf: streamsOfFluxions(draft) };
  const own = facts.modules.filter(({ owner }) => owner === null);
  const entry = facts.modules[0]?.id ?? '';
  return {
    version: 1,
    entry,
    modules: own.map((module) => ({ id: module.id, code: module.id === entry ? '' : code.ofModule(module) })),
    fluxions: draft.parts
      .filter(({ id }) => !folds.isFolded(id))
      .map((part) => makeFluxion(writing, part, placed.get(part.id) ?? { placement: 'home', reasons: [] })),
    variables,
    unresolved: draft.unresolved,
    sources: own.map(withTexts ? toSource : withoutText),
    packages: facts.modules.filter(({ owner }) => owner !== null).map(withTexts ? toSource : withoutText),
    ...draft.cuts,
  };
}

function toSource({ id, file, kind, text, codeStart }: ModuleFact): ModuleSource {
  return { id, file, kind, text, codeStart };
}

/** Nobody who shows only the structure asks for texts, and they may not be held. */
function withoutText({ id, file, kind, codeStart }: ModuleFact): ModuleSource {
  return { id, file, kind, text: '', codeStart };
}

export function nameOf(draft: Pick<Draft, 'names'>, part: PartId): string {
  return draft.names.get(part) ?? 'main';
}

function streamsOfFluxions({ parts, placed, folds }: Draft): (part: Part) => readonly PartStream[] {
  const streamsOf = listStreams(parts, (part) => placed.get(part)?.placement === 'home');
  return (part) => folds.streams(part, streamsOf);
}

/** What fluxions are made of. */
interface Writing {
  readonly draft: Draft;
  readonly contexts: ReadonlyById<readonly string[]>;
  readonly messageOf: (stream: PartStream) => readonly string[];
  readonly streamsOf: (part: Part) => readonly PartStream[];
}

function makeFluxion(writing: Writing, part: Part, { placement, reasons }: Placed): Fluxion {
  const { draft, contexts, streamsOf } = writing;
  return {
    id: nameOf(draft, part.id),
    kind: part.kind,
    tags: draft.tags.ofPart.get(part.id) ?? [],
    context: contexts.get(part.id) ?? [],
    streams: streamsOf(part).map((stream) => makeStream(writing, stream)),
    at: placeOf(draft, part),
    placement,
    reasons,
    code: draft.facts.isOfPackage(part.fn.id) ? '' : draft.code.ofPart(part),
  };
}

function placeOf(draft: Draft, part: Part): Place {
  const module = draft.facts.modules[part.fn.module];
  const offset = part.cut === null ? (part.kind === 'main' ? 0 : part.fn.start) : part.cut.awaitStart;
  return module === undefined ? { module: '', line: 1, column: 1 } : placeAt(module, offset);
}

function makeStream({ draft, messageOf }: Writing, stream: PartStream): StreamFact {
  const { point, cut } = stream;
  const { type } = stream;
  const message = messageOf(stream);
  const dest = stream.to.map((to) => nameOf(draft, to));
  if (point !== null) {
    return {
      type,
      dest,
      message,
      callee: point.callee,
      loc: draft.source.place(point.op),
      inferred: point.inferred,
      label: labelOf(point, stream.type),
    };
  }
  const module = draft.facts.moduleOf(stream.owner);
  const callee =
    cut === null || cut.calleeEnd === 0 ? 'await' : draft.source.slice(module, cut.calleeStart, cut.calleeEnd);
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

function listVariables(draft: Draft): StateVariable[] {
  const found: { readonly variable: StateVariable; readonly order: number }[] = [];
  for (const [group, decision] of draft.decisions) {
    const tag = draft.tags.ofGroup.get(group) ?? null;
    for (const cell of group.cells) {
      const variable = makeVariable(draft, cell, decision, tag);
      if (variable !== null) found.push({ variable, order: cell.module });
    }
  }
  found.sort((a, b) => a.order - b.order || byPlace(a.variable.loc, b.variable.loc));
  return found.map(({ variable }) => variable);
}

function byPlace(left: Loc, right: Loc): number {
  return left.line - right.line || left.column - right.column;
}

function makeVariable(draft: Draft, cell: Cell, decision: Decision, tag: string | null): StateVariable | null {
  const module = draft.facts.modules[cell.module];
  if (module === undefined || cell.name === '' || cell.origin === 'outside') return null;
  // Made in one part and used in another, or handed to a request's first part.
  if (cell.origin === 'flow' && cell.request === null && !cell.isUsedElsewhere) return null;
  const isShown = (part: PartId): boolean => !draft.folds.isFolded(part) && isPartOf(draft, cell, decision, part);
  const touches = touchesOf(cell, isShown);
  if (touches.length === 0) return null;
  const parts = touches.map(({ part }) => part);
  const isReply = decision.kind === 'stream' && tag !== null;
  const members = isReply ? [0, ...parts.filter((part) => draft.tags.ofPart.get(part)?.includes(tag))] : parts;
  return {
    name: cell.name,
    module: module.id,
    loc: placeAt(module, cell.start),
    class: tag === null ? classes[decision.kind] : 'share',
    tag,
    fluxions: [...new Set(members)].sort((left, right) => left - right).map((part) => nameOf(draft, part)),
    writes: places(draft, touches, isWrite),
    reads: places(draft, touches, isRead),
  };
}

function isPartOf(draft: Draft, cell: Cell, decision: Decision, part: PartId): boolean {
  // What is shared has a tag, which its parts have and no other.
  const isOfRequest = cell.request !== null && decision.kind !== 'share';
  return decision.parts.includes(part) || (isOfRequest && draft.names.has(part));
}

function touchesOf(cell: Cell, test: (part: PartId) => boolean): Touch[] {
  const found: Touch[] = [];
  for (let touch = cell.firstTouch; touch !== null; touch = touch.next) if (test(touch.part)) found.push(touch);
  return found;
}

const isWrite = [Use.writes, Use.mutates, Use.hands] as const;
const isRead = [Use.reads] as const;

function places(draft: Draft, touches: readonly Touch[], uses: readonly UseKind[]): Place[] {
  const ops: OpId[] = [];
  for (const touch of touches) for (const use of uses) if (touch.has(use)) ops.push(...touch.places(use));
  return inSourceOrder(draft.facts, ops).map((op) => draft.source.place(op));
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
