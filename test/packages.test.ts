/** Packages without a model: their code is read, and what they do to an app's handlers is seen. */
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { compile } from '../compile.js';
import { emitRunFiles } from '../flx/emit/run-files.js';
import type { FluxionProgram } from '../flx/program.js';
import { free, sharing, writePackageProbe } from './support/package-probes.js';
import { type Tree, tempFolder } from './support/temp-folder.js';

async function compileTree(t: ExecutionContext, tree: Tree): Promise<FluxionProgram> {
  const cwd = tempFolder(t, tree);
  const { program } = await compile({ entry: join(cwd, 'app.js'), cwd });
  return program;
}

/** Where a handler runs, with what goes on behind it. */
function placements(program: FluxionProgram, id: string): readonly string[] {
  const byId = new Map(program.fluxions.map((fluxion) => [fluxion.id, fluxion]));
  const seen = new Set([id]);
  for (const each of seen) for (const { dest } of byId.get(each)?.streams ?? []) for (const to of dest) seen.add(to);
  return [...seen].map((each) => byId.get(each)?.placement ?? 'missing');
}

const isFree = (program: FluxionProgram, id: string): boolean =>
  placements(program, id).every((placement) => placement === 'replicated');

for (const probe of sharing) {
  test(`has an owner: ${probe.name}`, async (t) => {
    const program = await compileTree(t, writePackageProbe(probe));
    t.false(isFree(program, 'w'), 'w is called free');
    t.false(isFree(program, 'r'), 'r is called free');
  });
}

for (const probe of free) {
  test(`is free: ${probe.name}`, async (t) => {
    const program = await compileTree(t, writePackageProbe(probe));
    const reasons = program.fluxions.flatMap((fluxion) =>
      fluxion.reasons.map(({ message }) => `${fluxion.id}: ${message}`),
    );
    t.true(isFree(program, 'w') && isFree(program, 'r'), reasons.join('\n'));
  });
}

test('packages are no modules of the program, and their handlers are known by place', async (t) => {
  const program = await compileTree(t, {
    'package.json': '{}',
    'node_modules/wrap/package.json': '{"name":"wrap"}',
    'node_modules/wrap/index.js':
      'module.exports = (fn) =>\n  (req, res, next) => Promise.resolve(fn(req, res, next)).catch(next);\n',
    'app.js': `const express = require('express');
const wrap = require('wrap');
const app = express();
app.get('/a', wrap(async (req, res) => { res.json(1); }));
let hits = 0;
app.get('/b', wrap(async (req, res) => { hits += 1; res.json(hits); }));
app.listen(3000);
`,
  });
  t.deepEqual(
    program.modules.map(({ id }) => id),
    ['app.js'],
  );
  t.deepEqual(
    program.packages.map(({ id }) => id),
    ['node_modules/wrap/index.js'],
  );
  const [a, b] = program.fluxions.filter(({ kind }) => kind === 'start');
  t.deepEqual(a?.at, { module: 'node_modules/wrap/index.js', line: 2, column: 3 });
  t.is(a?.code, '');
  t.is(a?.placement, 'replicated');
  t.not(b?.placement, 'replicated');
  const start = JSON.parse(emitRunFiles(program, '/nowhere').get('start.json') ?? '');
  t.deepEqual(
    start.modules.map(({ id, file }: { id: string; file: string | null }) => [id, file]),
    [
      ['app.js', null],
      ['node_modules/wrap/index.js', null],
    ],
  );
});

test('code of packages that cannot be read stays unknown', async (t) => {
  const codes = [
    'exports.run = (x) => eval(x);',
    `exports.run = (x) => x; /* ${'long '.repeat(60_000)} */`,
    'exports.run = (x) => x; this is no JavaScript',
    "exports.run = require('./build/native.node').run;",
  ];
  for (const code of codes) {
    const program = await compileTree(t, {
      ...writePackageProbe({ name: '', code, w: 'res.json(p.run(1));', r: 'res.end();' }),
      'node_modules/p/build/native.node': 'binary',
    });
    t.is(program.packages.length, 0, code.slice(0, 60));
    t.is(program.fluxions.find(({ id }) => id === 'w')?.placement, 'home', code.slice(0, 60));
    t.is(program.fluxions.find(({ id }) => id === 'r')?.placement, 'replicated', code.slice(0, 60));
  }
});

test('mappers that may have a database in memory are with their owner, and so is what they make; clients of servers are free', async (t) => {
  const tree = {
    'package.json': '{}',
    'app.js': `const express = require('express');
const knex = require('knex')({ client: 'sqlite3', connection: ':memory:' });
const own = require('knex')({ client: class Driver {} });
const { Sequelize } = require('sequelize');
const Stripe = require('stripe');
const { S3Client, GetObjectCommand } = require('@aws-sdk/client-s3');
const db = new Sequelize('sqlite::memory:');
const User = db.define('User', {});
const stripe = new Stripe('key');
const s3 = new S3Client({});
const app = express();
app.get('/knex', async function knexes(req, res) { res.json(await knex('users').select('name')); });
app.get('/raw', async function raws(req, res) { res.json(await knex.raw('select 1')); });
app.get('/user', async function users(req, res) { res.json(await User.findAll()); });
app.get('/stripe', async function stripes(req, res) { res.json(await stripe.customers.retrieve(req.query.id)); });
app.get('/s3', async function objects(req, res) { res.json(await s3.send(new GetObjectCommand({ Key: req.query.key }))); });
app.get('/own', async function owned(req, res) { res.json(await own('users')); });
app.listen(3000);
`,
  };
  const placed = (program: FluxionProgram, ids: readonly string[]): readonly string[] => [
    ...new Set(ids.flatMap((id) => placements(program, id))),
  ];
  const installed = {
    'node_modules/sqlite3/package.json': '{"name":"sqlite3"}',
    'node_modules/sqlite3/index.js': 'exports.Database = class {};',
  };
  const mayBeInMemory = await compileTree(t, { ...tree, ...installed });
  t.deepEqual(placed(mayBeInMemory, ['knexes', 'raws', 'users', 'owned']), ['home']);
  const hasServer = await compileTree(t, tree);
  t.deepEqual(placed(hasServer, ['knexes', 'raws', 'users', 'stripes', 'objects']), ['replicated']);
  t.deepEqual(placed(hasServer, ['owned']), ['home']);
});
