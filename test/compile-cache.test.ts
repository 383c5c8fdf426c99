import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import type { ExecutionContext } from 'ava';
import test from 'ava';
import compiledPrograms from '../runtime/cache.cjs';
import starts from '../runtime/compiled.cjs';
import options from '../runtime/options.cjs';
import { programFolder } from './support/drop-in.js';
import { prepare } from './support/prepare.js';
import { cliPath } from './support/run-cli.js';
import { ServedApp } from './support/served-app.js';
import { type Tree, tempFolder } from './support/temp-folder.js';

// What `fluxion run` keeps on disk between starts: it is used only while it is what the app is.

/** Two modules with cuts; what the app prints is told by its source, and by the cut that is defined in the text that runs. */
const ROUTE = (word: string): string => `const fs = require('fs');
let hits = 0;
exports.get = (req, res) => { fs.stat('.', (error, found) => { hits++; res.json('${word}'); }); };
exports.word = '${word}';
`;
const APP = `const app = require('express')();
const route = require('./route');
app.get('/', route.get);
app.get('/heavy', (req, res) => { let sum = 0; for (let i = 0; i < 1e5; i++) sum += i; res.json(sum); });
if (process.argv[2] === 'serve') app.listen(0, '127.0.0.1', function () { this.close(); });
console.log(route.word, route.get.toString().includes('fluxionLoop'));
`;

interface App {
  readonly folder: string;
  readonly cache: string;
  start(options?: StartOptions): SpawnSyncReturns<string>;
  /** Folders with compiled programs, by name. */
  compiled(): readonly string[];
}

interface StartOptions {
  readonly words?: readonly string[];
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly env?: { readonly [name: string]: string };
}

function makeApp(t: ExecutionContext, files: Tree = {}): App {
  const folder = programFolder(t, { 'package.json': '{}', 'app.js': APP, 'route.js': ROUTE('one'), ...files });
  const cache = tempFolder(t);
  return {
    folder,
    cache,
    start: ({ words = [], args = ['app.js'], cwd = folder, env = {} } = {}) =>
      spawnSync(process.execPath, [cliPath, 'run', ...words, ...args], {
        cwd,
        encoding: 'utf8',
        env: { ...process.env, NODE_OPTIONS: '', FLUXION_CACHE: cache, ...env },
      }),
    compiled: () =>
      keysIn(cache).flatMap((key) => readdirSync(join(cache, key)).filter((name) => /^[0-9a-f]{16}$/.test(name))),
  };
}

function keysIn(cache: string): readonly string[] {
  return readdirSync(cache).filter((name) => /^[0-9a-f]{24}$/.test(name));
}

/** The app runs as compiled, and says `word`. */
function runs(t: ExecutionContext, app: App, word: string, options: StartOptions = {}): void {
  const { stdout, stderr, status } = app.start(options);
  t.deepEqual({ stdout, stderr, status }, { stdout: `${word} true\n`, stderr: '', status: 0 });
}

/** Old enough that size and time tell a change. */
function age(...files: readonly string[]): void {
  for (const file of files) utimesSync(file, 1e9, 1e9);
}

/** What a start would ask. */
function isFound(app: App): boolean {
  return withCache(app, () => compiledPrograms.open(keysIn(app.cache)[0] ?? '') !== null);
}

function withCache<T>({ cache }: App, ask: () => T): T {
  const { FLUXION_CACHE } = process.env;
  process.env.FLUXION_CACHE = cache;
  try {
    return ask();
  } finally {
    if (FLUXION_CACHE === undefined) delete process.env.FLUXION_CACHE;
    else process.env.FLUXION_CACHE = FLUXION_CACHE;
  }
}

function currentFolder({ cache }: App): string {
  const [key = ''] = keysIn(cache);
  return join(cache, key, readFileSync(join(cache, key, 'current'), 'utf8'));
}

test('a second start compiles nothing', (t) => {
  const app = makeApp(t);
  runs(t, app, 'one');
  const [first] = app.compiled();
  runs(t, app, 'one');
  runs(t, app, 'one', { args: ['app.js', 'serve'] });
  t.deepEqual(app.compiled(), [first]);
});

test('a changed module is compiled anew, also within one tick of the clock', async (t) => {
  const app = makeApp(t);
  await prepare('app.js', app.folder, app.cache);
  runs(t, app, 'one');
  for (const word of ['two', 'six', 'ten']) {
    writeFileSync(join(app.folder, 'route.js'), ROUTE(word));
    age(join(app.folder, 'route.js'));
    runs(t, app, word);
  }
});

test('a module that is touched is the same module', async (t) => {
  const app = makeApp(t);
  await prepare('app.js', app.folder, app.cache);
  runs(t, app, 'one');
  const before = app.compiled();
  age(join(app.folder, 'route.js'));
  runs(t, app, 'one');
  t.deepEqual(app.compiled(), before);
});

test('a module that is gone', async (t) => {
  const app = makeApp(t);
  await prepare('app.js', app.folder, app.cache);
  runs(t, app, 'one');
  rmSync(join(app.folder, 'route.js'));
  const { status, stderr } = app.start();
  t.is(status, 1);
  t.regex(stderr, /Cannot find module '.\/route'/);
});

test('a configuration that comes, changes and goes', async (t) => {
  const app = makeApp(t);
  await prepare('app.js', app.folder, app.cache);
  runs(t, app, 'one');
  const config = join(app.folder, 'fluxion.config.js');
  writeFileSync(config, 'module.exports = { models: 1 };');
  const wrong = app.start();
  t.is(wrong.status, 2);
  t.regex(wrong.stderr, /^error config\/invalid/);
  writeFileSync(config, 'module.exports = { models: [] };');
  runs(t, app, 'one');
  rmSync(config);
  runs(t, app, 'one');
  t.true(app.compiled().length > 1);
});

test('a file more in a folder of which any file may be loaded', (t) => {
  const loader = "for (const name of require('fs').readdirSync('./pages')) require('./pages/' + name);\n";
  const app = makeApp(t, { 'app.js': loader + APP, 'pages/first.js': 'exports.page = 1;' });
  runs(t, app, 'one');
  const [first] = app.compiled();
  runs(t, app, 'one');
  t.deepEqual(app.compiled(), [first]);
  writeFileSync(join(app.folder, 'pages/second.js'), 'exports.page = 2;');
  runs(t, app, 'one');
  t.is(app.compiled().length, 2);
  t.true(readFileSync(join(currentFolder(app), 'start.json'), 'utf8').includes('pages/second.js'));
});

test('package.json has a say in what a module is', async (t) => {
  const app = makeApp(t);
  await prepare('app.js', app.folder, app.cache);
  runs(t, app, 'one');
  writeFileSync(join(app.folder, 'package.json'), '{ "type": "commonjs" }');
  runs(t, app, 'one');
  t.is(app.compiled().length, 2);
});

for (const file of ['start.json', 'link.json', 'inputs.json']) {
  test(`what is broken is not used: ${file}`, async (t) => {
    const app = makeApp(t);
    const breaks: readonly ((file: string) => void)[] = [
      (broken) => truncateSync(broken, 20),
      (broken) => truncateSync(broken),
      (broken) => writeFileSync(broken, readFileSync(broken, 'utf8').replace(/[a-z]/, 'X')),
      (broken) => rmSync(broken),
    ];
    for (const spoil of breaks) {
      await prepare('app.js', app.folder, app.cache);
      t.true(isFound(app));
      spoil(join(currentFolder(app), file));
      t.false(isFound(app));
      if (spoil !== breaks.at(-1)) rmSync(join(app.cache, keysIn(app.cache)[0] ?? ''), { recursive: true });
    }
    runs(t, app, 'one');
    t.is(app.compiled().length, 2);
    runs(t, app, 'one', { args: ['app.js', 'serve'] });
    t.is(app.compiled().length, 2);
  });
}

test('a manifest of another version is not used', async (t) => {
  const app = makeApp(t);
  await prepare('app.js', app.folder, app.cache);
  runs(t, app, 'one');
  const before = app.compiled();
  writeFileSync(join(currentFolder(app), 'inputs.json'), '{"version":2}');
  runs(t, app, 'one');
  t.is(app.compiled().length, before.length + 1);
  writeFileSync(join(app.cache, keysIn(app.cache)[0] ?? '', 'current'), '../../elsewhere');
  runs(t, app, 'one');
});

test('a cache that cannot be written to', (t) => {
  const app = makeApp(t, { 'a-file': '' });
  const elsewhere = tempFolder(t);
  const run = (FLUXION_CACHE: string) => app.start({ env: { FLUXION_CACHE, TMPDIR: elsewhere, XDG_CACHE_HOME: '' } });
  // Another one is found.
  t.is(run(join(app.folder, 'a-file')).stdout, 'one true\n');
  // Where there is none, it runs as it is.
  const none = app.start({
    words: ['--log-level', 'info'],
    env: { FLUXION_CACHE: join(app.folder, 'a-file'), TMPDIR: join(app.folder, 'a-file') },
  });
  t.is(none.stdout, 'one false\n');
  t.regex(
    none.stderr,
    /^fluxion info: the app runs as it is, on one thread: no folder for its cache can be written to .*\n$/,
  );
});

test('a cache that others can write to is not trusted', async (t) => {
  const app = makeApp(t);
  await prepare('app.js', app.folder, app.cache);
  runs(t, app, 'one');
  chmodSync(app.cache, 0o777);
  const { stdout } = app.start({ env: { TMPDIR: join(app.folder, 'app.js') } });
  t.is(stdout, 'one false\n');
});

test('what V8 makes of texts is kept with the program, where Node can and nobody else does it', async (t) => {
  const where =
    "const { getCompileCacheDir } = require('module');\nexports.get = (req, res) => res.json(0);\nexports.word = getCompileCacheDir?.() ?? 'nowhere';\n";
  const app = makeApp(t, { 'route.js': where });
  await prepare('app.js', app.folder, app.cache);
  const kept = (env = {}): string => app.start({ env }).stdout.split(' ')[0] ?? '';
  const folder = currentFolder(app);
  const isPossible = 'flushCompileCache' in module;
  t.is(dirname(kept()), isPossible ? join(folder, 'code') : '.');
  t.is(existsSync(join(folder, 'code')), isPossible);
  t.is(kept({ NODE_V8_COVERAGE: join(app.folder, 'coverage') }), 'nowhere');
  const own = join(app.folder, 'own');
  if (isPossible) t.is(dirname(kept({ NODE_COMPILE_CACHE: own })), own);
});

/** Nobody waits for a server to end, which may be killed. */
test('a server writes down what V8 has made once it has started', async (t) => {
  const serve =
    "require('express')().listen(0, '127.0.0.1', function () { console.log('port ' + this.address().port); });\n";
  const server = await ServedApp.serve(t, { 'app.js': serve }, { flags: [] });
  const folder = join(server.folder, 'cache');
  const isWritten = (): boolean =>
    readdirSync(folder, { recursive: true }).some((name) => /code.v\d.*.\w{8}$/.test(`${name}`));
  if ('flushCompileCache' in module) await server.until(isWritten);
  t.is(isWritten(), 'flushCompileCache' in module);
});

/** A program that nothing may leave is another thing: `fluxion explain` has nothing to say of this one. */
test('a start that does not try again says why an earlier one could not', (t) => {
  const app = makeApp(t, { 'compiler.cjs': 'process.exit(70);' });
  const read = options.readWords(['--log-level', 'silent', 'app.js'], {});
  if ('kind' in read) return t.fail(read.kind);
  const start = () =>
    withCache(app, () =>
      starts.prepare(
        { kind: 'entry', file: join(app.folder, 'app.js') },
        read.options,
        join(app.folder, 'compiler.cjs'),
      ),
    );
  t.is(start(), null);
  t.regex(
    start()?.manifest.failed ?? '',
    /^the compiler ended with 70 at an earlier start; starts after \d.*Z try it again$/,
  );
  t.is(app.compiled().length, 1);
});

test('what is compiled ahead is what a start would compile', (t) => {
  const app = makeApp(t);
  const compileTo = (cache: string, ...words: readonly string[]): SpawnSyncReturns<string> => {
    const env = { ...process.env, NODE_OPTIONS: '', FLUXION_CACHE: cache, XDG_CACHE_HOME: '', TMPDIR: cache };
    return spawnSync(process.execPath, [cliPath, 'compile', ...words], { cwd: app.folder, encoding: 'utf8', env });
  };
  const { stdout, stderr, status } = compileTo(app.cache, 'app.js', '--cache');
  t.deepEqual([stderr, status], ['', 0]);
  t.is(stdout, `app.js is compiled; "fluxion run" finds it in ${app.cache}\n`);
  const compiled = app.compiled();
  runs(t, app, 'one');
  t.deepEqual(app.compiled(), compiled);
  const named = join(app.cache, 'of-an-image');
  compileTo(named, 'app.js', '--cache');
  const modes = [named, ...keysIn(named).map((key) => join(named, key))].map((folder) => statSync(folder).mode & 0o777);
  t.deepEqual(modes, Array(2).fill(0o755 & ~process.umask()));
  t.regex(compileTo(app.cache, 'none.js', '--cache').stderr, /cli\/entry-not-found/);
  t.regex(compileTo(app.cache, 'app.js', '--cache', '--emit', 'json').stderr, /leave out --out and --emit/);
  const failed = compileTo(join(app.folder, 'app.js'), 'app.js', '--cache');
  t.regex(failed.stderr, /cli\/cache-failed.*FLUXION_CACHE/s);
  t.is(failed.status, 2);
});

test('many starts at once', async (t) => {
  const app = makeApp(t);
  const env = { ...process.env, NODE_OPTIONS: '', FLUXION_CACHE: app.cache };
  const children = Array.from({ length: 4 }, () =>
    spawn(process.execPath, [cliPath, 'run', 'app.js'], { cwd: app.folder, env }),
  );
  const outputs = await Promise.all(
    children.map(async (child) => {
      let text = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)));
      await once(child, 'close');
      return text;
    }),
  );
  t.deepEqual(outputs, Array(4).fill('one true\n'));
  runs(t, app, 'one');
});

test('the same file name in another folder is another app', async (t) => {
  const app = makeApp(t, { 'b/app.js': APP, 'b/route.js': ROUTE('two') });
  await prepare('app.js', app.folder, app.cache);
  runs(t, app, 'one');
  runs(t, app, 'two', { cwd: join(app.folder, 'b') });
  runs(t, app, 'one', { cwd: join(app.folder, 'b'), args: ['../app.js'] });
  runs(t, app, 'one');
});

// --- compilers that fail ---------------------------------------------------------------------------------------------

/** What each of many objects has is copied to all others, and called. */
function tangle(objects: number, methods: number): string {
  const names = Array.from({ length: objects }, (_, at) => `o${at}`);
  const body = (at: number): string =>
    Array.from({ length: methods }, (_, m) => `m${at}_${m}(x) { this.last = x; return x; }`).join(', ');
  return `${names.map((name, at) => `const ${name} = { ${body(at)} };`).join('\n')}
const all = [${names.join(', ')}];
const mix = (to, from) => Object.assign(to, from);
for (const to of all) for (const from of all) mix(to, from);
module.exports = (x) => all.reduce((sum, each) => { for (const name in each) sum = each[name](x, sum) ?? sum; return sum; }, 0);
`;
}

test('an app of which nothing can be told apart runs as it is, and is not compiled again before it changes', async (t) => {
  const route = `exports.word = 'tangled';\nexports.get = (req, res) => res.json(require('./tangle')(1));\n`;
  const app = makeApp(t, { 'route.js': route, 'tangle.js': tangle(60, 120) });
  await prepare('app.js', app.folder, app.cache);
  const compiled = app.compiled();
  t.is(compiled.length, 1);
  const { stdout, stderr } = app.start({ words: ['--log-level', 'info'] });
  t.is(stdout, 'tangled false\n');
  t.regex(stderr, /nothing of it may leave/);
  t.deepEqual(app.compiled(), compiled);
  writeFileSync(join(app.folder, 'tangle.js'), `module.exports = (x) => x;\n`);
  t.notRegex(app.start({ words: ['--log-level', 'info'] }).stderr, /nothing of it may leave/);
});

test('an app that cannot be compiled runs as it is, and says so if asked', (t) => {
  const app = makeApp(t, {
    'route.js': 'exports.get = () => {}; exports.word = "odd";\ntry { require("./odd"); } catch {}',
    'odd.js': 'let b b;',
  });
  t.is(app.start().stdout, 'odd false\n');
  const broken = makeApp(t, { 'app.js': 'let b b;' });
  const { status, stderr } = broken.start({ words: ['--log-level', 'info'] });
  t.is(status, 1);
  t.regex(stderr, /^fluxion info: the app runs as it is, on one thread: it cannot be compiled; .*\n.*app\.js:1\n/);
});

// --- what is left behind ---------------------------------------------------------------------------------------------

test('what nobody uses any more is dropped, what is in use is kept', async (t) => {
  const app = makeApp(t);
  await prepare('app.js', app.folder, app.cache);
  runs(t, app, 'one');
  const first = currentFolder(app);
  writeFileSync(join(first, `used-${process.pid}`), '');
  for (const word of ['two', 'six']) {
    writeFileSync(join(app.folder, 'route.js'), ROUTE(word));
    runs(t, app, word);
    if (word === 'two') age(currentFolder(app));
  }
  age(first);
  writeFileSync(join(app.folder, 'route.js'), ROUTE('end'));
  runs(t, app, 'end');
  const left = app.compiled();
  t.true(existsSync(first), 'a process that is alive uses it');
  t.is(left.length, 3, 'replaced long ago and not in use: dropped; replaced just now: kept for who reads it');
  rmSync(join(first, `used-${process.pid}`));
  age(first);
  const other = makeApp(t);
  const ancient = join(app.cache, '0'.repeat(24));
  spawnSync('mkdir', ['-p', join(ancient, '0'.repeat(16))]);
  age(join(ancient, '0'.repeat(16)));
  other.start({ env: { FLUXION_CACHE: app.cache } });
  t.false(existsSync(ancient));
  t.false(existsSync(first));
});
