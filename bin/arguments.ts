import { BadInput } from '../diagnostics/bad-input.js';
import {
  badValue,
  missingEntry,
  missingRequests,
  unexpectedArgument,
  unknownCommand,
  unknownFlag,
} from '../diagnostics/catalogue.js';
import { nearestWord } from '../diagnostics/nearest-word.js';

/**
 * Reads:   the words of the command line.
 * Gives:   what they ask for.
 * Reports: cli/unknown-command, cli/unknown-flag, cli/unexpected-argument, cli/missing-entry, cli/bad-value, as BadInput.
 */
export function parseArguments(words: readonly string[]): Command {
  const { positionals, flags } = splitWords(words);
  const [name, ...rest] = positionals;
  // Help and version are given whatever else is there, as long as it can be told what for.
  if (flags.has('--help')) return { kind: 'help', topic: name === undefined ? null : commandName(name) };
  if (flags.has('--version')) return { kind: 'version' };
  if (name === undefined) throw new BadInput(unknownCommand(null, COMMANDS));
  const command = commandName(name);
  // What it starts has words of its own, so it is not read here.
  if (command === 'run') throw new BadInput(badValue('run', 'has to be the first word', 'write "fluxion run app.js"'));
  checkFlags(flags, command);
  if (command === 'verify') return verifyCommand(rest, flags);
  if (command === 'explain') return explainCommand(rest, flags);
  if (command === 'models') {
    const config = flags.get('--config') ?? null;
    return { kind: 'models', entry: onlyEntry(rest, command), config, json: flags.has('--json') };
  }
  return compileCommand(onlyEntry(rest, command), flags);
}

export type Command =
  | { readonly kind: 'help'; readonly topic: CommandName | null }
  | { readonly kind: 'version' }
  | {
      readonly kind: 'compile';
      readonly entry: string;
      readonly config: string | null;
      readonly out: string | null;
      /** Null where nothing is said: flx text, or nothing where the output goes to a folder. */
      readonly emit: EmitForm | null;
    }
  /** As `fluxion run` would: what it needs is kept where it looks for it. */
  | { readonly kind: 'cache'; readonly entry: string; readonly config: string | null }
  | {
      readonly kind: 'explain';
      readonly entry: string;
      /** Of the app, which is only started to look at it. */
      readonly args: readonly string[];
      readonly config: string | null;
      readonly json: boolean;
      readonly live: boolean;
      /** A report of `fluxion run`: what fluxions cost. */
      readonly costs: string | null;
    }
  | { readonly kind: 'models'; readonly entry: string; readonly config: string | null; readonly json: boolean }
  | {
      readonly kind: 'verify';
      readonly entry: string;
      readonly args: readonly string[];
      readonly requests: string;
      readonly placement: (typeof PLACEMENTS)[number];
      readonly threads: string;
      readonly config: string | null;
    }
  /** Not for the command line: what `fluxion run` needs is written to a folder of its cache. */
  | {
      readonly kind: 'prepare';
      readonly entry: string;
      /** The entry is a program in the fluxional language. */
      readonly isFlx: boolean;
      readonly config: string | null;
      readonly folder: string;
      /** A file with what the running app says of itself: then only what follows from that is written. */
      readonly live: string | null;
    };

export type CommandName = (typeof COMMANDS)[number];
export type EmitForm = (typeof EMIT_FORMS)[number];

const COMMANDS = ['run', 'compile', 'explain', 'models', 'verify'] as const;
const PLACEMENTS = ['eager', 'auto', 'home', 'loopback'] as const;
const EMIT_FORMS = ['flx', 'json', 'dot', 'svg', 'html'] as const;

/** Flags that say how to talk to the user; they are needed before anything else is understood. */
export interface Talk {
  readonly debug: boolean;
  readonly colour: boolean;
}

export function parseTalk(words: readonly string[]): Talk {
  const end = words.indexOf('--');
  const before = end === -1 ? words : words.slice(0, end);
  return { debug: before.includes('--debug'), colour: !before.includes('--no-color') };
}

interface FlagSpec {
  readonly name: string;
  readonly short?: string;
  readonly value: 'none' | 'needed';
  /** Null: with every command, and without one. */
  readonly command: CommandName | null;
}

const FLAGS: readonly FlagSpec[] = [
  { name: '--help', short: '-h', value: 'none', command: null },
  { name: '--version', short: '-v', value: 'none', command: null },
  { name: '--debug', value: 'none', command: null },
  { name: '--no-color', value: 'none', command: null },
  { name: '--out', short: '-o', value: 'needed', command: 'compile' },
  { name: '--emit', value: 'needed', command: 'compile' },
  { name: '--cache', value: 'none', command: 'compile' },
  { name: '--config', value: 'needed', command: 'compile' },
  { name: '--config', value: 'needed', command: 'explain' },
  { name: '--json', value: 'none', command: 'explain' },
  { name: '--live', value: 'none', command: 'explain' },
  { name: '--costs', value: 'needed', command: 'explain' },
  { name: '--config', value: 'needed', command: 'models' },
  { name: '--json', value: 'none', command: 'models' },
  { name: '--requests', value: 'needed', command: 'verify' },
  { name: '--placement', value: 'needed', command: 'verify' },
  { name: '--threads', value: 'needed', command: 'verify' },
  { name: '--config', value: 'needed', command: 'verify' },
];

interface Split {
  readonly positionals: readonly string[];
  /** By long name; empty text for a flag without a value. */
  readonly flags: ReadonlyMap<string, string>;
}

function splitWords(words: readonly string[]): Split {
  const positionals: string[] = [];
  const flags = new Map<string, string>();
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    if (word === '--') {
      positionals.push(...words.slice(index + 1));
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      positionals.push(word);
      continue;
    }
    const { given, attached } = splitFlag(word);
    const spec = FLAGS.find((flag) => flag.name === given || flag.short === given);
    if (spec === undefined)
      throw new BadInput(unknownFlag(given, knownCommand(positionals[0]), flagNames(positionals[0])));
    if (spec.value === 'none') {
      if (attached !== null) throw new BadInput(badValue(given, 'takes no value', `write just "${given}"`));
      flags.set(spec.name, '');
      continue;
    }
    const value = attached ?? words[++index];
    // A flag behind a flag: the value was forgotten. A path that begins with a dash can be written as ./-path.
    if (value === undefined || value === '' || (attached === null && value.startsWith('-'))) {
      throw new BadInput(badValue(given, 'needs a value', `write it behind the flag, as in "${EXAMPLES[spec.name]}"`));
    }
    const before = flags.get(spec.name);
    if (before !== undefined && before !== value)
      throw new BadInput(badValue(given, `is given twice, as "${before}" and as "${value}"`, 'leave one of them out'));
    flags.set(spec.name, value);
  }
  return { positionals, flags };
}

const EXAMPLES: { readonly [flag: string]: string } = {
  '--out': '-o out',
  '--emit': '--emit json',
  '--config': '--config fluxion.config.js',
  '--costs': '--costs report.json',
  '--requests': '--requests requests.jsonl',
  '--placement': '--placement loopback',
  '--threads': '--threads 2',
};

/** `--out=dir` and `-odir`. */
function splitFlag(word: string): { readonly given: string; readonly attached: string | null } {
  if (word.startsWith('--')) {
    const equals = word.indexOf('=');
    return equals === -1
      ? { given: word, attached: null }
      : { given: word.slice(0, equals), attached: word.slice(equals + 1) };
  }
  const short = word.slice(0, 2);
  const known = FLAGS.some((flag) => flag.short === short);
  return known && word.length > 2 ? { given: short, attached: word.slice(2) } : { given: word, attached: null };
}

function knownCommand(word: string | undefined): CommandName | null {
  return COMMANDS.find((command) => command === word) ?? null;
}

function commandName(word: string): CommandName {
  const command = knownCommand(word);
  if (command === null) throw new BadInput(unknownCommand(word, COMMANDS));
  return command;
}

/** The flags that may be meant: those of the command, or all where the command is not known yet. */
function flagNames(word: string | undefined): readonly string[] {
  const command = knownCommand(word);
  return FLAGS.filter((flag) => command === null || fits(flag, command)).map((flag) => flag.name);
}

function fits(flag: FlagSpec, command: CommandName): boolean {
  return flag.command === null || flag.command === command;
}

function checkFlags(flags: ReadonlyMap<string, string>, command: CommandName): void {
  for (const given of flags.keys()) {
    if (FLAGS.some((flag) => flag.name === given && fits(flag, command))) continue;
    throw new BadInput(unknownFlag(given, command, flagNames(command)));
  }
}

function onlyEntry(rest: readonly string[], command: CommandName): string {
  const [entry, extra] = rest;
  if (entry === undefined || entry === '') throw new BadInput(missingEntry(command));
  if (extra !== undefined) throw new BadInput(unexpectedArgument(extra, command));
  return entry;
}

function compileCommand(entry: string, flags: ReadonlyMap<string, string>): Command {
  const config = flags.get('--config') ?? null;
  const [out, emit] = [flags.get('--out') ?? null, emitForm(flags.get('--emit'))];
  if (!flags.has('--cache')) return { kind: 'compile', entry, config, out, emit };
  if (out !== null || emit !== null)
    throw new BadInput(badValue('--cache', 'prints and writes nothing else', 'leave out --out and --emit'));
  return { kind: 'cache', entry, config };
}

function explainCommand(rest: readonly string[], flags: ReadonlyMap<string, string>): Command {
  const live = flags.has('--live');
  const entry = live ? (rest[0] ?? '') : onlyEntry(rest, 'explain');
  if (entry === '') throw new BadInput(missingEntry('explain'));
  const config = flags.get('--config') ?? null;
  const costs = flags.get('--costs') ?? null;
  if (costs !== null && !live)
    throw new BadInput(badValue('--costs', 'is said of the running app', 'give "--live" as well'));
  return { kind: 'explain', entry, args: rest.slice(1), config, json: flags.has('--json'), live, costs };
}

function verifyCommand([entry, ...args]: readonly string[], flags: ReadonlyMap<string, string>): Command {
  if (entry === undefined || entry === '') throw new BadInput(missingEntry('verify'));
  const requests = flags.get('--requests');
  if (requests === undefined) throw new BadInput(missingRequests());
  const given = flags.get('--placement') ?? 'eager';
  const placement = PLACEMENTS.find((known) => known === given);
  if (placement === undefined) {
    throw new BadInput(badValue('--placement', `there is no "${given}"`, `use one of: ${PLACEMENTS.join(', ')}`));
  }
  const threads = flags.get('--threads') ?? '2';
  if (!/^\d{1,3}$/.test(threads))
    throw new BadInput(badValue('--threads', `cannot be "${threads}"`, 'give it a number'));
  return { kind: 'verify', entry, args, requests, placement, threads, config: flags.get('--config') ?? null };
}

function emitForm(value: string | undefined): EmitForm | null {
  if (value === undefined) return null;
  const form = EMIT_FORMS.find((known) => known === value);
  if (form !== undefined) return form;
  const near = nearestWord(value, EMIT_FORMS);
  const lift = near === null ? `use one of: ${EMIT_FORMS.join(', ')}` : `did you mean "${near}"?`;
  throw new BadInput(badValue('--emit', `there is no form "${value}"`, lift));
}
