/** What Fluxion itself has to say while the app runs: on standard error, only from the level on that the user wants. */
import { writeSync } from 'node:fs';
import type { LogLevel } from './types.js';

const LEVELS: readonly LogLevel[] = ['silent', 'error', 'warn', 'info', 'debug'];

export class Log {
  readonly #level: number;
  readonly #said = new Set<string>();

  constructor(level: LogLevel) {
    this.#level = LEVELS.indexOf(level);
  }

  error(text: string): void {
    this.#say('error', text);
  }

  warn(text: string): void {
    this.#say('warn', text);
  }

  info(text: string): void {
    this.#say('info', text);
  }

  debug(text: string): void {
    this.#say('debug', text);
  }

  /** The first time only. */
  infoOnce(text: string): void {
    if (this.#said.has(text)) return;
    this.#said.add(text);
    this.info(text);
  }

  #say(level: LogLevel, text: string): void {
    if (LEVELS.indexOf(level) > this.#level) return;
    try {
      // Not through process.stderr: the app may have made something else of it.
      writeSync(2, `fluxion ${level}: ${text}\n`);
    } catch {
      // Nobody can be told.
    }
  }
}
