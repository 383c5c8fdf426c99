/**
 * Groups, and what stands against replicating each fluxion.
 *
 * Reads: a FluxionProgram.
 * Gives: a Group for each tag, and for each fluxion that keeps state of its own; per fluxion that is not replicated,
 *        its groups and the reasons that are not about a group's variables.
 */
import type { Fluxion, FluxionId, FluxionProgram, GroupTag, Reason, StateVariable } from '../program.js';
import type { Group, Obstacles } from './explain-model.js';

interface Draft extends Group {
  readonly fluxions: FluxionId[];
  readonly variables: StateVariable[];
  readonly reasons: Reason[];
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
    if (variable.tag !== null) tagged.get(variable.tag)?.variables.push(variable);
  }
  return tagged;
}

/** Without a tag, a fluxion is bound to one loop by the variables that only it keeps. */
function draftOwn(program: FluxionProgram, groups: Map<string, Draft>): ReadonlyMap<FluxionId, readonly Draft[]> {
  const own = new Map<FluxionId, readonly Draft[]>();
  const alone = program.fluxions.filter(({ placement, tags }) => placement === 'group' && tags.length === 0);
  const kept = keptVariables(program, new Set(alone.map((fluxion) => fluxion.id)));
  for (const { id } of alone) {
    const group = addDraft(groups, `own ${id}`, null);
    group.fluxions.push(id);
    group.variables.push(...(kept.get(id) ?? []));
    own.set(id, [group]);
  }
  return own;
}

function keptVariables(program: FluxionProgram, keepers: ReadonlySet<FluxionId>): Map<FluxionId, StateVariable[]> {
  const kept = new Map<FluxionId, StateVariable[]>([...keepers].map((id) => [id, []]));
  for (const variable of program.variables) {
    if (variable.class === 'stream') continue;
    for (const id of variable.fluxions) kept.get(id)?.push(variable);
  }
  return kept;
}

function addDraft(groups: Map<string, Draft>, key: string, tag: GroupTag | null): Draft {
  const group: Draft = { tag, fluxions: [], variables: [], reasons: [] };
  groups.set(key, group);
  return group;
}

/**
 * A reason that names a variable of the fluxion's group says the same for all of the group, so it is told there, once.
 * For what is at home all reasons stay: a group alone would not have put it there.
 */
function findObstacles(fluxion: Fluxion, groups: readonly Draft[]): Obstacles {
  if (fluxion.placement === 'replicated') return { groups: [], reasons: [] };
  if (fluxion.placement === 'home') return { groups, reasons: fluxion.reasons };
  const reasons = fluxion.reasons.filter((reason) => {
    const about = groups.filter((group) => group.variables.some(({ name }) => names(reason.message, name)));
    for (const group of about) addReason(group, reason);
    return about.length === 0;
  });
  return { groups, reasons };
}

function addReason(group: Draft, reason: Reason): void {
  const known = group.reasons.some(({ code, message, lift }) => {
    return code === reason.code && message === reason.message && lift === reason.lift;
  });
  if (!known) group.reasons.push(reason);
}

function names(message: string, variable: string): boolean {
  return message.includes(`"${variable}"`) || message.includes(`\`${variable}\``);
}
