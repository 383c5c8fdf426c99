/**
 * Reads: what a fixture compiles to.
 * Gives: where it breaks what holds for every program, whatever its expected files say; empty where it holds.
 */
import { isDeepStrictEqual } from 'node:util';
import { printExplain, printExplainJson } from '../../flx/emit/explain.js';
import { printJson } from '../../flx/emit/json.js';
import { placeForRun } from '../../flx/emit/place-for-run.js';
import { parseFlx } from '../../flx/parse.js';
import { printFlx } from '../../flx/print.js';
import type { Cut, FluxionProgram, Place } from '../../flx/program.js';
import { toFlxProgram } from '../../flx/to-flx-program.js';
import { verifyProgram } from '../../flx/verify.js';
import { jsonProblems } from './fixture-shape.js';

export function brokenInvariants(program: FluxionProgram, again: FluxionProgram): readonly string[] {
  verifyProgram(program);
  return [
    ...jsonProblems(printJson(program)),
    ...roundTripProblems(program),
    ...repeatProblems(program, again),
    ...placeProblems(program),
    ...placeholderProblems(program),
    ...stateProblems(program),
    ...cutProblems(program),
  ];
}

function roundTripProblems(program: FluxionProgram): readonly string[] {
  const flx = toFlxProgram(program);
  const text = printFlx(flx);
  const parsed = parseFlx(text);
  const problems: string[] = [];
  if (!isDeepStrictEqual(parsed, flx)) problems.push('parsing the printed program gives another program');
  if (printFlx(parsed) !== text) problems.push('printing the parsed text gives another text');
  return problems;
}

function repeatProblems(program: FluxionProgram, again: FluxionProgram): readonly string[] {
  const forms = {
    flx: (from: FluxionProgram) => printFlx(toFlxProgram(from)),
    printJson,
    printExplain: (from: FluxionProgram) => printExplain(placeForRun(from)),
    printExplainJson: (from: FluxionProgram) => printExplainJson(placeForRun(from)),
  };
  return Object.entries(forms)
    .filter(([, print]) => print(program) !== print(again))
    .map(([name]) => `a second compilation gives other bytes (${name})`);
}

/** Every place is one in the source. */
function placeProblems(program: FluxionProgram): readonly string[] {
  const lines = new Map(
    [...program.sources, ...program.packages].map(({ id, text }) => [id, text.split(/\r\n|[\n\r\u2028\u2029]/)]),
  );
  return placesOf(program)
    .filter(({ module, line, column }) => column > (lines.get(module)?.[line - 1]?.length ?? -1) + 1)
    .map(({ module, line, column }) => `${module}:${line}:${column} is no place of the source`);
}

function placesOf({ fluxions, variables, unresolved }: FluxionProgram): readonly Place[] {
  const reasons = fluxions.flatMap((fluxion) => fluxion.reasons.map((reason) => reason.loc));
  return [
    ...fluxions.flatMap((fluxion) => [fluxion.at, ...fluxion.streams.map((stream) => stream.loc)]),
    ...variables.flatMap((variable) => [variable.loc, ...variable.writes, ...variable.reads]),
    ...unresolved.map((one) => one.loc),
    ...reasons.filter((loc) => loc !== null),
  ];
}

/** A callback that was cut out has left its placeholder; any other still stands where it was written. */
function placeholderProblems(program: FluxionProgram): readonly string[] {
  const problems: string[] = [];
  for (const fluxion of program.fluxions) {
    for (const { type, dest } of fluxion.streams) {
      const arrow = type === 'start' ? '>>' : '->';
      for (const id of dest) {
        const others = [...program.fluxions.filter((other) => other.id !== id), ...program.modules].map(
          ({ code }) => code,
        );
        const itself = program.fluxions.find((other) => other.id === id)?.code ?? '';
        const isNamed = [...others, itself].some((code) => code.includes(`${arrow} ${id}`));
        const isWhole = others.some((code) => withoutBlanks(code).includes(withoutBlanks(itself)));
        if (!isNamed && !isWhole)
          problems.push(`"${arrow} ${id}" stands nowhere in the code, and neither does its callback`);
      }
    }
  }
  return [...new Set(problems)];
}

function withoutBlanks(code: string): string {
  return code.replace(/\s+/g, '');
}

/** Whatever shares state that outlives a request runs where its group is, and everything placed says why. */
function stateProblems(program: FluxionProgram): readonly string[] {
  const problems: string[] = [];
  for (const fluxion of program.fluxions) {
    const { id, tags, placement, reasons } = fluxion;
    const shared = tags.filter((tag) => !isOfOneRequest(program, tag));
    if (placement === 'replicated' && shared.length > 0)
      problems.push(`"${id}" has ${shared.join(', ')} and is replicated`);
    if (reasons.length === 0) problems.push(`"${id}" is ${placement} without a reason`);
    for (const tag of tags) if (!/^grp_[\p{ID_Continue}$#.]+$/u.test(tag)) problems.push(`"${tag}" names no variable`);
  }
  return problems;
}

/** A variable that each request has anew ties the parts of that request to each other, not to a loop. */
function isOfOneRequest({ fluxions }: FluxionProgram, tag: string): boolean {
  const members = fluxions.filter(({ tags }) => tags.includes(tag));
  return members.every(({ reasons }) => reasons.some(({ code }) => code === 'pipeliner/shares-within-request'));
}

function cutProblems({ cuts, sources, fluxions }: FluxionProgram): readonly string[] {
  const problems: string[] = [];
  const isWrong = ({ module, dest, start, end }: Cut): boolean => {
    const source = sources.find(({ id }) => id === module);
    return source === undefined || start > end || end > source.text.length || !fluxions.some(({ id }) => id === dest);
  };
  for (const cut of cuts) if (isWrong(cut)) problems.push(`the cut to "${cut.dest}" lies outside of ${cut.module}`);
  return problems;
}
