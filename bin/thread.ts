/** The inside of `runInThread`: one command; its text back in pieces, then how it ended. */
import { parentPort, workerData } from 'node:worker_threads';
import { BadInput } from '../diagnostics/bad-input.js';
import { runCommand } from './commands.js';
import type { FromThread, ThreadResult, ThreadTask } from './run-in-thread.js';

async function run({ command, cwd }: ThreadTask): Promise<ThreadResult> {
  try {
    const { pieces, diagnostics } = await runCommand(command, cwd);
    for (const piece of pieces) sendText(piece);
    return { kind: 'done', diagnostics };
  } catch (error) {
    return toResult(error);
  }
}

const encoder = new TextEncoder();

/** As bytes that are handed over: to send a string is to copy it twice. */
function sendText(text: string): void {
  const bytes = encoder.encode(text);
  parentPort?.postMessage({ kind: 'text', bytes } satisfies FromThread, [bytes.buffer]);
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
