import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import test from 'ava';
import { emitFiles } from '../flx/emit/files.js';
import { emitHomeModule, type HomeModule } from '../flx/emit/home-module.js';
import { realFolder } from '../flx/emit/real-folder.js';
import { type FluxionProgram, noLinkFacts } from '../flx/program.js';
import { makeApp, runEmitted, runFactories, runOriginal } from './support/differential.js';
import { markedCuts, moduleSource, withMarkedCuts } from './support/marked-cuts.js';
import { link, tempFolder } from './support/temp-folder.js';

function emit(text: string, id = 'app.js'): HomeModule {
  return emitHomeModule(moduleSource(id, text), markedCuts(id, text), { file: id, source: `../../${id}` });
}

// --- text ------------------------------------------------------------------------------------------------------------

const TWO_CUTS = `#!/usr/bin/env node
'use strict'
// no semicolon above
const fs = require('fs/promises');
function handler(res, next) {
  const name = 'a';
  fs.stat(name).then(/*post found(res, name)*/ ({ size }) => res.send(name + size) /*end*/, next);
}
async function other(res, next) {
  try {
    const text = await fs.readFile('b')/*rest read(res, next | text) 1*/ // comment
    fs.stat('c').then(/*post inner(res, text)*/ function () { res.send(text) } /*end*/);
  } catch (error) {
    next(error)
  }
/*end*/}
module.exports = { handler, other }`;

test('cuts are insertions, and what is not cut stays as it was, on its line', (t) => {
  const { text, cuts } = emit(TWO_CUTS);
  t.deepEqual(cuts, ['found', 'read', 'inner']);
  const [before, after] = [TWO_CUTS.split('\n'), text.split('\n')];
  const changed = before.flatMap((line, index) => (after[index] === line ? [] : [index + 1]));
  t.deepEqual(changed, [2, 7, 11, 12]);
  for (const [index, line] of before.entries()) t.true(isWithin(line, after[index] ?? ''), line);
  t.is(
    after[1],
    `'use strict'; fluxionLoop().define("found", fluxion_found); fluxionLoop().define("read", fluxion_read); ` +
      'fluxionLoop().define("inner", fluxion_inner); ',
  );
  t.true(after[6]?.includes('fluxionLoop().post("found", ({ size }) => res.send(name + size), () => [res, name])'));
  t.true(
    after[10]?.includes(`*/; if (fluxionLoop().away("read")) return fluxionLoop().send("read", [res, next, text]); //`),
  );
});

/** All characters of `line` are in `longer`, in their order. */
function isWithin(line: string, longer: string): boolean {
  let at = 0;
  for (const character of longer) if (character === line[at]) at++;
  return at === line.length;
}

test('without cuts the text is the original and a pointer to its map', (t) => {
  for (const text of ['', 'a();', 'a();\r\nb();\r\n', "'use strict';\n"]) {
    t.deepEqual(emit(text).text, `${text}\n//# sourceMappingURL=app.js.map\n`);
    t.deepEqual(emit(text).cuts, []);
  }
});

test('the prelude stands in front of the first line of code', (t) => {
  const call = `f(/*post a()*/ () => 1 /*end*/);`;
  const prelude = 'fluxionLoop().define("a", fluxion_a); ';
  const first = (text: string): string => emit(text).text.split('f(/*post')[0] ?? '';
  t.is(first(call), prelude);
  t.is(first(`#!/usr/bin/env node\n${call}`), `#!/usr/bin/env node\n${prelude}`);
  t.is(first(`'use strict';${call}`), `'use strict'; ${prelude}`);
  t.is(first(`'use strict'\r\n${call}`), `'use strict'; ${prelude}\r\n`);
  t.is(first(`/* a */ "use strict" // b\n${call}`), `/* a */ "use strict"; ${prelude} // b\n`);
});

test('names that the program has are left to it', (t) => {
  const taken = `const fluxionLoop = 1, $fluxionLoop = 2, fluxion_a = 3; f(/*post a()*/ () => fluxion_a /*end*/);`;
  const { text } = emit(taken);
  t.true(text.startsWith('$$fluxionLoop().define("a", $fluxion_a);'));
  t.true(text.includes('function $fluxion_a() { return () => fluxion_a; }'));
  t.true(emit(`const Symbol = 1; f(/*post a()*/ () => 1 /*end*/);`).text.includes(`.constructor('return globalThis`));
});

// --- what cannot be copied -------------------------------------------------------------------------------------------

const NOT_CUT: { readonly [why: string]: string } = {
  'a name that is not sent': `function h(a, b) { f(/*post x(a)*/ () => a + b /*end*/); }`,
  'a name of the module that something in between hides': `let a; function h(a) { f(/*post x()*/ () => a /*end*/); }`,
  'a global that something in between hides': `function h(process) { f(/*post x()*/ () => process /*end*/); }`,
  'a private name': `class A { #n = 1; h(a) { f(/*post x(a)*/ () => a.#n /*end*/); } }`,
  super: `class A { h(a) { f(/*post x(a)*/ () => super.h(a) /*end*/); } }`,
  'new.target': `function h(a) { f(/*post x(a)*/ () => new.target /*end*/); }`,
  arguments: `function h(a) { f(/*post x(a)*/ () => arguments[0] /*end*/); }`,
  'what is no function': `function h(a) { f(/*post x(a)*/ a /*end*/); }`,
  'a generator': `async function* h(a) { await a; /*rest x(a)*/ yield a; /*end*/}`,
  'a function that is not async': `function h(a) { a; /*rest x(a)*/ return a; /*end*/}`,
  'a name that stands for two variables': `async function h() {
  try { const fs = await f(); /*rest x(|fs) 1*/ fs.a(); } catch {} fs.b(); /*end*/}
const fs = 1;`,
  'a name that is declared again': `async function h() {
  try { const a = await f(); /*rest x(|a) 1*/ a(); } catch {} const a = 1; f(a); /*end*/}`,
  'a finally around it': `async function h(a) { try { await a; /*rest x(a) 1*/ a(); } finally { a.close(); } /*end*/}`,
  'not to the end of the function': `async function h(a) { if (a) { await f(); /*rest x(a)*/ f(a); /*end*/} f(); }`,
};

for (const [why, text] of Object.entries(NOT_CUT)) {
  test(`code that means something only where it stands is not cut: ${why}`, (t) => {
    t.is(markedCuts('app.js', text).length, 1);
    t.deepEqual(emit(text).cuts, []);
    t.is(emit(text).text, `${text}\n//# sourceMappingURL=app.js.map\n`);
  });
}

// --- maps ------------------------------------------------------------------------------------------------------------

test('maps lead to where the code was written, from copies too', (t) => {
  const { text, map } = emit(TWO_CUTS);
  const parsed = JSON.parse(map);
  t.deepEqual(parsed.sources, ['../../app.js']);
  const traced = new SourceMap(parsed);
  const words = [
    `require('fs/promises')`,
    `res.send(name`,
    `fs.stat('c')`,
    'res.send(text',
    'next(error)',
    'module.exports',
  ];
  for (const word of words) {
    const written = positions(TWO_CUTS, word);
    t.is(written.length, 1, word);
    const emitted = positions(text, word);
    t.is(emitted.length, { 'res.send(text': 3, "require('fs/promises')": 1, 'module.exports': 1 }[word] ?? 2, word);
    for (const { line, column } of emitted) {
      const entry = traced.findEntry(line, column);
      t.true('originalLine' in entry);
      if ('originalLine' in entry) {
        t.deepEqual({ line: entry.originalLine, column: entry.originalColumn }, written[0], word);
      }
    }
  }
});

function positions(text: string, word: string): { readonly line: number; readonly column: number }[] {
  return text.split('\n').flatMap((row, line) => {
    const column = row.indexOf(word);
    return column === -1 ? [] : [{ line, column }];
  });
}

// --- files -----------------------------------------------------------------------------------------------------------

function program(entry: string, texts: { readonly [id: string]: string }, root = '/srv/app'): FluxionProgram {
  const sources = Object.entries(texts).map(([id, text]) => moduleSource(id, text, join(root, id)));
  const modules = sources.map(({ id, text }) => ({ id, code: text }));
  return {
    version: 1,
    entry,
    modules,
    fluxions: [],
    variables: [],
    unresolved: [],
    sources,
    packages: [],
    cuts: [],
    uncut: [],
    link: noLinkFacts,
  };
}

test('the files of a folder; none of them knows where the machine keeps it', (t) => {
  const files = emitFiles(
    program('bin/www', { 'bin/www': '#!/bin/x\nrequire("../a");', 'a.js': '' }),
    '/srv/app/build/out',
  );
  t.deepEqual([...files.keys()].sort(), [
    ...['app.flx', 'bin/www', 'fluxion-home.cjs', 'fluxion.json'],
    ...['modules/a.js', 'modules/a.js.map', 'modules/bin/www', 'modules/bin/www.map', 'package.json'],
  ]);
  for (const [name, text] of files) t.false(text.includes('/srv'), name);
  t.is(files.get('bin/www'), '#!/bin/x\nrequire("../fluxion-home.cjs").start(__filename);\n');
  const { home } = JSON.parse(files.get('fluxion.json') ?? '');
  t.like(home['bin/www'], { file: 'modules/bin/www', source: '../../bin/www', kind: 'commonjs', cuts: [] });
  t.deepEqual(JSON.parse(files.get('modules/bin/www.map') ?? '').sources, ['../../../../bin/www']);
  t.false((files.get('fluxion-home.cjs') ?? '//# sourceMappingURL').includes('sourceMappingURL=home'));
});

test('the same program gives the same bytes', (t) => {
  const make = () => emitFiles(program('app.js', { 'app.js': TWO_CUTS }), '/srv/app/out');
  t.deepEqual(make(), make());
});

test('an entry in a folder "modules" does not meet the emitted modules', (t) => {
  const files = emitFiles(program('modules/app.js', { 'modules/app.js': 'a();', 'app.js': 'b();' }), '/srv/app/out');
  t.true(files.get('modules/app.js')?.includes('fluxion-home.cjs'));
  t.true(files.get('modules-home/app.js')?.startsWith('b();'));
  t.true(files.get('modules-home/modules/app.js')?.startsWith('a();'));
});

test('where an output folder really is, or will be', (t) => {
  const root = tempFolder(t, { 'real/a.txt': '', linked: link('real') });
  t.is(realFolder(join(root, 'linked')), join(root, 'real'));
  t.is(realFolder(join(root, 'linked/new/out')), join(root, 'real/new/out'));
});

// --- starting --------------------------------------------------------------------------------------------------------

const SMALL = { 'app.js': `console.log('ran', require('./lib'));`, 'lib.js': `module.exports = 1;\n` };

test('originals that are not what was compiled: nothing runs, exit code 2', async (t) => {
  const app = await makeApp(t, 'app.js', SMALL);
  t.like(await runEmitted(app), { code: 0, stdout: 'ran 1\n', stderr: '' });
  writeFileSync(join(app.folder, 'lib.js'), 'module.exports = 2;\n');
  const changed = await runEmitted(app);
  t.like(changed, { code: 2, stdout: '' });
  t.is(
    changed.stderr,
    `The app is not what was compiled to out; nothing of it has been run.\n  changed: lib.js\n` +
      'Compile it again: fluxion compile app.js -o out\n',
  );
  rmSync(join(app.folder, 'lib.js'));
  t.true((await runEmitted(app)).stderr.includes('  missing: lib.js\n'));
  writeFileSync(join(app.folder, 'lib.js'), '\ufeffmodule.exports = 1;\n');
  t.like(await runEmitted(app), { code: 0, stdout: 'ran 1\n' });
});

test('app and output can move together, and be reached through a symbolic link', async (t) => {
  const app = await makeApp(t, 'app.js', SMALL);
  const moved = join(app.folder, 'deep/moved');
  mkdirSync(moved, { recursive: true });
  for (const name of ['app.js', 'lib.js', 'out']) renameSync(join(app.folder, name), join(moved, name));
  symlinkSync(join(moved, 'out'), join(app.folder, 'link'));
  for (const out of [join(moved, 'out'), join(app.folder, 'link')]) {
    t.like(await runEmitted({ ...app, out }), { code: 0, stdout: 'ran 1\n', stderr: '' });
  }
});

test('the emitted text is what runs', async (t) => {
  const app = await makeApp(
    t,
    'app.js',
    { 'app.js': `setTimeout(/*post x()*/ () => console.log('a') /*end*/, 1);` },
    withMarkedCuts,
  );
  const file = join(app.out, 'modules/app.js');
  writeFileSync(file, readFileSync(file, 'utf8').replace(`log('a')`, `log('b')`));
  t.is((await runEmitted(app)).stdout, 'b\n');
  t.true(readdirSync(app.out).includes('app.flx'));
});

// --- factories -------------------------------------------------------------------------------------------------------

const FACTORIES = `const fs = require('fs/promises'), { readFile } = require('fs');
const say = (...words) => console.log(...words);
const here = __filename;
let total = 0;

async function redeclared(a) {
  var b = a + 1;
  await fs.stat(here); /*rest redeclared(a, b)*/
  var b = b + 1;
  for (var i = 0; i < 2; i++) total += i;
  return [a, b, i, total];
/*end*/}

async function twoTries(fail) {
  let at = 'start';
  try {
    try {
      const { size: { constructor: made }, ...others } = await fs.stat(here)/*rest twoTries(fail, at | made, others) 2*/
      at = made.name + Object.keys(others).includes('mode');
      if (fail) throw new Error('inner');
      return at;
    } catch (error) {
      total += 1;
      throw new Error(error.message + at);
    }
  } catch (error) {
    return 'caught ' + error.message;
  }
/*end*/}

async function rejects() {
  await null; /*rest rejects()*/
  total += 1;
  throw new TypeError('rejected ' + total);
/*end*/}

async function nested(list) {
  const sizes = await Promise.all(list.map((name) => fs.stat(name))); /*rest nestedOne(list | sizes)*/
  total += sizes.length;
  const text = await fs.readFile(list[0], 'utf8'); /*rest nestedTwo(list, sizes | text)*/
  return new Promise((resolve) => {
    setTimeout(/*post nestedThree(resolve, sizes, text)*/ () => {
      total++;
      readFile(here, 'utf8', /*post nestedFour(resolve, text)*/ function read(error, again) {
        resolve([again === text, total, typeof read, this === undefined]);
      } /*end*/);
    } /*end*/, 1);
  });
/*end 2*/}

function strictInside() {
  'use strict';
  return new Promise((resolve) => setTimeout(/*post strictInside(resolve)*/ function () {
    resolve((function () { return this === undefined; })());
  } /*end*/));
}

function sloppyInside() {
  return new Promise((resolve) => setTimeout(/*post sloppyInside(resolve)*/ () => {
    resolve((function () { return this === undefined; })());
  } /*end*/));
}

function early() {
  return new Promise((resolve) => {
    setTimeout(/*post early(resolve, later)*/ () => resolve(later) /*end*/);
    const later = 'set after the call';
  });
}

class Shop {
  static async open(name) { await null; /*rest open(name)*/ total += name.length; return { name }; /*end*/}
}

(async () => {
  say(await redeclared(1));
  say(await twoTries(false), await twoTries(true));
  say(await rejects().catch(String));
  say(await nested([here, __dirname]));
  say(await strictInside(), await sloppyInside(), await early());
  say((await Shop.open('abc')).name, total);
})();
`;

const ALL = [...FACTORIES.matchAll(/\/\*(?:post|rest) (\w+)/g)].map(([, name]) => name ?? '').sort();

test('the code behind every kind of cut, from its message alone', async (t) => {
  const app = await makeApp(t, 'app.js', { 'app.js': FACTORIES }, withMarkedCuts);
  const original = await runOriginal(app);
  t.is(original.stdout.split('\n').length, 7, original.stderr);
  t.deepEqual(await runEmitted(app), original);
  const { cuts, ...seen } = await runFactories(app);
  t.deepEqual(seen, original);
  t.deepEqual(cuts, ALL);
});

test('the same in an ES module', async (t) => {
  const text = FACTORIES.replace(/^.*\n/, `import fs from 'fs/promises'; import { readFile } from 'fs';\n`)
    .replace('__filename', 'import.meta.filename')
    .replace('__dirname', 'import.meta.dirname');
  const app = await makeApp(t, 'app.mjs', { 'app.mjs': text }, withMarkedCuts);
  const original = await runOriginal(app);
  t.is(original.stdout.split('\n').length, 7, original.stderr);
  t.deepEqual(await runEmitted(app), original);
  const { cuts, ...seen } = await runFactories(app);
  t.deepEqual(seen, original);
  t.deepEqual(cuts, ALL);
});
