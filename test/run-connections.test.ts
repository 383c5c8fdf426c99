/** Apps that connect while they start: replicas have connections of their own, and nothing of start-up is asked twice. */
import test from 'ava';
import { FakeRedis, IOREDIS, OTHER_IOREDIS } from './support/fake-redis.js';
import { type ReportJson, runsAway, ServedApp } from './support/served-app.js';

const APP = `
const express = require('express');
const { Redis } = require('./vendor');
const redis = new Redis(Number(process.env.REDIS));
redis.on('ready', () => console.log('connected'));
redis.on('close', () => console.log('lost'));
redis.incr('starts');
const app = express();
const burn = (n) => { let sum = 0; for (let at = 0; at < 2e5; at++) sum += at % n; return sum; };
app.get('/get/:key', async (req, res) => { res.json(await redis.get(req.params.key)); });
app.get('/add/:key', async (req, res) => { res.json(await redis.incr(req.params.key)); });
let hits = 0;
app.get('/hits', async (req, res) => { const value = await redis.get('starts'); hits += 1; res.json([hits, value]); });
app.get('/burn/:n', (req, res) => { res.json(burn(Number(req.params.n))); });
const server = app.listen(0, () => { console.log('port ' + server.address().port); });
`;

const EAGER = ['--placement', 'eager', '--threads', '2'];

function reasonsOf(report: ReportJson, id: string): string {
  return report.link?.fluxions.find((each) => each.id === id)?.reasons.join() ?? '';
}

test('a client that start-up connects is connected in each replica; start-up asks once', async (t) => {
  const redis = await FakeRedis.start(t);
  const env = { REDIS: String(redis.port) };
  const app = await ServedApp.serve(t, { ...IOREDIS, 'app.js': APP }, { flags: EAGER, env, replicas: 2 });
  t.is(redis.accepted, 3);
  const added = await app.many(40, () => '/add/n');
  const numbers = added.map(({ text }) => Number(text)).sort((a, b) => a - b);
  t.deepEqual(
    numbers,
    Array.from({ length: 40 }, (_, index) => index + 1),
  );
  t.is((await app.get('/get/n')).text, '40');
  t.is((await app.get('/get/starts')).text, '1');
  const hits = (await app.many(10, () => '/hits')).map(({ text }) => JSON.parse(text)[0]);
  t.deepEqual(
    hits.sort((a, b) => a - b),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  );

  redis.drop();
  await redis.hasAccepted(6);
  const again = await app.many(20, () => '/get/n');
  t.true(again.every(({ text }) => text === '40'));

  const report = await app.report();
  t.is(app.stdout.match(/^lost$/gm)?.length, 1, 'replicas say nothing of their own connections');
  t.is(app.stdout.match(/^connected$/gm)?.length, 2);
  t.is(redis.asked.filter((name) => name === 'info').length, 6);
  t.true(runsAway(report, 'get_add_key') > 0);
  t.true(runsAway(report, 'get_get_key') > 0);
  t.is(runsAway(report, 'get_hits'), 0);
});

const MAIN = `
const express = require('express');
const { Redis } = require('./vendor');
async function main() {
  const redis = new Redis(Number(process.env.REDIS), { lazyConnect: true });
  await redis.connect();
  const app = express();
  app.get('/add', async (req, res) => { res.json(await redis.incr('n')); });
  const server = app.listen(0, () => { console.log('port ' + server.address().port); });
}
main();
`;

test('routes that start-up makes when it is connected are there in replicas too', async (t) => {
  const redis = await FakeRedis.start(t);
  const env = { REDIS: String(redis.port) };
  const app = await ServedApp.serve(t, { ...IOREDIS, 'app.js': MAIN }, { flags: EAGER, env, replicas: 2 });
  await app.many(20, () => '/add');
  t.is((await app.get('/add')).text, '21');
  const report = await app.report();
  t.deepEqual(
    report.link?.fluxions.map(({ moves }) => moves),
    [true],
  );
});

test('where a replica is refused, what needs no connection moves all the same', async (t) => {
  const redis = await FakeRedis.start(t);
  redis.mostConnections = 1;
  const env = { REDIS: String(redis.port) };
  const app = await ServedApp.serve(t, { ...IOREDIS, 'app.js': APP }, { flags: EAGER, env, replicas: 2 });
  await app.many(20, (n) => `/burn/${n + 2}`);
  t.is((await app.get('/add/n')).text, '1');
  const report = await app.report();
  t.true(runsAway(report, 'get_burn_n') > 0);
  t.is(runsAway(report, 'get_add_key'), 0);
  t.regex(reasonsOf(report, 'get_add_key'), /start-up connects/);
});

test('a version that is not known does not connect', async (t) => {
  const redis = await FakeRedis.start(t);
  const env = { REDIS: String(redis.port) };
  const app = await ServedApp.serve(t, { ...OTHER_IOREDIS, 'app.js': APP }, { flags: EAGER, env, replicas: 2 });
  t.is((await app.get('/add/n')).text, '1');
  t.is(redis.accepted, 1);
  t.regex(reasonsOf(await app.report(), 'get_add_key'), /ioredis: start-up connects/);
});

const IDS = `
const express = require('express');
const { nanoid } = require('./vendor');
const first = nanoid();
const app = express();
app.get('/id', (req, res) => { res.json([first, nanoid()]); });
const server = app.listen(0, () => { console.log('port ' + server.address().port); });
`;

/** It asks for more random bytes than an id takes, as the real one does. */
const NANOID = {
  'vendor/index.js': "module.exports = require('nanoid');",
  'vendor/node_modules/nanoid/package.json': '{"name":"nanoid"}',
  'vendor/node_modules/nanoid/index.js': `const pool = Buffer.alloc(2048);
let at = pool.length;
exports.nanoid = () => {
  if (at === pool.length) { require('crypto').randomFillSync(pool); at = 0; }
  return pool.toString('hex', at, (at += 16));
};`,
};

test('ids are made once, whatever start-up has made; what it has made is the same everywhere', async (t) => {
  const app = await ServedApp.serve(t, { ...NANOID, 'app.js': IDS }, { flags: EAGER, replicas: 2 });
  const pairs = (await app.many(60, () => '/id')).map(({ text }) => JSON.parse(text));
  t.is(new Set(pairs.map(([first]) => first)).size, 1);
  t.is(new Set(pairs.map(([, id]) => id)).size, 60);
  t.is(runsAway(await app.report(), 'get_id'), 60);
});
