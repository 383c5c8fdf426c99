import type { CommandName } from './arguments.js';

/** What `--help` prints. */
export function helpText(topic: CommandName | null): string {
  return topic === null ? GENERAL : COMMAND_HELP[topic];
}

const COMMON = `  --config <file>   configuration to use, instead of fluxion.config.js beside package.json
  --no-color        plain text; the environment variable NO_COLOR does the same
  --debug           show Fluxion's own stack trace if it fails
  -h, --help        this text
`;

const GENERAL = `Fluxion shows how an Express app can use every core, and compiles it into the parts that make it so.

Usage: fluxion <command> <entry> [flags]

Commands:
  compile <entry>   print the app in the fluxional language, or write it to a folder
  explain <entry>   say what can be replicated, what is grouped, what stays at home, and why

Flags:
  -v, --version     the version of Fluxion
${COMMON}
<entry> is the file that you start with node. "fluxion <command> --help" says more about a command.
`;

const COMMAND_HELP: { readonly [command in CommandName]: string } = {
  compile: `Prints the app in the fluxional language, or writes it to a folder.

Usage: fluxion compile <entry> [-o <dir>] [--emit <form>]

Flags:
  -o, --out <dir>   write app.flx, the runnable modules with source maps, and fluxion.json to this folder,
                    which must be new, empty, or written by an earlier run
  --emit <form>     what to print: flx, json, dot, svg or html; flx if neither flag is given
${COMMON}
Examples:
  fluxion compile app.js
  fluxion compile app.js --emit html > app.html
  fluxion compile app.js -o out
`,
  explain: `Says for each route and each other chain what can be replicated, what is grouped and why,
what stays at home, and what would lift it.

Usage: fluxion explain <entry> [--json]

Flags:
  --json            the same as data
${COMMON}
Examples:
  fluxion explain app.js
  fluxion explain app.js --json
`,
};
