/**
 * Scope, stream or share: how each piece of state is kept alive across cuts.
 *
 * Reads:   state groups and flows.
 * Gives:   one decision for each group that more than its declaring part touches.
 *
 *   never changed once start-up is over      scope: each fluxion that reads it has it in its context
 *   made in a flow, all parts in one line    stream: it travels in the messages
 *   changed by one fluxion and used there    scope of that fluxion
 *   anything else                            share: one tag for all that touch it
 */
import type { PartId } from '../analyzer/cut-parts.js';
import { type Cell, type Group, type State, type Touch, Use } from './cells.js';
import type { Flows } from './flows.js';

export type Decision =
  /** Nothing changes it: any number of copies are one. `once`: but for start-up, which sets it some time later. */
  | { readonly kind: 'constant'; readonly group: Group; parts: readonly PartId[]; readonly once: Cell | null }
  | { readonly kind: 'scope'; readonly group: Group; parts: readonly PartId[]; readonly owner: PartId }
  | { readonly kind: 'stream'; readonly group: Group; parts: readonly PartId[] }
  /** `perFlow`: made anew in each flow, so that only the parts of one flow share it. */
  | { readonly kind: 'share'; readonly group: Group; parts: readonly PartId[]; readonly perFlow: boolean };

const main: PartId = 0;

/** `outsiders` stands for code that nobody knows: what it changes changes at any time, at home. */
export function decideState(state: State, flows: Flows, outsiders: PartId): ReadonlyMap<Group, Decision> {
  const decisions = new Map<Group, Decision>();
  const lists = new Map<string, readonly PartId[]>();
  for (const group of state.groups) {
    const decision = decide(group, flows, outsiders);
    if (decision === null) continue;
    decision.parts = sameList(lists, decision.parts);
    decisions.set(group, decision);
  }
  return decisions;
}

/** Most groups are touched by the same parts as another one. */
function sameList(lists: Map<string, readonly PartId[]>, parts: readonly PartId[]): readonly PartId[] {
  const key = parts.join();
  const known = lists.get(key);
  if (known === undefined) lists.set(key, parts);
  return known ?? parts;
}

function decide(group: Group, flows: Flows, outsiders: PartId): Decision | null {
  const parts = touching(group, (_, { part }) => part !== outsiders);
  if (parts.length === 0 || group.cells.every((cell) => cell.origin === 'outside' && !isChangedAtAll(cell)))
    return null;
  if (group.cells.every((cell) => cell.request !== null)) return { kind: 'stream', group, parts };
  if (!group.cells.every((cell) => cell.origin === 'flow')) return decideStartUp(group, parts, flows, outsiders);
  return parts.every((part) => isDeclaredBy(group, part)) ? null : decideInFlow(group, parts, flows);
}

function isDeclaredBy(group: Group, part: PartId): boolean {
  return group.cells.some((cell) => cell.isDeclaredBy(part));
}

function isChangedAtAll(cell: Cell): boolean {
  return cell.someTouch((touch) => touch.has(Use.writes) || touch.has(Use.mutates));
}

function touching(group: Group, test: (cell: Cell, touch: Touch) => boolean): PartId[] {
  const found = new Set<PartId>();
  for (const cell of group.cells)
    for (let touch = cell.firstTouch; touch !== null; touch = touch.next) if (test(cell, touch)) found.add(touch.part);
  return found.size < 2 ? [...found] : [...found].sort((left, right) => left - right);
}

/** Start-up that goes on behind an `await` registers routes and listens: that is not state. */
function isSettingUp(cell: Cell, part: PartId): boolean {
  return cell.isServer && part !== main && cell.startUp.has(part);
}

function decideStartUp(group: Group, parts: readonly PartId[], flows: Flows, outsiders: PartId): Decision | null {
  const changers = touching(group, (cell, touch) => touch.changes && !isSettingUp(cell, touch.part));
  const later = changers.filter((part) => part !== main);
  const users = parts.filter((part) => part !== main);
  if (users.length === 0) return null;
  if (later.length === 0) return decideUnchangedLater(group, parts, changers, flows);
  const once = later.includes(outsiders) ? null : setOnce(group, later, flows);
  if (once !== null) return { kind: 'constant', group, parts, once };
  const mainTakesPart = changers.includes(main) || changers.includes(outsiders) || readsBinding(group);
  const taking = mainTakesPart ? [main, ...users] : users;
  if (users.length === 1 && !mainTakesPart) return { kind: 'scope', group, parts: users, owner: users[0] as PartId };
  // Without a start between them main has ended before the next part runs, and that one before the next.
  const isOneFlow = users.every((part) => !flows.isBehindStart(part));
  if (isOneFlow && inOneLine(group, [main], taking, later, flows)) return { kind: 'stream', group, parts: taking };
  return { kind: 'share', group, parts: taking, perFlow: false };
}

/**
 * Of what a package gives: `let db; connect().then((client) => { db = client.db(); });`: one place sets it, in what start-up goes on with, once. Whether it has
 * been set by then on a loop, the linker looks up: before that it is no object.
 */
function setOnce(group: Group, later: readonly PartId[], flows: Flows): Cell | null {
  const [part] = later;
  if (part === undefined || later.length > 1 || flows.isBehindStart(part) || flows.behind(part).has(part)) return null;
  const set = group.cells.filter((cell) => cell.touchOf(part)?.changes === true && !isSettingUp(cell, part));
  const [cell] = set;
  const touch = cell?.touchOf(part);
  if (cell === undefined || touch === undefined || set.length > 1 || cell.variable === null) return null;
  if (touch.has(Use.mutates) || touch.has(Use.hands) || touch.places(Use.writes).length > 1) return null;
  if (!cell.isOfPackage || !cell.startUp.has(part) || flows.isRepeated([main], part, cell.variable)) return null;
  return group.cells.some((each) => each.touchOf(main)?.changes === true && !isSettingUp(each, main)) ? null : cell;
}

/** Main alone changes it. What is read behind main only travels; behind a start it is as good as a constant. */
function decideUnchangedLater(
  group: Group,
  parts: readonly PartId[],
  changers: readonly PartId[],
  flows: Flows,
): Decision {
  const rebound = changers.includes(main) && group.cells.some((cell) => cell.touchOf(main)?.has(Use.writes) === true);
  const users = parts.filter((part) => part !== main);
  if (rebound && users.every((part) => flows.isBehind([main], part))) return { kind: 'stream', group, parts };
  return { kind: 'constant', group, parts, once: null };
}

/** Start-up code reads a variable that is bound anew later, other than to pass its object on. */
function readsBinding(group: Group): boolean {
  return group.cells.some((cell) => {
    if (cell.tokens.length > 0 || cell.touchOf(main)?.has(Use.reads) !== true) return false;
    return cell.someTouch((touch) => touch.part !== main && touch.has(Use.writes));
  });
}

function decideInFlow(group: Group, parts: readonly PartId[], flows: Flows): Decision {
  const changers = touching(group, (_, touch) => touch.changes);
  const downstream = changers.filter((part) => !isDeclaredBy(group, part));
  if (downstream.length === 0) return { kind: 'stream', group, parts };
  const declaredBy = [...new Set(group.cells.flatMap((cell) => cell.declaredBy))];
  if (inOneLine(group, declaredBy, parts, downstream, flows)) return { kind: 'stream', group, parts };
  const all = [...new Set([...parts, ...declaredBy])].sort((left, right) => left - right);
  return { kind: 'share', group, parts: all, perFlow: true };
}

function inOneLine(
  group: Group,
  origins: readonly PartId[],
  parts: readonly PartId[],
  changers: readonly PartId[],
  flows: Flows,
): boolean {
  if (!parts.every((part) => flows.isBehind(origins, part))) return false;
  if (!flows.areInLine(origins, parts)) return false;
  return changers.every((part) => group.cells.every((cell) => !flows.isRepeated(origins, part, cell.variable)));
}
