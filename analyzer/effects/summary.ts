/**
 * What a function does, as its callers have to know it. Most functions do nothing of the kind, so the tables are made when
 * there is something to put into them.
 */
import type { OpId, ValueId } from '../facts.js';
import type { RootId } from '../roots.js';

export interface SummaryEffect {
  readonly op: OpId;
  readonly value: ValueId;
}

const noEffects: ReadonlyMap<number, SummaryEffect> = new Map();
const noKeeps: ReadonlyMap<RootId, ReadonlySet<RootId>> = new Map();
const noRoots: ReadonlySet<RootId> = new Set();

export class Summary {
  #effects: Map<number, SummaryEffect> | null = null;
  #returnsSelf: Set<RootId> | null = null;
  #returnsInner: Set<RootId> | null = null;
  #keeps: Map<RootId, Set<RootId>> | null = null;

  /** Effects on parameters and `this`, by kind and root, with an op to show for it. */
  get effects(): ReadonlyMap<number, SummaryEffect> {
    return this.#effects ?? noEffects;
  }

  get returnsSelf(): ReadonlySet<RootId> {
    return this.#returnsSelf ?? noRoots;
  }

  get returnsInner(): ReadonlySet<RootId> {
    return this.#returnsInner ?? noRoots;
  }

  /** Parameter roots that end up within other roots. */
  get keeps(): ReadonlyMap<RootId, ReadonlySet<RootId>> {
    return this.#keeps ?? noKeeps;
  }

  addEffect(key: number, effect: SummaryEffect): void {
    this.#effects ??= new Map();
    this.#effects.set(key, effect);
  }

  addReturnsSelf(root: RootId): void {
    this.#returnsSelf ??= new Set();
    this.#returnsSelf.add(root);
  }

  addReturnsInner(root: RootId): void {
    this.#returnsInner ??= new Set();
    this.#returnsInner.add(root);
  }

  /** The roots in which `param` ends up, to add to. */
  keptOf(param: RootId): Set<RootId> {
    this.#keeps ??= new Map();
    let kept = this.#keeps.get(param);
    if (kept === undefined) this.#keeps.set(param, (kept = new Set()));
    return kept;
  }
}
