import fs, { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { apart, ModuleTexts, SourceChanged } from '../analyzer/module-texts.js';
import { compile, compileToShow } from '../compile.js';

const none = new Map<string, string>();
const mark = '\uFEFF';

function folderOf(t: ExecutionContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fluxion-texts-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A file that is as old as files of a program are when they are compiled, but for when its entry was written: `read` says when that is. */
function write(folder: string, name: string, text: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  utimesSync(file, 1, 1);
  return file;
}

test('a text is the same again, whether it is held or read again', (t) => {
  const file = write(folderOf(t), 'a.js', `${mark}module.exports = 1;\n`);
  for (const isKept of [true, false]) {
    const { text, again } = new ModuleTexts(isKept, none, Number.POSITIVE_INFINITY).read(file);
    t.is(text, 'module.exports = 1;\n');
    t.is(again(), text);
    t.is(again(), text);
  }
});

test('what was written meanwhile is told, and so is what is gone', (t) => {
  const folder = folderOf(t);
  const file = write(folder, 'a.js', 'module.exports = 1;\n');
  const texts = new ModuleTexts(false, none, Number.POSITIVE_INFINITY);
  const changed = texts.read(file);
  write(folder, 'a.js', 'module.exports = 12;\n');
  t.throws(() => changed.again(), { instanceOf: SourceChanged });
  const gone = texts.read(file);
  rmSync(file);
  t.throws(() => gone.again(), { instanceOf: SourceChanged });
});

test('a text that was just written is held, as it may be written once more and look the same', (t) => {
  const folder = folderOf(t);
  const file = write(folder, 'a.js', 'module.exports = 1;\n');
  const { again } = new ModuleTexts(false, none).read(file);
  rmSync(file);
  t.is(again(), 'module.exports = 1;\n');
});

test('words that stand apart are the same words', (t) => {
  for (const words of ['short', 'a long name of something', 'grüße an alle Leute', 'von \u{1F600} bis zum \uD800 Ende'])
    t.is(apart(`(${words})`.slice(1, -1)), words);
});

test('the structure is the same, whether texts are held or not', async (t) => {
  const entry = path.join(import.meta.dirname, '../../fixtures/apps/blog/app.js');
  const options = { entry, cwd: path.dirname(entry) };
  const [held, shown] = [await compile(options), await compileToShow({ ...options, code: false })];
  const structure = held.program.fluxions.map((fluxion) => ({ ...fluxion, code: '' }));
  t.deepEqual(shown.program.fluxions, structure);
  t.deepEqual(shown.program.variables, held.program.variables);
});

test.serial('what is written while it is compiled is compiled once more, as it is by then', async (t) => {
  const folder = folderOf(t);
  const app = (path: string): string =>
    `const app = require('express')();\nlet n = 0;\napp.get('${path}', (req, res) => { n += 1; res.json(n); });\napp.listen(0);\n`;
  const entry = write(folder, 'app.js', app('/before'));
  const { openSync } = fs;
  const { now } = Date;
  let opened = 0;
  Date.now = () => now() + 10_000;
  fs.openSync = (file, ...others) => {
    if (file === entry && ++opened === 2) write(folder, 'app.js', app('/behind'));
    return openSync(file, ...others);
  };
  syncBuiltinESMExports();
  t.teardown(() => {
    Date.now = now;
    fs.openSync = openSync;
    syncBuiltinESMExports();
  });
  const { program } = await compileToShow({ entry, cwd: folder, code: false });
  t.true(opened >= 3);
  t.true(program.fluxions.some(({ id }) => id === 'get_behind'));
  t.false(program.fluxions.some(({ id }) => id === 'get_before'));
});
