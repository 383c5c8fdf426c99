/**
 * Reads:   parts, state, decisions.
 * Gives:   for each stream the cells that travel in its messages, in order of first use; and whether all of them can.
 *
 * A part needs what it uses of its flow and did not make itself, and so does everything behind it. A start hands its
 * callback's own parameters over in the message; what an asynchronous call itself gives is no part of it.
 */
import { ById } from '../analyzer/by-id.js';
import type { Part, PartId, PartStream } from '../analyzer/cut-parts.js';
import type { Facts } from '../analyzer/facts.js';
import type { Cell, Group, State, Touch } from './cells.js';
import type { Decision } from './decide-state.js';

/** All streams of one call, or of one cut, have the same message. */
function keyOf({ point, cut }: PartStream): object | null {
  return point ?? cut;
}

export class Messages {
  readonly #facts: Facts;
  readonly #parts: readonly Part[];
  #used: ById<Map<Cell, number>>;
  #given: ById<ReadonlyMap<Cell, number>>;
  readonly #messages = new Map<object | null, readonly Cell[]>();
  #needed: ById<ReadonlyMap<Cell, number>>;

  constructor(facts: Facts, parts: readonly Part[], state: State, decisions: ReadonlyMap<Group, Decision>) {
    this.#facts = facts;
    this.#parts = parts;
    this.#used = new ById(parts.length);
    this.#given = new ById(parts.length);
    this.#needed = new ById(parts.length);
    for (const cell of state.cells) {
      const decision = decisions.get(state.groupOf(cell));
      for (let touch = cell.firstTouch; touch !== null; touch = touch.next) {
        const { part } = touch;
        if (part < parts.length && travels(facts, cell, decision, part)) this.#use(cell, touch);
      }
    }
    this.#writeAll();
  }

  /** What messages are found with takes many times as much as they do, and is gone then. */
  #writeAll(): void {
    for (const { streams } of this.#parts) for (const stream of streams) this.of(stream);
    [this.#used, this.#given, this.#needed] = [new ById(0), new ById(0), new ById(0)];
  }

  #use(cell: Cell, touch: Touch): void {
    // What a part makes itself nobody has to send it, but for what a start gives its callback.
    const given = cell.variable !== null && this.#parts[touch.part]?.fn.params.includes(cell.variable);
    if (given !== true && cell.isDeclaredBy(touch.part)) return;
    const used = this.#used.get(touch.part);
    if (used === undefined) this.#used.set(touch.part, new Map([[cell, this.#position(touch)]]));
    else used.set(cell, this.#position(touch));
  }

  /** Where a part first uses a cell; uses in functions of other modules come last. */
  #position(touch: Touch): number {
    const part = this.#parts[touch.part];
    let first = Number.MAX_SAFE_INTEGER;
    for (const op of touch.allPlaces()) {
      if (this.#facts.fn(this.#facts.owner.get(op)).module !== part?.fn.module) continue;
      first = Math.min(first, this.#facts.position.get(op));
    }
    return first;
  }

  of(stream: PartStream): readonly Cell[] {
    // Many parts may run one call, through a helper: their streams all say the same.
    const key = keyOf(stream);
    let cells = this.#messages.get(key);
    if (cells === undefined) this.#messages.set(key, (cells = this.#write(stream)));
    return cells;
  }

  /** What no message can carry, but for what each loop has of a request. */
  stuckIn(stream: PartStream): Cell | null {
    return this.of(stream).find((cell) => !cell.travels && cell.request === null) ?? null;
  }

  /** The names of the variables in all messages. */
  allNames(): (stream: PartStream) => readonly string[] {
    const names = new Map<object | null, readonly string[]>();
    for (const { streams } of this.#parts) {
      for (const stream of streams) {
        const key = keyOf(stream);
        if (!names.has(key)) names.set(key, [...new Set(this.of(stream).map((cell) => cell.name))]);
      }
    }
    return (stream) => names.get(keyOf(stream)) ?? [];
  }

  #write(stream: PartStream): readonly Cell[] {
    const cells = new Map<Cell, number>();
    for (const to of stream.to) {
      merge(cells, this.needed(to));
      if (stream.type === 'start') merge(cells, this.#parameters(this.#parts[to] as Part));
    }
    return [...cells].sort(([a, left], [b, right]) => left - right || a.id - b.id).map(([cell]) => cell);
  }

  /** What a part and those behind it use and the part does not make. */
  needed(part: PartId): ReadonlyMap<Cell, number> {
    const known = this.#needed.get(part);
    if (known !== undefined) return known;
    if ((this.#parts[part] as Part).streams.length === 0) {
      const own = this.#without(part, this.#used.get(part) ?? nothing);
      this.#needed.set(part, own);
      return own;
    }
    this.#needed.set(part, nothing);
    // In circles (a timer that starts itself) each part needs what any of them does: a second look brings that in.
    this.#needed.set(part, this.#without(part, this.#usedFrom(part)));
    const again = this.#without(part, this.#usedFrom(part));
    this.#needed.set(part, again);
    return again;
  }

  /** Used by the part, or needed by one behind it. */
  #usedFrom(part: PartId): Map<Cell, number> {
    const cells = new Map(this.#used.get(part));
    for (const stream of (this.#parts[part] as Part).streams) for (const to of stream.to) merge(cells, this.needed(to));
    return cells;
  }

  #without(part: PartId, cells: ReadonlyMap<Cell, number>): ReadonlyMap<Cell, number> {
    for (const cell of cells.keys())
      if (cell.isDeclaredBy(part)) return new Map([...cells].filter(([other]) => !other.isDeclaredBy(part)));
    return cells;
  }

  #parameters(part: Part): ReadonlyMap<Cell, number> {
    let found = this.#given.get(part.id);
    if (found === undefined) this.#given.set(part.id, (found = this.#findParameters(part)));
    return found;
  }

  #findParameters(part: Part): Map<Cell, number> {
    const params = new Set(part.fn.params);
    return new Map(
      [...this.#usedFrom(part.id)].filter(([cell]) => cell.variable !== null && params.has(cell.variable)),
    );
  }
}

const nothing: ReadonlyMap<Cell, number> = new Map();

function travels(facts: Facts, cell: Cell, decision: Decision | undefined, part: PartId): boolean {
  if (cell.variable === null || cell.name === '' || decision?.kind === 'share') return false;
  if (cell.origin === 'flow') return true;
  if (cell.origin !== 'startup') return false;
  // Locals of a start-up function that goes on behind an `await`.
  const owner = facts.variables.ownerOf(cell.variable) ?? -1;
  const isLocal = owner >= 0 && facts.fn(owner).parent !== -1;
  return decision?.kind === 'stream' || (isLocal && cell.startUp.has(part));
}

function merge(into: Map<Cell, number>, from: ReadonlyMap<Cell, number>): void {
  for (const [cell, position] of from) into.set(cell, Math.min(position, into.get(cell) ?? Number.MAX_SAFE_INTEGER));
}
