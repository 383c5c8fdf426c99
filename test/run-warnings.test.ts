import test from 'ava';
import { runsAway, ServedApp } from './support/served-app.js';

const APP = `
const express = require('express');
const { deprecate } = require('node:util');
const old = deprecate((n) => n * 2, 'old() is no longer what it was', 'APP001');
let count = 0;
const app = express();
app.get('/away/:n', (req, res) => { res.send(String(old(Number(req.params.n)))); });
app.get('/home/:n', (req, res) => { count += 1; res.send(String(old(Number(req.params.n)) + count)); });
app.get('/careful', (req, res) => {
  process.emitWarning('slippery', { type: 'Care', code: 'APP002', detail: 'after rain' });
  res.send('ok');
});
const server = app.listen(0, () => console.log('port ' + server.address().port));
`;

const EAGER = { flags: ['--placement', 'eager', '--threads', '2'], replicas: 2 };

test('a deprecation is told once, on whatever loops it is come upon', async (t) => {
  const served = await ServedApp.serve(t, { 'app.js': APP }, EAGER);
  for (const path of ['/away/1', '/home/1', '/away/2', '/home/2']) t.is((await served.get(path)).status, 200);
  await served.many(8, (n) => `/away/${n}`);
  await served.get('/careful');
  await served.says(/after rain/);
  const report = await served.report();
  t.is(runsAway(report, 'get_away_n'), 10);
  const lines = served.stderr.split('\n').filter((line) => !line.startsWith('fluxion '));
  t.deepEqual(
    lines.map((line) => line.replace(/\(node:\d+\)/, '(node)')),
    [
      '(node) [APP001] DeprecationWarning: old() is no longer what it was',
      '(Use `node --trace-deprecation ...` to show where the warning was created)',
      '(node) [APP002] Care: slippery',
      'after rain',
      '',
    ],
  );
});

test("the app's own listener is called at home", async (t) => {
  const listener = `
const heard = [];
process.on('warning', ({ name, code, message, detail, stack }) => {
  heard.push([name, code, message, detail, stack.includes('app.js:10')].join(' '));
});
app.get('/heard', (req, res) => { res.json(heard); });`;
  const served = await ServedApp.serve(t, { 'app.js': APP + listener }, EAGER);
  await served.get('/careful');
  await served.says(/after rain/);
  t.deepEqual(JSON.parse((await served.get('/heard')).text), ['Care APP002 slippery after rain true']);
});
