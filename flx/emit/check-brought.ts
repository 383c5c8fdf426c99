/**
 * Reads: what fluxions put on their requests, and which pass their requests on.
 * Gives: those that put something there which may not travel, and then pass the request on, themselves or behind a cut; with what
 *        keeps them home. A replica that serves a request to its end may run them.
 */
import type { FluxionId, FluxionProgram } from '../program.js';

export function findBringing({ fluxions, link }: FluxionProgram): ReadonlyMap<FluxionId, string> {
  const found = new Map<FluxionId, string>();
  if (link.brings.length === 0) return found;
  const behind = new Map(fluxions.map(({ id, streams }) => [id, streams.flatMap(({ dest }) => dest)]));
  const brought = new Map(link.brings.map((each) => [each.fluxion, each]));
  const passing = new Set(link.passes.map(({ fluxion }) => fluxion));
  for (const { id, placement } of fluxions) {
    if (placement !== 'replicated') continue;
    const flow = new Set<FluxionId>([id]);
    for (const each of flow) for (const dest of behind.get(each) ?? []) flow.add(dest);
    const all = [...flow].flatMap((each) => brought.get(each) ?? []);
    const failing = all.find(({ isError }) => isError);
    if (failing !== undefined)
      found.set(
        id,
        `errors of "${failing.what}" hold live objects, and the handlers of errors may not be on the same loop`,
      );
    const what = all.find(({ isError }) => !isError)?.what;
    if (failing !== undefined || what === undefined || ![...flow].some((each) => passing.has(each))) continue;
    found.set(id, `it puts "${what}" on its request, where the handlers behind it may not be on the same loop`);
  }
  return found;
}
