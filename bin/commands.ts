import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Compilation, CompileOptions, Engine } from '../compile.js';
import { BadInput } from '../diagnostics/bad-input.js';
import { badValue, cacheFailed } from '../diagnostics/catalogue.js';
import { unreachable } from '../diagnostics/invariant.js';
import type { Diagnostic } from '../diagnostics/types.js';
import type { Lift, LiveFacts } from '../flx/live-facts.js';
import type { ShownProgram } from '../flx/program.js';
import type { StartManifest } from '../flx/run-manifest.js';
import type { Command, EmitForm } from './arguments.js';
import { helpText } from './help.js';
import { ownFile, ownManifest } from './own-files.js';

/** On what a command runs. */
export interface Where {
  readonly engine?: Engine | undefined;
  /** Called before a folder is written. */
  readonly onWriting?: () => void;
  /** The main thread: throws `NeedsThread` where it takes another. Only for what `runsOnMain`. */
  readonly onMain?: boolean;
}

/**
 * Reads: a command.
 * Gives: the text for standard output, in pieces, and what is to be said on standard error.
 *
 * The phases are imported when they are needed, so that `--help` and a wrong flag answer at once.
 */
export async function runCommand(command: Command, cwd: string, where: Where = {}): Promise<Outcome> {
  const { engine } = where;
  switch (command.kind) {
    case 'help':
      return { pieces: [helpText(command.topic)], diagnostics: [] };
    case 'version':
      return { pieces: [`${ownVersion()}\n`], diagnostics: [] };
    case 'compile':
      return runCompile(command, cwd, where);
    case 'cache':
      return runToCache(command, cwd, engine);
    case 'explain':
      return runExplain(command, cwd, engine);
    case 'models':
      return runModels(command, cwd, engine);
    case 'verify':
      return runVerify(command, cwd);
    case 'prepare':
      return runPrepare(command, cwd, engine);
    default:
      return unreachable(command);
  }
}

export interface Outcome {
  /** The text for standard output; made while it is gone through, where all of it would take much memory. */
  readonly pieces: Iterable<string>;
  readonly diagnostics: readonly Diagnostic[];
  /** How the command ends; 0 if nothing is said. */
  readonly code?: number;
}

function ownVersion(): string {
  const manifest: unknown = ownManifest();
  const known = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return known ? String(manifest.version) : 'unknown';
}

async function runCompile(command: Extract<Command, { kind: 'compile' }>, cwd: string, where: Where): Promise<Outcome> {
  const emit = command.emit ?? (command.out === null ? 'flx' : null);
  const withCode = command.out !== null || (emit !== 'json' && emit !== null);
  const { program, diagnostics } = await showEntry(command, cwd, withCode, where);
  const pieces = emit === null ? [] : await printProgram(program, emit);
  if (command.out === null) return { pieces, diagnostics };
  // Printed before it is written: if printing fails, no folder has been touched.
  const printed = [...pieces];
  const write = await folderWriter(program, command.out, command.entry, cwd);
  where.onWriting?.();
  await write();
  return { pieces: printed, diagnostics };
}

/** For starts that are to come, as those of an image that is built once. Here it may take as long as it takes. */
async function runToCache(
  { entry, config }: Extract<Command, { kind: 'cache' }>,
  cwd: string,
  engine: Engine | undefined,
): Promise<Outcome> {
  const { resolveEntry } = await import('../analyzer/resolve-entry.js');
  const { default: compiled } = await import('../runtime/compiled.cjs');
  const { default: cache } = await import('../runtime/cache.cjs');
  const isFlx = entry.endsWith('.flx');
  if (!isFlx) resolveEntry(entry, cwd);
  const root = cache.writableFolder();
  if (root === null) throw new BadInput(cacheFailed('no folder'));
  const file = resolve(cwd, entry);
  const key = compiled.keyOf(
    { kind: isFlx ? 'flx' : 'entry', file },
    config,
    cwd,
    ownFile('dist/bin/bundle/prepare.js'),
  );
  const folder = cache.newFolder(join(root, key));
  const prepare = { kind: 'prepare', entry: file, isFlx, config, folder, live: null } as const;
  const { diagnostics } = await runPrepare(prepare, cwd, engine);
  const start: StartManifest = JSON.parse(cache.open(key)?.texts.get('start.json') ?? 'null');
  if (start === null) throw new BadInput(cacheFailed('changed'));
  const what = start.movable
    ? 'is compiled'
    : 'is compiled: nothing of it may leave the main thread ("fluxion explain" says why)';
  return { pieces: [`${entry} ${what}; "fluxion run" finds it in ${root}\n`], diagnostics };
}

/** What `fluxion run --report` says that fluxions cost. */
function readCosts(file: string): ReadonlyMap<string, number> {
  try {
    const { fluxions }: { readonly fluxions: readonly { readonly id: string; readonly cpuMs: number }[] } = JSON.parse(
      readFileSync(file, 'utf8'),
    );
    return new Map(fluxions.map(({ id, cpuMs }) => [id, Number(cpuMs)]));
  } catch {
    throw new BadInput(badValue('--costs', `cannot be "${file}"`, 'write a report with "fluxion run --report"'));
  }
}

async function runExplain(
  command: Extract<Command, { kind: 'explain' }>,
  cwd: string,
  engine: Engine | undefined,
): Promise<Outcome> {
  const { program, diagnostics } = await compileEntry(command, cwd, { engine });
  const { printExplain, printExplainJson } = await import('../flx/emit/explain.js');
  const { placeForRun } = await import('../flx/emit/place-for-run.js');
  const link = command.live ? await (await import('./link-app.js')).linkApp(command, cwd) : null;
  const costs = command.costs === null ? null : readCosts(command.costs);
  const placed = placeForRun(program);
  const text = command.json ? printExplainJson(placed, link, costs) : printExplain(placed, link, costs);
  return { pieces: [withNewline(text)], diagnostics };
}

async function runModels(
  command: Extract<Command, { kind: 'models' }>,
  cwd: string,
  engine: Engine | undefined,
): Promise<Outcome> {
  const { program, diagnostics, packages } = await showEntry(command, cwd, false, { engine });
  const { modelsJson, modelsText } = await import('./print-models.js');
  const shown = { entry: program.entry, packages, fluxions: program.fluxions, cwd };
  return { pieces: [withNewline(command.json ? modelsJson(shown) : modelsText(shown))], diagnostics };
}

const DIFFERENT = 1;

async function runVerify(command: Extract<Command, { kind: 'verify' }>, cwd: string): Promise<Outcome> {
  const { resolveEntry } = await import('../analyzer/resolve-entry.js');
  const { readRequestsFile } = await import('../runtime/verify/requests-file.js');
  const { verify } = await import('../runtime/verify/verify.js');
  const { printVerdict } = await import('../runtime/verify/print-verdict.js');
  const { entry, args, placement, threads, config } = command;
  const file = readRequestsFile(resolve(cwd, command.requests), cwd);
  const options = { entry: resolveEntry(entry, cwd), args, cwd, placement, threads, config, timeoutMs: 30_000 };
  const verdict = await verify(options, file);
  const text = printVerdict(verdict, command.requests, placement);
  return { pieces: [text], diagnostics: [], code: verdict.kind === 'same' ? 0 : DIFFERENT };
}

/** Fills a folder of the cache, for `fluxion run`. */
async function runPrepare(
  command: Extract<Command, { kind: 'prepare' }>,
  cwd: string,
  engine: Engine | undefined,
): Promise<Outcome> {
  const begun = Date.now();
  const { emitLift, emitRunFiles } = await import('../flx/emit/run-files.js');
  const { default: cache } = await import('../runtime/cache.cjs');
  const { folder, isFlx, entry } = command;
  const live: LiveFacts | null = command.live === null ? null : JSON.parse(readFileSync(command.live, 'utf8'));
  if (isFlx) {
    const { compileFlx } = await import('./compile-flx.js');
    const { program, diagnostics, folders, given } = await compileFlx(command, cwd);
    const files = emitRunFiles(program, folder, given);
    const others = [
      entry,
      ...(await otherInputs(
        command,
        cwd,
        program.sources.map(({ file }) => file),
      )),
    ];
    // Where the modules are on disk decides how they are found.
    others.push(...program.sources.map(({ file }) => file), ...folders);
    cache.write(folder, { files, hashes: new Map(), others, begun });
    return { pieces: [], diagnostics };
  }
  const { NothingProven } = await import('../compile.js');
  const proof = live === null ? { needsProof: true } : { live };
  const compiled = await compileEntry(command, cwd, { ...proof, engine }).catch((error: unknown) => {
    if (error instanceof NothingProven) return error;
    throw error;
  });
  if (compiled instanceof NothingProven) {
    // Until a file changes it is run as it is, without being compiled again.
    const { files, folders } = compiled;
    const others = [...files, ...(await otherInputs(command, cwd, files)), ...folders];
    const nothing: StartManifest = { version: 1, entry: '', movable: false, failed: null, modules: [] };
    cache.write(folder, {
      files: new Map([['start.json', JSON.stringify(nothing)]]),
      hashes: new Map(),
      others,
      begun,
    });
    return { pieces: [], diagnostics: [] };
  }
  const { program, diagnostics, folders } = compiled;
  const { createHash } = await import('node:crypto');
  const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
  const hashes = new Map([...program.sources, ...program.packages].map(({ file, text }) => [file, hashOf(text)]));
  const others = [...(await otherInputs(command, cwd, [...hashes.keys()])), ...folders];
  const files = live === null ? emitRunFiles(program, folder) : liftFiles(emitLift(program));
  cache.write(folder, { files, hashes, others, begun });
  cache.prune(dirname(dirname(folder)));
  return { pieces: [], diagnostics };
}

function liftFiles(lift: Lift): ReadonlyMap<string, string> {
  return new Map([['lift.json', JSON.stringify(lift)]]);
}

/** Configurations, and what says how the modules' files are read: each package.json, and where one could come to be. */
async function otherInputs(
  { entry, config }: Extract<Command, { kind: 'prepare' }>,
  cwd: string,
  modules: readonly string[],
): Promise<readonly string[]> {
  const { configPlaces } = await import('../analyzer/load-config.js');
  const places = new Set(configPlaces(config === null ? { entry, cwd } : { entry, cwd, explicit: config }));
  for (const folder of new Set(modules.map((file) => dirname(file)))) {
    for (let at = folder; ; at = dirname(at)) {
      const manifest = join(at, 'package.json');
      places.add(manifest);
      if (existsSync(manifest) || at === dirname(at)) break;
    }
  }
  return [...places];
}

async function compileEntry(
  command: { entry: string; config: string | null },
  cwd: string,
  more: Pick<CompileOptions, 'live' | 'needsProof' | 'engine'>,
): Promise<Compilation> {
  const { compile } = await import('../compile.js');
  const { entry, config } = command;
  const options = { entry, cwd, code: false, ...more };
  return withoutErrors(await compile(config === null ? options : { ...options, config }));
}

/** What is shown, and not run or explained. */
async function showEntry(
  { entry, config }: { entry: string; config: string | null },
  cwd: string,
  code: boolean,
  where: Where,
): Promise<Compilation<ShownProgram>> {
  const { compileToShow } = await import('../compile.js');
  const options = { entry, cwd, code, ...where };
  return withoutErrors(await compileToShow(config === null ? options : { ...options, config }));
}

function withoutErrors<Compiled extends Pick<Compilation, 'diagnostics'>>(compiled: Compiled): Compiled {
  const [first, ...others] = compiled.diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
  if (first !== undefined) throw new BadInput(first, ...others);
  return compiled;
}

async function printProgram(program: ShownProgram, form: EmitForm): Promise<Iterable<string>> {
  switch (form) {
    case 'flx':
      return [withNewline(await printText(program))];
    case 'json':
      return (await import('../flx/emit/json.js')).jsonPieces(program);
    case 'dot':
      return [withNewline((await import('../flx/emit/dot.js')).printDot(program))];
    case 'svg':
      return [withNewline((await import('../flx/emit/svg.js')).printSvg(program))];
    case 'html':
      return [withNewline((await import('../flx/emit/html.js')).printHtml(program))];
    default:
      return unreachable(form);
  }
}

async function printText(program: ShownProgram): Promise<string> {
  const { printFlx } = await import('../flx/print.js');
  const { toFlxProgram } = await import('../flx/to-flx-program.js');
  return printFlx(toFlxProgram(program));
}

/** All that can be done before anything is written. */
async function folderWriter(
  program: ShownProgram,
  out: string,
  entry: string,
  cwd: string,
): Promise<() => Promise<void>> {
  const { emitFiles } = await import('../flx/emit/files.js');
  const { realFolder } = await import('../flx/emit/real-folder.js');
  const { writeOutput } = await import('../flx/emit/write-output.js');
  const { resolveEntry } = await import('../analyzer/resolve-entry.js');
  const files = emitFiles(program, realFolder(out));
  return () => writeOutput(out, files, [resolveEntry(entry, cwd)]);
}

function withNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
