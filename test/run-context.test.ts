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
