/**
 * Reads: words: `entry` or `flx`, the file, a folder of the cache, a configuration or nothing, a file with what the running
 *        app says of itself or nothing, how many milliseconds of the processor's time it may take.
 * Gives: the folder, filled; exit code 0. 3: the app cannot be compiled, so it runs as it is; what is wrong with it Node
 *        will say. 2: the configuration, or a program in the fluxional language, is wrong; one message on standard
 *        error. 75: it took too long. 70: a bug in Fluxion.
 */
import process from 'node:process';
import { BadInput } from '../diagnostics/bad-input.js';
import { printDiagnostic } from '../diagnostics/report.js';
import { runInThread } from './run-in-thread.js';

const APP_IS_WRONG = 3;
const TOOK_TOO_LONG = 75;
const LOOK_EVERY_MS = 200;

async function main([
  kind,
  entry = '',
  folder = '',
  config = '',
  live = '',
  mostMs = '',
]: readonly string[]): Promise<number> {
  if (mostMs !== '') endAfter(Number(mostMs));
  const isFlx = kind === 'flx';
  try {
    const command = { kind: 'prepare', entry, isFlx, folder, config: orNull(config), live: orNull(live) } as const;
    await runInThread({ command, cwd: process.cwd() });
    return 0;
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
    const text = error.diagnostics.map((diagnostic) => `${printDiagnostic(diagnostic, { colour: false })}\n`).join('');
    process.stderr.write(text);
    return isFlx || error.diagnostics.some(({ code }) => code.startsWith('config/')) ? 2 : APP_IS_WRONG;
  }
}

/** The clock would count what others do meanwhile. */
function endAfter(mostMs: number): void {
  const look = (): void => {
    const { user, system } = process.cpuUsage();
    if ((user + system) / 1000 > mostMs) process.exit(TOOK_TOO_LONG);
  };
  setInterval(look, LOOK_EVERY_MS).unref();
}

function orNull(word: string): string | null {
  return word === '' ? null : word;
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return 70;
});
