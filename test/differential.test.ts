import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import test from 'ava';
import {
  type App,
  compileApp,
  makeApp,
  type Run,
  type RunOptions,
  runEmitted,
  runFactories,
  runOriginal,
} from './support/differential.js';
import type { Tree } from './support/temp-folder.js';

// What the emitted program shows to the outside, against the original.

async function same(t: ExecutionContext, app: App, options: RunOptions = {}): Promise<Run> {
  const original = await originalOf(app, options);
  t.deepEqual(await runEmitted(app, options), original);
  return original;
}

/** What it does is compared with several runs, but need not be done anew for each. */
function originalOf(app: App, options: RunOptions): Promise<Run> {
  const of = originals.get(app) ?? new Map<string, Promise<Run>>();
  originals.set(app, of);
  const key = JSON.stringify(options);
  const run = of.get(key) ?? runOriginal(app, options);
  of.set(key, run);
  return run;
}

const originals = new WeakMap<App, Map<string, Promise<Run>>>();

/** Every cut is taken; gives the fluxions that have been run that way. */
async function sameFromFactories(t: ExecutionContext, app: App, options: RunOptions): Promise<readonly string[]> {
  const { cuts, ...seen } = await runFactories(app, options);
  t.deepEqual(seen, await originalOf(app, options));
  return cuts;
}

const paths = (...all: string[]): RunOptions => ({ requests: all.map((path) => ({ path })) });

const LISTEN = `app.listen(process.env.PORT, '127.0.0.1', () => console.log('listening'));\n`;

/** A route with a cut in it, so that the module's emitted text differs from what was written. */
const COMMONJS = `const cutFs = require('fs'), app = require('express')();
let cutHits = 0;
app.get('/cut', (req, res) => {
  cutFs.stat('.', (error, found) => { cutHits++; res.json([cutHits, found.isDirectory()]); });
});
`;
const ES_MODULE = COMMONJS.replace(
  /^.*\n/,
  `import cutFs from 'fs'; import express from 'express'; const app = express();\n`,
);

// --- cuts ----------------------------------------------------------------------------------------------------------

const CUTS: Tree = {
  'data.txt': 'some text',
  'app.js': `#!/usr/bin/env node
'use strict'
const fs = require('fs');
const { readFile, stat } = require('fs/promises');
const express = require('express');
const app = express();
const file = __dirname + '/data.txt';
let count = 0;
const log = [];

app.get('/callback', (req, res) => {
  const { q } = req.query;
  fs.readFile(file, 'utf8', function (err, data) { count += 1; res.send([q, data, count]); });
});

app.get('/nested', (req, res, next) => {
  fs.readFile(file, 'utf8', (err, data) => {
    if (err) return next(err);
    const size = data.length;
    log.push(size);
    fs.stat(file, (failed, { size: again }) => {
      count++;
      res.json({ log, size, again, count });
    });
  });
});

app.get('/rest', async (req, res, next) => {
  try {
    const data = await readFile(req.query.file ?? file, 'utf8') // no semicolon
    count += data.length
    const { size } = await stat(file)
    log.push(size)
    if (data.length === Number(req.query.fail)) throw new Error('asked to fail');
    res.json({ count, log, size })
  } catch (error) {
    next(error)
  }
});

app.get('/result', async (req, res) => {
  const twice = async (name) => {
    const text = await readFile(name, 'utf8');
    count += 1;
    return text + text;
  };
  res.send(await twice(file));
});

app.get('/promise', (req, res) => {
  stat(file).then((found) => { count++; res.json({ count, size: found.size }); }, () => res.sendStatus(500));
});

app.get('/timer', (req, res) => {
  const sent = { at: 'a' };
  setTimeout(() => { log.push(sent.at); res.send(log.join()); }, 1);
  sent.at = 'b';
});

app.use((error, req, res, next) => res.status(418).send(error.message));
${LISTEN}`,
};

const CUT_REQUESTS = paths(
  ...['/callback?q=1', '/callback?q=2', '/nested', '/rest', '/rest?fail=9', '/rest?file=/none', '/result', '/promise'],
  ...['/timer', '/timer', '/missing'],
);

test('code at cuts, in place', async (t) => {
  await same(t, await makeApp(t, 'app.js', CUTS), CUT_REQUESTS);
});

test('code at cuts, from its factories', async (t) => {
  const app = await makeApp(t, 'app.js', CUTS);
  t.deepEqual(await sameFromFactories(t, app, CUT_REQUESTS), [
    ...['get_callback_readFile', 'get_nested_readFile', 'get_promise_then', 'get_rest_readFile'],
    ...['get_timer_setTimeout', 'twice_readFile'],
  ]);
});

test('an ES module: cuts, top-level await, import.meta', async (t) => {
  const app = await makeApp(t, 'app.mjs', {
    'app.mjs': `${ES_MODULE}import { readFile } from 'node:fs/promises';
import * as lib from './lib.mjs?as=lib';
import data from './data.json' with { type: 'json' };
import cjs, { named } from './legacy.cjs';
const text = await readFile(new URL('./data.json', import.meta.url), 'utf8');
app.get('/', (req, res) => res.json([text, data, lib, cjs, named, this === undefined]));
app.get('/meta', (req, res) => {
  const { url, filename, dirname, main } = import.meta;
  res.json({ url, filename, dirname, main, resolved: import.meta.resolve('./lib.mjs'), argv: process.argv.slice(1) });
});
${LISTEN}export let exported = cutHits;
`,
    'lib.mjs': `import fs from 'node:fs';
export const url = import.meta.url;
export let changed = 0;
export default async function later(req, res) {
  const { length } = await fs.promises.readFile(new URL(import.meta.url));
  changed += length;
  res.send(String(changed));
}
`,
    'legacy.cjs': `exports.named = 1; exports.where = [__filename, require.main, module.parent === undefined];`,
    'data.json': '{ "a": 1 }',
  });
  const requests = paths('/', '/meta', '/cut', '/cut');
  await same(t, app, { ...requests, args: ['--flag', 'word'] });
  t.deepEqual(await sameFromFactories(t, app, requests), ['get_cut_stat']);
});

test('.js files of a package of ES modules, and CommonJS that they load', async (t) => {
  const app = await makeApp(t, 'src/app.js', {
    'package.json': '{ "type": "module", "imports": { "#lib": "./src/lib.cjs" } }',
    'src/app.js': `${ES_MODULE}import { createRequire } from 'node:module';
import route from '#lib';
const require = createRequire(import.meta.url);
app.get('/lib', route);
app.get('/', (req, res) => res.json([require('./lib.cjs') === route, require.main === undefined, process.mainModule]));
${LISTEN}`,
    'src/lib.cjs': `'use strict';
const fs = require('fs');
let reads = 0;
module.exports = (req, res) => {
  fs.readFile(__filename, 'utf8', (error, text) => { reads++; res.send(text.length + ' ' + reads + ' ' + module.id); });
};
`,
  });
  await same(t, app, paths('/', '/lib', '/cut', '/lib'));
  await sameFromFactories(t, app, paths('/lib', '/cut', '/lib'));
});

test('CommonJS that imports an ES module later', async (t) => {
  const app = await makeApp(t, 'app.js', {
    'app.js': `${COMMONJS}import('./lib.mjs').then((lib) => {
  app.get('/', (req, res) => res.json(Object.keys(lib)));
  app.get('/lib', lib.default);
  ${LISTEN}});
`,
    'lib.mjs': `import { stat } from 'fs';
export let seen = 0;
export default (req, res) => { stat('.', () => { seen++; res.send(import.meta.url + seen); }); };
`,
  });
  await same(t, app, paths('/', '/lib', '/lib', '/cut'));
});

test('a cycle of imports: functions that are called before the first line of their module', async (t) => {
  const app = await makeApp(t, 'app.mjs', {
    'app.mjs': `import { early } from './other.mjs';
import fs from 'node:fs';
import express from 'express';
const app = express();
let count = 0;
export function handler(req, res) { fs.stat('.', () => { count++; res.send('count ' + count + early); }); }
export function read(path, done) { fs.stat(path, (error, found) => { done(found.isDirectory()); }); }
app.get('/', handler);
${LISTEN}`,
    'other.mjs': `import { read, handler } from './app.mjs';
export let early = 'not yet';
read('.', (is) => { early = String(is); });
export const same = handler;
`,
  });
  await same(t, app, paths('/', '/'));
});

// --- what a module knows of itself -----------------------------------------------------------------------------------

const IDENTITY = `${COMMONJS}
const Module = require('module');
const lines = () => ({
  filename: __filename, dirname: __dirname, argv: process.argv.slice(1), argv0: process.argv0, execArgv: process.execArgv,
  main: require.main === module, mainFile: require.main.filename, mainModule: process.mainModule === module,
  module: { id: module.id, path: module.path, paths: module.paths, loaded: module.loaded, parent: module.parent },
  children: module.children.length, cache: Object.keys(require.cache).filter((file) => !file.includes('node_modules')),
  resolved: [require.resolve('./lib'), require.resolve('express')], globals: Object.keys(globalThis),
  sloppy: (function () { return this === globalThis; })(), exports: this === module.exports, wrapper: arguments.length,
  source: require('fs').readFileSync(__filename, 'utf8'), compile: typeof module._compile, keys: Object.keys(module),
  stack: new Error('here').stack.split('\\n')[1],
});
console.log(JSON.stringify(lines(), null, 1));
const lib = require('./lib');
app.get('/', (req, res) => res.json([lines(), lib, require('./lib') === lib]));
app.get('/again', (req, res) => {
  delete require.cache[require.resolve('./lib')];
  res.json(require('./lib') === lib);
});
app.get('/lib', (req, res) => require('./lib').handler(req, res));
if (require.main === module) ${LISTEN}`;

const IDENTITY_LIB = `exports.early = 1;
const app = require('../app.js'), fs = require('fs');
let seen = 0;
exports.cycle = [Object.keys(app), module.parent.filename, require.main.filename, module.children.length];
exports.settings = require('../settings');
exports.handler = (req, res) => { fs.readFile(__filename, (error, text) => { seen++; res.json([text.length, seen]); }); };
`;

const IDENTITY_TREE: Tree = {
  'app.js': IDENTITY.replaceAll('./lib', './routes/lib'),
  'routes/lib.js': IDENTITY_LIB,
  'settings.json': '{ "a": [1] }',
};

test('a CommonJS module finds itself where it was written', async (t) => {
  const app = await makeApp(t, 'app.js', IDENTITY_TREE);
  const requests = paths('/', '/cut', '/lib', '/again', '/lib', '/cut');
  await same(t, app, { ...requests, args: ['a b', '--flag=1', '--', '-x'] });
  await same(t, app, { ...requests, nodeArgs: ['--no-deprecation'] });
  await same(t, app, { ...requests, nodeArgs: ['--enable-source-maps'], cwd: '/' });
});

test('the folder of the output may be anywhere, in a package of ES modules too', async (t) => {
  const app = await makeApp(t, 'app.js', { ...IDENTITY_TREE, 'dist/package.json': '{ "type": "module" }' });
  const moved = { ...app, ...(await compileApp(app.folder, 'app.js', join(app.folder, 'dist/deep/er'))) };
  await same(t, moved, paths('/', '/cut', '/lib'));
});

test('an entry without an extension', async (t) => {
  const app = await makeApp(t, 'bin/www', {
    'bin/www': `#!/usr/bin/env node

/** Starts it. */
var app = require('../app');
var http = require('http'), fs = require('fs');
var started = 0;
http.createServer(app).listen(process.env.PORT, '127.0.0.1', function () {
  fs.stat(__filename, (error, found) => { started++; console.log('listening', started, __filename, process.argv[1]); });
});
`,
    'app.js': `${COMMONJS}module.exports = app;\n`,
  });
  await same(t, app, paths('/cut', '/nothing'));
});

test('an entry whose extension nobody writes', async (t) => {
  const app = await makeApp(t, 'app.js', { 'app.js': `${COMMONJS}console.log(process.argv, require.main.filename);` });
  const short: App = { ...app, entry: 'app', starter: 'app' };
  const { stdout } = await same(t, short);
  t.true(stdout.includes(`${join(app.folder, 'app')}'`));
});

// --- failures ----------------------------------------------------------------------------------------------------------

const FAILURES: { readonly [name: string]: string } = {
  throw: `function deep(n) { if (n > 0) return deep(n - 1); throw new TypeError('at start-up'); }\ndeep(1);\n`,
  'throw from a deep stack': `function deep(n) { if (n > 0) return deep(n - 1); throw new RangeError('deep'); }\ndeep(20);\n`,
  'throw what is no error': `throw { code: 'E_PLAIN' };\n`,
  'error with a cause': `throw new Error('outer', { cause: new Error('inner') });\n`,
  'error that is its own cause': `const e = new Error('e'); e.cause = e; throw e;\n`,
  'temporal dead zone': `console.log(typeof later);\nconst later = 1;\n`,
  'missing package': `require('no-such-package');\n`,
  exit: `process.exitCode = 4; process.on('exit', (code) => console.log('exit', code));\n`,
  'exit at once': `console.log('a'); process.exit(3);\n`,
  'rejected promise': `Promise.reject(new Error('nobody catches this'));\n`,
  'in a timer': `setTimeout(() => { throw new Error('in a timer'); }, 1);\n`,
  'caught by the process': `process.on('uncaughtException', (e, from) => console.log(from, e.stack));\nthrow new Error('caught');\n`,
  warning: `process.emitWarning('mind this');\n`,
};

for (const [name, code] of Object.entries(FAILURES)) {
  for (const nodeArgs of [[], ['--enable-source-maps']]) {
    test(`a CommonJS start-up that fails: ${[name, ...nodeArgs].join(' ')}`, async (t) => {
      const app = await makeApp(t, 'app.js', { 'app.js': `${COMMONJS}${code}` });
      if (nodeArgs.length === 0) await same(t, app);
      else await sameButForMaps(t, app, { nodeArgs });
    });
    test(`an ES module start-up that fails: ${[name, ...nodeArgs].join(' ')}`, async (t) => {
      const require = `import { createRequire } from 'module'; const require = createRequire(import.meta.url);\n`;
      const app = await makeApp(t, 'app.mjs', { 'app.mjs': `${ES_MODULE}${require}${code}` });
      if (nodeArgs.length === 0) await same(t, app);
      else await sameButForMaps(t, app, { nodeArgs });
    });
  }
}

/** Where a module has a map, Node prints one empty line more, and the paths of ES modules instead of their addresses. */
async function sameButForMaps(t: ExecutionContext, app: App, options: RunOptions): Promise<Run> {
  const plain = (run: Run): Run => ({
    ...run,
    stdout: withoutMapWords(run.stdout),
    stderr: withoutMapWords(run.stderr),
  });
  const original = await runOriginal(app, options);
  t.deepEqual(plain(await runEmitted(app, options)), plain(original));
  return original;
}

function withoutMapWords(text: string): string {
  return text
    .replace(/\n\n+/g, '\n')
    .replaceAll('file://', '')
    .replace(/<anonymous> \((.*)\)/g, '$1');
}

test('a required module that fails, and one that is waited for for ever', async (t) => {
  const tree = { 'app.js': `${COMMONJS}\n  require('./lib');\n`, 'lib.js': `${COMMONJS}null.x;\n` };
  await same(t, await makeApp(t, 'app.js', tree));
  await same(t, await makeApp(t, 'app.mjs', { 'app.mjs': `${ES_MODULE}await new Promise(() => {});\n` }));
});

test('an exception in a handler, and one that nobody catches', async (t) => {
  const app = await makeApp(t, 'app.js', {
    'app.js': `${COMMONJS}
app.get('/handler', (req, res) => {
  throw new Error('in a handler');
});
app.get('/callback', (req, res) => {
  cutFs.stat('.', (error, found) => {
    cutHits++;
    throw new Error('nobody catches this');
  });
});
${LISTEN}`,
  });
  const requests = paths('/cut', '/handler', '/callback');
  t.is((await same(t, app, requests)).code, 1);
  // With the map, what was thrown from a copy is shown where it was written.
  const written = await runOriginal(app, { ...requests, nodeArgs: ['--enable-source-maps'] });
  const copied = await runFactories(app, { ...requests, nodeArgs: ['--enable-source-maps'] });
  const place = `${join(app.folder, 'app.js')}:13:11`;
  t.true(written.stderr.includes(place));
  t.true(copied.stderr.includes(place), copied.stderr);
});

// --- Express 3 and 4 -----------------------------------------------------------------------------------------------------

for (const version of ['express3', 'express4']) {
  test(`an app of ${version}`, async (t) => {
    const app = await makeApp(t, 'app.js', {
      'app.js': `var express = require('${version}'), fs = require('fs'), path = require('path');
var app = express(), visits = {};
app.use(function (req, res, next) { res.setHeader('X-Before', '1'); next(); });
app.get('/user/:id', function (req, res) {
  var id = req.params.id;
  fs.readFile(path.join(__dirname, 'app.js'), 'utf8', function (err, text) {
    visits[id] = (visits[id] || 0) + 1;
    res.json({ id: id, visits: visits[id], length: text.length });
  });
});
app.get('/stream', function (req, res) { fs.createReadStream(__filename).pipe(res); });
${LISTEN}`,
    });
    const requests = paths('/user/1', '/user/2', '/user/1', '/stream', '/none');
    await same(t, app, requests);
    await sameFromFactories(t, app, requests);
  });
}
