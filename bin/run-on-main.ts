/**
 * Reads: a command.
 * Gives: what `runInThread` gives, but from the thread that there is: another takes 10 MB, and a tenth of a second. Null where it takes
 *        another all the same (`NeedsThread`), and nothing has been said so far.
 *
 * Most programs are nested no deeper than any stack. What is known to work with little stack, and to say so where it ends, is a compile to JSON: other
 * forms parse code again and go through trees in many places.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { NeedsThread } from '../analyzer/needs-thread.js';
import type { Command } from './arguments.js';
import { runCommand } from './commands.js';
import { encodePieces } from './encode-pieces.js';
import { analyses, prepareEngine } from './prepare-engine.js';
import type { Said } from './run-in-thread.js';

export async function runOnMain(command: Command, cwd: string): Promise<Said | null> {
  if (command.kind !== 'compile' || command.emit !== 'json' || command.out !== null) return null;
  const look = prepareEngine();
  // The young generation stays as small as that of a thread (`runInThread`).
  setFlagsFromString('--semi-space-growth-factor=1');
  const collect = runInNewContext('gc') as () => void;
  const tidy = (): void => {
    look();
    collect();
  };
  try {
    const { pieces, diagnostics } = await runCommand(command, cwd, {
      engine: { loaded: analyses, tidy },
      onMain: true,
    });
    return { pieces: writtenInTurn(pieces), diagnostics };
  } catch (error) {
    if (error instanceof NeedsThread || error instanceof RangeError) return null;
    throw error;
  }
}

/** Each piece is asked for when the one before it has been written. */
function* writtenInTurn(pieces: Iterable<string>): Generator<Uint8Array, void> {
  const spent: ArrayBuffer[] = [];
  for (const bytes of encodePieces(pieces, spent)) {
    yield bytes;
    spent.push(bytes.buffer);
  }
}
