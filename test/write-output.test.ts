import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { BadInput } from '../diagnostics/bad-input.js';
import { writeOutput } from '../flx/emit/write-output.js';
import { link, tempFolder, writeTree } from './support/temp-folder.js';

const FILES = new Map([
  ['app.flx', 'flx main\n'],
  ['modules/routes/a.js', 'a();\n'],
  ['fluxion.json', '{"version": 1}'],
]);

function namesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
}

function codeOf(error: unknown): string | undefined {
  return error instanceof BadInput ? error.diagnostics[0]?.code : undefined;
}

test('writes a new folder, with those above it, and nothing beside it', async (t) => {
  const root = tempFolder(t);
  await writeOutput(join(root, 'deep/out'), FILES);
  t.deepEqual(namesIn(root), [
    ...['deep', 'deep/out', 'deep/out/app.flx', 'deep/out/fluxion.json', 'deep/out/modules'],
    ...['deep/out/modules/routes', 'deep/out/modules/routes/a.js'],
  ]);
  t.is(readFileSync(join(root, 'deep/out/modules/routes/a.js'), 'utf8'), 'a();\n');
});

test('the manifest says who wrote what, beside what the emitter says', async (t) => {
  const root = tempFolder(t);
  await writeOutput(join(root, 'out'), FILES);
  t.deepEqual(JSON.parse(readFileSync(join(root, 'out/fluxion.json'), 'utf8')), {
    version: 1,
    generator: 'fluxion',
    files: ['app.flx', 'fluxion.json', 'modules/routes/a.js'],
  });
  await writeOutput(join(root, 'bare'), new Map([['app.flx', 'x']]));
  t.deepEqual(namesIn(join(root, 'bare')), ['app.flx', 'fluxion.json']);
});

test('replaces what it wrote before, and leaves nothing of it', async (t) => {
  const root = tempFolder(t);
  const out = join(root, 'out');
  await writeOutput(out, FILES);
  await writeOutput(out, new Map([['other.flx', 'x']]));
  t.deepEqual(namesIn(root), ['out', 'out/fluxion.json', 'out/other.flx']);
});

test('an empty folder is taken', async (t) => {
  const root = tempFolder(t);
  mkdirSync(join(root, 'out'));
  await writeOutput(join(root, 'out'), FILES);
  t.true(existsSync(join(root, 'out/app.flx')));
});

test('refuses a folder with other files, and touches nothing', async (t) => {
  for (const tree of [
    { 'out/own.txt': 'mine' },
    { 'out/fluxion.json': '{"generator": "other", "files": ["fluxion.json"]}' },
    { 'out/fluxion.json': 'not json' },
    { 'out/fluxion.json': '{"generator": "fluxion"}' },
    { 'out/.hidden': '' },
    { 'out/empty/below/x': '' },
  ]) {
    const root = tempFolder(t, tree);
    const before = namesIn(root);
    const error = await t.throwsAsync(writeOutput(join(root, 'out'), FILES));
    t.is(codeOf(error), 'cli/output-not-empty');
    t.deepEqual(namesIn(root), before);
  }
});

test('refuses when the user has put a file or a folder into what it wrote', async (t) => {
  const root = tempFolder(t);
  const out = join(root, 'out');
  await writeOutput(out, FILES);
  mkdirSync(join(out, 'notes'));
  const error = await t.throwsAsync(writeOutput(out, FILES));
  t.is(codeOf(error), 'cli/output-not-empty');
  t.regex(error?.message ?? '', /\(notes\/\)/);
  t.true(existsSync(join(out, 'app.flx')));
});

test('refuses a folder that holds the source, even one that it wrote', async (t) => {
  const root = tempFolder(t);
  const out = join(root, 'out');
  await writeOutput(out, FILES);
  const error = await t.throwsAsync(writeOutput(out, FILES, [join(out, 'modules/routes/a.js')]));
  t.is(codeOf(error), 'cli/output-not-empty');
  t.regex(error?.message ?? '', /own modules\/routes\/a\.js/);
});

test('refuses a file, and a path through a file', async (t) => {
  const root = tempFolder(t, { file: 'x' });
  t.is(codeOf(await t.throwsAsync(writeOutput(join(root, 'file'), FILES))), 'cli/output-failed');
  t.is(codeOf(await t.throwsAsync(writeOutput(join(root, 'file/out'), FILES))), 'cli/output-failed');
  t.deepEqual(namesIn(root), ['file']);
});

test('a symbolic link stays, and the folder behind it is replaced', async (t) => {
  const root = tempFolder(t, { out: link('real') });
  mkdirSync(join(root, 'real'));
  await writeOutput(join(root, 'out'), FILES);
  t.true(lstatSync(join(root, 'out')).isSymbolicLink());
  t.true(existsSync(join(root, 'real/app.flx')));
});

test('a failure leaves the old state, and no folders that were not there', async (t) => {
  const root = tempFolder(t);
  const out = join(root, 'out');
  await writeOutput(out, FILES);
  // A name that no file system takes fails in the middle of writing, after other files are done.
  const bad = new Map([...FILES, [`${'x'.repeat(300)}.js`, '']]);
  t.is(codeOf(await t.throwsAsync(writeOutput(out, bad))), 'cli/output-failed');
  t.is(codeOf(await t.throwsAsync(writeOutput(join(root, 'new/deeper/out'), bad))), 'cli/output-failed');
  t.deepEqual(readdirSync(root), ['out']);
  t.is(readFileSync(join(out, 'app.flx'), 'utf8'), 'flx main\n');
});

const script = (folder: string, name = 'x.js'): string => `
  import { writeOutput } from ${JSON.stringify(new URL('../flx/emit/write-output.js', import.meta.url).href)};
  await writeOutput(${JSON.stringify(folder)}, new Map([['app.flx', 'new'], [${JSON.stringify(name)}, '']]));`;

test('the working directory is replaced in place: whoever stands in it stays in it', async (t) => {
  const root = tempFolder(t);
  const out = join(root, 'out');
  await writeOutput(out, FILES);
  const before = statSync(out).ino;
  execFileSync(process.execPath, ['--input-type=module', '-e', script('.')], { cwd: out });
  t.is(statSync(out).ino, before);
  t.deepEqual(namesIn(root), ['out', 'out/app.flx', 'out/fluxion.json', 'out/x.js']);
  t.is(readFileSync(join(out, 'app.flx'), 'utf8'), 'new');
  const failed = spawnSync(process.execPath, ['--input-type=module', '-e', script('.', 'y'.repeat(300))], { cwd: out });
  t.not(failed.status, 0);
  t.deepEqual(namesIn(root), ['out', 'out/app.flx', 'out/fluxion.json', 'out/x.js']);
});

test('what a killed run left in the folder does not make it somebody else’s', async (t) => {
  const root = tempFolder(t);
  const out = join(root, 'out');
  await writeOutput(out, FILES);
  writeTree(out, { '.fluxion-new-0123abcd/half.js': '', '.fluxion-old-0123abcd/half.js': '' });
  await writeOutput(out, FILES);
  t.deepEqual(readdirSync(out).sort(), ['app.flx', 'fluxion.json', 'modules']);
});

// Permissions do not bind root.
const asUser = process.getuid?.() === 0 ? test.skip : test;

asUser('where the folder around it may not be written to, its content is replaced', async (t) => {
  const root = tempFolder(t);
  const out = join(root, 'out');
  await writeOutput(out, FILES);
  chmodSync(root, 0o555);
  t.teardown(() => chmodSync(root, 0o755));
  await writeOutput(out, new Map([['app.flx', 'new']]));
  t.deepEqual(namesIn(root), ['out', 'out/app.flx', 'out/fluxion.json']);
});

test('names that leave the folder are our mistake', async (t) => {
  const root = tempFolder(t);
  for (const name of ['../x', '/x', 'a//b', 'a/../../x', '', './x']) {
    await t.throwsAsync(writeOutput(join(root, 'out'), new Map([[name, '']])), { name: 'InvariantError' }, name);
  }
  t.false(existsSync(join(root, 'out')));
});
