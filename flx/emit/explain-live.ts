/**
 * Reads: a FluxionProgram, and what the linker found in the running app.
 * Gives: the program with the linker's placements and reasons, where it has the last word: handlers of requests.
 */
import { staysLinked } from '../../diagnostics/catalogue.js';
import type { LinkedFluxion, LinkReport } from '../link-report.js';
import type { Fluxion, FluxionProgram } from '../program.js';

export function withLinked(program: FluxionProgram, { fluxions }: LinkReport): FluxionProgram {
  const linked = new Map(fluxions.map((fluxion) => [fluxion.id, fluxion]));
  return { ...program, fluxions: program.fluxions.map((fluxion) => asLinked(fluxion, linked.get(fluxion.id))) };
}

function asLinked(fluxion: Fluxion, linked: LinkedFluxion | undefined): Fluxion {
  if (linked === undefined || fluxion.placement !== 'replicated') return fluxion;
  const reasons = linked.reasons.map((why) => {
    const { code, message, lift } = staysLinked(why);
    return { code, message, lift, loc: fluxion.at };
  });
  return { ...fluxion, placement: linked.moves ? 'replicated' : 'home', reasons: [...fluxion.reasons, ...reasons] };
}
