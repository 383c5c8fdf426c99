import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { fluxionOf, type ReportJson, runsAway, ServedApp } from './support/served-app.js';

const EAGER = { flags: ['--placement', 'eager', '--threads', '2'], replicas: 2 } as const;

/** The program of the paper as it stands in the fixtures, on a port of its own. */
function paper(name: string): string {
  const file = fileURLToPath(new URL(`../../fixtures/paper/${name}/app.js`, import.meta.url));
  const source = readFileSync(file, 'utf8');
  return source.replace(
    'app.listen(process.env.PORT || 8080);',
    "const server = app.listen(0, () => console.log('port ' + server.address().port));",
  );
}

for (const [name, reply] of [
  ['counter-reply', 'reply'],
  ['counter-reply-promises', 'reply'],
  ['counter-reply-async', 'handler_readFile'],
] as const) {
  test.serial(`${name}: its read and its count run on two loops`, async (t) => {
    const app = await ServedApp.serve(t, { 'app.js': paper(name) }, EAGER);
    const replies = await app.many(200, () => '/');
    const visits = replies.map(({ text }) => Number(/^visit (\d+)\nread$/.exec(text)?.[1])).sort((a, b) => a - b);
    t.deepEqual(
      visits,
      [...visits.keys()].map((n) => n + 1),
    );
    const report = await app.report();
    t.is(runsAway(report, 'handler'), 200);
    t.deepEqual(fluxionOf(report, reply).runs, { home: 200 });
    t.true(report.bus.messages > 400 && report.bus.bytes > 0);
  });
}

/** Counts at home, computes elsewhere, answers: with callbacks, with promises, with await. */
const PIPELINE = `
const express = require('express');
const fs = require('fs');
const { readFile } = require('fs/promises');
const app = express();
let count = 0;

function work(data, rounds) {
  let sum = data.length;
  for (let at = 0; at < 2e6; at++) sum = (sum + at * rounds) % 1000003;
  return sum;
}

app.get('/callback/:id', function called(req, res) {
  count += 1;
  fs.readFile(__filename, function transform(error, data) {
    res.send(req.params.id + ' ' + work(data, 3));
  });
});

app.get('/promise/:id', function promised(req, res, next) {
  count += 1;
  readFile(__filename).then(function compute(data) {
    res.send(req.params.id + ' ' + work(data, 5));
  }).catch(next);
});

app.get('/await/:id', async function awaited(req, res) {
  count += 1;
  const data = await readFile(__filename);
  res.send(req.params.id + ' ' + work(data, 7));
});

app.get('/count', function asked(req, res) { res.json(count); });

const server = app.listen(0, () => console.log('port ' + server.address().port));
`;

test.serial('a heavy part behind a cheap one that counts is sent away', async (t) => {
  const node = await ServedApp.serve(t, { 'app.js': PIPELINE }, { flags: null });
  const app = await ServedApp.serve(t, { 'app.js': PIPELINE }, EAGER);
  for (const kind of ['callback', 'promise', 'await']) {
    const expected = await node.get(`/${kind}/x`);
    const replies = await app.many(40, (n) => `/${kind}/${n}`);
    for (const [n, { status, text }] of replies.entries()) {
      t.is(`${status} ${text}`, `200 ${expected.text.replace('x', String(n))}`);
    }
  }
  t.is((await app.get('/count')).text, '120');
  const report = await app.report();
  for (const id of ['called', 'promised', 'awaited']) t.deepEqual(fluxionOf(report, id).runs, { home: 40 }, id);
  t.is(runsOfParts(report), 120);
});

function runsOfParts({ fluxions }: ReportJson): number {
  const handlers = ['called', 'promised', 'awaited', 'asked'];
  return fluxions
    .filter(({ id }) => !handlers.includes(id))
    .reduce(
      (sum, { runs }) => sum + Object.entries(runs).reduce((all, [loop, n]) => all + (loop === 'home' ? 0 : n), 0),
      0,
    );
}

const ERRORS = (express: string) => `
const express = require('${express}');
const { readFile } = require('fs/promises');
const fs = require('fs');
const app = express();
let count = 0;
app.get('/caught/:what', async function caught(req, res) {
  try {
    const data = await readFile(req.params.what === 'ok' ? __filename : 'missing');
    count += 1;
    if (req.params.what === 'ok') throw new TypeError('thrown behind');
    res.send('read ' + data.length);
  } catch (error) {
    res.status(418).send(error.name + ' ' + (error.code || error.message) + ' ' + count);
  }
});
app.get('/passed', function passed(req, res, next) {
  fs.readFile(__filename, function behind(error, data) {
    count += 1;
    next(new RangeError('passed on ' + count));
  });
});
app.get('/rejected', function rejected(req, res, next) {
  readFile(__filename).then(function after(data) {
    count += 1;
    throw new RangeError('rejected ' + count);
  }).catch(next);
});
app.use(function failed(error, req, res, next) { res.status(500).send(error.name + ': ' + error.message); });
const server = app.listen(0, () => console.log('port ' + server.address().port));
`;

for (const express of ['express', 'express4']) {
  test.serial(`errors of what runs behind a cut go where they would: ${express}`, async (t) => {
    const paths = ['/caught/missing', '/caught/ok', '/passed', '/rejected'];
    const node = await ServedApp.serve(t, { 'app.js': ERRORS(express) }, { flags: null });
    const app = await ServedApp.serve(t, { 'app.js': ERRORS(express) }, EAGER);
    for (const path of paths) {
      const [expected, got] = await Promise.all([node.get(path), app.get(path)]);
      t.is(`${got.status} ${got.text}`, `${expected.status} ${expected.text}`, path);
    }
    t.deepEqual([...app.logged('warn'), ...app.logged('error')], []);
  });
}

const CARGO = `
const express = require('express');
const fs = require('fs');
const app = express();
let count = 0;
app.get('/symbol/:n', function withSymbol(req, res) {
  const mark = Symbol('mark');
  fs.readFile(__filename, function countSymbol(error, data) { count += 1; res.json([String(mark), req.params.n]); });
});
app.get('/promise/:n', function withPromise(req, res) {
  const held = { promise: Promise.resolve(1) };
  fs.readFile(__filename, function countPromise(error, data) { count += 1; res.json([held.promise !== null, req.params.n]); });
});
app.get('/plain/:n', function withPlain(req, res) {
  fs.readFile(__filename, function countPlain(error, data) { count += 1; res.json(req.params.n); });
});
app.get('/count', function asked(req, res) { res.json(count); });
const server = app.listen(0, () => console.log('port ' + server.address().port));
`;

test.serial('what cannot travel keeps its fluxion at home, with one warning, and is served', async (t) => {
  const app = await ServedApp.serve(t, { 'app.js': CARGO }, EAGER);
  const [symbols, promises] = await Promise.all([
    app.many(20, (n) => `/symbol/${n}`),
    app.many(20, (n) => `/promise/${n}`),
    app.many(20, (n) => `/plain/${n}`),
  ]);
  for (const [n, { text }] of symbols.entries()) t.is(text, `["Symbol(mark)","${n}"]`);
  for (const [n, { text }] of promises.entries()) t.is(text, `[true,"${n}"]`);
  t.is((await app.get('/count')).text, '60');
  const warnings = [...app.logged('warn'), ...app.logged('error')].sort();
  t.is(warnings.length, 2);
  t.regex(warnings[0] ?? '', /held\.promise cannot travel: .*"withPromise" \(app\.js:10\) stays on the main thread/);
  t.regex(warnings[1] ?? '', /mark cannot travel: .*"withSymbol" \(app\.js:6\) stays on the main thread/);
  const before = app.stderr;
  await app.many(10, (n) => `/symbol/${n}`);
  const report = await app.report();
  t.is(app.stderr, before);
  t.true((fluxionOf(report, 'withSymbol').runs.home ?? 0) >= 10);
  t.is(runsAway(report, 'withPlain'), 20);
});

const LATER = `
const express = require('express');
const fs = require('fs');
const app = express();
let finished = 0;
app.get('/after', function after(req, res) {
  res.send('sent');
  fs.readFile(__filename, function note(error, data) {
    finished += 1;
    console.log('finished ' + finished + ' ' + res.writableEnded + ' ' + req.url);
  });
});
app.get('/gone', function gone(req, res) {
  console.log('waiting');
  fs.readFile(__filename, function wait(error, data) {
    setTimeout(function late() {
      finished += 1;
      console.log('late ' + finished + ' ' + res.destroyed);
      res.send('nobody');
    }, 50);
  });
});
app.get('/count', function asked(req, res) { res.json(finished); });
const server = app.listen(0, () => console.log('port ' + server.address().port));
`;

test.serial('a flow goes on after its answer has been sent', async (t) => {
  const app = await ServedApp.serve(t, { 'app.js': LATER }, EAGER);
  for (let n = 1; n <= 20; n++) {
    t.is((await app.get('/after')).text, 'sent');
    await app.says(new RegExp(`finished ${n} true /after`));
  }
  t.is((await app.get('/count')).text, '20');
  t.deepEqual([...app.logged('warn'), ...app.logged('error')], []);
});

test.serial('a flow goes on after its client has gone', async (t) => {
  const app = await ServedApp.serve(t, { 'app.js': LATER }, EAGER);
  const req = http.get({ port: app.port, path: '/gone', agent: false });
  const failed = once(req, 'error');
  await app.says(/waiting/);
  req.destroy(new Error('left'));
  await failed;
  await app.says(/late 1 true/);
  t.is((await app.get('/count')).text, '1');
});

const KEPT = `
const express = require('express');
const { readFile } = require('fs/promises');
const app = express();
class Refused extends Error {
  static #made = 0;
  constructor(status, why) { super('refused', { cause: why }); this.status = status; this.number = ++Refused.#made; }
}
app.get('/refused', async function asks(req, res) {
  await readFile(__filename);
  throw new Refused(418, new Error('tea'));
});
app.use((error, req, res, next) => {
  res.status(error.status).json([error instanceof Refused, error.number, error.cause.message]);
});
const server = app.listen(0, () => console.log('port ' + server.address().port));
`;

test('what a rest at home throws is that very error for who comes next at home, where the class cannot travel', async (t) => {
  const app = await ServedApp.serve(t, { 'app.js': KEPT }, EAGER);
  for (const number of [1, 2]) {
    const { status, text } = await app.get('/refused');
    t.deepEqual([status, JSON.parse(text)], [418, [true, number, 'tea']]);
  }
  t.true(runsAway(await app.report(), 'asks') > 0);
});

test.serial('the process ends when what it is called back for elsewhere has ended, too', async (t) => {
  const source = `
    const express = require('express');
    const app = express();
    const server = app.listen(0, () => console.log('port ' + server.address().port));
    app.get('/close', (req, res) => {
      server.close(() => console.log('closed'));
      res.set('Connection', 'close').send('bye');
    });`;
  const app = await ServedApp.serve(t, { 'app.js': source }, EAGER);
  t.is((await app.get('/close', { agent: false })).text, 'bye');
  t.deepEqual(await app.ended, { code: 0, signal: null });
  t.regex(app.stdout, /^closed$/m);
});
