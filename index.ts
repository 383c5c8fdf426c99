/**
 * The compiler as a library.
 *
 * Reads: what `compile` reads.
 * Gives: what it gives, from a thread of its own: generated code is nested deeper than the stack of whoever calls.
 */
import { Worker } from 'node:worker_threads';
import type { Compilation, CompileOptions as Options } from './compile.js';
import type { FromCompiler } from './compile-thread.js';
import { BadInput } from './diagnostics/bad-input.js';

export type { Compilation };
export { BadInput };

export type CompileOptions = Omit<Options, 'needsProof'>;

const resourceLimits = { stackSizeMb: 256 };

/** Throws `BadInput` where what it was given cannot be worked on. */
export async function compile(options: CompileOptions): Promise<Compilation> {
  const worker = new Worker(new URL('./compile-thread.js', import.meta.url), { workerData: options, resourceLimits });
  try {
    const answer = await answerOf(worker);
    if (answer.kind === 'compiled') return answer.compilation;
    throw answer.kind === 'bad-input' ? new BadInput(...answer.diagnostics) : answer.error;
  } finally {
    // A configuration may have left something open.
    await worker.terminate();
  }
}

function answerOf(worker: Worker): Promise<FromCompiler> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the compiler's thread ended with code ${code}`)));
  });
}
