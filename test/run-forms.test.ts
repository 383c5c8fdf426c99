import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import test from 'ava';
import { compile } from '../compile.js';
import { parseFlx } from '../flx/parse.js';
import { printFlx } from '../flx/print.js';
import { rebuildModules } from '../flx/rebuild.js';
import { toFlxProgram } from '../flx/to-flx-program.js';
import nodeVersion from '../runtime/node-version.cjs';
import { programFolder } from './support/drop-in.js';
import { findFixtures } from './support/fixture.js';
import { cliPath } from './support/run-cli.js';
import { type Tree, tempFolder } from './support/temp-folder.js';

// What `fluxion run` can be given beside a file for node, flags, and `node --import fluxion/register`.

const registerPath = fileURLToPath(new URL('../runtime/register.cjs', import.meta.url));

/** Asks itself, so that one process is all that a test needs; ends when the last answer has come. */
const CLIENT = `const server = app.listen(0, '127.0.0.1', async () => {
  const ask = (path) => new Promise((give) => require('http').get({ port: server.address().port, path, agent: false }, (answer) => {
    let text = ''; answer.on('data', (chunk) => { text += chunk; }).on('end', () => give(text)); }));
  for (const path of process.argv.slice(2)) console.log(path, await ask(path));
  server.close();
});
`;
const APP = `const app = require('express')();
const fs = require('fs');
let count = 0;
app.get('/count', (req, res) => { count += 1; res.json(count); });
app.get('/words', function words(req, res) {
  fs.readFile(__filename, 'utf8', function counted(error, text) { res.json([text.length > 100, require.main === module]); });
});
app.get('/later', async (req, res) => {
  const { size } = await fs.promises.stat('.');
  res.json(size > 0);
});
${CLIENT}`;
const ASKED = ['/count', '/words', '/count', '/later', '/words'];
const ANSWERS = '/count 1\n/words [true,true]\n/count 2\n/later true\n/words [true,true]\n';

interface Run {
  readonly cwd: string;
  readonly env?: { readonly [name: string]: string };
}

const caches = new WeakMap<ExecutionContext, string>();

function node(t: ExecutionContext, words: readonly string[], { cwd, env }: Run): SpawnSyncReturns<string> {
  const cache = caches.get(t) ?? tempFolder(t);
  caches.set(t, cache);
  return spawnSync(process.execPath, words, {
    cwd,
    encoding: 'utf8',
    timeout: 60_000,
    env: { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1', FORCE_COLOR: '0', FLUXION_CACHE: cache, ...env },
  });
}

const fluxion = (t: ExecutionContext, words: readonly string[], run: Run): SpawnSyncReturns<string> =>
  node(t, [cliPath, ...words], run);

function answers(t: ExecutionContext, result: SpawnSyncReturns<string>, expected = ANSWERS): void {
  const { stdout, stderr, status } = result;
  t.deepEqual({ stdout, stderr, status }, { stdout: expected, stderr: '', status: 0 });
}

/** How often fluxion `id` ran, by kind of loop. */
function runsOf(report: string, id: string): Readonly<Record<string, number>> {
  const { fluxions } = JSON.parse(readFileSync(report, 'utf8'));
  return fluxions.find((fluxion: { id: string }) => fluxion.id === id)?.runs ?? {};
}

// --- folders --------------------------------------------------------------------------------------------------------

test('a folder that was written by compile', (t) => {
  const cwd = programFolder(t, { 'app.js': APP });
  t.is(fluxion(t, ['compile', 'app.js', '-o', 'out'], { cwd }).status, 0);
  answers(t, fluxion(t, ['run', 'out', ...ASKED], { cwd }));
  answers(t, fluxion(t, ['run', '--placement', 'eager', './out/', ...ASKED], { cwd }));
  writeFileSync(join(cwd, 'app.js'), `${APP}\n// changed`);
  const changed = fluxion(t, ['run', 'out'], { cwd });
  t.is(changed.status, 2);
  t.is(changed.stdout, '');
  t.is(
    changed.stderr,
    'The app is not what was compiled to out; nothing of it has been run.\n  changed: app.js\nCompile it again: fluxion compile app.js -o out\n',
  );
  rmSync(join(cwd, 'app.js'));
  t.regex(fluxion(t, ['run', 'out'], { cwd }).stderr, /missing: app\.js/);
});

// --- programs in the fluxional language -----------------------------------------------------------------------------

const flxOf = (t: ExecutionContext, cwd: string): string => fluxion(t, ['compile', 'app.js'], { cwd }).stdout;

test('a program beside the files that it was made from', (t) => {
  const cwd = programFolder(t, { 'app.js': APP });
  writeFileSync(join(cwd, 'app.flx'), flxOf(t, cwd));
  answers(t, fluxion(t, ['run', 'app.flx', ...ASKED], { cwd }));
  answers(t, fluxion(t, ['run', '--placement', 'eager', 'app.flx', ...ASKED], { cwd }));
  answers(t, fluxion(t, ['run', '--placement', 'home', 'app.flx', ...ASKED], { cwd }));
});

test('a program by itself: several modules, none on disk', (t) => {
  const cwd = programFolder(t, {
    'app.js': APP.replace('let count', "const lib = require('./lib/title');\nlet count").replace(
      'res.json(count)',
      'lib.show(res, count)',
    ),
    'lib/title.js': `exports.show = (res, n) => res.json({ n, at: __filename.endsWith('title.js'), parent: module.parent.id });`,
    'package.json': '{}',
  });
  const flx = flxOf(t, cwd);
  const asked = ['/count', '/count', '/later'];
  const expected = fluxion(t, ['run', 'app.js', ...asked], { cwd });
  t.is(expected.status, 0);
  const alone = programFolder(t, { 'app.flx': flx, 'data/x': '' });
  for (const placement of ['home', 'auto', 'eager']) {
    answers(t, fluxion(t, ['run', '--placement', placement, 'app.flx', ...asked], { cwd: alone }), expected.stdout);
  }
});

test('the text is what runs, not the files', (t) => {
  const cwd = programFolder(t, { 'app.js': APP });
  writeFileSync(join(cwd, 'app.flx'), flxOf(t, cwd).replace('count += 1', 'count += 10'));
  answers(t, fluxion(t, ['run', 'app.flx', '/count', '/count'], { cwd }), '/count 10\n/count 20\n');
});

/** Calls both until the second has run on a replica, which it says by the report. */
const HEAVY = `const app = require('express')();
const fs = require('fs');
const compute = (n) => { let sum = 0; for (let i = 0; i < n; i++) sum += i % 7; return sum; };
app.get('/heavy', function heavy(req, res) { res.json(compute(1e5)); });
app.get('/other', function other(req, res) { res.json(compute(2e5)); });
${CLIENT.replace(
  'for (const path of process.argv.slice(2)) console.log(path, await ask(path));',
  `const runs = () => {
    process.emit('SIGUSR2');
    const file = process.env.FLUXION_REPORT;
    const { fluxions } = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : { fluxions: [] };
    return Object.keys(fluxions.find(({ id }) => id === 'other')?.runs ?? {});
  };
  while (!runs().some((loop) => loop !== 'home')) {
    await ask('/heavy'); await ask('/other');
    await new Promise((go) => setTimeout(go, 10));
  }
  for (let i = 0; i < 5; i++) await ask('/heavy');
  console.log('moved');`,
)}`;
const MOVED = 'moved\n';

test('what the text keeps home stays home', (t) => {
  const cwd = programFolder(t, { 'app.js': HEAVY });
  const flx = flxOf(t, cwd);
  t.regex(flx, /^flx heavy \{compute\} @ app.js:4:19 replicated$/m);
  const env = { FLUXION_REPORT: join(cwd, 'report.json') };
  writeFileSync(join(cwd, 'app.flx'), flx);
  answers(t, fluxion(t, ['run', '--placement', 'eager', 'app.flx'], { cwd, env }), MOVED);
  t.true(Object.keys(runsOf(env.FLUXION_REPORT, 'heavy')).some((loop) => loop !== 'home'));
  for (const edited of [
    flx.replace('4:19 replicated', '4:19 home'),
    flx.replace('flx heavy {', 'flx heavy & grp_mine {'),
  ]) {
    writeFileSync(join(cwd, 'app.flx'), edited);
    rmSync(env.FLUXION_REPORT);
    answers(t, fluxion(t, ['run', '--placement', 'eager', 'app.flx'], { cwd, env }), MOVED);
    t.deepEqual(Object.keys(runsOf(env.FLUXION_REPORT, 'heavy')), ['home']);
  }
});

test("the paper's program, by hand", (t) => {
  const cwd = programFolder(t, {
    'counter.flx': `flx main & grp_res
>> handler [res]
  var app = require('express')(), fs = require('fs'), count = 0;

  app.get('/', >> handler);
  ${CLIENT.trimEnd().replaceAll('\n', '\n  ')}

flx handler
-> reply [res]
  function handler(req, res) {
    fs.readFile(__dirname + '/counter.flx', -> reply);
  }

flx reply & grp_res {count}
-> null
  function reply(err, data) {
    count += 1;
    res.send(err || 'visit ' + count + ', ' + (data.length > 100));
  }
`,
  });
  for (const placement of ['home', 'auto', 'eager']) {
    const result = fluxion(t, ['run', '--placement', placement, 'counter.flx', '/', '/', '/'], { cwd });
    answers(t, result, '/ visit 1, true\n/ visit 2, true\n/ visit 3, true\n');
  }
});

test('a mistake in the text', (t) => {
  const cwd = programFolder(t, {
    'app.flx': 'flx main\n>> handler [res\n  f();\n',
    'code.flx': 'flx main\n-> null\n  let b b;\n',
  });
  const { status, stdout, stderr } = fluxion(t, ['run', 'app.flx'], { cwd });
  t.is(status, 2);
  t.is(stdout, '');
  t.regex(stderr, /^error flx\/syntax: expected "," or "\]", found the end of the line; .*\n {2}app\.flx:2:16\n/);
  const code = fluxion(t, ['run', 'code.flx'], { cwd });
  t.is(code.status, 2);
  t.regex(code.stderr, /^error analyzer\/syntax-error/);
  const none = fluxion(t, ['run', 'none.flx'], { cwd });
  t.is(none.status, 2);
  t.regex(none.stderr, /^error cli\/entry-unreadable/);
});

/** Lines and columns are not in the code; the order of fluxions follows from them. */
const inAnyOrder = (flx: string): readonly string[] =>
  flx
    .replace(/ @ (\S+|"[^"]*"):\d+:\d+/g, ' @ ')
    .split(/\n\n(?=flx |module )/)
    .map((block) => block.trimEnd())
    .sort();

test('the modules that are rebuilt from a text are what the compiler makes this text of', async (t) => {
  let count = 0;
  for (const { folder, entry: file } of findFixtures()) {
    let text: string;
    try {
      text = readFileSync(join(folder, 'expected.flx'), 'utf8');
    } catch {
      continue;
    }
    const { entry, modules } = rebuildModules(parseFlx(text), 'app.js');
    // The text stands in the folder that its modules are seen from.
    const root = join(folder, file).slice(0, -entry.length);
    const given = new Map([...modules].map(([id, code]) => [join(root, id), code]));
    const { program } = await compile({ entry: join(root, entry), cwd: folder, given });
    t.deepEqual(inAnyOrder(printFlx(toFlxProgram(program))), inAnyOrder(text), folder);
    count++;
  }
  t.true(count > 50);
});

// --- node --import fluxion/register ------------------------------------------------------------------------------------

const PLACES = `console.log(JSON.stringify([process.argv.slice(1), require.main === module, Object.keys(require.cache), module.children.length]));`;

function sameRegistered(
  t: ExecutionContext,
  files: Tree,
  words: readonly string[],
  flag = '--import',
): SpawnSyncReturns<string> {
  const cwd = programFolder(t, { 'nothing.cjs': '', ...files });
  const run = (preloaded: string, env = {}): SpawnSyncReturns<string> =>
    node(t, [flag, preloaded, ...words], { cwd, env });
  const plain = run('./nothing.cjs');
  for (const FLUXION_PLACEMENT of ['home', 'auto', 'eager']) {
    const { stdout, stderr, status } = run(registerPath, { FLUXION_PLACEMENT });
    const masked = (text: string): string =>
      text.replaceAll(`,"${join(cwd, 'nothing.cjs')}"`, '').replaceAll(`"${join(cwd, 'nothing.cjs')}",`, '');
    t.deepEqual(
      { stdout, stderr, status },
      { stdout: masked(plain.stdout), stderr: plain.stderr, status: plain.status },
    );
  }
  return plain;
}

for (const flag of ['--import', '--require']) {
  test(`${flag} fluxion/register`, (t) => {
    const plain = sameRegistered(t, { 'app.js': `${PLACES}\n${APP}` }, ['app.js', ...ASKED], flag);
    t.true(plain.stdout.endsWith(ANSWERS));
  });
}

test('preloaded: an ES module, an entry without extension, an error, no file', (t) => {
  sameRegistered(
    t,
    { 'app.mjs': `console.log(import.meta.url === new URL('app.mjs', import.meta.url).href, process.argv.length);` },
    ['app.mjs', 'x'],
  );
  sameRegistered(t, { 'bin/www': `#!/usr/bin/env node\nrequire('../app');`, 'app.js': APP }, ['bin/www', '/count']);
  sameRegistered(t, {}, ['-e', 'console.log(1)']);
  sameRegistered(t, {}, ['-p', '1 + 1']);
  sameRegistered(t, {}, ['none.js']);
});

test("behind another preload nothing moves, and it is the app's own texts that run", (t) => {
  // As tools do that measure coverage.
  const changes = `const read = require.extensions['.js'];
require.extensions['.js'] = (module, file) => {
  const compile = module._compile;
  if (file.endsWith('app.js')) module._compile = (text, name) => compile.call(module, text.replace('count += 1', 'count += 2'), name);
  read(module, file);
};`;
  const cwd = programFolder(t, { 'app.js': APP, 'pre.cjs': changes });
  const expected = ANSWERS.replace('/count 2', '/count 4').replace('/count 1', '/count 2');
  for (const words of [
    ['--import', registerPath],
    [cliPath, 'run'],
  ])
    answers(t, node(t, ['--require', './pre.cjs', ...words, 'app.js', ...ASKED], { cwd }), expected);
});

test('preloaded: handlers move', (t) => {
  const cwd = programFolder(t, { 'app.js': HEAVY });
  const env = { FLUXION_REPORT: join(cwd, 'report.json'), FLUXION_PLACEMENT: 'eager' };
  answers(t, node(t, ['--import', registerPath, 'app.js'], { cwd, env }), MOVED);
  t.true(Object.keys(runsOf(env.FLUXION_REPORT, 'heavy')).some((loop) => loop !== 'home'));
});

test('preloaded: tools from node_modules and their tests, node --test, bad variables', (t) => {
  const cwd = programFolder(t, {
    'app.js': APP,
    'unit.test.mjs': `import test from 'node:test'; import assert from 'node:assert'; import { createRequire } from 'node:module';
test('app', () => assert.strictEqual(createRequire(import.meta.url)('./lib.js').sum(1, 2), 3));`,
    'lib.js': 'exports.sum = (a, b) => a + b;',
    'package.json': '{ "type": "commonjs" }',
  });
  const env = { NODE_OPTIONS: `--import ${registerPath}` };
  const tested = node(t, ['--test', '--test-reporter=tap', 'unit.test.mjs'], { cwd, env });
  t.is(tested.status, 0, tested.stdout);
  t.regex(tested.stdout, /^# pass 1$/m);
  const tool = node(t, ['node_modules/ava/entrypoints/cli.mjs', '--version'], { cwd, env });
  t.is(tool.stderr, '');
  t.is(tool.status, 0);
  const bad = node(t, ['app.js'], { cwd, env: { ...env, FLUXION_THREADS: 'x' } });
  t.is(bad.status, 2);
  t.is(bad.stdout, '');
  t.is(bad.stderr, 'error cli/bad-value: FLUXION_THREADS: cannot be "x"; give it a number of threads, or "auto"\n');
});

test('a Node that cannot do what is asked for says so', (t) => {
  t.is(nodeVersion.tooOld('18.20.8')?.kind, 'old-node');
  t.is(nodeVersion.tooOld('20.18.3')?.kind, 'old-node');
  for (const version of ['20.19.0', '21.7.3', '22.9.0', '26.10.0']) t.is(nodeVersion.tooOld(version), null, version);
  const cwd = programFolder(t, { 'app.js': APP });
  const unable = '--no-experimental-require-module';
  const wanted = /^error cli\/bad-value: --placement: "loopback" takes a Node that can require ES modules/;
  const loopback = node(t, [unable, cliPath, 'run', '--placement', 'loopback', 'app.js'], { cwd });
  t.is(loopback.status, 2);
  t.is(loopback.stdout, '');
  t.regex(loopback.stderr, wanted);
  const env = { NODE_OPTIONS: `${unable} --import ${registerPath}`, FLUXION_PLACEMENT: 'loopback' };
  const registered = node(t, ['app.js'], { cwd, env });
  t.is(registered.status, 2);
  t.regex(registered.stderr, wanted);
  const eager = node(t, [unable, cliPath, 'run', '--placement', 'eager', 'app.js', ...ASKED], { cwd });
  t.is(eager.status, 0, eager.stderr);
});

// --- flags --------------------------------------------------------------------------------------------------------------

test('flags and variables', (t) => {
  const cwd = programFolder(t, {
    'app.js': APP,
    '-x.js': 'console.log(process.argv.length)',
    'own.mjs': 'export default { models: [] };',
  });
  const ok: readonly (readonly string[])[] = [
    ['--threads', '1', '--placement=eager', 'app.js', ...ASKED],
    ['--threads', '0', 'app.js', ...ASKED],
    ['--threads=auto', '--max-block-ms', '0', '--overload=503', '--log-level', 'silent', 'app.js', ...ASKED],
    ['--config', 'own.mjs', '--report', 'report.json', '--', 'app.js', ...ASKED],
  ];
  for (const words of ok) answers(t, fluxion(t, ['run', ...words], { cwd }));
  t.is(JSON.parse(readFileSync(join(cwd, 'report.json'), 'utf8')).version, 1);
  answers(t, fluxion(t, ['run', '--', '-x.js', '--threads'], { cwd }), '3\n');
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [
      ['--threads', 'x', 'app.js'],
      /^error cli\/bad-value: --threads: cannot be "x"; give it a number of threads, or "auto"\n$/,
    ],
    [['--threads=-1', 'app.js'], /bad-value: --threads/],
    [['--threads'], /bad-value: --threads: needs a value/],
    [['--placement', 'away', 'app.js'], /bad-value: --placement: cannot be "away"; give it one of: auto, home, eager/],
    [['--log-level', 'loud', 'app.js'], /bad-value: --log-level/],
    [['--max-block-ms', '1.5', 'app.js'], /bad-value: --max-block-ms/],
    [['--overload', '500', 'app.js'], /bad-value: --overload/],
    [['--config', 'none.js', 'app.js'], /^error config\/not-found/],
    [['--inspect', 'app.js'], /has no flag "--inspect"; it is one of node's, as in "node --inspect node_modules/],
    [['--import', './a.mjs', 'app.js'], /no flag "--import"; it is one of node's/],
    [['--thread', '2', 'app.js'], /unknown-flag.*did you mean "--threads"/],
    [[], /missing-entry/],
    [['--'], /missing-entry/],
  ];
  for (const [words, message] of wrong) {
    const { status, stdout, stderr } = fluxion(t, ['run', ...words], { cwd });
    t.is(status, 2, words.join(' '));
    t.is(stdout, '');
    t.regex(stderr, message);
    t.is(stderr.trim().split('\n').length, 1);
  }
  for (const [name, value] of Object.entries({
    FLUXION_PLACEMENT: 'x',
    FLUXION_LOG_LEVEL: 'x',
    FLUXION_OVERLOAD: 'x',
    FLUXION_MAX_BLOCK_MS: 'x',
  })) {
    const { status, stderr } = fluxion(t, ['run', 'app.js'], { cwd, env: { [name]: value } });
    t.is(status, 2);
    t.regex(stderr, new RegExp(`^error cli/bad-value: ${name}: cannot be "x"`));
  }
  answers(
    t,
    fluxion(t, ['run', '--placement', 'home', 'app.js', ...ASKED], {
      cwd,
      env: { FLUXION_PLACEMENT: 'eager', FLUXION_THREADS: '' },
    }),
  );
  for (const flag of ['--help', '-h']) {
    const { status, stdout } = fluxion(t, ['run', flag], { cwd });
    t.is(status, 0);
    for (const name of [
      '--threads',
      '--placement',
      '--config',
      '--report',
      '--log-level',
      '--max-block-ms',
      '--overload',
      '.flx',
      'fluxion/register',
    ])
      t.true(stdout.includes(name), name);
  }
});
