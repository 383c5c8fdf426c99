import type { Writable } from 'node:stream';
import { BadInput } from '../diagnostics/bad-input.js';
import { outputFailed } from '../diagnostics/catalogue.js';
import { systemErrorCode, systemErrorWords } from '../diagnostics/system-error.js';

/** The reader went away (`| head`): nothing is wrong, and nothing more is to be said. */
export class ReaderGone extends Error {
  override readonly name = 'ReaderGone';
}

/** Resolves when all of the text has left the process: an exit before that would cut off what goes into a pipe. */
export function writeFully(stream: Writable, text: string | Uint8Array, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      const gone = systemErrorCode(error) === 'EPIPE';
      reject(gone ? new ReaderGone() : new BadInput(outputFailed(name, systemErrorWords(error), 'send it elsewhere')));
    };
    stream.once('error', fail);
    stream.write(text, (error) => {
      if (error) return fail(error);
      stream.off('error', fail);
      resolve();
    });
  });
}
