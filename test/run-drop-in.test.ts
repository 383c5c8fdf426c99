import { chmodSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import test from 'ava';
import { type Program, type Running, sameAsNode, type Way } from './support/drop-in.js';
import { link } from './support/temp-folder.js';

// `fluxion run` against `node`, case by case, with handlers in the app that may move: recorder and texts with cuts are there and,
// once it serves, engine and replicas. Until an app serves, `auto` and `eager` are the same, so these are told apart only where it
// does; and an app of which nothing may move runs as one that is told to stay home, so few cases try both.

/** Handlers with a cut in the middle and without; what stands behind the last line is the case. On one line: lines stay. */
const MOVABLE = `const express = require('express'), cutFs = require('fs'), app = express(); let hits = 0; app.get('/heavy', (req, res) => { let sum = 0; for (let i = 0; i < 1e5; i++) sum += i % 7; res.json(sum); }); app.get('/cut', (req, res) => { cutFs.stat('.', (error, found) => { hits++; res.json([hits, found.isDirectory()]); }); });`;
const MOVABLE_ESM = MOVABLE.replace(
  /^const express = require\('express'\), cutFs = require\('fs'\), /,
  `import express from 'express'; import cutFs from 'fs'; const `,
);

/** The same in a program that does not serve: it need not wait for Express. */
const CUT_ONLY = `${MOVABLE.replace(
  /^const express.*app = express\(\);/,
  `const cutFs = require('fs'); if (process.env.SERVES) { const app = require('express')();`,
)} }`;

/** Serves on a port of its own, and says so. */
const LISTEN = `const server = app.listen(0, '127.0.0.1', () => console.error('port=' + server.address().port + ';'));`;

const PLACES = `console.log(JSON.stringify({
  argv: process.argv, argv0: process.argv0, execArgv: process.execArgv, execPath: process.execPath, cwd: process.cwd(), title: process.title,
  env: Object.keys(process.env).sort(), PWD: process.env.PWD, _: process.env._,
  main: require.main === module, mainModule: process.mainModule === module, mainFile: require.main.filename, id: module.id,
  parent: module.parent === null ? 'null' : typeof module.parent, children: module.children.map(({ id }) => id), path: module.path, paths: module.paths,
  loaded: module.loaded, cache: Object.keys(require.cache), __filename, __dirname, keys: Object.keys(module),
  globals: Object.keys(globalThis), own: Object.getOwnPropertyNames(globalThis),
  extensions: Object.keys(require.extensions), listeners: process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
  exitCode: process.exitCode, resolved: require.resolve('./app.js'), args: arguments.length, isThis: this === module.exports,
  handles: process.getActiveResourcesInfo().filter((name) => !/Pipe|TTY/.test(name)), limit: Error.stackTraceLimit, prepare: typeof Error.prepareStackTrace,
}, null, 1));`;

const ESM_PLACES = `const { url, filename, dirname, main } = import.meta;
console.log(JSON.stringify({ url, filename, dirname, main, keys: Object.keys(import.meta), argv: process.argv, execArgv: process.execArgv, mainModule: typeof process.mainModule,
  resolved: import.meta.resolve('./x.mjs'), listeners: process.eventNames().map((name) => [String(name), process.listenerCount(name)]), globals: Object.keys(globalThis) }, null, 1));`;

/** Below the place where Node begins, a short stack that the app prints itself shows how Node has loaded the starter. */
const masked = (text: string): string =>
  text.replace(/(node:internal\/main\/[^\s|]+)(\n +at .*|[|]node:internal.*)+/g, '$1');

/** The newer Node is asked in the way that has all parts of the other. */
const BY: readonly Way[] = Number.parseInt(process.versions.node, 10) > 20 ? ['eager'] : ['home', 'eager'];

/** Where the app has handlers that may move, and where it has none; compiled by the first run itself. */
function both(title: string, program: (prefix: string) => Program): void {
  test(`${title}, nothing to move`, async (t) => {
    await sameAsNode(t, program(''), ['auto'], 'empty');
  });
  test(`${title}, handlers to move`, async (t) => {
    await sameAsNode(t, program(MOVABLE), ['home', 'eager'], 'empty');
  });
}

function same(title: string, program: (prefix: string) => Program): void {
  test(title, async (t) => {
    await sameAsNode(t, program(CUT_ONLY), BY);
  });
}

const app =
  (code: string, rest: Omit<Program, 'files'> = {}) =>
  (prefix: string): Program => ({
    files: { 'app.js': `${prefix}\n${code}\n` },
    ...rest,
  });
const esm =
  (code: string, rest: Omit<Program, 'files'> = {}) =>
  (prefix: string): Program => ({
    files: { 'app.mjs': `${prefix === '' ? '' : MOVABLE_ESM}\n${code}\n` },
    words: ['app.mjs'],
    ...rest,
  });

// --- what the app sees -----------------------------------------------------------------------------------------------

both('what a CommonJS entry sees', app(PLACES, { words: ['app.js', '--flag', 'run', '--', '-x', ''] }));
both('what an ES module sees', esm(ESM_PLACES, { words: ['./app.mjs', 'a', '--b=c'] }));
same('arguments of node', app(PLACES, { nodeWords: ['--no-warnings', '--stack-trace-limit=4'] }));
same('NODE_OPTIONS', (prefix) => ({
  files: { 'pre.cjs': `console.log('preloaded', process.argv.length > 1);`, 'app.js': `${prefix}\n${PLACES}` },
  env: { NODE_OPTIONS: '--require ./pre.cjs --no-deprecation' },
}));
same('an entry in another folder', (prefix) => ({
  files: { 'lib/app.js': `${prefix}\n${PLACES}`, 'work/x': '' },
  words: ['../lib/app.js'],
  cwd: 'work',
}));
same('an entry without its extension', (prefix) => ({ files: { 'app.js': `${prefix}\n${PLACES}` }, words: ['app'] }));
same('a folder with a main', (prefix) => ({
  files: { 'app/package.json': '{"main": "lib/app.js"}', 'app/lib/app.js': `${prefix}\n${PLACES}` },
  words: ['app', 'word'],
}));
same('a folder with an index', (prefix) => ({
  files: { 'index.js': `${prefix}\n${PLACES.replace('./app.js', './index.js')}` },
  words: ['.'],
}));
same('an entry behind a symbolic link', (prefix) => ({
  files: { 'real/app.js': `${prefix}\n${PLACES}`, 'app.js': link('real/app.js') },
}));
same('links kept', (prefix) => ({
  files: { 'real/app.js': `${prefix}\n${PLACES}`, 'app.js': link('real/app.js') },
  nodeWords: ['--preserve-symlinks', '--preserve-symlinks-main'],
}));
same('.cjs', (prefix) => ({ files: { 'app.js': '', 'app.cjs': `${prefix}\n${PLACES}` }, words: ['app.cjs'] }));
same('"type": "module"', (prefix) => ({
  files: { 'package.json': '{"type": "module"}', 'app.js': `${prefix === '' ? '' : MOVABLE_ESM}\n${ESM_PLACES}` },
}));
both('an ES module without a sign of it', (prefix) => ({
  files: { 'app.js': `${prefix === '' ? '' : MOVABLE_ESM}\nimport 'node:fs';\n${ESM_PLACES}` },
}));
same('several modules', (prefix) => ({
  files: {
    'app.js': `${prefix}\nrequire('./a'); ${PLACES}`,
    'a.js': `exports.b = require('./b'); console.log(module.parent.id, require.main.filename, module.children.length);`,
    'b.js': `console.log(module.parent.filename, new Error('seen').stack);`,
  },
}));
test('a JSON file', async (t) => {
  await sameAsNode(t, { files: { 'data.json': '{"a": 1}' }, words: ['data.json'] });
});
test('an executable without an extension', async (t) => {
  const before = (folder: string): void => chmodSync(join(folder, 'bin/www'), 0o755);
  await sameAsNode(t, {
    files: { 'bin/www': `#!/usr/bin/env node\n${MOVABLE}\n${PLACES.replace('./app.js', './www')}` },
    words: ['bin/www'],
    before,
  });
});

// --- how it ends -----------------------------------------------------------------------------------------------------

both(
  'process.exit',
  app(`process.on('exit', (code) => console.log('exit', code)); console.log('a'); process.exit(3);`),
);
same('process.exitCode', app(`process.on('beforeExit', () => console.log('before')); process.exitCode = 4;`));
both('an error that start-up throws', app(`function inner() { throw new TypeError('at start'); }\n\ninner();`));
same('an error with a cause', app(`try { null.x; } catch (cause) { throw new Error('outer', { cause }); }`));
same('something else thrown', app(`throw { some: 'object' };`));
same('an error in a required module', (prefix) => ({
  files: { 'app.js': `${prefix}\nrequire('./a');`, 'a.js': `\nmodule.exports = undefinedName;` },
}));
same('a syntax error in the entry', app(`const a = ;`));
same('a syntax error in a required module', (prefix) => ({
  files: { 'app.js': `${prefix}\nrequire('./a');`, 'a.js': `\nlet b b;` },
}));
same('a syntax error in an ES module', esm(`let b b;`));
same('a module that is missing', app(`require('./none');`));
// Before Node 22.15 texts of ES modules can only be replaced on a thread of Node's, which has other frames on its stack.
same(
  'an import that is missing',
  esm(`import './none.mjs';`, { masked: (text) => /^Error .*/m.exec(text)?.[0] ?? text }),
);
same('an export that is missing', esm(`import { none } from 'node:fs';`));
same('an unhandled rejection', app(`Promise.reject(new Error('nobody'));`));
same('an unhandled rejection with a reason', app(`Promise.reject('words');`));
same(
  'a rejection, only warned of',
  app(`Promise.reject(new Error('nobody'));`, { nodeWords: ['--unhandled-rejections=warn'], masked }),
);
same('an error in a timer', app(`setTimeout(() => { throw new Error('late'); }, 1);`));
same('an error in an ES module', esm(`await 1;\nfunction inner() { throw new TypeError('at start'); }\n\ninner();`));
same(
  'an error in an ES module, before it waits',
  esm(`function inner() { throw new TypeError('at start'); }\n\ninner();`),
);
same(
  'an uncaught error that is caught',
  app(`process.on('uncaughtException', (error, origin) => { console.log(origin, error.stack); });
process.on('uncaughtExceptionMonitor', (error) => console.log('monitor', process.listenerCount('uncaughtExceptionMonitor')));
setTimeout(() => console.log('goes on'), 1);
throw new Error('caught');`),
);
both(
  'a stack that the app prints',
  app(
    `function inner() { return new Error('printed').stack; }\nconsole.log(inner()); console.trace('here');
class E extends Error {} try { throw new E('own'); } catch (e) { console.log(e); }
const o = {}; Error.captureStackTrace(o); console.log(o.stack);`,
    { masked },
  ),
);
same(
  'a whole stack',
  app(
    `Error.stackTraceLimit = Infinity; console.log(new Error('deep').stack);
Error.prepareStackTrace = (e, sites) => sites.map((s) => [s.getFileName(), s.getLineNumber(), s.getFunctionName()].join()).join('|'); console.log(new Error('x').stack);`,
    { masked },
  ),
);
same('a warning', app(`process.emitWarning('look'); new Buffer(1);`, { nodeWords: ['--trace-warnings'], masked }));
same('--trace-uncaught', app(`throw new Error('traced');`, { nodeWords: ['--trace-uncaught'], masked }));
same('--enable-source-maps', (prefix) => ({
  files: {
    'app.js': `${prefix}\nrequire('./out.js');`,
    'out.js': `\nthrow new Error('mapped');\n//# sourceMappingURL=out.js.map\n`,
    'out.js.map':
      '{"version":3,"sources":["in.ts"],"sourcesContent":["// one\\n// two\\nthrow new Error();\\n"],"names":[],"mappings":";AAEA"}',
  },
  nodeWords: ['--enable-source-maps'],
}));
same('top-level await', esm(`console.log(1); await new Promise((r) => setTimeout(r, 5)); console.log(2);`));
same(
  'top-level await that never settles',
  esm(`process.on('exit', (code) => console.log('exit', code));\nawait new Promise(() => {});`),
);
same(
  'exit handlers',
  app(`process.on('exit', (code) => { console.log('exit', code); process.exitCode = 7; });
let n = 0; process.on('beforeExit', (code) => { console.log('before', code); if (n++ < 2) setTimeout(() => console.log('more'), 1); });`),
);
for (const words of [['none.js'], ['none'], ['./none/'], ['none.mjs'], ['none/app.js', 'word'], ['empty']]) {
  test(`an entry that is not there: ${JSON.stringify(words)}`, async (t) => {
    await sameAsNode(t, { files: { 'empty/x.txt': '' }, words }, BY);
  });
}
same('killed by itself', app(`process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1000);`));
same('aborted', app(`process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000);`));

// --- streams and signals ---------------------------------------------------------------------------------------------

same('standard input, piped through', app(`process.stdin.pipe(process.stdout);`, { stdin: 'some\ntext' }));
same(
  'standard input, read at once',
  app(`console.log(require('fs').readFileSync(0, 'utf8').toUpperCase());`, { stdin: 'text' }),
);
same('much output', app(`for (let i = 0; i < 20000; i++) console.log('line-' + i + '-');`));
same(
  'output that nobody reads',
  app(
    `setInterval(() => console.log('x'.repeat(1000)), 1);\nprocess.stdout.on('error', (e) => { console.error(e.code); process.exit(5); });`,
    {
      act: async ({ child, said }) => {
        await said('x');
        child.stdout.destroy();
      },
      masked: (text) => text.replaceAll(/x+\n?/g, ''),
    },
  ),
);
const WAIT = `setInterval(() => {}, 1000); console.log('ready');`;
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2', 'SIGQUIT', 'SIGPIPE', 'SIGWINCH'] as const) {
  const act = async ({ child, said }: Running): Promise<void> => {
    await said('ready');
    child.kill(signal);
    if (signal === 'SIGPIPE' || signal === 'SIGWINCH') child.kill('SIGKILL');
  };
  same(`${signal}, left to node`, app(WAIT, { act }));
  same(
    `${signal}, taken`,
    app(
      `process.once('${signal}', (name, n) => { console.log(name, n, process.listenerCount(name)); process.exit(9); });\n${WAIT}`,
      {
        act: async ({ child, said }) => {
          await said('ready');
          child.kill(signal);
        },
      },
    ),
  );
}

// --- children, threads, clusters ----------------------------------------------------------------------------------------

same('a fork', (prefix) => ({
  files: {
    'app.js': `${prefix}\nconst c = require('child_process').fork('./child.js', ['x'], { execArgv: [...process.execArgv, '--no-warnings'] }); c.on('message', (m) => { console.log(JSON.stringify(m)); c.send('bye'); }); c.on('exit', (...a) => console.log(a));`,
    'child.js': `process.send([process.argv, process.execArgv, require.main === module]); process.once('message', () => process.exit(2));`,
  },
}));
same(
  'a fork of itself',
  app(`if (process.argv[2]) { process.send([process.argv, typeof process.send]); process.disconnect(); } else {
const c = require('child_process').fork(__filename, ['x']); c.on('message', (m) => console.log(JSON.stringify(m))); c.on('exit', (...a) => console.log(a)); }`),
);
same(
  'spawned by its own arguments',
  app(`if (process.argv[2]) console.log('again', process.argv); else {
console.log(require('child_process').spawnSync(process.execPath, [...process.execArgv, ...process.argv.slice(1), 'x'], { encoding: 'utf8' }).stdout); }`),
);
both('a thread', (prefix) => ({
  files: {
    'app.js': `${prefix}\nconst { Worker, isMainThread, threadId } = require('worker_threads'); const w = new Worker('./thread.js', { workerData: 1, argv: ['a'] }); w.on('message', (m) => console.log(JSON.stringify([m, isMainThread, threadId]))); w.on('exit', console.log);`,
    'thread.js': `const w = require('worker_threads'); w.parentPort.postMessage([process.argv, process.execArgv, w.isMainThread, w.threadId, w.workerData, Object.keys(require.cache)]); process.exitCode = 3;`,
  },
}));
same(
  'a cluster',
  app(`const cluster = require('cluster'), http = require('http');
if (cluster.isPrimary) { const w = cluster.fork(); w.on('message', (m) => { console.log(JSON.stringify(m)); w.kill(); }); w.on('exit', (...a) => console.log(a)); }
else { http.createServer((q, s) => s.end('x')).listen(0, () => process.send([process.argv, cluster.worker.id])); }`),
);
same(
  'node:test in the app',
  app(`const test = require('node:test'); test('one', () => {});`, { nodeWords: ['--test-reporter=dot'] }),
);

// --- servers -----------------------------------------------------------------------------------------------------------

function get(port: string, path: string): Promise<string> {
  return new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', port, path, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('close', () => resolve(`${answer.statusCode} ${text}`));
    });
    sent.on('error', (error) => resolve(`error ${Reflect.get(error, 'code')}`));
    sent.end();
  });
}

const portOf = async ({ said }: Running): Promise<string> => (await said(/port=(\d+);/))[1] ?? '';
const paths =
  (...all: string[]) =>
  async (run: Running): Promise<unknown> => {
    const port = await portOf(run);
    const answers: string[] = [];
    for (const path of all) answers.push(await get(port, path));
    return answers;
  };
/** It differs from run to run. */
const maskPort = (text: string): string => text.replace(/port=\d+;/g, 'port;');

function serving(
  title: string,
  code: string,
  act: (run: Running) => Promise<unknown>,
  rest: Omit<Program, 'files' | 'act'> = {},
): void {
  test(`serving: ${title}`, async (t) => {
    await sameAsNode(t, { files: { 'app.js': `${MOVABLE}\n${code}\n${LISTEN}\n` }, act, masked: maskPort, ...rest });
  });
}

/** For servers that nothing else ends. */
const thenKilled =
  (act: (run: Running) => Promise<unknown>) =>
  async (run: Running): Promise<unknown> => {
    const seen = await act(run);
    run.child.kill('SIGKILL');
    return seen;
  };

const HEAVY = ['/heavy', '/heavy', '/heavy', '/cut', '/heavy', '/cut'];
serving(
  'an app that closes its server ends',
  `app.get('/close', (req, res) => { res.send('bye'); server.close(() => console.log('closed')); });`,
  paths(...HEAVY, '/close'),
);
serving(
  'process.exit in a handler',
  `process.on('exit', (c) => console.log('exit', c)); app.get('/exit', (req, res) => { let n = 0; for (let i = 0; i < 1e5; i++) n += i; process.exit(3); });`,
  paths(...HEAVY, '/exit'),
);
serving(
  'an error in a handler',
  `app.set('env', 'test'); app.get('/throw', function thrower(req, res) { throw new Error('in handler'); }); app.use((error, req, res, next) => res.status(418).send(error.stack));`,
  thenKilled(paths(...HEAVY, '/throw', '/throw')),
);
serving(
  'an error in a handler, shown by Express',
  `app.get('/throw', function thrower(req, res) { throw new Error('in handler'); });`,
  thenKilled(paths(...HEAVY, '/throw')),
);
serving(
  'an error in a callback of a handler',
  `app.get('/late', (req, res) => { setTimeout(function later() { throw new Error('late'); }, 1); });`,
  paths(...HEAVY, '/late'),
);
serving(
  'an unhandled rejection of a handler',
  `app.get('/late', (req, res) => { Promise.reject(new Error('nobody')); });`,
  paths(...HEAVY, '/late'),
  { masked: (text) => maskPort(text).replace(/(app\.js:\d+:\d+\)?)(\n +at .*)+/, '$1') },
);
serving(
  'a callback behind a cut throws',
  `app.get('/late', (req, res) => { cutFs.readFile(__filename, function read(error, data) { let n = 0; for (const c of data) n += c; throw new Error('late ' + n); }); });`,
  paths(...HEAVY, '/late'),
);
serving(
  'the app takes uncaught errors',
  `process.on('uncaughtException', (e) => { console.log('caught', e.message); server.close(); }); app.get('/late', (req, res) => { res.send('x'); setTimeout(() => { throw new Error('late'); }, 1); });`,
  paths(...HEAVY, '/late'),
);
serving(
  'output of a handler',
  `app.get('/say', (req, res) => { console.log('said', req.path); console.error('err'); res.send('ok'); }); app.get('/close', (req, res) => { res.end(); server.close(); });`,
  paths('/say', '/say', '/heavy', '/say', '/close'),
);
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  const act = async (run: Running): Promise<unknown> => {
    const seen = await paths(...HEAVY)(run);
    run.child.kill(signal);
    return seen;
  };
  serving(`${signal}, left to node`, '', act);
  serving(
    `${signal}, taken`,
    `process.on('${signal}', (name) => { console.log(name); server.close(() => { console.log('closed'); process.exitCode = 6; }); });`,
    act,
  );
}
serving(
  'what the app sees of the process',
  `app.get('/see', (req, res) => { res.json({ listeners: process.eventNames().map((name) => [String(name), process.listenerCount(name)]), handles: process.getActiveResourcesInfo().filter((n) => /Message|Worker|Timeout|Immediate/.test(n)),
  stack: app.router.stack.map(({ name }) => name), server: server.eventNames().map((name) => [String(name), server.listenerCount(name)]), keys: Object.keys(server).filter((k) => k !== '_connectionKey').sort() }); hits++; });
app.get('/close', (req, res) => { res.end(); server.close(); });`,
  paths('/see', ...HEAVY, '/see', '/close'),
);
serving(
  'standard streams',
  `console.log('begins');
app.get('/see', (req, res) => { hits++; res.json([process._getActiveHandles().flatMap(({ fd }) => (fd >= 0 && fd <= 2 ? [fd] : [])).sort(), ['stdout', 'stderr'].map((name) => process[name].eventNames().map(String).sort())]); });
app.get('/close', (req, res) => { res.end(); server.close(); });`,
  paths('/see', ...HEAVY, '/see', '/close'),
);
serving(
  '--abort-on-uncaught-exception',
  `app.get('/close', (req, res) => { res.end(); server.close(); });`,
  paths(...HEAVY, '/close'),
  { nodeWords: ['--abort-on-uncaught-exception'] },
);
test('a port that is taken', async (t) => {
  const { createServer } = await import('node:http');
  const other = createServer().listen(0);
  t.teardown(() => other.close());
  await new Promise((resolve) => other.once('listening', resolve));
  const address = other.address();
  const PORT = String(typeof address === 'object' ? address?.port : '');
  for (const more of ['', ", '127.0.0.1'"]) {
    await sameAsNode(t, {
      files: { 'app.js': `${MOVABLE}\nrequire('http').createServer(app).listen(process.env.PORT${more});` },
      env: { PORT },
    });
  }
  await sameAsNode(t, {
    files: {
      'app.js': `${MOVABLE}\napp.listen(process.env.PORT, '127.0.0.1', (error) => { console.log('called', error?.code); });`,
    },
    env: { PORT },
  });
});
test('a Unix socket', async (t) => {
  await sameAsNode(t, {
    files: {
      'app.js': `${MOVABLE}\nconst server = app.listen('./sock', () => console.log('ready')); app.get('/close', (req, res) => { res.end('bye'); server.close(); });`,
    },
    act: async ({ folder, said }) => {
      await said('ready');
      const ask = (path: string) =>
        new Promise((resolve) => {
          const sent = request({ socketPath: join(folder, 'sock'), path, agent: false }, (answer) => {
            let text = '';
            answer
              .setEncoding('utf8')
              .on('data', (c: string) => {
                text += c;
              })
              .on('close', () => resolve(text));
          });
          sent.on('error', (error) => resolve(error.message));
          sent.end();
        });
      const answers = [];
      for (const path of ['/heavy', '/cut', '/heavy', '/heavy', '/close']) answers.push(await ask(path));
      return answers;
    },
  });
});
