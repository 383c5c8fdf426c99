/**
 * Reads:   parts and the streams between them.
 * Gives:   which parts belong to one flow: what runs behind what, without a start between them, and how often.
 */
import type { Part, PartId, PartStream, Parts } from '../analyzer/cut-parts.js';
import type { Facts, ValueId } from '../analyzer/facts.js';

const mostInLine = 250;

export class Flows {
  readonly #facts: Facts;
  readonly #parts: Parts;
  readonly #behind = new Map<PartId, ReadonlyMap<PartId, PartStream>>();
  /** 1 for each part that is. */
  readonly #inRequest: Uint8Array;
  readonly #behindStart: Uint8Array;

  constructor(facts: Facts, parts: Parts) {
    this.#facts = facts;
    this.#parts = parts;
    this.#inRequest = this.#reach((stream) => stream.point?.request === true);
    this.#behindStart = this.#reach((stream) => stream.type === 'start');
  }

  /** Everything behind a route or a server's request listener: what Fluxion can spread over loops. */
  isInRequest(part: PartId): boolean {
    return this.#inRequest[part] === 1;
  }

  /** What runs again and again, though start-up may run it as well. */
  isBehindStart(part: PartId): boolean {
    return this.#behindStart[part] === 1;
  }

  #reach(from: (stream: PartStream) => boolean): Uint8Array {
    const found = new Uint8Array(this.#parts.list.length);
    const queue: PartId[] = [];
    for (const part of this.#parts.list) {
      for (const stream of part.streams) if (from(stream)) queue.push(...stream.to);
    }
    for (let part = queue.pop(); part !== undefined; part = queue.pop()) {
      if (found[part] === 1) continue;
      found[part] = 1;
      for (const stream of this.#part(part).streams) queue.push(...stream.to);
    }
    return found;
  }

  #part(id: PartId): Part {
    return this.#parts.list[id] as Part;
  }

  /** Parts that run behind `part` in the same flow, with the stream by which each is reached. */
  behind(part: PartId): ReadonlyMap<PartId, PartStream> {
    let found = this.#behind.get(part);
    if (found === undefined) this.#behind.set(part, (found = this.#findBehind(part)));
    return found;
  }

  #findBehind(from: PartId): ReadonlyMap<PartId, PartStream> {
    const found = new Map<PartId, PartStream>();
    const queue: PartId[] = [from];
    for (let part = queue.pop(); part !== undefined; part = queue.pop()) {
      for (const stream of this.#part(part).streams) {
        if (stream.type !== 'post') continue;
        for (const to of stream.to) {
          if (found.has(to)) continue;
          found.set(to, stream);
          queue.push(to);
        }
      }
    }
    return found;
  }

  /** All of these parts lie on one line behind one of `origins`: each has ended before the next one runs. */
  areInLine(origins: readonly PartId[], parts: readonly PartId[]): boolean {
    const all = [...new Set([...origins, ...parts])];
    // Nobody awaits that often in a row; to compare each with each other would take longer than it is worth.
    if (all.length > mostInLine) return false;
    for (const left of all) {
      for (const right of all) {
        if (left === right || (origins.includes(left) && origins.includes(right))) continue;
        const forwards = this.behind(left).has(right);
        const backwards = this.behind(right).has(left);
        if (forwards === backwards) return false;
      }
    }
    return true;
  }

  /** Reachable from one of `origins` without a start between. */
  isBehind(origins: readonly PartId[], part: PartId): boolean {
    return origins.some((origin) => origin === part || this.behind(origin).has(part));
  }

  /** One run of `origin` may run `part` several times at once: the stream to it leaves from within a loop that the
   *  variable was made outside of. */
  isRepeated(origins: readonly PartId[], part: PartId, variable: ValueId | null): boolean {
    const seen = new Set<PartId>();
    for (let at = part; !origins.includes(at) && !seen.has(at); ) {
      seen.add(at);
      const stream = origins.map((origin) => this.behind(origin).get(at)).find((found) => found !== undefined);
      if (stream === undefined) return true;
      if (this.#leavesFromLoop(stream, variable)) return true;
      at = stream.from;
    }
    return false;
  }

  #leavesFromLoop(stream: PartStream, variable: ValueId | null): boolean {
    const fact = variable === null ? undefined : this.#facts.variables.get(variable);
    if (fact !== undefined && fact.owner === stream.owner)
      return stream.loop !== 0 && !this.#isWithin(fact.loop, stream.loop);
    return stream.loop !== 0 || this.#parts.repeated.has(stream.owner);
  }

  /** Loop `inner` is `outer` or lies within it. */
  #isWithin(inner: number, outer: number): boolean {
    for (let loop = inner; loop !== 0; loop = this.#facts.loopParents.get(loop)) if (loop === outer) return true;
    return false;
  }
}
