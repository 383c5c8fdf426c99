/**
 * What a function does, as its callers have to know it. Most functions do nothing of the kind, so the tables are made when
 * there is something to put into them.
 */
import type { OpId, ValueId } from '../facts.js';
import type { RootId } from '../roots.js';

/** What is changed, and where. */
export interface Changed {
  readonly op: OpId;
  readonly value: ValueId;
}

export interface SummaryEffect extends Changed {
  /** Other objects below the same root. */
  readonly others: readonly Changed[];
}

interface OwnEffect extends Changed {
  readonly others: Changed[];
}

const noEffects: ReadonlyMap<number, OwnEffect> = new Map();
const noKeeps: ReadonlyMap<RootId, ReadonlySet<RootId>> = new Map();
const noRoots: ReadonlySet<RootId> = new Set();

export class Summary {
  #effects: Map<number, OwnEffect> | null = null;
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

  /** False where it is known already. `isSame`: two values hold the same. */
  addEffect(key: number, changed: Changed, isSame: (left: ValueId, right: ValueId) => boolean): boolean {
    this.#effects ??= new Map();
    const known = this.#effects.get(key);
    if (known === undefined) {
      // Not by spreading: the engine would keep a description of each.
      this.#effects.set(key, { op: changed.op, value: changed.value, others: [] });
      return true;
    }
    const isKnown =
      isSame(known.value, changed.value) || known.others.some(({ value }) => isSame(value, changed.value));
    if (!isKnown) known.others.push(changed);
    return !isKnown;
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
