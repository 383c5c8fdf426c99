/**
 * Reads: the whole program.
 * Gives: the part of it that flx text says. The entry's top-level code is the code of `main`, so the entry is no
 *        module of the text.
 */
import type { Fluxion, FlxFluxion, FlxProgram, ShownProgram } from './program.js';

export function toFlxProgram(program: ShownProgram): FlxProgram {
  return {
    fluxions: program.fluxions.map(toFlxFluxion),
    modules: program.modules.filter((module) => module.id !== program.entry).map(({ id, code }) => ({ id, code })),
  };
}

function toFlxFluxion({ id, tags, context, streams, at, placement, code }: Fluxion): FlxFluxion {
  const { module, line, column } = at;
  return {
    id,
    tags,
    context,
    streams: streams.map(({ type, dest, message }) => ({ type, dest, message })),
    at: { module, line, column },
    placement,
    code,
  };
}
