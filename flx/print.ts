/**
 * Reads: a program as the fluxional language says it.
 * Gives: flx text; `parseFlx` gives the same program back, with code in its normal form.
 */
import { INDENTATION, indentScanned, normaliseCode } from './layout-code.js';
import type { FlxFluxion, FlxModule, FlxProgram, Place, Placement, Stream } from './program.js';
import { scanCode } from './scan-code.js';
import { printName, printPath } from './words.js';

/** The first fluxion, then the modules, then the other fluxions, each in the program's order. */
export function printFlx(program: FlxProgram): string {
  const [main, ...others] = program.fluxions;
  const blocks: string[] = [];
  if (main !== undefined) blocks.push(printFluxion(main));
  for (const module of program.modules) blocks.push(printModule(module));
  for (const fluxion of others) blocks.push(printFluxion(fluxion));
  return blocks.length === 0 ? '' : `${blocks.join('\n\n')}\n`;
}

function printFluxion(fluxion: FlxFluxion): string {
  const streams = fluxion.streams.length === 0 ? ['-> null'] : fluxion.streams.map(printStream);
  return [printHeader(fluxion), ...streams, ...printCode(fluxion.code)].join('\n');
}

function printModule(module: FlxModule): string {
  return [`module ${printPath(module.id)}`, ...printCode(module.code)].join('\n');
}

function printHeader({ id, tags, context, at, placement }: FlxFluxion): string {
  let header = `flx ${id}`;
  if (tags.length > 0) header += ` & ${printNames(tags)}`;
  if (context.length > 0) header += ` {${printNames(context)}}`;
  return header + printAnnotation(at, placement);
}

function printAnnotation(at: Place | null, placement: Placement | null): string {
  if (at === null && placement === null) return '';
  const place = at === null ? '' : ` ${printPath(at.module)}:${at.line}:${at.column}`;
  return ` @${place}${placement === null ? '' : ` ${placement}`}`;
}

function printStream({ type, dest, message }: Stream): string {
  const arrow = type === 'start' ? '>>' : '->';
  return `${arrow} ${dest.join(', ')}${message.length === 0 ? '' : ` [${printNames(message)}]`}`;
}

function printNames(names: readonly string[]): string {
  return names.map(printName).join(', ');
}

function printCode(code: string): readonly string[] {
  const normal = normaliseCode(code);
  if (normal === '') return [];
  const scan = scanCode(normal);
  // Where a literal or comment runs into the end of the code, it would swallow what follows in the text.
  if (scan.open !== null || /^[ \t]*\|/.test(normal)) return printVerbatim(normal);
  return [indentScanned(normal, scan)];
}

/** No JavaScript begins with a bar, so it can mark lines that are to be taken as they stand. */
function printVerbatim(code: string): readonly string[] {
  return code.split('\n').map((line) => (line === '' ? `${INDENTATION}|` : `${INDENTATION}| ${line}`));
}
