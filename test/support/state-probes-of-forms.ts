/**
 * Ways to share state by forms that are rarer in what people write than in what compilers make of it: see state-probes.ts.
 */
import type { StateProbe } from './state-probes.js';

const state = 'const state = { n: 0, list: [] };';
const shown = 'res.json(state.n + state.list.length);';
const box = 'function Box(it) { this.it = it; }';

// biome-ignore format: a table
export const stateProbesOfForms: readonly StateProbe[] = [
  ["member of what a promise gives", `${state} const given = Promise.resolve(state);`, "(async () => { (await given).n++; res.end(); })();", shown],
  ["member of what a promise gives, deleted", `${state} const given = new Promise((resolve) => resolve(state));`, "(async () => { delete (await given).n; res.end(); })();", shown],
  ["what a promise gives, given to a function", `${state} const given = (async () => state)();`, "(async () => { Object.assign(await given, { n: 1 }); res.end(); })();", shown],
  ["function within what is counted up", state, "[1].map(function () { return state; })[0].n++; res.end();", shown],
  ["function within what is added to", state, "[1].map(function () { return state; })[0].n += 1; res.end();", shown],
  ["constructor of a class, in its constructor", "class C { constructor() { this.constructor.n = (this.constructor.n || 0) + 1; } }", "new C(); res.end();", "res.json(C.n);"],
  ["list of a class, in its constructor", "class C { static all = []; constructor() { this.constructor.all.push(1); } }", "new C(); res.end();", "res.json(C.all.length);"],
  ["list of a prototype, in a constructor", "function C() { this.all.push(1); } C.prototype.all = [];", "new C(); res.end();", "res.json(C.prototype.all.length);"],
  ["step of an iterator of a set", `${state} const all = new Set([state]);`, "const { value } = all[Symbol.iterator]().next(); value.n++; res.end();", shown],
  ["step of an iterator of a map", `${state} const all = new Map([[1, state]]);`, "all[Symbol.iterator]().next().value[1].n++; res.end();", shown],
  ["steps of an iterator", `${state} const all = new Set([state]);`, "for (let it = all[Symbol.iterator](), step; !(step = it.next()).done;) { const each = step.value; each.n++; } res.end();", shown],
  ["getter that is defined on a prototype", `${state} ${box} Object.defineProperty(Box.prototype, 'v', { get: function () { return this.it.n++; } });`, "res.json(new Box(state).v);", shown],
  ["getters that are defined on a prototype", `${state} ${box} Object.defineProperties(Box.prototype, { v: { get() { return this.it.n++; } } });`, "res.json(new Box(state).v);", shown],
  ["setter that is defined on a prototype", `${state} ${box} Object.defineProperty(Box.prototype, 'v', { set: function (n) { this.it.n = n; } });`, "new Box(state).v = 1; res.end();", shown],
  ["getter in the old way", `${state} ${box} Box.prototype.__defineGetter__('v', function () { return this.it.n++; });`, "res.json(new Box(state).v);", shown],
  ["getter by a compiler's helper", `${state} ${box} function _createClass(made, table) { table.forEach((each) => Object.defineProperty(made.prototype, each.key, each)); return made; } _createClass(Box, [{ key: 'v', get: function get() { return this.it.n++; } }]);`, "const own = new Box({ n: 0 }); own.v; res.json(new Box(state).v);", shown],
  ["text by a compiler's helper", `${state} ${box} function _createClass(made, table) { table.forEach((each) => Object.defineProperty(made.prototype, each.key, each)); return made; } _createClass(Box, [{ key: 'toString', value: function toString() { return this.it.n++; } }]);`, "const own = new Box({ n: 0 }); own.toString(); res.send(''.concat(new Box(state)));", shown],
  ["environment by another name", "const { env } = process;", "env.HITS = '1'; res.end();", "res.json(process.env.HITS);"],
  ["arguments by another name", "const { argv } = process;", "argv.push('x'); res.end();", "res.json(process.argv.length);"],
  ["process that is required", "const own = require('process');", "own.hits = 1; res.end();", "res.json(process.hits);"],
  ["views of one buffer", "const buffer = new ArrayBuffer(8);", "new Uint8Array(buffer)[0]++; res.end();", "res.json(new DataView(buffer).getUint8(0));"],
  ["view of a buffer, handed on", "const buffer = new ArrayBuffer(8); const bump = (view) => { view[0]++; };", "bump(new Uint8Array(buffer)); res.end();", "res.json(new DataView(buffer).getUint8(0));"],
  ["getter of an export", "Object.defineProperty(exports, 'next', { get() { return ++count; } }); let count = 0; const self = module.exports;", "self.next; res.end();", "res.json(count);"],
  ["what hangs on the app, by a helper", `${state} app.locals.kept = { state }; const show = (req, res) => { res.json(req.app.locals.kept.state.n); };`, "req.app.locals.kept.state.n++; res.end();", "show(req, res);"],
  ["what hangs on the app, by a wrapper", `${state} app.locals.kept = { state }; const wrap = (fn) => (req, res) => fn(req, res); const show = wrap((req, res) => { res.json(req.app.locals.kept.state.n); });`, "req.app.locals.kept.state.n++; res.end();", "show(req, res);"],
  ["what hangs on the app of the reply, by a method", `${state} app.locals.kept = { state }; class Show { show(req, res) { res.json(res.app.locals.kept.state.n); } } const view = new Show();`, "req.app.locals.kept.state.n++; res.end();", "view.show(req, res);"],
  ["setting of the app, by a helper", `${state} app.set('kept', { state }); const show = (req, res) => { res.json(req.app.get('kept').state.n); };`, "req.app.get('kept').state.n++; res.end();", "show(req, res);"],
  ["property of the app, by a helper", `${state} app.kept = { state }; const show = (req, res) => { res.json(req.app.kept.state.n); };`, "req.app.kept.state.n++; res.end();", "show(req, res);"],
  ["what all requests inherit, by a helper", `${state} app.request.kept = { state }; const show = (req, res) => { res.json(req.kept.state.n); };`, "req.kept.state.n++; res.end();", "show(req, res);"],
  ["what all replies inherit, by a helper", `${state} express.response.kept = { state }; const show = (res) => { res.json(res.kept.state.n); };`, "res.kept.state.n++; res.end();", "show(res);"],
];
