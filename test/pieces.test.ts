/**
 * What is parsed in pieces comes to the same facts as what is parsed as a whole, and is said to be wrong in the same words.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import { loadModules, type ModuleGraph } from '../analyzer/load-modules.js';
import { parse } from '../syntax/parser.js';
import { parseInPieces } from '../syntax/piece-parser.js';

const fixtures = fileURLToPath(new URL('../../fixtures', import.meta.url));
const whole = { module: Number.POSITIVE_INFINITY, piece: 0 };

function load(entry: string, pieces: { module: number; piece: number }): { graph: ModuleGraph; said: string } | string {
  const said: unknown[] = [];
  try {
    const graph = loadModules({ entry, cwd: path.dirname(entry), pieces }, (diagnostic) => said.push(diagnostic));
    return { graph, said: JSON.stringify(said) };
  } catch (error) {
    return String(error);
  }
}

/** What differs. */
function compare(entry: string, piece: number): readonly string[] {
  const one = load(entry, whole);
  const other = load(entry, { module: 0, piece });
  if (typeof one === 'string' || typeof other === 'string') return one === other ? [] : [`${one} | ${other}`];
  const facts = [one.graph.facts, other.graph.facts] as unknown as readonly { readonly [name: string]: unknown }[];
  // Modules have functions that read their texts again.
  const names = Object.keys(facts[0] ?? {}).filter((name) => name !== 'modules');
  const differing = names.filter((name) => !isDeepStrictEqual(facts[0]?.[name], facts[1]?.[name]));
  for (const name of ['externals', 'unloaded', 'aliases', 'asked', 'folders'] as const)
    if (!isDeepStrictEqual(one.graph[name], other.graph[name])) differing.push(name);
  if (shown(one.graph) !== shown(other.graph)) differing.push('modules');
  return one.said === other.said ? differing : [...differing, 'diagnostics'];
}

/** All but the functions by which their texts are read again. */
function shown({ facts }: ModuleGraph): string {
  return JSON.stringify(facts.modules.map((each) => ({ ...each, lineStarts: null })));
}

function compareText(text: string, name = 'app.js'): readonly string[] {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'fluxion-pieces-'));
  try {
    const entry = path.join(folder, name);
    writeFileSync(entry, text);
    return [1, 20].flatMap((piece) => compare(entry, piece));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('fixtures come to the same facts', (t) => {
  const entries = readdirSync(fixtures, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /(^|[\\/])app\.m?js$/.test(file) && !file.includes('node_modules'),
  );
  t.true(entries.length > 100);
  for (const entry of entries) {
    for (const piece of [1, 30]) t.deepEqual(compare(path.join(fixtures, entry), piece), [], `${entry}, ${piece}`);
  }
});

const scripts = {
  'a regular expression behind yield': 'function* f(a) { const b = yield /[{]/g; { a.list = [yield /x}/, b]; } }',
  'yield and await as names':
    'function f(yield_) { var yield = [1, yield_], await = { yield }; return await.yield / yield; }',
  'a division behind a function':
    'var a = function () { return { b: 1 }; } / 2, c = [function () { a += 1; }] / 3 / a;',
  'patterns that look like literals': `
    const f = ({ first, second: { third, fourth = [1, first] }, ...others }) => { others.push(third, fourth, second); };
    const g = async ([one, { two = { one }, three }] = [{}, {}], four = (() => { return one; })()) => { await two; three = four; };
    let a, b, c;
    ({ a, b: [c = { a }, ...b] } = { a: { b }, c: [c] });
    [a, { b = { c } }] = [{ a }, { c }];
    for ({ a, b = [a] } of [{ a, b }]) { c = { a }; }`,
  'strict by a directive':
    'function f() { "use strict"; return [this, function g() { return { g }; }]; } f().static = { f };',
  classes: `
    class Base { static #all = [{}]; #own = { base: [1] }; has(o) { return [#own in o, Base.#all]; } }
    class Heir extends Base {
      constructor(...args) { super(...args); this.list = [() => { super.has(this); return new.target; }]; }
      static { const made = { heir: new Heir({}) }; Heir.made = [made]; }
      field = { of: this, fn: () => { return [this.field, super.has]; } };
      get size() { return [class Inner extends Heir { deep() { return [Inner, super.has({})]; } }]; }
    }`,
  'what is declared where it is used': `
    var outer = { a: [1] };
    function f(p = () => { return [outer, q]; }, q = { outer }) { var outer = [p]; { let q = { outer }; p(q); } return { outer, q }; }
    { function inBlock() { return [outer, inBlock]; } inBlock(); }
    if (outer) function late() { outer.late = { late }; }
    const named = function self(n) { return n ? [self(n - 1)] : { named }; };
    switch (outer) { case 1: let s = { outer }; s.t = () => { return [s]; }; }
    try { outer.x(); } catch ({ message = { outer } }) { outer.failed = [message]; }
    for (let i = 0, all = [i]; i < 3; i++) { all.push(() => { return { i, all }; }); }`,
  arguments: `
    function f(a, b) { const list = [arguments, { a }]; const g = () => { return [arguments[0], b, { f }]; }; return g.apply(this, arguments); }
    function h(a) { return { n: arguments.length, m: [a], k: () => { const x = { a }; return x; } }; }
    const top = () => { return [arguments.length, { top }]; };`,
  eval: 'var x = { a: 1 }; function f(code) { var y = [x]; { let z = { y }; eval(code); } return () => { return [y, eval]; }; } { let w = [x]; f(() => { eval("w"); }); }',
  'without semicolons':
    'var a = { b: [1] }\n[a.b, { a }].forEach(function (x) { a[x] = { x } })\nlet c = a\n/a.b/g.exec(c)\n`x` + [a, { c }].length\n',
  'tables of exports': `
    Object.defineProperty(exports, '__esModule', { value: true });
    function _export(target, all) { for (var name in all) Object.defineProperty(target, name, { enumerable: true, get: all[name] }); }
    _export(exports, { serve: function () { return serve; }, start: function () { console.log('started', serve); return [serve]; } });
    function serve(req) { return { path: req.url }; }`,
  'accessors that are defined':
    'var o = { hidden: [1] }; Object.defineProperty(o, "x", { get() { return o.hidden; }, set: function (v) { o.hidden = { v }; } });',
  loads:
    'function f(name) { const fs = require("fs"); return [require("./" + name), { fs }]; } const here = [__dirname, require.resolve("x")]; module.exports = { f, here };',
};

for (const [name, text] of Object.entries(scripts)) test(name, (t) => t.deepEqual(compareText(text), []));

test('these have nothing wrong with them', (t) => {
  for (const text of Object.values(scripts)) t.notThrows(() => parse(text, 'commonjs'), text);
});

test('modules', (t) => {
  const text = `
    import fs, { readFile as read } from 'node:fs';
    export const settings = { list: [await load({ fs })], own: import.meta.url };
    export default async function (req) { const data = [await read(req)]; return { data, settings }; }
    export class Store { items = [settings]; add(x) { this.items.push({ x, fs }); } }
    async function load(x) { for await (const y of [x]) { settings?.list.push({ y }); } return import('./' + x); }
    settings.list.push({ load }); export { load as again };`;
  t.notThrows(() => parse(text, 'module'));
  t.deepEqual(compareText(text, 'app.mjs'), []);
});

const wrong = {
  'in a function': 'function f() { return [1, 2; }',
  'a name that is declared twice': 'function f(a) { let b = [a]; { b; } let b = { a }; }',
  'a private name that nobody declares': 'class A { m(o) { return [o.#x, { o }]; } }',
  'a pattern that is none': 'const f = ({ a: { b() { return [1]; } } }) => { return a; };',
  'a default outside a pattern': 'function f(a) { return [{ a = 1 }, a]; }',
  'a break out of a function': 'for (;;) { [1].map(function () { break; }); }',
};

for (const [name, text] of Object.entries(wrong)) {
  test(`wrong: ${name}`, (t) => {
    t.throws(() => parse(text, 'commonjs'));
    t.deepEqual(compareText(text), []);
  });
}

test('what is kept of a tree is small', (t) => {
  const shapes = [
    (n: number) =>
      `function small${n}(a, b) { const sum = a + b * ${n}; return sum > 10 ? small${n}(sum, a - ${n}) : { sum, list: [a, b] }; }`,
    (n: number) =>
      `var require_${n} = wrap({ 'lib/${n}.js'(exports, module) { var x = require_${n}(); module.exports = { x, all: [x, ${n}] }; } });`,
    (n: number) =>
      `app.get('/items/${n}', (req, res) => res.json({ id: ${n}, name: req.query.name, more: req.body.more + ${n} }));`,
  ];
  for (const shape of shapes) {
    const text = Array.from({ length: 300 }, (_, n) => shape(n)).join('\n');
    const pieces = parseInPieces(text, 'commonjs', 30).tree;
    t.true(countNodes(pieces) * 4 < countNodes(parse(text, 'commonjs')), shape(0));
  }
});

function countNodes(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = 'type' in value ? 1 : 0;
  return Object.values(value).reduce((sum: number, below) => sum + countNodes(below), own);
}
