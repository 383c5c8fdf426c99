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
  app.get('/kept/:key/slow', (req, res) => { setTimeout(() => { res.json([kept.get(req.params.key) ?? null]); }, 3); });
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
  app.child.kill('SIGUSR2');
  t.false(app.stderr.includes('came to'));
});
