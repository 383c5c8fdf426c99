/**
 * Reads: fixtures/styles/<name>/style.json, and what the compiler and the linker say of that app.
 * Gives: for each handler of a route whether it moves, and all that is said against it, beside what should come out.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLinked } from '../../flx/emit/explain-live.js';
import { explain, type Step } from '../../flx/emit/explain-model.js';
import type { LinkReport } from '../../flx/link-report.js';
import type { FluxionId, FluxionProgram } from '../../flx/program.js';
import type { Request } from './differential.js';
import type { Fixture } from './fixture.js';

export interface Style {
  /** By label; where a label has several handlers, those behind the first are called `GET /a (2)` and so on. */
  readonly routes: { readonly [route: string]: ExpectedPlacement };
  readonly requests: readonly Request[];
}

/** `partly`: what is behind an `await` or a callback stays home. `home`: a piece of what is said against it. `couldMove`: nothing really is; a limit of today's. */
export type ExpectedPlacement = 'moves' | 'partly' | { readonly home: string; readonly couldMove?: boolean };

export interface FoundPlacement {
  readonly id: FluxionId;
  /** `partly`: what it goes on with stays home. */
  readonly placement: 'moves' | 'partly' | 'home';
  readonly why: string;
}

export function readStyle({ folder }: Fixture): Style {
  return JSON.parse(readFileSync(join(folder, 'style.json'), 'utf8'));
}

export function findPlacements(program: FluxionProgram, link: LinkReport): ReadonlyMap<string, FoundPlacement> {
  const found = new Map<string, FoundPlacement>();
  for (const { label, steps } of explain(withLinked(program, link)).routes) {
    for (const own of handlersOf(steps)) {
      let name = label;
      for (let number = 2; found.has(name); number++) name = `${label} (${number})`;
      const [head] = own;
      if (head === undefined) continue;
      const isFree = (step: Step): boolean => step.fluxion.placement === 'replicated';
      const placement = own.every(isFree) ? 'moves' : isFree(head) ? 'partly' : 'home';
      found.set(name, { id: head.fluxion.id, placement, why: own.map(whyOf).join('; ') });
    }
  }
  return found;
}

/** Each handler of a route with what it goes on with. */
function handlersOf(steps: readonly Step[]): readonly (readonly Step[])[] {
  const handlers: Step[][] = [];
  for (const step of steps) {
    if (step.depth === 0) handlers.push([]);
    handlers.at(-1)?.push(step);
  }
  return handlers;
}

function whyOf({ reasons, groups }: Step): string {
  const variables = groups.flatMap((group) => group.variables.map(({ name }) => `"${name}"`));
  return [...reasons.map(({ message }) => message), ...new Set(variables)].join(', ');
}

export interface StyleCounts {
  movable: number;
  moved: number;
  bound: number;
}

export function countStyles(styles: readonly Style[]): StyleCounts {
  const counts = { movable: 0, moved: 0, bound: 0 };
  for (const expected of styles.flatMap(({ routes }) => Object.values(routes))) {
    if (typeof expected === 'string') counts.moved++;
    if (typeof expected === 'string' || expected.couldMove === true) counts.movable++;
    else counts.bound++;
  }
  return counts;
}
