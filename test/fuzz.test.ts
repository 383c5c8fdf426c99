import test from 'ava';
import fc from 'fast-check';
import type { Fluxion, GroupTag } from '../flx/program.js';
import { BoundedCompiler, type BoundedReply } from './support/bounded-compiler.js';
import {
  carriers,
  type HandlerTruth,
  leaves,
  type StatePlan,
  statePlans,
  type StateProgram,
  vocabularyWithout,
  wrappers,
  writeStateProgram,
} from './support/generate-state-program.js';

// Each run makes the same programs; FUZZ_SEED and FUZZ_RUNS look further.
const seed = Number(process.env['FUZZ_SEED'] ?? 20_200_601);
const effort = Number(process.env['FUZZ_RUNS'] ?? 1);

function parameters<T>(runs: number): fc.Parameters<T> {
  return { seed, numRuns: Math.ceil(runs * effort), interruptAfterTimeLimit: 60_000 * effort };
}

// State -------------------------------------------------------------------------------------------------------------

/** Indirections that the analysis does not see through yet. */
const knownGaps: readonly string[] = [];

function alone(states: readonly string[], chain: readonly string[], leaf: string): StatePlan {
  const other = leaves[leaf]!.changes ? 'read' : 'increment';
  const handler = (touch: { wrappers: readonly string[]; leaf: string }) => ({
    touches: [{ state: 0, ...touch }],
    registered: 'in place' as const,
    busy: 'nothing',
  });
  // The other handler takes no detours, so it is the program's first state that both touch.
  return { states: [states], handlers: [handler({ wrappers: chain, leaf }), { ...handler({ wrappers: [], leaf: other }) }] };
}

test('each indirection alone: who changes or reads shared state is never replicated', async (t) => {
  const compiler = new BoundedCompiler(10_000);
  t.teardown(() => compiler.close());
  const plans: [string, StatePlan][] = [
    ...Object.keys(carriers).map((name): [string, StatePlan] => [name, alone([name], [], 'increment')]),
    ...Object.keys(wrappers).map((name): [string, StatePlan] => [name, alone([], [name], 'increment')]),
    ...Object.keys(leaves).map((name): [string, StatePlan] => [name, alone([], [], name)]),
  ];
  const found: string[] = [];
  for (const [name, plan] of plans) {
    const program = writeStateProgram(plan);
    const wrong = findWrong(program, await compiler.compile(program.files, program.entry, false));
    if (wrong.length > 0) { found.push(name); if (process.env['V']) console.log(name, wrong.join(' | ')); }
  }
  t.deepEqual(found, [...knownGaps]);
});

function findWrong(program: StateProgram, reply: BoundedReply): string[] {
  if (reply.kind !== 'compiled') return [JSON.stringify(reply)];
  const chains = new Chains(reply.fluxions);
  return [...findUnsound(program.handlers, chains)];
}

/** What each handler runs, itself and what continues its flow. */
class Chains {
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
      queue.push(...fluxion.streams.filter(({ type }) => type === 'post').flatMap(({ dest }) => dest));
    }
    return [...found];
  }
}

function* findUnsound(handlers: readonly HandlerTruth[], chains: Chains): Generator<string> {
  const changed = new Set(handlers.flatMap(({ changes }) => [...changes]));
  for (const state of changed) {
    const users = handlers.filter(({ reads, changes }) => reads.has(state) || changes.has(state));
    const bound = users.map((user) => ({ user, fluxions: chains.of(user.id).filter((f) => f.placement !== 'replicated') }));
    for (const { user, fluxions } of bound) {
      const runs = user.later.has(state) ? fluxions : fluxions.filter(({ id }) => id === user.id);
      if (runs.length === 0) yield `${user.id} touches state${state}, which changes, and is replicated`;
    }
    for (const left of bound) {
      for (const right of bound) {
        if (left.user.id < right.user.id && !areTogether(left.fluxions, right.fluxions)) {
          yield `${left.user.id} and ${right.user.id} share state${state} and have no tag in common`;
        }
      }
    }
  }
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
void fc; void statePlans; void vocabularyWithout; void parameters;
