import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import test from 'ava';
import { type Command, parseArguments, parseTalk } from '../bin/arguments.js';
import { BadInput } from '../diagnostics/bad-input.js';
import { type CliOptions, type CliResult, cliPath, runCli } from './support/run-cli.js';
import { link, type Tree, tempFolder } from './support/temp-folder.js';

// --- arguments ----------------------------------------------------------------------------------------------------

const words = (line: string): string[] => line.split(' ').filter((word) => word !== '');

const compile = (rest: object): Command => ({
  kind: 'compile',
  entry: 'app.js',
  config: null,
  out: null,
  emit: null,
  ...rest,
});

const explain = (rest: object): Command => ({
  kind: 'explain',
  entry: 'app.js',
  args: [],
  config: null,
  json: false,
  live: false,
  costs: null,
  ...rest,
});

test('what the words of a command line ask for', (t) => {
  const cases: readonly (readonly [string, Command])[] = [
    ['compile app.js', compile({})],
    ['compile app.js -o out', compile({ out: 'out' })],
    ['compile --out out app.js', compile({ out: 'out' })],
    ['compile --out=a=b app.js', compile({ out: 'a=b' })],
    ['compile -oout app.js', compile({ out: 'out' })],
    ['--debug compile app.js --no-color', compile({})],
    ['compile app.js --emit json --config c.js', compile({ emit: 'json', config: 'c.js' })],
    ['compile app.js --emit svg --emit svg', compile({ emit: 'svg' })],
    ['compile app.js --cache', { kind: 'cache', entry: 'app.js', config: null }],
    ['compile -- -app.js', compile({ entry: '-app.js' })],
    ['explain app.js', explain({})],
    ['explain app.js --json', explain({ json: true })],
    ['explain --live app.js -- -p 1', explain({ live: true, args: ['-p', '1'] })],
    ['explain app.js --live --costs r.json', explain({ live: true, costs: 'r.json' })],
    ['explain app.js --live --config c.js', explain({ live: true, config: 'c.js' })],
    ['--help', { kind: 'help', topic: null }],
    ['-h', { kind: 'help', topic: null }],
    ['explain --help', { kind: 'help', topic: 'explain' }],
    ['compile a b --emit json -h', { kind: 'help', topic: 'compile' }],
    ['--version', { kind: 'version' }],
    ['-v', { kind: 'version' }],
  ];
  for (const [line, expected] of cases) t.deepEqual(parseArguments(words(line)), expected, line);
});

test('what cannot be asked for, and what is said then', (t) => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['', 'cli/unknown-command', /no command is given; use one of: run, compile, explain/],
    ['compil app.js', 'cli/unknown-command', /"compil"; did you mean "compile"\?/],
    ['app.js', 'cli/unknown-command', /did you mean "fluxion run app\.js"\?/],
    ['banana', 'cli/unknown-command', /the commands are: run, compile, explain/],
    ['banana --help', 'cli/unknown-command', /"banana"/],
    ['compile', 'cli/missing-entry', /as in "fluxion compile app\.js"/],
    ['explain --json', 'cli/missing-entry', /"fluxion explain"/],
    ['compile a.js b.js', 'cli/unexpected-argument', /"b\.js"/],
    ['compile a.js --emti json', 'cli/unknown-flag', /did you mean "--emit"\?/],
    ['compile a.js --wat', 'cli/unknown-flag', /`fluxion compile --help` lists the flags/],
    ['--wat', 'cli/unknown-flag', /`fluxion --help`/],
    ['compile a.js --json', 'cli/unknown-flag', /"fluxion compile" has no flag "--json"/],
    ['explain a.js -o out', 'cli/unknown-flag', /"fluxion explain" has no flag "--out"/],
    ['compile a.js -x', 'cli/unknown-flag', /"-x"/],
    ['compile a.js --emit', 'cli/bad-value', /--emit: needs a value/],
    ['compile a.js -o --emit json', 'cli/bad-value', /-o: needs a value/],
    ['compile a.js --out=', 'cli/bad-value', /--out: needs a value/],
    ['compile a.js --emit jsn', 'cli/bad-value', /no form "jsn"; did you mean "json"\?/],
    ['compile a.js --emit pdf', 'cli/bad-value', /use one of: flx, json, dot, svg, html/],
    ['compile a.js --emit json --emit svg', 'cli/bad-value', /--emit: is given twice, as "json" and as "svg"/],
    ['compile a.js -o a --out=b', 'cli/bad-value', /--out: is given twice/],
    ['explain a.js --json=yes', 'cli/bad-value', /--json: takes no value/],
  ];
  for (const [line, code, message] of cases) {
    const error = t.throws(() => parseArguments(words(line)), { instanceOf: BadInput, message }, line);
    t.is(error instanceof BadInput ? error.diagnostics[0]?.code : undefined, code, line);
  }
});

test('how to talk is known before anything else is understood', (t) => {
  t.deepEqual(parseTalk(words('wat --debug --no-color')), { debug: true, colour: false });
  t.deepEqual(parseTalk(words('compile -- --debug')), { debug: false, colour: true });
});

// --- the command as a process -------------------------------------------------------------------------------------

/** Exit code 2, one message, nothing on standard output, no stack trace of ours. */
function refused(t: ExecutionContext, result: CliResult, code: string): void {
  t.is(result.code, 2, result.stderr);
  t.is(result.stdout, '');
  t.true(result.stderr.startsWith(`error ${code}: `), result.stderr);
  t.is(result.stderr.match(/^(?:error|warning|note) /gm)?.length, 1, result.stderr);
  t.notRegex(result.stderr, /^\s+at /m);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: standard error is no terminal here, so nothing is coloured
  t.notRegex(result.stderr, /\u001b/);
}

function run(t: ExecutionContext, line: string, tree: Tree = {}, options: CliOptions = {}): Promise<CliResult> {
  return runCli(words(line), { cwd: tempFolder(t, tree), ...options });
}

const APP = `
const app = require('express')();
let count = 0;
app.get('/', (req, res) => { count += 1; res.send(String(count)); });
app.listen(3000);
`;

test('help goes to standard output and is a success', async (t) => {
  const general = await run(t, '--help');
  t.is(general.code, 0);
  t.is(general.stderr, '');
  for (const word of ['compile', 'explain', '--version', '--debug']) t.true(general.stdout.includes(word), word);
  const own = await run(t, 'compile --help');
  t.is(own.code, 0);
  for (const word of ['--out', '--emit', 'flx, json, dot, svg or html', '--config'])
    t.true(own.stdout.includes(word), word);
  const explain = await run(t, 'explain -h');
  t.true(explain.stdout.includes('--json'));
});

test('the version is that of package.json', async (t) => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  t.deepEqual(await run(t, '--version'), { code: 0, signal: null, stdout: `${version}\n`, stderr: '' });
});

test('a wrong command line', async (t) => {
  refused(t, await run(t, ''), 'cli/unknown-command');
  refused(t, await run(t, 'compile'), 'cli/missing-entry');
  refused(t, await run(t, 'compile app.js --emti json --debug'), 'cli/unknown-flag');
});

test('an entry that is not there', async (t) => {
  const result = await run(t, 'compile ap.js', { 'app.js': APP });
  refused(t, result, 'cli/entry-not-found');
  refused(t, await run(t, 'explain nowhere/app.js'), 'cli/entry-not-found');
  refused(t, await run(t, 'compile src', { 'src/other.txt': '' }), 'cli/entry-not-found');
});

test('an entry that cannot be read', async (t) => {
  refused(t, await run(t, 'compile app.js', { 'app.js': link('app.js') }), 'cli/entry-unreadable');
});

test('a module that cannot be read, which start-up loads', async (t) => {
  // A file that is there, and whose first byte nobody may read, whoever it is.
  if (!existsSync('/proc/self/mem')) return t.pass();
  const cwd = tempFolder(t, { 'app.js': APP });
  symlinkSync('/proc/self/mem', join(cwd, 'locked.js'));
  writeFileSync(join(cwd, 'needs.js'), "require('./locked');\n");
  const refusedOne = await runCli(words('compile needs.js'), { cwd });
  refused(t, refusedOne, 'analyzer/module-unreadable');
  t.true(refusedOne.stderr.includes('\n  needs.js:1:9\n'), refusedOne.stderr);
  writeFileSync(join(cwd, 'tries.js'), "try { require('./locked'); } catch {}\n");
  const warned = await runCli(words('compile tries.js'), { cwd });
  t.is(warned.code, 0, warned.stderr);
  t.regex(warned.stderr, /^warning analyzer\/module-skipped/);
});

test('a syntax error is shown in its place, and nothing is written', async (t) => {
  const cwd = tempFolder(t, { 'app.js': "require('./lib');\n", 'lib.js': 'let a = 1;\nlet b = [;\n' });
  const result = await runCli(words('compile app.js -o out'), { cwd });
  refused(t, result, 'analyzer/syntax-error');
  t.true(result.stderr.includes('\n  lib.js:2:10\n'), result.stderr);
  t.true(result.stderr.includes('\n  > 2 | let b = [;\n      |          ^\n'), result.stderr);
  t.deepEqual(readdirSync(cwd).sort(), ['app.js', 'lib.js']);
});

test('a configuration that is missing, broken or wrong', async (t) => {
  refused(t, await run(t, 'compile app.js --config nope.js', { 'app.js': APP }), 'config/not-found');
  const broken = await run(t, 'compile app.js', {
    'app.js': APP,
    'fluxion.config.mjs': 'export default {\n  models: [;\n',
  });
  refused(t, broken, 'config/failed');
  t.true(broken.stderr.includes('fluxion.config.mjs:2:12'), broken.stderr);
  const wrong = await run(t, 'explain app.js', { 'app.js': APP, 'fluxion.config.mjs': 'export default { model: 1 };' });
  refused(t, wrong, 'config/invalid');
  t.true(wrong.stderr.includes('did you mean "models"?'), wrong.stderr);
});

test('what a configuration leaves open does not keep the command from ending', async (t) => {
  const config = 'setInterval(() => {}, 1000); export default {};';
  const result = await run(t, 'compile app.js', { 'app.js': APP, 'fluxion.config.mjs': config });
  t.is(result.code, 0, result.stderr);
});

test('what takes more than the main thread gets a thread of its own', async (t) => {
  const program = async (tree: Tree): Promise<unknown> => {
    const result = await run(t, 'compile app.js --emit json', { 'app.js': APP, ...tree });
    t.is(result.code, 0, result.stderr);
    return JSON.parse(result.stdout).fluxions;
  };
  const terms = ' + 1'.repeat(30_000);
  const deep = await program({ 'app.js': `${APP}module.exports = 1${terms};\n` });
  t.deepEqual(deep, await program({}));
  // The parser goes as deep as these.
  const nested = (open: string, close: string): string => `${APP}${open.repeat(5_000)}${close.repeat(5_000)}\n`;
  t.deepEqual(await program({ 'app.js': nested('(function () {', '})();') }), deep);
  t.deepEqual(await program({ 'app.js': nested('if (app) {', '}') }), deep);
  const callbacks = await program({ 'app.js': nested("require('fs').readFile('a', () => {", '});').replace(APP, '') });
  const ids = (callbacks as readonly { readonly id: string }[]).map(({ id }) => id);
  t.is(new Set(ids).size, 5_001);
  t.true(ids.every((id) => id.length < 200));
  const ends = { 'app.js': APP, 'fluxion.config.mjs': 'process.exit(0);' };
  refused(t, await run(t, 'compile app.js --emit json', ends), 'config/failed');
});

test('every form is printed on standard output', async (t) => {
  const starts = {
    flx: /^flx /m,
    json: /^\{/,
    dot: /^digraph/,
    svg: /^<(?:\?xml|svg)/,
    html: /^<!doctype html>/i,
  };
  for (const [form, start] of Object.entries(starts)) {
    const result = await run(t, `compile app.js --emit ${form}`, { 'app.js': APP });
    t.is(result.code, 0, result.stderr);
    t.regex(result.stdout, start, form);
    t.true(result.stdout.endsWith('\n'), form);
  }
  t.is(JSON.parse((await run(t, 'compile app.js --emit json', { 'app.js': APP })).stdout).version, 1);
  t.regex((await run(t, 'compile app.js', { 'app.js': APP })).stdout, starts.flx);
});

test('explain says it in words and as data', async (t) => {
  const text = await run(t, 'explain app.js', { 'app.js': APP });
  t.is(text.code, 0, text.stderr);
  t.true(text.stdout.includes('count'));
  const data = await run(t, 'explain app.js --json', { 'app.js': APP });
  t.is(data.code, 0, data.stderr);
  t.notThrows(() => JSON.parse(data.stdout));
});

test('notes are not printed, warnings are, and the command goes on', async (t) => {
  const quiet = await run(t, 'compile app.js', { 'app.js': APP });
  t.is(quiet.stderr, '');
  const optional = "try { require('./optional'); } catch {}\n";
  const warned = await run(t, 'compile app.js', { 'app.js': optional + APP });
  t.is(warned.code, 0);
  t.regex(warned.stderr, /^warning analyzer\/module-not-found: "\.\/optional"/);
  t.notRegex(warned.stderr, /^note /m);
  t.not(warned.stdout, '');
});

test('a signal while a folder is written waits until it is there', async (t) => {
  const modules = Array.from({ length: 60 }, (_, n) => [`lib/m${n}.js`, `exports.n = ${n};\n`] as const);
  const loads = modules.map(([name]) => `require('./${name}');\n`).join('');
  const cwd = tempFolder(t, { 'app.js': loads + APP, ...Object.fromEntries(modules), 'free/x.txt': '' });
  const child = spawn(process.execPath, [cliPath, 'compile', 'app.js', '-o', 'free/out'], { cwd, stdio: 'ignore' });
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_code, signal) => resolve(signal)));
  // A second one would not wait.
  const watcher = watch(join(cwd, 'free'), () => {
    watcher.close();
    child.kill('SIGINT');
  });
  const signal = await ended;
  t.is(signal, 'SIGINT');
  t.deepEqual(readdirSync(join(cwd, 'free')).sort(), ['out', 'x.txt']);
  t.is(readdirSync(join(cwd, 'free/out/modules/lib')).filter((name) => name.endsWith('.js')).length, 60);
});

test('-o writes a folder, says nothing, and can be repeated', async (t) => {
  const cwd = tempFolder(t, { 'app.js': APP });
  for (let round = 0; round < 2; round++) {
    const result = await runCli(words('compile app.js -o build/out'), { cwd });
    t.deepEqual(result, { code: 0, signal: null, stdout: '', stderr: '' });
  }
  const names = readdirSync(join(cwd, 'build/out'));
  t.true(names.includes('app.flx') && names.includes('fluxion.json'), names.join());
  t.deepEqual(readdirSync(join(cwd, 'build')), ['out']);
  const both = await runCli(words('compile app.js -o build/out --emit json'), { cwd });
  t.is(JSON.parse(both.stdout).version, 1);
});

test('an output folder with other files is left alone', async (t) => {
  const cwd = tempFolder(t, { 'app.js': APP, 'out/mine.txt': 'mine' });
  refused(t, await runCli(words('compile app.js -o out'), { cwd }), 'cli/output-not-empty');
  refused(t, await runCli(words('compile app.js -o .'), { cwd }), 'cli/output-not-empty');
  refused(t, await runCli(words('compile app.js -o app.js'), { cwd }), 'cli/output-failed');
  t.deepEqual(readdirSync(join(cwd, 'out')), ['mine.txt']);
  t.is(readFileSync(join(cwd, 'app.js'), 'utf8'), APP);
});

test('with -o, bad input leaves the last good output', async (t) => {
  const cwd = tempFolder(t, { 'app.js': APP, 'broken.js': 'let let' });
  await runCli(words('compile app.js -o out'), { cwd });
  const before = readFileSync(join(cwd, 'out/app.flx'), 'utf8');
  refused(t, await runCli(words('compile broken.js -o out'), { cwd }), 'analyzer/syntax-error');
  t.is(readFileSync(join(cwd, 'out/app.flx'), 'utf8'), before);
});

/** Far more than a pipe holds. */
const BIG_APP = `const text = '${'x'.repeat(500_000)}';\n${APP}`;

test('a reader that goes away ends the command quietly', async (t) => {
  const result = await run(t, 'compile app.js', { 'app.js': BIG_APP }, { readOnly: 10 });
  t.is(result.code, 0);
  t.is(result.stderr, '');
});

test('large output arrives whole', async (t) => {
  const result = await run(t, 'compile app.js', { 'app.js': BIG_APP });
  t.is(result.code, 0, result.stderr);
  t.true(result.stdout.includes(`'${'x'.repeat(500_000)}'`));
  t.true(result.stdout.endsWith('\n'));
});

test('a bug of ours says so, with a stack trace only on demand', async (t) => {
  const bug = 'data:text/javascript,process.cwd = () => { throw new TypeError("the cwd is gone"); }';
  const env = { NODE_OPTIONS: `--import=${JSON.stringify(bug)}` };
  const plain = await run(t, '--version', {}, { env });
  t.is(plain.code, 70, plain.stderr);
  t.regex(plain.stderr, /^This is a bug in Fluxion, not in your program: TypeError: the cwd is gone\n/);
  t.notRegex(plain.stderr, /^\s+at /m);
  t.true(plain.stderr.includes('report it'));
  const debug = await run(t, '--version --debug', {}, { env });
  t.is(debug.code, 70);
  t.regex(debug.stderr, /^\s+at /m);
});

test('a full device is not a bug of ours', async (t) => {
  if (!existsSync('/dev/full')) return t.pass('there is no such device here');
  refused(t, await run(t, '--help', {}, { stdoutTo: '/dev/full' }), 'cli/output-failed');
});
