import net from 'node:net';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { type Answer, AnswerReader, newAnswer } from '../runtime/verify/answers.js';
import { ServedApp } from './support/served-app.js';

// Replicas that accept connections of a server some of whose routes have to run at home.

const FLAGS = ['--accept', 'every', '--threads', '2'];
const BEGIN = "const express = require('express');\nconst app = express();\napp.use(express.json());\n";
const END = "const server = app.listen(0, () => console.log('port ' + server.address().port));\n";

async function serve(t: ExecutionContext, text: string): Promise<ServedApp> {
  const app = await ServedApp.serve(t, { 'app.js': text }, { flags: FLAGS, replicas: 2 });
  await app.until(() => [...app.stderr.matchAll(/replica-\d+ accepts connections/g)].length >= 2);
  return app;
}

/** What is kept is kept for each key, so that what one connection asks for is no other's business. */
const MIXED = `${BEGIN}
  const kept = new Map();
  app.get('/free/:n', (req, res) => { res.json({ n: req.params.n, query: req.query, port: req.socket.remotePort > 0 }); });
  app.post('/echo', (req, res) => { res.set('X-Kind', typeof req.body).json(req.body ?? null); });
  app.post('/length', async (req, res) => { let n = 0; for await (const part of req) n += part.length; res.send(String(n)); });
  app.get('/slow/:n', (req, res) => { setTimeout(() => { res.send('slow ' + req.params.n); }, 3); });
  app.get('/pieces', (req, res) => { res.write('a'); setImmediate(() => { res.write('b'); res.end('c'); }); });
  app.get('/large', (req, res) => { res.send('x'.repeat(200000)); });
  app.get('/fail', () => { throw Object.assign(new Error('as asked'), { status: 418 }); });
  app.get('/bye', (req, res) => { res.set('Connection', 'close').send('bye'); });

  app.get('/kept/:key', (req, res) => { res.json(kept.get(req.params.key) ?? null); });
  app.post('/kept/:key', (req, res) => { kept.set(req.params.key, [...(kept.get(req.params.key) ?? []), req.body]); res.status(201).end(); });
  app.put('/kept/:key/length', async (req, res) => { let n = 0; for await (const part of req) n += part.length; kept.set(req.params.key, n); res.send('kept ' + n); });
  app.get('/kept/:key/slow', (req, res) => { setTimeout(() => { res.json([kept.get(req.params.key) ?? null]); }, Number(req.query.ms ?? 3)); });
  app.get('/kept/:key/pieces', (req, res) => { res.write(JSON.stringify(kept.get(req.params.key) ?? null)); setImmediate(() => { res.end('|'); }); });
  app.get('/kept/:key/large', (req, res) => { res.send('y'.repeat(300000) + kept.size * 0); });
  app.get('/kept/:key/fail', () => { throw Object.assign(new Error('no ' + (kept.size > -1)), { status: 409 }); });
  app.get('/kept/:key/bye', (req, res) => { kept.delete(req.params.key); res.set('Connection', 'close').send('gone'); });
  const both = express.Router();
  both.get('/free', (req, res) => { res.send('free ' + req.baseUrl + req.url); });
  both.get('/kept/:key', (req, res) => { res.send('kept ' + req.baseUrl + req.url + ' ' + JSON.stringify(kept.get(req.params.key) ?? null)); });
  app.use('/both', both);
  app.use((req, res) => { res.status(404).send('no ' + req.method + ' ' + req.path); });
  app.use((error, req, res, next) => { res.status(error.status ?? 500).send(error.message); });
`;

const KEPT = [
  ...['get_kept_key', 'post_kept_key', 'put_kept_key_length', 'get_kept_key_slow', 'get_kept_key_pieces'],
  ...['get_kept_key_large', 'get_kept_key_fail', 'get_kept_key_bye', 'get_kept_key_2'],
];

interface Ask {
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
  readonly headers: readonly string[];
  /** How the body is sent. */
  readonly framing: 'length' | 'chunked';
  /** The answer to this one is waited for before the next one. */
  readonly waits: boolean;
  /** It is sent in two parts, cut there. */
  readonly cut: number | null;
}

const TEXTS = ['{"a":1}', '[1,2]', '"text"', '{', '', `{"long":"${'l'.repeat(3000)}"}`, 'z'.repeat(90_000)];

function asks(key: string): fc.Arbitrary<Ask> {
  const get = fc.constantFrom(
    ...[
      '/free/1',
      '/free/2?a=1&b=2',
      '/FREE/3/',
      '/slow/1',
      '/pieces',
      '/large',
      '/fail',
      '/nowhere',
      '/free/%zz',
      '/both/free?x',
    ],
    ...['', '/slow', '/pieces', '/large', '/fail', '/nowhere'].map((end) => `/kept/${key}${end}`),
    ...[`/KEPT/${key}/`, `/both/kept/${key}`, `//kept/${key}`, `/kept/${key}%20`, `/bye`, `/kept/${key}/bye`],
  );
  const post = fc.constantFrom('/echo', '/length', `/kept/${key}`, `/kept/${key}/length`);
  const rest = {
    framing: fc.constantFrom('length' as const, 'length' as const, 'chunked' as const),
    waits: fc.boolean(),
    cut: fc.option(fc.integer({ min: 1, max: 400 }), { freq: 4 }),
    headers: fc.constantFrom([], [], [`X-Long: ${'h'.repeat(500)}`], ['x-a: 1', 'X-A: 2', 'Cookie: a=b']),
  };
  const bodiless = fc.record({
    method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'OPTIONS'),
    path: get,
    body: fc.constant(null),
    ...rest,
  });
  const full = fc.record({
    method: fc.constantFrom('POST', 'PUT'),
    path: post,
    body: fc.constantFrom(...TEXTS),
    ...rest,
  });
  return fc.oneof({ weight: 3, arbitrary: bodiless }, { weight: 2, arbitrary: full });
}

/** It touches what is kept when a next request may have come by. */
function keepsLate({ path, body }: Ask): boolean {
  return /^.kept/i.test(path) && (body !== null || path.endsWith('slow'));
}

function bytesOf({ method, path, body, headers, framing }: Ask): Buffer {
  const head = [`${method} ${path} HTTP/1.1`, 'Host: localhost', ...headers];
  if (body === null) return Buffer.from(`${head.join('\r\n')}\r\n\r\n`);
  head.push('Content-Type: application/json');
  if (framing === 'length')
    return Buffer.from(`${[...head, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`);
  const parts = (body.match(/[\s\S]{1,20000}/g) ?? []).map((part) => `${part.length.toString(16)}\r\n${part}\r\n`);
  return Buffer.from(`${[...head, 'Transfer-Encoding: chunked'].join('\r\n')}\r\n\r\n${parts.join('')}0\r\n\r\n`);
}

/** All that is asked on one connection, and what comes; the last ones may never be answered. */
function converse(port: number, list: readonly Ask[]): Promise<readonly Answer[]> {
  return new Promise((resolve, reject) => {
    const answers = list.map(() => newAnswer());
    const reader = new AnswerReader(() => 0);
    const socket = net.connect(port, '127.0.0.1');
    let at = 0;
    let isCut = false;
    const goOn = (): void => {
      while (!isCut && at < list.length && (at === 0 || !list[at - 1]?.waits || reader.isIdle)) {
        const ask = list[at] as Ask;
        reader.expect(ask.method, answers[at++] as Answer);
        const bytes = bytesOf(ask);
        if (ask.cut === null) socket.write(bytes);
        else {
          socket.write(bytes.subarray(0, ask.cut));
          const rest = bytes.subarray(ask.cut);
          // What comes next comes behind it.
          isCut = true;
          setTimeout(() => {
            isCut = false;
            socket.write(rest);
            goOn();
          }, 2);
        }
      }
      if (!isCut && at === list.length && reader.isIdle) socket.end();
    };
    socket.setNoDelay(true);
    socket.on('connect', goOn);
    socket.on('data', (bytes: Buffer) => {
      reader.take(bytes);
      goOn();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => {
      reader.closed();
      resolve(answers);
    });
  });
}

function shown(answers: readonly Answer[]): unknown {
  return answers.map(({ statusLines, headers, body, framing, state }) => ({
    statusLines,
    headers: headers.map((each, index) => (headers[index - 1] === 'Date' ? '-' : each)),
    body: Buffer.concat(body).toString('latin1'),
    framing,
    state,
  }));
}

test('whatever is asked, in whatever order: the answers are those of node', async (t) => {
  const plain = await ServedApp.serve(t, { 'app.js': MIXED + END }, { flags: null });
  const app = await serve(t, MIXED + END);
  let count = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.infiniteStream(fc.constant(0)),
      fc.array(fc.array(asks('KEY'), { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 }),
      async (_, lists) => {
        const named = lists.map((list) => {
          const key = `k${count++}`;
          const last = list.findIndex(({ path }) => path.endsWith('bye'));
          // What comes behind it may end the connection before it has been read.
          return list
            .slice(0, last === -1 ? list.length : last + 1)
            .map((ask) => ({ ...ask, path: ask.path.replace('KEY', key), waits: ask.waits || keepsLate(ask) }));
        });
        const [expected, got] = await Promise.all(
          [plain, app].map(({ port }) => Promise.all(named.map((list) => converse(port, list)))),
        );
        t.deepEqual(got?.map(shown), expected?.map(shown));
      },
    ),
    {
      numRuns: Number(process.env.RUNS ?? 40),
      ...(process.env.SEED === undefined ? {} : { seed: Number(process.env.SEED) }),
    },
  );
  t.false(app.stderr.includes('came to'));
  const { loops, accept } = await app.report();
  t.true(loops.filter(({ requests }) => requests > 0).length > 1);
  t.deepEqual(accept, [{ server: 'server0', threads: 0, alone: null, main: KEPT }]);
});

const WATCHED = `${MIXED.replace(
  'app.use((req, res) =>',
  `
  app.get('/kept/:key/open', (req, res) => {
    kept.set(req.params.key, 'open');
    res.on('close', () => { kept.delete(req.params.key); console.log('gone ' + req.params.key, req.ip, req.socket.localAddress, kept.get('ip')); });
    res.write('begun');
  });
  app.get('/kept/:key/connections', (req, res) => { server.getConnections((error, count) => { kept.set('count', count); res.json(count); }); });
  app.get('/kept/:key/late', (req, res) => { kept.set(req.params.key, 1); console.log('late'); setTimeout(() => { res.end('late'); }, 300); });
  app.get('/kept/:key/ends', (req, res) => {
    kept.set('ip', req.ip);
    res.json([req.socket.localPort > 0, req.socket.localAddress, req.socket.localFamily, req.socket.remotePort > 0, req.ip]);
  });
  app.use((req, res) =>`,
)}${END}
  server.on('upgrade', (req, socket, head) => {
    kept.set('upgrade', req.url);
    socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: echo\\r\\n\\r\\n' + req.url + head);
    socket.pipe(socket);
  });
  process.on('SIGUSR1', () => { server.close(() => { console.log('closed'); }); });
`;

interface Raw {
  readonly socket: net.Socket;
  text: string;
  until(pattern: RegExp): Promise<string>;
  readonly closed: Promise<void>;
}

function raw(t: ExecutionContext, port: number): Raw {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
  let heard = (): void => {};
  socket.on('error', () => {});
  t.teardown(() => socket.destroy());
  const made: Raw = {
    socket,
    text: '',
    closed: new Promise((resolve) => socket.once('close', () => resolve())),
    async until(pattern) {
      for (;;) {
        const found = pattern.exec(made.text);
        if (found !== null) {
          const end = found.index + found[0].length;
          const [taken, rest] = [made.text.slice(0, end), made.text.slice(end)];
          made.text = rest;
          return taken;
        }
        if (socket.destroyed) throw new Error(`closed after ${made.text}`);
        await new Promise<void>((resolve) => (heard = resolve));
      }
    },
  };
  const hear = (): void => heard();
  socket.setEncoding('latin1').on('data', (text: string) => {
    made.text += text;
    hear();
  });
  socket.on('close', hear);
  return made;
}

function get(path: string, ...headers: readonly string[]): string {
  return [`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n');
}

test('upgrades, clients that go away, what Node answers itself, and close(): all as with node', async (t) => {
  const plain = await ServedApp.serve(t, { 'app.js': WATCHED }, { flags: null });
  const app = await serve(t, WATCHED);
  const upgrade = get('/socket', 'Connection: Upgrade', 'Upgrade: echo');
  const each = async (act: (port: number) => Promise<string>): Promise<void> => {
    const mask = (text: string): string => text.replace(/^Date: .*$/gm, 'Date: -');
    t.is(mask(await act(app.port)), mask(await act(plain.port)));
  };
  for (const before of ['', get('/free/1'), get('/kept/a'), get('/free/1') + get('/kept/a')]) {
    await each(async (port) => {
      const { socket, until, closed } = raw(t, port);
      socket.write(before);
      let text = '';
      for (const path of before.match(/\/free|\/kept/g) ?? [])
        text += await until(path === '/free' ? /true\}/ : /null/);
      socket.write(`${upgrade}head`);
      text += await until(/head/);
      socket.write('more');
      text += await until(/more/);
      socket.end();
      await closed;
      return text;
    });
  }
  const many = Array.from({ length: 1500 }, (_, n) => `h${n}: ${n}`);
  const odd = [
    `POST /kept/b HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]`,
    `POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]`,
    'GET /kept/b HTTP/1.1\r\n\r\n',
    'GET /kept/b HTTP/1.0\r\n\r\n',
    'nonsense\r\n\r\n',
    `${get('/kept/b')}nonsense\r\n\r\n`,
    get('/kept/b', `X: ${'x'.repeat(20_000)}`),
    get('/kept/b', ...many, 'Connection: close'),
    get('/kept/b/ends', 'Connection: close'),
    get('http://localhost/kept/b', 'Connection: close'),
    `CONNECT localhost:80 HTTP/1.1\r\nHost: x\r\n\r\n`,
    `PROPFIND /kept/b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  ];
  for (const request of odd) {
    await each(async (port) => {
      const { socket, closed, until } = raw(t, port);
      socket.write(request);
      await closed;
      return until(/$/).catch((error: Error) => error.message);
    });
  }
  // Clients that send no more, and wait.
  for (const request of [get('/free/1'), get('/kept/b'), get('/kept/b/slow?ms=300'), get('/free/1') + get('/kept/b')]) {
    await each(async (port) => {
      const { socket, closed, until } = raw(t, port);
      socket.end(request);
      await closed;
      return until(/$/).catch((error: Error) => error.message);
    });
  }
  // Whoever counts connections counts those of all threads.
  await each(async (port) => {
    const idle = Array.from({ length: 5 }, () => raw(t, port));
    for (const [n, { socket, until }] of idle.entries()) {
      socket.write(n % 2 === 0 ? get('/free/1') : get('/kept/c'));
      await until(/true\}|null/);
    }
    const one = raw(t, port);
    one.socket.write(get('/kept/c/connections'));
    const text = await one.until(/\r\n\r\n\d+/);
    for (const { socket, closed } of [...idle, one]) {
      socket.end();
      await closed;
    }
    return text;
  });
  const gone = raw(t, app.port);
  gone.socket.write(get('/free/1') + get('/kept/d/open'));
  await gone.until(/begun/);
  gone.socket.destroy();
  // As with node: who it was nobody has asked while the connection was there.
  await app.says(/^gone d undefined undefined ::ffff:127\.0\.0\.1$/m);

  const [late, idle] = [raw(t, app.port), raw(t, app.port)];
  idle.socket.write(get('/kept/e'));
  await idle.until(/null/);
  late.socket.write(get('/free/1'));
  await late.until(/true\}/);
  late.socket.write(get('/kept/f/late'));
  await app.says(/^late$/m);
  app.child.kill('SIGUSR1');
  await idle.closed;
  await late.until(/late/);
  late.socket.end();
  await app.says(/^closed$/m);
  t.is((await app.ended).code, 0);
});

test('a server that closes answers what was asked before, wherever that is', async (t) => {
  const app = await serve(
    t,
    `${BEGIN}
    let kept = 0;
    const work = () => { let sum = 0; for (let at = 0; at < 1e6; at++) sum += at % 7; return sum; };
    app.get('/free', (req, res) => { res.json(work()); });
    app.get('/kept', (req, res) => { res.json(++kept); });
    process.on('SIGUSR1', () => { server.close(); });
    ${END}`,
  );
  const path = (n: number): string => (n % 2 === 0 ? '/free' : '/kept');
  // Each connection has been used for both.
  for (let round = 0; round < 4; round++) await app.many(24, (n) => path(n + round));
  const answers = Array.from({ length: 24 }, (_, n) => app.get(path(n)));
  await Promise.race(answers);
  app.child.kill('SIGUSR1');
  t.deepEqual([...new Set((await Promise.all(answers)).map(({ status }) => status))], [200]);
});

test('a request that is led to what has to run at home by a way that nobody foresaw starts again there', async (t) => {
  const text = `${BEGIN}
    let count = 0;
    app.use((req, res, next) => { if (req.query.to) req[['u', 'rl'].join('')] = req.query.to; next(); });
    app.get('/free', (req, res) => { res.send('free'); });
    app.get('/count', (req, res) => { res.send('count ' + ++count); });\n${END}`;
  const app = await serve(t, text);
  const fresh = { agent: false as const };
  const counts = async (count: number, path: (n: number) => string): Promise<readonly string[]> =>
    (await app.many(count, path)).map(({ text }) => text).filter((each) => each !== 'free');
  const upTo = (first: number, last: number): readonly string[] =>
    Array.from({ length: last - first + 1 }, (_, n) => `count ${n + first}`).sort();
  t.deepEqual([...(await counts(40, (n) => (n % 2 === 0 ? '/count' : '/free')))].sort(), upTo(1, 20));
  t.is((await app.get('/free?to=/count', fresh)).text, 'count 21');
  await app.says(
    /GET \/free\?to=\/count came to a function without a name on replica-\d+, which has to run on the main thread, and runs there again/,
  );
  // The same connections, which come back now.
  t.deepEqual([...(await counts(40, (n) => (n % 2 === 0 ? '/free?to=/count' : '/free')))].sort(), upTo(22, 41));
  t.deepEqual([...(await counts(40, (n) => (n % 2 === 0 ? '/count' : '/free')))].sort(), upTo(42, 61));
});

test('who has changed a setting, or added a route, finds that with the next request', async (t) => {
  const app = await serve(
    t,
    `${BEGIN}
    let count = 0;
    app.get('/json', (req, res) => { res.json({ a: 1 }); });
    app.get('/spaces/:n', (req, res) => { app[String('set')]('json spaces', Number(req.params.n)); res.send('set ' + ++count); });\n${END}`,
  );
  const { socket, until } = raw(t, app.port);
  for (const n of [1, 2, 0, 3]) {
    socket.write(get(`/spaces/${n}`));
    await until(/set \d+/);
    socket.write(get('/json'));
    t.true((await until(/\}/)).endsWith(JSON.stringify({ a: 1 }, null, n)));
  }

  const routes = await serve(
    t,
    `${BEGIN}
    let count = 0;
    app.get('/there', (req, res) => { res.send('there'); });
    app.get('/add', (req, res) => { app.get('/late', (req, res) => { res.send('late'); }); res.send('added ' + ++count); });\n${END}`,
  );
  const one = raw(t, routes.port);
  for (const [path, pattern] of [
    ['/there', /there$/],
    ['/late', /Cannot GET \/late[\s\S]*<\/html>\s*$/],
    ['/add', /added 1$/],
    ['/late', /late$/],
  ] as const) {
    one.socket.write(get(path));
    t.regex(await one.until(pattern), /^HTTP/);
  }
});

test('socket.io beside routes that may run anywhere: what is its own is for the main thread', async (t) => {
  const app = await serve(
    t,
    `${BEGIN}
    app.get('/free', (req, res) => { res.send('free'); });
    const server = require('http').createServer(app);
    const io = new (require('socket.io').Server)(server);
    let count = 0;
    io.on('connection', (socket) => { socket.emit('hello', ++count); socket.on('all', (text) => { io.emit('all', text); }); });
    server.listen(0, () => console.log('port ' + server.address().port));\n`,
  );
  t.regex(app.stderr, /the main thread answers what may come to 1 of its functions/);
  const { io } = await import('socket.io-client');
  const clients = [['polling'], ['websocket'], ['polling']].map((transports) =>
    io(`http://localhost:${app.port}`, { transports, forceNew: true }),
  );
  t.teardown(() => clients.forEach((client) => void client.close()));
  const numbers = await Promise.all(
    clients.map((client) => new Promise<unknown>((resolve) => client.once('hello', resolve))),
  );
  t.deepEqual([...numbers].sort(), [1, 2, 3]);
  const heard = clients.map((client) => new Promise<unknown>((resolve) => client.once('all', resolve)));
  const files = app.get('/socket.io/socket.io.min.js');
  t.deepEqual([...new Set((await app.many(20, () => '/free')).map(({ text }) => text))], ['free']);
  clients[0]?.emit('all', 'said');
  t.deepEqual(await Promise.all(heard), ['said', 'said', 'said']);
  t.is((await files).status, 200);
});

test('what may change where requests go, or takes hold of connections, leaves all to the main thread', async (t) => {
  const routes =
    "let count = 0;\napp.get('/free', (req, res) => { res.send('free'); });\napp.get('/count', (req, res) => { res.send('count ' + ++count); });\n";
  const texts = [
    [
      "app.use((req, res, next) => { req.url = req.url.replace('/v1', ''); next(); });\n",
      /app\.js:4 may change where a request goes/,
    ],
    ["app.get('/last', (req, res) => { count = req.socket; res.end(); });\n", /app\.js:7 takes hold of connections/],
  ] as const;
  await Promise.all(
    texts.map(async ([text, why], index) => {
      const all = index === 0 ? text + routes : routes + text;
      const app = await ServedApp.serve(t, { 'app.js': BEGIN + all + END }, { flags: FLAGS });
      await app.says(/the main thread accepts alone/);
      await app.says(why);
      t.is((await app.get(index === 0 ? '/v1/count' : '/count')).text, 'count 1');
    }),
  );
});
