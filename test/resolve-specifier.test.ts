import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import test from 'ava';
import { createResolver, type Resolution, type ResolveMode } from '../analyzer/resolve-specifier.js';
import { link, type Tree, tempFolder, writeTree } from './support/temp-folder.js';

/** Every module of the tree says where it is, so that Node tells what it loaded. */
const CJS = 'module.exports = __filename;';
const ESM = 'import { fileURLToPath } from "node:url"; export default fileURLToPath(import.meta.url);';

/** An app with most of what a package.json can say. */
const APP: Tree = {
  'package.json': JSON.stringify({
    name: 'shop',
    exports: {
      '.': { import: './main.mjs', require: './main.js' },
      './both': { 'module-sync': './sync.js', default: './main.js' },
      './closed/*': null,
      './lib/*': './lib/*.js',
      './lib/*.json': './lib/*.json',
      './lib/private/*': null,
      './up': '../outside.js',
      './nested': { node: { browser: './no.js', default: { require: './main.js', default: './main.mjs' } } },
      './list': ['not a path', './main.js', './sync.js'],
      './gone': './gone.js',
    },
    imports: {
      '#main': './main.js',
      '#dep': 'dep',
      '#dep/*': 'dep/*.js',
      '#absent': 'not-installed',
      '#core': 'node:fs',
      '#lib/*': './lib/*.js',
      '#null': null,
      '#by-mode': { require: './main.js', import: './main.mjs' },
    },
  }),
  'main.js': CJS,
  'main.mjs': ESM,
  'sync.js': CJS,
  'both.js': CJS,
  'both/index.js': CJS,
  'data.json': '"data"',
  'name with space.js': CJS,
  'per%cent.js': CJS,
  'a.b.js': CJS,
  'lib/index.js': CJS,
  'lib/x.js': CJS,
  'lib/x.json': '"x"',
  'lib/private/y.js': CJS,
  'lib/package.json': '{"private": true}',
  'with-main/package.json': '{"main": "./start"}',
  'with-main/start.js': CJS,
  'with-main-folder/package.json': '{"main": "src"}',
  'with-main-folder/src/index.js': CJS,
  'bad-main/package.json': '{"main": "nowhere"}',
  'bad-main/index.js': CJS,
  'worse-main/package.json': '{"main": "nowhere"}',
  'no-index/other.js': CJS,
  'only-json/index.json': '"index"',
  'linked.js': link('lib/x.js'),
  'linked-folder': link('lib'),
  'circle.js': link('circle.js'),
  'dangling.js': link('nowhere.js'),
  'node_modules/dep/package.json': '{"name": "dep", "version": "1.2.3", "main": "lib/dep"}',
  'node_modules/dep/lib/dep.js': CJS,
  'node_modules/dep/sub.js': CJS,
  'node_modules/dep/folder/index.js': CJS,
  'node_modules/alias/package.json': '{"name": "express", "version": "4.0.0"}',
  'node_modules/alias/index.js': CJS,
  'node_modules/plain/index.js': CJS,
  'node_modules/hollow/package.json': '{"name": "hollow", "main": "dist/none.js"}',
  'node_modules/broken/package.json': '{"name": ',
  'node_modules/broken/index.js': CJS,
  'node_modules/@scope/pkg/package.json': JSON.stringify({
    name: '@scope/pkg',
    exports: { '.': './index.js', './feature/*.js': './src/*.js', './*': './src/*.js', './src/internal/*': null },
  }),
  'node_modules/@scope/pkg/index.js': CJS,
  'node_modules/@scope/pkg/src/a.js': CJS,
  'node_modules/@scope/pkg/src/internal/b.js': CJS,
  'node_modules/single.js': CJS,
  'node_modules/punycode/package.json': '{"name": "punycode"}',
  'node_modules/punycode/index.js': CJS,
  'node_modules/workspace': link('../packages/workspace'),
  'packages/workspace/package.json': '{"name": "workspace", "exports": {".": "./index.js"}}',
  'packages/workspace/index.js': CJS,
  'node_modules/outer/package.json': '{"name": "outer"}',
  'node_modules/outer/index.js': CJS,
  'node_modules/outer/extra.js': CJS,
  'deep/node_modules/outer/package.json': '{"name": "outer"}',
  'deep/node_modules/outer/index.js': CJS,
  'deep/er/file.js': CJS,
};

const SPECIFIERS = [
  ...['./main', './main.js', './main.mjs', './both', './both/', './both.js', './both/index', './data', './data.json'],
  ...['./name with space', './name with space.js', './name%20with%20space.js', './per%cent.js', './per%25cent.js'],
  ...[
    './a.b',
    './a',
    './lib',
    './lib/',
    './lib/.',
    './lib/..',
    './lib/x',
    './lib/x.js',
    './lib//x.js',
    './lib/../main.js',
  ],
  ...['.', './', '..', '../', '...', '..main', './main.js/', './main.js?one', './main.js#two', './lib%2fx.js', '.main'],
  ...['./with-main', './with-main/', './with-main-folder', './bad-main', './worse-main', './no-index', './only-json'],
  ...['./linked', './linked.js', './linked-folder', './linked-folder/x.js', './circle.js', './dangling.js', './nope'],
  ...[
    'dep',
    'dep/',
    'dep/sub',
    'dep/sub.js',
    'dep/folder',
    'dep/folder/',
    'dep/folder/index.js',
    'dep/nope',
    'dep/sub.js/',
  ],
  ...[
    'alias',
    'plain',
    'plain/index.js',
    'hollow',
    'hollow/package.json',
    'broken',
    'broken/index.js',
    'single',
    'single.js',
  ],
  ...[
    '@scope/pkg',
    '@scope/pkg/feature/a.js',
    '@scope/pkg/a',
    '@scope/pkg/src/internal/b',
    '@scope/pkg/none',
    '@scope',
    '@scope/',
  ],
  ...['@scope/pkg/', '@scope/pkg/../pkg/a', 'punycode/', 'workspace', 'workspace/index.js', 'outer', 'outer/extra.js'],
  ...[
    'shop',
    'shop/both',
    'shop/closed/x',
    'shop/lib/x',
    'shop/lib/x.json',
    'shop/lib/private/y',
    'shop/up',
    'shop/nested',
  ],
  ...['shop/list', 'shop/gone', 'shop/none', 'shop/'],
  ...['#main', '#dep', '#dep/sub', '#core', '#lib/x', '#lib/none', '#null', '#by-mode', '#none', '#'],
  ...[
    '',
    ' ',
    'dep\\sub',
    'dep%20',
    'http://example.com/x.js',
    'not-installed',
    'not-installed/sub',
    '@no/pkg/deep/er',
  ],
];

const FROM = ['main.js', 'lib/x.js', 'deep/er/file.js', 'node_modules/dep/lib/dep.js', 'packages/workspace/index.js'];

/** The path that is loaded, or null where nothing is. */
function pathOf(resolution: Resolution): string | null {
  if (resolution.kind === 'file') return resolution.path;
  return resolution.kind === 'package' && resolution.installed ? resolution.path : null;
}

interface Difference {
  readonly from: string;
  readonly specifier: string;
  readonly found: string | null;
  readonly expected: string | null;
}

test('require resolves to the very file that Node gives, from everywhere in a tree', (t) => {
  const root = tempFolder(t, APP);
  const differences: Difference[] = [];
  for (const from of FROM) {
    const fromFile = join(root, from);
    const nodes = createRequire(fromFile);
    const resolver = createResolver();
    for (const specifier of SPECIFIERS) {
      const expected = requireResolve(nodes, specifier);
      const found = pathOf(resolver.resolve(specifier, fromFile, 'require'));
      if (found !== expected) differences.push({ from, specifier, found, expected });
    }
  }
  t.deepEqual(differences, []);
});

function requireResolve(require: NodeJS.Require, specifier: string): string | null {
  try {
    return require.resolve(specifier);
  } catch {
    return null;
  }
}

test('import resolves to the very file that Node loads, from everywhere in a tree', (t) => {
  const root = tempFolder(t, APP);
  // JSON needs an attribute to be imported, which would be one more rule to test here.
  const specifiers = SPECIFIERS.filter((specifier) => !/json|data/.test(specifier));
  const differences: Difference[] = [];
  for (const from of FROM) {
    const fromFile = join(root, from);
    const loaded = importAll(fromFile, specifiers);
    const resolver = createResolver();
    for (const specifier of specifiers) {
      const found = pathOf(resolver.resolve(specifier, fromFile, 'import'));
      const expected = loaded[specifier] ?? null;
      if (found !== expected) differences.push({ from, specifier, found, expected });
    }
  }
  t.deepEqual(differences, []);
});

/** What a real `import()` from beside this file gives for each specifier. */
function importAll(fromFile: string, specifiers: readonly string[]): Readonly<Record<string, string | null>> {
  const folder = dirname(fromFile);
  const probe = `
    const found = {};
    for (const specifier of ${JSON.stringify(specifiers)}) {
      found[specifier] = await import(specifier).then((module) => module.default, () => null);
    }
    console.log(JSON.stringify(found));`;
  writeTree(folder, { 'probe.mjs': probe });
  const output = execFileSync(process.execPath, ['--no-warnings', join(folder, 'probe.mjs')], { encoding: 'utf8' });
  return JSON.parse(output);
}

test('absolute paths and file URLs', (t) => {
  const root = tempFolder(t, { 'a.js': CJS, 'folder/index.js': CJS });
  const resolver = createResolver();
  const from = join(root, 'main.js');
  t.deepEqual(resolver.resolve(join(root, 'a'), from, 'require'), file(join(root, 'a.js')));
  t.deepEqual(resolver.resolve(join(root, 'folder'), from, 'require'), file(join(root, 'folder/index.js')));
  t.deepEqual(resolver.resolve(new URL('a.js', `file://${root}/`).href, from, 'import'), file(join(root, 'a.js')));
  t.deepEqual(resolver.resolve(join(root, 'a.js'), from, 'import'), file(join(root, 'a.js')));
});

function file(path: string): Resolution {
  return { kind: 'file', path, query: '' };
}

test('core modules, with and without node:, before packages of the same name', (t) => {
  const root = tempFolder(t, { 'node_modules/fs/index.js': CJS, 'node_modules/test/index.js': CJS });
  const resolver = createResolver();
  const from = join(root, 'main.js');
  for (const mode of ['require', 'import'] satisfies ResolveMode[]) {
    t.deepEqual(resolver.resolve('fs', from, mode), { kind: 'core', name: 'fs' });
    t.deepEqual(resolver.resolve('node:fs/promises', from, mode), { kind: 'core', name: 'fs/promises' });
    t.deepEqual(resolver.resolve('node:test', from, mode), { kind: 'core', name: 'test' });
    t.like(resolver.resolve('test', from, mode), { kind: 'package', name: 'test', installed: true });
    t.is(resolver.resolve('node:nonsense', from, mode).kind, 'missing');
  }
  t.like(resolver.resolve('fs/', from, 'require'), { kind: 'package', name: 'fs' });
});

test('a package has its own name and version, also under an alias, and the sub-path that was asked for', (t) => {
  const root = tempFolder(t, APP);
  const resolver = createResolver();
  const from = join(root, 'main.js');
  const resolve = (specifier: string) => resolver.resolve(specifier, from, 'require');
  t.like(resolve('alias'), { kind: 'package', installed: true, name: 'express', subpath: '', version: '4.0.0' });
  t.like(resolve('dep/sub'), { kind: 'package', name: 'dep', subpath: 'sub', version: '1.2.3' });
  t.like(resolve('@scope/pkg/a'), { kind: 'package', name: '@scope/pkg', subpath: 'a' });
  t.like(resolve('#dep'), { kind: 'package', name: 'dep', subpath: '' });
  t.like(resolve('./node_modules/plain'), { kind: 'package', name: 'plain', subpath: 'index.js', version: null });
  t.deepEqual(resolve('@no/pkg/deep/er'), { kind: 'package', installed: false, name: '@no/pkg', subpath: 'deep/er' });
  t.deepEqual(resolve('#absent'), { kind: 'package', installed: false, name: 'not-installed', subpath: '' });
});

test('workspaces and self-references are files of the app', (t) => {
  const root = tempFolder(t, APP);
  const resolver = createResolver();
  const from = join(root, 'main.js');
  t.deepEqual(resolver.resolve('workspace', from, 'require'), file(join(root, 'packages/workspace/index.js')));
  t.deepEqual(resolver.resolve('shop', from, 'import'), file(join(root, 'main.mjs')));
  t.deepEqual(resolver.resolve('shop', from, 'require'), file(join(root, 'main.js')));
});

test('a query keeps module instances of one file apart', (t) => {
  const root = tempFolder(t, { 'a.js': ESM });
  const resolution = createResolver().resolve('./a.js?x=1#y', join(root, 'main.js'), 'import');
  t.deepEqual(resolution, { kind: 'file', path: join(root, 'a.js'), query: '?x=1#y' });
});

test('what is missing is said in words that help', (t) => {
  const root = tempFolder(t, APP);
  const resolver = createResolver();
  const reason = (specifier: string, mode: ResolveMode): string => {
    const resolution = resolver.resolve(specifier, join(root, 'main.js'), mode);
    return resolution.kind === 'missing' ? resolution.reason : `no reason, but ${resolution.kind}`;
  };
  t.is(reason('./lib/x', 'import'), 'import needs the whole file name, and "./lib/x.js" exists');
  t.is(reason('./lib', 'import'), 'import does not look into folders; name the file, as in "./lib/index.js"');
  t.is(reason('./lib/', 'import'), 'import does not look into folders; name the file, as in "./lib/index.js"');
  t.is(reason('./nope', 'require'), 'there is no file "./nope", with or without .js, .json or .node');
  t.is(reason('@scope/pkg/none', 'require'), 'package.json leads to "./src/none.js", which is no file');
  t.is(reason('shop/none', 'import'), 'the package "shop" does not export "none"');
  t.is(reason('hollow', 'require'), 'the package "hollow" is installed, but it has not its main file "dist/none.js"');
  t.is(reason('dep/nope', 'require'), 'the package "dep" is installed, but it has no "nope"');
  t.is(reason('broken', 'require'), 'broken/package.json is not valid JSON');
  t.regex(reason('http://example.com/x.js', 'import'), /no "http:" addresses/);
});

test('kinds of modules', (t) => {
  const root = tempFolder(t, {
    'package.json': '{"name": "app"}',
    'esm/package.json': '{"type": "module"}',
    'cjs/package.json': '{"type": "commonjs"}',
    'odd/package.json': '{"type": "something"}',
    'broken/package.json': '{',
    'esm/node_modules/dep/index.js': CJS,
  });
  const kind = (path: string) => createResolver().moduleKind(join(root, path));
  t.is(kind('a.js'), 'detect');
  t.is(kind('a.cjs'), 'commonjs');
  t.is(kind('a.mjs'), 'module');
  t.is(kind('esm/deep/down/a.js'), 'module');
  t.is(kind('esm/a.cjs'), 'commonjs');
  t.is(kind('cjs/a.js'), 'commonjs');
  t.is(kind('cjs/www'), 'commonjs');
  t.is(kind('esm/www'), 'detect');
  t.is(kind('esm/template.txt'), 'detect');
  t.is(kind('www'), 'detect');
  t.is(kind('odd/a.js'), 'detect');
  t.is(kind('broken/a.js'), 'detect');
  t.is(kind('a.json'), 'json');
  t.is(kind('a.node'), 'other');
  t.is(kind('esm/node_modules/dep/index.js'), 'detect');
});
