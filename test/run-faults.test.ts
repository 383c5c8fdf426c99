import { connect } from 'node:net';
import test from 'ava';
import { fluxionOf, runsAway, ServedApp } from './support/served-app.js';

const APP = `
const express = require('express');
const fs = require('fs');
const app = express();
let count = 0;
app.get('/count', (req, res) => { count += 1; res.json(count); });
app.get('/write/:id', (req, res) => { fs.appendFileSync('out.txt', req.params.id + '\\n'); res.send(req.params.id); });
app.get('/work/:id', (req, res) => { let s = 0; for (let i = 0; i < 3e6; i++) s += i % 7; res.send(req.params.id + ' ' + s); });
app.get('/wait/:id', async (req, res) => { await new Promise((r) => setTimeout(r, 20)); res.send(req.params.id); });
app.get('/late', (req, res) => { setTimeout(() => { throw new Error('thrown late'); }, 5); });
app.get('/loop-effect/:id', (req, res) => { fs.appendFileSync('out.txt', req.params.id + '\\n'); for (;;); });
app.get('/loop', (req, res) => { for (;;); });
app.get('/fill', (req, res) => { const all = []; for (;;) all.push(new Array(1e5).fill(all.length)); });
app.get('/exit', (req, res) => { process.exit(3); });
const server = app.listen(0, () => console.log('port ' + server.address().port));
`;
const EAGER = ['--placement', 'eager', '--threads', '2'];

test.serial('what the outside has seen is not done a second time: such a request gets one 500', async (t) => {
  const flags = [...EAGER, '--max-block-ms', '600'];
  const app = await ServedApp.serve(t, { 'app.js': APP }, { flags, replicas: 2 });
  // First: what has once left never runs at home, where nobody would end it, however long the machine takes for the rest.
  const killers = Array.from({ length: 2 }, (_, n) => app.get(`/loop-effect/k${n}`));
  const replies = await app.many(200, (n) => `/write/${n}`);
  for (const { status } of await Promise.all(killers)) t.is(status, 500);
  const written = app.lines('out.txt');
  t.is(new Set(written).size, written.length, 'nothing was written twice');
  for (const [n, { status }] of replies.entries()) {
    t.true(status === 200 || status === 500);
    t.true(written.includes(String(n)));
  }
  for (const n of [0, 1]) t.true(written.includes(`k${n}`));
  t.is((await app.get('/wait/1')).status, 200);
});

test.serial('requests of a replica that dies are run again, once each', async (t) => {
  const flags = [...EAGER, '--max-block-ms', '600'];
  const app = await ServedApp.serve(t, { 'app.js': APP }, { flags, replicas: 2 });
  const killers = Array.from({ length: 2 }, () => app.get('/loop'));
  const replies = await app.many(300, (n) => (n % 3 === 0 ? `/work/${n}` : `/wait/${n}`));
  t.true(replies.every(({ status, text }, n) => status === 200 && text.split(' ')[0] === String(n)));
  for (const { status } of await Promise.all(killers)) t.is(status, 500);
  t.is((await app.get('/count')).text, '1');
  const report = await app.report();
  t.true(fluxionOf(report, 'get_loop').reruns >= 2);
});

test.serial('an endless loop on a replica is ended after --max-block-ms, and nobody else is hurt', async (t) => {
  const flags = [...EAGER, '--max-block-ms', '600'];
  const app = await ServedApp.serve(t, { 'app.js': APP }, { flags, replicas: 2 });
  const killer = app.get('/loop');
  const replies = await app.many(60, (n) => `/wait/${n}`);
  t.true(replies.every(({ status, text }, n) => status === 200 && text === String(n)));
  t.is((await killer).status, 500);
  t.true(app.logged('error').some((line) => line.includes('--max-block-ms')));
  t.is((await app.get('/wait/1')).status, 200);
});

test.serial('a client that says that it sends no more has its answer, as with node', async (t) => {
  const text = `
    const express = require('express');
    const app = express();
    const compute = (n) => { let sum = 0; for (let i = 0; i < n; i++) sum += i; return sum; };
    app.use('/two', (req, res, next) => { compute(1000); next(); });
    app.get(['/one', '/two'], (req, res) => { res.send('sum ' + compute(1000)); });
    app.post('/body', (req, res) => { let n = 0; req.on('data', (c) => { n += c.length; }); req.on('end', () => { res.send('got ' + n); }); });
    app.get('/late', (req, res) => { setTimeout(() => { res.send('late'); }, 300); });
    const server = app.listen(0, () => console.log('port ' + server.address().port));`;
  const requests = [
    ...['/one', '/two', '/late'].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`),
    `POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n${'x'.repeat(300_000)}`,
  ];
  const app = await ServedApp.serve(t, { 'app.js': text }, { flags: EAGER, replicas: 2 });
  const answers = await Promise.all(requests.map((each) => askAndEnd(app.port, each)));
  t.deepEqual(
    answers.map((answer) => answer.split('\r\n\r\n')[1] ?? ''),
    ['sum 499500', 'sum 499500', '', 'got 300000'],
  );
});

test.serial('what makes no sense behind a request does not overtake its answer', async (t) => {
  const text = `
    const express = require('express');
    const app = express();
    app.get('/sum', (req, res) => { let sum = 0; for (let i = 0; i < 1e6; i++) sum += i; res.send('sum ' + sum); });
    const server = app.listen(0, () => console.log('port ' + server.address().port));
    server.on('clientError', (error, socket) => { console.log(error.code, socket.server === server); socket.end('HTTP/1.1 418 No\\r\\n\\r\\n'); });`;
  const app = await ServedApp.serve(t, { 'app.js': text }, { flags: EAGER, replicas: 2 });
  const request = 'GET /sum HTTP/1.1\r\nHost: a\r\n\r\n';
  for (const behind of ['GARBAGE\r\n\r\n', `${request}\x01`, 'GET / HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n']) {
    const answer = await ask(app.port, request + behind);
    t.regex(answer, /^HTTP\/1\.1 200 OK\r\n/);
    t.regex(answer, /sum 499999500000HTTP\/1\.1 (200 OK[\s\S]*sum 499999500000HTTP\/1\.1 )?418 No\r\n\r\n$/);
  }
  const invalid = 'HPE_INVALID_METHOD true\n';
  t.is(app.stdout.replace(/^port \d+\n/, ''), `${invalid}${invalid}HPE_INVALID_HEADER_TOKEN true\n`);
  const report = await app.report();
  t.is(runsAway(report, 'get_sum'), 4);
});

function ask(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(bytes));
    let answer = '';
    socket.setEncoding('latin1').on('data', (text: string) => (answer += text));
    socket.on('close', () => resolve(answer)).on('error', reject);
  });
}

function askAndEnd(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => socket.end(bytes));
    let answer = '';
    socket.setEncoding('latin1').on('data', (text: string) => (answer += text));
    socket.on('end', () => resolve(answer)).on('error', reject);
  });
}

test.serial('a replica that runs out of memory is replaced', async (t) => {
  const env = { NODE_OPTIONS: '--max-old-space-size=80' };
  const app = await ServedApp.serve(t, { 'app.js': APP }, { flags: EAGER, replicas: 2, env });
  const killer = app.get('/fill');
  const replies = await app.many(60, (n) => `/wait/${n}`);
  t.true(replies.every(({ status, text }, n) => status === 200 && text === String(n)));
  t.is((await killer).status, 500);
  t.true(app.logged('error').some((line) => line.includes('out of memory')));
  await app.hasReplicas(3);
  t.is((await app.get('/wait/1')).status, 200);
});

test.serial('process.exit in a handler ends the program', async (t) => {
  const app = await ServedApp.serve(t, { 'app.js': APP }, { flags: EAGER, replicas: 2 });
  await t.throwsAsync(app.get('/exit'));
  t.is((await app.ended).code, 3);
});

test.serial('a replica that cannot start is given up with one line, and home serves', async (t) => {
  // Goes past everything that a firewall could watch.
  const source = APP.replace('let count', "process.binding('tty_wrap');\nlet count");
  const app = await ServedApp.serve(t, { 'app.js': source }, { flags: EAGER });
  const [, line] = await app.says(/^fluxion info: (no further thread.*)$/m);
  t.regex(line ?? '', /which serves alone: process\.binding\(tty_wrap\) at /);
  const replies = await app.many(20, (n) => `/wait/${n}`);
  t.true(replies.every(({ status, text }, n) => status === 200 && text === String(n)));
  t.is((await app.get('/count')).text, '1');
  t.is(app.logged('info').filter((each) => each.includes('no further thread')).length, 1);
  t.deepEqual([...app.logged('warn'), ...app.logged('error')], []);
});

test("the app's own listeners hear at home what nobody caught on a replica, which goes on", async (t) => {
  const heard = `
let seen = 0;
process.on('uncaughtException', (error, origin) => { seen += 1; console.log('heard ' + seen + ' ' + error.message + ' ' + origin); });
process.on('unhandledRejection', (reason) => { seen += 1; console.log('heard ' + seen + ' ' + reason.message); });
app.get('/reject', (req, res) => { Promise.reject(new Error('rejected')); res.send('ok'); });
`;
  const app = await ServedApp.serve(
    t,
    { 'app.js': APP.replace('let count', `${heard}let count`) },
    { flags: EAGER, replicas: 2 },
  );
  const late = app.get('/late').catch(() => null);
  await app.says(/heard 1 thrown late uncaughtException/);
  t.is((await app.get('/reject')).text, 'ok');
  await app.says(/heard 2 rejected/);
  const replies = await app.many(20, (n) => `/wait/${n}`);
  t.true(replies.every(({ status }) => status === 200));
  t.deepEqual(app.logged('error'), []);
  t.false(app.stderr.includes('replica-3'));
  app.child.kill('SIGKILL');
  await late;
});

test.serial('a report says what ran where', async (t) => {
  const app = await ServedApp.serve(t, { 'app.js': APP }, { flags: EAGER, replicas: 2 });
  await app.many(40, (n) => `/work/${n}`);
  await app.many(10, () => '/count');
  const report = await app.report();
  t.is(runsAway(report, 'get_work_id'), 40);
  t.deepEqual(fluxionOf(report, 'get_count').runs, { home: 10 });
});
