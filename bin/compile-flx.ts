/**
 * Reads:   a program in the fluxional language, and what is on disk beside it.
 * Gives:   the program that it says, compiled: under the names of its modules, as seen from its folder.
 * Reports: flx/syntax, and what the compiler says of the modules.
 *
 * Where it is what the compiler says of the files beside it, these are what is meant, as they are. Else the modules are
 * rebuilt from the text. What the text keeps home, or ties to a group, stays; what it frees the compiler must find free
 * as well.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, relative, resolve } from 'node:path';
import { type Compilation, compile } from '../compile.js';
import { BadInput } from '../diagnostics/bad-input.js';
import { entryUnreadable } from '../diagnostics/catalogue.js';
import { systemErrorWords } from '../diagnostics/system-error.js';
import { realFolder } from '../flx/emit/real-folder.js';
import type { Given } from '../flx/emit/run-files.js';
import { parseFlx } from '../flx/parse.js';
import { printFlx } from '../flx/print.js';
import type { FluxionProgram, FlxFluxion, FlxProgram, Placement } from '../flx/program.js';
import { type Rebuilt, rebuildModules } from '../flx/rebuild.js';
import { FlxSyntaxError } from '../flx/syntax-error.js';
import { toFlxProgram } from '../flx/to-flx-program.js';

interface FlxOptions {
  readonly entry: string;
  readonly config: string | null;
}

export interface CompiledFlx extends Omit<Compilation, 'packages'> {
  readonly given: Given;
}

export async function compileFlx({ entry: file, config }: FlxOptions, cwd: string): Promise<CompiledFlx> {
  const said = readFlx(file, cwd);
  const folder = realFolder(dirname(resolve(cwd, file)));
  const rebuilt = rebuildModules(said, `${basename(file, '.flx')}.js`);
  const options = { cwd, entry: resolve(folder, rebuilt.entry), ...(config === null ? {} : { config }) };
  const asWritten = await compileFiles(options, rebuilt, folder);
  if (asWritten !== null && printFlx(toFlxProgram(asWritten.program)) === printFlx(said)) {
    return { ...asWritten, given: { isOnDisk: () => true } };
  }
  const given = new Map([...rebuilt.modules].map(([id, text]) => [resolve(folder, id), text]));
  const { program, diagnostics, folders } = await compile({ ...options, given });
  const wrong = diagnostics.filter(({ severity }) => severity === 'error');
  const [first, ...others] = wrong;
  if (first !== undefined) throw new BadInput(first, ...others);
  return { program: keepPlaces(program, said), diagnostics, folders, given: { isOnDisk: existsSync } };
}

function readFlx(file: string, cwd: string): FlxProgram {
  const shown = relative(cwd, resolve(cwd, file));
  let text: string;
  try {
    text = readFileSync(resolve(cwd, file), 'utf8');
  } catch (error) {
    throw new BadInput(entryUnreadable(shown, systemErrorWords(error)));
  }
  try {
    return parseFlx(text, shown);
  } catch (error) {
    throw error instanceof FlxSyntaxError ? new BadInput(error.diagnostic) : error;
  }
}

/** Null where the files are not there, or are no program. */
async function compileFiles(
  options: { readonly cwd: string; readonly entry: string; readonly config?: string },
  { modules }: Rebuilt,
  folder: string,
): Promise<Compilation | null> {
  if (![...modules.keys()].every((id) => existsSync(resolve(folder, id)))) return null;
  try {
    const compiled = await compile(options);
    return compiled.diagnostics.some(({ severity }) => severity === 'error') ? null : compiled;
  } catch (error) {
    if (error instanceof BadInput) return null;
    throw error;
  }
}

/** By name: fluxions are named after the source, so a text that the compiler printed names them as the compiler does. */
function keepPlaces(program: FluxionProgram, said: FlxProgram): FluxionProgram {
  const byCode = new Map(said.fluxions.map((fluxion) => [fluxion.code, fluxion]));
  const byId = new Map(said.fluxions.map((fluxion) => [fluxion.id, fluxion]));
  const fluxions = program.fluxions.map((fluxion) => {
    const asked = placementOf(byCode.get(fluxion.code)) ?? placementOf(byId.get(fluxion.id));
    return asked === null || fluxion.placement !== 'replicated' ? fluxion : { ...fluxion, placement: asked };
  });
  return { ...program, fluxions };
}

function placementOf(fluxion: FlxFluxion | undefined): Placement | null {
  if (fluxion === undefined) return null;
  if (fluxion.placement === 'home' || fluxion.placement === 'group') return fluxion.placement;
  return fluxion.tags.length > 0 ? 'group' : null;
}
