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
