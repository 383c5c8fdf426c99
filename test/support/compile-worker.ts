/**
 * Reads: requests to compile a program that lies in a folder.
 * Gives: for each what became of it, as plain data. Runs in a thread of its own, so that whoever asks can end what
 *        does not end by itself.
 */
import { isDeepStrictEqual } from 'node:util';
import { parentPort } from 'node:worker_threads';
import { type Compilation, compile } from '../../compile.js';
import { BadInput } from '../../diagnostics/bad-input.js';
import type { Diagnostic } from '../../diagnostics/types.js';
import { printDot } from '../../flx/emit/dot.js';
import { printExplain } from '../../flx/emit/explain.js';
import { printJson } from '../../flx/emit/json.js';
import { placeForRun } from '../../flx/emit/place-for-run.js';
import { normaliseCode } from '../../flx/layout-code.js';
import { parseFlx } from '../../flx/parse.js';
import { printFlx } from '../../flx/print.js';
import type { Fluxion, FlxProgram } from '../../flx/program.js';
import { toFlxProgram } from '../../flx/to-flx-program.js';
import { verifyProgram } from '../../flx/verify.js';

export interface CompileRequest {
  readonly folder: string;
  readonly entry: string;
  /** Look at everything that must hold of any program; without it only compile. */
  readonly thorough: boolean;
}

export type CompileReply =
  | { readonly kind: 'compiled'; readonly fluxions: readonly Fluxion[]; readonly broken: readonly string[] }
  | { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[]; readonly message: string }
  | { readonly kind: 'crashed'; readonly stack: string };

parentPort?.on('message', async (request: CompileRequest) => {
  parentPort?.postMessage(await answer(request));
});

async function answer({ folder, entry, thorough }: CompileRequest): Promise<CompileReply> {
  try {
    const compilation = await compile({ entry, cwd: folder });
    const [first, ...others] = compilation.diagnostics.filter(({ severity }) => severity === 'error');
    if (first !== undefined) throw new BadInput(first, ...others);
    const broken = thorough ? await findBroken(compilation, { entry, cwd: folder }) : [];
    return { kind: 'compiled', fluxions: compilation.program.fluxions, broken };
  } catch (error) {
    if (error instanceof BadInput) return { kind: 'refused', diagnostics: error.diagnostics, message: error.message };
    return { kind: 'crashed', stack: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

/** What must hold of every program that compiles; each failure in words. */
async function findBroken({ program }: Compilation, options: { entry: string; cwd: string }): Promise<string[]> {
  const broken: string[] = [];
  verifyProgram(program);
  const flx = toFlxProgram(program);
  const text = printFlx(flx);
  if (!isDeepStrictEqual(parseFlx(text), normalised(flx))) broken.push('its flx text says another program');
  if (printFlx(parseFlx(text)) !== text) broken.push('its flx text is printed otherwise once it has been parsed');
  const json = printJson(program);
  JSON.parse(json);
  if (printExplain(placeForRun(program)) === '') broken.push('the explanation is empty');
  if (printDot(program) === '') broken.push('the graph is empty');
  const again = await compile(options);
  if (printJson(again.program) !== json) broken.push('a second compilation gives another program');
  if (printFlx(toFlxProgram(again.program)) !== text) broken.push('a second compilation gives another text');
  return broken;
}

function normalised(program: FlxProgram): FlxProgram {
  return {
    fluxions: program.fluxions.map((fluxion) => ({ ...fluxion, code: normaliseCode(fluxion.code) })),
    modules: program.modules.map((module) => ({ ...module, code: normaliseCode(module.code) })),
  };
}
