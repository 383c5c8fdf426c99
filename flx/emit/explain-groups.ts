/**
 * Groups, and what stands against replicating each fluxion.
 *
 * Reads: a FluxionProgram.
 * Gives: a Group for each tag, and for each fluxion that keeps state of its own; per fluxion that is not replicated,
 *        its groups and the reasons that are not about a group's variables.
 */
import type { Fluxion, FluxionId, FluxionProgram, GroupTag, Reason, StateVariable } from '../program.js';
import type { Group, Obstacles } from './explain-model.js';

const KEEPS_STATE = 'pipeliner/keeps-state';
/** Codes of reasons that say no more than that a variable is kept or shared. */
const ABOUT_STATE = new Set([KEEPS_STATE, 'pipeliner/shares-state', 'pipeliner/shares-within-request']);

interface Draft extends Group {
  readonly fluxions: FluxionId[];
  readonly variables: StateVariable[];
  readonly reasons: Reason[];
  /** Of the variables and of the reasons: a group of `res` has thousands of variables, and one name. */
  readonly names: Set<string>;
  readonly said: Set<string>;
}

export interface Groups {
  readonly groups: readonly Group[];
  readonly obstacles: ReadonlyMap<FluxionId, Obstacles>;
}

export function collectGroups(program: FluxionProgram): Groups {
  const groups = new Map<string, Draft>();
  const tagged = draftTagged(program, groups);
  const own = draftOwn(program, groups);
  const obstacles = new Map<FluxionId, Obstacles>();
  for (const fluxion of program.fluxions) {
    const among = [...fluxion.tags.flatMap((tag) => tagged.get(tag) ?? []), ...(own.get(fluxion.id) ?? [])];
    obstacles.set(fluxion.id, findObstacles(fluxion, among));
  }
  return { groups: [...groups.values()], obstacles };
}

function draftTagged(program: FluxionProgram, groups: Map<string, Draft>): ReadonlyMap<GroupTag, Draft> {
  const tagged = new Map<GroupTag, Draft>();
  for (const fluxion of program.fluxions) {
    for (const tag of fluxion.tags) {
      const group = tagged.get(tag) ?? addDraft(groups, `tag ${tag}`, tag);
      tagged.set(tag, group);
      group.fluxions.push(fluxion.id);
    }
  }
  for (const variable of program.variables) {
    const group = variable.tag === null ? undefined : tagged.get(variable.tag);
    if (group !== undefined) addVariables(group, [variable]);
  }
  return tagged;
}

/** What only one fluxion changes has no tag, and binds that fluxion to one loop all the same. */
function draftOwn(program: FluxionProgram, groups: Map<string, Draft>): ReadonlyMap<FluxionId, readonly Draft[]> {
  const own = new Map<FluxionId, readonly Draft[]>();
  const changed = changedAlone(program);
  for (const fluxion of program.fluxions) {
    if (fluxion.placement !== 'group') continue;
    const variables = keptBy(fluxion, changed.get(fluxion.id) ?? []);
    if (variables.length === 0 && fluxion.tags.length > 0) continue;
    const group = addDraft(groups, `own ${fluxion.id}`, null);
    group.fluxions.push(fluxion.id);
    addVariables(group, variables);
    own.set(fluxion.id, [group]);
  }
  return own;
}

function changedAlone(program: FluxionProgram): ReadonlyMap<FluxionId, readonly StateVariable[]> {
  const changed = new Map<FluxionId, StateVariable[]>();
  for (const variable of program.variables) {
    if (variable.class !== 'scope' || variable.writes.length === 0) continue;
    for (const id of variable.fluxions) {
      const list = changed.get(id);
      if (list === undefined) changed.set(id, [variable]);
      else list.push(variable);
    }
  }
  return changed;
}

/** Those that its reasons name, if they name any: what start-up code sets and nothing changes is written once as well. */
function keptBy(fluxion: Fluxion, variables: readonly StateVariable[]): readonly StateVariable[] {
  const reasons = fluxion.reasons.filter(({ code }) => code === KEEPS_STATE);
  if (reasons.length === 0) return fluxion.tags.length > 0 ? [] : variables;
  return variables.filter(({ name }) => reasons.some(({ message }) => message.includes(`"${name}"`)));
}

function addDraft(groups: Map<string, Draft>, key: string, tag: GroupTag | null): Draft {
  const group: Draft = { tag, fluxions: [], variables: [], reasons: [], names: new Set(), said: new Set() };
  groups.set(key, group);
  return group;
}

function addVariables(group: Draft, variables: readonly StateVariable[]): void {
  for (const variable of variables) {
    group.variables.push(variable);
    group.names.add(variable.name);
  }
}

/**
 * A reason that is about a variable of the fluxion's group concerns all of the group, so it is told there, once; it
 * stays where nothing else is left that tells why the fluxion is at home. Tags that no such reason is about, as that of
 * a reply, do not stand in the way.
 */
function findObstacles(fluxion: Fluxion, groups: readonly Draft[]): Obstacles {
  if (fluxion.placement === 'replicated') return { groups: [], reasons: [] };
  const binding = new Set<Draft>();
  const reasons = fluxion.reasons.filter((reason) => {
    const about = groups.filter((group) => isAbout(reason, group));
    for (const group of about) {
      binding.add(group);
      addReason(group, reason);
    }
    return about.length === 0;
  });
  const isExplained = reasons.length > 0 || fluxion.placement === 'group';
  return {
    groups: binding.size > 0 ? groups.filter((group) => binding.has(group)) : groups,
    reasons: isExplained ? reasons : fluxion.reasons,
  };
}

function isAbout({ code, message }: Reason, { names }: Draft): boolean {
  return ABOUT_STATE.has(code) && [...names].some((name) => message.includes(`"${name}"`));
}

function addReason(group: Draft, reason: Reason): void {
  const text = JSON.stringify([reason.code, reason.message, reason.lift]);
  if (!group.said.has(text)) group.reasons.push(reason);
  group.said.add(text);
}
