/**
 * Reads: a FluxionProgram, as `placeForRun` gives it.
 * Gives: what `fluxion explain` prints, as text for people and as data; docs/json.md describes the latter.
 */
import type { LiveReport } from '../link-report.js';
import type { FluxionProgram } from '../program.js';
import { withLinked } from './explain-live.js';
import { type Chain, type Explanation, explain, type Group, type Step, type StepCut } from './explain-model.js';
import { explanationText } from './explain-text.js';
import { type Costs, type FreeShare, findFreeShare } from './free-share.js';
import { jsonText, placeJson, reasonJson, unresolvedJson, variableJson } from './json.js';

/** Of the running app, where it was looked at; with what its fluxions cost, where that was measured. */
export function printExplain(
  program: FluxionProgram,
  link: LiveReport | null = null,
  costs: Costs | null = null,
): string {
  const linked = link === null ? program : withLinked(program, link);
  const explanation = explain(linked);
  return explanationText(explanation, link === null ? null : { link, free: findFreeShare(explanation, linked, costs) });
}

export function printExplainJson(
  program: FluxionProgram,
  link: LiveReport | null = null,
  costs: Costs | null = null,
): string {
  const linked = link === null ? program : withLinked(program, link);
  const explanation = explain(linked);
  return jsonText({
    version: 1,
    entry: explanation.entry,
    summary: summaryJson(explanation),
    routes: explanation.routes.map(chainJson),
    chains: explanation.chains.map((chain) => ({ kind: chain.kind, ...chainJson(chain) })),
    groups: explanation.groups.map(groupJson),
    unresolved: explanation.unresolved.map(unresolvedJson),
    ...(link === null ? {} : { live: liveJson(link, findFreeShare(explanation, linked, costs)) }),
  });
}

function liveJson({ handlers, own, moving, others, aside, alone }: LiveReport, free: FreeShare) {
  return { handlers, own, moving, others, aside: moving === 0 ? aside : null, alone, free };
}

function summaryJson({ summary, groups, unresolved }: Explanation) {
  const { fluxions, routes, middleware } = summary;
  return { fluxions, routes, middleware, groups: groups.length, unresolved: unresolved.length };
}

function chainJson(chain: Chain) {
  return {
    label: chain.label,
    place: placeJson(chain.place),
    placements: chain.placements,
    chain: chain.steps.map(stepJson),
  };
}

/** Steps stand in one list with their depth, not inside of each other: chains may be deeper than any reader's stack. */
function stepJson({ fluxion, stream, depth, cut, begins, reasons, groups }: Step) {
  return {
    depth,
    type: stream?.type ?? null,
    callee: stream?.callee ?? null,
    message: stream?.message ?? [],
    id: fluxion.id,
    place: placeJson(fluxion.at),
    placement: fluxion.placement,
    tags: fluxion.tags,
    boundBy: groups.flatMap((group) => group.tag ?? []),
    ownState: groups.some((group) => group.tag === null),
    reasons: reasons.map(reasonJson),
    begins,
    cut: cutJson(cut),
  };
}

function cutJson(cut: StepCut): 'cycle' | 'repeat' | null {
  return cut.kind === 'none' ? null : cut.kind;
}

function groupJson(group: Group) {
  return {
    tag: group.tag,
    fluxions: group.fluxions,
    variables: group.variables.map(variableJson),
    reasons: group.reasons.map(reasonJson),
  };
}
