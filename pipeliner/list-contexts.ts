/**
 * Reads:   decisions.
 * Gives:   the context of each part: variables that live where the fluxion lives, what it keeps, shares, or reads and nothing
 *          changes. In the order of first use.
 */
import { ById, type ReadonlyById } from '../analyzer/by-id.js';
import type { PartId } from '../analyzer/cut-parts.js';
import type { Facts } from '../analyzer/facts.js';
import type { Cell, Group } from './cells.js';
import type { Decision } from './decide-state.js';

/** `parts`: how many there are. */
export function listContexts(
  facts: Facts,
  decisions: ReadonlyMap<Group, Decision>,
  parts: number,
): ReadonlyById<string[]> {
  const found = new Map<PartId, { name: string; order: number }[]>();
  for (const [group, decision] of decisions) {
    if (decision.kind === 'stream') continue;
    for (const cell of group.cells) {
      if (cell.request !== null || cell.origin === 'outside' || cell.isLocal) continue;
      // An object without a name of its own is in the context only where nothing else stands for it.
      if (cell.name === '' && (decision.kind === 'constant' || group.cells.some((other) => other.name !== '')))
        continue;
      for (let touch = cell.firstTouch; touch !== null; touch = touch.next) {
        const { part, order, direct } = touch;
        const name = cell.nameIn(touch);
        if (!isContextOf(decision, part, direct) || isLocalOfStartUp(facts, cell, part)) continue;
        const list = found.get(part);
        const entry = { name: name === '' ? cell.hint : name, order };
        if (list === undefined) found.set(part, [entry]);
        else list.push(entry);
      }
    }
  }
  // What keeps state has a name for it, if only that of the object.
  for (const decision of decisions.values()) {
    if (decision.kind !== 'scope' || found.has(decision.owner)) continue;
    const touched = decision.group.cells.filter((cell) => cell.touchOf(decision.owner) !== undefined);
    found.set(
      decision.owner,
      touched.map((cell, order) => ({ name: cell.hint, order })),
    );
  }
  const contexts = new ById<string[]>(parts);
  for (const [part, list] of found) contexts.set(part, inOrder(list));
  return contexts;
}

/** Locals of a start-up function travel to what it does behind an `await`. */
function isLocalOfStartUp(facts: Facts, cell: Cell, part: PartId): boolean {
  const owner = cell.variable === null ? -1 : (facts.variables.ownerOf(cell.variable) ?? -1);
  return owner >= 0 && facts.fn(owner).parent !== -1 && cell.startUp.has(part);
}

function inOrder(list: { readonly name: string; readonly order: number }[]): string[] {
  return [...new Set(list.sort((left, right) => left.order - right.order).map(({ name }) => name))];
}

function isContextOf(decision: Exclude<Decision, { kind: 'stream' }>, part: PartId, direct: boolean): boolean {
  switch (decision.kind) {
    case 'constant':
      return part !== 0 && direct;
    case 'scope':
      return decision.owner === part;
    case 'share':
      return decision.parts.includes(part);
  }
}
