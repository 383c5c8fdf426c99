/**
 * Reads: a FluxionProgram.
 * Gives: the same with the places that `fluxion run` gives at best, before it has looked at the running app: what is free by
 *        itself stays home all the same where it does more behind `next()`, where a package holds what may not be called
 *        elsewhere, or where something goes on behind it that no message can start.
 */
import { cannotBeCut, keptByRun, liveTells, notStarted } from '../../diagnostics/catalogue.js';
import type { Fluxion, FluxionId, FluxionProgram, Reason } from '../program.js';
import { checkCuts } from './check-cuts.js';
import { findMovable, findWhole, findWhys } from './may-leave.js';

export function placeForRun(program: FluxionProgram): FluxionProgram {
  const made = findMade(program);
  const { whys, bound } = findWhys(program);
  const movable = findMovable(program, made, whys);
  const whole = findWhole(program, bound);
  const away = findAway(program, movable, made);
  const byId = new Map(program.fluxions.map((fluxion) => [fluxion.id, fluxion]));
  const open = new Set(program.link.open.map(({ fluxion }) => fluxion));
  const uncut = new Set(program.uncut);
  const holdsBack = ({ id, placement }: Fluxion): boolean =>
    placement === 'replicated' ? whys.has(id) : !made.has(id) || uncut.has(id);
  const reasonOf = (fluxion: Fluxion): Said => {
    const { id } = fluxion;
    const why = whys.get(id);
    if (why !== undefined) return keptByRun(why, whole.has(id));
    const held = movable.has(id) ? undefined : listBehind(fluxion, byId).find(holdsBack);
    if (held === undefined) return notStarted();
    return cannotBeCut(held.id, `${held.at.module}:${held.at.line}`, whole.has(id));
  };
  return {
    ...program,
    fluxions: program.fluxions.map((fluxion) => {
      const { placement, reasons } = fluxion;
      if (open.has(fluxion.id)) return { ...fluxion, reasons: [...reasons, reasonAt(fluxion, liveTells())] };
      if (placement !== 'replicated' || away.has(fluxion.id)) return fluxion;
      return { ...fluxion, placement: 'home', reasons: [reasonAt(fluxion, reasonOf(fluxion))] };
    }),
  };
}

/** Without what only the running app could have told. */
export function withoutOpen({ reasons, ...fluxion }: Fluxion): Fluxion {
  const { code: live } = liveTells();
  return { ...fluxion, reasons: reasons.filter(({ code }) => code !== live) };
}

function reasonAt({ at }: Fluxion, { code, message, lift }: Said): Reason {
  return { code, message, lift, loc: at };
}

type Said = Pick<Reason, 'code' | 'message' | 'lift'>;

function findMade({ sources, cuts }: FluxionProgram): ReadonlySet<FluxionId> {
  const made = sources.flatMap((source) => {
    const own = cuts.filter(({ module }) => module === source.id);
    return checkCuts(source, own).cuts.map(({ cut }) => cut.dest);
  });
  return new Set(made);
}

/** Handlers that may leave, what goes on behind them in place, and what a message starts. */
function findAway(
  { fluxions }: FluxionProgram,
  movable: ReadonlySet<FluxionId>,
  made: ReadonlySet<FluxionId>,
): ReadonlySet<FluxionId> {
  const behind = new Map(fluxions.map(({ id, streams }) => [id, streams.flatMap(({ dest }) => dest)]));
  const away = new Set<FluxionId>();
  for (const { id, kind } of fluxions) if (movable.has(id) && (kind === 'start' || made.has(id))) away.add(id);
  for (const id of away) for (const dest of behind.get(id) ?? []) if (movable.has(dest)) away.add(dest);
  return away;
}

/** Nearest first. */
function listBehind(from: Fluxion, byId: ReadonlyMap<FluxionId, Fluxion>): readonly Fluxion[] {
  const seen = new Set<Fluxion>([from]);
  for (const { streams } of seen) {
    for (const dest of streams.flatMap((stream) => stream.dest)) {
      const each = byId.get(dest);
      if (each !== undefined) seen.add(each);
    }
  }
  return [...seen].filter((each) => each !== from);
}
