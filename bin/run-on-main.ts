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
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--semi-space-growth-factor=1');
  const tidy = (): void => {
    look();
    collect();
  };
  const loaded = (ops: number): void => {
    analyses();
    if (ops < fewOps) enlargeYoung(collect);
  };
  try {
    const { pieces, diagnostics } = await runCommand(command, cwd, {
      engine: { loaded, tidy },
      onMain: true,
    });
    return { pieces: writtenInTurn(pieces), diagnostics };
  } catch (error) {
    if (error instanceof NeedsThread || error instanceof RangeError) return null;
    throw error;
  }
}

type Collect = (options?: { readonly type: 'minor' }) => void;

/** As many as some 1,400 files have. */
const fewOps = 250_000;

/**
 * A young generation of 4 MB in place of 1, once there are no trees any more, which die young: 200 and 1,000 files take a sixteenth less time, and 8 to 11 MB
 * more. Larger programs need the room for something else. V8 enlarges it when enough in it has lived on, each time that this is so: here once, by objects that have.
 */
function enlargeYoung(collect: Collect): void {
  setFlagsFromString('--semi-space-growth-factor=4');
  const living = Array.from({ length: 15_000 }, (_, each) => ({
    a: each,
    b: each,
    c: each,
    d: each,
    e: each,
    f: each,
  }));
  collect({ type: 'minor' });
  living.length = 0;
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Each piece is asked for when the one before it has been written. */
function* writtenInTurn(pieces: Iterable<string>): Generator<Uint8Array, void> {
  const spent: ArrayBuffer[] = [];
  for (const bytes of encodePieces(pieces, spent)) {
    yield bytes;
    spent.push(bytes.buffer);
  }
}
