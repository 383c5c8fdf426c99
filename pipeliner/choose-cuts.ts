/**
 * Reads:   parts, placements, messages.
 * Gives:   the cuts at which a message really leaves: post streams between fluxions that may run on different loops, whose
 *          downstream code needs nothing but its message and what every loop has at the top of the module;
 *          and the fluxions that some stream between such two reaches without a cut.
 *
 * All other streams are plain calls of the closure, as written.
 */
import type { ReadonlyById } from '../analyzer/by-id.js';
import type { Part, PartStream } from '../analyzer/cut-parts.js';
import { type AwaitCut, type FunctionFact, FunctionFlag, Op, type ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import type { Cut, FluxionId } from '../flx/program.js';
import { asksBehind } from './find-asking.js';
import { changedIn, findOnRequests, flowOf } from './find-late.js';
import type { Folds } from './fold-packages.js';
import type { Placed } from './place-fluxions.js';
import type { Messages } from './write-messages.js';

export function chooseCuts(
  pipeline: Pipeline,
  placed: ReadonlyById<Placed>,
  messages: Messages,
  names: ReadonlyById<string>,
  folds: Folds,
): ChosenCuts {
  const cuts = new Map<string, Cut>();
  const uncut = new Set<FluxionId>();
  const asks = asksBehind(pipeline);
  const sharesWithRequest = findSharing(pipeline, messages);
  const copied = findCopied(pipeline, names, folds);
  for (const part of pipeline.parts.list) {
    for (const stream of part.streams) {
      const elsewhere = stream.to.filter(
        (to) => !folds.isFolded(to) && placed.get(to)?.placement !== placed.get(part.id)?.placement,
      );
      if (elsewhere.length === 0) continue;
      const mayLeave =
        stream.type === 'post' &&
        messages.stuckIn(stream) === null &&
        !mayBeCalledInPlace(pipeline, stream) &&
        // A message for what comes behind a wait has no context with it.
        !stream.to.some((to) => asks(pipeline.parts.list[to] as Part)) &&
        !sharesWithRequest(stream);
      const isCuttable = mayLeave && !pipeline.facts.isOfPackage(stream.owner);
      const found = (isCuttable ? cutsOf(pipeline, part, stream, placed, messages, names) : []).filter(
        ({ module, start }) => !copied.has(`${module} ${start}`),
      );
      for (const cut of found) cuts.set(`${cut.dest} ${cut.start}`, cut);
      for (const to of elsewhere) {
        const dest = names.get(to) as string;
        if (!found.some((cut) => cut.dest === dest)) uncut.add(dest);
      }
    }
  }
  const inOrder = (a: Cut, b: Cut) => (a.module === b.module ? a.start - b.start : a.module < b.module ? -1 : 1);
  return { cuts: [...cuts.values()].sort(inOrder), uncut: [...uncut].sort() };
}

/**
 * Where the code goes on with one fluxion in one copy of a function and with another in the next: what runs there cannot tell which
 * copy it is, and one of them may be a plain call.
 */
function findCopied({ facts, parts }: Pipeline, names: ReadonlyById<string>, folds: Folds): ReadonlySet<string> {
  const dests = new Map<string, string>();
  const copied = new Set<string>();
  for (const { streams } of parts.list) {
    for (const { to, cut, owner } of streams) {
      for (const id of to) {
        if (folds.isFolded(id)) continue;
        const place = `${facts.moduleOf(owner).id} ${cut?.statementEnd ?? (parts.list[id] as Part).fn.start}`;
        const dest = names.get(id) as string;
        if ((dests.get(place) ?? dest) !== dest) copied.add(place);
        dests.set(place, dest);
      }
    }
  }
  return copied;
}

/**
 * What a message carries is a copy. Where that hangs on a request as well, whoever has the request would not see what is changed in it:
 *
 *     const box = { n: 0 }; req.box = box; setTimeout(() => { box.n = 1; }, 10); next();
 */
function findSharing(pipeline: Pipeline, messages: Messages): (stream: PartStream) => boolean {
  const { parts, origins } = pipeline;
  let onRequests: ReturnType<typeof findOnRequests> | null = null;
  return (stream) => {
    const found = (onRequests ??= findOnRequests(pipeline));
    if (found.size === 0) return false;
    const carries = messages
      .of(stream)
      .some(({ variable }) => variable !== null && origins.tokensOf(variable).some((id) => found.has(id)));
    if (!carries) return false;
    return flowOf(parts.list, stream.to).some((id) => changedIn(pipeline, parts.list[id] as Part, found).length > 0);
  };
}

/** `errors.map((e) => e.message)`: that it is called later was guessed from a name. What `then` is given is called later. */
function mayBeCalledInPlace({ facts }: Pipeline, { point }: PartStream): boolean {
  if (point?.inferred !== true) return false;
  const name = facts.kind.get(point.op) === Op.method ? facts.atomName(facts.c.get(point.op)) : '';
  return name !== 'then' && name !== 'catch' && name !== 'finally';
}

export interface ChosenCuts {
  readonly cuts: readonly Cut[];
  readonly uncut: readonly FluxionId[];
}

function cutsOf(
  pipeline: Pipeline,
  from: Part,
  stream: PartStream,
  placed: ReadonlyById<Placed>,
  messages: Messages,
  names: ReadonlyById<string>,
): Cut[] {
  const { facts, parts } = pipeline;
  const message = messages.of(stream);
  const variables = new Set(message.map((cell) => cell.variable ?? -1));
  const vars = [...new Set(message.map((cell) => cell.name))];
  const found: Cut[] = [];
  for (const to of stream.to) {
    const dest = parts.list[to] as Part;
    if (placed.get(to)?.placement === placed.get(from.id)?.placement || vars.length !== variables.size) continue;
    if (!standsAlone(pipeline, dest, variables)) continue;
    const module = facts.moduleOf(stream.owner).id;
    // What an awaited value is assigned to may live on another loop than the one that awaits it.
    if (stream.cut?.form === 'assignment') continue;
    const base = { module, dest: names.get(to) as string, message: vars };
    if (stream.cut !== null) found.push(restCut(pipeline, dest, stream.cut, base));
    else found.push(...callbackCuts(pipeline, stream, dest, base));
  }
  return found;
}

type CutBase = Pick<Cut, 'module' | 'dest' | 'message'>;

function restCut(pipeline: Pipeline, dest: Part, cut: AwaitCut, { module, dest: name, message }: CutBase): Cut {
  const bound: string[] = [];
  for (let value = dest.fn.valueStart; value < dest.fn.valueEnd; value++) {
    const fact = pipeline.facts.variables.get(value);
    if (fact?.owner === dest.fn.id && fact.start >= cut.targetStart && fact.start < cut.targetEnd)
      bound.push(fact.name);
  }
  return {
    module,
    dest: name,
    message,
    bound,
    kind: 'rest',
    start: cut.statementEnd,
    end: dest.fn.bodyEnd - 1,
    openTries: cut.tries.length,
  };
}

function callbackCuts(pipeline: Pipeline, stream: PartStream, dest: Part, base: CutBase): Cut[] {
  const { module, dest: name, message } = base;
  const callbacks = stream.point?.callbacks ?? [];
  // A callback that stands elsewhere has its own closure there; only what stands in the call is cut here.
  return callbacks
    .filter((callback) => callback.fn === dest.fn.id && callback.inPlace)
    .map(() => ({ module, dest: name, message, kind: 'callback' as const, start: dest.fn.start, end: dest.fn.end }))
    .filter(({ start, end }) => isWholeArgument(pipeline, stream, start, end));
}

function isWholeArgument(pipeline: Pipeline, stream: PartStream, start: number, end: number): boolean {
  const { facts } = pipeline;
  const op = stream.point?.op ?? -1;
  const call = facts.d.get(op);
  const first = facts.callFirst.get(call);
  for (let index = 0; index < facts.callCount.get(call); index++) {
    if (facts.argStart.get(first + index) === start && facts.argEnd.get(first + index) === end) return true;
  }
  return false;
}

/** All names that the code uses from outside of itself are in the message, at the top of its module, or global. */
function standsAlone(pipeline: Pipeline, part: Part, message: ReadonlySet<ValueId>): boolean {
  const { facts, effects } = pipeline;
  const { fn } = part;
  for (let id = fn.id; id < fn.functionEnd; id++) {
    const inner = facts.fn(id);
    if (usesOuterThis(inner, fn, facts.functions)) return false;
    for (const op of effects.ops.of(id)) {
      const kind = facts.kind.get(op);
      if (kind !== Op.read && kind !== Op.write) continue;
      if (id === fn.id && (facts.segmentOf(op) & 0xffff) < part.segment) continue;
      if (!isInReach(pipeline, part, facts.a.get(op), message)) return false;
    }
  }
  return true;
}

function usesOuterThis(inner: FunctionFact, fn: FunctionFact, all: readonly FunctionFact[]): boolean {
  const wants = (inner.flags & (FunctionFlag.usesThis | FunctionFlag.usesArguments)) !== 0;
  if (!wants) return false;
  if (inner.id === fn.id) return true;
  // Arrow functions have the `this` of what is around them.
  for (let at: FunctionFact | undefined = inner; at !== undefined; at = all[at.parent]) {
    if (at.id === fn.id) return true;
    if ((at.flags & FunctionFlag.arrow) === 0) return false;
  }
  return false;
}

function isInReach(pipeline: Pipeline, part: Part, variable: ValueId, message: ReadonlySet<ValueId>): boolean {
  const { facts } = pipeline;
  const fact = facts.variables.get(variable);
  if (fact === undefined || fact.owner < 0 || message.has(variable)) return true;
  if (facts.fn(fact.owner).parent === -1) return true;
  if (fact.owner === part.fn.id) return fact.segment >= part.segment;
  return fact.owner > part.fn.id && fact.owner < part.fn.functionEnd;
}
