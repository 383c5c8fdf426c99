/** Apps that use packages without a model, whose code the compiler reads: what runs elsewhere, and what must not. */
import test from 'ava';
import { runsAway, ServedApp } from './support/served-app.js';

const APP = `
const express = require('express');
const { wrap, count, keep, Kept, HttpError, format } = require('./vendor');
const app = express();
const burn = (n) => { let sum = 0; for (let at = 0; at < 2e5; at++) sum += at % n; return sum; };

app.get('/free/:n', wrap(async function free(req, res) { res.send(format(burn(Number(req.params.n)))); }));
let hits = 0;
app.get('/hits', wrap(async function addHit(req, res) { hits += 1; res.json(hits); }));
app.get('/count', (req, res) => { res.json(count()); });
const kept = keep({ n: 0 });
app.get('/kept', (req, res) => { res.json(Kept.bump()); });
app.get('/peek', (req, res) => { res.json(kept.n); });
app.get('/fails', wrap(async function fails(req, res) { burn(3); throw new HttpError(418, 'no coffee'); }));
app.use((error, req, res, next) => { res.status(error.status).send(error.message); });
const server = app.listen(0, () => { console.log('port ' + server.address().port); });
`;

const VENDOR = {
  'vendor/index.js': "Object.assign(exports, require('wrapper'), require('state'));",
  'vendor/node_modules/wrapper/package.json': '{"name":"wrapper","main":"lib"}',
  'vendor/node_modules/wrapper/lib/index.js': `'use strict';
const settle = require('./settle');
exports.wrap = function wrap(fn) {
  if (fn.length === 4) return function onError(err, req, res, next) { return settle(fn(err, req, res, next), next); };
  return function handler(req, res, next) { return settle(fn(req, res, next), next); };
};
exports.HttpError = class HttpError extends Error {
  constructor(status, text) { super(text); this.status = status; }
};
let locale = 'en';
exports.setLocale = (name) => { locale = name; };
exports.format = (x) => locale + ' ' + x;
`,
  'vendor/node_modules/wrapper/lib/settle.js':
    'module.exports = (result, next) => (result && result.catch ? result.catch(next) : result);',
  'vendor/node_modules/state/package.json': '{"name":"state"}',
  'vendor/node_modules/state/index.js': `let n = 0;
exports.count = () => (n += 1);
let kept = null;
exports.keep = (o) => (kept = o);
exports.Kept = { bump: () => (kept.n += 1) };
`,
};

test.serial(
  'wrappers in packages run elsewhere with the handlers in them, state in packages has one owner',
  async (t) => {
    const options = { flags: ['--placement', 'eager', '--threads', '2'], replicas: 2 };
    const app = await ServedApp.serve(t, { 'app.js': APP, ...VENDOR }, options);
    const counted = ['/hits', '/count', '/kept'].map((path) => app.many(40, () => path));
    const free = await app.many(60, (n) => `/free/${n + 2}`);
    for (const replies of await Promise.all(counted)) {
      const values = replies.map(({ text }) => Number(text)).sort((a, b) => a - b);
      t.deepEqual(
        values,
        [...values.keys()].map((n) => n + 1),
      );
    }
    for (const { text } of free) t.regex(text, /^en \d+$/);
    t.is((await app.get('/peek')).text, '40');
    const failed = await app.get('/fails');
    t.deepEqual([failed.status, failed.text], [418, 'no coffee']);
    const report = await app.report();
    t.true(runsAway(report, 'get_free_n') > 0, JSON.stringify(report.fluxions));
    for (const id of ['get_hits', 'get_count', 'get_kept', 'get_peek']) t.is(runsAway(report, id), 0, id);
  },
);

const SIGNED_IN = `
const express = require('express');
const guard = require('./vendor');
const users = new Map([['ann', { name: 'ann', notes: [] }]]);
const app = express();
const touch = (user) => { user.touched = (user.touched ?? 0) + 1; };
app.use(guard((token, done) => done(null, users.get(token))));
app.get('/name', function name(req, res) { res.send(req.user.name.toUpperCase()); });
app.get('/note', function note(req, res) { req.user.notes.push(1); res.json(req.user.notes.length); });
app.get('/seen', function seen(req, res) { const { user } = req; user.seen = (user.seen ?? 0) + 1; res.json(user.seen); });
app.get('/touch', function touched(req, res) { touch(req.user); res.json(req.user.touched); });
const server = app.listen(0, () => { console.log('port ' + server.address().port); });
`;

/** `eval` keeps it from being read. */
const GUARD = {
  'vendor/index.js': "module.exports = require('guard');",
  'vendor/node_modules/guard/index.js': `module.exports = (verify) => (req, res, next) => {
  verify(eval('"ann"'), (error, user) => { req.user = user; next(error); });
};
`,
};

test.serial(
  'what a package that is not read puts on a request may be what the app gave it: who changes it stays home',
  async (t) => {
    const options = { flags: ['--placement', 'eager', '--threads', '2'], replicas: 2 };
    const app = await ServedApp.serve(t, { 'app.js': SIGNED_IN, ...GUARD }, options);
    for (const path of ['/note', '/seen', '/touch']) {
      const counts = (await app.many(30, () => path)).map(({ text }) => Number(text));
      t.deepEqual(
        counts.sort((left, right) => left - right),
        [...counts.keys()].map((n) => n + 1),
        path,
      );
    }
    t.is((await app.get('/name')).text, 'ANN');
    const report = await app.report();
    t.true(runsAway(report, 'name') > 0, JSON.stringify(report.fluxions));
    for (const id of ['note', 'seen', 'touched']) t.is(runsAway(report, id), 0, id);
  },
);
