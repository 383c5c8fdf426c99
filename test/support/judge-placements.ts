/**
 * Reads: the fluxions that a program was compiled to, and the truth about its handlers.
 * Gives: in words, what is unsound (state that changes is not held by one owner) and what is timid (a handler stays with
 *        others without need).
 */
import type { Fluxion, GroupTag } from '../../flx/program.js';
import { collide, type HandlerTruth, type Touch } from './generate-state-program.js';

/** What each handler runs, itself and what continues its flow. */
export class Chains {
  readonly #byId: ReadonlyMap<string, Fluxion>;

  constructor(fluxions: readonly Fluxion[]) {
    this.#byId = new Map(fluxions.map((fluxion) => [fluxion.id, fluxion]));
  }

  of(id: string): readonly Fluxion[] {
    const found = new Set<Fluxion>();
    const queue = [id];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const fluxion = this.#byId.get(next);
      if (fluxion === undefined || found.has(fluxion)) continue;
      found.add(fluxion);
      queue.push(...fluxion.streams.flatMap(({ dest }) => dest));
    }
    return [...found];
  }
}

export function* findUnsound(handlers: readonly HandlerTruth[], chains: Chains): Generator<string> {
  const all = handlers.flatMap((handler) => handler.touches.map((touch) => ({ handler, touch })));
  for (const [index, { handler, touch }] of all.entries()) {
    const others = all.filter((other) => collide(touch, other.touch));
    if (others.length > 0 && runs(chains, handler, touch).length === 0) {
      yield `${handler.id} touches state${touch.state}, which changes, and is replicated`;
    }
    for (const other of others.filter((candidate) => all.indexOf(candidate) > index && candidate.handler !== handler)) {
      if (areTogether(runs(chains, handler, touch), runs(chains, other.handler, other.touch))) continue;
      yield `${handler.id} and ${other.handler.id} share state${touch.state} and have no tag in common`;
    }
  }
}

/** Fluxions with an owner that may be the one that touches: the handler's own, or one of those that continue it. */
function runs(chains: Chains, { id }: HandlerTruth, { later }: Touch): readonly Fluxion[] {
  return chains.of(id).filter((fluxion) => fluxion.placement !== 'replicated' && (later || fluxion.id === id));
}

/** Handlers that touch nothing that outlives a request have no reason to be anywhere else. */
export function* findTimid(handlers: readonly HandlerTruth[], chains: Chains): Generator<string> {
  for (const { id, touches } of handlers) {
    if (touches.length > 0) continue;
    const own = chains.of(id).find((fluxion) => fluxion.id === id);
    if (own === undefined) yield `${id} is no fluxion`;
    else if (own.placement !== 'replicated') yield `${id} touches no state and is ${own.placement}: ${reasonsOf(own)}`;
  }
}

function reasonsOf({ reasons }: Fluxion): string {
  return reasons.map(({ message }) => message).join('; ');
}

/** A tag that says so, or both on the main loop. `grp_res` says that they reply. */
function areTogether(left: readonly Fluxion[], right: readonly Fluxion[]): boolean {
  const tags = new Set(left.flatMap((fluxion) => fluxion.tags).filter(isOfState));
  if (right.some((fluxion) => fluxion.tags.some((tag) => tags.has(tag)))) return true;
  return [left, right].every((side) => side.some(({ placement }) => placement === 'home'));
}

function isOfState(tag: GroupTag): boolean {
  return !tag.startsWith('grp_res');
}

/** Where routes are not even found, because nothing in the module is certain, all of it stays at home. */
export function areBothOwned(chains: Chains): boolean {
  return ['w', 'r'].every((id) => {
    const runs = chains.of(id);
    return runs.length === 0 || runs.some(({ placement }) => placement !== 'replicated');
  });
}
