import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { CompileReply, CompileRequest } from './compile-worker.js';
import { type Tree, writeTree } from './temp-folder.js';

export type BoundedReply = CompileReply | { readonly kind: 'hung'; readonly afterMs: number };

/** Compiles programs in a thread, one after the other, each within a bound; a thread that exceeds it is ended. */
export class BoundedCompiler {
  readonly #folder = realpathSync.native(mkdtempSync(join(tmpdir(), 'fluxion-fuzz-')));
  readonly #boundMs: number;
  #thread: Worker | null = null;
  #count = 0;

  constructor(boundMs: number) {
    this.#boundMs = boundMs;
  }

  async compile(files: Tree, entry: string, thorough: boolean): Promise<BoundedReply> {
    const folder = join(this.#folder, String(this.#count++));
    mkdirSync(folder);
    writeTree(folder, files);
    try {
      return await this.#ask({ folder, entry, thorough });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #ask(request: CompileRequest): Promise<BoundedReply> {
    this.#thread ??= new Worker(new URL('./compile-worker.js', import.meta.url));
    const thread = this.#thread;
    const reply = await this.#answerOf(thread, request);
    // After a crash of the thread itself, or while it hangs, it answers no more.
    if (reply.kind === 'hung' || reply.kind === 'crashed') {
      await thread.terminate();
      this.#thread = null;
    }
    return reply;
  }

  #answerOf(thread: Worker, request: CompileRequest): Promise<BoundedReply> {
    return new Promise((resolve) => {
      const settle = (reply: BoundedReply): void => {
        clearTimeout(timer);
        thread.off('message', settle);
        thread.off('error', fail);
        resolve(reply);
      };
      const fail = (error: unknown): void => settle({ kind: 'crashed', stack: String(error) });
      const timer = setTimeout(() => settle({ kind: 'hung', afterMs: this.#boundMs }), this.#boundMs);
      thread.on('message', settle);
      thread.on('error', fail);
      thread.postMessage(request);
    });
  }
}
