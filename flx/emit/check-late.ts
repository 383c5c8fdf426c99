/**
 * Reads: what callbacks put on requests, who reads it there behind a wait, and the text of these modules.
 * Gives: those of them that may not be on different loops, with what keeps them home: a request that has left is not told what is put
 *        on it afterwards. A replica that serves a request to its end may run them.
 */
import { ANY_NAME, type FluxionId, type FluxionProgram } from '../program.js';
import { findBeside } from './check-next.js';

export function findLateState(program: FluxionProgram): ReadonlyMap<FluxionId, string> {
  const { writes, byPackages, reads } = program.link.late;
  const found = new Map<FluxionId, string>();
  if (reads.length === 0 || (writes.length === 0 && byPackages.length === 0)) return found;
  const late = writes.length === 0 ? [] : findBeside(program, writes);
  const names = new Set([...byPackages, ...late.flatMap((each) => each.names)]);
  const isLate = (name: string): boolean =>
    names.has(name) || names.has(ANY_NAME) || (name === ANY_NAME && names.size > 0);
  const read = new Map(reads.map(({ fluxion, names: all }) => [fluxion, all.find(isLate)]));
  const isRead = (name: string): boolean => reads.some((each) => each.names.some((other) => matches(name, other)));
  const behind = new Map(program.fluxions.map(({ id, streams }) => [id, streams.flatMap(({ dest }) => dest)]));
  for (const { id } of program.fluxions) {
    const flow = new Set<FluxionId>([id]);
    for (const each of flow) for (const dest of behind.get(each) ?? []) flow.add(dest);
    const name = [...flow].map((each) => read.get(each)).find((each) => each !== undefined);
    if (name !== undefined)
      found.set(id, `it reads ${quoted(name)} of its request behind a wait, and that may be put there meanwhile`);
    const written = late.find(({ fluxion, names: all }) => flow.has(fluxion) && all.some(isRead));
    if (written !== undefined)
      found.set(
        id,
        `it puts ${quoted(written.names.find(isRead) ?? ANY_NAME)} on its request after it has passed it on`,
      );
  }
  return found;
}

function matches(name: string, other: string): boolean {
  return name === other || name === ANY_NAME || other === ANY_NAME;
}

function quoted(name: string): string {
  return name === ANY_NAME ? 'something' : `"${name}"`;
}
