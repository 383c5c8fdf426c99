/**
 * Packages without a model, and apps with two handlers that use them: `w` and `r`. Where a package lets them share state
 * both have an owner; where it does not both are free.
 */
import type { Tree } from './temp-folder.js';

export interface PackageProbe {
  readonly name: string;
  /** Text of the package `p`. */
  readonly code: string;
  /** At the top of the app, behind `const p = require('p')`. */
  readonly top?: string;
  readonly w: string;
  readonly r: string;
  readonly others?: Tree;
}

/** Both share something that changes. */
export const sharing: readonly PackageProbe[] = [
  {
    name: 'counter',
    code: 'let n = 0; exports.next = () => ++n;',
    w: 'p.next(); res.end();',
    r: 'res.json(p.next());',
  },
  {
    name: 'cache',
    code: 'const cache = {}; exports.put = (k, v) => { cache[k] = v; }; exports.get = (k) => cache[k];',
    w: 'p.put(req.query.k, req.query.v); res.end();',
    r: 'res.json(p.get(req.query.k));',
  },
  {
    name: 'memoisation',
    code: 'const known = new Map(); exports.square = (x) => { if (!known.has(x)) known.set(x, { x }); return known.get(x); };',
    w: 'res.json(p.square(2));',
    r: 'p.square(2).seen = 1; res.end();',
  },
  {
    name: 'changes its argument later',
    code: 'exports.later = (o) => { setTimeout(() => { o.hits += 1; }, 10); };',
    top: 'const state = { hits: 0 };',
    w: 'p.later(state); res.end();',
    r: 'res.json(state.hits);',
  },
  {
    name: 'keeps what it is given',
    code: 'let kept; exports.keep = (o) => { kept = o; }; exports.bump = () => { kept.n += 1; };',
    top: 'const state = { n: 0 }; p.keep(state);',
    w: 'p.bump(); res.end();',
    r: 'res.json(state.n);',
  },
  {
    name: 'keeps a list for each object',
    code: 'const lists = new WeakMap(); exports.of = (o) => { if (!lists.has(o)) lists.set(o, []); return lists.get(o); };',
    top: 'const key = {};',
    w: 'p.of(key).push(1); res.end();',
    r: 'res.json(p.of(key).length);',
  },
  {
    name: 'a global',
    code: 'exports.hit = () => { globalThis.hits = (globalThis.hits || 0) + 1; };',
    w: 'p.hit(); res.end();',
    r: 'res.json(globalThis.hits);',
  },
  {
    name: 'patches a class of the language',
    code: 'exports.patch = (text) => { Array.prototype.last = function () { return text; }; };',
    w: 'p.patch(req.query.t); res.end();',
    r: 'res.json([1].last());',
  },
  {
    name: 'a timer of start-up',
    code: 'exports.start = (o) => { setInterval(() => { o.ticks += 1; }, 1000); };',
    top: 'const state = { ticks: 0 }; p.start(state);',
    w: 'res.json(state.ticks);',
    r: 'res.json({ ticks: state.ticks });',
  },
  {
    name: 'goes on behind an await of start-up',
    code: 'exports.load = async (o) => { await new Promise((done) => setTimeout(done, 10)); o.ready = true; for (;;) { await null; o.x += 1; } };',
    top: 'const state = { x: 0 }; p.load(state);',
    w: 'res.json(state.x);',
    r: 'res.json({ x: state.x });',
  },
  {
    name: 'lazy singleton',
    code: 'let made; exports.get = () => (made ??= { list: [] });',
    w: 'p.get().list.push(1); res.end();',
    r: 'res.json(p.get().list.length);',
  },
  {
    name: 'getter that counts',
    code: "let n = 0; Object.defineProperty(exports, 'n', { get() { return ++n; } });",
    w: 'res.json(p.n);',
    r: 'res.json({ n: p.n });',
  },
  {
    name: 'setter',
    code: "let level = 1; Object.defineProperty(exports, 'level', { set(v) { level = v; } }); exports.read = () => level;",
    w: 'p.level = 3; res.end();',
    r: 'res.json(p.read());',
  },
  {
    name: 'through arguments',
    code: 'exports.set = function () { arguments[0].v = 1; };',
    top: 'const state = { v: 0 };',
    w: 'p.set(state); res.end();',
    r: 'res.json(state.v);',
  },
  {
    name: 'toJSON that counts',
    code: 'let n = 0; exports.make = () => ({ toJSON() { n += 1; return n; } });',
    w: 'res.json(p.make());',
    r: 'res.json({ inner: p.make() });',
  },
  {
    name: 'static list of a class',
    code: 'class Job { constructor() { Job.all.push(this); } static count() { return Job.all.length; } } Job.all = []; module.exports = Job;',
    w: 'new p(); res.end();',
    r: 'res.json(p.count());',
  },
  {
    name: 'emitter within a package',
    code: "const { EventEmitter } = require('events'); class Store extends EventEmitter { set(v) { this.v = v; this.emit('change', v); } } module.exports = Store;",
    top: "const store = new p(); let seen = 0; store.on('change', () => { seen += 1; });",
    w: 'store.set(1); res.end();',
    r: 'res.json(seen);',
  },
  {
    name: 'list of hooks',
    code: 'const hooks = []; exports.hook = (fn) => { hooks.push(fn); }; exports.run = () => { for (const fn of hooks) fn(); };',
    top: 'let n = 0; p.hook(() => { n += 1; });',
    w: 'p.run(); res.end();',
    r: 'res.json(n);',
  },
  {
    name: 'another package within it',
    code: "const q = require('q1'); exports.next = () => q.step();",
    w: 'p.next(); res.end();',
    r: 'res.json(p.next());',
    others: {
      'node_modules/q1/package.json': '{"name":"q1","main":"lib/m.js"}',
      'node_modules/q1/lib/m.js': 'let n = 0; exports.step = () => (n += 1);',
    },
  },
  {
    name: 'used by a package that is not read',
    code: 'let n = 0; exports.next = () => { n += 1; }; exports.read = () => n;',
    top: "require('closed1');",
    w: 'res.json(p.read());',
    r: 'res.json({ n: p.read() });',
    others: {
      'node_modules/closed1/package.json': '{"name":"closed1","dependencies":{"p":"1"}}',
      'node_modules/closed1/index.js': "const p = require('p'); setInterval(() => eval('p.next()'), 10);",
    },
  },
  {
    name: 'wrapper that counts',
    code: "let calls = 0; exports.wrap = (fn) => (req, res, next) => { calls += 1; res.set('n', String(calls)); fn(req, res, next); };",
    top: "app.get('/x', p.wrap(function x(req, res) { res.end(); }));",
    w: 'p.wrap((q, s) => s.end())(req, res); ',
    r: 'p.wrap((q, s) => s.json(1))(req, res);',
  },
  {
    name: 'compiled ES module',
    code: 'Object.defineProperty(exports, "__esModule", { value: true }); exports.default = void 0; let n = 0; const next = () => ++n; exports.default = next;',
    w: 'p.default(); res.end();',
    r: 'res.json(p.default());',
  },
  {
    name: 'prototype methods',
    code: 'function Store() { this.items = {}; } Store.prototype.set = function (k, v) { this.items[k] = v; }; Store.prototype.get = function (k) { return this.items[k]; }; module.exports = new Store();',
    w: "p.set('a', req.query.v); res.end();",
    r: "res.json(p.get('a'));",
  },
  {
    name: 'a callback much later',
    code: 'const waiting = []; exports.wait = (fn) => { waiting.push(fn); }; exports.flush = () => { while (waiting.length > 0) waiting.shift()(); };',
    top: 'let n = 0;',
    w: 'p.wait(() => { n += 1; }); p.flush(); res.end();',
    r: 'res.json(n);',
  },
  {
    name: 'told apart by length of a function',
    code: 'let n = 0; exports.make = (fn) => { if (fn.length === 2) return () => { n += 1; return n; }; return () => 0; };',
    top: 'const run = p.make((a, b) => a + b);',
    w: 'run(); res.end();',
    r: 'res.json(run());',
  },
  {
    name: 'inherited by Object.getPrototypeOf',
    code: 'class Base { } Base.prototype.box = { n: 0 }; class Thing extends Base { } exports.Thing = Thing; exports.bump = (t) => { Object.getPrototypeOf(Object.getPrototypeOf(t)).box.n += 1; };',
    w: 'p.bump(new p.Thing()); res.end();',
    r: 'res.json(new p.Thing().box.n);',
  },
  {
    name: 'esbuild exports',
    code: 'var __defProp = Object.defineProperty; var __export = (target, all) => { for (var name in all) __defProp(target, name, { get: all[name], enumerable: true }); }; var __toCommonJS = (mod) => Object.assign(__defProp({}, "__esModule", { value: true }), mod); var src = {}; __export(src, { next: () => next }); module.exports = __toCommonJS(src); var n = 0; function next() { return ++n; }',
    w: 'p.next(); res.end();',
    r: 'res.json(p.next());',
  },
  {
    name: 'Reflect.apply',
    code: 'exports.run = (fn, ...args) => Reflect.apply(fn, null, args);',
    top: 'const state = { n: 0 }; function bump(s) { s.n += 1; }',
    w: 'p.run(bump, state); res.end();',
    r: 'res.json(state.n);',
  },
];

/** Nothing is shared: to keep these home would be too timid. */
export const free: readonly PackageProbe[] = [
  {
    name: 'pure',
    code: 'exports.twice = (x) => x * 2;',
    w: 'res.json(p.twice(2));',
    r: 'res.json({ x: p.twice(3) });',
  },
  {
    name: 'state that nobody reaches',
    code: "let locale = 'en'; exports.setLocale = (l) => { locale = l; }; exports.format = (x) => locale + x;",
    w: 'res.json(p.format(1));',
    r: 'res.json({ x: p.format(2) });',
  },
  {
    name: 'made anew by each call',
    code: 'module.exports = function builder() { const parts = []; return { add(x) { parts.push(x); return this; }, text: () => parts.join("") }; };',
    w: 'res.send(p().add(1).text());',
    r: 'res.send(p().add(2).add(3).text());',
  },
  {
    name: 'a class of errors',
    code: 'class HttpError extends Error { constructor(status, text) { super(text); this.status = status; } } module.exports = { HttpError, isHttp: (e) => e instanceof HttpError };',
    w: "const e = new p.HttpError(404, 'no'); res.status(e.status).send(e.message);",
    r: "res.json(p.isHttp(new p.HttpError(400, 'x')));",
  },
  {
    name: 'a package within it, one that is modelled, core',
    code: "const ms = require('q1'); const path = require('path'); exports.show = (x) => path.join('a', ms(x));",
    w: "res.send(p.show('1'));",
    r: "res.send(p.show('2'));",
    others: {
      'node_modules/q1/package.json': '{"name":"q1"}',
      'node_modules/q1/index.js': 'module.exports = (x) => x + "ms";',
    },
  },
  {
    name: 'promises',
    code: 'exports.all = async (list) => { const out = []; for (const x of list) out.push(await x); return out; };',
    w: 'p.all([1, 2]).then((list) => res.json(list));',
    r: 'p.all([3]).then((list) => res.json({ list }));',
  },
  {
    name: 'own properties, the old way',
    code: 'var has = Object.prototype.hasOwnProperty; module.exports = function (o) { var n = 0; for (var k in o) if (has.call(o, k)) n++; return n + Array.prototype.slice.call(arguments).length; };',
    w: 'res.json(p(req.query));',
    r: 'res.json({ n: p(req.headers) });',
  },
];

export function writePackageProbe({ code, top = '', w, r, others = {} }: PackageProbe): Tree {
  return {
    'package.json': '{}',
    'node_modules/p/package.json': '{"name":"p"}',
    'node_modules/p/index.js': code,
    ...others,
    'app.js': `const express = require('express');
const p = require('p');
const app = express();
${top}
app.get('/w', function w(req, res) { ${w} });
app.get('/r', function r(req, res) { ${r} });
app.listen(3000);
`,
  };
}
