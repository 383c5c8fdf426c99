/**
 * Reads: the words behind `fluxion run`, and the environment.
 * Gives: how to run, what to run, and the words that are the app's; or what is wrong with them.
 *
 * Flags stand before the entry; each has an environment variable of its name, for programs that cannot pass flags.
 */
import path = require('node:path');

import type { LogLevel, PlacementMode, Problem, RunOptions } from './types.js' with { 'resolution-mode': 'import' };

interface RunWords {
  readonly options: RunOptions;
  readonly entry: string;
  readonly args: readonly string[];
}

interface FlagSpec {
  readonly name: string;
  /** What is to be done with a value: null where it is none of the flag's. */
  readonly read: (value: string, into: Writable) => boolean;
  /** Null for a flag that is there or not. */
  readonly takes: string | null;
}

type Writable = { -readonly [key in keyof RunOptions]: RunOptions[key] };

const LEVELS: readonly LogLevel[] = ['silent', 'error', 'warn', 'info', 'debug'];
const PLACEMENTS: readonly PlacementMode[] = ['auto', 'home', 'eager', 'loopback'];

const FLAGS: readonly FlagSpec[] = [
  { name: '--threads', read: readThreads, takes: 'a number of threads, or "auto"' },
  { name: '--placement', read: readPlacement, takes: 'one of: auto, home, eager, loopback' },
  { name: '--config', read: readConfig, takes: 'a file' },
  { name: '--report', read: readReport, takes: 'a file' },
  { name: '--record', read: readRecord, takes: 'a file' },
  { name: '--log-level', read: readLevel, takes: 'one of: silent, error, warn, info, debug' },
  { name: '--max-block-ms', read: readBlock, takes: 'a number of milliseconds; 0 for no limit' },
  { name: '--accept', read: readAccept, takes: 'one of: auto, home, every' },
  { name: '--sanitize', read: readSanitize, takes: null },
  { name: '--no-fast-path', read: readNoFastPath, takes: null },
  { name: '--overload', read: readOverload, takes: '"wait" or "503"' },
];

const DEFAULTS: RunOptions = {
  threads: 'auto',
  placement: 'auto',
  config: null,
  report: null,
  record: null,
  logLevel: 'warn',
  accept: 'auto',
  fastPath: true,
  sanitize: false,
  maxBlockMs: 30_000,
  overload: 'wait',
};

function readConfig(value: string, into: Writable): boolean {
  into.config = value;
  return true;
}

/** From where the program is started; the app may go elsewhere. */
function readReport(value: string, into: Writable): boolean {
  into.report = path.resolve(value);
  return true;
}

function readRecord(value: string, into: Writable): boolean {
  into.record = path.resolve(value);
  return true;
}

function readThreads(value: string, into: Writable): boolean {
  if (value === 'auto') into.threads = 'auto';
  else if (/^\d{1,3}$/.test(value)) into.threads = Number(value);
  else return false;
  return true;
}

function readPlacement(value: string, into: Writable): boolean {
  const found = PLACEMENTS.find((known) => known === value);
  if (found !== undefined) into.placement = found;
  return found !== undefined;
}

function readLevel(value: string, into: Writable): boolean {
  const found = LEVELS.find((known) => known === value);
  if (found !== undefined) into.logLevel = found;
  return found !== undefined;
}

function readBlock(value: string, into: Writable): boolean {
  if (!/^\d{1,9}$/.test(value)) return false;
  into.maxBlockMs = Number(value);
  return true;
}

function readAccept(value: string, into: Writable): boolean {
  if (value !== 'auto' && value !== 'home' && value !== 'every') return false;
  into.accept = value;
  return true;
}

function readSanitize(value: string, into: Writable): boolean {
  into.sanitize = value === '1' || value === 'true';
  return into.sanitize || value === '0' || value === 'false';
}

function readNoFastPath(value: string, into: Writable): boolean {
  into.fastPath = value === '0' || value === 'false';
  return into.fastPath || value === '1' || value === 'true';
}

function readOverload(value: string, into: Writable): boolean {
  if (value !== 'wait' && value !== '503') return false;
  into.overload = value;
  return true;
}

function readWords(words: readonly string[], env: NodeJS.ProcessEnv): RunWords | Problem {
  const options: Writable = { ...DEFAULTS };
  const wrong = readEnvironment(env, options);
  if (wrong !== null) return wrong;
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--') {
      at++;
      break;
    }
    if (!word.startsWith('-') || word === '-') break;
    const equals = word.indexOf('=');
    const name = equals === -1 ? word : word.slice(0, equals);
    const spec = FLAGS.find((flag) => flag.name === name);
    if (spec === undefined) return unknown(name);
    const attached = equals === -1 ? null : word.slice(equals + 1);
    const value = attached ?? (spec.takes === null ? '1' : words[++at]);
    if (value === undefined || value === '') return bad(name, 'needs a value', spec);
    if (!spec.read(value, options)) return bad(name, `cannot be "${value}"`, spec);
  }
  const entry = words[at];
  if (entry === undefined || entry === '') return { kind: 'missing-entry' };
  return { options, entry, args: words.slice(at + 1) };
}

/** For who has no words to give. */
function readVariables(env: NodeJS.ProcessEnv): RunOptions | Problem {
  const options: Writable = { ...DEFAULTS };
  return readEnvironment(env, options) ?? options;
}

/** `FLUXION_LOG_LEVEL` for `--log-level`. */
function readEnvironment(env: NodeJS.ProcessEnv, into: Writable): Problem | null {
  for (const spec of FLAGS) {
    const name = `FLUXION_${spec.name.slice(2).replaceAll('-', '_').toUpperCase()}`;
    const value = env[name];
    if (value !== undefined && value !== '' && !spec.read(value, into)) return bad(name, `cannot be "${value}"`, spec);
  }
  return null;
}

function unknown(flag: string): Problem {
  return { kind: 'unknown-flag', flag, flags: FLAGS.map(({ name }) => name) };
}

function bad(flag: string, what: string, { takes }: FlagSpec): Problem {
  return {
    kind: 'bad-value',
    flag,
    message: what,
    lift: takes === null ? 'leave it out, or write 1' : `give it ${takes}`,
  };
}

export = { readWords, readVariables };
