import test, { type ExecutionContext } from 'ava';
import { fluxionOf, runsAway, ServedApp, type ServeOptions } from './support/served-app.js';

// Handlers of errors and of parameters leave home as others do: the same errors go the same way, whoever handles them where.

const EAGER: ServeOptions = { flags: ['--placement', 'eager', '--threads', '1'], replicas: 1 };
const PATHS = '/item/9 /item/13 /item/14 /new /plain /text /throw /rejects /same /home /none'.split(' ');

const APP = (express: string) => `const express = require('${express}');
  const app = express();
  class HttpError extends Error { constructor(status, message) { super(message); this.status = status; } }
  app.param('id', (req, res, next, value, name) => {
    req.item = { value, name, root: Math.sqrt(Number(value)) };
    if (value === '13') return next(new HttpError(400, 'unlucky'));
    if (value === '14') throw new TypeError('thrown for a parameter');
    next();
  });
  app.param('id', (req, res, next) => { req.params.id = Number(req.params.id) + 1; next(); });
  app.get('/item/:id', (req, res) => { res.json([req.item, req.params.id]); });
  app.get('/new', (req, res, next) => { next(new HttpError(418, 'new')); });
  app.get('/plain', (req, res, next) => { next({ status: 499, message: 'plain', deep: { list: [1] } }); });
  app.get('/text', (req, res, next) => { next('a text'); });
  app.get('/throw', (req, res) => { throw new HttpError(419, 'thrown'); });
  app.get('/rejects', (req, res, next) => { Promise.reject(new RangeError('rejected')).catch(next); });
  app.get('/same', (req, res, next) => { req.mine = new HttpError(410, 'same'); next(req.mine); });
  app.get('/home', (req, res, next) => {
    req.socket.hits = 1;
    req.mine = Object.assign(new TypeError('home'), { code: 'E_HOME', details: { list: [1, 2] } });
    next(req.mine);
  });
  app.use(function marks(err, req, res, next) {
    if (typeof err === 'object') err.seen = 1;
    next(err);
  });
  app.use(function compares(err, req, res, next) { res.set('x-same', String(req.mine === err)); next(err); });
  app.use(function replaces(err, req, res, next) {
    if (err.status === 419) return next(new Error('another', { cause: err }));
    if (typeof err === 'string') throw new Error('from ' + err);
    next(err);
  });
  app.use(function answers(err, req, res, next) {
    if (err.status === 418) return next(err);
    res.status(err.status || 500);
    const { message, name, constructor, cause, stack = '' } = err;
    res.json({ err, message, name, constructor: constructor.name, isHttp: err instanceof HttpError, cause: String(cause), stack });
  });
  const server = app.listen(0, () => console.log('port ' + server.address().port));
`;

for (const express of ['express', 'express4']) {
  test(`errors take the same way through their handlers, wherever these run: ${express}`, async (t) => {
    const answers = async (options: ServeOptions): Promise<readonly [ServedApp, readonly string[]]> => {
      const app = await ServedApp.serve(t, { 'app.js': APP(express) }, options);
      const all: string[] = [];
      for (const path of PATHS) {
        const { status, headers, text } = await app.get(path);
        const told = text.replaceAll(app.folder, '…').replace(/node:events:[\d:]+/g, 'node:events');
        all.push(`${path} ${status} ${headers['content-type']} ${headers['x-same']} ${told}`);
      }
      return [app, all];
    };
    const [, plain] = await answers({ flags: null, env: { NODE_ENV: undefined } });
    const [app, spread] = await answers({ ...EAGER, env: { NODE_ENV: undefined } });
    t.deepEqual(spread, plain);
    const report = await app.report();
    for (const name of ['marks', 'compares', 'replaces', 'answers', 'param_id', 'param_id_2'])
      t.true(runsAway(report, name) > 0, `${name}: ${JSON.stringify(report.fluxions)}`);
  });
}

const BEHIND = (express: string) => `const express = require('${express}');
  const app = express();
  let count = 0;
  const root = (n) => { let sum = 0; for (let at = 0; at < n; at++) sum += Math.sqrt(at); return sum; };
  app.use(function first(req, res, next) { req.sum = root(100); next(); });
  app.use('/second', function second(req, res, next) { req.more = root(50); setImmediate(function later() { next(); }); });
  app.use('/calls', function calls(req, res, next) { [1].forEach(() => { next(); }); });
  app.use(function fails(req, res, next) { if (req.query.fails) next(new Error('passed on')); else next(); });
  app.get(['/throws', '/second/throws', '/calls/throws'], function throws(req, res) { count += 1; throw new Error('thrown'); });
  app.get('/later', async function later(req, res, next) { count += 1; try { null.x; } catch (error) { await null; next(error); } });
  app.get('/trace', (req, res) => { count += 1; res.send(new Error('trace').stack); });
  app.get('/item/:id', (req, res) => { count += 1; res.json(count); });
  app.get('/caught', function catches(req, res) { try { root(10); null.x; } catch (error) { console.error(error.stack); res.send(error.stack); } });
  app.get('/caught-later', async function catches(req, res) { try { await null; null.x; } catch (error) { res.send(error.stack); } });
  app.use(function shows(error, req, res, next) { count += 1; res.status(500).send(error.stack + new Error('shown').stack); });
  const server = app.listen(0, () => console.log('port ' + server.address().port));
`;

for (const express of ['express', 'express4']) {
  for (const placement of ['eager', 'loopback']) {
    test(`errors of handlers at home, and of the router, behind one that has been elsewhere: ${express}, ${placement}`, async (t) => {
      const paths = '/throws /later /trace /item/% /calls/throws /trace?fails=1 /caught /caught-later /caught'.split(
        ' ',
      );
      const answers = async (options: ServeOptions): Promise<readonly [ServedApp, readonly string[]]> => {
        const app = await ServedApp.serve(t, { 'app.js': BEHIND(express) }, options);
        const all: string[] = [];
        for (const path of [...paths, '/second/throws']) {
          const { status, text } = await app.get(path);
          // Where a stack ends before V8 ends the trace, what is below it is seen.
          const [told] = text
            .replaceAll(app.folder, '…')
            .replace(/node:events:[\d:]+/g, 'node:events')
            .split('task_queues');
          all.push(`${path} ${status} ${told}`);
        }
        return [app, all];
      };
      const flags = ['--placement', placement, '--threads', '1'];
      const replicas = placement === 'eager' ? { replicas: 1 } : {};
      const [, plain] = await answers({ flags: null, env: { NODE_ENV: undefined } });
      const [app, spread] = await answers({ flags, ...replicas, env: { NODE_ENV: undefined } });
      t.deepEqual(spread.slice(0, paths.length), plain.slice(0, paths.length));
      const top = (text = '') => text.split('Error: shown')[0]?.split('later')[0];
      t.is(top(spread.at(-1)), top(plain.at(-1)));
      if (placement !== 'eager') return;
      const report = await app.report();
      for (const name of ['first', 'catches']) t.true(runsAway(report, name) > 0, name);
    });
  }
}

test('an error that start-up made is one for all requests: whoever changes it stays home', async (t) => {
  const app = await served(
    t,
    `const busy = new Error('busy');
    busy.count = 0;
    app.get('/busy', (req, res, next) => { next(busy); });
    app.get('/other', (req, res, next) => { next(new Error('other')); });
    app.use(function counts(err, req, res, next) { err.count = (err.count ?? 100) + 1; res.json(err.count); });`,
  );
  const counted = await app.many(30, () => '/busy');
  t.deepEqual(sorted(counted.map(({ text }) => Number(text))), range(1, 30));
  t.is((await app.get('/other')).text, '101');
  const report = await app.report();
  t.deepEqual(fluxionOf(report, 'counts').runs, { home: 31 });
});

test('so is an error that start-up made in a function', async (t) => {
  const app = await served(
    t,
    `const limiter = () => {
      const busy = Object.assign(new Error('busy'), { count: 0 });
      return (req, res, next) => next(busy);
    };
    const gate = { closed: new Error('closed'), pass(req, res, next) { next(gate.closed); } };
    app.get('/busy', limiter());
    app.get('/gate', gate.pass);
    app.get('/free', (req, res) => { res.json(1); });
    app.use(function counts(err, req, res, next) { err.count = (err.count ?? 100) + 1; res.json(err.count); });`,
  );
  const busy = await app.many(20, () => '/busy');
  t.deepEqual(sorted(busy.map(({ text }) => Number(text))), range(1, 20));
  const gate = await app.many(20, () => '/gate');
  t.deepEqual(sorted(gate.map(({ text }) => Number(text))), range(101, 120));
  t.deepEqual(fluxionOf(await app.report(), 'counts').runs, { home: 40 });
});

test('what handlers of errors and parameters count is counted at home', async (t) => {
  const app = await served(
    t,
    `let errors = 0;
    const seen = new Map();
    app.param('id', function visits(req, res, next, id) {
      seen.set(id, (seen.get(id) ?? 0) + 1);
      req.visits = seen.get(id);
      next();
    });
    app.get('/visit/:id', (req, res) => { res.json(req.visits); });
    app.get('/fail', (req, res) => { throw new Error('fail'); });
    app.use(function counts(err, req, res, next) { errors += 1; res.json(errors); });`,
  );
  const [visits, errors] = await Promise.all([app.many(20, () => '/visit/a'), app.many(20, () => '/fail')]);
  t.deepEqual(sorted(visits.map(({ text }) => Number(text))), range(1, 20));
  t.deepEqual(sorted(errors.map(({ text }) => Number(text))), range(1, 20));
});

function served(t: ExecutionContext, routes: string): Promise<ServedApp> {
  const text = `const app = require('express')();
    ${routes}
    const server = app.listen(0, () => console.log('port ' + server.address().port));`;
  return ServedApp.serve(t, { 'app.js': text }, EAGER);
}

function sorted(numbers: readonly number[]): readonly number[] {
  return [...numbers].sort((a, b) => a - b);
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

const PROMISES = `
  const express = require('express4');
  const app = express();
  const wrap = (fn) => (req, res, next) => { const made = fn(req, res, next); made.catch((error) => next(error)); return made; };
  app.get('/taken', wrap(async (req) => { await null; throw new Error('taken ' + req.query.n); }));
  app.get('/at-once', (req, res, next) => { const made = Promise.reject(new Error('at once')); made.catch(next); return made; });
  app.get('/heavy', (req, res) => { let sum = 0; for (let at = 0; at < 2e7; at++) sum += at % 7; res.json(sum); });
  app.get('/left', (req) => Promise.reject(new Error('left ' + req.query.n)));
  app.get('/left-async', async (req) => { throw new Error('left ' + req.query.n); });
  app.use((error, req, res, next) => { res.status(500).send(error.message); });
  const server = app.listen(0, () => console.log('port ' + server.address().port));
`;

for (const placement of ['eager', 'auto', 'loopback']) {
  const options: ServeOptions = { flags: ['--placement', placement, '--threads', '1', '--accept', 'home'] };
  test(`Express 4: a rejection that the handler has taken itself is nobody else's, and one that nobody takes ends the program: ${placement}`, async (t) => {
    const app = await ServedApp.serve(
      t,
      { 'app.js': PROMISES },
      placement === 'eager' ? { ...options, replicas: 1 } : options,
    );
    await app.many(8, () => '/heavy');
    for (const path of ['/taken?n=1', '/at-once', '/taken?n=2']) {
      const { status, text } = await app.get(path);
      t.is(`${status} ${text}`, `500 ${path === '/at-once' ? 'at once' : `taken ${path.at(-1)}`}`);
    }
    if (placement === 'eager') t.is(runsAway(await app.report(), 'get_taken'), 2);
    for (const path of ['/left', '/left-async']) {
      const other = await ServedApp.serveAgain(
        t,
        app.folder,
        placement === 'eager' ? { ...options, replicas: 1 } : options,
      );
      await t.throwsAsync(other.get(`${path}?n=7`));
      t.deepEqual(await other.ended, { code: 1, signal: null });
      t.regex(other.stderr, /Error: left 7/);
    }
  });
}
