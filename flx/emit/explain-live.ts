/**
 * Reads: a FluxionProgram as `placeForRun` gives it, and what the linker found in the running app.
 * Gives: the program with the linker's placements and reasons, where it has the last word: handlers of requests. A function
 *        that the running app has made several times is as many handlers.
 */
import { staysLinked } from '../../diagnostics/catalogue.js';
import type { LinkedClosure, LinkedFluxion, LinkReport } from '../link-report.js';
import type { Fluxion, FluxionId, FluxionProgram, StreamFact } from '../program.js';
import { withoutOpen } from './place-for-run.js';

export function withLinked(program: FluxionProgram, { fluxions }: LinkReport): FluxionProgram {
  const linked = new Map(fluxions.map((fluxion) => [fluxion.id, fluxion]));
  const closures = groupClosures(fluxions);
  const labels = listLabels(program, closures);
  return {
    ...program,
    fluxions: program.fluxions.map(withoutOpen).flatMap((fluxion) => {
      const streams = fluxion.streams.flatMap((stream) => streamsToClosures(stream, closures, labels));
      const is = { ...fluxion, streams };
      const all = closures.get(fluxion.id);
      return all === undefined ? [asLinked(is, linked.get(fluxion.id))] : all.map((each) => asClosure(is, each));
    }),
  };
}

type Closures = ReadonlyMap<FluxionId, readonly ClosureOf[]>;

interface ClosureOf extends LinkedFluxion {
  readonly closure: LinkedClosure;
}

/** By the fluxion that the program has for all of them. */
function groupClosures(fluxions: readonly LinkedFluxion[]): Closures {
  const found = new Map<FluxionId, ClosureOf[]>();
  for (const { closure, ...fluxion } of fluxions) {
    if (closure === null) continue;
    const known = found.get(closure.of);
    if (known === undefined) found.set(closure.of, [{ ...fluxion, closure }]);
    else known.push({ ...fluxion, closure });
  }
  return found;
}

/** By fluxion: what the source calls its routes, where it says so. */
function listLabels({ fluxions }: FluxionProgram, closures: Closures): ReadonlyMap<FluxionId, ReadonlySet<string>> {
  const streams = fluxions.flatMap((fluxion) => fluxion.streams);
  const labelsOf = (id: FluxionId) => streams.flatMap(({ dest, label }) => (dest.includes(id) ? [label ?? ''] : []));
  return new Map([...closures.keys()].map((id) => [id, new Set(labelsOf(id))]));
}

/** Each route of the running app by itself, under the path that its router has; once, if the source calls it so somewhere. */
function streamsToClosures(
  stream: StreamFact,
  closures: Closures,
  labels: ReadonlyMap<FluxionId, ReadonlySet<string>>,
): readonly StreamFact[] {
  const isHere = (label: string, of: FluxionId): boolean =>
    label === stream.label || labels.get(of)?.has(label) !== true;
  const others = stream.dest.filter((id) => !closures.has(id));
  const own = stream.dest.flatMap((id) => closures.get(id) ?? []);
  if (own.length === 0) return [stream];
  const each = own.flatMap(({ id, closure }) =>
    closure.labels.filter((label) => isHere(label, closure.of)).map((label) => ({ ...stream, label, dest: [id] })),
  );
  return others.length === 0 ? each : [{ ...stream, dest: others }, ...each];
}

function asClosure(fluxion: Fluxion, { id, moves, reasons }: ClosureOf): Fluxion {
  // It runs with all that goes on behind it.
  if (moves) return { ...fluxion, id, placement: 'replicated', tags: [], reasons: [], streams: [] };
  return { ...fluxion, id, reasons: reasonsOf(fluxion, reasons) };
}

function asLinked(fluxion: Fluxion, linked: LinkedFluxion | undefined): Fluxion {
  // What `fluxion run` keeps home anyway has its reason.
  if (linked === undefined || fluxion.placement !== 'replicated') return fluxion;
  const reasons = reasonsOf(fluxion, linked.reasons);
  return { ...fluxion, placement: linked.moves ? 'replicated' : 'home', reasons };
}

function reasonsOf(fluxion: Fluxion, reasons: readonly string[]): Fluxion['reasons'] {
  return reasons.map((why) => {
    const { code, message, lift } = staysLinked(why);
    return { code, message, lift, loc: fluxion.at };
  });
}
