import test from 'ava';
import { runsAway, ServedApp } from './support/served-app.js';

// What two loops print of one request comes in the order in which one loop would print it.

const LATER = `app.get('/later/:n', function later(req, res) {
  fs.write(1, 'later ' + req.path + ' of it\\n', () => {});
  res.send('x');
});
const server = app.listen(0, () => console.log('port ' + server.address().port));
`;
const APP = `const fs = require('fs');
const express = require('express');
const app = express();
app.use(function logs(req, res, next) {
  res.on('finish', () => fs.writeSync(1, 'done ' + req.path + ' of it\\n'));
  next();
});
${LATER}`;

test('what is written by descriptor on another thread comes before what home writes of the end of the request', async (t) => {
  const app = await ServedApp.serve(
    t,
    { 'app.js': APP },
    { flags: ['--placement', 'eager', '--threads', '1'], replicas: 1 },
  );
  const paths = Array.from({ length: 60 }, (_, n) => `/later/${n}`);
  await app.many(paths.length, (n) => paths[n] ?? '');
  const report = await app.report();
  const lines = app.stdout.split('\n');
  for (const path of paths) {
    const [later, done] = ['later', 'done'].map((word) => lines.indexOf(`${word} ${path} of it`));
    t.true(Number(later) >= 0 && Number(done) > Number(later), path);
  }
  t.is(runsAway(report, 'later'), paths.length);
});

test('nobody reads the output any more: that is no reason to end', async (t) => {
  const text = `const fs = require('fs');\nconst app = require('express')();\n${LATER}`;
  const app = await ServedApp.serve(
    t,
    { 'app.js': text },
    { flags: ['--placement', 'eager', '--threads', '1'], replicas: 1 },
  );
  app.child.stdout?.destroy();
  for (let n = 0; n < 5; n++) t.is((await app.get(`/later/${n}`)).text, 'x');
  const report = await app.report();
  t.is(runsAway(report, 'later'), 5);
});
