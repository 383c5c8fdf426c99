/** `compile()` as a library has it, and what must not grow with the square of a program. */
import { join } from 'node:path';
import test from 'ava';
import { Budget } from '../analyzer/budget.js';
import { loadModules } from '../analyzer/load-modules.js';
import { Models } from '../analyzer/models.js';
import { traceOrigins } from '../analyzer/trace-origins.js';
import { compile } from '../compile.js';
import { BadInput, compile as compileInThread } from '../index.js';
import { builtins, byMethodName, globals } from '../models/index.js';
import { tempFolder } from './support/temp-folder.js';

const app = `const app = require('express')();
app.get('/', function home(req, res) { res.json(require('./table')); });
app.listen(3000);
`;

test('the library gives what the compiler gives, also of code that is nested deeper than its caller’s stack', async (t) => {
  const cwd = tempFolder(t, { 'app.js': app, 'table.js': 'module.exports = 1;\n' });
  const options = { entry: 'app.js', cwd };
  t.deepEqual(await compileInThread(options), await compile(options));
  const deep = new Map([[join(cwd, 'table.js'), `module.exports = 1${' + 1'.repeat(100_000)};\n`]]);
  await t.throwsAsync(compile({ ...options, given: deep }), { instanceOf: BadInput, message: /nested too deeply/ });
  const { program } = await compileInThread({ ...options, given: deep });
  t.true(program.fluxions.some(({ id }) => id === 'home'));
});

test('the library says what is wrong as the compiler does', async (t) => {
  const cwd = tempFolder(t, { 'app.js': 'const = 1;\n' });
  const error = await t.throwsAsync(compileInThread({ entry: 'app.js', cwd }), { instanceOf: BadInput });
  t.is(error?.diagnostics[0]?.code, 'analyzer/syntax-error');
});

test('a getter that is the language’s own is a call that no line makes', async (t) => {
  const cwd = tempFolder(t, {
    'app.js': `const styles = new Map();\nObject.defineProperty(module, 'exports', { get: styles.set });\n`,
  });
  const { program } = await compile({ entry: 'app.js', cwd });
  t.deepEqual(
    program.fluxions.map(({ id }) => id),
    ['main'],
  );
});

test('what a long line of classes inherits is unknown where it is too much to look for', (t) => {
  const count = 300;
  const lines = Array.from({ length: count }, (_, n) => {
    const base = n === 0 ? '' : `extends C${n - 1} `;
    return `class C${n} ${base}{ m${n}() { return this.m${Math.max(0, n - 1)}(); } }`;
  });
  const cwd = tempFolder(t, { 'app.js': `${lines.join('\n')}\nnew C${count - 1}().m${count - 1}();\n` });
  const graph = loadModules({ entry: join(cwd, 'app.js'), cwd }, () => {});
  const models = new Models({ packages: [builtins], globals, byMethodName, isInstalled: () => false });
  const before = graph.facts.valueCount;
  traceOrigins(graph, models, new Budget(1000, false), 'wrappers', null);
  // Each step up makes a value: from each of so many classes to the first that would be half of the square.
  t.true(graph.facts.valueCount - before < count * 20);
});
