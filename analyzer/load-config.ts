import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { BadInput } from '../diagnostics/bad-input.js';
import { configFailed, configInvalid, configNotFound } from '../diagnostics/catalogue.js';
import { wholeFile } from '../diagnostics/define-diagnostic.js';
import { displayPath } from '../diagnostics/display-path.js';
import { offsetAt } from '../diagnostics/position.js';
import { systemErrorWords } from '../diagnostics/system-error.js';
import type { Diagnostic, Span } from '../diagnostics/types.js';
import type { PackageModel } from '../models/types.js';
import { parse } from '../syntax/parser.js';
import { checkConfig } from './check-config.js';
import { NeedsThread } from './needs-thread.js';

/**
 * Reads:   fluxion.config.js (or .mjs, .cjs) beside the nearest package.json above the entry, else in the working
 *          directory; or the file that the user named.
 * Gives:   what it says, checked; an empty configuration where there is none.
 * Reports: config/not-found, config/failed, config/invalid, as BadInput.
 */
export async function loadConfig(options: ConfigOptions): Promise<Config> {
  const file = findConfig(options);
  if (file === null) return { file: null, models: [] };
  if (options.onMain === true) throw new NeedsThread(`there is a configuration, ${file}`);
  const shown = displayPath(file, options.cwd);
  const value = await importConfig(file, shown);
  const checked = check(value, file, shown);
  if (checked.kind === 'good') return { file, models: checked.config.models ?? [] };
  const [first, ...others] = checked.problems.map((problem) =>
    configInvalid(shown, problem.at, problem.problem, problem.lift),
  );
  throw new BadInput(first!, ...others);
}

/** What it exports may run code of its own when it is looked at. */
function check(value: unknown, file: string, shown: string): ReturnType<typeof checkConfig> {
  try {
    return checkConfig(value);
  } catch (error) {
    throw new BadInput(describeFailure(error, file, shown));
  }
}

export interface ConfigOptions {
  readonly cwd: string;
  readonly entry: string;
  /** As given after --config. */
  readonly explicit?: string | undefined;
  /** None is loaded here: throws `NeedsThread` where there is one. */
  readonly onMain?: boolean;
}

export interface Config {
  /** The absolute path of the file that was read; null where there is none. */
  readonly file: string | null;
  readonly models: readonly PackageModel[];
}

const NAMES = ['fluxion.config.js', 'fluxion.config.mjs', 'fluxion.config.cjs'];

function findConfig(options: ConfigOptions): string | null {
  if (options.explicit !== undefined) return findExplicit(options.explicit, options.cwd);
  return configPlaces(options).find((place) => isConfig(place, options.cwd)) ?? null;
}

/** Where a configuration is looked for, first to last. */
export function configPlaces({ explicit, cwd, entry }: ConfigOptions): readonly string[] {
  if (explicit !== undefined) return [resolve(cwd, explicit)];
  const folders = [packageFolder(dirname(resolve(cwd, entry))), resolve(cwd)];
  return folders.flatMap((folder) => (folder === null ? [] : NAMES.map((name) => join(folder, name))));
}

function findExplicit(explicit: string, cwd: string): string {
  const file = resolve(cwd, explicit);
  try {
    if (statSync(file).isFile()) return file;
  } catch (error) {
    throw new BadInput(configNotFound(explicit, systemErrorWords(error)));
  }
  throw new BadInput(configNotFound(explicit, 'it is no file'));
}

function packageFolder(folder: string): string | null {
  if (isFile(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  return parent === folder ? null : packageFolder(parent);
}

/** A link that leads nowhere is meant to be one. */
function isConfig(path: string, cwd: string): boolean {
  if (isFile(path)) return true;
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return false;
  try {
    statSync(path);
    return false;
  } catch (error) {
    throw new BadInput(
      configFailed(wholeFile(displayPath(path, cwd)), `it cannot be read: ${systemErrorWords(error)}`),
    );
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** A configuration is a few lines of data; one that waits for longer than this waits for something that never comes. */
const PATIENCE_MS = 10_000;
const STEP_MS = 100;

async function importConfig(file: string, shown: string): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<Diagnostic>((give) => {
    let waited = 0;
    // In small steps: time in which this thread was busy with something else is not the configuration's.
    timer = setInterval(() => {
      waited += STEP_MS;
      if (waited < PATIENCE_MS) return;
      give(configFailed(wholeFile(shown), `it has not finished after ${PATIENCE_MS / 1000} seconds`));
    }, STEP_MS);
  });
  // What it exports may be a promise, which is waited for as well.
  const imported = import(pathToFileURL(file).href)
    .then(async (module: object) => ({ value: await exportedValue(module, shown) }))
    .catch((error: unknown) =>
      error instanceof BadInput ? error.diagnostics[0]! : describeFailure(error, file, shown),
    );
  const ended = guardProcess(file, shown);
  const result = await Promise.race([imported, tooLong, ended.failure]);
  clearInterval(timer);
  ended.release();
  if ('value' in result) return result.value;
  throw new BadInput(result);
}

/** A configuration that ends the process would end the compiler's thread without a word. As a library the compiler leaves the
 *  process of its caller alone. */
function guardProcess(
  file: string,
  shown: string,
): { readonly failure: Promise<Diagnostic>; readonly release: () => void } {
  if (isMainThread) return { failure: new Promise(() => {}), release: () => {} };
  const { exit } = process;
  const release = (): void => {
    process.exit = exit;
  };
  const failure = new Promise<Diagnostic>((give) => {
    process.exit = (code) => {
      const said = code === undefined ? '' : ` with code ${code}`;
      give(configFailed(wholeFile(shown), `it ends the process${said}`));
      throw new Error('a configuration must not end the process');
    };
    // What a configuration that was loaded leaves behind may fail as it likes: nobody waits for it any more.
    process.on('uncaughtException', (error) => give(describeFailure(error, file, shown)));
  });
  return { failure, release };
}

function exportedValue(module: object, shown: string): unknown {
  if (!('default' in module)) {
    throw new BadInput(
      configInvalid(
        shown,
        '',
        'the configuration exports nothing by default',
        'write "export default { models: [...] }"',
      ),
    );
  }
  const value: unknown = module.default;
  // What compilers of ES modules to CommonJS leave in module.exports.
  const compiled = typeof value === 'object' && value !== null && '__esModule' in value && 'default' in value;
  return compiled ? value.default : value;
}

function describeFailure(error: unknown, file: string, shown: string): Diagnostic {
  const text = readText(file);
  if (error instanceof SyntaxError) {
    const offset = syntaxErrorOffset(text);
    if (offset !== null) return configFailed(spanAt(shown, text, offset), `it has a syntax error: ${error.message}`);
  }
  // Behind the first line Node lists the files that led there.
  const words = error instanceof Error ? `${error.name}: ${error.message.split('\n', 1)[0]}` : String(error);
  const offset = error instanceof Error ? stackOffset(error.stack ?? '', file, text) : null;
  const span = offset === null ? wholeFile(shown) : spanAt(shown, text, offset);
  return configFailed(span, `it throws ${words}`);
}

function spanAt(file: string, text: string, offset: number): Span {
  return { file, text, start: offset, end: offset };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Node keeps the place of a syntax error to itself. Null: the error is in a file that the configuration loads. */
function syntaxErrorOffset(text: string): number | null {
  const offsets = (['module', 'commonjs'] as const).map((sourceType) => parseErrorOffset(text, sourceType));
  if (offsets.includes(null)) return null;
  // The reading that gets further is the one that was meant.
  return Math.max(...offsets.map((offset) => offset ?? 0));
}

function parseErrorOffset(text: string, sourceType: 'module' | 'commonjs'): number | null {
  try {
    parse(text, sourceType);
    return null;
  } catch (error) {
    return error instanceof Error && 'index' in error && typeof error.index === 'number' ? error.index : 0;
  }
}

/** Where in the configuration the topmost of its stack frames is. */
function stackOffset(stack: string, file: string, text: string): number | null {
  const real = realpathSync.native(file);
  for (const name of [pathToFileURL(real).href, real]) {
    const at = stack.indexOf(`${name}:`);
    const place = at === -1 ? null : /^:(\d+)(?::(\d+))?/.exec(stack.slice(at + name.length));
    if (place !== null) return offsetAt(text, Number(place[1]), Number(place[2] ?? 1));
  }
  return null;
}
