/**
 * Reads:   the entry file and whatever it loads, from disk; the only pass that reads files.
 * Gives:   facts of all app modules, with the links between them in place.
 * Reports: analyzer/module-not-found, analyzer/require-unresolved, analyzer/module-skipped;
 *          throws BadInput where the original program could not start either.
 */
import path from 'node:path';
import { BadInput } from '../diagnostics/bad-input.js';
import {
  dynamicRequire,
  entryNotScript,
  entryUnreadable,
  invalidJson,
  moduleNotFound,
  moduleSkipped,
  moduleUnreadable,
  syntaxError,
  tooDeep,
} from '../diagnostics/catalogue.js';
import type { Diagnostic, Report } from '../diagnostics/types.js';
import { ANY_PROPERTY, Facts, type ModuleFact, NOTHING, Op, type ValueId } from './facts.js';
import { findLentPackages } from './find-lent-packages.js';
import { listCandidates } from './list-candidates.js';
import type { DynamicLoad, ExportAll, LoadRequest, ShownExport } from './lowering/context.js';
import { type LoweredModule, LoweringScratch, lowerModule } from './lowering/index.js';
import { ModuleTexts, type ReadText } from './module-texts.js';
import { NeedsThread } from './needs-thread.js';
import { ParseFailure, type PieceSizes, parse } from './parse.js';
import { PackageReader, packageModuleId, packageRootOf, type WantedPackages } from './read-packages.js';
import { createResolver, type ModuleKind, type Resolution, type Resolver } from './resolve-specifier.js';

/** A value that comes from outside the app's own modules. */
export interface External {
  readonly value: ValueId;
  /** `express`, or a core module's name without `node:` */
  readonly name: string;
  readonly subpath: string;
  readonly core: boolean;
  readonly installed: boolean;
  /** The named export that the value is, null for the whole module. */
  readonly binding: string | null;
  readonly mode: 'require' | 'import';
}

export interface Unloaded {
  readonly value: ValueId;
  readonly module: number;
  readonly start: number;
  readonly end: number;
  readonly diagnostic: Diagnostic;
}

export interface ModuleGraph {
  readonly facts: Facts;
  readonly externals: readonly External[];
  /** `require`s and imports whose result is unknown. */
  readonly unloaded: readonly Unloaded[];
  /** Imported bindings by the variable that they are another name of. */
  readonly aliases: ReadonlyMap<ValueId, ValueId>;
  /** Modules of packages that code which is not read may use as well. */
  readonly lent: readonly ModuleFact[];
  /** Packages that any module asks for, and why some are not read that were to be. */
  readonly asked: ReadonlyMap<string, AskedPackage>;
  readonly refusals: ReadonlyMap<string, string>;
  /** Folder that module ids are relative to. */
  readonly root: string;
  /** Folders of which any module may be loaded: one more file there makes another program. */
  readonly folders: readonly string[];
}

export interface AskedPackage {
  readonly installed: boolean;
  /** The file that is asked for; null where there is none. */
  readonly path: string | null;
  /** The first that asks for it; null: a module of the app. */
  readonly by: string | null;
}

export interface LoadOptions {
  /** Absolute and real. */
  readonly entry: string;
  readonly cwd: string;
  /** Texts that stand for what is on disk, which need not be there. By absolute, real path. */
  readonly given?: ReadonlyMap<string, string>;
  /** Packages that are read where their code allows it; without it none is. */
  readonly packages?: WantedPackages;
  /** Whole texts are wanted in the end; without it they are read again where they are asked for. */
  readonly keepsTexts?: boolean;
  /** Other than usual. */
  readonly pieces?: PieceSizes;
  /** Throws `NeedsThread` where the stack ends. */
  readonly onMain?: boolean;
}

export function loadModules(options: LoadOptions, report: Report): ModuleGraph {
  const loader = new Loader(options, report);
  loader.loadAll();
  loader.settle();
  loader.link();
  return loader.graph();
}

interface Pending {
  readonly file: string;
  /** A failure here would have kept the original from starting. */
  readonly certain: boolean;
  readonly asked: Asked | null;
  /** The package that it belongs to; null for the app's own. */
  readonly owner: string | null;
}

interface Asked {
  readonly module: LoweredModule;
  readonly load: LoadRequest | ExportAll;
}

/** Many bytes that stand in no text; a stray one in a script is an error with a place. */
function isBinary(text: string): boolean {
  const start = text.slice(0, 4096);
  const strange = start.match(/[\0\uFFFD]/g)?.length ?? 0;
  return strange > 16 && strange > start.length / 20;
}

class Loader {
  readonly #facts = new Facts();
  readonly #resolver: Resolver;
  readonly #texts: ModuleTexts;
  readonly #scratch = new LoweringScratch();
  readonly #modules = new Map<string, LoweredModule | null>();
  readonly #order: LoweredModule[] = [];
  readonly #externals: External[] = [];
  /** What JSON files hold. */
  readonly #data = new Map<string, ValueId>();
  readonly #unloaded: Unloaded[] = [];
  readonly #aliases = new Map<ValueId, ValueId>();
  /** Namespaces of ES modules that somebody has as an object: `import * as m`, `import()`. */
  readonly #namespaces = new Set<ValueId>();
  readonly #folders = new Set<string>();
  readonly #candidatesOf = new Map<DynamicLoad, readonly string[]>();
  readonly #report: Report;
  readonly #cwd: string;
  readonly #entry: string;
  readonly #onMain: boolean;
  readonly #pieces: PieceSizes | undefined;
  readonly #packages: PackageReader | null;
  readonly #asked = new Map<string, AskedPackage>();
  /** Folders of packages without a model that are not read. */
  readonly #unread = new Set<string>();

  constructor(options: LoadOptions, report: Report) {
    this.#report = report;
    this.#cwd = options.cwd;
    this.#entry = options.entry;
    this.#onMain = options.onMain ?? false;
    this.#pieces = options.pieces;
    const given = options.given ?? new Map<string, string>();
    this.#texts = new ModuleTexts(options.keepsTexts ?? true, given);
    this.#resolver = createResolver(given);
    this.#packages = options.packages === undefined ? null : new PackageReader(this.#resolver, options.packages);
  }

  settle(): void {
    this.#facts.settleEnvironment();
  }

  loadAll(): void {
    const stack: Pending[] = [{ file: this.#entry, certain: true, asked: null, owner: null }];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      if (this.#modules.has(next.file)) continue;
      const module = this.#load(next);
      this.#modules.set(next.file, module);
      if (module === null) continue;
      this.#order.push(module);
      // Last first, so that the stack gives modules in the order in which the program asks for them.
      stack.push(...this.#wanted(module, next.certain).reverse());
    }
  }

  #wanted(module: LoweredModule, certain: boolean): Pending[] {
    const wanted: Pending[] = [];
    for (const load of [...module.loads, ...module.exportAlls]) {
      const resolution = this.#resolve(module, load);
      this.#noteAsked(resolution, module.fact.owner);
      const file = this.#fileOf(module, resolution);
      if (file === null) continue;
      const owner = resolution.kind === 'package' ? resolution.name : null;
      const sure = certain && load.certain && owner === null;
      wanted.push({ file, certain: sure, asked: { module, load }, owner });
    }
    for (const load of module.dynamicLoads) {
      for (const file of this.#candidates(module, load))
        wanted.push({ file, certain: false, asked: { module, load: asRequest(load, file) }, owner: null });
    }
    return wanted;
  }

  /** Files that a path which is put together at run time can mean. */
  #candidates(module: LoweredModule, load: DynamicLoad): readonly string[] {
    let known = this.#candidatesOf.get(load);
    if (known === undefined) {
      const { pattern, mode } = load;
      const found = pattern === null ? null : listCandidates(pattern, module.fact.file, mode, this.#resolver);
      if (found !== null) this.#folders.add(found.folder);
      this.#candidatesOf.set(load, (known = found?.files ?? []));
    }
    return known;
  }

  #noteAsked(resolution: Resolution, by: string | null): void {
    if (resolution.kind !== 'package' || resolution.name === by) return;
    const { name, installed } = resolution;
    const known = this.#asked.get(name);
    if (known !== undefined && (known.by === null || by !== null)) return;
    this.#asked.set(name, { installed, by, path: resolution.installed ? resolution.path : null });
  }

  #resolve(module: LoweredModule, load: LoadRequest | ExportAll): Resolution {
    return this.#resolver.resolve(load.specifier, module.fact.file, load.mode);
  }

  /** The file of a module that is read. */
  #fileOf(module: LoweredModule, resolution: Resolution): string | null {
    if (resolution.kind === 'file') return resolution.path;
    if (resolution.kind !== 'package' || !resolution.installed || this.#packages === null) return null;
    return this.#packages.reads(resolution, module.fact.owner === null) ? resolution.path : null;
  }

  #moduleOf(module: LoweredModule, resolution: Resolution): LoweredModule | null | undefined {
    const file = this.#fileOf(module, resolution);
    return file === null ? undefined : this.#modules.get(file);
  }

  /** The module, or null where it cannot be analysed and is taken as unknown. */
  #load(pending: Pending): LoweredModule | null {
    const { file } = pending;
    const kind = this.#resolver.moduleKind(file);
    if (pending.asked === null) this.#checkEntry(file, kind);
    if (kind === 'json') return this.#checkJson(pending);
    if (kind === 'other') return this.#skip(pending, 'it is not JavaScript');
    const read = this.#read(pending);
    if (read === null) return null;
    try {
      const parsed = parse(read.text, kind, this.#pieces);
      return lowerModule(this.#facts, this.#scratch, { file, ...read, owner: pending.owner }, parsed);
    } catch (error) {
      return this.#failed(pending, read.text, error);
    }
  }

  #checkEntry(file: string, kind: ModuleKind): void {
    if (kind !== 'json' && kind !== 'other') return;
    const what = kind === 'json' ? 'JSON' : /ts$/.test(file) ? 'TypeScript' : 'compiled code';
    throw new BadInput(entryNotScript(this.#shown(file), what));
  }

  /** Data, and nothing to analyse; but a file that does not parse keeps the original from starting. */
  #checkJson(pending: Pending): null {
    const text = this.#read(pending)?.text ?? null;
    if (text === null) return null;
    try {
      JSON.parse(text);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      // The place is all that the words of every Node version have in common; without one the end came too early.
      const offset = Number(/position (\d+)/.exec(message)?.[1] ?? text.length);
      const diagnostic = invalidJson(this.#shown(pending.file), text, offset);
      if (pending.certain) throw new BadInput(diagnostic);
      if (pending.owner === null) this.#report({ ...diagnostic, severity: 'warning' });
    }
    return null;
  }

  #failed(pending: Pending, text: string, error: unknown): null {
    const isOutOfStack = error instanceof RangeError && /call stack/i.test(error.message);
    const isTooDeep = isOutOfStack || (error instanceof ParseFailure && error.tooDeep);
    if (isTooDeep && this.#onMain) throw new NeedsThread(`${pending.file} is nested deeply`);
    if (pending.owner !== null && error instanceof ParseFailure) return null;
    if (isTooDeep) throw new BadInput(tooDeep(this.#shown(pending.file)));
    if (!(error instanceof ParseFailure)) throw error;
    if (pending.asked === null && isBinary(text))
      throw new BadInput(entryNotScript(this.#shown(pending.file), 'no text'));
    const diagnostic = syntaxError(this.#shown(pending.file), text, error.offset, error.message);
    if (pending.certain) throw new BadInput(diagnostic);
    return this.#skip(pending, `it cannot be parsed (${error.message})`);
  }

  #read(pending: Pending): ReadText | null {
    try {
      return this.#texts.read(pending.file);
    } catch (error) {
      const reason = error instanceof Error ? error.message.replace(/, \w+ '.*$/, '') : String(error);
      if (pending.asked === null) throw new BadInput(entryUnreadable(this.#shown(pending.file), reason));
      const { load } = pending.asked;
      if (pending.certain)
        throw new BadInput(moduleUnreadable(this.#span(pending.asked.module, load), load.specifier, reason));
      return this.#skip(pending, reason);
    }
  }

  #skip(pending: Pending, reason: string): null {
    const { asked } = pending;
    if (asked === null) throw new BadInput(entryUnreadable(this.#shown(pending.file), reason));
    if (pending.owner !== null) return null;
    this.#report(moduleSkipped(this.#span(asked.module, asked.load), asked.load.specifier, reason));
    return null;
  }

  /** Files as users write them: relative to where they are, if they are below it. */
  #shown(file: string): string {
    const relative = path.relative(this.#cwd, file);
    return relative.startsWith('..') ? file : relative;
  }

  // ------------------------------------------------------------------------------------------------ links

  link(): void {
    for (const module of this.#order) {
      for (const load of module.loads) this.#linkLoad(module, load);
      for (const load of module.dynamicLoads) this.#linkDynamic(module, load);
    }
    // A second round, as these bring names from modules that may stand later in the order.
    for (const module of this.#order) for (const all of module.exportAlls) this.#linkExportAll(module, all);
    this.#linkLiveBindings();
    this.#linkLateLoads();
  }

  /** What a namespace has is the module's variables as they are now: who binds one of them anew changes each namespace that shows it. */
  #linkLiveBindings(): void {
    const shownAs = new Map<ValueId, ShownExport[]>();
    // Where names are imported one by one nobody has the namespace.
    const namesOf = (module: LoweredModule): readonly ShownExport[] =>
      module.fact.kind === 'module' && !this.#namespaces.has(module.fact.exports)
        ? []
        : [...module.shown, ...module.exportAlls.flatMap((all) => this.#shownBehind(module, all, new Set()))];
    for (const each of this.#order.flatMap(namesOf)) {
      const variable = this.#canonical(each.value);
      const known = shownAs.get(variable);
      if (known === undefined) shownAs.set(variable, [each]);
      else known.push(each);
    }
    const { kind, a, owner, loop, position } = this.#facts;
    const { length } = kind;
    for (let op = 0; shownAs.size > 0 && op < length; op++) {
      if (kind.get(op) !== Op.write) continue;
      const variable = a.get(op);
      for (const { namespace, name } of shownAs.get(variable) ?? []) {
        const atom = this.#facts.atom(name);
        const place = [position.get(op), owner.get(op), this.#facts.segmentOf(op), loop.get(op)] as const;
        this.#facts.pushOp(Op.store, namespace, variable, atom, 0, ...place);
      }
    }
  }

  #canonical(value: ValueId): ValueId {
    const seen = new Set<ValueId>();
    let variable = value;
    for (
      let next = this.#aliases.get(variable);
      next !== undefined && !seen.has(next);
      next = this.#aliases.get(variable)
    ) {
      seen.add(next);
      variable = next;
    }
    return variable;
  }

  /** What `export * from …` shows in the module that says so. */
  #shownBehind(module: LoweredModule, all: ExportAll, seen: Set<LoweredModule>): ShownExport[] {
    const source = this.#moduleOf(module, this.#resolve(module, all));
    if (source == null || source.fact.kind === 'commonjs' || seen.has(source)) return [];
    seen.add(source);
    const namespace = module.fact.exports;
    const own = [...source.exportBindings].map(([name, value]) => ({ namespace, name, value }));
    const others = source.exportAlls.flatMap((each) => this.#shownBehind(source, each, seen));
    return [...own, ...others.map((each) => ({ ...each, namespace }))];
  }

  // ------------------------------------------------------------------------------- what start-up may not come by

  #linkLateLoads(): void {
    const there = this.#loadedBy(this.#order.slice(0, 1), new Set());
    for (const module of this.#order) {
      // What a module throws that start-up loads for certain ends the program: nobody has it (`if (error) throw error`).
      if (module.uncaught !== NOTHING && !there.has(module))
        this.#op(module, Op.copy, module.uncaught, this.#facts.thrown, 0, 0);
      for (const load of module.loads) {
        if (load.late < 0) continue;
        const resolution = this.#resolve(module, load);
        const target = this.#moduleOf(module, resolution);
        if (target != null) {
          const tops = [...this.#loadedBy([target], there)].map(({ fact }) => fact.top);
          this.#facts.lateLoads[load.late] = tops;
        } else if (resolution.kind !== 'missing' || module.fact.owner !== null) {
          // Of packages models tell what they do when they are loaded, and data does nothing.
          this.#facts.lateLoads[load.late] = [];
        }
      }
    }
  }

  /** These and what they load for certain, but for what is there already. */
  #loadedBy(roots: readonly LoweredModule[], there: ReadonlySet<LoweredModule>): ReadonlySet<LoweredModule> {
    const found = new Set(roots.filter((module) => !there.has(module)));
    for (const module of found) {
      for (const load of [...module.loads, ...module.exportAlls]) {
        const resolution = load.certain ? this.#resolve(module, load) : null;
        const target = resolution === null ? undefined : this.#moduleOf(module, resolution);
        if (target != null && !there.has(target)) found.add(target);
      }
    }
    return found;
  }

  #linkLoad(module: LoweredModule, load: LoadRequest): void {
    const resolution = this.#resolve(module, load);
    const file = this.#fileOf(module, resolution);
    const target = this.#moduleOf(module, resolution);
    if (target != null) {
      if (load.value !== NOTHING) this.#linkModule(module, load, target);
    } else if (resolution.kind === 'missing') {
      const span = this.#span(module, load);
      this.#unknown(module, load, moduleNotFound(span, load.specifier, resolution.reason));
    } else if (resolution.kind === 'file' || (file !== null && this.#resolver.moduleKind(file) === 'json')) {
      this.#linkUnanalysed(module, load, resolution.kind === 'core' ? '' : (file ?? ''));
    } else {
      this.#linkExternal(load, resolution);
    }
  }

  #span(module: LoweredModule, at: { start: number; end: number }) {
    const { fact } = module;
    return { file: this.#shown(fact.file), text: fact.text, start: at.start, end: at.end };
  }

  #linkExternal(load: LoadRequest, resolution: Extract<Resolution, { kind: 'core' | 'package' }>): void {
    if (resolution.kind === 'package' && resolution.installed && this.#packages?.isUnknown(resolution.name) === true)
      this.#unread.add(packageRootOf(resolution.path));
    if (load.value === NOTHING) return;
    const core = resolution.kind === 'core';
    this.#externals.push({
      value: load.value,
      name: resolution.name,
      subpath: core ? '' : resolution.subpath,
      core,
      installed: core || resolution.installed,
      binding: load.binding,
      mode: load.mode,
    });
  }

  #linkUnanalysed(module: LoweredModule, load: LoadRequest, file: string): void {
    if (load.value === NOTHING) return;
    if (this.#resolver.moduleKind(file) === 'json') {
      this.#copy(module, this.#dataOf(module, load, file), load.value);
    } else {
      this.#unloaded.push({
        value: load.value,
        module: module.fact.index,
        start: load.start,
        end: load.end,
        diagnostic: moduleSkipped(this.#span(module, load), load.specifier, 'it is not analysed'),
      });
    }
  }

  /** One object for all who load the file; whatever is in it is taken for the whole. */
  #dataOf(module: LoweredModule, load: LoadRequest, file: string): ValueId {
    let value = this.#data.get(file);
    if (value === undefined) {
      this.#data.set(file, (value = this.#facts.newValue()));
      this.#facts.seeds.push({ kind: 'object', value, type: 'Object', start: load.start, fn: module.fact.top });
      this.#op(module, Op.store, value, value, ANY_PROPERTY, 1);
    }
    return value;
  }

  #unknown(module: LoweredModule, load: LoadRequest, diagnostic: Diagnostic): void {
    if (module.fact.owner === null) this.#report(diagnostic);
    this.#unloaded.push({ value: load.value, module: module.fact.index, start: load.start, end: load.end, diagnostic });
  }

  /** One of the files of a folder is any of them; only where there is none nothing is known. */
  #linkDynamic(module: LoweredModule, load: DynamicLoad): void {
    const candidates = this.#candidates(module, load);
    for (const file of candidates) {
      const target = this.#modules.get(file);
      if (target == null) this.#linkUnanalysed(module, asRequest(load, file), file);
      else this.#linkModule(module, asRequest(load, file), target);
    }
    if (candidates.length > 0) return;
    const diagnostic = dynamicRequire(this.#span(module, load));
    if (module.fact.owner === null) this.#report(diagnostic);
    this.#unloaded.push({ ...load, module: module.fact.index, diagnostic });
  }

  #linkModule(module: LoweredModule, load: LoadRequest, target: LoweredModule): void {
    if (target.fact.kind === 'commonjs') return this.#linkCommonJs(module, load, target);
    if (load.binding === null) {
      this.#namespaces.add(target.fact.exports);
      return this.#copy(module, target.fact.exports, load.value);
    }
    const exported = this.#exported(target, load.binding, new Set());
    if (exported === null) return;
    this.#copy(module, exported, load.value);
    this.#aliases.set(load.value, exported);
  }

  #linkCommonJs(module: LoweredModule, load: LoadRequest, target: LoweredModule): void {
    const exports = this.#property(module, target.fact.module, 'exports');
    if (load.mode === 'require' || load.binding === 'default') return this.#copy(module, exports, load.value);
    if (load.binding !== null) return this.#copy(module, this.#property(module, exports, load.binding), load.value);
    const namespace = this.#facts.newValue();
    this.#facts.seeds.push({
      kind: 'object',
      value: namespace,
      type: 'Object',
      start: load.start,
      fn: module.fact.top,
    });
    this.#op(module, Op.copyProperties, exports, namespace, 0, 1);
    this.#op(module, Op.store, namespace, exports, this.#facts.atom('default'), 1);
    this.#copy(module, namespace, load.value);
  }

  /** The value behind an export of an ES module, through re-exports. */
  #exported(target: LoweredModule, name: string, seen: Set<LoweredModule>): ValueId | null {
    if (seen.has(target)) return null;
    seen.add(target);
    const own = target.exportBindings.get(name);
    if (own !== undefined) return this.#aliases.get(own) ?? own;
    for (const all of target.exportAlls) {
      const source = this.#moduleOf(target, this.#resolve(target, all));
      if (source == null) continue;
      if (source.fact.kind === 'commonjs')
        return this.#property(target, this.#property(target, source.fact.module, 'exports'), name);
      const found = name === 'default' ? null : this.#exported(source, name, seen);
      if (found !== null) return found;
    }
    return null;
  }

  #linkExportAll(module: LoweredModule, all: ExportAll): void {
    const source = this.#moduleOf(module, this.#resolve(module, all));
    if (source == null) return;
    const from =
      source.fact.kind === 'module' ? source.fact.exports : this.#property(module, source.fact.module, 'exports');
    this.#op(module, Op.copyProperties, from, module.fact.exports, 0, 1);
  }

  #op(module: LoweredModule, kind: number, a: ValueId, b: ValueId, c: number, d: number): void {
    this.#facts.pushOp(kind, a, b, c, d, 0, module.fact.top, 0, 0);
  }

  #copy(module: LoweredModule, from: ValueId, to: ValueId): void {
    this.#op(module, Op.copy, from, to, 0, 0);
  }

  #property(module: LoweredModule, base: ValueId, name: string): ValueId {
    const value = this.#facts.newValue();
    this.#op(module, Op.load, base, value, this.#facts.atom(name), 0);
    return value;
  }

  #findLent(facts: readonly ModuleFact[]): readonly ModuleFact[] {
    const lent = findLentPackages(this.#unread, this.#resolver);
    return facts.filter(({ owner, file }) => owner !== null && lent.has(packageRootOf(file)));
  }

  graph(): ModuleGraph {
    this.#facts.forgetWords();
    const facts = this.#order.map(({ fact }) => fact);
    const root = commonFolder(facts.filter(({ owner }) => owner === null).map(({ file }) => file));
    const ids = new Set<string>();
    for (const fact of facts) {
      fact.id =
        fact.owner === null
          ? path.relative(root, fact.file).split(path.sep).join('/')
          : packageModuleId(fact.file, root, (id) => ids.has(id));
      ids.add(fact.id);
    }
    return {
      facts: this.#facts,
      externals: this.#externals,
      unloaded: this.#unloaded,
      aliases: this.#aliases,
      lent: this.#facts.hasPackages ? this.#findLent(facts) : [],
      asked: this.#asked,
      refusals: this.#packages?.refusals ?? new Map(),
      root,
      folders: [...this.#folders],
    };
  }
}

function asRequest({ value, mode, start, end, late }: DynamicLoad, specifier: string): LoadRequest {
  return { value, specifier, mode, binding: null, start, end, certain: false, late };
}

/** The innermost folder that all modules are in: an entry `bin/www` that loads `../app` has both below it. */
function commonFolder(files: readonly string[]): string {
  let folder = path.dirname(files[0] ?? '');
  for (const file of files) {
    while (!file.startsWith(folder === path.sep ? folder : folder + path.sep)) folder = path.dirname(folder);
  }
  return folder;
}
