/** The inside of `runInThread`: one command; how it ended, then its text in pieces, each when it is asked for. */
import { parentPort, workerData } from 'node:worker_threads';
import { BadInput } from '../diagnostics/bad-input.js';
import { runCommand } from './commands.js';
import { encodePieces } from './encode-pieces.js';
import { analyses } from './prepare-engine.js';
import type { FromThread, More, ThreadResult, ThreadTask } from './run-in-thread.js';

async function run({ command, cwd }: ThreadTask): Promise<void> {
  try {
    const { pieces, diagnostics } = await runCommand(command, cwd, {
      engine: { loaded: analyses, tidy: takeCollector() },
      onWriting: () => say({ kind: 'writing' }),
    });
    const spent: ArrayBuffer[] = [];
    const text = encodePieces(pieces, spent);
    const first = text.next();
    say({ kind: 'done', diagnostics, hasText: first.done !== true });
    if (first.done !== true) sendOnDemand(first, text, spent);
  } catch (error) {
    say(toResult(error));
  }
}

/** A configuration that is loaded here does not see it. */
function takeCollector(): () => void {
  const { gc } = globalThis;
  Reflect.deleteProperty(globalThis, 'gc');
  return gc === undefined ? () => {} : () => void gc();
}

function sendOnDemand(
  first: IteratorResult<Uint8Array<ArrayBuffer>, void>,
  others: Iterator<Uint8Array<ArrayBuffer>, void>,
  spent: ArrayBuffer[],
): void {
  let next = first;
  parentPort?.on('message', ({ written }: More) => {
    if (written !== null) spent.push(written);
    if (next.done === true) {
      say({ kind: 'end' });
      parentPort?.close();
      return;
    }
    const bytes = next.value;
    // Handed over: to send a string is to copy it twice.
    parentPort?.postMessage({ kind: 'text', bytes } satisfies FromThread, [bytes.buffer]);
    next = others.next();
  });
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
