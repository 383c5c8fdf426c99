import test from 'ava';
import { ServedApp } from './support/served-app.js';

// What Fluxion itself listens to while it spreads an app is no reason to make its requests the slow way.

/** `x-powered-by` is what Express asks for before it sets the prototypes of a request. */
const app = (name: string): string => `
const http = require('http');
const express = require('${name}');
const app = express();
let asked = 0;
let born = 0;
const server = http.createServer(app);
Object.defineProperty(app.settings, 'x-powered-by', {
  enumerable: true,
  get() {
    const connections = Object.getOwnPropertySymbols(server).find((symbol) => symbol.description === 'http.server.connections');
    const { incoming } = server[connections].all().find((parser) => parser.incoming !== null) ?? {};
    if (incoming !== undefined && Object.getPrototypeOf(incoming) === app.request) born++;
    return true;
  },
});
app.get('/', (req, res) => { res.json({ asked: ++asked, born }); });
app.get('/free', (req, res) => { res.send('free'); });
server.listen(0, () => console.log('port ' + server.address().port));
`;

for (const name of ['express', 'express4']) {
  for (const flags of [
    ['--placement', 'home'],
    ['--placement', 'eager'],
    ['--accept', 'every'],
  ]) {
    test(`${name}, ${flags.join(' ')}: requests are born as Express wants them`, async (t) => {
      const served = await ServedApp.serve(t, { 'app.js': app(name) }, { flags: [...flags, '--threads', '1'] });
      if (!flags.includes('home')) await served.says(/server0 is linked/);
      for (let n = 1; n <= 5; n++) t.is((await served.get('/')).text, `{"asked":${n},"born":${n}}`);
    });
  }
}

for (const flags of [
  ['--placement', 'eager'],
  ['--accept', 'every'],
]) {
  test(`${flags.join(' ')}: accessors among settings and locals are not asked`, async (t) => {
    const text = `
const express = require('express');
const app = express();
let asked = 0;
for (const holder of [app.settings, app.locals]) {
  Object.defineProperty(holder, 'now', { enumerable: true, get() { asked++; return Date.now(); } });
}
app.get('/', (req, res) => { res.json(asked); });
app.get('/free', (req, res) => { res.send('free'); });
const server = app.listen(0, () => console.log('port ' + server.address().port));
`;
    const served = await ServedApp.serve(t, { 'app.js': text }, { flags: [...flags, '--threads', '1'] });
    await served.hasReplicas(1);
    for (let n = 0; n < 5; n++) t.is((await served.get('/free')).text, 'free');
    t.is((await served.get('/')).text, '0');
  });
}
