import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { link, tempFolder } from './support/temp-folder.js';

const register = fileURLToPath(new URL('../runtime/register.cjs', import.meta.url));
const packages = link(fileURLToPath(new URL('../../node_modules', import.meta.url)));

// Programs that ask themselves, print what they got, and end. What they call goes through the bridge where it is given
// stand-ins: `through` notes which have been.

const HEAD = `
const http = require('node:http');
const through = {};
const note = (name, req) => { through[name] = req.socket.constructor.name === 'StandInSocket'; };
function ask(server, requests) {
  server.listen(0, '127.0.0.1', async () => {
    const { port } = server.address();
    for (const { path, ...init } of requests) {
      const res = await fetch('http://127.0.0.1:' + port + path, { ...init, headers: { connection: 'close', ...init.headers } });
      const headers = [...res.headers].filter(([name]) => name !== 'date' && name !== 'etag');
      console.log(res.status, res.statusText, JSON.stringify(headers), await res.text());
    }
    server.close();
  });
}
process.on('exit', () => require('node:fs').writeFileSync(process.env.THROUGH, JSON.stringify(through)));
`;

const EXPRESS = `
const express = require(PACKAGE);
const app = express();
const kept = new WeakMap();
let count = 0;
app.use(function first(req, res, next) { note('middleware', req); count++; req.user = { name: 'ada', seen: [] }; kept.set(req, 'kept'); next(); count++; });
app.param('id', (req, res, next, id) => { note('param', req); req.id = Number(id); next(); });
app.get('/u/:id', (req, res, next) => { note('handler', req); req.user.seen.push(1); next(); }, (req, res) => {
  res.set('X-Count', String(count)); res.send({ id: req.id, user: req.user, kept: kept.get(req) });
});
app.get('/throws', () => { throw new TypeError('thrown'); });
app.get('/fails', (req, res, next) => setTimeout(() => { const e = new RangeError('later'); e.status = 418; next(e); }, 1));
app.get('/ends', (req, res) => { res.on('finish', () => { through.finish = res.statusCode; }); res.write('a'); setTimeout(() => res.end('b'), 1); });
app.post('/body', (req, res) => { note('body', req); let n = 0; req.on('data', (d) => { n += d.length; }); req.on('end', () => res.end(String(n))); });
app.use(function last(err, req, res, next) { note('error handler', req); res.statusCode = err.status === 418 ? 418 : 500; res.end(err.name + ' ' + err.message); });
const server = http.createServer(app);
ask(server, [{ path: '/u/7' }, { path: '/throws' }, { path: '/fails' }, { path: '/ends' }, { path: '/none' },
  { path: '/body', method: 'POST', body: 'x'.repeat(300000) }]);
server.once('request', () => app.get('/late', (req, res) => res.end('late')));
`;

for (const name of ['express', 'express4', 'express3']) {
  test(`all that an app of ${name} calls goes through the bridge, and answers as before`, async (t) => {
    const { before, after, through } = await runBoth(t, EXPRESS.replace('PACKAGE', `'${name}'`));
    t.is(after, before);
    t.true(before.includes('200 OK'));
    t.deepEqual(through, {
      middleware: true,
      param: true,
      handler: true,
      body: true,
      'error handler': true,
      finish: 200,
    });
  });
}

test('listeners of plain servers go through the bridge, and can be removed as before', async (t) => {
  const { before, after, through } = await runBoth(
    t,
    `const listener = (req, res) => { note('listener', req); res.writeHead(201, 'Made', ['X-A', '1', 'x-b', '2']); res.end(req.url); };
     const server = http.createServer(listener);
     ask(server, [{ path: '/a' }, { path: '/b?c=d' }]);
     process.on('exit', () => { server.removeListener('request', listener); console.log(server.listenerCount('request')); });`,
  );
  t.is(after, before);
  t.true(after.endsWith('0\n'));
  t.deepEqual(through, { listener: true });
});

test('an app that a listener calls has its own functions taken', async (t) => {
  const { before, after, through } = await runBoth(
    t,
    `const app = require('express')();
     app.get('/', (req, res) => { note('handler', req); res.end('x'); });
     ask(http.createServer((req, res) => { note('listener', req); app(req, res); }), [{ path: '/' }]);`,
  );
  t.is(after, before);
  t.deepEqual(through, { listener: false, handler: true });
});

test('what hooks into the response, or needs what cannot travel, is called as it is written', async (t) => {
  const { before, after, through } = await runBoth(
    t,
    `const app = require('express')();
     class Session { #visits = 0; visit() { return ++this.#visits; } }
     let calls = 0;
     app.use((req, res, next) => { note('hook', req); const end = res.end; res.end = function (...args) { this.setHeader('X-Hooked', calls); return end.apply(this, args); }; next(); });
     app.use((req, res, next) => { note('maker', req); calls++; req.session = new Session(); next(); });
     app.use((req, res, next) => { note('helper', req); calls++; install(req, res); next(); });
     const other = Object.create(app.response, { shout: { value(text) { this.send(text + '!'); } } });
     app.use('/shouts', (req, res, next) => { note('swaps', req); swap(res, other); next(); });
     const swap = (thing, prototype) => Reflect['set' + 'PrototypeOf'](thing, prototype);
     app.post('/read', (req, res, next) => { req.on('data', () => {}); next(); }, function fails(req, res, next) { note('reads on', req); next(new Error('here')); });
     app.get('/shouts', (req, res) => { note('shouts', req); res.shout('hey'); });
     function install(q, r) { q.flash = (text) => { q.flashed = text; r.setHeader('X-Flash', text); }; }
     app.get('/needs', (req, res) => { note('needs', req); req.flash('hi'); res.json([req.session.visit(), req.session.visit(), req.flashed, calls]); });
     const visit = (req) => req['ses' + 'sion'].visit();
     app.get('/reads', (req, res) => { note('reads', req); res.json([visit(req), visit(req)]); });
     ask(http.createServer(app), [{ path: '/needs' }, { path: '/reads' }, { path: '/shouts' }, { path: '/read', method: 'POST', body: 'x' }]);`,
  );
  t.is(after, before);
  t.true(before.includes('hey!'));
  t.true(before.includes('Error: here'));
  t.deepEqual(through, {
    hook: false,
    maker: true,
    helper: true,
    needs: false,
    reads: true,
    swaps: false,
    shouts: false,
    'reads on': false,
  });
});

test('what a handler leaves with its request in it acts on the one request that there is', async (t) => {
  const { before, after, through } = await runBoth(
    t,
    `const app = require('express')();
     class Jar { #res; constructor(req, res) { this.req = req; this.#res = res; } put(name) { this.#res.append('Set-Cookie', name + '=' + this.req.user); } }
     app.use((req, res, next) => { note('maker', req); req.jar = new Jar(req, res); res.locals.status = (code) => res.status(code); next(); req.after = true; });
     app.use((req, res, next) => { note('listens', req); res.on('finish', () => console.log('finish', req.url, req.user, req.after, res.statusCode, res.getHeader('x-hooked'), Object.hasOwn(req, 'user'), { ...req }.after)); next(); });
     const attach = (q, r) => { Object.defineProperty(q, 'shout', { get: () => q.user.toUpperCase(), configurable: true }); q.say = (text) => r.append('X-Said', q.user + text); };
     app.use((req, res, next) => { note('helper', req); attach(req, res); next(); });
     const hook = (r) => { const { end } = r; r.end = function (...args) { if (r.req.url !== '/written') this.setHeader('X-Hooked', this.statusCode); return end.apply(this, args); }; };
     app.use((req, res, next) => { note('hooks', req); hook(res); next(); });
     app.use((req, res, next) => { req.user = 'ada'; setImmediate(next); });
     app.use((req, res, next) => { note('calls', req); req['j' + 'ar'].put('a'); req['s' + 'ay']('!'); res.locals['stat' + 'us'](202); next(); });
     app.get('/', (req, res) => { req.jar.put('b'); req.say('?'); res.send(req.shout); });
     app.get('/caught', (req, res) => { res.write('a'); try { res.end('b'); } catch (error) { res.locals.code = error.code; } console.log(res.locals.code); req.url = '/written'; res.end('c'); });
     app.get('/written', (req, res) => { note('writes', req); res.write('a'); setImmediate(() => res.end(req['sh' + 'out'])); });
     ask(http.createServer(app), [{ path: '/' }, { path: '/written' }, { path: '/caught' }]);`,
  );
  t.is(after, before);
  t.true(before.includes('ADA'));
  t.deepEqual(through, { maker: true, listens: true, helper: true, hooks: true, calls: false, writes: true });
});

test('what the program holds is the same object for all that have it from the request', async (t) => {
  const { before, after, through } = await runBoth(
    t,
    `const app = require('express')();
     const users = [{ name: 'ada', tags: [] }, { name: 'bob', tags: [] }];
     const seen = new Map();
     app.param('id', (req, res, next, id) => { req.user = users[id]; req.found = { by: 'id', user: users[id], path: req.params }; next(); });
     app.use((req, res, next) => { note('uses', req); res.locals.all = users; req.at = new Date(0); next(); });
     app.put('/u/:id/:name', (req, res, next) => {
       note('changes', req); req.user.name = req.params.name; req.found.user.tags.push(users[req.params.id].name); seen.set(req.user, req.params); next();
     }, (req, res) => {
       note('looks', req);
       res.json([users, users.indexOf(req.user), req.user === req.found.user, res.locals.all === users, seen.has(req.user), req.found.path, req.at]);
     });
     ask(http.createServer(app), [{ path: '/u/1/eve', method: 'PUT' }, { path: '/u/1/max', method: 'PUT' }]);`,
  );
  t.is(after, before);
  t.true(before.includes('["eve","max"]'));
  t.deepEqual(through, { uses: true, changes: true, looks: true });
});

test('a test runner in node_modules is no app, and its apps are taken', async (t) => {
  const { before, after, through } = await runBoth(
    t,
    `const app = require('express')(); app.get('/', (req, res) => { note('handler', req); res.end('x'); }); ask(http.createServer(app), [{ path: '/' }]);`,
    { byRunner: true },
  );
  t.is(after, before);
  t.deepEqual(through, { handler: true });
});

interface Both {
  readonly before: string;
  readonly after: string;
  readonly through: unknown;
}

interface Way {
  readonly byRunner?: boolean;
  /** Beside what makes it loopback. */
  readonly env?: { readonly [name: string]: string };
}

async function runBoth(t: ExecutionContext, program: string, { byRunner = false, env = {} }: Way = {}): Promise<Both> {
  const runner = "require(require('node:path').resolve(process.argv[2]));";
  const folder = tempFolder(t, {
    'app.js': HEAD + program,
    'tools/node_modules/runner/index.js': runner,
    node_modules: packages,
  });
  const words = byRunner ? ['tools/node_modules/runner/index.js', 'app.js'] : ['app.js'];
  const before = await run(folder, words, {});
  const after = await run(folder, ['--import', register, ...words], { ...env, FLUXION_PLACEMENT: 'loopback' });
  return { before, after, through: JSON.parse(readFileSync(join(folder, 'through.json'), 'utf8')) };
}

async function run(folder: string, words: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { NODE_OPTIONS: _options, ...own } = process.env;
  const child = spawn(process.execPath, words, {
    cwd: folder,
    env: { ...own, NODE_ENV: 'test', THROUGH: 'through.json', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return stdout + stderr.replaceAll(/\(node:\d+\)/g, '(node)');
}

test('a reply has been sent when the handler goes on to end its connections', async (t) => {
  const { before, after } = await runBoth(
    t,
    `const app = require('express')();
const server = http.createServer(app);
app.get('/last', function last(req, res) { note('handler', req); res.send('sent'); server.close(); server.closeAllConnections(); });
ask(server, [{ path: '/last' }]);
`,
  );
  t.is(after, before);
  t.true(before.includes('sent'));
});

/** A report has the app linked: what is called as if it were elsewhere is a stub then. */
test('a response that counts its bytes is told of those that it has not sent itself', async (t) => {
  const program = `const app = require('express')();
app.get('/three', (req, res) => { note('handler', req); res.strictContentLength = true; res.setHeader('Content-Length', 3); res.end('abc'); });
const { FLUXION_REPORT } = process.env;
const isLinked = () => FLUXION_REPORT === undefined || require('node:fs').existsSync(FLUXION_REPORT);
const server = app.listen(0, async () => {
  while (!isLinked()) await new Promise((resolve) => setTimeout(resolve, 20));
  for (let time = 0; time < 2; time++) {
    const res = await fetch('http://127.0.0.1:' + server.address().port + '/three', { headers: { connection: 'close' } });
    console.log(res.status, await res.text());
  }
  server.close();
});
`;
  const { before, after, through } = await runBoth(t, program, { env: { FLUXION_REPORT: 'report.json' } });
  t.is(after, before);
  t.is(before, '200 abc\n200 abc\n');
  t.deepEqual(through, { handler: true });
});

test('what stands in the place of a function stays there; one that has taken its place is found', async (t) => {
  const { before, after, through } = await runBoth(
    t,
    `const app = require('express')();
const server = http.createServer(app);
const stack = () => app.router.stack.at(-1).route.stack;
const seen = [];
app.get('/', function first(req, res) { seen.push(stack()[0].handle); res.send('first'); });
ask(server, [{ path: '/' }, { path: '/' }, { path: '/' }]);
server.on('request', (req, res) => res.on('finish', () => {
  if (seen.length === 2) stack()[0].handle = function second(req, res) { note('second', req); res.send(String(seen[0] === seen[1])); };
}));
`,
  );
  t.is(after, before);
  t.true(before.includes('true'));
  t.deepEqual(through, { second: true });
});
