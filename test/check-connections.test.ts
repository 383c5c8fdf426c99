/** Handlers that ask databases: which of them may leave home, and what keeps the others. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { compile } from '../compile.js';
import { emitRunFiles } from '../flx/emit/run-files.js';
import type { LinkManifest } from '../flx/run-manifest.js';
import { tempFolder } from './support/temp-folder.js';

const SQL = "const { Pool } = require('pg'); const pool = new Pool();";
const REDIS = "const Redis = require('ioredis'); const redis = new Redis();";
const MAPPER = "const { Sequelize } = require('sequelize'); const User = new Sequelize('x').define('User', {});";
const MONGO = "const mongoose = require('mongoose'); const schema = new mongoose.Schema({ name: String });";

const LATER = "const { MongoClient } = require('mongodb'); let db; const use = (client) => { db = client.db('x'); };";
const CONNECTS = "MongoClient.connect('mongodb://localhost').then(use);";
const NOTES = 'async (req, res) => { res.json(await db.collection("notes").find({}).toArray()); }';

const MODEL = "const M = mongoose.model('M', schema);";
const LABEL = 'async (req, res) => { const found = await M.findOne({}); res.json(found.label()); }';

interface Case {
  readonly before: string;
  readonly handler: string;
}

const each = (before: string, handlers: readonly string[]): readonly Case[] =>
  handlers.map((handler) => ({ before, handler }));

const MOVES: readonly Case[] = [
  ...each(SQL, [
    'async (req, res) => { const { rows } = await pool.query("x"); res.json(rows); }',
    'async (req, res) => { pool.query("x"); res.json(1); }',
    'async (req, res) => { const { rows } = await pool.query("x"); res.locals.rows = rows; res.json(rows); }',
    'async (req, res, next) => { const { rows } = await pool.query("x"); if (rows.length > 0) return next(); res.json(1); }',
  ]),
  ...each(`${SQL} pool.on('error', (error) => console.error(error.message));`, [
    'async (req, res) => { res.json((await pool.query("x")).rows); }',
  ]),
  ...each(REDIS, [
    'async (req, res) => { const hit = await redis.get("k"); if (hit) return res.json(hit); await redis.set("k", 1); res.json(1); }',
    'async (req, res) => { res.json(await Promise.all(["a", "b"].map((key) => redis.get(key)))); }',
    'async (req, res, next) => { try { await redis.del("k"); res.end(); } catch (error) { next(error); } }',
    '(req, res) => redis.get("k").then((value) => { res.json(value); })',
    'async (req, res) => { const put = (key) => redis.set(key, 1); await put("k"); res.end(); }',
    'async (req, res) => { res.json(await redis.multi().set("a", 1).get("a").exec()); }',
  ]),
  ...each(`let lost = 0; ${REDIS} redis.on('error', () => { lost += 1; });`, [
    'async (req, res) => { res.json(await redis.get("k")); }',
  ]),
  ...each(MAPPER, ['async (req, res) => { res.json(await User.findAll()); }']),
  ...each(`${LATER} ${CONNECTS}`, [NOTES]),
  ...each(`${MONGO} schema.methods.label = function () { return this.name + '!'; }; ${MODEL}`, [LABEL]),
  ...each(
    `const tenant = process.env.TENANT; ${MONGO} schema.pre('find', function () { this.where({ tenant }); }); ${MODEL}`,
    ['async (req, res) => { res.json(await M.find({})); }'],
  ),
  // What a query finds are documents, which have what their schema lends them, however the app waits for it.
  ...each(`${MONGO} schema.methods.label = function () { return this.name; }; ${MODEL}`, [
    'async (req, res) => { const list = await M.find().sort({ name: 1 }); list.reverse(); res.json(list.map((one) => one.label())); }',
    '(req, res, next) => { M.find().exec().then((list) => res.json(list.map((one) => one.label()))).catch(next); }',
    '(req, res, next) => { M.findOne().then((one) => res.json(one.label())).catch(next); }',
    '(req, res, next) => { Promise.all([M.find(), M.countDocuments()]).then(([list, all]) => res.json([list.map((one) => one.label()), all])).catch(next); }',
  ]),
];

// What a query is made from is part of neither the database nor what comes of it.
const KEPT = "const { LRUCache } = require('lru-cache'); const cache = new LRUCache({ max: 9 });";
const BUILT = "const db = require('knex')({ client: 'pg' }); const TABLE = 'books';";
const KEEPS =
  'async (req, res) => { const rows = await db(TABLE).where(req.query).select(); cache.set(req.url, rows); res.json(rows); }';
const QUERIES = ['async (req, res) => { res.json(await db(TABLE).where({ id: req.params.id }).first()); }'];
const BUILDERS = each(`${KEPT} ${BUILT} app.get('/kept', ${KEEPS});`, QUERIES);

const STAYS: readonly Case[] = [
  // What would travel with the request, once a database was asked.
  ...each(`${SQL} let hits = 0;`, [
    'async (req, res) => { const result = await pool.query("x"); hits += 1; res.json(hits); }',
    'async (req, res, next) => { req.rows = (await pool.query("x")).rows; next(); }',
    'async (req, res, next) => { const { rows } = await pool.query("x"); res.locals.rows = rows; next(); }',
  ]),
  // What one connection keeps in order.
  ...each(REDIS, [
    'async (req, res) => { redis.del("k"); res.end(); }',
    'async (req, res) => { redis.del("k").catch(() => {}); res.end(); }',
    'async (req, res) => { res.end(); await redis.del("k"); }',
    'async (req, res) => { const put = async (key) => { await redis.set(key, 1); }; put("k"); res.end(); }',
    'async (req, res) => { ["a", "b"].forEach(async (key) => { await redis.del(key); }); res.end(); }',
    '(req, res) => { redis.get("k", (error, value) => { res.json(value); }); }',
    'async (req, res) => { await redis.select(3); res.end(); }',
    'async (req, res, next) => { next(); await redis.incr("k"); }',
  ]),
  // What the package would call where it is used.
  ...each(`let used = 0; ${SQL} pool.on('acquire', () => { used += 1; });`, [
    'async (req, res) => { res.json((await pool.query("x")).rows); }',
  ]),
  ...each(
    `let saved = 0; ${MONGO} schema.post('save', () => { saved += 1; }); const M = mongoose.model('M', schema);`,
    ['async (req, res) => { const made = await M.create({}); res.json(1); }'],
  ),
  // Or would look at there.
  ...each(
    `let tenant = 'a'; ${MONGO} schema.pre('find', function () { this.where({ tenant }); }); ${MODEL} app.put('/tenant', (req, res) => { tenant = req.query.name; res.end(); });`,
    ['async (req, res) => { res.json(await M.find({})); }'],
  ),
  ...each(`let said = 0; ${MONGO} schema.methods.label = function () { said += 1; return said; }; ${MODEL}`, [LABEL]),
  ...each(`${MONGO} ${MODEL}`, [LABEL]),
  // What is set more than once, or later, or was something else before.
  ...each(`${LATER} ${CONNECTS} process.on('SIGHUP', () => { db = null; });`, [NOTES]),
  ...each(`${LATER} setInterval(() => { ${CONNECTS} }, 1000);`, [NOTES]),
  ...each(`${LATER.replace('let db', 'let db = { collection: () => null }')} ${CONNECTS}`, [NOTES]),
  // Errors that hold what was refused.
  ...each(MAPPER, ['async (req, res) => { await User.create({}); res.end(); }']),
  ...each(`let last; const kept = []; ${MONGO} ${MODEL} app.get('/last', (req, res) => res.json([last, kept]));`, [
    '(req, res) => { M.find().then((list) => { last = list; res.end(); }); }',
    '(req, res) => { M.findOne().then((one) => { kept.push(one); res.end(); }); }',
  ]),
];

for (const { before, handler } of [...MOVES, ...BUILDERS])
  test(`moves: ${before.replace(/^.*?;/, '')} ${handler}`, async (t) => {
    const [first] = await linked(tempFolder(t), before, handler);
    t.true(first?.movable, first?.why ?? first?.placement);
    t.true(first?.whole);
  });

for (const { before, handler } of STAYS)
  test(`stays: ${before.replace(/^.*?;/, '')} ${handler}`, async (t) => {
    const [first] = await linked(tempFolder(t), before, handler);
    t.false(first?.movable);
  });

test('what brings something along may serve whole requests; what would overtake may not', async (t) => {
  const bringing = 'async (req, res, next) => { req.rows = (await pool.query("x")).rows; next(); }';
  const [brings] = await linked(tempFolder(t), SQL, bringing);
  t.like(brings, { whole: true, movable: false });
  t.regex(brings?.why ?? '', /puts "req\.rows" on its request/);
  const [overtakes] = await linked(tempFolder(t), REDIS, 'async (req, res) => { redis.del("k"); res.end(); }');
  t.like(overtakes, { whole: false, movable: false });
  t.regex(overtakes?.why ?? '', /redis keeps its order/);
});

async function linked(folder: string, before: string, handler: string): Promise<LinkManifest['fluxions']> {
  const entry = join(folder, 'app.js');
  const lines = ["const app = require('express')();", before, `app.get('/', ${handler});`, 'app.listen(3000);'];
  writeFileSync(entry, lines.join('\n'));
  const { program } = await compile({ entry, cwd: folder, code: false });
  const link: LinkManifest = JSON.parse(emitRunFiles(program, '/nowhere').get('link.json') ?? '');
  return link.fluxions.filter(({ id }) => id === 'get');
}
