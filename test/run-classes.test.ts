import test from 'ava';
import { runsAway, ServedApp } from './support/served-app.js';

// Instances of the app's classes and of packages' travel where they are no more than their properties, as instances.

const ERRORS = `
class AppError extends Error {
  constructor(message, code) { super(message); this.name = 'AppError'; this.code = code; }
  get status() { return this.code; }
  toJSON() { return { error: this.message, code: this.code }; }
}
class NotFound extends AppError { constructor(what) { super(what + ' not found', 404); } }
module.exports = { AppError, NotFound };
`;

/** As bundlers write it. */
const BUNDLED = `
class Refused extends Error { constructor(message, code) { super(message); this.code = code; } }
exports.errors = Object.freeze({ __proto__: null, default: Refused });
exports.refuse = () => { throw new Refused('refused', 403); };
`;

const WEAK = `
const kept = new WeakMap();
module.exports = class Weak { constructor(value) { kept.set(this, value); } get value() { return kept.get(this); } };
`;

const APP = `
const { readFileSync } = require('node:fs');
const express = require('express');
const createError = require('http-errors');
const { AppError, NotFound } = require('./errors');
const Weak = require('./weak');
const bundled = require('./bundled');
const app = express();
let served = 0;
class User {
  constructor(name, tags) { this.name = name; this.tags = tags; Object.defineProperty(this, 'secret', { value: 'kept' }); }
  label() { return this.name + '/' + this.tags.join(); }
  get upper() { return this.name.toUpperCase(); }
  toJSON() { return { user: this.name, tags: this.tags.length }; }
}
class Private { #value = 1; get value() { return this.#value; } }
class Stack extends Map {}
class Counting { toJSON() { served++; return { served }; } }
function classOf(value) { return class Made { get value() { return value; } }; }
const [First, Second] = [classOf(1), classOf(2)];

app.use('/user', (req, res, next) => { served++; req.user = new User('ann', ['a', 'b']); res.locals.me = req.user; next(); });
app.get('/user', (req, res, next) => {
  req.user.tags.push('c');
  req.user.extra = 1;
  req.seen = [req.user instanceof User, res.locals.me === req.user];
  next();
}, (req, res) => {
  served++;
  res.json([req.seen, req.user instanceof User, req.user, req.user.label(), req.user.upper, req.user.extra, req.user.secret, Object.keys(req.user), res.locals.me === req.user]);
});
app.get('/made', (req, res, next) => { req.made = new User('made', []); req.other = new Second(); next(); }, (req, res) => {
  served++;
  res.json([req.made instanceof User, req.made.label(), req.other instanceof Second, req.other.value]);
});
app.get('/odd/:kind', (req, res, next) => {
  const { kind } = req.params;
  req.odd = kind === 'private' ? new Private() : kind === 'weak' ? new Weak(5) : kind === 'stack' ? new Stack([[1, 2]]) : new First();
  next();
}, (req, res) => {
  served++;
  res.json([req.odd.value, req.odd.size, req.odd.constructor.name]);
});
app.use('/counting', (req, res, next) => { req.counting = new Counting(); next(); });
app.get('/counting', (req, res) => { res.json(req.counting); });
app.get('/not-found', (req, res, next) => next(new NotFound('thing')));
app.get('/throws', (req, res) => { throw new AppError('mine', 418); });
app.get('/rejects', async (req, res) => { throw createError(409, 'conflict', { detail: { a: 1 } }); });
app.get('/refused', function refuses(req, res) { readFileSync(__filename); bundled.refuse(); });
app.get('/forbidden', (req, res, next) => next(new createError.Forbidden('no')));
app.use((error, req, res, next) => {
  served++;
  const { name, message, code, detail, expose } = error;
  const kinds = [error.constructor.name, error instanceof AppError, error instanceof createError.HttpError];
  res.status(error.status || 500).json([kinds, name, message, code, detail, expose, error]);
});
const server = app.listen(0, () => console.log('port ' + server.address().port));
`;

const PATHS = [
  ...['/user', '/made', '/odd/private', '/odd/weak', '/odd/stack', '/odd/made', '/counting', '/counting'],
  ...['/not-found', '/throws', '/rejects', '/forbidden', '/refused'],
];

test('instances are the same on both loops', async (t) => {
  const tree = { 'app.js': APP, 'errors.js': ERRORS, 'weak.js': WEAK, 'bundled.js': BUNDLED };
  const [plain, eager] = await Promise.all([
    ServedApp.serve(t, tree, { flags: null }),
    ServedApp.serve(t, tree, { flags: ['--placement', 'eager', '--threads', '1'], replicas: 1 }),
  ]);
  for (const path of [...PATHS, ...PATHS]) {
    const [before, after] = await Promise.all([plain.get(path), eager.get(path)]);
    t.is(after.text, before.text, path);
    t.is(after.status, before.status);
  }
  const report = await eager.report();
  for (const id of ['get_user', 'get_made', 'get_not_found', 'get_throws', 'get_rejects', 'get_forbidden', 'refuses']) {
    t.is(runsAway(report, id), 2, id);
  }
  const kept = eager.logged('warn').filter((line) => line.includes('cannot travel'));
  t.true(
    kept.every((line) => line.includes('req.odd') || line.includes('req.counting')),
    kept.join('\n'),
  );
});
