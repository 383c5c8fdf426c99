/**
 * The phases in order, nothing else: source files in, a program of fluxions out.
 */
import { findInstalled } from './analyzer/find-installed.js';
import { findLost } from './analyzer/find-lost.js';
import { findWantedPackages } from './analyzer/find-wanted-packages.js';
import { analyze, type Pipeline } from './analyzer/index.js';
import { listPackages, type PackageUse } from './analyzer/list-packages.js';
import { loadConfig } from './analyzer/load-config.js';
import { type LoadOptions, loadModules, type ModuleGraph } from './analyzer/load-modules.js';
import { Models } from './analyzer/models.js';
import { SourceChanged } from './analyzer/module-texts.js';
import type { LiveInput } from './analyzer/origins/live-copies.js';
import type { PieceSizes } from './analyzer/parse.js';
import { resolveEntry } from './analyzer/resolve-entry.js';
import type { Precision } from './analyzer/trace-origins.js';
import { invariant } from './diagnostics/invariant.js';
import type { Diagnostic } from './diagnostics/types.js';
import type { LiveFacts } from './flx/live-facts.js';
import type { FluxionProgram, LinkFacts, ShownProgram } from './flx/program.js';
import { verifyProgram } from './flx/verify.js';
import { builtins, byMethodName, coreModels, globals, packageModels } from './models/index.js';
import { assumeLate, type Draft, type Drafted, draftProgram, verifyLive, writeProgram } from './pipeliner/index.js';

export interface CompileOptions {
  /** The file that `node` would be given. */
  readonly entry: string;
  readonly cwd: string;
  /** A configuration file other than the fluxion.config.js beside package.json. */
  readonly config?: string;
  /** False where only the structure is wanted (JSON, graphs without sources, the explanation): code is then left empty, and so
   *  are the texts of modules where the program is only shown. */
  readonly code?: boolean;
  /** Texts of modules that stand for what is on disk, which need not be there. By absolute, real path. */
  readonly given?: ReadonlyMap<string, string>;
  /** What the running app says of itself. */
  readonly live?: LiveFacts;
  /** Throws `NothingProven` where all of the program would stay home, be it as it may: to find out how it is costs most. */
  readonly needsProof?: boolean;
  /** This is the main thread, and there could be another: throws `NeedsThread` where it takes that. */
  readonly onMain?: boolean;
  /** Which modules are parsed in pieces; other than usual. */
  readonly pieces?: PieceSizes;
  readonly engine?: Engine | undefined;
}

/** What it runs on, where somebody sees to it. */
export interface Engine {
  /** All modules have been read; how many ops they have. */
  loaded(ops: number): void;
  /** A phase has just let go of much: collects garbage. */
  tidy(): void;
}

/** The program is more than can be told apart. */
export class NothingProven extends Error {
  constructor(
    readonly files: readonly string[],
    /** Whose lists of files had a say, and files for whose being there it was looked. */
    readonly folders: readonly string[],
  ) {
    super('nothing could be proven of the program');
  }
}

export interface Compilation<Program extends ShownProgram = FluxionProgram> {
  readonly program: Program;
  readonly diagnostics: readonly Diagnostic[];
  /** Folders whose lists of files had a say, and files for whose being there it was looked. */
  readonly folders: readonly string[];
  /** By name. */
  readonly packages: readonly PackageUse[];
}

export async function compile(options: CompileOptions): Promise<Compilation> {
  const { link, ...compiled } = await compileFor(options, true, true);
  invariant(link !== null, 'what is run has facts for the linker');
  return { ...compiled, program: { ...compiled.program, link } };
}

/** The same for who only shows the program: what the linker asks for is not looked for. */
export async function compileToShow(options: CompileOptions): Promise<Compilation<ShownProgram>> {
  const { link, ...compiled } = await compileStructure(options);
  invariant(link === null, 'what is shown has no facts for the linker');
  return compiled;
}

/** Where no code is wanted, texts are not held; if a file is written meanwhile, all is done once more, and they are. */
async function compileStructure(options: CompileOptions): Promise<CompiledFor> {
  try {
    return await compileFor(options, false, options.code ?? true);
  } catch (error) {
    if (error instanceof SourceChanged) return compileFor(options, false, true);
    throw error;
  }
}

interface CompiledFor extends Compilation<ShownProgram> {
  readonly link: LinkFacts | null;
}

async function compileFor(options: CompileOptions, withLink: boolean, keepsTexts: boolean): Promise<CompiledFor> {
  const { cwd, given = new Map<string, string>(), live = null, onMain = false, pieces } = options;
  const entry = given.has(options.entry) ? options.entry : resolveEntry(options.entry, cwd);
  const config = await loadConfig({
    cwd,
    entry,
    onMain,
    ...(options.config === undefined ? {} : { explicit: options.config }),
  });

  const diagnostics: Diagnostic[] = [];
  const report = (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic);
  const sources = { entry, cwd, given, keepsTexts, onMain, ...(pieces === undefined ? {} : { pieces }) };
  const withCode = options.code ?? true;
  const graph = loadModules(sources, report);
  options.engine?.loaded(graph.facts.kind.length);
  const packages = [builtins, ...coreModels, ...packageModels, ...config.models];
  const installed = findInstalled(graph.asked, entry);
  const models = new Models({ packages, globals, byMethodName, isInstalled: installed.has });
  const tidy = (): void => void (graph.facts.kind.length < manyOps || options.engine?.tidy());
  const wants = { withCode, withLink, live, tidy };
  const first = decide(graph, models, { ...wants, needsProof: options.needsProof ?? false });
  if (first === null) {
    const files = graph.facts.modules.map(({ file }) => file);
    throw new NothingProven(files, [...graph.folders, ...installed.places]);
  }
  // No more than this is kept of the first graph while there is a second.
  const { asked, folders } = graph;
  const second = decideWithPackages(sources, first.wanted, models, wants);
  // Written when the analysis is over and gone: that takes as much room as the program.
  const { draft, link } = second.drawn ?? first;
  tidy();
  const program = writeProgram(draft, withLink || withCode);
  verifyProgram(program);
  const { wanted } = first;
  const known = { isModelled: models.isModelled.bind(models), own: config.models, file: config.file };
  const uses = listPackages({ asked, whole: second.graph, wanted, unread: second.unread }, known);
  return { program, link, diagnostics, folders: [...folders, ...installed.places], packages: uses };
}

/** Ops of which there are as many as a few hundred files have: to collect what fewer leave costs more than it is worth. */
const manyOps = 60_000;

/** Characters that a package may have: where everything is too much, the small ones may do. */
const sizesOfPackages = [150_000, 25_000];

/** `link`: null where nobody asks for it. */
interface Drawn {
  readonly draft: Draft;
  readonly link: LinkFacts | null;
}

interface DecidedWithPackages {
  /** Null where the code of packages does not help. */
  readonly drawn: Drawn | null;
  readonly graph: ModuleGraph | null;
  /** Packages that were wanted, and why they are not read. */
  readonly unread: ReadonlyMap<string, string>;
}

/** The same with the code of packages that have no model, as far as that helps. */
function decideWithPackages(
  sources: LoadOptions,
  wanted: ReadonlySet<string>,
  models: Models,
  { withCode, withLink, live, tidy }: Omit<DecideOptions, 'needsProof'>,
): DecidedWithPackages {
  const unread = new Map<string, string>();
  const isUnknown = (name: string): boolean => !models.isModelled(name);
  const isWanted = (name: string, isAsked: boolean): boolean =>
    (isAsked ? wanted.has(name) : isUnknown(name)) && !unread.has(name);
  let before = '';
  let refusals: ReadonlyMap<string, string> = unread;
  for (const mostOfOne of wanted.size === 0 ? [] : sizesOfPackages) {
    const graph = loadModules({ ...sources, packages: { isWanted, isUnknown, mostOfOne } }, () => {});
    refusals = new Map([...graph.refusals, ...unread]);
    if (!graph.facts.hasPackages) break;
    const read = graph.facts.modules.map(({ id }) => id).join();
    if (read === before) continue;
    before = read;
    const input = liveInput(graph, models, live);
    const pipeline = analyze({ graph, models, precision: 'calls', live: input, tidy });
    if (pipeline === null) continue;
    const { isLost, packages } = findLost(pipeline);
    if (!isLost && packages.length === 0) {
      const drafted = draftProgram(pipeline, withCode);
      return { drawn: drafted === null ? null : draw(drafted, withLink), graph, unread };
    }
    for (const name of packages) unread.set(name, 'its code may change anything, as far as can be told');
  }
  return { drawn: null, graph: null, unread: new Map([...refusals, ...unread]) };
}

function draw({ draft, link, leave }: Drafted, withLink: boolean): Drawn {
  const drawn = { draft, link: withLink ? link() : null };
  leave();
  return drawn;
}

interface DecideOptions {
  readonly withCode: boolean;
  /** With what only running it and explaining it asks for. */
  readonly withLink: boolean;
  readonly live: LiveFacts | null;
  readonly needsProof: boolean;
  readonly tidy: () => void;
}

interface Decided extends Drawn {
  /** Packages that had better be read. Where handlers may change anything all stay home, whatever else is known. */
  readonly wanted: ReadonlySet<string>;
}

/** Each time less of what the app said is taken to hold. */
const MOST_ROUNDS = 6;

/** What of it holds shows when the program has been looked at with it. */
function liveInput(graph: ModuleGraph, models: Models, live: LiveFacts | null): LiveInput | null {
  if (live === null) return null;
  const closuresOnly: LiveInput = { facts: { ...live, classes: [] }, late: new Set() };
  if (live.classes.length === 0) return closuresOnly;
  const loaded = graph.facts.mark();
  const look = <T>(input: LiveInput | null, use: (pipeline: Pipeline) => T): T | null => {
    const pipeline = analyze({ graph, models, precision: 'calls', live: input, tidy: () => {} });
    const result = pipeline === null ? null : use(pipeline);
    graph.facts.restore(loaded);
    return result;
  };
  const late = look(null, assumeLate);
  let input: LiveInput | null = late === null ? null : { facts: live, late };
  for (let round = 0; input !== null && round < MOST_ROUNDS; round++) {
    const before: LiveInput = input;
    input = look(before, (pipeline) => verifyLive(pipeline, before));
    if (input === before) return input;
  }
  return closuresOnly;
}

/** In most programs calls can be told apart; where that is too much work, only those of wrappers are. */
function decide(
  graph: ModuleGraph,
  models: Models,
  { withCode, withLink, live, needsProof, tidy }: DecideOptions,
): Decided | null {
  const input = liveInput(graph, models, live);
  const loaded = graph.facts.mark();
  const attempt = (precision: Precision): Decided | null => {
    const pipeline = analyze({ graph, models, precision, live: input, needsProof, tidy });
    const drafted = pipeline === null ? null : draftProgram(pipeline, withCode);
    if (pipeline === null || drafted === null) return null;
    // First, as it depends on what is left of the budget: the program is the same for whom it is shown and for whom it is run.
    const wanted = findLost(pipeline).isLost ? new Set<string>() : findWantedPackages(pipeline);
    return { ...draw(drafted, withLink), wanted };
  };
  const precise = attempt('calls');
  if (precise !== null) return precise;
  graph.facts.restore(loaded);
  const coarse = attempt('wrappers');
  invariant(coarse !== null || needsProof, 'the second analysis has a result whatever it costs');
  return coarse;
}
