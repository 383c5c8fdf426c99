import http from 'node:http';
import test, { type ExecutionContext } from 'ava';
import { fluxionOf, runsAway, ServedApp, type ServeOptions } from './support/served-app.js';

/** Every kind of state that everyday apps keep, and one handler beside it that computes and keeps nothing. */
const APP = `
const express = require('express');
const app = express();
app.use(express.json());

app.get('/work/:id', (req, res) => {
  let sum = 0;
  for (let at = 0; at < 2e6; at++) sum += at % 7;
  res.send(req.params.id + ' ' + sum);
});

let direct = 0;
app.get('/direct', (req, res) => { direct += 1; res.json(direct); });

let called = 0;
app.get('/called', (req, res) => { setImmediate(() => { called += 1; res.json(called); }); });

let awaited = 0;
const pause = () => new Promise((resolve) => setImmediate(resolve));
app.get('/awaited', async (req, res) => { await pause(); awaited += 1; res.json(awaited); });

let chained = 0;
app.get('/chained', (req, res) => { pause().then(() => { chained += 1; res.json(chained); }); });

class Counter {
  #value = 0;
  next() { this.#value += 1; return this.#value; }
}
const counter = new Counter();
app.get('/class', (req, res) => { res.json(counter.next()); });

const carts = new Map();
app.post('/carts/:id', (req, res) => {
  const cart = carts.get(req.params.id) || [];
  cart.push(req.body.item);
  carts.set(req.params.id, cart);
  res.status(201).json(cart.length);
});
app.get('/carts/:id', (req, res) => { res.json(carts.get(req.params.id) || []); });

const cache = {};
app.put('/cache/:key', (req, res) => { cache[req.params.key] = req.body; res.sendStatus(204); });
app.get('/cache/:key', (req, res) => { res.json(cache[req.params.key] === undefined ? null : cache[req.params.key]); });

const hits = new Map();
app.get('/limited', (req, res) => {
  const count = (hits.get(req.query.who) || 0) + 1;
  hits.set(req.query.who, count);
  if (count > 5) return res.status(429).send('slow down');
  res.send('welcome');
});

const sessions = {};
let lastSession = 0;
app.get('/login/:name', (req, res) => {
  const id = 's' + (lastSession += 1);
  sessions[id] = req.params.name;
  res.set('Set-Cookie', 'sid=' + id).send('hello');
});
app.get('/me', (req, res) => {
  const id = /sid=(\\w+)/.exec(req.headers.cookie || '');
  const name = id && sessions[id[1]];
  if (!name) return res.status(401).send('who?');
  res.send(name);
});

const clients = new Set();
app.get('/events', (req, res) => {
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  res.write('data: hi\\n\\n');
  clients.add(res);
  req.on('close', () => clients.delete(res));
});
app.get('/say/:what', (req, res) => {
  for (const client of clients) client.write('data: ' + req.params.what + '\\n\\n');
  res.json(clients.size);
});

let ticks = 0;
const timer = setInterval(() => { ticks += 1; console.log('tick ' + ticks); if (ticks === 3) clearInterval(timer); }, 20);
app.get('/ticks', (req, res) => { res.json(ticks); });

const server = app.listen(0, () => console.log('port ' + server.address().port));
`;

const MODES: readonly { readonly name: string; readonly options: ServeOptions }[] = [
  { name: 'node', options: { flags: null } },
  { name: 'eager', options: { flags: ['--placement', 'eager', '--threads', '2'], replicas: 2 } },
  { name: 'auto', options: { flags: ['--threads', '2'] } },
];

const COUNTERS = ['/direct', '/called', '/awaited', '/chained', '/class'];

for (const { name, options } of MODES) {
  test.serial(`10,000 increments, all replies distinct: ${name}`, async (t) => {
    const app = await ServedApp.serve(t, { 'app.js': APP }, options);
    const each = 2_000;
    const all = COUNTERS.map((path) => app.many(each, () => path));
    const work = app.many(100, (n) => `/work/${n}`);
    for (const [index, replies] of (await Promise.all(all)).entries()) {
      const values = replies.map(({ text }) => Number(text)).sort((a, b) => a - b);
      t.deepEqual(
        values,
        [...values.keys()].map((n) => n + 1),
        COUNTERS[index],
      );
    }
    for (const [n, { text }] of (await work).entries()) t.true(text.startsWith(`${n} `));
    if (options.flags !== null) await worksElsewhere(t, app, options);
  });

  test.serial(`carts, caches, limits, sessions, timers: ${name}`, async (t) => {
    const app = await ServedApp.serve(t, { 'app.js': APP }, options);
    const work = app.many(60, (n) => `/work/${n}`);
    await keepsCarts(t, app);
    await readsWhatItWrote(t, app);
    await limits(t, app);
    await knowsSessions(t, app);
    await app.says(/tick 3/);
    t.is((await app.get('/ticks')).text, '3');
    t.is([...app.stdout.matchAll(/tick \d/g)].length, 3, 'only home ticks');
    await work;
  });

  test.serial(`events reach all clients: ${name}`, async (t) => {
    const app = await ServedApp.serve(t, { 'app.js': APP }, options);
    const clients = await Promise.all(Array.from({ length: 8 }, () => Listener.connect(app)));
    const work = app.many(60, (n) => `/work/${n}`);
    t.is((await app.get('/say/one')).text, '8');
    t.is((await app.get('/say/two')).text, '8');
    for (const client of clients) {
      await client.hears('data: two\n\n');
      t.is(client.text, 'data: hi\n\ndata: one\n\ndata: two\n\n');
    }
    await work;
  });
}

/** Nobody sees that the request comes to the second handler, which was proven without what the middleware puts on its response. */
const REPLACED = `
const express = require('express');
const fs = require('node:fs');
const app = express();
let answered = 0;
const counting = (req, res, next) => {
  const { json } = res;
  res.json = (body) => json.call(res, { ...body, answered: ++answered });
  next();
};
app.get('/passed', counting, (req, res, next) => { let error; next(error); });
app.get('/passed', async (req, res) => {
  await fs.promises.appendFile('lines.txt', 'a line\\n');
  res.json({ passed: true });
});
const server = app.listen(0, () => console.log('port ' + server.address().port));
`;

test.serial('a response that has a method of its own stays at home with its handler', async (t) => {
  const flags = ['--placement', 'eager', '--threads', '1'];
  const app = await ServedApp.serve(t, { 'app.js': REPLACED }, { flags, replicas: 1 });
  for (const answered of [1, 2, 3]) t.is((await app.get('/passed')).text, JSON.stringify({ passed: true, answered }));
  t.is(app.lines('lines.txt').length, 3);
});

async function worksElsewhere(t: ExecutionContext, app: ServedApp, { replicas }: ServeOptions): Promise<void> {
  // Until a replica is there home does what is to be done.
  await app.askUntil(app.hasReplicas(replicas ?? 1), () => app.many(8, (n) => `/work/${n}`));
  await app.many(40, (n) => `/work/${n}`);
  const report = await app.report();
  t.true(runsAway(report, 'get_work_id') >= 40);
  for (const { id, runs } of report.fluxions) {
    if (/^get_(direct|class|limited)/.test(id))
      t.deepEqual(
        Object.keys(runs).filter((loop) => loop !== 'home'),
        [],
        id,
      );
  }
  t.is(fluxionOf(report, 'get_direct').runs.home, 2_000);
}

async function keepsCarts(t: ExecutionContext, app: ServedApp): Promise<void> {
  const options = { method: 'POST', headers: { 'Content-Type': 'application/json' } };
  const items = Array.from({ length: 50 }, (_, n) => `item ${n}`);
  await Promise.all(items.map((item) => app.request('/carts/a', options, JSON.stringify({ item }))));
  t.deepEqual(JSON.parse((await app.get('/carts/a')).text).sort(), [...items].sort());
  t.is((await app.get('/carts/b')).text, '[]');
}

async function readsWhatItWrote(t: ExecutionContext, app: ServedApp): Promise<void> {
  const options = { method: 'PUT', headers: { 'Content-Type': 'application/json' } };
  const keys = Array.from({ length: 50 }, (_, n) => `key${n}`);
  await Promise.all(
    keys.map(async (key) => {
      t.is((await app.request(`/cache/${key}`, options, JSON.stringify({ key }))).status, 204);
      t.deepEqual(JSON.parse((await app.get(`/cache/${key}`)).text), { key });
    }),
  );
}

async function limits(t: ExecutionContext, app: ServedApp): Promise<void> {
  const replies = await app.many(40, (n) => `/limited?who=${n % 2}`);
  t.is(replies.filter(({ status }) => status === 200).length, 10);
  t.is(replies.filter(({ status }) => status === 429).length, 30);
}

async function knowsSessions(t: ExecutionContext, app: ServedApp): Promise<void> {
  t.is((await app.get('/me')).status, 401);
  const names = Array.from({ length: 20 }, (_, n) => `user${n}`);
  await Promise.all(
    names.map(async (name) => {
      const { headers } = await app.get(`/login/${name}`);
      const cookie = String(headers['set-cookie']);
      for (let again = 0; again < 3; again++) t.is((await app.get('/me', { headers: { cookie } })).text, name);
    }),
  );
}

test('what is put on a request after it was passed on is seen by who waits meanwhile; by others it need not be', async (t) => {
  const late = `
const express = require('express');
const timeout = require('connect-timeout');
const fs = require('fs');
const app = express();
app.use('/late', (req, res, next) => { setImmediate(() => { req.late = true; }); next(); });
app.use('/timed', timeout('10ms', { respond: false }));
app.use('/user', (req, res, next) => {
  if (!req.query.user) return next();
  fs.readFile(__filename, () => { req.user = req.query.user; next(); });
});
app.get('/late/seen', (req, res) => { setTimeout(() => res.json(req.late === true), 20); });
app.get('/late/other', (req, res) => { setTimeout(() => res.json(req.path), 20); });
app.get('/timed', async (req, res) => { await new Promise((resolve) => setTimeout(resolve, 40)); res.json(req.timedout); });
app.get('/user', (req, res) => { setTimeout(() => res.json(req.user ?? null), 20); });
const server = app.listen(0, () => console.log('port ' + server.address().port));
`;
  const flags = ['--placement', 'eager', '--threads', '1', '--accept', 'home'];
  const app = await ServedApp.serve(t, { 'app.js': late }, { flags, replicas: 1 });
  const asked = ['/late/seen', '/late/other', '/timed', '/user', '/user?user=ann'];
  const said: string[] = [];
  for (const path of asked) said.push((await app.get(path)).text);
  t.deepEqual(said, ['true', '"/late/other"', 'true', 'null', '"ann"']);
  const report = await app.report();
  t.deepEqual([runsAway(report, 'get_late_seen'), runsAway(report, 'get_timed')], [0, 0]);
  t.deepEqual([runsAway(report, 'get_late_other'), runsAway(report, 'get_user')], [1, 2]);
});

const FILES = `
const express = require('express');
const fs = require('fs');
const app = express();
const FILE = __dirname + '/notes.json';
fs.writeFileSync(FILE, '[]');
app.get('/add', (req, res) => {
  const notes = JSON.parse(fs.readFileSync(FILE, 'utf8'));
  for (let end = Date.now() + 2; Date.now() < end; );
  notes.push(notes.length);
  fs.writeFileSync(FILE, JSON.stringify(notes));
  res.json(notes.length);
});
app.get('/late', (req, res) => {
  const notes = JSON.parse(fs.readFileSync(FILE, 'utf8')).concat(-1);
  res.json(notes.length);
  for (let end = Date.now() + 20; Date.now() < end; );
  fs.writeFileSync(FILE, JSON.stringify(notes));
});
app.get('/count', async (req, res) => { res.json(JSON.parse(await fs.promises.readFile(FILE, 'utf8')).length); });
app.get('/work', (req, res) => { for (let end = Date.now() + 5; Date.now() < end; ); res.json(1); });
const server = app.listen(0, () => console.log('port ' + server.address().port));
`;

for (const accept of ['home', 'every']) {
  test.serial(`what is read and written in one step is: files, connections taken by ${accept}`, async (t) => {
    const flags = ['--placement', 'eager', '--threads', '2', '--accept', accept];
    const app = await ServedApp.serve(t, { 'app.js': FILES }, { flags, replicas: 2 });
    await app.many(20, () => '/work');
    const counts = (await app.many(60, () => '/add')).map(({ text }) => Number(text)).sort((a, b) => a - b);
    t.deepEqual(
      counts,
      counts.map((_, at) => at + 1),
    );
    for (let at = 61; at < 66; at++) {
      t.is((await app.get('/late', { agent: false })).text, String(at));
      t.is((await app.get('/count', { agent: false })).text, String(at), 'the answer came before the file');
    }
  });
}

/** One connection that stays open. */
class Listener {
  text = '';
  #heard = (): void => {};

  static connect(app: ServedApp): Promise<Listener> {
    return new Promise((resolve, reject) => {
      const listener = new Listener();
      const req = http.get({ port: app.port, path: '/events', agent: false }, (res) => {
        res.setEncoding('utf8').on('data', (chunk: string) => {
          listener.text += chunk;
          listener.#heard();
          resolve(listener);
        });
        res.on('error', () => {});
      });
      req.on('error', reject);
    });
  }

  async hears(end: string): Promise<void> {
    while (!this.text.endsWith(end)) await new Promise<void>((resolve) => (this.#heard = resolve));
  }
}
