import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import test from 'ava';
import { type Config, type ConfigOptions, loadConfig } from '../analyzer/load-config.js';
import { BadInput } from '../diagnostics/bad-input.js';
import type { Diagnostic } from '../diagnostics/types.js';
import { link, type Tree, tempFolder } from './support/temp-folder.js';

const MODEL = "{ name: 'jobs', module: { call: { returns: 'fresh' } } }";

function load(t: ExecutionContext, tree: Tree, options: Partial<ConfigOptions> = {}): Promise<Config> {
  return loadConfig({ cwd: tempFolder(t, tree), entry: 'app.js', ...options });
}

async function failure(t: ExecutionContext, tree: Tree, options: Partial<ConfigOptions> = {}): Promise<Diagnostic> {
  return (await failures(t, tree, options))[0]!;
}

async function failures(
  t: ExecutionContext,
  tree: Tree,
  options: Partial<ConfigOptions> = {},
): Promise<readonly Diagnostic[]> {
  const error = await t.throwsAsync(load(t, tree, options), { instanceOf: BadInput });
  return error instanceof BadInput ? error.diagnostics : [];
}

/** The problems of a configuration that exports this expression. */
async function problems(t: ExecutionContext, expression: string): Promise<readonly string[]> {
  const found = await failures(t, { 'fluxion.config.mjs': `export default ${expression};` });
  t.deepEqual([...new Set(found.map((diagnostic) => diagnostic.code))], ['config/invalid']);
  return found.map((diagnostic) => diagnostic.message);
}

test('no configuration is an empty one', async (t) => {
  t.deepEqual(await load(t, { 'app.js': '' }), { file: null, models: [] });
});

test('ES modules and CommonJS, with and without models', async (t) => {
  const esm = await load(t, { 'fluxion.config.mjs': `export default { models: [${MODEL}] };` });
  t.is(esm.models[0]?.name, 'jobs');
  const cjs = await load(t, { 'fluxion.config.cjs': `module.exports = { models: [${MODEL}] };` });
  t.is(cjs.models[0]?.name, 'jobs');
  const detected = await load(t, { 'fluxion.config.js': `export default { models: [${MODEL}] };` });
  t.is(detected.models[0]?.name, 'jobs');
  const compiled = 'exports.__esModule = true; exports.default = { models: [] };';
  t.deepEqual((await load(t, { 'fluxion.config.cjs': compiled })).models, []);
  t.deepEqual((await load(t, { 'fluxion.config.mjs': 'export default {};' })).models, []);
});

test('it lies beside the package.json of the entry, else in the working directory', async (t) => {
  const config = (name: string) => `export default { models: [{ name: '${name}', module: {} }] };`;
  const tree = {
    'fluxion.config.mjs': config('outer'),
    'app/package.json': '{}',
    'app/fluxion.config.mjs': config('inner'),
    'app/src/server.js': '',
    'bare/package.json': '{}',
    'bare/server.js': '',
  };
  t.is((await load(t, tree, { entry: 'app/src/server.js' })).models[0]?.name, 'inner');
  t.is((await load(t, tree, { entry: 'bare/server.js' })).models[0]?.name, 'outer');
  t.is(
    (await load(t, tree, { entry: 'app/src/server.js', explicit: './fluxion.config.mjs' })).models[0]?.name,
    'outer',
  );
});

test('a named file must be there', async (t) => {
  const missing = await failure(t, { 'fluxion.config.mjs': 'export default {};' }, { explicit: 'other.mjs' });
  t.is(missing.code, 'config/not-found');
  t.true(missing.message.includes('"other.mjs"'));
  t.is((await failure(t, { 'folder/a.js': '' }, { explicit: 'folder' })).code, 'config/not-found');
});

test('a syntax error is shown where it is', async (t) => {
  const text = 'export default {\n  models: [;\n};\n';
  const diagnostic = await failure(t, { 'fluxion.config.mjs': text });
  t.is(diagnostic.code, 'config/failed');
  t.is(diagnostic.span?.file, 'fluxion.config.mjs');
  t.is(diagnostic.span?.start, text.indexOf(';'));
  const cjs = await failure(t, { 'fluxion.config.cjs': 'module.exports = {\n  models: [\n};\n' });
  t.is(cjs.span?.text.slice(0, cjs.span.start).split('\n').length, 3);
});

test('what it throws is shown with the line of the configuration', async (t) => {
  const text = 'const x = null;\n\nexport default { models: x.models };\n';
  const thrown = await failure(t, { 'fluxion.config.mjs': text });
  t.is(thrown.code, 'config/failed');
  t.regex(thrown.message, /TypeError: Cannot read/);
  t.is(thrown.span?.start, text.indexOf('models }'));
  const inHelper = await failure(t, {
    'fluxion.config.cjs': "\nmodule.exports = require('./helper.cjs')();\n",
    'helper.cjs': "module.exports = () => { throw new Error('no luck'); };",
  });
  t.is(inHelper.span?.file, 'fluxion.config.cjs');
  t.is(inHelper.span?.text.slice(0, inHelper.span.start).split('\n').length, 2);
  const odd = await failure(t, { 'fluxion.config.mjs': "throw 'just text';" });
  t.regex(odd.message, /it throws just text/);
  const missing = await failure(t, { 'fluxion.config.mjs': "import './nowhere.js'; export default {};" });
  t.is(missing.code, 'config/failed');
  t.regex(missing.message, /nowhere\.js/);
});

test('what it exports may be a promise, and may run code when it is looked at', async (t) => {
  const promised = await load(t, { 'fluxion.config.cjs': `module.exports = Promise.resolve({ models: [${MODEL}] });` });
  t.is(promised.models.length, 1);
  const rejected = await failure(t, { 'fluxion.config.cjs': "module.exports = Promise.reject(new Error('no'));" });
  t.is(rejected.code, 'config/failed');
  t.regex(rejected.message, /it throws Error: no$/);
  const getter = await failure(t, {
    'fluxion.config.cjs': "module.exports = { get models() { throw new Error('no'); } };",
  });
  t.is(getter.code, 'config/failed');
});

test('a link that leads nowhere', async (t) => {
  const lost = await failure(t, { 'fluxion.config.mjs': link('nowhere.mjs') });
  t.is(lost.code, 'config/failed');
  t.regex(lost.message, /it cannot be read: it does not exist \(ENOENT\)$/);
});

test('of what Node says of a missing module the first line', async (t) => {
  const missing = await failure(t, { 'fluxion.config.cjs': "require('./nowhere');" });
  t.regex(missing.message, /Cannot find module '\.\/nowhere'$/);
});

test('nothing exported, or no object', async (t) => {
  const nothing = await failure(t, { 'fluxion.config.mjs': 'export const models = [];' });
  t.is(nothing.code, 'config/invalid');
  t.regex(nothing.message, /exports nothing by default/);
  t.deepEqual(await problems(t, '() => ({})'), ['expected an object, found a function']);
  t.deepEqual(await problems(t, 'null'), ['expected an object, found null']);
  t.deepEqual(await problems(t, '[]'), ['expected an object, found a list']);
});

test('wrong values are named with the path to them', async (t) => {
  const rupture = (fields: string) =>
    `{ models: [{ name: 'pg', module: { members: { query: { call: { ruptures: [${fields}] } } } } }] }`;
  const at = 'models[0].module.members.query.call.ruptures[0]';
  t.deepEqual(await problems(t, rupture("{ kind: 'begin', callback: 0 }")), [
    `${at}.kind: expected 'start', 'post' or 'sync', found 'begin'`,
  ]);
  t.deepEqual(await problems(t, rupture("{ kind: 'post' }")), [`${at}.callback: is missing`]);
  t.deepEqual(await problems(t, rupture("{ kind: 'post', callback: -1, request: 'yes' }")), [
    `${at}.callback: expected the index of an argument, 'last' or 'functions', found -1`,
    `${at}.request: expected true or false, found 'yes'`,
  ]);
  t.deepEqual(await problems(t, rupture("{ kind: 'post', callback: 0, params: 'fresh' }")), [
    `${at}.params: expected a list, found 'fresh'`,
  ]);
  t.deepEqual(await problems(t, rupture('null')), [`${at}: expected an object with "kind" and "callback", found null`]);
});

test('names that are no identifiers are quoted in the path', async (t) => {
  const model = "{ models: [{ name: 'x', module: {}, types: { 'a b': { members: { c: 1 } } } }] }";
  t.deepEqual(await problems(t, model), [
    'models[0].types["a b"].members.c: expected an object that describes a value, found 1',
  ]);
});

test('unknown fields are errors, with what was meant', async (t) => {
  const [first] = await failures(t, { 'fluxion.config.mjs': 'export default { model: [] };' });
  t.is(first?.message, 'model: there is no such field');
  t.is(first?.lift, 'did you mean "models"?');
  const typo = "{ models: [{ name: 'x', module: { call: { ruptuers: [] } } }] }";
  t.deepEqual(await problems(t, typo), ['models[0].module.call.ruptuers: there is no such field']);
});

test('all problems are told at once', async (t) => {
  const found = await problems(
    t,
    "{ models: [{ module: {} }, { name: 'node:fs', module: 1 }, , { name: 'a', module: {} }, { name: 'a', module: {} }] }",
  );
  t.deepEqual(found, [
    'models[0].name: is missing',
    'models[1].name: core modules are named without "node:"',
    'models[1].module: expected an object that describes a value, found 1',
    'models[2]: expected an object with "name" and "module", found nothing',
    "models[4].name: 'a' is described by models[3] already",
  ]);
});

test('references to values', async (t) => {
  const withReturns = (value: string) => `{ models: [{ name: 'x', module: { call: { returns: ${value} } } }] }`;
  for (const good of [
    'fresh',
    'argument 0',
    'copy -1',
    'Promise',
    'express.Response',
    'this | result 0',
    '@a/b.Pool',
  ]) {
    await t.notThrowsAsync(load(t, { 'fluxion.config.mjs': `export default ${withReturns(`'${good}'`)}` }), good);
  }
  for (const bad of ["'argument'  + ' x'", "'contens'", "''", '3', "'argument -1'", "'this | '"]) {
    const [problem] = await problems(t, withReturns(bad));
    t.regex(problem!, /^models\[0\]\.module\.call\.returns: expected a type as 'package\.Type'/, bad);
  }
});

test('an object that holds itself does not hang the check', async (t) => {
  const cyclic = "const m = {}; m.members = { m }; export default { models: [{ name: 'x', module: m }] };";
  const [first] = await failures(t, { 'fluxion.config.mjs': cyclic });
  t.is(first?.message, 'models[0].module.members.m: the object holds itself');
  const twice =
    "const m = { call: {} }; export default { models: [{ name: 'x', module: { members: { a: m, b: m } } }] };";
  await t.notThrowsAsync(load(t, { 'fluxion.config.mjs': twice }));
});

test('files are shown as seen from the working directory', async (t) => {
  const cwd = tempFolder(t, { 'deep/package.json': '{}', 'deep/fluxion.config.mjs': 'export default 1;' });
  const error = await t.throwsAsync(loadConfig({ cwd, entry: join(cwd, 'deep/app.js') }), { instanceOf: BadInput });
  t.regex(error?.message ?? '', /\n {2}deep\/fluxion\.config\.mjs$/);
});
