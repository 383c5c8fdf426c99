/** This side of the process that sends the load. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Job, LoadResult } from './load-messages.js';

/** What is under way when the time is over may take so much longer. */
const GRACE_MS = 15_000;

export class LoadProcess {
  readonly #child: ChildProcess;

  constructor(node: string) {
    this.#child = fork(fileURLToPath(new URL('./load.js', import.meta.url)), [], { execPath: node, execArgv: [] });
  }

  run(job: Job): Promise<LoadResult> {
    const child = this.#child;
    return new Promise((resolve, reject) => {
      const done = (result: LoadResult): void => {
        settle();
        resolve(result);
      };
      const failed = (): void => {
        settle();
        reject(new Error('the process that sends the load has ended'));
      };
      const settle = (): void => {
        clearTimeout(timer);
        child.off('message', done);
        child.off('exit', failed);
      };
      const timer = setTimeout(() => child.kill('SIGKILL'), job.ms + GRACE_MS);
      child.once('message', done);
      child.once('exit', failed);
      child.send(job);
    });
  }

  close(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}
