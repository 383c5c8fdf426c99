import { writeFileSync } from 'node:fs';
import test from 'ava';
import { ServedApp } from './support/served-app.js';

// How many replicas there are while an app runs. Its clock runs two hundred times as fast, so nobody has to wait for minutes. By that clock the
// processor was elsewhere nearly all the time; what Node 20 takes for a handler's own time all the same has to be 20 ms or more.

const app = (handler: string): string => `
const { now } = performance;
performance.now = () => now.call(performance) * 200;
const express = require('express');
const app = express();
app.get('/heavy', (req, res) => { let sum = 0; for (let at = 0; at < 3e7; at++) sum += at % 7; res.json(sum); });
${handler}
const server = app.listen(0, () => console.log('port ' + server.address().port));
server.keepAliveTimeout = 120_000;
`;

const FLAGS = { flags: ['--threads', '3', '--max-block-ms', '0', '--accept', 'home'] } as const;

/** As many as may be: work waits for room. */
async function crowd(served: ServedApp, path: string): Promise<void> {
  await served.askUntil(served.hasReplicas(3), () => served.many(24, () => path));
}

test.serial('a crowd has all replicas, and when it has gone one is left, which serves', async (t) => {
  const served = await ServedApp.serve(t, { 'app.js': app('') }, FLAGS);
  t.false(served.stderr.includes('is ready'));
  await crowd(served, '/heavy');
  await served.until(() => [...served.stderr.matchAll(/replica-\d+ has ended/g)].length >= 2);
  for (const { status } of await served.many(12, () => '/heavy')) t.is(status, 200);
  const report = await served.report();
  t.true(report.decisions.some(({ what }) => /is to end/.test(what)));
  t.regex(report.decisions[0]?.why ?? '', /^"get_heavy"(, which takes \d+\.\d ms, is to run| is tried) elsewhere/);
});

test.serial('a replica in which a handler has left a timer is not ended', async (t) => {
  const later = `app.get('/later', (req, res) => {
  let sum = 0;
  for (let at = 0; at < 3e7; at++) sum += at % 7;
  setTimeout(() => console.log('later'), 3_600_000);
  res.json(sum);
});`;
  const served = await ServedApp.serve(t, { 'app.js': app(later) }, FLAGS);
  await crowd(served, '/later');
  await served.many(60, () => '/later');
  await served.says(/replica-\d+ stays: something is left there: Timeout/);
  t.is((await served.get('/later')).status, 200);
});

test.serial('a replica that serves connections gives them back, and ends', async (t) => {
  const light = `
const { existsSync } = require('fs');
const { now } = performance;
// What the clock goes by is kept outside: a program that keeps it itself has one clock, and stays on one loop.
performance.now = () => now.call(performance) * (existsSync('leap') ? 200 : 1);
const express = require('express');
const app = express();
app.get('/light/:id', (req, res) => { for (let at = 0; at < 1e5; at++); res.json({ id: req.params.id }); });
const server = app.listen(0, () => console.log('port ' + server.address().port));
server.keepAliveTimeout = 120_000;
`;
  const served = await ServedApp.serve(t, { 'app.js': light }, { flags: ['--threads', '2', '--max-block-ms', '0'] });
  const accepts = (): number => [...served.stderr.matchAll(/replica-\d+ accepts connections/g)].length;
  await served.askUntil(
    served.until(() => accepts() >= 2),
    () => served.many(200, (n) => `/light/${n}`),
  );
  await served.many(200, (n) => `/light/${n}`);
  writeFileSync(served.file('leap'), '');
  await served.says(/replica-\d+ has ended/);
  // Those that kept their connections find them at home, or on the spare.
  for (const [n, { text }] of (await served.many(100, (n) => `/light/${n}`)).entries()) t.is(text, `{"id":"${n}"}`);
});
