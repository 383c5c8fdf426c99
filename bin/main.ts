/**
 * Arguments in, exit code out:
 *
 *     0   done
 *     1   `fluxion verify` has found a difference
 *     2   what the user gave cannot be worked on; one message on standard error
 *     70  a bug in Fluxion
 */
import process from 'node:process';
import { BadInput } from '../diagnostics/bad-input.js';
import { printDiagnostic } from '../diagnostics/report.js';
import type { Diagnostic } from '../diagnostics/types.js';
import { type Command, parseArguments, parseTalk, type Talk } from './arguments.js';
import { runCommand } from './commands.js';
import { heldSignals } from './hold-signals.js';
import { ReaderGone, writeFully } from './output.js';
import { runInThread, type Said } from './run-in-thread.js';
import { runOnMain } from './run-on-main.js';

const DONE = 0;
const BAD_INPUT = 2;
const INTERNAL_ERROR = 70;

async function main(words: readonly string[], talk: Talk): Promise<number> {
  try {
    const { pieces, diagnostics, code = DONE } = await runEither(parseArguments(words), process.cwd());
    await say(
      diagnostics.filter((diagnostic) => diagnostic.severity === 'warning'),
      talk,
    );
    for await (const piece of pieces) await writeFully(process.stdout, piece, 'standard output');
    return code;
  } catch (error) {
    return explainFailure(error, talk);
  }
}

/** What only prints a text about Fluxion itself, or starts programs, needs no compiler here. */
async function runEither(command: Command, cwd: string): Promise<Said> {
  const isLight = ['help', 'version', 'verify'].includes(command.kind);
  if (!isLight) return (await runOnMain(command, cwd)) ?? runInThread({ command, cwd }, signals.hold);
  const { pieces, ...outcome } = await runCommand(command, cwd);
  return { pieces: [...pieces].map((piece) => Buffer.from(piece)), ...outcome };
}

async function explainFailure(error: unknown, talk: Talk): Promise<number> {
  if (error instanceof ReaderGone) return DONE;
  if (error instanceof BadInput) {
    await say(error.diagnostics, talk);
    return BAD_INPUT;
  }
  await sayInternalError(error, talk);
  return INTERNAL_ERROR;
}

async function say(diagnostics: readonly Diagnostic[], talk: Talk): Promise<void> {
  if (diagnostics.length === 0) return;
  const options = { colour: talk.colour && process.stderr.isTTY === true && process.stderr.hasColors() };
  const text = diagnostics.map((diagnostic) => `${printDiagnostic(diagnostic, options)}\n`).join('');
  await writeToStderr(text);
}

async function sayInternalError(error: unknown, talk: Talk): Promise<void> {
  const summary = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const stack = talk.debug && error instanceof Error ? `\n${error.stack ?? ''}\n` : '';
  const hint = talk.debug
    ? 'Please report it with the lines below and, if you can, the smallest program that shows it.'
    : 'Please report it with what --debug adds and, if you can, the smallest program that shows it.';
  await writeToStderr(`This is a bug in Fluxion, not in your program: ${summary}\n${hint}\n${stack}`);
}

/** Where standard error is closed as well, there is nobody left to tell. */
function writeToStderr(text: string): Promise<void> {
  return writeFully(process.stderr, text, 'standard error').catch(() => {});
}

function talkWanted(words: readonly string[]): Talk {
  const { debug, colour } = parseTalk(words);
  return { debug, colour: colour && (process.env.NO_COLOR ?? '') === '' };
}

const signals = heldSignals();
const words = process.argv.slice(2);
const talk = talkWanted(words);
process.once('uncaughtException', (error) => {
  void explainFailure(error, talk).then((code) => process.exit(code));
});
// Everything is written by now. Something that a configuration left open must not keep the command from ending.
const code = await main(words, talk);
await signals.release();
process.exit(code);
