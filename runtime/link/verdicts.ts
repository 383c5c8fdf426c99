/**
 * What the linker found and decided, for the report and for `fluxion explain --live`: which of the functions that the running
 * app's routers call are the app's own, which may leave home, and why the others may not.
 */
import { type LinkedClosure, type LinkReport, NOT_CALLED } from '../../flx/link-report.js';
import type { LinkFluxion } from '../../flx/run-manifest.js';
import type { LinkedSlot } from './link-home.js';

export class Verdicts {
  readonly #slots = new Map<LinkedSlot, string | null>();
  readonly #moving = new Set<LinkedSlot>();
  readonly #unfound: readonly LinkFluxion[];
  readonly #closures = new Map<string, { readonly of: string; readonly labels: Set<string> }>();
  #isDone = false;

  /** `expected`: handlers that may move, if the routers call them. */
  constructor(expected: readonly LinkFluxion[]) {
    this.#unfound = expected;
  }

  stays(slot: LinkedSlot, why: string | null): void {
    if (!this.#moving.has(slot)) this.#slots.set(slot, why);
  }

  /** It was found to move, and does so no more. */
  movesNoMore(slot: LinkedSlot, why: string): void {
    this.#moving.delete(slot);
    this.#slots.set(slot, why);
  }

  /** Nothing moves any more. */
  allStay(why: string): void {
    for (const [slot, own] of this.#slots) {
      if (slot.fluxion?.movable && own === null) this.movesNoMore(slot, why);
    }
  }

  /** From now on it is told of by itself. `label`: of its route. */
  lifted(slot: LinkedSlot, of: string, label: string): void {
    const id = slot.fluxion?.id ?? '';
    const known = this.#closures.get(id);
    if (known === undefined) this.#closures.set(id, { of, labels: new Set([label]) });
    else known.labels.add(label);
  }

  moves(slot: LinkedSlot): void {
    this.#slots.set(slot, null);
    this.#moving.add(slot);
  }

  /** No router calls it any more. */
  gone(slot: LinkedSlot): void {
    this.#slots.delete(slot);
    this.#moving.delete(slot);
  }

  done(): void {
    this.#isDone = true;
  }

  report(): LinkReport {
    const all = [...this.#slots.keys()];
    const ids = new Map<string, { moves: boolean; reasons: Set<string> }>();
    for (const [slot, why] of this.#slots) {
      const { fluxion } = slot;
      if (fluxion === null) continue;
      const known = ids.get(fluxion.id) ?? { moves: false, reasons: new Set() };
      known.moves ||= this.#moving.has(slot);
      if (why !== null) known.reasons.add(why);
      ids.set(fluxion.id, known);
    }
    for (const { id } of this.#unfound) {
      if (!ids.has(id)) ids.set(id, { moves: false, reasons: new Set([NOT_CALLED]) });
    }
    return {
      isDone: this.#isDone,
      handlers: all.length,
      own: all.filter(({ fluxion }) => fluxion !== null).length,
      moving: this.#moving.size,
      others: [...new Set(all.filter(({ fluxion }) => fluxion === null).map(nameOf))],
      fluxions: [...ids].map(([id, { moves, reasons }]) => ({
        id,
        moves,
        reasons: [...reasons],
        closure: this.#closureOf(id),
      })),
    };
  }

  #closureOf(id: string): LinkedClosure | null {
    const known = this.#closures.get(id);
    return known === undefined ? null : { of: known.of, labels: [...known.labels] };
  }
}

function nameOf({ fn, place }: LinkedSlot): string {
  const name = fn.name === '' ? 'a function' : fn.name;
  if (place === null) return name;
  const file = /node_modules\/(.*)$/.exec(place.url)?.[1] ?? place.url.replace(/^.*[\\/]/, '');
  return `${name} (${file}:${place.line})`;
}
