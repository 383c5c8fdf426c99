/**
 * Reads: a module of the app and the cuts in it.
 * Gives: its text for the home loop, and the map from there back to what was written.
 *
 * The text changes by insertions only, and no line of it moves:
 *
 *     'use strict'; fluxionLoop().define("reply", fluxion_reply);
 *     fs.readFile(file, fluxionLoop().post("reply", (err, data) => res.send(data), () => [res]));
 *     const user = await find(id);if (fluxionLoop().away("find")) return fluxionLoop().send("find", [res, user]);
 *
 * Behind its last line stand functions that make the code behind each cut from nothing but the variables of its
 * message, so that a loop which never ran the code before the cut can run it:
 *
 *     function fluxionLoop() { return globalThis[Symbol.for("fluxion.loop")]; }
 *     function fluxion_reply(res) { return (err, data) => res.send(data); }
 *     function fluxion_find(res, user) { return async () => { … } }
 *
 * All of them are function declarations: a cycle of imports may call a module's functions before its first line has run.
 */
import MagicString, { Bundle } from 'magic-string';
import type { Cut, FluxionId, ModuleSource } from '../program.js';
import { type CheckedCut, checkCuts, sentVariables } from './check-cuts.js';
import { FreshNames } from './fresh-names.js';

export interface HomeModule {
  readonly text: string;
  readonly map: string;
  /** Fluxions that begin at a cut of this module. */
  readonly cuts: readonly FluxionId[];
  readonly inserts: readonly Insert[];
}

/** Text put in at a place of the original: line and column, both from 1, and how many columns it is long. */
export type Insert = readonly [line: number, column: number, length: number];

export interface MapPlaces {
  /** Name of the emitted file; the map stands beside it. */
  readonly file: string;
  /** Where the original is, seen from there. */
  readonly source: string;
}

export function emitHomeModule(source: ModuleSource, cuts: readonly Cut[], places: MapPlaces): HomeModule {
  const module = nameCuts(source, cuts);
  const bundle = new Bundle({ separator: '\n' });
  const { text, inserts } = inPlace(module);
  bundle.addSource({ filename: places.source, content: text });
  if (module.cuts.length > 0)
    bundle.addSource(new MagicString(`function ${module.loop}() { return ${module.registry}; }`));
  for (const each of module.cuts) bundle.addSource({ filename: places.source, content: factory(module, each) });
  bundle.append(`\n//# sourceMappingURL=${encodeURIComponent(places.file)}.map\n`);
  const map = bundle.generateMap({ file: places.file, hires: 'boundary', includeContent: false });
  const { version, file, sources, names, mappings } = map;
  const mapText = JSON.stringify({ version, file, sources: sources.map(encodePath), names, mappings });
  const dests = module.cuts.map(({ cut }) => cut.dest);
  return { text: bundle.toString(), map: `${mapText}\n`, cuts: dests, inserts: placed(inserts, source.text) };
}

interface NamedModule {
  readonly source: ModuleSource;
  readonly cuts: readonly NamedCut[];
  /** The function that gives the registry, and the expression that it evaluates. */
  readonly loop: string;
  readonly registry: string;
  readonly vars: string;
}

function nameCuts(source: ModuleSource, all: readonly Cut[]): NamedModule {
  const { cuts, topNames } = checkCuts(source, all);
  const names = new FreshNames(source.text);
  const loop = names.give('fluxionLoop');
  const vars = names.give('fluxionVars');
  const named = cuts.map((each) => ({ ...each, factory: names.give(`fluxion_${each.cut.dest}`) }));
  return { source, cuts: named, loop, vars, registry: registry(topNames) };
}

interface NamedCut extends CheckedCut {
  readonly factory: string;
}

function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** A module may have a `Symbol` of its own; the way around it needs no name at all. */
function registry(topNames: ReadonlySet<string>): string {
  const plain = `globalThis[Symbol.for("fluxion.loop")]`;
  const shadowed = topNames.has('globalThis') || topNames.has('Symbol');
  return shadowed ? `(() => {}).constructor('return ${plain}')()` : plain;
}

// --- in place ------------------------------------------------------------------------------------------------------

interface Inserted {
  readonly offset: number;
  readonly text: string;
  /** Belongs to what ends at the offset, or to what begins there. */
  readonly side: 'left' | 'right';
}

function inPlace(module: NamedModule): { readonly text: MagicString; readonly inserts: readonly Inserted[] } {
  const { source, cuts, loop } = module;
  const text = new MagicString(source.text);
  if (cuts.length === 0) return { text, inserts: [] };
  const defines = cuts.map(({ cut, factory }) => `${loop}().define(${quote(cut.dest)}, ${factory});`).join(' ');
  const { offset, before } = preludePlace(source);
  const prelude: Inserted = { offset, text: `${before}${defines} `, side: 'right' };
  const inserts = [prelude, ...cuts.flatMap(({ cut }) => cutInserts(module, cut))];
  for (const each of inserts) insert(text, each);
  return { text, inserts };
}

function insert(into: MagicString, { offset, text, side }: Inserted): void {
  if (side === 'right') into.appendRight(offset, text);
  else into.appendLeft(offset, text);
}

function placed(inserts: readonly Inserted[], source: string): readonly Insert[] {
  if (inserts.length === 0) return [];
  const ends = [...source.matchAll(/\r\n|[\r\n\u2028\u2029]/g)].map((match) => match.index + match[0].length);
  return [...inserts]
    .sort((a, b) => a.offset - b.offset)
    .map(({ offset, text }) => {
      const line = ends.filter((end) => end <= offset).length;
      return [line + 1, offset - (ends[line - 1] ?? 0) + 1, text.length] as const;
    });
}

/** Behind hashbang and directives. A directive may end without a semicolon; a hashbang takes its whole line. */
function preludePlace({ text, codeStart }: ModuleSource): { readonly offset: number; readonly before: string } {
  if (text.startsWith('#!') && !text.slice(0, codeStart).includes('\n')) {
    return { offset: Math.min(codeStart + 1, text.length), before: '' };
  }
  const open = codeStart > 0 && text[codeStart - 1] !== ';';
  return { offset: codeStart, before: open ? '; ' : codeStart > 0 ? ' ' : '' };
}

function cutInserts({ source, loop }: NamedModule, cut: Cut): readonly Inserted[] {
  const vars = `[${sentVariables(cut).join(', ')}]`;
  const id = quote(cut.dest);
  if (cut.kind === 'callback') {
    return [
      { offset: cut.start, text: `${loop}().post(${id}, `, side: 'right' },
      { offset: cut.end, text: `, () => ${vars})`, side: 'left' },
    ];
  }
  // The statement before may have ended without a semicolon.
  const end = source.text[cut.start - 1] === ';' ? '' : ';';
  const leave = `${end} if (${loop}().away(${id})) return ${loop}().send(${id}, ${vars});`;
  return [{ offset: cut.start, text: leave, side: 'left' }];
}

function quote(id: FluxionId): string {
  return JSON.stringify(id);
}

// --- copies --------------------------------------------------------------------------------------------------------

function factory(module: NamedModule, { cut, strict, factory: name }: NamedCut): MagicString {
  const copy = copyOf(module, cut);
  const params = sentVariables(cut).join(', ');
  const directive = strict ? ` 'use strict';` : '';
  if (cut.kind === 'callback') {
    return copy.prepend(`function ${name}(${params}) {${directive} return `).append('; }');
  }
  // The variables are parameters of the very function that holds the code: it may declare them again (`var`).
  const { vars } = module;
  const before = `${directive} const ${vars} = arguments; return () => (async (${params}) => {${'try {'.repeat(cut.openTries)}`;
  return copy.prepend(`function ${name}() {${before}`).append(`})(...${vars}); }`);
}

/** The cuts within the copied code are cuts in the copy too. */
function copyOf(module: NamedModule, { start, end }: Cut): MagicString {
  const text = new MagicString(module.source.text);
  for (const { cut } of module.cuts) {
    if (cut.start > start && cut.end <= end) for (const each of cutInserts(module, cut)) insert(text, each);
  }
  return text.snip(start, end);
}
