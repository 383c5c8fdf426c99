/**
 * Reads: a command.
 * Gives: what `runCommand` gives, from a thread of its own.
 *
 * Parsers and scope analysis go as deep as the program is nested, and generated code is nested deeper than the stack that
 * Node gives the main thread. A thread can be given any stack; pages that are not touched cost nothing.
 *
 *     thread                          here
 *     writing                   ->               where it writes a folder
 *     done (or what is wrong)   ->
 *                               <-    more       when there is text, and each time that a piece of it has been written
 *     text                      ->
 *     …
 *     end                       ->
 *
 * So there is never more than one piece of the text, which for a large program is the largest thing of all.
 */
import { Worker } from 'node:worker_threads';
import { BadInput } from '../diagnostics/bad-input.js';
import { invariant } from '../diagnostics/invariant.js';
import type { Diagnostic } from '../diagnostics/types.js';
import type { Command } from './arguments.js';
import { prepareEngine } from './prepare-engine.js';

export type ThreadResult =
  | { readonly kind: 'done'; readonly diagnostics: readonly Diagnostic[]; readonly hasText: boolean }
  | { readonly kind: 'bad-input'; readonly diagnostics: readonly [Diagnostic, ...Diagnostic[]] }
  | { readonly kind: 'failed'; readonly name: string; readonly message: string; readonly stack: string };

export type FromThread =
  | ThreadResult
  /** From now on a folder is written; the result follows. */
  | { readonly kind: 'writing' }
  | { readonly kind: 'text'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'end' };

/** `written`: what the last piece lay in, for one that is to come. */
export interface More {
  readonly written: ArrayBuffer | null;
}

/** What the command says on standard output, and what is to be said on standard error. */
export interface Said {
  readonly pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  readonly diagnostics: readonly Diagnostic[];
  readonly code?: number;
}

export interface ThreadTask {
  readonly command: Command;
  readonly cwd: string;
}

/**
 * A small young generation: measured on 200 files, 24 MB take 20 MB more than 6 and are hardly faster, as trees die young. With
 * 3 MB 1,000 files take 5 MB less than with 6, and as much of the processor's time.
 */
const resourceLimits = { stackSizeMb: 256, maxYoungGenerationSizeMb: 3 };

export async function runInThread(task: ThreadTask, onWriting: () => void = () => {}): Promise<Said> {
  prepareEngine();
  const worker = new Worker(new URL('./thread.js', import.meta.url), { workerData: task, resourceLimits });
  let result = await nextFrom(worker);
  if (result.kind === 'writing') {
    const next = nextFrom(worker);
    onWriting();
    result = await next;
  }
  if (result.kind !== 'done') return fail(result);
  return { pieces: result.hasText ? textOf(worker) : [], diagnostics: result.diagnostics };
}

async function* textOf(worker: Worker): AsyncGenerator<Uint8Array, void> {
  for (let written: ArrayBuffer | null = null; ; ) {
    const next = nextFrom(worker);
    worker.postMessage({ written } satisfies More, written === null ? [] : [written]);
    const message = await next;
    if (message.kind === 'end') return;
    if (message.kind !== 'text') return fail(message);
    yield message.bytes;
    written = message.bytes.buffer;
  }
}

function fail(message: FromThread): never {
  if (message.kind === 'bad-input') throw new BadInput(...message.diagnostics);
  invariant(message.kind === 'failed', `the compiler's thread said "${message.kind}" out of turn`);
  const error = new Error(message.message);
  error.name = message.name;
  error.stack = message.stack;
  throw error;
}

function nextFrom(worker: Worker): Promise<FromThread> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error): void => settle(() => reject(error));
    const onExit = (code: number): void =>
      settle(() => reject(new Error(`the compiler's thread ended with code ${code}`)));
    const onMessage = (message: FromThread): void => settle(() => resolve(message));
    const settle = (finish: () => void): void => {
      worker.off('error', onError).off('exit', onExit).off('message', onMessage);
      finish();
    };
    worker.on('error', onError).on('exit', onExit).on('message', onMessage);
  });
}
