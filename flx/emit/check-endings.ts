/**
 * Reads: where fluxions pass their requests on by `next`, what they listen to, and the text of their modules.
 * Gives: the fluxions that wait for the end of a response which others give.
 *
 * Word of a response's end takes its time to another loop, and what a handler logs or counts then would come after the
 * next request had been taken.
 *
 *     res.on('finish', () => console.log(res.statusCode));       res.on('finish', () => next());
 *     next();                       (waits for the end)                          (goes on by it: does not)
 */
import type { Fluxion, FluxionId, FluxionProgram, Place, StreamFact } from '../program.js';

const LISTENS = /\.(?:on|once|addListener|prependListener|prependOnceListener)$/;
/** Behind the listener's callee, as it stands in the source. */
const ENDS = /^[^(]*\(\s*(['"`])(?:finish|prefinish|close)\1/;

export function findWaiting({ fluxions, link, sources, packages }: FluxionProgram): ReadonlySet<FluxionId> {
  const byId = new Map(fluxions.map((fluxion) => [fluxion.id, fluxion]));
  const passing = new Set(link.passes.map(({ fluxion }) => fluxion));
  const waits = (stream: StreamFact): boolean =>
    LISTENS.test(stream.callee) && !stream.dest.some((id) => passing.has(id)) && ENDS.test(textAt(stream.loc));
  const textAt = ({ module, line, column }: Place): string => {
    const text = [...sources, ...packages].find(({ id }) => id === module)?.text ?? '';
    return text.slice(offsetOf(text, line, column)).slice(0, 200);
  };
  const found = new Set<FluxionId>();
  if (passing.size === 0) return found;
  for (const fluxion of fluxions) {
    if (fluxion.placement === 'replicated' && fluxion.streams.some(waits) && goesOn(fluxion, byId, passing))
      found.add(fluxion.id);
  }
  return found;
}

/** It passes its request on itself, or what comes behind it does. */
function goesOn(from: Fluxion, byId: ReadonlyMap<FluxionId, Fluxion>, passing: ReadonlySet<FluxionId>): boolean {
  const seen = new Set<FluxionId>([from.id]);
  for (const id of seen) {
    if (passing.has(id)) return true;
    for (const { dest } of byId.get(id)?.streams ?? []) for (const each of dest) seen.add(each);
  }
  return false;
}

function offsetOf(text: string, line: number, column: number): number {
  const end = /\r\n|[\r\n\u2028\u2029]/g;
  for (let left = line - 1; left > 0; left--) if (end.exec(text) === null) return text.length;
  return end.lastIndex + column - 1;
}
