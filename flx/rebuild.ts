/**
 * Reads: a program in the fluxional language.
 * Gives: the text of each module that it says: at each placeholder stands the code of the fluxion that it names.
 *
 *     app.get('/', >> handler);      app.get('/', function handler(req, res) {
 *                                ⇒     res.send('x');
 *                                    });
 *
 * A function that is named in several places is declared once, at the end of its module. What is not in the text (the
 * source's indentation, comments above its first line, whether a variable that is awaited was a `const`) has no say in what
 * the program does.
 */
import { normaliseCode } from './layout-code.js';
import { findPlaceholders } from './placeholders.js';
import type { FluxionId, FlxFluxion, FlxProgram, ModuleId } from './program.js';
import { freeNames, joinRests } from './rebuild-rests.js';
import { LINE_IN_TEXT, scanCode } from './scan-code.js';

export interface Rebuilt {
  readonly entry: ModuleId;
  readonly modules: ReadonlyMap<ModuleId, string>;
}

/** `name`: of the entry, where the text does not say it. */
export function rebuildModules(program: FlxProgram, name: ModuleId): Rebuilt {
  const [main] = program.fluxions;
  const entry = main?.at?.module ?? name;
  const byId = new Map(program.fluxions.map((fluxion) => [fluxion.id, fluxion]));
  const codes = new Map([[entry, main?.code ?? ''], ...program.modules.map(({ id, code }) => [id, code] as const)]);
  return { entry, modules: new Map([...codes].map(([id, code]) => [id, rebuildModule(code, byId)])) };
}

type Fluxions = ReadonlyMap<FluxionId, FlxFluxion>;

function rebuildModule(code: string, byId: Fluxions): string {
  const within = fluxionsWithin(code, byId);
  const rests = new Set([...within].filter((id) => /^async function\*? /.test(byId.get(id)?.code ?? '')));
  const declared = new Set(
    [...within].filter((id) => isDeclaration(byId, id) && countUses(id, code, within, byId) > 1),
  );
  // A name that nobody declares is that of a function which was taken from the module's top.
  for (;;) {
    const text = write(code, byId, declared);
    const missing = [...freeNames(text)].filter((name) => !declared.has(name) && isDeclaration(byId, name));
    if (missing.length === 0) return `${joinRests(text, rests)}\n`;
    for (const name of missing) declared.add(name);
  }
}

function write(code: string, byId: Fluxions, declared: ReadonlySet<FluxionId>): string {
  const declarations = [...declared].map((id) => expand(byId.get(id)?.code ?? '', byId, declared, new Set([id])));
  return [expand(code, byId, declared, new Set()), ...declarations].join('\n\n');
}

/** All whose code comes to stand in this module, each once. */
function fluxionsWithin(code: string, byId: Fluxions): ReadonlySet<FluxionId> {
  const found = new Set<FluxionId>();
  const todo = [code];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    for (const { id } of findPlaceholders(next)) {
      const fluxion = byId.get(id);
      if (fluxion === undefined || found.has(id)) continue;
      found.add(id);
      todo.push(fluxion.code);
    }
  }
  return found;
}

/** It can stand by itself, under the name by which others call it. */
function isDeclaration(byId: Fluxions, id: FluxionId): boolean {
  return new RegExp(`^(async )?function\\*? ?${escaped(id)}\\(`).test(byId.get(id)?.code ?? '');
}

function countUses(id: FluxionId, code: string, within: ReadonlySet<FluxionId>, byId: Fluxions): number {
  const codes = [code, ...[...within].map((each) => byId.get(each)?.code ?? '')];
  return codes.flatMap((text) => findPlaceholders(text)).filter((placeholder) => placeholder.id === id).length;
}

function escaped(id: FluxionId): string {
  return id.replaceAll('$', '\\$');
}

function expand(
  code: string,
  byId: Fluxions,
  declared: ReadonlySet<FluxionId>,
  around: ReadonlySet<FluxionId>,
): string {
  let expanded = code;
  for (const { id, start, end } of findPlaceholders(code).toReversed()) {
    const fluxion = byId.get(id);
    if (fluxion === undefined || around.has(id) || declared.has(id)) {
      expanded = expanded.slice(0, start) + id + expanded.slice(end);
      continue;
    }
    const own = expand(fluxion.code, byId, declared, new Set([...around, id]));
    expanded = expanded.slice(0, start) + indented(own, indentationAt(code, start)) + expanded.slice(end);
  }
  return expanded;
}

/** All lines but the first. */
function indented(code: string, indentation: string): string {
  const text = normaliseCode(code);
  const { lineStarts, lineKinds } = scanCode(text);
  const lines = lineStarts.map((start, index) => {
    const line = text.slice(start, lineStarts[index + 1] ?? text.length);
    const stays = index === 0 || lineKinds[index] === LINE_IN_TEXT || line.trim() === '';
    return stays ? line : indentation + line;
  });
  return lines.join('');
}

function indentationAt(code: string, offset: number): string {
  return /^[\t ]*/.exec(code.slice(code.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? '';
}
