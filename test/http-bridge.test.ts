import type { RequestListener } from 'node:http';
import test, { type ExecutionContext } from 'ava';
import { bridge, serve } from './support/bridged-app.js';
import { everythingApp } from './support/everything-app.js';
import { exchangeBytes, get, masked, post } from './support/raw-client.js';

const PATHS = [
  ...['/send/string', '/send/empty', '/send/none', '/send/buffer', '/send/object', '/send/null', '/send/utf8'],
  ...['/send/large', '/send/large-buffer', '/json', '/jsonp?callback=cb', '/status/201', '/status/204', '/status/304'],
  ...['/sendStatus/404', '/message', '/redirect', '/redirect/301', '/cookie', '/format', '/render', '/render/missing'],
  ...['/attachment', '/file', '/file/missing', '/download', '/headers', '/etag'],
  ...['/removed', '/removed/set-again', '/parsed', '/parsed?x=1'],
  ...[
    '/writeHead',
    '/writeHead/list',
    '/writeHead/length',
    '/writeHead/twice',
    '/invalid',
    '/write',
    '/length',
    '/trailers',
    '/flush',
  ],
  ...['/hints', '/nothing/200', '/nothing/204', '/nothing/304', '/pipe', '/callbacks', '/close-connection'],
  ...['/request/ann?x=1&y[]=2', '/request-raw', '/accepts', '/state', '/chain', '/route', '/later', '/url'],
  ...['/mounted/x/inner/7?q', '/mounted/x/leave', '/throws', '/throws/type', '/throws/string', '/throws/status'],
  ...['/throws/cause', '/throws/late', '/handled', '/nowhere'],
];

const SPECIAL: readonly string[] = [
  ...['/send/string', '/write', '/length', '/nothing/200', '/pipe', '/writeHead', '/json', '/file'].map((path) =>
    get(path, [], 'HEAD'),
  ),
  get('/etag', ['If-None-Match: W/"f-aLIzLNUxwyrYTQYOvTYOaKSU3OM"', 'If-None-Match: *']),
  get('/file', ['Range: bytes=10-29']),
  get('/file', ['Range: bytes=10-29,50-59']),
  get('/file', ['Range: bytes=99999999-']),
  get('/format', ['Accept: application/json']),
  get('/format', ['Accept: image/png']),
  get('/json', ['X-Hooks: 1']),
  get('/write', ['X-Hooks: 1']),
  get('/pipe', ['X-Hooks: 1']),
  get('/chain', ['X-Hooks: 1']),
  get('/json', ['X-Transform: 1']),
  get('/write', ['X-Transform: 1', 'X-Hooks: 1']),
  get('/pipe', ['X-Transform: 1']),
  get('/request-raw', ['X-Twice: 1', 'x-twice: 2', 'Cookie: a=b', 'Cookie: c=d', 'X-Forwarded-For: 1.2.3.4, 5.6.7.8']),
  get('/request/x', ['X-Forwarded-Proto: https', 'X-Forwarded-Host: example.com', 'X-Requested-With: xmlhttprequest']),
  post('/body', '{"a":{"b":[1,2,{"c":null}]},"__proto__":{"x":1}}'),
  post('/body', '{"broken'),
  post('/echo', 'some text', ['Content-Type: text/plain']),
  post('/echo', '', ['Content-Type: text/plain']),
  post('/count', 'x'.repeat(200_000), []),
  post('/iterate', 'some text', []),
  post('/ignore', 'x'.repeat(100), []),
  get('/count', ['Transfer-Encoding: chunked', 'Trailer: X-T'], 'POST') +
    '3\r\nabc\r\n2\r\nde\r\n0\r\nX-T: sum\r\n\r\n',
  `${get('/echo', ['Expect: 100-continue', 'Content-Length: 3'], 'POST')}abc`,
  'GET /write HTTP/1.0\r\n\r\n',
  'GET /send/string HTTP/1.0\r\nConnection: keep-alive\r\n\r\n' + 'GET /json HTTP/1.0\r\n\r\n',
  `GET /write HTTP/1.1\r\nHost: x\r\n\r\nGET /send/string HTTP/1.1\r\nHost: x\r\n\r\n${get('/json')}`,
];

async function same(t: ExecutionContext, ports: readonly [number, number], request: string): Promise<void> {
  const [bridged, plain] = await Promise.all(ports.map((port) => exchangeBytes(port, request)));
  t.is(masked(bridged ?? ''), masked(plain ?? ''), request.slice(0, 200));
}

test('a plain listener answers the same bytes', async (t) => {
  const make = (): RequestListener => (req, res) => {
    res.writeHead(200, 'Fine', ['X-Order', '2', 'x-order', '1', 'Content-Type', 'text/plain']);
    res.write('hello ');
    res.end(req.url);
  };
  const plain = await serve(make());
  const bridged = await bridge(make, { plain: true });
  t.teardown(() => bridged.close());
  t.teardown(() => plain.server.close());
  await same(t, [bridged.port, plain.port], get('/some?x=1'));
  t.deepEqual(bridged.ran, ['listener']);
});

for (const version of [3, 4, 5] as const) {
  test(`Express ${version} answers the same bytes`, async (t) => {
    const plain = await serve(everythingApp(version));
    const bridged = await bridge(() => everythingApp(version), { express: version });
    t.teardown(() => bridged.close());
    t.teardown(() => plain.server.close());
    for (const request of [...PATHS.map((path) => get(path)), ...SPECIAL]) {
      await same(t, [bridged.port, plain.port], request);
    }
    const stayed = bridged.outcomes.filter(({ kind }) => kind === 'cannot-travel' || kind === 'lost');
    // Errors of classes that packages make: those handlers were run again at home.
    t.true(stayed.every((outcome) => 'why' in outcome && /it is a (View|\w+Error)$/.test(outcome.why)));
    t.true(stayed.length <= 6);
    while (bridged.open().some((count) => count > 0)) await new Promise((done) => setImmediate(done));
    t.pass();
  });
}
