import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { compile } from '../compile.js';
import { findGoingOn } from '../flx/emit/check-next.js';
import { tempFolder } from './support/temp-folder.js';

// A handler that has called `next()` may leave home only if nobody could notice what it does behind that.

const LAST = [
  'function h(req, res, next) { if (!req.query.a) return next(); res.json(1); }',
  'function h(req, res, next) { if (!req.query.a) next(); else res.json(1); }',
  'function h(req, res, next) { req.x = 1; next(); }',
  'function h(req, res, next) { next(); return; }',
  'async function h(req, res, next) { await null; return next(); }',
  'async function h(req, res, next) { try { res.json(await Promise.resolve(1)); } catch (e) { next(e); } }',
  'function h(req, res, next) { for (const a of [1, 2]) { req.n = a; if (a == 2) return next(); } res.end(); }',
  'function h(req, res, next) { switch (req.query.a) { case "1": next(); break; case "2": res.end(); break; default: res.json(1); } }',
  'function h(req, res, next) { req.query.a ? next() : res.end(); }',
  'function h(req, res, next) { req.query.a && next(); }',
  'function h(req, res, next) { res.locals.a = 1, next(); }',
  'function h(req, res, next) { setTimeout(next, 1); res.locals.q = 1; }',
  'function h(req, res, next) { setTimeout(() => { res.locals.a = 1; next(); }, 1); }',
  'function h(req, res, next) { const go = (e) => next(e); if (!req.query.a) return go(); res.end(); }',
  'function h(req, res, next) { const u = req.url; next(); return u; }',
  'function h(req, res, next) { const o = { req, res, next }; run(o); function run({ next }) { next(); } }',
  'function h(req, res, next) { res.sendFile("/x", next); }',
  'function h(req, res, next) { let x; next(x = 1); }',
  'function h(req, res, next) { const fail = (m) => { const e = new Error(m); e.status = 400; next(e); }; if (!req.body) return fail("no"); res.json(1); }',
  'function h(req, res, next) { const t = []; req.on("data", (d) => t.push(d)); req.on("end", () => { req.t = t; next(); }); }',
  'function h(req, res, next) { const out = require("fs").createWriteStream("x"); out.on("finish", () => next()); req.pipe(out); }',
  'function h(req, res) { res.on("finish", () => console.log("sent")); res.end(); }',
  'function h(req, res, next) { const s = require("fs").createReadStream("x"); s.on("error", (e) => next(e)); s.on("end", () => res.end()); s.on("data", (d) => res.write(d)); }',
  'function h(req, res, next) { const t = setTimeout(() => res.sendStatus(503), 9000); setImmediate(() => { clearTimeout(t); next(); }); }',
];

const GOES_ON = [
  'function h(req, res, next) { if (!req.query.a) next(); res.json(1); }',
  'function h(req, res, next) { next(); req.x = 1; }',
  'function h(req, res, next) { next(); console.log("x"); }',
  'function h(req, res, next) { next(); throw new Error("x"); }',
  'function h(req, res, next) { next(); const u = req.url; return u; }',
  'function h(req, res, next) { next(), res.end(); }',
  'async function h(req, res, next) { next(); await null; res.locals.y = 2; }',
  'async function h(req, res, next) { try { next(); } finally { res.locals.z = 1; } }',
  'function h(req, res, next) { for (const a of [1, 2]) { req.n = a; if (a == 2) next(); } }',
  'function h(req, res, next) { switch (req.query.a) { case "1": next(); case "2": res.end(); break; } }',
  'function h(req, res, next) { switch (req.query.a) { case "1": next(); break; } res.end(); }',
  'function h(req, res, next) { res.on("finish", () => next()); next(); console.log(1); }',
  'function h(req, res, next) { res.on("finish", () => console.log(res.statusCode)); next(); }',
  'function h(req, res, next) { const l = (r) => r.once("close", () => console.log(r.statusCode)); l(res); setTimeout(() => next(), 1); }',
  'function h(req, res, next) { [1].forEach(() => next()); res.end(); }',
  'function h(req, res, next) { const go = () => next(); go(); res.end(); }',
  'function h(req, res, next) { req.locals = next; res.end(); }',
  'function h(req, res, next) { require("nobody-knows")(req, res, next); }',
  'function h(...a) { a[2](); a[1].end(); }',
  'function h(req, res) { arguments[2](); res.end(); }',
  'function h(req, res, next) { const o = { req, res, next }; run(o); res.end(); function run({ next }) { next(); } }',
  'function h(req, res, next) { next.call(null); res.end(); }',
  'function h(req, res, next) { const n = next.bind(null); n(); res.end(); }',
  'function h(req, res, next) { const s = require("fs").createReadStream("x"); s.on("error", (e) => next(e)); s.on("close", () => res.end()); }',
  'function h(req, res, next) { process.nextTick(() => next()); process.nextTick(() => { if (!res.headersSent) res.end(); }); }',
];

/** As people write them: whatever `fn` does, these do nothing more behind it that anybody could notice. */
const WRAPPERS = [
  'const wrap = (fn) => (req, res, next) => Promise.resolve(fn(req, res, next)).catch(next);',
  'function wrap(fn) { return async function (req, res, next) { try { await fn(req, res, next); } catch (e) { next(e); } }; }',
  'const wrap = (fn) => (req, res, next) => { const p = fn(req, res, next); if (p && typeof p.catch === "function") p.catch(next); };',
  'const wrap = (fn) => (req, res, next) => { const p = fn(req, res, next); if (p && p.catch) p.catch((e) => next(e)); return p; };',
  'const wrap = (fn) => (req, res, next) => { Promise.resolve().then(() => fn(req, res, next)).catch(next); };',
];
const WRAPPED_LAST = [
  'wrap(async function h(req, res, next) { if (!req.query.a) return next(); res.json(1); })',
  'wrap(async function h(req, res) { res.json(1); })',
];
const WRAPPED_GOES_ON = [
  'wrap(async function h(req, res, next) { next(); res.json(1); })',
  'wrap(async function h(req, res, next) { next(); throw new Error("x"); })',
];

for (const handler of LAST) test(`last: ${handler}`, async (t) => t.false(await staysHome(tempFolder(t), handler)));
for (const handler of GOES_ON)
  test(`goes on: ${handler}`, async (t) => t.true(await staysHome(tempFolder(t), handler)));

for (const wrapper of WRAPPERS) {
  test(`wrapped: ${wrapper}`, async (t) => {
    for (const handler of WRAPPED_LAST) t.false(await staysHome(tempFolder(t), handler, wrapper), handler);
    for (const handler of WRAPPED_GOES_ON) t.true(await staysHome(tempFolder(t), handler, wrapper), handler);
  });
}

test('a wrapper that goes on keeps home those who pass their requests on', async (t) => {
  const wrapper = 'const wrap = (fn) => (req, res, next) => { fn(req, res, next); res.locals.x = 1; };';
  t.true(await staysHome(tempFolder(t), 'wrap(function h(req, res, next) { next(); })', wrapper));
  t.false(await staysHome(tempFolder(t), 'wrap(function h(req, res, next) { res.json(1); })', wrapper));
});

/** The handler, or something that it goes on with. */
async function staysHome(folder: string, handler: string, wrapper = ''): Promise<boolean> {
  const entry = join(folder, 'app.js');
  const other = wrapper === '' ? '' : "app.get('/other', wrap(async (req, res, next) => { res.json(2); }));";
  const lines = ["const app = require('express')();", wrapper, `app.get('/', ${handler});`, other, 'app.listen(3000);'];
  writeFileSync(entry, lines.join('\n'));
  const { program } = await compile({ entry, cwd: folder, code: false });
  const goingOn = findGoingOn(program);
  return program.fluxions
    .filter(({ id, kind }) => kind !== 'main' && id !== 'listen' && !id.startsWith('get_other'))
    .some(({ id, placement }) => placement !== 'replicated' || goingOn.has(id));
}
