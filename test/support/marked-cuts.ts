/**
 * Cuts that a test writes into a module's text, so that it tells what is emitted for them, not what the pipeliner cuts:
 *
 *     fs.stat(file, /\*post reply(res, a)*\/ (error, found) => res.send(a) /\*end*\/)
 *     const a = await b; /\*rest later(res | a) 1*\/ res.send(a); } catch {} /\*end*\/}
 *
 * Behind the bar stand the variables that the awaited value has just been given to, then the number of open `try`s.
 * `/\*end 2*\/` ends two at once.
 */
import { parse } from '../../analyzer/parse.js';
import type { Cut, FluxionProgram, ModuleSource } from '../../flx/program.js';
import type { Offsets } from '../../syntax/parser.js';

const MARK = /\/\*(post|rest) (\w+)\(([^|)]*)(?:\|([^)]*))?\)(?: (\d))?\*\/|\/\*end(?: (\d))?\*\//g;

export function markedCuts(module: string, text: string): Cut[] {
  const open: ((end: number, mark: number) => Cut)[] = [];
  const cuts: Cut[] = [];
  for (const mark of text.matchAll(MARK)) {
    const [all, kind, dest, message, bound, tries, ends] = mark;
    if (kind === undefined || dest === undefined) {
      for (const close of open.splice(-Number(ends ?? 1))) cuts.push(close(mark.index, all.length));
      continue;
    }
    const start = mark.index + all.length;
    const base = { module, dest, message: names(message), start };
    open.push((end, markLength) =>
      kind === 'post'
        ? { ...base, kind: 'callback', ...trimmed(text, start, end) }
        : { ...base, kind: 'rest', end: end + markLength, bound: names(bound), openTries: Number(tries ?? 0) },
    );
  }
  return cuts;
}

function names(list = ''): string[] {
  return list.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
}

function trimmed(text: string, start: number, end: number): { readonly start: number; readonly end: number } {
  const inside = text.slice(start, end);
  return { start: start + (inside.length - inside.trimStart().length), end: start + inside.trimEnd().length };
}

export function moduleSource(id: string, text: string, file = `/app/${id}`): ModuleSource {
  const { kind, tree } = parse(text, id.endsWith('.mjs') ? 'module' : 'commonjs');
  let codeStart = text.startsWith('#!') ? text.indexOf('\n') : 0;
  for (const statement of tree.body) {
    if (!('directive' in statement)) break;
    codeStart = (statement as unknown as Offsets).end;
  }
  return { id, file, kind, text, codeStart };
}

/** With the marked cuts of its modules in place of its own. */
export function withMarkedCuts(program: FluxionProgram): FluxionProgram {
  return { ...program, cuts: program.sources.flatMap(({ id, text }) => markedCuts(id, text)) };
}
