/**
 * Application parts: what runs in one go between two rupture points.
 *
 * Reads:   facts, origins, rupture points, effects.
 * Gives:   parts, main first, then in source order; the streams between them; and what each part runs and touches.
 *
 * A part is a callback of a rupture point, or the rest of an async function behind an `await`. Local functions belong to
 * the parts that call them, so the same function may be run by several.
 */

import { isCall } from './call-graph.js';
import type { AwaitCut, Facts, FunctionFact, FunctionId, OpId, ValueId } from './facts.js';
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
  readonly streams: PartStream[];
  readonly upstream: { readonly part: PartId; readonly stream: PartStream }[];
  /** Functions whose code runs as part of it (the segment in which they begin, 0 but for a rest's own). */
  readonly runs: readonly Run[];
  /** The same, for looking up. */
  readonly ran: ReadonlySet<number>;
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
}

export interface Parts {
  readonly list: readonly Part[];
  /** What code that nobody knows may run at any time: functions that were handed to it, and functions that run without a
   *  call in sight. It is no fluxion; what it changes, home changes. */
  readonly outsiders: Part;
  readonly byFunction: ReadonlyMap<FunctionId, PartId>;
  /** Parts that run a function's code. */
  readonly runners: ReadonlyMap<FunctionId, readonly PartId[]>;
  /** Functions that a call in progress runs any number of times (`list.forEach(fn)`). */
  readonly repeated: ReadonlySet<FunctionId>;
  eachEffect(part: Part, visit: VisitEffect): void;
}

/** `fn` is the function in whose terms the root is; `op` does it, and `at` is the op of `fn` that leads to it. `value` holds
 *  what is changed. */
export type VisitEffect = (kind: number, root: RootId, fn: FunctionId, op: OpId, at: OpId, value: ValueId) => void;

export function cutParts(
  facts: Facts,
  inPlaceOf: (op: OpId) => readonly FunctionId[],
  ruptures: Ruptures,
  effects: Effects,
  outsiders: ReadonlySet<FunctionId>,
): Parts {
  const cutter = new Cutter(facts, inPlaceOf, ruptures, effects);
  cutter.makeParts();
  cutter.connect(outsiders);
  return cutter.parts();
}

/** What a function runs, by segment: the calls that matter here, without the rest of its ops. */
interface Skeleton {
  readonly calls: readonly { readonly from: number; readonly to: number; readonly fn: FunctionId }[];
  readonly points: readonly { readonly from: number; readonly to: number; readonly point: RupturePoint }[];
}

class Cutter {
  readonly #facts: Facts;
  readonly #ruptures: Ruptures;
  readonly #effects: Effects;
  readonly #inPlaceOf: (op: OpId) => readonly FunctionId[];
  readonly #list: Part[] = [];
  readonly #byFunction = new Map<FunctionId, PartId>();
  readonly #rests = new Map<FunctionId, (PartId | null)[]>();
  readonly #skeletons = new Map<FunctionId, Skeleton>();
  readonly #runners = new Map<FunctionId, PartId[]>();
  readonly #repeated = new Set<FunctionId>();
  #outsiders: Part | null = null;

  constructor(facts: Facts, inPlaceOf: (op: OpId) => readonly FunctionId[], ruptures: Ruptures, effects: Effects) {
    this.#facts = facts;
    this.#inPlaceOf = inPlaceOf;
    this.#ruptures = ruptures;
    this.#effects = effects;
  }

  parts(): Parts {
    return {
      list: this.#list,
      outsiders: this.#outsiders as Part,
      byFunction: this.#byFunction,
      runners: this.#runners,
      repeated: this.#repeated,
      eachEffect: (part, visit) => this.#eachEffect(part, visit),
    };
  }

  /** Functions that a request's part runs in place are that part's, and so are those that nobody hands anywhere. */
  #outsidersPart(outsiders: ReadonlySet<FunctionId>): Part {
    const roots: Run[] = [];
    for (const fn of outsiders) {
      // The rest of an async function runs what stands behind its cut, not what stands before it.
      const runners = (this.#runners.get(fn) ?? []).filter((part) => this.#list[part]?.ran.has(runKey(fn, 0)));
      if (!this.#byFunction.has(fn) && runners.every((part) => part === 0)) roots.push({ fn, segment: 0 });
    }
    const runs = this.#reach(roots);
    const ran = new Set(runs.map((run) => runKey(run.fn, run.segment)));
    const main = this.#list[0] as Part;
    return { ...main, id: this.#list.length, fn: main.fn, streams: [], upstream: [], runs, ran };
  }

  // ------------------------------------------------------------------------------------------------- parts

  makeParts(): void {
    const callbacks = new Map<FunctionId, 'start' | 'post'>();
    for (const point of this.#ruptures.points) {
      for (const { fn } of point.callbacks) if (callbacks.get(fn) !== 'start') callbacks.set(fn, point.kind);
    }
    this.#add('main', this.#facts.fn(this.#facts.modules[0]?.top ?? 0), 0, null);
    for (const fn of inSourceOrder(this.#facts)) {
      const kind = callbacks.get(fn.id);
      if (kind !== undefined) this.#byFunction.set(fn.id, this.#add(kind, fn, 0, null));
      if (fn.cuts.length > 0) this.#addRests(fn);
    }
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
    const runs = this.#reach(roots);
    const ran = new Set(runs.map((run) => runKey(run.fn, run.segment)));
    this.#list.push({ id, kind, fn, segment, cut, streams: [], upstream: [], runs, ran });
    return id;
  }

  /** All code that runs when these run. */
  #reach(roots: readonly Run[]): Run[] {
    const seen = new Set<number>();
    const found: Run[] = [];
    const visit = (run: Run): void => {
      const key = runKey(run.fn, run.segment);
      if (seen.has(key)) return;
      seen.add(key);
      found.push(run);
    };
    for (const root of roots) visit(root);
    for (let next = 0; next < found.length; next++) {
      const { fn, segment } = found[next] as Run;
      for (const call of this.#skeleton(fn).calls) {
        if (call.from <= segment && segment <= call.to) visit({ fn: call.fn, segment: 0 });
      }
    }
    return found;
  }

  #skeleton(fn: FunctionId): Skeleton {
    let skeleton = this.#skeletons.get(fn);
    if (skeleton === undefined) this.#skeletons.set(fn, (skeleton = this.#readSkeleton(fn)));
    return skeleton;
  }

  #readSkeleton(fn: FunctionId): Skeleton {
    const calls: { from: number; to: number; fn: FunctionId }[] = [];
    const points: { from: number; to: number; point: RupturePoint }[] = [];
    for (const op of this.#effects.ops.of(fn)) {
      const segment = this.#facts.segment.get(op);
      const [from, to] = [segment >>> 16, segment & 0xffff];
      for (const callee of this.#effects.executes(op)) calls.push({ from, to, fn: callee });
      if (!isCall(this.#facts.kind.get(op))) continue;
      for (const callee of this.#inPlaceOf(op)) {
        calls.push({ from, to, fn: callee });
        this.#repeated.add(callee);
      }
      for (const point of this.#ruptures.byOp.get(op) ?? []) points.push({ from, to, point });
    }
    return { calls, points };
  }

  // ----------------------------------------------------------------------------------------------- streams

  connect(outsiders: ReadonlySet<FunctionId>): void {
    for (const part of this.#list) {
      for (const run of part.runs) {
        const runners = this.#runners.get(run.fn);
        if (runners === undefined) this.#runners.set(run.fn, [part.id]);
        else if (runners.at(-1) !== part.id) runners.push(part.id);
        this.#connectRun(part, run);
      }
    }
    this.#outsiders = this.#outsidersPart(outsiders);
    this.#connectOutsiders(this.#outsiders);
    for (const part of this.#list) {
      for (const stream of part.streams) {
        for (const to of stream.to) (this.#list[to] as Part).upstream.push({ part: part.id, stream });
      }
    }
  }

  /** What a function cuts off that nobody calls in sight, a plugin for instance or what the entry exports, begins with
   *  start-up as well: that is when such functions are called, if they are. */
  #connectOutsiders(outsiders: Part): void {
    const main = this.#list[0] as Part;
    const connected = new Set<RupturePoint>();
    for (const part of this.#list) for (const { point } of part.streams) if (point !== null) connected.add(point);
    const found: Part = { ...main, streams: [] };
    for (const run of outsiders.runs) this.#connectRun(found, run);
    for (const stream of found.streams) {
      if (stream.point === null || connected.has(stream.point)) continue;
      connected.add(stream.point);
      main.streams.push(stream);
    }
  }

  #connectRun(part: Part, run: Run): void {
    for (const { from, to, point } of this.#skeleton(run.fn).points) {
      if (from > run.segment || run.segment > to) continue;
      const dest = point.callbacks.map(({ fn }) => this.#byFunction.get(fn) as PartId);
      part.streams.push({
        type: point.kind,
        from: part.id,
        to: [...new Set(dest)],
        point,
        cut: null,
        owner: point.owner,
        loop: this.#facts.loop.get(point.op),
      });
    }
    const rest = this.#rests.get(run.fn)?.[run.segment];
    if (rest == null) return;
    const cut = this.#facts.fn(run.fn).cuts[run.segment] as AwaitCut;
    part.streams.push({ type: 'post', from: part.id, to: [rest], point: null, cut, owner: run.fn, loop: 0 });
  }

  #eachEffect(part: Part, visit: VisitEffect): void {
    for (const run of part.runs) {
      this.#effects.each(run.fn, (kind, root, op, at, value) => {
        const segment = this.#facts.segment.get(at);
        if (segment >>> 16 > run.segment || run.segment > (segment & 0xffff)) return;
        visit(kind, root, run.fn, op, at, value);
      });
    }
  }
}

/** Copies stand where their originals do. */
function inSourceOrder(facts: Facts): readonly FunctionFact[] {
  return [...facts.functions].sort((left, right) => left.origin - right.origin || left.id - right.id);
}

/** The variable's declaration lies within what the part runs. */
export function declares(facts: Facts, part: Part, variable: ValueId): boolean {
  const fact = facts.variables.get(variable);
  if (fact === undefined) return false;
  for (let segment = fact.segmentFrom; segment <= fact.segment; segment++) {
    if (part.ran.has(runKey(fact.owner, segment))) return true;
  }
  return false;
}

function runKey(fn: FunctionId, segment: number): number {
  return fn * 0x10000 + segment;
}
