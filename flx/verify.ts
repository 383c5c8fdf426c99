/**
 * Reads: a program as the pipeliner gives it.
 * Gives: nothing; throws an InvariantError where the program is not well formed. Whatever the user's program looks
 *        like, that is a bug in Fluxion.
 */
import { InvariantError } from '../diagnostics/invariant.js';
import type { Fluxion, FluxionId, Loc, ModuleId, ShownProgram, StateVariable } from './program.js';

type FluxionsById = ReadonlyMap<FluxionId, Fluxion>;

export function verifyProgram(program: ShownProgram): void {
  const modules = verifyModules(program);
  verifyMain(program);
  const fluxions = verifyIds(program);
  for (const fluxion of program.fluxions) {
    verifyFluxion(fluxion, modules);
    verifyStreams(fluxion, fluxions);
  }
  for (const variable of program.variables) verifyVariable(variable, fluxions);
  for (const unresolved of program.unresolved) verifyLoc(unresolved.loc, `unresolved ${unresolved.callee}`);
}

function check(condition: boolean, what: string): asserts condition {
  if (!condition) throw new InvariantError(`${what}; this is a bug in Fluxion`);
}

/** The entry is a module whether it is listed or not: its code is that of `main`. */
function verifyModules(program: ShownProgram): ReadonlySet<ModuleId> {
  const ids = program.modules.map((module) => module.id);
  const repeated = firstRepeated(ids);
  check(repeated === null, `module "${repeated}" is listed twice`);
  return new Set([program.entry, ...ids, ...program.packages.map(({ id }) => id)]);
}

function verifyMain(program: ShownProgram): void {
  const [main, ...others] = program.fluxions;
  check(main !== undefined, 'the program has no fluxions');
  check(main.kind === 'main', `the first fluxion, "${main.id}", is of kind ${main.kind}, not main`);
  check(main.placement === 'home', `"${main.id}" is the start-up code and is placed ${main.placement}, not home`);
  const second = others.find((fluxion) => fluxion.kind === 'main');
  check(second === undefined, `"${second?.id}" is a second fluxion of kind main`);
}

function verifyIds(program: ShownProgram): FluxionsById {
  const fluxions = new Map<FluxionId, Fluxion>();
  for (const fluxion of program.fluxions) {
    check(!fluxions.has(fluxion.id), `two fluxions have the id "${fluxion.id}"`);
    fluxions.set(fluxion.id, fluxion);
  }
  return fluxions;
}

function verifyFluxion(fluxion: Fluxion, modules: ReadonlySet<ModuleId>): void {
  const { id, at, placement, tags, context } = fluxion;
  check(modules.has(at.module), `fluxion "${id}" is of module "${at.module}", which the program does not have`);
  verifyLoc(at, `fluxion "${id}"`);
  verifyUnique(tags, `fluxion "${id}"`, 'tag');
  verifyUnique(context, `fluxion "${id}"`, 'context variable');
  check(
    placement !== 'group' || tags.length > 0 || context.length > 0,
    `fluxion "${id}" is placed with a group and has neither a tag nor a context`,
  );
  for (const reason of fluxion.reasons) {
    if (reason.loc !== null) verifyLoc(reason.loc, `reason ${reason.code} of fluxion "${id}"`);
  }
}

function verifyStreams(fluxion: Fluxion, fluxions: FluxionsById): void {
  for (const stream of fluxion.streams) {
    const name = `the stream of fluxion "${fluxion.id}" at ${stream.callee}`;
    check(stream.dest.length > 0, `${name} has no destination`);
    for (const dest of stream.dest) check(fluxions.has(dest), `${name} leads to "${dest}", which does not exist`);
    verifyUnique(stream.message, name, 'variable');
    verifyLoc(stream.loc, name);
  }
}

function verifyVariable(variable: StateVariable, fluxions: FluxionsById): void {
  const name = `variable "${variable.name}" of ${variable.module}`;
  verifyLoc(variable.loc, name);
  for (const place of [...variable.writes, ...variable.reads]) verifyLoc(place, name);
  const { tag } = variable;
  if (variable.class !== 'share') {
    check(tag === null, `${name} is of class ${variable.class} and has the tag "${tag}"`);
    return;
  }
  if (tag === null) return;
  for (const id of variable.fluxions) {
    const fluxion = fluxions.get(id);
    check(fluxion !== undefined, `${name} is used by "${id}", which does not exist`);
    check(fluxion.tags.includes(tag), `${name} is shared as "${tag}", and fluxion "${id}" does not have that tag`);
  }
}

function verifyLoc({ line, column }: Loc, of: string): void {
  check(isCount(line) && isCount(column), `the place ${line}:${column} of ${of} does not count from 1`);
}

function isCount(number: number): boolean {
  return Number.isSafeInteger(number) && number >= 1;
}

function verifyUnique(names: readonly string[], of: string, what: string): void {
  const repeated = firstRepeated(names);
  check(repeated === null, `${of} lists the ${what} "${repeated}" twice`);
}

function firstRepeated(names: readonly string[]): string | null {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return null;
}
