import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { programFolder } from './support/drop-in.js';
import { cliPath } from './support/run-cli.js';
import { fluxionOf, runsAway, ServedApp, type ServeOptions } from './support/served-app.js';

// Which functions of the live routers are which fluxions, and which of them may leave.

const EAGER: ServeOptions = { flags: ['--placement', 'eager', '--threads', '2'], replicas: 2 };
const BEGIN = "const express = require('express');\nconst app = express();\n";
const END = "const server = app.listen(0, () => console.log('port ' + server.address().port));\n";

test('functions that one wrapper made are told apart', async (t) => {
  const app = await ServedApp.serve(
    t,
    {
      'app.js': `${BEGIN}
        const wrap = (fn) => (req, res, next) => Promise.resolve(fn(req, res, next)).catch(next);
        let count = 0;
        app.get('/free', wrap(async (req, res) => { res.json(Math.sqrt(Number(req.query.n))); }));
        app.get('/count', wrap(async (req, res) => { count += 1; res.json(count); }));
        app.get('/other', wrap(async (req, res) => { res.json('other'); }));
        ${END}`,
    },
    EAGER,
  );
  const [counted, free] = await Promise.all([app.many(200, () => '/count'), app.many(50, (n) => `/free?n=${n * n}`)]);
  t.deepEqual(sorted(counted.map(({ text }) => Number(text))), range(1, 200));
  t.deepEqual(
    free.map(({ text }) => Number(text)),
    range(0, 49),
  );
  const report = await app.report();
  t.deepEqual(fluxionOf(report, 'get_count').runs, { home: 200 });
  t.is(runsAway(report, 'get_free'), 50);
});

test('what a package made of a handler is the handler', async (t) => {
  const app = await ServedApp.serve(
    t,
    {
      'lib/node_modules/express-async-handler/index.js': `module.exports = (fn) => function wrapped(...args) {
        return Promise.resolve(fn(...args)).catch(args[args.length - 1]);
      };`,
      'lib/wrap.js': "module.exports = require('express-async-handler');",
      'app.js': `${BEGIN}
        const wrap = require('./lib/wrap');
        let count = 0;
        app.get('/free', wrap(async (req, res) => { res.json('free'); }));
        app.get('/count', wrap(async (req, res) => { count += 1; res.json(count); }));
        ${END}`,
    },
    EAGER,
  );
  await app.many(20, (n) => (n % 2 === 0 ? '/free' : '/count'));
  const report = await app.report();
  t.deepEqual(fluxionOf(report, 'get_count').runs, { home: 10 });
  t.is(runsAway(report, 'get_free'), 10);
});

test('so is what a package makes of all handlers that a router is given, in their layers', async (t) => {
  const app = await ServedApp.serve(
    t,
    {
      // As the real one does it: its helpers stand around each wrapper, too.
      'lib/node_modules/express-async-errors/index.js': `const Layer = require('express4/lib/router/layer');
        const last = (list = []) => list[list.length - 1];
        function keep(from, to) { for (const key of Object.keys(from)) to[key] = from[key]; return to; }
        function wrap(fn) {
          const newFn = function newFn(...args) {
            const made = fn.apply(this, args);
            const next = args.length === 5 ? args[2] : last(args);
            if (made && made.catch) made.catch((error) => next(error));
            return made;
          };
          Object.defineProperty(newFn, 'length', { value: fn.length, writable: false });
          return keep(fn, newFn);
        }
        Object.defineProperty(Layer.prototype, 'handle', {
          enumerable: true,
          get() { return this.made; },
          set(fn) { this.made = wrap(fn); },
        });`,
      'lib/errors.js': "require('express-async-errors');",
      'app.js': `require('./lib/errors');
        const express = require('express4');
        const app = express();
        let count = 0;
        app.get('/free', async (req, res) => { await null; res.json('free'); });
        app.get('/fails', async (req, res) => { await null; throw new Error('failed'); });
        app.get('/count', async (req, res) => { count += 1; res.json(count); });
        app.use('/below', express.Router().get('/free', (req, res) => { res.json('below'); }));
        app.use(function tells(error, req, res, next) { res.status(500).send(error.message); });
        ${END}`,
    },
    EAGER,
  );
  const paths = ['/free', '/fails', '/count', '/below/free'];
  const replies = await app.many(20, (n) => paths[n % 4] ?? '');
  t.deepEqual(
    replies.map(({ status, text }, n) => (n % 4 === 2 ? status : `${status} ${text}`)),
    Array.from({ length: 20 }, (_, n) => ['200 "free"', '500 failed', 200, '200 "below"'][n % 4] ?? ''),
  );
  const report = await app.report();
  t.deepEqual(fluxionOf(report, 'get_count').runs, { home: 5 });
  t.is(runsAway(report, 'get_free') + runsAway(report, 'get_fails'), 10);
  t.true(runsAway(report, 'tells') > 0);
});

test('bound methods: an instance that is not the same there keeps its methods home', async (t) => {
  const app = await ServedApp.serve(
    t,
    {
      'app.js': `${BEGIN}
        class Page {
          constructor(title) { this.title = title; }
          show(req, res) { res.send(this.title); }
          tell(req, res) { res.send(typeof this.title); }
        }
        const same = new Page('same');
        const other = new Page(new Promise(() => {}));
        app.get('/same', same.show.bind(same));
        app.get('/other', other.tell.bind(other));
        ${END}`,
    },
    EAGER,
  );
  t.true((await app.many(10, () => '/other')).every(({ text }) => text === 'object'));
  t.true((await app.many(10, () => '/same')).every(({ text }) => text === 'same'));
  const report = await app.report();
  t.is(runsAway(report, 'show'), 10);
  t.is(runsAway(report, 'tell'), 0);
});

test('a module that the compiler has not read takes all home, from when it is loaded', async (t) => {
  const app = await ServedApp.serve(
    t,
    {
      'state.js': 'exports.most = 1;',
      'plugins/late.js': "require('../state').most = 2;",
      'app.js': `${BEGIN}
        const state = require('./state');
        app.get('/most', (req, res) => { res.json(state.most); });
        process.on('SIGUSR2', () => {
          module.constructor._load('./plugins/late', module);
          console.log('loaded');
        });
        ${END}`,
    },
    EAGER,
  );
  t.true((await app.many(20, () => '/most')).every(({ text }) => text === '1'));
  app.child.kill('SIGUSR2');
  await app.says(/^loaded$/m);
  t.true((await app.many(20, () => '/most')).every(({ text }) => text === '2'));
});

test('code that nobody can read changes what handlers depend on: these stay on the main thread from then on', async (t) => {
  const app = await ServedApp.serve(
    t,
    {
      'settings.js': 'exports.limits = { most: 1 };',
      'app.js': `${BEGIN}
        const { limits } = require('./settings');
        process.env.PLACE = 'here';
        app.locals.title = 'old';
        app.engine('text', (file, options, done) => done(null, options.title));
        app.set('views', __dirname).set('view engine', 'text');
        require('fs').writeFileSync(__dirname + '/page.text', '');
        app.get('/most', (req, res) => { res.json(limits.most); });
        app.get('/place', (req, res) => { res.json(process.env.PLACE); });
        app.get('/page', (req, res) => { res.render('page'); });
        app.get('/other', (req, res) => { res.json(req.query); });
        process.app = app;
        process.on('SIGUSR2', () => {
          Function(\`
            process.mainModule.children.find(({ id }) => id.endsWith('settings.js')).exports.limits.most = 2;
            process.env.PLACE = 'there';
            process.app.locals.title = 'new';
          \`)();
          console.log('changed');
        });
        ${END}`,
    },
    EAGER,
  );
  const answers = async (): Promise<readonly string[]> => {
    const all = await app.many(40, (n) => ['/most', '/place', '/page', '/other'][n % 4] ?? '');
    return [...new Set(all.map(({ text }) => text))].sort();
  };
  t.deepEqual(await answers(), ['"here"', '1', 'old', '{}']);
  app.child.kill('SIGUSR2');
  await app.says(/^changed$/m);
  t.deepEqual(await answers(), ['"there"', '2', 'new', '{}']);
  const report = await app.report();
  for (const id of ['get_most', 'get_place', 'get_page']) t.is(runsAway(report, id), 10, id);
  t.is(runsAway(report, 'get_other'), 20);
});

test('a function that keeps something, that a method took whose name is put together, and that no router has: all stays', (t) => {
  const folder = programFolder(t, {
    'app.js': `${BEGIN}
      let hits = 0;
      app[['eng', 'ine'].join('')]('text', (file, options, done) => done(null, String((hits += 1))));
      app.get('/free', (req, res) => { res.json(1); });
      for (const method of ['put', 'post']) app[method]('/count', (req, res) => { res.json((hits += 1)); });
      ${END}`,
  });
  const { stdout } = spawnSync(process.execPath, [cliPath, 'explain', '--live', 'app.js'], {
    cwd: folder,
    encoding: 'utf8',
  });
  t.regex(stdout, /GET \/free +home/);
  t.regex(stdout, /was given to a method whose\s+name is put\s+together, and no router has it/);
});

test('what a model says wrongly is noticed where it changes what threads depend on', async (t) => {
  const app = await ServedApp.serve(
    t,
    {
      'fluxion.config.js': `module.exports = { models: [
        { name: 'sneaky', module: { members: { look: { call: { returns: 'fresh' } } } } },
      ] };`,
      'lib/node_modules/sneaky/index.js': "exports.look = () => { process.env.PLACE = 'there'; return 1; };",
      'lib/sneaky.js': "module.exports = require('sneaky');",
      'app.js': `${BEGIN}
        const sneaky = require('./lib/sneaky');
        process.env.PLACE = 'here';
        app.get('/place', (req, res) => { res.json(process.env.PLACE); });
        app.get('/look', (req, res) => { res.json(sneaky.look()); });
        ${END}`,
    },
    { flags: ['--accept', 'every', '--threads', '1'], replicas: 1 },
  );
  await app.says(/replica-1 accepts/);
  const stays = /everything stays on the main thread: "process\.env" has changed .* \(on replica-1\)/;
  while (!stays.test(app.stderr)) await app.get('/look');
  t.is((await app.get('/look')).text, '1');
});

test('sanitize: what was proven is looked at again, and said to be wrong where it is', async (t) => {
  const flags = [...(EAGER.flags ?? []), '--sanitize'];
  const files = {
    'state.js': 'exports.most = 1;',
    'plugins/late.js': "require('../state').most = 2;",
    'app.js': `${BEGIN}
      const state = require('./state');
      let count = 0;
      app.get('/most', (req, res) => { res.json(state.most); });
      app.get('/count', (req, res) => { count += 1; res.json(count); });
      process.on('SIGUSR2', () => {
        module.constructor._load('./plugins/late', module);
        console.log('loaded');
      });
      ${END}`,
  };
  const right = await ServedApp.serve(t, files, { ...EAGER, flags });
  await right.many(10, (n) => (n % 2 === 0 ? '/most' : '/count'));
  await right.report();
  t.deepEqual([right.logged('error'), (await right.ended).code], [[], null]);

  const wrong = await ServedApp.serve(t, files, { ...EAGER, flags });
  wrong.child.kill('SIGUSR2');
  await wrong.says(/^loaded$/m);
  await wrong.get('/count');
  await wrong.says(
    /sanitize: "state", which "get_most" \(app\.js:\d+\) reads on every loop, has changed on home; .*GET \/count/,
  );
});

test('explain --live: what the routers of the running app hold', (t) => {
  const folder = programFolder(t, {
    'app.js': `${BEGIN}
      const waiting = new Promise(() => {});
      app.use(express.json());
      app.get('/free', (req, res) => { res.json(1); });
      app.get('/waits', (req, res) => { res.json(typeof waiting); });
      if (process.argv[2] === 'more') app.get('/more', (req, res) => { res.json(2); });
      ${END}`,
  });
  const live = (...words: readonly string[]) =>
    spawnSync(process.execPath, [cliPath, 'explain', '--live', '--json', ...words], { cwd: folder, encoding: 'utf8' });
  const { stdout, status } = live('app.js');
  t.is(status, 0);
  const { routes, live: found } = JSON.parse(stdout);
  const placements = Object.fromEntries(
    routes.map(({ label, placements }: { label: string; placements: string[] }) => [label, placements.join()]),
  );
  t.deepEqual(placements, { 'GET /free': 'replicated', 'GET /waits': 'home', 'GET /more': 'home' });
  const free = { byRoutes: 0.5, byTime: null };
  const expected = { handlers: 3, own: 2, moving: 1, others: 1, aside: null, alone: [null], free };
  t.deepEqual({ ...found, others: found.others.length }, expected);
  const measured = [
    { id: 'get_free', cpuMs: 30 },
    { id: 'get_waits', cpuMs: 10 },
  ];
  writeFileSync(join(folder, 'report.json'), JSON.stringify({ fluxions: measured }));
  t.is(JSON.parse(live('--costs', 'report.json', 'app.js').stdout).live.free.byTime, 0.75);
  t.true(stdout.includes('in a replica \\"waiting\\" is not what it is here'));
  t.true(stdout.includes('no router of the running app calls it'));
  t.is(JSON.parse(live('app.js', '--', 'more').stdout).live.moving, 2);
});

test('explain --live of an app in which nothing may move says why', (t) => {
  const folder = programFolder(t, {
    'app.js': `${BEGIN}
      let hits = 0;
      app.get('/hits', (req, res) => { res.json((hits += 1)); });
      ${END}`,
  });
  const { stdout } = spawnSync(process.execPath, [cliPath, 'explain', '--live', 'app.js'], {
    cwd: folder,
    encoding: 'utf8',
  });
  t.regex(stdout, /1 function in its routers, 1 of them the app’s own; 0 can run on every loop/);
  t.regex(stdout, /GET \/hits +group[\s\S]*"hits" is written/);
});

test('explain --live of an app that does not listen', (t) => {
  const folder = programFolder(t, { 'app.js': "console.error('no database'); process.exit(3);" });
  const { stderr, stdout, status } = spawnSync(
    process.execPath,
    [cliPath, 'explain', '--live', join(folder, 'app.js')],
    {
      encoding: 'utf8',
    },
  );
  t.is(status, 2);
  t.is(stdout, '');
  t.regex(stderr, /it ended before it listened; it said:\n\s*no database/);
});

function sorted(numbers: readonly number[]): readonly number[] {
  return [...numbers].sort((a, b) => a - b);
}

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

test('routes that are added while the app serves are linked: what a replica has as well moves', async (t) => {
  const app = await ServedApp.serve(
    t,
    {
      'late.js': `const late = require('express').Router();
        let count = 0;
        late.get('/root', (req, res) => { res.json(Math.sqrt(Number(req.query.n))); });
        late.get('/count', (req, res) => { count += 1; res.json(count); });
        module.exports = late;`,
      'app.js': `${BEGIN}
        const late = require('./late');
        app.get('/first', (req, res) => { res.send('first'); });
        app.post('/add', (req, res) => {
          app.use('/late', late);
          app.get('/new', (req, res) => { res.send('new'); });
          res.send('added');
        });
        app.post('/drop', (req, res) => { app.router.stack.shift(); res.send('dropped'); });
        app.get('/first', (req, res) => { res.send('second'); });
        ${END}`,
    },
    EAGER,
  );
  t.is((await app.get('/late/root?n=9')).status, 404);
  await app.request('/add', { method: 'POST' }, '');
  await app.says(/routes have changed: 3 new functions, 1 of them may leave/);
  const [roots, counts, news] = await Promise.all([
    app.many(20, (n) => `/late/root?n=${n * n}`),
    app.many(20, () => '/late/count'),
    app.many(20, () => '/new'),
  ]);
  t.deepEqual(
    roots.map(({ text }) => Number(text)),
    range(0, 19),
  );
  t.deepEqual(sorted(counts.map(({ text }) => Number(text))), range(1, 20));
  t.true(news.every(({ text }) => text === 'new'));
  await app.request('/drop', { method: 'POST' }, '');
  t.true((await app.many(20, () => '/first')).every(({ text }) => text === 'second'));
  await app.says(/routes have changed: 0 new functions/);
  t.true((await app.many(20, () => '/first')).every(({ text }) => text === 'second'));
  const report = await app.report();
  t.is(runsAway(report, 'get_root'), 20);
  t.deepEqual(fluxionOf(report, 'get_count').runs, { home: 20 });
  t.is(runsAway(report, 'post_add_get_new'), 0);
});

test('an app that mounts its routers when its database has answered: they are in the replica, mounted nowhere', async (t) => {
  const app = await ServedApp.serve(
    t,
    {
      'routes.js': `module.exports = (prefix) => {
          const routes = require('express').Router();
          routes.get('/root', (req, res) => { res.json(prefix + Math.sqrt(Number(req.query.n))); });
          routes.get('/app', (req, res) => { res.json(req.app.get('title') + req.baseUrl + req.route.path); });
          return routes;
        };`,
      'app.js': `${BEGIN}
        const routes = require('./routes');
        const net = require('node:net');
        const a = routes('a');
        const b = routes('b');
        app.set('title', 'late');
        app.use((req, res, next) => next());
        const store = net.createServer((socket) => socket.end('hello')).listen(0, () => {
          net.connect(store.address().port).once('data', () => {
            store.close();
            app.use('/a', a);
            app.use('/b', b);
            ${END}
          });
        });`,
    },
    EAGER,
  );
  const texts = async (path: string): Promise<unknown[]> => [
    ...new Set((await app.many(10, () => path)).map(({ text }) => JSON.parse(text))),
  ];
  t.deepEqual(await texts('/a/root?n=9'), ['a3']);
  t.deepEqual(await texts('/b/root?n=9'), ['b3']);
  t.deepEqual(await texts('/a/app'), ['late/a/app']);
  const report = await app.report();
  t.is(runsAway(report, 'get_root'), 20);
  t.is(runsAway(report, 'get_app'), 10);
});

test('keys that start-up makes within native objects are one for all: no thread with others serves', async (t) => {
  const app = await ServedApp.serve(
    t,
    {
      'app.js': `${BEGIN}
        const pair = require('node:crypto').createECDH('prime256v1');
        pair.generateKeys();
        app.get('/key', (req, res) => { res.send(pair.getPublicKey('hex')); });
        ${END}`,
    },
    { flags: EAGER.flags },
  );
  await app.says(/no further thread can run this app.*ECDH\.generateKeys at .*home made no such random value/);
  t.is(new Set((await app.many(20, () => '/key')).map(({ text }) => text)).size, 1);
});

test('settings that change where the analysis sees nothing of it take everything home, before the next request leaves', async (t) => {
  const app = await ServedApp.serve(
    t,
    {
      'lib/node_modules/quiet/index.js': `
        require('node:diagnostics_channel').subscribe('http.server.response.finish', ({ request }) => {
          if (request.url === '/switch') eval("request.app.set('json spaces', 2)");
        });`,
      'lib/quiet.js': "require('quiet');",
      'app.js': `${BEGIN}
        require('./lib/quiet');
        app.get('/switch', (req, res) => { res.send('switched'); });
        app.get('/json', (req, res) => { res.json({ a: 1 }); });
        ${END}`,
    },
    EAGER,
  );
  t.true((await app.many(10, () => '/json')).every(({ text }) => text === '{"a":1}'));
  await app.get('/switch');
  t.true((await app.many(10, () => '/json')).every(({ text }) => text === '{\n  "a": 1\n}'));
  await app.says(/everything stays on the main thread: settings of the app have changed/);
  const report = await app.report();
  t.is(fluxionOf(report, 'get_json').runs.home, 10);
  t.is(runsAway(report, 'get_json'), 10);
});

test('what start-up makes of an app some time later is in no replica: who goes by it stays home', async (t) => {
  const serve = (what: string): Promise<ServedApp> =>
    ServedApp.serve(
      t,
      {
        'app.js': `${BEGIN}
          app.locals.word = 'early';
          app.set('word', 'early');
          app.get('/setting', (req, res) => { res.send(req.app.get('word')); });
          app.get('/local', (req, res) => { res.send(req.app.locals.word); });
          app.get('/else', (req, res) => { res.send('else'); });
          setTimeout(() => { ${what} ${END} }, 50);`,
      },
      EAGER,
    );
  const settings = await serve("app.set('word', 'late');");
  const locals = await serve("app.locals.word = 'late';");
  const [bySettings, byLocals] = await Promise.all([
    settings.many(20, () => '/setting'),
    locals.many(20, (n) => (n % 2 === 0 ? '/local' : '/else')),
  ]);
  t.true(bySettings.every(({ text }) => text === 'late'));
  t.true(byLocals.every(({ text }, n) => text === (n % 2 === 0 ? 'late' : 'else')));
  t.deepEqual(fluxionOf(await settings.report(), 'get_setting').runs, { home: 20 });
  const report = await locals.report();
  t.deepEqual(fluxionOf(report, 'get_local').runs, { home: 10 });
  t.is(runsAway(report, 'get_else'), 10);
});

test('what start-up made is the same object wherever a request with it goes', async (t) => {
  const app = await ServedApp.serve(
    t,
    {
      'app.js': `${BEGIN}
        class Store { constructor(rows) { this.rows = rows; } }
        const rows = [{ id: 1 }, { id: 2 }];
        const store = new Store(new Map(rows.map((row) => [row.id, row])));
        const upper = (text) => text.toUpperCase();
        let count = 0;
        app.use((req, res, next) => { count += 1; req.found = { row: rows[1], upper }; req.store = store; next(); });
        app.get('/same', (req, res) => {
          const { row, upper: given } = req.found;
          res.json([rows.indexOf(row), store.rows.get(2) === row, req.store === store, given === upper]);
        });
        app.get('/back',
          (req, res, next) => { req.back = [rows[0], store, upper]; next(); },
          (req, res) => { count += 1; res.json([req.back[0] === rows[0], req.back[1] === store, req.back[2] === upper]); });
        ${END}`,
    },
    EAGER,
  );
  const answers = await app.many(20, (n) => (n % 2 === 0 ? '/same' : '/back'));
  for (const [n, { text }] of answers.entries()) t.is(text, n % 2 === 0 ? '[1,true,true,true]' : '[true,true,true]');
  const report = await app.report();
  t.is(runsAway(report, 'get_same'), 10);
  t.is(runsAway(report, 'get_back'), 10);
});

test('errors of a class that nobody exports reach a handler at home as what they are', async (t) => {
  const app = await ServedApp.serve(
    t,
    {
      'users.js': `class Missing extends Error { constructor(id) { super('no user ' + id); this.status = 404; } }
        const rows = new Map([['1', 'Ada']]);
        exports.find = (id) => { if (!rows.has(id)) throw new Missing(id); return rows.get(id); };
        exports.isMissing = (error) => error instanceof Missing;`,
      'app.js': `${BEGIN}
        const users = require('./users');
        let errors = 0;
        app.get('/users/:id', (req, res) => { res.send(users.find(req.params.id)); });
        app.use((error, req, res, next) => {
          errors += 1;
          res.status(error.status).send(error.message + ' ' + users.isMissing(error));
        });
        ${END}`,
    },
    EAGER,
  );
  const answers = await app.many(20, (n) => `/users/${n % 2}`);
  for (const [n, { text }] of answers.entries()) t.is(text, n % 2 === 0 ? 'no user 0 true' : 'Ada');
  t.is(runsAway(await app.report(), 'get_users_id'), 20);
});

test('locals that a handler changes keep home who reads them, and nobody else', async (t) => {
  const app = await ServedApp.serve(
    t,
    {
      'app.js': `${BEGIN}
        app.locals.hits = 0;
        app.get('/hit', (req, res) => { app.locals.hits += 1; res.json(app.locals.hits); });
        app.get('/root', (req, res) => { res.json(Math.sqrt(Number(req.query.n))); });
        ${END}`,
    },
    EAGER,
  );
  const hits = await app.many(20, () => '/hit');
  t.deepEqual(sorted(hits.map(({ text }) => Number(text))), range(1, 20));
  t.true((await app.many(20, () => '/root?n=9')).every(({ text }) => text === '3'));
  const report = await app.report();
  t.deepEqual(fluxionOf(report, 'get_hit').runs, { home: 20 });
  t.is(runsAway(report, 'get_root'), 20);
});
