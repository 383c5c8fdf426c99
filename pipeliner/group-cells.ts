/**
 * Reads:   cells.
 * Gives:   groups: cells that may hold the same changing object, or parts of one object, are one piece of state.
 */
import type { Pipeline } from '../analyzer/index.js';
import type { TokenId } from '../analyzer/tokens.js';
import type { Cell, Group, State } from './cells.js';
import type { ChangedObjects } from './changed-objects.js';
import type { Reach } from './reach.js';

export interface Grouping {
  readonly pipeline: Pipeline;
  readonly reach: Reach;
  readonly changed: ChangedObjects;
  /** It holds an app: who takes something from that is known to read it, and nobody else does. */
  readonly isApp: (cell: Cell) => boolean;
  readonly cells: readonly Cell[];
  /** For fields of `this`: the object that they are fields of. */
  readonly fieldOwners: ReadonlyMap<Cell, TokenId>;
  readonly cellOf: (variable: number) => Cell | undefined;
}

export function groupCells(grouping: Grouping): Pick<State, 'cells' | 'groups' | 'groupOf'> {
  const { cells } = grouping;
  const sets = new DisjointCells(cells.length);
  uniteAliases(grouping, sets);
  uniteFields(grouping, sets);
  uniteUntraced(grouping, sets);
  uniteOfPlatform(grouping, sets);
  const sizes = new Int32Array(cells.length);
  for (const cell of cells) {
    const leader = sets.leader(cell.id);
    sizes[leader] = (sizes[leader] as number) + 1;
  }
  const members = new Map<number, Cell[]>();
  const groups: Group[] = [];
  const groupOf = new Map<number, Group>();
  for (const cell of cells) {
    const leader = sets.leader(cell.id);
    // Most are alone, and there are some hundred thousand: each is its own group.
    if (sizes[leader] === 1) groups.push(cell);
    else if (leader !== cell.id) members.get(leader)?.push(cell);
    else {
      const list = [cell];
      members.set(leader, list);
      const group = { cells: list };
      groupOf.set(leader, group);
      groups.push(group);
    }
  }
  return { cells, groups, groupOf: (cell) => groupOf.get(sets.leader(cell.id)) ?? cell };
}

/** Of each set the cell that was found first leads. */
class DisjointCells {
  readonly #up: Int32Array;

  constructor(size: number) {
    this.#up = new Int32Array(size);
    for (let id = 0; id < size; id++) this.#up[id] = id;
  }

  leader(id: number): number {
    let at = id;
    for (let up = this.#up[at] as number; up !== at; up = this.#up[at] as number) {
      this.#up[at] = this.#up[up] as number;
      at = up;
    }
    return at;
  }

  unite(left: Cell, right: Cell): void {
    const [a, b] = [this.leader(left.id), this.leader(right.id)];
    if (a !== b) this.#up[Math.max(a, b)] = Math.min(a, b);
  }
}

/** Two names for one object that changes are one piece of state. */
function uniteAliases({ pipeline, reach, changed: objects, isApp, cells }: Grouping, sets: DisjointCells): void {
  const changed = new Map<TokenId, Cell>();
  const candidates = cells.filter((cell) => cell.tokens.length > 0 && cell.request === null && !cell.isLocal);
  for (const cell of candidates) {
    // What start-up alone changes is the same for all that come later.
    if (cell.changed === 'nothing' || (cell.origin === 'startup' && !cell.isChangedBehindStartUp)) continue;
    for (const token of objects.of(cell)) {
      const holder = changed.get(token);
      if (holder === undefined) changed.set(token, cell);
      else sets.unite(cell, holder);
    }
  }
  for (const cell of candidates) {
    const reached = reach.from(cell.tokens, !isApp(cell));
    if (!pipeline.budget.spend(reached.length)) return;
    for (const token of reached) {
      const holder = changed.get(token);
      if (holder !== undefined) sets.unite(cell, holder);
    }
  }
}

/** Fields of an object, and a variable by which all of it is used, are one piece of state. */
function uniteFields({ pipeline, reach, isApp, cells, fieldOwners }: Grouping, sets: DisjointCells): void {
  if (fieldOwners.size === 0) return;
  const owners = new Set(fieldOwners.values());
  // A field that is bound anew is another one for all who come to the object, however far that lies within what they hold.
  const changing = new Set<TokenId>();
  for (const [cell, owner] of fieldOwners) if (cell.isChangedBehindStartUp) changing.add(owner);
  const holders = new Map<TokenId, Cell[]>();
  for (const cell of cells) {
    if (cell.request !== null || isAnsweredFor(pipeline, cell)) continue;
    if (!cell.someTouch(({ part }) => part !== 0)) continue;
    const within = changing.size === 0 ? [] : reach.from(cell.tokens, !isApp(cell)).filter((id) => changing.has(id));
    if (!pipeline.budget.spend(within.length)) return;
    const held = fieldOwners.has(cell) ? within : [...cell.tokens, ...within];
    for (const token of new Set(held)) {
      if (!owners.has(token)) continue;
      const list = holders.get(token);
      if (list === undefined) holders.set(token, [cell]);
      else list.push(cell);
    }
  }
  for (const [cell, owner] of fieldOwners) for (const holder of holders.get(owner) ?? []) sets.unite(cell, holder);
}

/** A parameter: what it holds in a call the caller knows, and it has a variable for it. */
function isAnsweredFor({ facts, effects }: Pipeline, { variable }: Cell): boolean {
  const owner = variable === null ? undefined : facts.variables.ownerOf(variable);
  if (variable === null || owner === undefined || owner < 0 || effects.isEntry(owner)) return false;
  return effects.isGiven(variable, owner) && !effects.isAliased(variable);
}

/** Where it is not known what a variable holds, what its declaration was made from says what else is changed. */
function uniteUntraced(grouping: Grouping, sets: DisjointCells): void {
  const { pipeline, cells, cellOf } = grouping;
  for (const cell of cells) {
    if (cell.variable === null || cell.origin !== 'startup' || !isUntraced(pipeline, cell)) continue;
    for (const alias of pipeline.effects.aliasesOf(cell.variable)) {
      const other = cellOf(alias);
      if (other === undefined || other.origin !== 'startup') continue;
      // A text that a package was told is no part of what changes there.
      if (pipeline.facts.plain.has(alias)) continue;
      // A server calls its app and changes nothing of it, whatever is done to the server.
      if (!isListening(pipeline, cell) && !isListening(pipeline, other)) sets.unite(cell, other);
    }
  }
}

/** `env`, of `const { env } = process`, is part of what `process` stands for, and so is what `require('process')` gives. */
function uniteOfPlatform({ pipeline, cells }: Grouping, sets: DisjointCells): void {
  const places = new Map<Cell, readonly string[]>();
  for (const cell of cells) {
    const paths = cell.origin === 'outside' ? pathsOfPlatform(pipeline, cell) : [];
    if (paths.length > 0) places.set(cell, paths);
  }
  for (const [cell, paths] of places) {
    if (!cell.isChangedLater) continue;
    for (const [other, names] of places)
      if (other !== cell && paths.some((path) => names.some((name) => path.startsWith(name) || name.startsWith(path))))
        sets.unite(cell, other);
  }
}

/** `process.Process.env`, by its type, is `process.env`. */
function pathsOfPlatform({ origins }: Pipeline, { tokens }: Cell): readonly string[] {
  const paths: string[] = [];
  for (const id of tokens) {
    const token = origins.tokens.get(id);
    if (token.kind !== 'external' || token.site !== -1) continue;
    const { shape } = token;
    if (shape.package === '' || shape.isOfNode) paths.push(`${shape.path.replace(/^(\w+)\.[A-Z]\w*(?=\.|$)/, '$1')}.`);
  }
  return paths;
}

function isUntraced(pipeline: Pipeline, cell: Cell): boolean {
  return cell.tokens.some((id) => {
    const token = pipeline.origins.tokens.get(id);
    return token.kind === 'unknown' || (token.kind === 'external' && token.site >= 0);
  });
}

/** It holds a server, whatever kind, and nothing else. */
function isListening({ origins, models }: Pipeline, { tokens }: Cell): boolean {
  return (
    tokens.length > 0 &&
    tokens.every((id) => {
      const token = origins.tokens.get(id);
      return token.kind === 'external' && models.extends(token.shape, 'net.Server');
    })
  );
}
