/**
 * What an explanation says, before it becomes text or JSON.
 *
 * Reads: a FluxionProgram.
 * Gives: an Explanation: the chains of the program, step by step; the groups; how many of what there is.
 */
import type {
  Fluxion,
  FluxionId,
  FluxionProgram,
  GroupTag,
  ModuleId,
  Place,
  Placement,
  Reason,
  StateVariable,
  StreamFact,
  Unresolved,
} from '../program.js';
import { collectChains } from './explain-chains.js';
import { collectGroups } from './explain-groups.js';

export interface Explanation {
  readonly entry: ModuleId;
  readonly summary: Summary;
  /** In source order, as `chains` is. */
  readonly routes: readonly Chain[];
  /** All that begins otherwise. */
  readonly chains: readonly Chain[];
  readonly groups: readonly Group[];
  readonly unresolved: readonly Unresolved[];
}

export interface Summary {
  readonly fluxions: {
    readonly total: number;
    readonly replicated: number;
    readonly group: number;
    readonly home: number;
  };
  readonly routes: ChainCount;
  readonly middleware: ChainCount;
}

/** How many chains consist of replicated fluxions only, in part, or not at all. */
export interface ChainCount {
  readonly total: number;
  readonly replicated: number;
  readonly partly: number;
  readonly bound: number;
}

export type ChainKind =
  /** What handles requests to one address. */
  | 'route'
  /** What requests pass on their way to a route. */
  | 'middleware'
  /** Another callback that the outside calls again and again: timers, listeners. */
  | 'start'
  /** What start-up code goes on with. */
  | 'post'
  /** No stream of a known chain leads there. */
  | 'loose';

export interface Chain {
  readonly kind: ChainKind;
  readonly label: string;
  readonly place: Place;
  /** Where the fluxions that it can run through are placed: replicated, group, home, without repetition. */
  readonly placements: readonly Placement[];
  /** Each fluxion before those that it sends to. */
  readonly steps: readonly Step[];
}

export interface Step {
  readonly fluxion: Fluxion;
  /** The stream that leads to it; null for the first step of a loose chain. */
  readonly stream: StreamFact | null;
  readonly depth: number;
  /** What it sends to is not repeated: it is one of its own upstream parts (`cycle`), or was shown before (`repeat`). */
  readonly cut: StepCut;
  /** Routes and middleware that begin here; they have chains of their own. */
  readonly begins: number;
  /** What stands against running on every loop, besides its groups. */
  readonly reasons: readonly Reason[];
  readonly groups: readonly Group[];
}

export type StepCut =
  | { readonly kind: 'none' }
  | { readonly kind: 'cycle' }
  /** `chain` is where: the label of another chain, its place if the label is not the only one; null is the same chain. */
  | { readonly kind: 'repeat'; readonly chain: string | null };

export interface Group {
  /** Null for a fluxion that keeps state of its own and shares it with no other. */
  readonly tag: GroupTag | null;
  readonly fluxions: readonly FluxionId[];
  readonly variables: readonly StateVariable[];
  /** What its fluxions give as reasons that is about its variables, without repetition. */
  readonly reasons: readonly Reason[];
}

/** The obstacles of one fluxion. */
export interface Obstacles {
  readonly groups: readonly Group[];
  readonly reasons: readonly Reason[];
}

export function explain(program: FluxionProgram): Explanation {
  const { groups, obstacles } = collectGroups(program);
  const all = collectChains(program, obstacles);
  const routes = all.filter((chain) => chain.kind === 'route');
  return {
    entry: program.entry,
    summary: {
      fluxions: countFluxions(program.fluxions),
      routes: countChains(routes),
      middleware: countChains(all.filter((chain) => chain.kind === 'middleware')),
    },
    routes,
    chains: all.filter((chain) => chain.kind !== 'route'),
    groups,
    unresolved: program.unresolved,
  };
}

function countFluxions(fluxions: readonly Fluxion[]): Summary['fluxions'] {
  const count = (placement: Placement): number => fluxions.filter((fluxion) => fluxion.placement === placement).length;
  return { total: fluxions.length, replicated: count('replicated'), group: count('group'), home: count('home') };
}

function countChains(chains: readonly Chain[]): ChainCount {
  const some = chains.filter((chain) => chain.placements.includes('replicated'));
  const replicated = some.filter((chain) => chain.placements.length === 1).length;
  return {
    total: chains.length,
    replicated,
    partly: some.length - replicated,
    bound: chains.length - some.length,
  };
}
