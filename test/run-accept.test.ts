import http from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { ServedApp } from './support/served-app.js';

// Replicas that accept connections themselves, which home hands over to them.

const BEGIN = "const express = require('express');\nconst app = express();\napp.use(express.json());\n";
const END = "const server = app.listen(0, () => console.log('port ' + server.address().port));\n";
const FLAGS = ['--accept', 'every', '--threads', '2'];

async function serve(
  t: ExecutionContext,
  text: string,
  accepting = 2,
  env: NodeJS.ProcessEnv = {},
): Promise<ServedApp> {
  const app = await ServedApp.serve(t, { 'app.js': BEGIN + text + END }, { flags: FLAGS, replicas: 2, env });
  await app.until(() => [...app.stderr.matchAll(/replica-\d+ accepts connections/g)].length >= accepting);
  return app;
}

/** Each on a connection of its own, many at a time. */
function fresh(app: ServedApp, count: number, path: string): Promise<readonly string[]> {
  return Promise.all(Array.from({ length: count }, async () => (await app.get(path, { agent: false })).text));
}

/** Until replicas have answered some: who has time takes the next connection, and that may be home for a while. */
async function servesThere(app: ServedApp, path: string): Promise<void> {
  for (let round = 0; round < 100; round++) {
    await fresh(app, 40, path);
    app.child.kill('SIGUSR2');
    await wait(300);
    const { loops } = app.readReport();
    if (loops.some(({ id, requests }) => id !== 'home' && requests > 0)) return;
  }
  throw new Error('no replica has answered anything');
}

test('all loops accept, and answer alike', async (t) => {
  const app = await serve(
    t,
    `
    app.get('/add/:a/:b', (req, res) => { res.json({ sum: Number(req.params.a) + Number(req.params.b), from: req.ip.length > 0 }); });
    app.post('/echo', (req, res) => { res.set('X-Kind', typeof req.body).json(req.body); });
    app.get('/fail', () => { throw new Error('as asked'); });
    app.use((req, res) => { res.status(404).send('no ' + req.path); });
    app.use((error, req, res, next) => { res.status(500).send(error.message); });`,
  );
  await servesThere(app, '/add/1/2');
  t.deepEqual([...new Set(await fresh(app, 60, '/add/1/2'))], ['{"sum":3,"from":true}']);
  t.deepEqual([...new Set(await fresh(app, 60, '/fail'))], ['as asked']);
  t.deepEqual([...new Set(await fresh(app, 60, '/nowhere'))], ['no /nowhere']);
  const options = { method: 'POST', agent: false as const, headers: { 'Content-Type': 'application/json' } };
  const echoes = await Promise.all(
    Array.from({ length: 40 }, (_, n) => app.request('/echo', options, JSON.stringify({ n }))),
  );
  t.deepEqual(
    echoes.map(({ text, headers }) => [text, headers['x-kind']]),
    echoes.map((_, n) => [JSON.stringify({ n }), 'object']),
  );
  // By now each replica has looked at all that is to stay as it was.
  t.notRegex(app.stderr, /stays on the main thread/);
});

test('what threads serve on connections of their own is counted by fluxion, and changes no answer', async (t) => {
  const app = await serve(
    t,
    `
    app.param('id', (req, res, next, id) => { req.number = Number(id); next(); });
    app.use(function note(req, res, next) { res.set('X-Noted', 'yes'); next(); });
    app.get('/square/:id', function square(req, res) { res.json(req.number ** 2); });
    app.get('/fail', async function fail() { throw new Error('as asked'); });
    app.use(function mend(error, req, res, next) { res.status(500).send(error.stack.split('\\n').slice(0, 3).join()); });`,
  );
  await servesThere(app, '/square/3');
  const [before] = await fresh(app, 1, '/fail');
  t.deepEqual([...new Set(await fresh(app, 60, '/fail'))], [before]);
  t.deepEqual([...new Set(await fresh(app, 60, '/square/7'))], ['49']);
  const { fluxions, loops } = await app.report();
  const requests = loops.reduce((sum, loop) => sum + loop.requests, 0);
  const runs = (id: string): number =>
    Object.values(fluxions.find((each) => each.id === id)?.runs ?? {}).reduce((sum, count) => sum + count, 0);
  t.is(runs('note'), requests);
  t.is(runs('square') + runs('fail'), requests);
  t.is(runs('fail'), 61);
  for (const id of ['note', 'square', 'fail']) {
    const ran = Object.keys(fluxions.find((each) => each.id === id)?.runs ?? {});
    t.true(
      ran.some((loop) => loop !== 'home'),
      `${id}: ${ran}`,
    );
  }
});

test('a view engine that home has found itself since is no difference', async (t) => {
  const tree = {
    'views/page.ejs': 'page <%= n %>',
    'app.js': `
      const path = require('path');
      const express = require('express');
      const app = express();
      app.set('view engine', 'ejs');
      app.set('views', path.join(__dirname, 'views'));
      app.get('/page/:n', (req, res) => { res.render('page', { n: req.params.n }); });
      const server = app.listen(0, () => setImmediate(() => {
        app.render('page', { n: 0 }, () => console.log(Object.keys(app.engines) + '\\nport ' + server.address().port));
      }));`,
  };
  const app = await ServedApp.serve(t, tree, { flags: FLAGS, replicas: 2 });
  await app.until(() => [...app.stderr.matchAll(/replica-\d+ accepts connections/g)].length >= 2);
  t.regex(app.stdout, /^\.ejs$/m);
  await servesThere(app, '/page/1');
  t.deepEqual([...new Set(await fresh(app, 40, '/page/7'))], ['page 7']);
});

test('what counts every request is for the main thread, and so is all else then', async (t) => {
  const text =
    'let count = 0;\napp.use((req, res, next) => { count++; next(); });\napp.get("/free", (req, res) => { res.json(1); });\napp.get("/count", (req, res) => { res.json(count); });\n';
  const app = await ServedApp.serve(
    t,
    { 'app.js': BEGIN + text + END },
    { flags: [...FLAGS, '--placement', 'eager'], replicas: 2 },
  );
  const counts = (await fresh(app, 100, '/count')).map(Number).sort((a, b) => a - b);
  t.deepEqual(
    counts,
    [...counts.keys()].map((n) => n + 1),
  );
  t.false(app.stderr.includes('accepts connections'));
  t.true(app.stderr.includes('the main thread accepts alone'));
});

test('middleware that is given functions of the app, or remembers, is for the main thread', async (t) => {
  const text =
    'const seen = [];\napp.use(express.json({ verify(req) { seen.push(req.url); } }));\napp.get("/", (req, res) => { res.json(1); });\n';
  const app = await ServedApp.serve(
    t,
    { 'app.js': BEGIN + text + END },
    { flags: [...FLAGS, '--placement', 'eager'], replicas: 2 },
  );
  await app.says(/the main thread accepts alone, as "jsonParser" \(.*\) has to run there/);
  t.is((await app.get('/')).text, '1');
  t.false(app.stderr.includes('accepts connections'));

  const sessions = `const app = express();
    app.use(express.cookieParser());
    app.use(express.session({ secret: 'x' }));
    app.get('/', (req, res) => { res.send('free'); });\n`;
  const old = await ServedApp.serve(
    t,
    { 'app.js': `const express = require('express3');\n${sessions}${END}` },
    { flags: [...FLAGS, '--placement', 'eager'], replicas: 2 },
  );
  await old.says(/the main thread accepts alone/);
});

test('Express 4, too', async (t) => {
  const text = "const app = require('express4')();\napp.get('/', (req, res) => { res.send('free'); });\n";
  const app = await ServedApp.serve(t, { 'app.js': text + END }, { flags: FLAGS, replicas: 2 });
  await app.says(/replica-\d+ accepts connections/);
  t.deepEqual([...new Set(await fresh(app, 40, '/'))], ['free']);
});

test('close() closes everywhere, and waits for the last answer anywhere', async (t) => {
  const app = await serve(
    t,
    `
    app.get('/slow', (req, res) => { res.write('begun '); setTimeout(() => res.end('done'), 400); });
    app.get('/quick', (req, res) => { res.send('quick'); });
    process.on('SIGUSR1', () => {
      server.getConnections((error, count) => console.log('connections ' + count));
      server.close(() => { console.log('closed'); });
    });`,
  );
  await servesThere(app, '/quick');
  const slow = Array.from({ length: 20 }, () => begin(app, '/slow'));
  await Promise.all(slow.map(({ begun }) => begun));
  app.child.kill('SIGUSR1');
  t.true(Number((await app.says(/^connections (\d+)$/m))[1]) >= 20);
  const texts = await Promise.all(slow.map(({ text }) => text));
  t.deepEqual([...new Set(texts)], ['begun done']);
  await app.says(/^closed$/m);
  await t.throwsAsync(app.get('/quick', { agent: false }), { code: 'ECONNREFUSED' });
  t.is((await app.ended).code, 0);
});

test('a replica that dies takes no more than its own connections with it', async (t) => {
  const text = `
    app.get('/die', (req, res) => { const all = []; for (;;) all.push(new Array(1e5).fill(all.length)); });
    app.get('/quick', (req, res) => { res.send('quick'); });`;
  const env = { NODE_OPTIONS: '--max-old-space-size=80' };
  // At home it ends the process, as it would without Fluxion: again, until a replica has taken the connection.
  for (;;) {
    const app = await serve(t, text, 2, env);
    const hasDied = new Promise<void>((resolve) => app.get('/die', { agent: false }).then(() => {}, resolve));
    await hasDied;
    const died = app.says(/replica-\d+ ran out of memory/).then(
      () => true,
      () => false,
    );
    if (!(await died)) continue;
    t.deepEqual([...new Set(await fresh(app, 40, '/quick'))], ['quick']);
    return;
  }
});

test('connections move to replicas and back between two requests, and their clients do not notice', async (t) => {
  const text = `${BEGIN}
    app.get('/json', (req, res) => { res.json({ a: 1 }); });
    process.on('SIGUSR1', () => { app[String('set')]('json spaces', 2); });\n${END} server.keepAliveTimeout = 50_000;\n`;
  const app = await ServedApp.serve(t, { 'app.js': text }, { flags: FLAGS });
  const agents = Array.from({ length: 6 }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }));
  t.teardown(() => agents.forEach((agent) => void agent.destroy()));
  const sockets = new Set<unknown>();
  const askAll = (): Promise<readonly string[]> =>
    Promise.all(
      agents.map(async (agent) => {
        const { text, socket } = await askBy(app, agent);
        sockets.add(socket);
        return text;
      }),
    );
  // Before there is any other loop.
  await askAll();
  const requestsThere = (): number => {
    app.child.kill('SIGUSR2');
    return app.readReport().loops.reduce((sum, { id, requests }) => (id === 'home' ? sum : sum + requests), 0);
  };
  await app.says(/replica-\d+ accepts connections/);
  for (let round = 0; round < 200 && requestsThere() === 0; round++) {
    t.deepEqual([...new Set(await askAll())], ['{"a":1}']);
    await wait(20);
  }
  t.true(requestsThere() > 0);
  app.child.kill('SIGUSR1');
  await app.says(/settings (?:of the app )?have changed/);
  for (let round = 0; round < 200; round++) {
    const texts = new Set(await askAll());
    if (texts.size === 1 && texts.has('{\n  "a": 1\n}')) break;
    await wait(20);
  }
  t.deepEqual([...new Set(await askAll())], ['{\n  "a": 1\n}']);
  t.is(sockets.size, agents.length);
});

test('closeIdleConnections() closes on all loops what waits for a next request', async (t) => {
  const app = await serve(
    t,
    `
    app.get('/slow', (req, res) => { res.write('begun '); setTimeout(() => res.end('done'), 400); });
    app.get('/quick', (req, res) => { res.send('quick'); });
    setImmediate(() => { server.keepAliveTimeout = 3_600_000; });
    process.on('SIGUSR1', () => {
      server.close(() => { console.log('closed'); });
      setInterval(() => { server.closeIdleConnections(); }, 50).unref();
    });`,
  );
  await servesThere(app, '/quick');
  const agent = new http.Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  const slow = Array.from({ length: 20 }, () => begin(app, '/slow', agent));
  await Promise.all(slow.map(({ begun }) => begun));
  app.child.kill('SIGUSR1');
  await Promise.all(slow.map(({ text }) => text));
  await app.says(/^closed$/m);
  t.is((await app.ended).code, 0);
});

test('an endless loop behind a connection of a replica is ended after --max-block-ms', async (t) => {
  const text = `${BEGIN}
    app.get('/loop', (req, res) => { for (;;); });
    app.get('/quick', (req, res) => { res.send('quick'); });
    ${END}`;
  const app = await ServedApp.serve(t, { 'app.js': text }, { flags: [...FLAGS, '--max-block-ms', '600'], replicas: 2 });
  await app.until(() => [...app.stderr.matchAll(/replica-\d+ accepts connections/g)].length >= 2);
  await t.throwsAsync(app.get('/loop', { agent: false }), { message: /socket hang up|ECONNRESET/ });
  await app.says(/has not answered for 600 ms/);
  t.is((await app.get('/quick', { agent: false })).text, 'quick');
});

test('a connection that has moved is closed when it has waited for long enough, and by close()', async (t) => {
  const text = `${BEGIN}
    app.get('/json', (req, res) => { res.json({ a: 1 }); });
    process.on('SIGUSR1', () => { server.close(() => { console.log('closed'); }); });
    ${END} server.keepAliveTimeout = Number(process.env.KEEP);\n`;
  const serveFor = (ms: number): Promise<ServedApp> =>
    ServedApp.serve(t, { 'app.js': text }, { flags: FLAGS, env: { KEEP: String(ms) } });
  const moved = async (app: ServedApp): Promise<Promise<void>> => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const { socket } = await askBy(app, agent);
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    await app.says(/replica-\d+ accepts connections/);
    return closed;
  };
  const patient = await serveFor(20_000);
  const closed = moved(patient);
  await patient.until(() => [...patient.stderr.matchAll(/replica-\d+ accepts connections/g)].length === 2);
  // It has moved by the time that this one has an answer there.
  await servesThere(patient, '/json');
  patient.child.kill('SIGUSR1');
  await closed;
  await patient.says(/^closed$/m);
  t.is((await patient.ended).code, 0);
  await moved(await serveFor(600));
  t.pass();
});

test('what changes the app ends it: settings, a module that nobody has read', async (t) => {
  const app = await serve(
    t,
    `
    app.get('/json', (req, res) => { res.json({ a: 1 }); });
    process.on('SIGUSR1', () => { app[String('set')]('json spaces', 2); console.log('set'); });`,
  );
  await servesThere(app, '/json');
  app.child.kill('SIGUSR1');
  await app.says(/^set$/m);
  await app.says(/settings (?:of the app )?have changed/);
  await app.until(() => true);
  for (let round = 0; round < 50; round++) {
    const texts = new Set(await fresh(app, 20, '/json'));
    if (texts.size === 1 && texts.has('{\n  "a": 1\n}')) return t.pass();
    await wait(100);
  }
  return t.fail('some loop has not heard of the setting');
});

function askBy(app: ServedApp, agent: http.Agent): Promise<{ readonly text: string; readonly socket: Socket }> {
  return new Promise((resolve, reject) => {
    const req = http.get({ port: app.port, path: '/json', agent }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      const { socket } = res;
      res.on('end', () => resolve({ text, socket }));
      res.on('error', reject);
    });
    req.on('error', reject);
  });
}

interface Slow {
  readonly begun: Promise<void>;
  readonly text: Promise<string>;
}

function begin(app: ServedApp, path: string, agent: http.Agent | false = false): Slow {
  let begun = (): void => {};
  const first = new Promise<void>((resolve) => (begun = resolve));
  const text = new Promise<string>((resolve, reject) => {
    const req = http.get({ port: app.port, path, agent }, (res) => {
      let all = '';
      res.setEncoding('utf8').on('data', (chunk: string) => {
        all += chunk;
        begun();
      });
      res.on('end', () => resolve(all));
      res.on('error', reject);
    });
    req.on('error', reject);
  });
  return { begun: first, text };
}
