/**
 * Reads:   decisions.
 * Gives:   a tag for each shared group, and the parts that carry it; `grp_res` and its like for what replies.
 *
 * Tags are named after the variable that caused them. Different state gets different tags.
 */
import { ById, type ReadonlyById } from '../analyzer/by-id.js';
import type { Part, PartId } from '../analyzer/cut-parts.js';
import type { Facts } from '../analyzer/facts.js';
import type { GroupTag } from '../flx/program.js';
import type { Cell, Group, State } from './cells.js';
import type { Decision } from './decide-state.js';

export interface Tags {
  readonly ofPart: ReadonlyById<readonly GroupTag[]>;
  readonly ofGroup: ReadonlyMap<Group, GroupTag>;
}

export function tagGroups(
  facts: Facts,
  state: State,
  decisions: ReadonlyMap<Group, Decision>,
  parts: readonly Part[],
): Tags {
  const ofGroup = new Map<Group, GroupTag>();
  const ofPart = new ById<GroupTag[]>(parts.length);
  const taken = new Set<GroupTag>();
  const shared = [...decisions.values()].filter((decision) => decision.kind === 'share');
  const stems = shared.map((decision) => ({ decision, cause: causeOf(decision.group) }));
  const rivals = new Map<string, number>();
  for (const { cause } of stems) rivals.set(cause.hint, (rivals.get(cause.hint) ?? 0) + 1);
  for (const { decision, cause } of stems) {
    const tag = freeTag(facts, cause, (rivals.get(cause.hint) ?? 0) > 1, taken);
    taken.add(tag);
    ofGroup.set(decision.group, tag);
    for (const part of decision.parts) add(ofPart, part, tag);
  }
  tagReplies(state, decisions, parts, ofPart, ofGroup);
  // A list that has grown keeps room for many more.
  ofPart.replaceAll((tags) => tags.slice());
  return { ofPart, ofGroup };
}

/** The cell that names the tag: the first that changes, by its place in the source. */
export function causeOf(group: Group): Cell {
  const changing = group.cells.filter((cell) => cell.isChangedLater);
  const named = (changing.length > 0 ? changing : group.cells).filter((cell) => cell.name !== '');
  const from = named.length > 0 ? named : group.cells;
  return [...from].sort((left, right) => left.module - right.module || left.start - right.start)[0] as Cell;
}

function freeTag(facts: Facts, cause: Cell, qualify: boolean, taken: ReadonlySet<GroupTag>): GroupTag {
  const plain = `grp_${cause.hint}`;
  const stem = qualify ? `grp_${moduleWord(facts, cause.module)}_${cause.hint}` : plain;
  let tag = stem;
  for (let n = 2; taken.has(tag); n++) tag = `${stem}_${n}`;
  return tag;
}

export function moduleWord(facts: Facts, module: number): string {
  const id = facts.modules[module]?.id ?? '';
  const steps = id
    .replace(/\.[cm]?js$/, '')
    .split('/')
    .filter((step) => step !== '..');
  const last = steps.at(-1) === 'index' && steps.length > 1 ? steps.at(-2) : steps.at(-1);
  return (last ?? 'module').replace(/[^\p{ID_Continue}$]+/gu, '_').replace(/^(?=\d)/, '_');
}

function add(map: ById<GroupTag[]>, part: PartId, tag: GroupTag): void {
  const tags = map.get(part);
  if (tags === undefined) map.set(part, [tag]);
  else if (!tags.includes(tag)) tags.push(tag);
}

/**
 * A fluxion that has one owner, because it keeps or shares state, and replies, is grouped with main, which holds the
 * connections. A fluxion that may be anywhere replies through the bridge and needs no tag for it.
 */
function tagReplies(
  state: State,
  decisions: ReadonlyMap<Group, Decision>,
  parts: readonly Part[],
  ofPart: ById<GroupTag[]>,
  ofGroup: Map<Group, GroupTag>,
): void {
  const owned = ownedParts(decisions);
  for (const cell of state.cells) {
    if (cell.request !== 'reply') continue;
    for (let touch = cell.firstTouch; touch !== null; touch = touch.next) {
      const { part } = touch;
      if (part === 0 || !owned.has(part) || parts[part] === undefined) continue;
      const tag = `grp_${cell.name}`;
      add(ofPart, part, tag);
      add(ofPart, 0, tag);
      const group = state.groupOf(cell);
      if (decisions.get(group)?.kind === 'stream') ofGroup.set(group, tag);
    }
  }
}

/** Parts that hold state which changes after start-up, so that there can be only one of each. */
export function ownedParts(decisions: ReadonlyMap<Group, Decision>): ReadonlySet<PartId> {
  const owned = new Set<PartId>();
  for (const decision of decisions.values()) {
    if (decision.kind === 'scope') owned.add(decision.owner);
    if (decision.kind === 'share' && !decision.perFlow) for (const part of decision.parts) owned.add(part);
  }
  return owned;
}
