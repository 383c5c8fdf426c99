/**
 * Reads:   parts, their ids, and the source.
 * Gives:   the code of each fluxion and of each module's top level, with `>> id` and `-> id` where others were cut out.
 *
 * Callbacks that stand in place are cut out; a function declared at the top of a module moves to its fluxion where the call
 * names it; any other callback stays where it was written as well. Behind an `await` that ends a segment the rest of the
 * function becomes a fluxion of its own:
 *
 *     const data = await read(file);          return (-> handler_read)(await read(file));
 *     res.send(data);                    ⇒
 *                                             async function handler_read(data) {
 *                                               res.send(data);
 *                                             }
 */
import type { ReadonlyById } from '../analyzer/by-id.js';
import type { Part, PartId, Parts } from '../analyzer/cut-parts.js';
import type { AwaitCut, Facts, FunctionFact, FunctionId, ModuleFact } from '../analyzer/facts.js';
import { FunctionFlag } from '../analyzer/facts.js';
import { normaliseSlice } from '../flx/layout-code.js';

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** For the cuts of an async function: which one it belongs to. */
  readonly fn: FunctionId;
  readonly cut: number;
}

export interface ProgramCode {
  ofPart(part: Part): string;
  ofModule(module: ModuleFact): string;
}

export const noCode: ProgramCode = { ofPart: () => '', ofModule: () => '' };

export function writeCode(facts: Facts, parts: Parts, names: ReadonlyById<string>): ProgramCode {
  const edits = new EditTable(facts, parts, names);
  return {
    ofPart: (part) => (part.kind === 'rest' ? restCode(facts, part, names, edits) : partCode(facts, part, edits)),
    ofModule: (module) => moduleCode(module, edits),
  };
}

function partCode(facts: Facts, part: Part, edits: EditTable): string {
  const module = facts.modules[part.fn.module] as ModuleFact;
  if (part.kind === 'main') return moduleCode(module, edits);
  const { start, end } = part.fn;
  const replaced = edits.apply(module, start, end, part.fn.id, 0);
  return normaliseSlice(
    indentationAt(module.text, start) + replaced,
    indentationAt(module.text, start).length,
    replaced.length + indentationAt(module.text, start).length,
    0,
  );
}

function indentationAt(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[\t ]*/.exec(text.slice(lineStart, Math.min(offset, lineStart + 200)))?.[0] ?? '';
}

function moduleCode(module: ModuleFact, edits: EditTable): string {
  const hashbang = module.text.startsWith('#!') ? module.text.indexOf('\n') : 0;
  const start = hashbang === -1 ? module.text.length : hashbang;
  const code = edits.apply(module, start, module.text.length, -1, 0);
  return normaliseSlice(code, 0, code.length, 0);
}

function restCode(facts: Facts, part: Part, names: ReadonlyById<string>, edits: EditTable): string {
  const module = facts.modules[part.fn.module] as ModuleFact;
  const cut = part.cut as AwaitCut;
  const text = module.text;
  const target = text.slice(cut.targetStart, cut.targetEnd);
  const parameter = cut.form === 'declaration' ? target : cut.form === 'assignment' ? 'value' : '';
  const end = part.fn.bodyEnd - 1;
  const indentation = indentationAt(text, cut.statementStart);
  const first = cut.form === 'assignment' ? `\n${indentation}${target} = value;` : '';
  // The `try`s that were open at the cut are opened again; their handlers stand in what follows.
  const tries = cut.tries.map((range) => `\n${indentationAt(text, range.start)}try {`).join('');
  const body = edits.apply(module, cut.statementEnd, end, part.fn.id, part.segment).replace(/\s+$/, '');
  const laidOut = normaliseSlice(`${tries}${first}${body}`, 0, tries.length + first.length + body.length, 0);
  const keyword = (part.fn.flags & FunctionFlag.generator) !== 0 ? 'async function*' : 'async function';
  const indented = laidOut.split('\n').length < 2000 ? indentLines(laidOut) : laidOut;
  return `${keyword} ${names.get(part.id)}(${parameter}) {\n${indented}\n}`;
}

/** Indents what may be indented; text with template literals over several lines stays as it is. */
function indentLines(code: string): string {
  if (code.includes('`')) return code;
  return code.replace(/^(?=.)/gm, '  ');
}

class EditTable {
  readonly #byModule = new Map<number, Edit[]>();
  readonly #facts: Facts;
  readonly #names: ReadonlyById<string>;

  constructor(facts: Facts, parts: Parts, names: ReadonlyById<string>) {
    this.#facts = facts;
    this.#names = names;
    this.#addCallbacks(parts);
    for (const part of parts.list) if (part.kind === 'rest') this.#addCut(part);
    for (const edits of this.#byModule.values())
      edits.sort((left, right) => left.start - right.start || right.end - left.end);
  }

  #add(module: number, edit: Edit): void {
    const edits = this.#byModule.get(module);
    if (edits === undefined) this.#byModule.set(module, [edit]);
    else edits.push(edit);
  }

  // --------------------------------------------------------------------------------------------- callbacks

  #addCallbacks(parts: Parts): void {
    const done = new Set<string>();
    const moved = new Set<FunctionId>();
    for (const part of parts.list) {
      for (const { point } of part.streams) {
        for (const callback of point?.callbacks ?? []) {
          const key = `${point?.op} ${callback.fn}`;
          if (point === null || done.has(key)) continue;
          done.add(key);
          const fn = this.#facts.fn(callback.fn);
          const id = this.#names.get(parts.byFunction.get(callback.fn) as PartId) as string;
          const arrow = point.kind === 'start' ? '>>' : '->';
          if (callback.inPlace)
            this.#add(fn.module, { start: fn.start, end: fn.end, text: `${arrow} ${id}`, fn: -1, cut: 0 });
          else this.#addByName(point.op, callback.argument, fn, id, arrow, moved);
        }
      }
    }
  }

  /** `app.get('/', handler)` with `function handler() {…}` at the top of the same module. */
  #addByName(op: number, argument: number, fn: FunctionFact, id: string, arrow: string, moved: Set<FunctionId>): void {
    const facts = this.#facts;
    const at = facts.callFirst.get(facts.d.get(op)) + argument;
    const owner = facts.fn(facts.owner.get(op));
    const module = facts.modules[owner.module] as ModuleFact;
    const start = facts.argStart.get(at);
    const end = facts.argEnd.get(at);
    const isDeclaration =
      (fn.flags & (FunctionFlag.expression | FunctionFlag.method | FunctionFlag.classConstructor)) === 0;
    const atTop = fn.parent >= 0 && facts.fn(fn.parent).parent === -1 && fn.module === owner.module;
    if (!isDeclaration || !atTop || module.text.slice(start, end) !== id || isExported(module.text, fn.start)) return;
    this.#add(owner.module, { start, end, text: `${arrow} ${id}`, fn: -1, cut: 0 });
    if (moved.has(fn.id)) return;
    moved.add(fn.id);
    this.#add(fn.module, { ...withLines(module.text, fn), text: '', fn: -1, cut: 0 });
  }

  // -------------------------------------------------------------------------------------------------- cuts

  #addCut(part: Part): void {
    const cut = part.cut as AwaitCut;
    const module = this.#facts.modules[part.fn.module] as ModuleFact;
    const name = this.#names.get(part.id) as string;
    const own = { fn: part.fn.id, cut: part.segment };
    const awaited = module.text.slice(cut.awaitStart, cut.argumentEnd);
    const takesValue = cut.form === 'declaration' || cut.form === 'assignment';
    const open = cut.tries.at(-1);
    const end = open === undefined ? part.fn.bodyEnd - 1 : open.blockEnd - 1;
    const start = takesValue ? cut.statementStart : cut.statementEnd;
    const call = `return (-> ${name})(${takesValue ? awaited : ''});`;
    const lead = takesValue ? '' : `\n${indentationAt(module.text, cut.statementStart)}`;
    this.#add(part.fn.module, { ...own, start, end, text: lead + call + trailing(module.text, end) });
    // Behind each `try` that was open nothing is left in this part either.
    for (let depth = cut.tries.length - 1; depth >= 0; depth--) {
      const from = (cut.tries[depth] as { end: number }).end;
      const outer = cut.tries[depth - 1];
      const to = outer === undefined ? part.fn.bodyEnd - 1 : outer.blockEnd - 1;
      this.#add(part.fn.module, { ...own, start: from, end: to, text: trailing(module.text, to) });
    }
  }

  /** The source from `start` to `end` with the outermost edits within it made. Cuts of function `fn` up to `segment` have
   *  been made by whoever asks. */
  apply(module: ModuleFact, start: number, end: number, fn: FunctionId, segment: number): string {
    const edits = this.#byModule.get(module.index) ?? [];
    const pieces: string[] = [];
    let at = start;
    for (let index = firstFrom(edits, start); index < edits.length; index++) {
      const edit = edits[index] as Edit;
      if (edit.start >= end) break;
      if (edit.start < at || edit.end > end || (edit.start === start && edit.end === end)) continue;
      if (edit.fn === fn && fn >= 0 && edit.cut <= segment) continue;
      pieces.push(module.text.slice(at, edit.start), edit.text);
      at = edit.end;
    }
    pieces.push(module.text.slice(at, end));
    return pieces.join('');
  }
}

/** Where a function is taken out its lines go with it; blank lines behind it only where others stand before it. */
function withLines(text: string, { start, end }: FunctionFact): { readonly start: number; readonly end: number } {
  const before = text.slice(Math.max(0, start - 200), start);
  const indentation = /(?:^|\n)([\t ]*)$/.exec(before)?.[1];
  if (indentation === undefined) return { start, end };
  const isBlankBefore = /(?:^|\n[\t ]*\r?\n)[\t ]*$/.test(before);
  const gap = isBlankBefore ? /[\t ]*\r?\n(?:[\t ]*\r?\n)*/y : /[\t ]*\r?\n/y;
  gap.lastIndex = end;
  return gap.test(text) ? { start: start - indentation.length, end: gap.lastIndex } : { start, end };
}

/** The line break and indentation before a closing brace. */
function trailing(text: string, brace: number): string {
  return /\s*$/.exec(text.slice(Math.max(0, brace - 200), brace))?.[0] ?? '';
}

function isExported(text: string, start: number): boolean {
  return /\bexport\s+(default\s+)?$/.test(text.slice(Math.max(0, start - 40), start));
}

function firstFrom(edits: readonly Edit[], start: number): number {
  let low = 0;
  let high = edits.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((edits[middle] as Edit).start < start) low = middle + 1;
    else high = middle;
  }
  return low;
}
