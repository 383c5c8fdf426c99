import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { BadInput } from '../diagnostics/bad-input.js';
import { parseRequests } from '../runtime/verify/requests-file.js';
import { type CliResult, cliPath, runCli } from './support/run-cli.js';
import { link, tempFolder } from './support/temp-folder.js';

const packages = link(fileURLToPath(new URL('../../node_modules', import.meta.url)));

// A small shop: state in memory, sessions by cookie, heavy work, streams, errors, generated ids and times.
const SHOP = `
const express = require('express');
const { randomUUID, createHash } = require('node:crypto');
const app = express();
const carts = new Map();
app.use(express.json());
app.use((req, res, next) => {
  const [, id] = /cart=([\\w-]+)/.exec(req.headers.cookie || '') || [];
  req.cart = id;
  if (!carts.has(id)) { req.cart = randomUUID(); carts.set(req.cart, []); res.cookie('cart', req.cart); }
  next();
});
app.get('/cart', (req, res) => res.json(carts.get(req.cart)));
app.post('/cart', (req, res) => { carts.get(req.cart).push(req.body.item); res.status(201).json({ order: randomUUID(), at: new Date() }); });
app.get('/hash/:text', (req, res) => {
  let hash = req.params.text;
  for (let i = 0; i < 500; i++) hash = createHash('sha256').update(hash).digest('hex');
  res.set('X-Hash', hash).send(hash);
});
const clients = new Set();
app.get('/events', (req, res) => { res.writeHead(200, { 'Content-Type': 'text/event-stream' }); res.write('data: 0\\n\\n'); clients.add(res); });
app.post('/say', (req, res) => { for (const client of clients) client.write('data: ' + req.body.text + '\\n\\n'); res.end(); });
app.get('/boom', () => { throw new Error('boom'); });
const server = app.listen(Number(process.env.PORT || 3000), () => console.log('shop on ' + server.address().port + ' by ' + process.pid));
`;

const json = { 'Content-Type': 'application/json' };
const VISIT = [
  { url: '/hash/a', connection: 1 },
  { url: '/hash/b', connection: 1, pipelined: true },
  { url: '/events' },
  { method: 'POST', url: '/say', headers: json, body: '{"text":"hello"}' },
  { method: 'POST', url: '/cart', headers: json, body: '{"item":"tea"}' },
  { url: '/cart', headers: { cookie: 'cart=mine' } },
  { method: 'POST', url: '/cart', headers: json, body: 'no json' },
  { url: '/boom' },
  { url: '/nothing' },
];

for (const placement of ['home', 'loopback', 'eager']) {
  test(`the same app is the same: ${placement}`, async (t) => {
    const { code, stdout, stderr } = await verifyApp(t, SHOP, lines(VISIT), ['--placement', placement]);
    t.is(stderr, '');
    t.regex(stdout, new RegExp(`^no difference: 9 requests, 1 of them open to the end.*--placement ${placement}`));
    t.is(code, 0);
  });
}

// An app that can tell how it is run, and says so in one place.
const TELLS = `
const http = require('node:http');
let seen = 'nobody';
const server = http.createServer((req, res) => {
  const who = req.socket.constructor.name === 'Socket' ? 'node' : 'another';
  ANSWER
});
server.listen(3000, () => console.log('up'));
`;

const DIFFERENCES: readonly (readonly [what: string, answer: string, shown: RegExp])[] = [
  [
    'status',
    'res.statusCode = who === "node" ? 200 : 202; res.end()',
    /the status line.*\n\nnode:\n {2}HTTP\/1\.1 200 OK\n\nfluxion:\n {2}HTTP\/1\.1 202 Accepted/,
  ],
  ['status message', 'res.statusMessage = who; res.end()', /the status line[\s\S]*200 node[\s\S]*200 another/],
  [
    'case of a header',
    'res.setHeader(who === "node" ? "X-A" : "x-a", 1); res.end()',
    /the headers[\s\S]*X-A: 1[\s\S]*x-a: 1/,
  ],
  [
    'order of headers',
    'for (const n of who === "node" ? ["a", "b"] : ["b", "a"]) res.setHeader(n, 1); res.end()',
    /the headers/,
  ],
  ['body', 'res.end("by " + who)', /the body[\s\S]*by node[\s\S]*by another/],
  ['bytes', 'res.end(Buffer.from([255, who.length]))', /the body, from byte 0 on[\s\S]*ff04[\s\S]*ff07/],
  [
    'pieces',
    'if (who === "node") { res.write("a"); res.end("b"); } else { res.write("ab"); res.end(); }',
    /the pieces of the body/,
  ],
  [
    'abort',
    'if (who === "node") res.end(); else { res.write("x"); setTimeout(() => res.destroy(), 20); }',
    /the state of the answer[\s\S]*complete[\s\S]*cut off/,
  ],
  ['standard output', 'console.log(who); res.end()', /standard output: in the end[\s\S]*node:\n {2}up\n {2}node/],
  [
    'exit',
    'process.on("SIGTERM", () => process.exit(who.length)); res.end()',
    /the exit: in the end[\s\S]*code 4[\s\S]*code 7/,
  ],
];

for (const [what, answer, shown] of DIFFERENCES) {
  test(`a difference is found and shown: ${what}`, async (t) => {
    const { code, stdout } = await verifyApp(t, TELLS.replace('ANSWER', answer), '{"url":"/who?a=b"}', LOOPBACK);
    t.regex(stdout, /^different: /);
    t.regex(stdout, shown);
    if (!/in the end/.test(stdout))
      t.regex(stdout, /GET \/who\?a=b \(request 1, requests\.jsonl:1\)[\s\S]*request:\n {2}GET \/who\?a=b HTTP\/1\.1/);
    t.is(code, 1);
  });
}

const LOOPBACK = ['--placement', 'loopback'];

test('what is said behind the last answer is waited for', async (t) => {
  const app = TELLS.replace('ANSWER', 'res.end(); setTimeout(() => console.log("late"), who === "node" ? 5 : 200)');
  const { code, stdout } = await verifyApp(t, app, '{"url":"/"}', LOOPBACK);
  t.regex(stdout, /^no difference: 1 request,/);
  t.is(code, 0);
});

test('how long something took, and the time of day, may differ in what is logged', async (t) => {
  const logged = `console.log('GET / 200', took, 'ms - 12', clock); res.setHeader('X-Response-Time', took + 'ms'); res.end()`;
  const set = `const [took, clock] = who === 'node' ? ['1.290', '23:59:58'] : ['30.7', '0:00:02']; ${logged}`;
  const { code, stdout } = await verifyApp(t, TELLS.replace('ANSWER', set), '{"url":"/"}', LOOPBACK);
  t.regex(stdout, /^no difference: 1 request,/);
  t.is(code, 0);
  const later = TELLS.replace('ANSWER', `console.log(who === 'node' ? '10:00:01' : '10:02:01'); res.end()`);
  t.regex((await verifyApp(t, later, '{"url":"/"}', LOOPBACK)).stdout, /^different: standard output/);
});

test('what differs is shown, not the times before it', async (t) => {
  const app = TELLS.replace('ANSWER', 'console.log(new Date().toISOString()); console.log(who); res.end()');
  const { stdout } = await verifyApp(t, app, '{"url":"/"}', LOOPBACK);
  t.regex(
    stdout,
    /standard output: in the end\n\nnode:\n {2}\d{4}-.*\n {2}node\n[\s\S]*fluxion:\n {2}\d{4}-.*\n {2}another/,
  );
});

test('of a stack trace only the first frame counts, also in a list of a page', async (t) => {
  const trace = (more: string): string =>
    `<ul><li> &nbsp; &nbsp;at one (a.js:1:1)</li><li> &nbsp; &nbsp;at ${more}</li></ul>`;
  const answer = `res.end(who === "node" ? "${trace('two (b.js:1:1)')}" : "${trace('three (c.js:1:1)')}")`;
  const { stdout } = await verifyApp(t, TELLS.replace('ANSWER', answer), '{"url":"/"}', LOOPBACK);
  t.regex(stdout, /^no difference: 1 request,/);
});

test('rules say what may differ', async (t) => {
  const app = TELLS.replace('ANSWER', 'res.setHeader("X-Who", who); res.write(who.slice(0, 2)); res.end(who.slice(2))');
  const rules = { ignoreHeaders: ['x-who'], mask: ['node|another'], chunks: false };
  const { code, stdout } = await verifyApp(t, app, lines([{ rules }, { url: '/' }]), LOOPBACK);
  t.regex(stdout, /^no difference: 1 request,/);
  t.is(code, 0);
});

test('what the app gets while it runs is recorded as it came, and can be verified', async (t) => {
  const folder = tempFolder(t, { 'app.js': SHOP, node_modules: packages });
  const env = { ...process.env, PORT: '0', FLUXION_CACHE: join(folder, 'cache') };
  const words = ['run', '--record', 'requests.jsonl', '--placement', 'home', 'app.js'];
  const child = spawn(process.execPath, [cliPath, ...words], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const [said] = await once(child.stdout.setEncoding('utf8'), 'data');
  const port = Number(/shop on (\d+)/.exec(String(said))?.[1]);
  const made = await fetch(`http://127.0.0.1:${port}/cart`, { method: 'POST', headers: json, body: '{"item":"tea"}' });
  await made.text();
  const cookie = made.headers.get('set-cookie')?.split(';')[0] ?? '';
  const cart = await fetch(`http://127.0.0.1:${port}/cart`, { headers: { cookie } });
  t.is(await cart.text(), '["tea"]');
  const pipelined =
    'GET /hash/a HTTP/1.1\r\nHost: x\r\n\r\nGET /hash/b HTTP/1.1\r\nhOST: y\r\nConnection: close\r\n\r\n';
  const socket = connect(port, '127.0.0.1', () => socket.write(pipelined));
  await once(socket.resume(), 'close');
  child.kill('SIGTERM');
  await once(child, 'close');

  const recorded = readFileSync(join(folder, 'requests.jsonl'), 'utf8');
  const { requests } = parseRequests(recorded, 'requests.jsonl');
  t.deepEqual(
    requests.map(({ method, url, body, pipelined: is = false }) => [method, url, body, is]),
    [
      ['POST', '/cart', '{"item":"tea"}', false],
      ['GET', '/cart', '', false],
      ['GET', '/hash/a', '', false],
      ['GET', '/hash/b', '', true],
    ],
  );
  t.deepEqual(requests[3]?.headers, ['hOST', 'y', 'Connection', 'close']);
  t.regex(requests[0]?.setCookies[0] ?? '', /^cart=/);

  const { code, stdout } = await verifyIn(folder, ['--placement', 'home']);
  t.regex(stdout, /^no difference: 4 requests/);
  t.is(code, 0);
});

test("a session that was recorded is each side's own when it is verified", async (t) => {
  // Who has no cart is refused: only a client that is given its own cookie back gets through.
  const app = `
    const { randomUUID } = require('node:crypto');
    const carts = new Map();
    require('node:http').createServer((req, res) => {
      if (req.url === '/new') { const id = randomUUID(); carts.set(id, 1); res.setHeader('Set-Cookie', 'cart=' + id + '; Path=/'); return res.end(); }
      const id = /cart=(.*)/.exec(req.headers.cookie)[1];
      if (!carts.has(id)) console.log('a stranger');
      res.end('ok');
    }).listen(3000);`;
  const requests = [
    { id: 1, url: '/new' },
    { answer: 1, setCookies: ['cart=recorded; Path=/'] },
    { id: 2, url: '/', headers: ['Cookie', 'a=b; cart=recorded'] },
  ];
  const folder = tempFolder(t, { 'app.js': app, 'requests.jsonl': lines(requests) });
  const { code, stdout } = await verifyIn(folder, ['--placement', 'home']);
  t.regex(stdout, /^no difference/);
  t.is(code, 0);
  const { requests: parsed } = parseRequests(lines(requests), 'requests.jsonl');
  t.deepEqual(parsed[0]?.setCookies, ['cart=recorded; Path=/']);
});

const BAD: readonly (readonly [what: string, file: string, code: string, shown: RegExp])[] = [
  ['no JSON', '{"url":"/"}\n{url}', 'verify/bad-requests', /not valid JSON[\s\S]*requests\.jsonl:2:1/],
  ['no object', '[]', 'verify/bad-requests', /not an object[\s\S]*requests\.jsonl:1:1/],
  ['no path', '{"url":"users"}', 'verify/bad-requests', /"url" must be a path/],
  ['unknown word', '{"url":"/","bodi":""}', 'verify/bad-requests', /a request has no "bodi"/],
  ['odd headers', '{"url":"/","headers":["a"]}', 'verify/bad-requests', /a value for each name/],
  ['header with a line break', '{"url":"/","headers":{"a":"b\\nc"}}', 'verify/bad-requests', /line break/],
  ['bad pattern', '{"rules":{"mask":["("]}}', 'verify/bad-requests', /regular expression/],
  ['unknown rule', '{"rules":{"masks":[]}}', 'verify/bad-requests', /no rule "masks"/],
  ['nothing', '\n', 'verify/bad-requests', /no request in/],
];

for (const [what, file, code, shown] of BAD) {
  test(`a file that cannot be used is refused: ${what}`, (t) => {
    const error = t.throws(() => parseRequests(file, 'requests.jsonl'), { instanceOf: BadInput });
    t.is(error?.diagnostics[0]?.code, code);
    t.regex(error?.message ?? '', shown);
  });
}

test('words that cannot be used end with exit code 2 and one message', async (t) => {
  const folder = tempFolder(t, { 'app.js': '', 'bad.jsonl': '{', 'good.jsonl': '{"url":"/"}' });
  const refused: readonly (readonly [words: readonly string[], code: string])[] = [
    [['app.js'], 'verify/missing-requests'],
    [['app.js', '--requests', 'none.jsonl'], 'verify/bad-requests'],
    [['app.js', '--requests', 'bad.jsonl'], 'verify/bad-requests'],
    [['ap.js', '--requests', 'good.jsonl'], 'cli/entry-not-found'],
    [['--requests', 'good.jsonl'], 'cli/missing-entry'],
    [['app.js', '--requests', 'good.jsonl', '--placement', 'there'], 'cli/bad-value'],
    [['app.js', '--requests', 'good.jsonl', '--threads', 'many'], 'cli/bad-value'],
    [['app.js', '--requests', 'good.jsonl', '--placement', 'home'], 'verify/cannot-start'],
  ];
  for (const [words, expected] of refused) {
    const { code, stdout, stderr } = await runCli(['verify', ...words], { cwd: folder });
    t.is(code, 2, words.join(' '));
    t.is(stdout, '');
    t.true(stderr.startsWith(`error ${expected}: `), stderr);
  }
});

test('a file for records that cannot be written is said, and nothing is run', async (t) => {
  const folder = tempFolder(t, { 'app.js': 'console.log("run")' });
  const { code, stdout, stderr } = await runCli(['run', '--record', 'no/where.jsonl', 'app.js'], { cwd: folder });
  t.is(code, 2);
  t.is(stdout, '');
  t.regex(stderr, /^requests cannot be recorded: ENOENT/);
});

function lines(values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

function verifyApp(t: ExecutionContext, app: string, requests: string, flags: readonly string[]): Promise<CliResult> {
  return verifyIn(tempFolder(t, { 'app.js': app, 'requests.jsonl': requests, node_modules: packages }), flags);
}

function verifyIn(cwd: string, flags: readonly string[]): Promise<CliResult> {
  const words = ['verify', 'app.js', '--requests', 'requests.jsonl', '--threads', '1', ...flags];
  return runCli(words, { cwd, env: { FLUXION_CACHE: join(cwd, 'cache') } });
}
