/** The inside of `runInThread`: one command; how it ended, then its text in pieces, each when it is asked for. */
import { parentPort, workerData } from 'node:worker_threads';
import { BadInput } from '../diagnostics/bad-input.js';
import { runCommand } from './commands.js';
import type { FromThread, ThreadResult, ThreadTask } from './run-in-thread.js';

async function run({ command, cwd }: ThreadTask): Promise<void> {
  try {
    const { pieces, diagnostics } = await runCommand(command, cwd);
    const text = pieces[Symbol.iterator]();
    const first = text.next();
    say({ kind: 'done', diagnostics, hasText: first.done !== true });
    if (first.done !== true) sendOnDemand(first.value, text);
  } catch (error) {
    say(toResult(error));
  }
}

function sendOnDemand(first: string, others: Iterator<string>): void {
  let next: IteratorResult<string> = { done: false, value: first };
  parentPort?.on('message', () => {
    if (next.done === true) {
      say({ kind: 'end' });
      parentPort?.close();
      return;
    }
    sendText(next.value);
    next = others.next();
  });
}

const encoder = new TextEncoder();

/** As bytes that are handed over: to send a string is to copy it twice. */
function sendText(text: string): void {
  const bytes = encoder.encode(text);
  parentPort?.postMessage({ kind: 'text', bytes } satisfies FromThread, [bytes.buffer]);
}

function say(message: FromThread): void {
  parentPort?.postMessage(message);
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

await run(workerData as ThreadTask);
