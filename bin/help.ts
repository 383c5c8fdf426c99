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

const GENERAL = `Fluxion makes an Express app use every core, with no change to its code and none to what it answers.

Usage: fluxion <command> <entry> [flags]

Commands:
  run <entry>       start the app on all cores, in place of node <entry>
  compile <entry>   print the app in the fluxional language, or write it to a folder
  verify <entry>    send the app recorded requests, and compare what it does with what it does under node
  explain <entry>   say what can be replicated, what is grouped, what stays at home, and why
  models <entry>    list the packages that the app uses, and how it is known what they do

Flags:
  -v, --version     the version of Fluxion
${COMMON}
<entry> is the file that you start with node. "fluxion <command> --help" says more about a command.
`;

const COMMAND_HELP: { readonly [command in CommandName]: string } = {
  run: `Starts the app in place of node: same arguments, output, signals and exit code, more cores.

Usage: fluxion run [flags] <entry> [arguments of the app]

<entry> is a file for node, a folder written by "fluxion compile -o", or a program in the fluxional language (.flx).

Flags, before the entry; each can be given as an environment variable of its name, as FLUXION_THREADS:
  --threads <n>         how many threads beside the main one, at most; auto, as many as there are cores if more
                        than one, if not given
  --placement <where>   auto: what is worth it leaves the main thread; eager: all that may; home: nothing;
                        loopback: nothing, but every handler is called as if it had
  --config <file>       configuration to use, instead of fluxion.config.js beside package.json
  --record <file>       write the requests that come to this file, for "fluxion verify"
  --report <file>       on exit, and on SIGUSR2, write what ran where and what it cost, as JSON
  --accept <who>        auto: threads take connections too when there is more to do than one has time for, and ask it for what
                        has to run there; every: from the beginning; home: the main thread takes all
  --no-fast-path        requests and responses begin as Node makes them, and Express answers by all of its steps
  --sanitize            look after each request whether what was proven of the app still holds, and say so if not: for
                        test runs; slow
  --log-level <level>   what Fluxion says on standard error: silent, error, warn, info or debug; warn if not given
  --max-block-ms <n>    replace a thread that has not answered for so long; 30000 if not given, 0 for never
  --overload <what>     wait, or answer 503, when all threads have as many requests as they may; wait if not given

What is compiled is kept in ~/.cache/fluxion, or in the folder that FLUXION_CACHE names.

Examples:
  fluxion run app.js --port 3000
  fluxion run --threads 4 --report report.json app.js
  node --import fluxion/register app.js        where another program starts node
`,
  compile: `Prints the app in the fluxional language, or writes it to a folder.

Usage: fluxion compile <entry> [-o <dir>] [--emit <form>]

Flags:
  -o, --out <dir>   write app.flx, the runnable modules with source maps, and fluxion.json to this folder,
                    which must be new, empty, or written by an earlier run
  --emit <form>     what to print: flx, json, dot, svg or html; flx if no such flag is given
  --cache           print and write nothing, but keep what "fluxion run" needs where it looks for it: the first start
                    from this folder then compiles no more, and compiling has no limit of time
${COMMON}
Examples:
  fluxion compile app.js
  fluxion compile app.js --emit html > app.html
  fluxion compile app.js -o out
  fluxion compile app.js --cache
`,
  verify: `Starts the app twice, with node and with fluxion run, sends both the same requests, and compares status, headers,
bodies, pieces of bodies, output and exit. Prints the first difference.

Usage: fluxion verify <entry> --requests <file> [flags] [-- arguments of the app]

Flags:
  --requests <file>     requests as lines of JSON, written by hand or by fluxion run --record <file>
  --placement <where>   as for run: eager, auto, home or loopback; eager if not given
  --threads <n>         how many threads beside the main one; 2 if not given
${COMMON}
Exit code: 0 no difference, 1 a difference, 2 the app or the file cannot be worked with.

Examples:
  fluxion run --record requests.jsonl app.js
  fluxion verify app.js --requests requests.jsonl
  fluxion verify app.js --requests requests.jsonl --placement loopback
`,
  explain: `Says for each route and each other chain what can be replicated, what is grouped and why,
what stays at home, and what would lift it.

Usage: fluxion explain <entry> [--json]
       fluxion explain --live [--costs report.json] [--json] <entry> [-- arguments of the app]

Flags:
  --json            the same as data
  --live            start the app, on a free port, look at what its routers hold, and stop it: what is said of handlers
                    is then what the linker decides, and how much of the work is free to move
  --costs <file>    with --live: a report of "fluxion run --report", which knows what each handler costs
${COMMON}
Examples:
  fluxion explain app.js
  fluxion explain app.js --json
  fluxion explain --live app.js
`,
  models: `Lists the packages that the app uses: those that a model describes, built in or in fluxion.config.js; those whose
code is read; and those of which nothing is known, why, and which handlers stay home because of that.

Usage: fluxion models <entry> [--json]

Flags:
  --json            the same as data
${COMMON}
Examples:
  fluxion models app.js
  fluxion models app.js --json
`,
};
