/** The inside of `runInThread`: one command; how it ended, then its text in pieces, each when it is asked for. */
import { parentPort, workerData } from 'node:worker_threads';
import { BadInput } from '../diagnostics/bad-input.js';
import { runCommand } from './commands.js';
import type { FromThread, More, ThreadResult, ThreadTask } from './run-in-thread.js';

async function run({ command, cwd }: ThreadTask): Promise<void> {
  try {
    const { pieces, diagnostics } = await runCommand(command, cwd, takeCollector());
    const text = pieces[Symbol.iterator]();
    const first = text.next();
    say({ kind: 'done', diagnostics, hasText: first.done !== true });
    if (first.done !== true) sendOnDemand(first.value, text);
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

function sendOnDemand(first: string, others: Iterator<string>): void {
  const spent: ArrayBuffer[] = [];
  const messages = gather(first, others, spent);
  let next = messages.next();
  parentPort?.on('message', ({ written }: More) => {
    if (written !== null) spent.push(written);
    if (next.done === true) {
      say({ kind: 'end' });
      parentPort?.close();
      return;
    }
    const bytes = next.value;
    // Handed over: to send a string is to copy it twice.
    parentPort?.postMessage({ kind: 'text', bytes } satisfies FromThread, [bytes.buffer as ArrayBuffer]);
    next = messages.next();
  });
}

const MESSAGE_BYTES = 1 << 16;
const encoder = new TextEncoder();

/** Pieces may be as short as lines, and a message costs more than a line; but to join them would make all of the text anew. */
function* gather(
  first: string,
  others: Iterator<string>,
  spent: ArrayBuffer[],
): Generator<Uint8Array<ArrayBuffer>, void> {
  const empty = (): Uint8Array<ArrayBuffer> => new Uint8Array(spent.pop() ?? new ArrayBuffer(MESSAGE_BYTES));
  let bytes = empty();
  let used = 0;
  for (let next: IteratorResult<string> = { done: false, value: first }; next.done !== true; next = others.next()) {
    for (let rest = next.value; rest !== ''; ) {
      const { read, written } = encoder.encodeInto(rest, bytes.subarray(used));
      used += written;
      rest = rest.slice(read);
      if (rest === '') break;
      yield bytes.subarray(0, used);
      bytes = empty();
      used = 0;
    }
  }
  if (used > 0) yield bytes.subarray(0, used);
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
