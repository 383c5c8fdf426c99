/**
 * Parts that begin in the code of a package are no fluxions: that code is never cut, so they run where the part runs that they
 * go on from. Handlers are the exception: a function of a package that a router calls for requests is known by its place.
 *
 * Reads:   parts.
 * Gives:   which parts are folded into others, and the streams of what is left.
 */
import type { Part, PartId, PartStream } from '../analyzer/cut-parts.js';
import type { Pipeline } from '../analyzer/index.js';

export interface Folds {
  isFolded(part: PartId): boolean;
  /** Folded parts that go on from this one, with no fluxion between. */
  within(part: Part): readonly Part[];
  /** Streams to fluxions, those of folded parts included. */
  streams(part: Part, streamsOf: (part: Part) => readonly PartStream[]): readonly PartStream[];
}

const nothing: readonly Part[] = [];

export function foldPackages({ facts, parts }: Pipeline): Folds {
  const { list } = parts;
  const handlers = new Set<PartId>();
  const folded = new Set<PartId>();
  if (facts.hasPackages) {
    for (const part of list) {
      for (const { point, to } of part.streams) if (point?.request === true) for (const id of to) handlers.add(id);
    }
    for (const { id, kind, fn } of list)
      if (kind !== 'main' && facts.isOfPackage(fn.id) && (kind === 'rest' || !handlers.has(id))) folded.add(id);
  }
  const within = (part: Part): readonly Part[] => {
    if (folded.size === 0) return nothing;
    const found = new Set<PartId>();
    const queue = [part];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      for (const { type, to } of next.streams) {
        for (const id of to) {
          // What begins again and again is nobody's continuation; it stays at home by itself.
          if (type === 'start' || !folded.has(id) || found.has(id)) continue;
          found.add(id);
          queue.push(list[id] as Part);
        }
      }
    }
    return [...found].map((id) => list[id] as Part);
  };
  return {
    isFolded: (part) => folded.has(part),
    within,
    streams(part, streamsOf) {
      if (folded.size === 0) return streamsOf(part);
      const all = [part, ...within(part)].flatMap((each) => [...streamsOf(each)]);
      const shown = all.map((stream) => ({ ...stream, to: stream.to.filter((id) => !folded.has(id)) }));
      const seen = new Set<unknown>();
      return shown.filter((stream) => {
        const leave = stream.point ?? stream.cut;
        if (stream.to.length === 0 || seen.has(leave)) return false;
        seen.add(leave);
        return true;
      });
    },
  };
}
