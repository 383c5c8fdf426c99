/**
 * Application parts: what runs in one go between two rupture points.
 *
 * Reads:   facts, origins, rupture points, effects.
 * Gives:   parts, main first, then in source order; the streams between them; and what each part runs and touches.
 *
 * A part is a callback of a rupture point, or the rest of an async function behind an `await`. Local functions belong to
 * the parts that call them, so the same function may be run by several.
 */

import type { Budget } from './budget.js';
import { ById } from './by-id.js';
import { isCall } from './call-graph.js';
import type { AwaitCut, Facts, FunctionFact, FunctionId, OpId, ValueId, VariableFact } from './facts.js';
import type { RupturePoint, Ruptures } from './find-rupture-points.js';
import type { RootId } from './roots.js';
import type { Effects } from './summarise-effects.js';

export type PartId = number;

export interface Part {
  readonly id: PartId;
  readonly kind: 'main' | 'start' | 'post' | 'rest';
  /** The callback, or the async function whose rest it is; of main, the entry's top level. */
  readonly fn: FunctionFact;
  readonly segment: number;
  /** For a rest: the await that it stands behind. */
  readonly cut: AwaitCut | null;
  streams: PartStream[];
  /** The first stream that leads to it; null for main, and for what nothing leads to. */
  entry: PartStream | null;
  /** Functions whose code runs as part of it (the segment in which they begin, 0 but for a rest's own). */
  readonly runs: readonly Run[];
}

export interface Run {
  readonly fn: FunctionId;
  readonly segment: number;
}

export interface PartStream {
  readonly type: 'start' | 'post';
  readonly from: PartId;
  readonly to: readonly PartId[];
  /** The call that it leaves from, or the await. */
  readonly point: RupturePoint | null;
  readonly cut: AwaitCut | null;
  readonly owner: FunctionId;
  readonly loop: number;
  /** How many calls lie between the part's own code and the code that it leaves from; UNSURE where one of them may run any
   *  of many functions. */
  readonly distance: number;
}

export const UNSURE = 0xffff;
/** A call that may run more functions than these is no way by which one would say that its callers run them all. */
const mostSure = 8;
/** What follows looks at each stream in many ways. */
const workForStream = 16;

export interface Parts {
  readonly list: readonly Part[];
  /** What a part runs is not all of it: there was no budget for that. */
  readonly isCoarse: boolean;
  /** What code that nobody knows may run at any time: functions that were handed to it, and functions that run without a
   *  call in sight. It is no fluxion; what it changes, home changes. */
  readonly outsiders: Part;
  readonly byFunction: ReadonlyMap<FunctionId, PartId>;
  /** Parts that run a function's code. */
  readonly runners: Pick<ById<readonly PartId[]>, 'get'>;
  /** Functions that a call in progress runs any number of times (`list.forEach(fn)`). */
  readonly repeated: ReadonlySet<FunctionId>;
  eachEffect(part: Part, visit: VisitEffect): void;
}

/** `fn` is the function in whose terms the root is; `op` does it, and `at` is the op of `fn` that leads to it. `value` holds
 *  what is changed. */
export type VisitEffect = (kind: number, root: RootId, fn: FunctionId, op: OpId, at: OpId, value: ValueId) => void;

export interface CutInput {
  readonly facts: Facts;
  /** Functions that a call runs before it returns, besides its callees. */
  readonly inPlaceOf: (op: OpId) => readonly FunctionId[];
  readonly ruptures: Ruptures;
  readonly effects: Effects;
  readonly outsiders: ReadonlySet<FunctionId>;
  readonly mayRun: (fn: FunctionId) => boolean;
  readonly budget: Budget;
}

/**
 * Where everything may call everything, each of some hundred parts would run each of some thousand functions, and list all
 * streams: if there is no budget for that, a function is that part's which comes to it first. Then all stays home.
 */
export function cutParts(input: CutInput): Parts {
  if (!input.budget.isExhausted) {
    const cutter = new Cutter(input, null);
    if (cutter.makeParts() && cutter.connect()) return cutter.parts();
  }
  return cutCoarseParts(input);
}

/** Each function belongs to one part. */
export function cutCoarseParts(input: CutInput): Parts {
  const cutter = new Cutter(input, new Set());
  cutter.makeParts();
  cutter.connect();
  return cutter.parts();
}

interface MarkedRun extends Run {
  /** The last way on which it has been found. */
  way: number;
}

/** What has been found on the way from one part. */
class Found {
  readonly runs: MarkedRun[] = [];
  /** From 1, another one for each. */
  readonly #way: number;
  readonly #lists = new Set<readonly FunctionId[]>();
  /** Runs that belong to other parts; null where all may run all. */
  readonly #taken: Set<Run> | null;

  constructor(way: number, taken: Set<Run> | null) {
    this.#way = way;
    this.#taken = taken;
  }

  /** What the part begins with is its own, whoever else runs it. */
  begin(run: MarkedRun): void {
    this.#taken?.delete(run);
    this.add(run);
  }

  add(run: MarkedRun): void {
    if (run.way === this.#way || this.#taken?.has(run) === true) return;
    run.way = this.#way;
    this.#taken?.add(run);
    this.runs.push(run);
  }

  /** Where many may call as many, each of them has the same list: to go through it once is enough. */
  isNewList(callees: readonly FunctionId[]): boolean {
    if (this.#lists.has(callees)) return false;
    this.#lists.add(callees);
    return true;
  }
}

interface Reached {
  readonly runs: readonly Run[];
  /** How many of the runs are at most 0, 1, 2… sure calls away. */
  readonly levels: readonly number[];
}

/** A call, and what it may run. Long lists are the same object wherever they say the same. */
interface Calls {
  readonly from: number;
  readonly to: number;
  readonly callees: readonly FunctionId[];
}

/** What a function runs, by segment: the calls that matter here, without the rest of its ops. */
interface Skeleton {
  readonly calls: readonly Calls[];
  readonly points: readonly { readonly from: number; readonly to: number; readonly point: RupturePoint }[];
}

class Cutter {
  readonly #facts: Facts;
  readonly #ruptures: Ruptures;
  readonly #effects: Effects;
  readonly #inPlaceOf: (op: OpId) => readonly FunctionId[];
  readonly #mayRun: (fn: FunctionId) => boolean;
  readonly #list: Part[] = [];
  readonly #byFunction = new Map<FunctionId, PartId>();
  readonly #lists = new Map<string, readonly FunctionId[]>();
  readonly #levels: (readonly number[])[] = [];
  readonly #rests = new Map<FunctionId, (PartId | null)[]>();
  readonly #skeletons = new Map<FunctionId, Skeleton>();
  /** Many parts run the same helpers: each run is one object. Those from the beginning on are by function. */
  readonly #wholeRuns: (MarkedRun | undefined)[];
  readonly #runs = new Map<number, MarkedRun>();
  #ways = 0;
  readonly #runners: ById<PartId[]>;
  readonly #repeated = new Set<FunctionId>();
  readonly #partsOf = new Map<RupturePoint, readonly PartId[]>();
  #outsiders: Part | null = null;
  readonly #outsideFunctions: ReadonlySet<FunctionId>;
  readonly #budget: Budget;
  readonly #taken: Set<Run> | null;

  /** `taken` is there where each run belongs to one part only. */
  constructor(input: CutInput, taken: Set<Run> | null) {
    this.#facts = input.facts;
    this.#wholeRuns = Array.from(input.facts.functions, () => undefined);
    this.#runners = new ById(input.facts.functions.length);
    this.#ruptures = input.ruptures;
    this.#effects = input.effects;
    this.#inPlaceOf = input.inPlaceOf;
    this.#mayRun = input.mayRun;
    this.#outsideFunctions = input.outsiders;
    this.#budget = input.budget;
    this.#taken = taken;
  }

  parts(): Parts {
    // Not what was needed on the way.
    const [facts, effects] = [this.#facts, this.#effects];
    return {
      list: this.#list,
      isCoarse: this.#taken !== null,
      outsiders: this.#outsiders as Part,
      byFunction: this.#byFunction,
      runners: this.#runners,
      repeated: this.#repeated,
      eachEffect: (part, visit) => eachEffect(facts, effects, part, visit),
    };
  }

  /** Functions that a request's part runs in place are that part's, and so are those that nobody hands anywhere. */
  #outsidersPart(outsiders: ReadonlySet<FunctionId>): Part {
    const roots: Run[] = [];
    for (const fn of outsiders) {
      const first = this.#run(fn, 0);
      // The rest of an async function runs what stands behind its cut, not what stands before it.
      const runners = (this.#runners.get(fn) ?? []).filter((part) => this.#list[part]?.runs.includes(first));
      if (!this.#byFunction.has(fn) && runners.every((part) => part === 0)) roots.push({ fn, segment: 0 });
    }
    const { runs } = this.#reach(roots);
    const main = this.#list[0] as Part;
    return { ...main, id: this.#list.length, fn: main.fn, streams: [], entry: null, runs };
  }

  // ------------------------------------------------------------------------------------------------- parts

  /** False if that is too much. */
  makeParts(): boolean {
    const callbacks = new Map<FunctionId, 'start' | 'post'>();
    for (const point of this.#ruptures.points) {
      for (const { fn } of point.callbacks) if (callbacks.get(fn) !== 'start') callbacks.set(fn, point.kind);
    }
    this.#add('main', this.#facts.fn(this.#facts.modules[0]?.top ?? 0), 0, null);
    for (const fn of inSourceOrder(this.#facts)) {
      const kind = callbacks.get(fn.id);
      if (kind !== undefined) this.#byFunction.set(fn.id, this.#add(kind, fn, 0, null));
      if (fn.cuts.length > 0 && this.#mayRun(fn.id)) this.#addRests(fn);
      if (this.#isTooMuch()) return false;
    }
    return true;
  }

  #isTooMuch(): boolean {
    return this.#taken === null && this.#budget.isExhausted;
  }

  #addRests(fn: FunctionFact): void {
    const rests = fn.cuts.map((cut, index) => {
      const nothingBehind = cut.last && cut.form !== 'assignment';
      return nothingBehind ? null : this.#add('rest', fn, index + 1, cut);
    });
    this.#rests.set(fn.id, rests);
  }

  #add(kind: Part['kind'], fn: FunctionFact, segment: number, cut: AwaitCut | null): PartId {
    const id = this.#list.length;
    const roots: Run[] =
      kind === 'main' ? this.#facts.modules.map(({ top }) => ({ fn: top, segment: 0 })) : [{ fn: fn.id, segment }];
    const { runs, levels } = this.#reach(roots);
    this.#levels.push(levels);
    this.#list.push({ id, kind, fn, segment, cut, streams: [], entry: null, runs });
    return id;
  }

  /** All code that runs when these run, what they call themselves first. */
  #reach(roots: readonly Run[]): Reached {
    this.#ways += 1;
    const found = new Found(this.#ways, this.#taken);
    for (const { fn, segment } of roots) found.begin(this.#run(fn, segment));
    const levels: number[] = [];
    for (let at = 0; at < found.runs.length; ) {
      const end = found.runs.length;
      levels.push(end);
      for (; at < end; at++) this.#followSure(found.runs[at] as Run, found);
    }
    const sure = found.runs.length;
    for (let at = 0; at < found.runs.length; at++) this.#followAll(found.runs[at] as Run, at < sure, found);
    // Each pass over what parts do goes through all of it.
    let effects = 0;
    for (const run of found.runs) effects += this.#effects.count(run.fn);
    this.#budget.spend(found.runs.length + (effects >> 2));
    // Lists that have grown keep room for many more.
    return { runs: found.runs.slice(), levels: levels.slice() };
  }

  #followSure({ fn, segment }: Run, found: Found): void {
    for (const { from, to, callees } of this.#skeleton(fn).calls) {
      if (from > segment || segment > to || callees.length > mostSure) continue;
      for (const callee of callees) found.add(this.#run(callee, 0));
    }
  }

  /** `isSureDone`: what is sure has been followed before. */
  #followAll({ fn, segment }: Run, isSureDone: boolean, found: Found): void {
    for (const { from, to, callees } of this.#skeleton(fn).calls) {
      if (from > segment || segment > to) continue;
      if (callees.length <= mostSure ? isSureDone : !found.isNewList(callees)) continue;
      for (const callee of callees) found.add(this.#run(callee, 0));
    }
  }

  #run(fn: FunctionId, segment: number): MarkedRun {
    if (segment === 0) return (this.#wholeRuns[fn] ??= { fn, segment, way: 0 });
    const key = runKey(fn, segment);
    let run = this.#runs.get(key);
    if (run === undefined) this.#runs.set(key, (run = { fn, segment, way: 0 }));
    return run;
  }

  #skeleton(fn: FunctionId): Skeleton {
    let skeleton = this.#skeletons.get(fn);
    if (skeleton === undefined) this.#skeletons.set(fn, (skeleton = this.#readSkeleton(fn)));
    return skeleton;
  }

  #sameList(callees: readonly FunctionId[]): readonly FunctionId[] {
    if (callees.length <= mostSure) return callees;
    const key = callees.join(' ');
    const known = this.#lists.get(key);
    if (known === undefined) this.#lists.set(key, callees);
    return known ?? callees;
  }

  #readSkeleton(fn: FunctionId): Skeleton {
    const calls: Calls[] = [];
    const points: { from: number; to: number; point: RupturePoint }[] = [];
    for (const op of this.#effects.ops.of(fn)) {
      const segment = this.#facts.segmentOf(op);
      const [from, to] = [segment >>> 16, segment & 0xffff];
      const callees = this.#effects.executes(op);
      if (callees.length > 0) calls.push({ from, to, callees: this.#sameList(callees) });
      if (!isCall(this.#facts.kind.get(op))) continue;
      const inPlace = this.#inPlaceOf(op);
      if (inPlace.length > 0) calls.push({ from, to, callees: this.#sameList(inPlace) });
      for (const fn of inPlace) this.#repeated.add(fn);
      for (const point of this.#ruptures.byOp.get(op) ?? []) points.push({ from, to, point });
    }
    return { calls, points };
  }

  // ----------------------------------------------------------------------------------------------- streams

  /** False if that is too much. */
  connect(): boolean {
    const outsiders = this.#outsideFunctions;
    for (const part of this.#list) {
      const levels = this.#levels[part.id] as readonly number[];
      let distance = 0;
      let index = -1;
      for (const run of part.runs) {
        index++;
        while (distance < levels.length && index >= (levels[distance] as number)) distance++;
        const runners = this.#runners.get(run.fn);
        if (runners === undefined) this.#runners.set(run.fn, [part.id]);
        else if (runners.at(-1) !== part.id) runners.push(part.id);
        this.#connectRun(part, run, distance < levels.length ? distance : UNSURE);
      }
      this.#budget.spend(workForStream * part.streams.length);
      if (this.#isTooMuch()) return false;
    }
    this.#runners.replaceAll((runners) => runners.slice());
    this.#outsiders = this.#outsidersPart(outsiders);
    this.#connectOutsiders(this.#outsiders);
    for (const part of this.#list) {
      part.streams = part.streams.slice();
      for (const stream of part.streams) {
        for (const to of stream.to) (this.#list[to] as Part).entry ??= stream;
      }
    }
    return true;
  }

  /** What a function cuts off that nobody calls in sight, a plugin for instance or what the entry exports, begins with
   *  start-up as well: that is when such functions are called, if they are. */
  #connectOutsiders(outsiders: Part): void {
    const main = this.#list[0] as Part;
    const connected = new Set<RupturePoint>();
    for (const part of this.#list) for (const { point } of part.streams) if (point !== null) connected.add(point);
    const found: Part = { ...main, streams: [] };
    for (const run of outsiders.runs) this.#connectRun(found, run, 0);
    for (const stream of found.streams) {
      if (stream.point === null || connected.has(stream.point)) continue;
      connected.add(stream.point);
      main.streams.push(stream);
    }
  }

  /** One list for all parts that come by the point. */
  #callbackParts(point: RupturePoint): readonly PartId[] {
    let parts = this.#partsOf.get(point);
    if (parts === undefined) {
      parts = [...new Set(point.callbacks.map(({ fn }) => this.#byFunction.get(fn) as PartId))];
      this.#partsOf.set(point, parts);
    }
    return parts;
  }

  #connectRun(part: Part, run: Run, distance: number): void {
    for (const { from, to, point } of this.#skeleton(run.fn).points) {
      if (from > run.segment || run.segment > to) continue;
      part.streams.push({
        type: point.kind,
        from: part.id,
        to: this.#callbackParts(point),
        point,
        cut: null,
        owner: point.owner,
        loop: this.#facts.loop.get(point.op),
        distance,
      });
    }
    const rest = this.#rests.get(run.fn)?.[run.segment];
    if (rest == null) return;
    const cut = this.#facts.fn(run.fn).cuts[run.segment] as AwaitCut;
    part.streams.push({
      type: 'post',
      from: part.id,
      to: [rest],
      point: null,
      cut,
      owner: run.fn,
      loop: 0,
      distance,
    });
  }
}

function eachEffect(facts: Facts, effects: Effects, part: Part, visit: VisitEffect): void {
  for (const run of part.runs) {
    effects.each(run.fn, (kind, root, op, at, value) => {
      const segment = facts.segmentOf(at);
      if (segment >>> 16 > run.segment || run.segment > (segment & 0xffff)) return;
      visit(kind, root, run.fn, op, at, value);
    });
  }
}

/** Copies stand where their originals do. */
function inSourceOrder(facts: Facts): readonly FunctionFact[] {
  return [...facts.functions].sort((left, right) => left.origin - right.origin || left.id - right.id);
}

/** The variable's declaration lies within what the part runs. */
export function declares(part: Part, variable: VariableFact): boolean {
  const { owner, segmentFrom, segment } = variable;
  return part.runs.some((run) => run.fn === owner && segmentFrom <= run.segment && run.segment <= segment);
}

function runKey(fn: FunctionId, segment: number): number {
  return fn * 0x10000 + segment;
}
