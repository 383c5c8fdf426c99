import { once } from 'node:events';
import { rmSync } from 'node:fs';
import http from 'node:http';
import test from 'ava';
import { runsAway, ServedApp, type ServeOptions } from './support/served-app.js';

const app = (more = '') => `
const express = require('express');
const fs = require('fs');
const app = express();
app.get('/slow/:id', async (req, res) => {
  console.log('begun ' + req.params.id);
  await new Promise((resolve) => setTimeout(resolve, 300));
  res.send(req.params.id);
});
app.get('/work/:id', (req, res) => {
  let sum = 0;
  for (let at = 0; at < 2e6; at++) sum += at % 7;
  res.send(req.params.id + ' ' + sum);
});
const server = app.listen(0, () => console.log('port ' + server.address().port));
${more}
`;

const EAGER: ServeOptions = { flags: ['--placement', 'eager', '--threads', '2'], replicas: 2 };

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test.serial(`${signal}: what is running ends, also elsewhere, then the process dies of it`, async (t) => {
    const served = await ServedApp.serve(t, { 'app.js': app() }, EAGER);
    const replies = served.many(10, (n) => `/slow/${n}`);
    for (let n = 0; n < 10; n++) await served.says(new RegExp(`begun ${n}\n`));
    served.child.kill(signal);
    for (const [n, { status, text }] of (await replies).entries()) t.is(`${status} ${text}`, `200 ${n}`);
    t.deepEqual(await served.ended, { code: null, signal });
    t.is(runsAway(served.readReport(), 'get_slow_id'), 10);
  });
}

test.serial('an app with its own handler decides, and replicas do not keep it', async (t) => {
  const own = `
process.on('SIGTERM', () => {
  console.log('asked to go');
  server.close(() => console.log('closed'));
  server.closeIdleConnections();
});`;
  const served = await ServedApp.serve(t, { 'app.js': app(own) }, EAGER);
  const reply = served.get('/slow/1', { agent: false });
  await served.says(/begun 1/);
  served.child.kill('SIGTERM');
  await served.says(/asked to go/);
  t.is((await reply).text, '1');
  t.deepEqual(await served.ended, { code: 0, signal: null });
  t.regex(served.stdout, /closed/);
});

test.serial('an app that listens once decides, and the next signal ends it, be it its own', async (t) => {
  const own = `
process.once('SIGTERM', () => {
  console.log('asked to go');
  server.close(() => {
    console.log('closed');
    process.kill(process.pid, 'SIGTERM');
  });
  server.closeIdleConnections();
});`;
  const served = await ServedApp.serve(t, { 'app.js': app(own) }, EAGER);
  const reply = served.get('/slow/1', { agent: false });
  await served.says(/begun 1/);
  served.child.kill('SIGTERM');
  t.is((await reply).text, '1');
  t.deepEqual(await served.ended, { code: null, signal: 'SIGTERM' });
  t.is(runsAway(served.readReport(), 'get_slow_id'), 1);
  t.regex(served.stdout, /closed/);

  const other = await ServedApp.serve(t, { 'app.js': app(own) }, EAGER);
  other.get('/slow/1', { agent: false }).catch(() => {});
  await other.says(/begun 1/);
  other.child.kill('SIGTERM');
  await other.says(/asked to go/);
  other.child.kill('SIGTERM');
  t.deepEqual(await other.ended, { code: null, signal: 'SIGTERM' });
});

test.serial(
  'who tidies up where nobody else listens, and ends the process itself, is alone for all that it can see',
  async (t) => {
    // So do signal-exit and what is made with it.
    const own = `
const seen = () => [process.listenerCount('SIGTERM'), process.listeners('SIGTERM').length, process.rawListeners('SIGTERM').length, process.eventNames().includes('SIGTERM')].join();
app.get('/none', (req, res) => res.send(seen()));
app.get('/listen', (req, res) => { process.on('SIGTERM', tidy); res.send(seen()); });
app.get('/leave', (req, res) => { process.removeListener('SIGTERM', tidy); res.send(seen()); });
function tidy() {
  if (process.listeners('SIGTERM').length > 1) return;
  process.removeListener('SIGTERM', tidy);
  console.log('tidied');
  process.kill(process.pid, 'SIGTERM');
}`;
    const served = await ServedApp.serve(t, { 'app.js': app(own) }, EAGER);
    await served.get('/work/1');
    t.is((await served.get('/none')).text, '0,0,0,false');
    t.is((await served.get('/listen')).text, '1,1,1,true');
    served.child.kill('SIGTERM');
    t.deepEqual(await served.ended, { code: null, signal: 'SIGTERM' });
    t.regex(served.stdout, /tidied/);

    // Who leaves before there was a signal leaves it to Fluxion again: what is running ends.
    const other = await ServedApp.serve(t, { 'app.js': app(own) }, EAGER);
    await other.get('/listen');
    t.is((await other.get('/leave')).text, '0,0,0,false');
    const reply = other.get('/slow/1', { agent: false });
    await other.says(/begun 1/);
    other.child.kill('SIGTERM');
    t.is((await reply).text, '1');
    t.deepEqual(await other.ended, { code: null, signal: 'SIGTERM' });
  },
);

test.serial('an app that closes its server ends as with node, whatever replicas are doing', async (t) => {
  const own = `
app.get('/close', (req, res) => { res.set('Connection', 'close').send('bye'); server.close(() => console.log('closed')); });`;
  const served = await ServedApp.serve(t, { 'app.js': app(own) }, { flags: EAGER.flags });
  // Replicas are being started meanwhile.
  t.is((await served.get('/close', { agent: false })).text, 'bye');
  t.deepEqual(await served.ended, { code: 0, signal: null });

  const other = await ServedApp.serve(t, { 'app.js': app(own) }, EAGER);
  await Promise.all(Array.from({ length: 10 }, (_, n) => other.get(`/work/${n}`, { agent: false })));
  t.is((await other.get('/close', { agent: false })).text, 'bye');
  t.deepEqual(await other.ended, { code: 0, signal: null });
});

test.serial('SIGUSR2 writes a report while the app runs', async (t) => {
  const served = await ServedApp.serve(t, { 'app.js': app() }, EAGER);
  await served.many(20, (n) => `/work/${n}`);
  const file = served.file('report.json');
  // One is there since it was known what may move.
  rmSync(file);
  served.child.kill('SIGUSR2');
  const { watch, existsSync, mkdirSync } = await import('node:fs');
  mkdirSync(served.file('seen'));
  const watcher = watch(served.folder);
  while (!existsSync(file)) await once(watcher, 'change');
  watcher.close();
  const report = served.readReport();
  t.is(runsAway(report, 'get_work_id'), 20);
  t.deepEqual(Object.keys(report), ['version', 'loops', 'fluxions', 'bus', 'decisions', 'aside', 'link', 'accept']);
  t.is(
    report.loops.reduce((sum, { requests }) => sum + requests, 0),
    20,
  );
  t.true(report.loops.every(({ busy, rssMb }) => busy > 0 && busy <= 1 && rssMb > 0));
  t.is((await served.get('/work/1')).status, 200);
});

test.serial('nothing is loaded or started where nothing can move; the report is written nevertheless', async (t) => {
  const stays = app()
    .replace("console.log('begun ' + req.params.id);", 'total += 1;')
    .replace(/app\.get\('\/work[\s\S]*?\n}\);\n/, '');
  const source = stays
    .replace('const app =', 'let total = 0;\nconst app =')
    .replace('res.send(req.params.id)', 'res.json(total)');
  const served = await ServedApp.serve(t, { 'app.js': source }, { flags: EAGER.flags });
  await served.many(5, (n) => `/slow/${n}`);
  const report = await served.report();
  t.deepEqual(
    report.loops.map(({ id, requests }) => [id, requests]),
    [['home', 5]],
  );
  t.is(report.bus.messages, 0);
  t.regex(report.aside ?? '', /nothing of it may leave/);
  t.regex(served.stderr, /fluxion info: all of it stays on the main thread: nothing of it may leave/);
});

test.serial('5,000 requests at once: all are answered, and home keeps answering what is light', async (t) => {
  const served = await ServedApp.serve(
    t,
    { 'app.js': app("let n = 0; app.get('/light', (req, res) => { n += 1; res.json(n); });") },
    EAGER,
  );
  const agent = new http.Agent({ maxSockets: 1_000 });
  const all = Promise.all(Array.from({ length: 5_000 }, (_, n) => served.get(`/work/${n}`, { agent })));
  let done = false;
  void all.then(() => (done = true));
  let light = 0;
  for (; !done; light++) t.is((await served.get('/light')).status, 200);
  for (const [n, { status, text }] of (await all).entries()) {
    t.is(status, 200);
    t.is(text.split(' ')[0], String(n));
  }
  agent.destroy();
  t.true(light > 20, `${light} light ones while the heavy ones ran`);
});

test.serial('--overload 503 answers so when loops have as much as they may', async (t) => {
  const flags = [...(EAGER.flags ?? []), '--overload', '503'];
  // The system lets so many wait to be accepted: what it does with more is no matter of ours.
  const patient = app().replace('listen(0,', 'listen({ port: 0, backlog: 2_000 },');
  const served = await ServedApp.serve(t, { 'app.js': patient }, { flags, replicas: 2 });
  const agent = new http.Agent({ maxSockets: 2_000 });
  // One address: of two, Node's client gives up the first after 250 ms, and connects once more.
  const ask = { agent, host: '127.0.0.1' };
  const replies = await Promise.all(Array.from({ length: 2_000 }, (_, n) => served.get(`/work/${n}`, ask)));
  agent.destroy();
  const refused = replies.filter(({ status }) => status === 503);
  t.true(refused.length > 0);
  t.true(refused.every(({ headers }) => headers['retry-after'] === '1'));
  t.is(replies.filter(({ status }) => status === 200).length, 2_000 - refused.length);
  t.is((await served.get('/work/1')).status, 200);
});
