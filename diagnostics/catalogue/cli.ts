/** What is wrong with the command line, its entry file or its output folder. Only factories are exported here. */
import { defineDiagnostic } from '../define-diagnostic.js';
import { nearestWord } from '../nearest-word.js';

export const unknownCommand = defineDiagnostic(
  'cli/unknown-command',
  'error',
  (given: string | null, known: readonly string[]) => ({
    message: given === null ? 'no command is given' : `there is no command "${given}"`,
    lift: given === null ? `use one of: ${known.join(', ')}` : suggestCommand(given, known),
    span: null,
  }),
);

function suggestCommand(given: string, known: readonly string[]): string {
  const near = nearestWord(given, known);
  if (near !== null) return `did you mean "${near}"?`;
  // `fluxion app.js` is what people type who come from `node app.js`.
  if (/\.[cm]?js$|[\\/]/.test(given)) return `did you mean "fluxion run ${given}"?`;
  return `the commands are: ${known.join(', ')}`;
}

export const unknownFlag = defineDiagnostic(
  'cli/unknown-flag',
  'error',
  (flag: string, command: string | null, known: readonly string[], isNodes = false) => {
    // The dashes are the same in all flags and would make any two of them look alike.
    const near = nearestWord(
      flag.replace(/^-+/, ''),
      known.map((name) => name.replace(/^-+/, '')),
    );
    const help = command === null ? 'fluxion --help' : `fluxion ${command} --help`;
    const lift = near === null ? `\`${help}\` lists the flags` : `did you mean "--${near}"?`;
    return {
      message: command === null ? `there is no flag "${flag}"` : `"fluxion ${command}" has no flag "${flag}"`,
      lift: isNodes ? `it is one of node's, as in "node ${flag} node_modules/.bin/fluxion ${command} app.js"` : lift,
      span: null,
    };
  },
);

export const nodeTooOld = defineDiagnostic('cli/node-too-old', 'error', (version: string) => ({
  message: `Fluxion does not run on Node ${version}`,
  lift: 'use Node 20.19 or a newer one',
  span: null,
}));

export const unexpectedArgument = defineDiagnostic(
  'cli/unexpected-argument',
  'error',
  (argument: string, command: string) => ({
    message: `"fluxion ${command}" takes one entry file, and "${argument}" is one more argument`,
    lift: 'leave it out, or put a path with spaces in quotes',
    span: null,
  }),
);

export const cacheFailed = defineDiagnostic('cli/cache-failed', 'error', (why: 'no folder' | 'changed') => ({
  message: `what was compiled cannot be kept: ${
    why === 'no folder' ? 'no folder for it can be written to by you alone' : 'its files changed meanwhile'
  }`,
  lift: why === 'no folder' ? 'name another one in the environment variable FLUXION_CACHE' : 'compile it again',
  span: null,
}));

export const missingEntry = defineDiagnostic('cli/missing-entry', 'error', (command: string) => ({
  message: `"fluxion ${command}" needs the file that starts the app`,
  lift: `name it, as in "fluxion ${command} app.js"`,
  span: null,
}));

export const entryNotFound = defineDiagnostic(
  'cli/entry-not-found',
  'error',
  (entry: string, reason: string, near: string | null) => ({
    message: `the entry "${entry}" is not found: ${reason}`,
    lift: near === null ? 'name the file that you start with `node`' : `did you mean "${near}"?`,
    span: null,
  }),
);

export const entryUnreadable = defineDiagnostic('cli/entry-unreadable', 'error', (file: string, reason: string) => ({
  message: `"${file}" cannot be read: ${reason}`,
  lift: 'make it a file that you may read',
  span: null,
}));

/** `what` it is instead. */
export const entryNotScript = defineDiagnostic('cli/entry-not-a-script', 'error', (entry: string, what: string) => ({
  message: `"${entry}" is no program that Fluxion can read: it is ${what}`,
  lift: /TypeScript/.test(what)
    ? 'compile it to JavaScript first, and name what comes out'
    : 'name the JavaScript file that you start with `node`',
  span: null,
}));

/** `said`: the end of what the app printed as errors. */
export const liveFailed = defineDiagnostic('cli/live-failed', 'error', (entry: string, why: string, said: string) => ({
  message: `the running app cannot be looked at: "${entry}" was started, and ${why}${said === '' ? '' : `; it said:\n${said}`}`,
  lift: 'start it with "node" first to see what it needs: arguments behind "--", environment variables, a database',
  span: null,
}));

export const badValue = defineDiagnostic('cli/bad-value', 'error', (flag: string, problem: string, lift: string) => ({
  message: `${flag}: ${problem}`,
  lift,
  span: null,
}));

export const outputNotEmpty = defineDiagnostic(
  'cli/output-not-empty',
  'error',
  (folder: string, names: readonly string[]) => ({
    message: `the output folder "${folder}" holds files that Fluxion did not write (${listSome(names)}), and nothing is written`,
    lift: 'name a new or empty folder after -o, or move these files away',
    span: null,
  }),
);

export const outputFailed = defineDiagnostic(
  'cli/output-failed',
  'error',
  (target: string, reason: string, lift: string) => ({
    message: `the output cannot be written to ${target}: ${reason}`,
    lift,
    span: null,
  }),
);

function listSome(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(', ');
  return names.length > 3 ? `${shown} and ${names.length - 3} more` : shown;
}
