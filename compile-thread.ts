/** The inside of `index.ts`: one compile. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Compilation, type CompileOptions, compile } from './compile.js';
import { BadInput } from './diagnostics/bad-input.js';
import type { Diagnostic } from './diagnostics/types.js';

export type FromCompiler =
  | { readonly kind: 'compiled'; readonly compilation: Compilation }
  | { readonly kind: 'bad-input'; readonly diagnostics: readonly [Diagnostic, ...Diagnostic[]] }
  | { readonly kind: 'failed'; readonly error: unknown };

async function run(): Promise<FromCompiler> {
  try {
    return { kind: 'compiled', compilation: await compile(workerData as CompileOptions) };
  } catch (error) {
    if (!(error instanceof BadInput)) return { kind: 'failed', error };
    const [first, ...others] = error.diagnostics;
    return first === undefined ? { kind: 'failed', error } : { kind: 'bad-input', diagnostics: [first, ...others] };
  }
}

parentPort?.postMessage(await run());
