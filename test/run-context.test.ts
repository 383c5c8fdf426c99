import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { runsAway, ServedApp, type ServeOptions } from './support/served-app.js';

// What goes on at home, after part of a request has been elsewhere, finds the `AsyncLocalStorage` of that request.

const APP = `const { AsyncLocalStorage } = require('node:async_hooks');
  const { readFile } = require('node:fs');
  const express = require('express');
  const context = new AsyncLocalStorage();
  const app = express();
  app.use((req, res, next) => { context.run({ id: req.query.id, seen: [] }, next); });
  app.use(function measures(req, res, next) { req.length = req.url.length; next(); });
  app.use((req, res, next) => { context.getStore().seen.push(req.length); next(); });
  app.param('item', function item(req, res, next, item) { req.item = item.toUpperCase(); next(); });
  app.get('/steps/:item', (req, res) => { res.json({ item: req.item, ...context.getStore() }); });
  app.get('/file', function reads(req, res) {
    const name = __filename;
    readFile(name, function done(error) { res.json({ error, ...context.getStore() }); });
  });
  app.get('/waits', async function waits(req, res, next) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    next();
  });
  app.get('/waits', (req, res) => { res.json(context.getStore()); });
  app.get('/fails', function fails(req, res, next) { next(new Error('failed')); });
  app.get('/format', (req, res) => { res.format({ json: () => res.json(context.getStore()) }); });
  app.use(function tells(error, req, res, next) { res.json({ message: error.message, ...context.getStore() }); });
  const server = app.listen(0, () => console.log('port ' + server.address().port));`;
const PATHS = '/steps/a /steps/b /file /waits /fails /format'.split(' ');
const REQUESTS = 60;

test('each request has its own context, wherever it has been', async (t) => {
  const answers = async (options: ServeOptions): Promise<ServedApp> => {
    const app = await ServedApp.serve(t, { 'app.js': APP }, options);
    const all = await app.many(REQUESTS, (index) => `${PATHS[index % PATHS.length]}?id=${index}`);
    for (const [index, { text }] of all.entries()) {
      const { id, seen } = JSON.parse(text) as { readonly id: string; readonly seen: readonly number[] };
      t.deepEqual([id, seen], [`${index}`, [`${PATHS[index % PATHS.length]}?id=${index}`.length]], text);
    }
    return app;
  };
  const app = await answers({ flags: ['--placement', 'eager', '--threads', '1'], replicas: 1 });
  const report = await app.report();
  for (const name of ['measures', 'item', 'reads', 'waits', 'fails'])
    t.true(runsAway(report, name) > 0, `${name}: ${JSON.stringify(report.fluxions)}`);
  await answers({ flags: ['--placement', 'loopback'] });
});

const CHANGES = `const { AsyncLocalStorage } = require('node:async_hooks');
  const express = require('express');
  const storage = new AsyncLocalStorage();
  let last = null;
  const app = express();
  app.use('/change', (req, res, next) => {
    const user = { name: 'ada', tags: ['a'] };
    const store = new Map(Object.entries({ user, first: 1, second: 2, gone: 3 }));
    req.user = user;
    res.on('finish', () => { last = JSON.stringify({ entries: [...store].map(([key]) => key), isSame: store.get('user') === user, user, second: store.get('second') }); });
    storage.run(store, next);
  });
  app.get('/change/entries', function entries(req, res) {
    const store = storage.getStore();
    store.get('user').tags.push('b');
    store.set('second', store.get('user') === req.user);
    store.set('new', 4);
    store.delete('gone');
    res.end();
  });
  app.get('/change/order', function order(req, res) {
    const store = storage.getStore();
    store.delete('first');
    store.set('first', 1);
    store.get('user').name = 'eve';
    res.end();
  });
  app.get('/change/keys', function keys(req, res) {
    storage.getStore().set(new Date(0), 5).get('user').tags.length = 0;
    res.end();
  });
  app.get('/last', (req, res) => { res.send(last); });
  const server = app.listen(0, () => console.log('port ' + server.address().port));`;

test('what a handler on another thread changes in a context is changed at home, where it stays the same Map', async (t) => {
  const app = await ServedApp.serve(
    t,
    { 'app.js': CHANGES },
    { flags: ['--placement', 'eager', '--threads', '1'], replicas: 1 },
  );
  const lastOf = async (path: string): Promise<unknown> => {
    await app.request(path, {}, null);
    return JSON.parse((await app.request('/last', {}, null)).text);
  };
  t.deepEqual(await lastOf('/change/entries'), {
    entries: ['user', 'first', 'second', 'new'],
    isSame: true,
    user: { name: 'ada', tags: ['a', 'b'] },
    second: true,
  });
  t.deepEqual(await lastOf('/change/order'), {
    entries: ['user', 'second', 'gone', 'first'],
    isSame: true,
    user: { name: 'eve', tags: ['a'] },
    second: 2,
  });
  t.deepEqual(await lastOf('/change/keys'), {
    entries: ['user', 'first', 'second', 'gone', new Date(0).toISOString()],
    isSame: true,
    user: { name: 'ada', tags: [] },
    second: 2,
  });
  const report = await app.report();
  for (const name of ['entries', 'order', 'keys'])
    t.true(runsAway(report, name) > 0, `${name}: ${JSON.stringify(report.fluxions)}`);
});

const DOMAINS = `const domain = require('node:domain');
  const express = require('express4');
  const app = express();
  app.use((req, res, next) => {
    if (req.query.free !== undefined) return next();
    const own = domain.create();
    own.on('error', (error) => { res.status(500).send('caught: ' + error.message); });
    own.run(next);
  });
  app.get('/later', function later(req, res) { setTimeout(() => { throw new Error('thrown later'); }, 1); });
  app.get('/fine', function fine(req, res) { res.send('fine'); });
  const server = app.listen(0, () => console.log('port ' + server.address().port));`;

test('what runs in a domain stays where its domain is, which catches what it throws later', async (t) => {
  const flags = ['--placement', 'eager', '--threads', '1'];
  const app = await ServedApp.serve(t, { 'app.js': DOMAINS }, { flags, replicas: 1 });
  t.is((await app.get('/later')).text, 'caught: thrown later');
  for (const path of ['/fine', '/fine?free']) t.is((await app.get(path)).text, 'fine');
  t.deepEqual((await app.report()).fluxions.find(({ id }) => id === 'fine')?.runs, { home: 1, 'replica-1': 1 });
});

const UPGRADES = `const http = require('node:http');
  const express = require('express');
  const app = express();
  app.use(function marks(req, res, next) { req.mark = req.url.length; next(); });
  app.get('/talk', (req, res) => {
    if (!req.upgraded) return res.send('mark ' + req.mark);
    req.upgraded.on('data', (data) => req.upgraded.write(req.mark + ' ' + data));
  });
  const server = http.createServer(app);
  server.on('upgrade', (req, socket) => {
    req.upgraded = socket;
    app(req, new http.ServerResponse(req));
    socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: talk\\r\\n\\r\\n');
    socket.write(socket.listenerCount('data') + ' listens. ');
    socket.on('end', () => socket.end());
  });
  server.listen(0, () => console.log('port ' + server.address().port));`;

test('requests whose connection was upgraded go through the app in one turn, so that nothing said is missed', async (t) => {
  const flags = ['--placement', 'eager', '--threads', '1'];
  const app = await ServedApp.serve(t, { 'app.js': UPGRADES }, { flags, replicas: 1 });
  t.is((await app.get('/talk')).text, 'mark 5');
  const socket = connect(app.port, '127.0.0.1');
  socket.end('GET /talk HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: talk\r\n\r\nhello');
  const said = await text(socket);
  t.true(said.endsWith('\r\n\r\n1 listens. '), said);
  t.true(runsAway(await app.report(), 'marks') > 0);
});

const LOOKS_BEHIND = `const { EventEmitter } = require('node:events');
  const { PassThrough } = require('node:stream');
  const express = require('express');
  const app = express();
  const sub = express().use((req, res) => res.send('answered'));
  let count = 0;
  app.use('/next', (req, res, next) => { next(); if (!res.headersSent) res.send('not answered'); });
  app.use('/counted', (req, res, next) => { count += 1; next(); if (!res.headersSent) res.send('not answered'); });
  app.use('/sub', (req, res) => { sub(req, res); if (!res.headersSent) res.send('not answered'); });
  app.use('/listener', (req, res, next) => {
    const work = new EventEmitter();
    work.on('error', next);
    work.on('close', () => { if (!res.headersSent) res.send('not answered'); });
    setImmediate(() => { work.emit('error', new Error('failed')); work.emit('close'); });
  });
  app.use('/ticks', (req, res, next) => {
    process.nextTick(() => next());
    process.nextTick(() => { if (!res.headersSent) res.send('not answered'); });
  });
  app.use('/destroyed', (req, res, next) => {
    const stream = new PassThrough();
    stream.on('error', (error) => next(error));
    stream.on('close', () => { if (!res.headersSent) res.send('not answered'); });
    stream.destroy(new Error('failed'));
  });
  app.use('/throws', (req, res, next) => { next(); throw new Error('thrown'); });
  app.get('/free', (req, res) => res.send('answered'));
  app.use(function answers(req, res) { res.send('answered'); });
  app.use(function tells(error, req, res, next) { if (!res.headersSent) res.send('told: ' + error.message); });
  const server = app.listen(0, () => console.log('port ' + server.address().port));`;
const FOUND_BEHIND = {
  '/next': 'answered',
  '/counted': 'answered',
  '/sub': 'answered',
  '/listener': 'told: failed',
  '/ticks': 'answered',
  '/destroyed': 'told: failed',
  '/throws': 'answered',
  '/free': 'answered',
};

test('what goes on behind next() finds that all that follows has run', async (t) => {
  const flags = ['--placement', 'eager', '--threads', '1'];
  const app = await ServedApp.serve(t, { 'app.js': LOOKS_BEHIND }, { flags, replicas: 1 });
  for (const [path, expected] of Object.entries(FOUND_BEHIND)) t.is((await app.get(path)).text, expected, path);
  const report = await app.report();
  t.true(runsAway(report, 'get_free') > 0);
  t.is(runsAway(report, 'answers'), 0);
});
