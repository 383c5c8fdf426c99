/**
 * Reads: a command.
 * Gives: what `runCommand` gives, from a thread of its own.
 *
 * Parsers and scope analysis go as deep as the program is nested, and generated code is nested deeper than the stack that
 * Node gives the main thread. A thread can be given any stack; pages that are not touched cost nothing.
 */
import { Worker } from 'node:worker_threads';
import { BadInput } from '../diagnostics/bad-input.js';
import type { Diagnostic } from '../diagnostics/types.js';
import type { Command } from './arguments.js';
import type { Outcome } from './commands.js';

export type ThreadResult =
  | { readonly kind: 'done'; readonly outcome: Outcome }
  | { readonly kind: 'bad-input'; readonly diagnostics: readonly [Diagnostic, ...Diagnostic[]] }
  | { readonly kind: 'failed'; readonly name: string; readonly message: string; readonly stack: string };

export interface ThreadTask {
  readonly command: Command;
  readonly cwd: string;
}

const resourceLimits = { stackSizeMb: 256, maxYoungGenerationSizeMb: 24 };

export async function runInThread(task: ThreadTask): Promise<Outcome> {
  const result = await resultOf(task);
  switch (result.kind) {
    case 'done':
      return result.outcome;
    case 'bad-input':
      throw new BadInput(...result.diagnostics);
    case 'failed': {
      const error = new Error(result.message);
      error.name = result.name;
      error.stack = result.stack;
      throw error;
    }
  }
}

function resultOf(task: ThreadTask): Promise<ThreadResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./thread.js', import.meta.url), { workerData: task, resourceLimits });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the compiler's thread ended with code ${code}`)));
  });
}
