/** The inside of `runInThread`: one command, one message back. */
import { parentPort, workerData } from 'node:worker_threads';
import { BadInput } from '../diagnostics/bad-input.js';
import { runCommand } from './commands.js';
import type { ThreadResult, ThreadTask } from './run-in-thread.js';

async function run({ command, cwd }: ThreadTask): Promise<ThreadResult> {
  try {
    return { kind: 'done', outcome: await runCommand(command, cwd) };
  } catch (error) {
    return toResult(error);
  }
}

function toResult(error: unknown): ThreadResult {
  if (error instanceof BadInput) {
    const [first, ...others] = error.diagnostics;
    if (first !== undefined) return { kind: 'bad-input', diagnostics: [first, ...others] };
  }
  if (error instanceof Error)
    return { kind: 'failed', name: error.name, message: error.message, stack: error.stack ?? '' };
  return { kind: 'failed', name: 'Error', message: String(error), stack: '' };
}

parentPort?.postMessage(await run(workerData as ThreadTask));
