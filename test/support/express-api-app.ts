/**
 * A program in which each handler does one thing that Express or Node lets it do with a request and a response, and the
 * requests to ask it. For Express 3, 4 and 5.
 */
import { get, post } from './raw-client.js';
import type { Tree } from './temp-folder.js';

export type Version = 3 | 4 | 5;

const PROGRAM = String.raw`const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { PassThrough, Readable, pipeline } = require('node:stream');
const express = require(PACKAGE);
const version = VERSION;
const app = express();
const files = path.join(__dirname, 'files');
const sendFile = (res, ...args) => (res.sendFile || res.sendfile).apply(res, args);
app.set('trust proxy', true);
app.set('views', path.join(__dirname, 'views'));
app.engine('html', (file, options, done) => fs.readFile(file, 'utf8', (error, text) => error ? done(error) : done(null, text.replace('X', options.x) + Object.keys(options).sort())));
app.set('view engine', 'html');
app.locals.title = 'T';

// parameters
app.param('id', (req, res, next, id, name) => {
  if (id === 'bad') return next(new Error('bad id'));
  if (id === 'skip') return next('route');
  if (id === 'throw') throw new TypeError('thrown for a parameter');
  req.found = [id, name];
  req.params.id = id + '!';
  next();
});
app.param('user', (req, res, next, user) => {
  setTimeout(() => { req.user = { name: user, times: (req.user && req.user.times || 0) + 1 }; next(); }, 1);
});
app.get('/p/:id', (req, res) => res.json([req.params, req.found]));
app.get('/p/:id', (req, res) => res.json(['second', req.params]));
app.get('/u/:user', (req, res, next) => { req.user.first = true; next(); });
app.get('/u/:user', (req, res) => res.json([req.user, req.params]));

// routers and mounted apps
if (version > 3) {
  const router = express.Router({ mergeParams: true });
  router.param('y', (req, res, next, y) => { req.y = [y, req.baseUrl, req.url]; next(); });
  router.get('/:y', (req, res) => res.json([req.params, req.y, req.baseUrl, req.originalUrl, req.path, req.route.path]));
  router.use('/deep', (req, res, next) => { req.urls = [req.url, req.baseUrl, req.originalUrl]; next(); });
  router.get('/deep/:a/:b', (req, res) => res.json([req.urls, req.params]));
  app.use('/m/:x', router);
  const sub = express();
  sub.set('title', 'sub');
  sub.get('/', (req, res) => res.json([req.app === sub, req.baseUrl, req.url, res.app.get('title'), res.locals.passed, sub.mountpath, sub.path()]));
  sub.get('/fails', (req, res, next) => next(new Error('in sub')));
  sub.use((req, res, next) => { req.inSub = req.app === sub; next(); });
  app.use('/sub', (req, res, next) => { res.locals.passed = 'yes'; next(); }, sub);
  app.get('/sub/after', (req, res) => res.json([req.inSub, req.app === app, req.baseUrl, req.url]));
  app.route('/route')
    .all((req, res, next) => { req.all = 1; next(); })
    .get((req, res) => res.send('get' + req.all))
    .post((req, res) => res.send('post' + req.all))
    .delete((req, res, next) => next(new Error('not deleted')));
}

// what a handler does with its request and its response
const handlers = {
  'send-num': (req, res) => res.status(201).send('1'),
  'send-buf': (req, res) => { res.set('Content-Type', 'text/x'); res.send(Buffer.from('hey')); },
  'send-bool': (req, res) => res.send(true),
  'send-undefined': (req, res) => res.send(undefined),
  'send-ta': (req, res) => version > 3 ? res.send(new Uint8Array([104, 105])) : res.send('x'),
  'send-etag': (req, res) => { res.set('ETag', '"foo"'); res.send('x'.repeat(2000)); },
  'send-weak': (req, res) => res.send('x'.repeat(1200)),
  'send-304': (req, res) => { res.set('ETag', '"123"'); res.send('x'); },
  'send-205': (req, res) => res.status(205).send('x'),
  'send-charset': (req, res) => { res.set('Content-Type', 'text/plain; charset=iso-8859-1'); res.send('ab'); },
  'json-spaces': (req, res) => res.json({ a: 1, b: [1, { c: undefined, d: new Date(0) }] }),
  'json-null': (req, res) => res.json(null),
  'json-str': (req, res) => res.json('str'),
  'json-num': (req, res) => res.json(300),
  'json-ct': (req, res) => { res.set('Content-Type', 'application/vnd.x+json'); res.json({}); },
  'json-circ': (req, res) => { const a = {}; a.a = a; res.json(a); },
  'json-tojson': (req, res) => res.json({ toJSON() { return 'T'; } }),
  jsonp: (req, res) => res.jsonp({ a: '\u2028' }),
  type: (req, res) => { res.type('.png'); res.end(); },
  type2: (req, res) => { res.type('application/vnd.amazon.ebook'); res.end(); },
  ct: (req, res) => { (res.contentType || res.type).call(res, 'html'); res.end(); },
  links: (req, res) => { res.links({ next: 'http://a/b', last: 'http://c/d' }); res.links({ prev: 'http://p' }); res.end(); },
  append: (req, res) => { if (res.append) { res.append('Link', '<a>'); res.append('Link', ['<b>', '<c>']); res.append('Set-Cookie', 'x=1'); } res.cookie('y', 2); res.end(); },
  cookie: (req, res) => { res.cookie('name', 'tobi j', { maxAge: 1000, secure: true, sameSite: 'lax', encode: (v) => 'E' + v }); res.cookie('o', { a: [1] }, { expires: new Date(0), domain: 'x.y' }); res.clearCookie('z', { path: '/admin' }); res.end(); },
  location: (req, res) => { res.location('http://google.com/✓?req=\u2603 x'); res.end(); },
  'location-back': (req, res) => { res.location('back'); res.end(); },
  redirect: (req, res) => res.redirect('http://x.y/<la\'me>'),
  redirect307: (req, res) => res.redirect(307, '../up'),
  vary: (req, res) => { res.vary('Accept').vary(['Accept', 'Cookie']); res.end(); },
  attachment: (req, res) => { res.attachment('/p/日本語.txt'); res.send('a'); },
  status: (req, res) => res.status(418).end(),
  sendStatus: (req, res) => res.sendStatus ? res.sendStatus(599) : res.send(599),
  get: (req, res) => { res.setHeader('Content-Type', 'text/x-foo'); res.end([res.get('content-type'), res.get('Content-Type'), res.header && res.headersSent, res.hasHeader('content-type')].join()); },
  format: (req, res) => res.format({ text: () => res.send('hey'), html: () => res.send('<p>hey</p>'), json: (a, b, n) => b.send({ same: a === req && b === res, n: typeof n }), }),
  'format-default': (req, res) => res.format({ text: () => res.send('t'), default: () => res.send('default') }),
  'format-utf': (req, res) => res.format({ 'text/html; charset=utf-8': () => res.send('<p>') }),
  render: (req, res) => res.render('a', { x: 'X' }),
  'render-cb': (req, res) => res.render('a', { x: 'Y' }, (e, html) => { res.send(html.toUpperCase()); }),
  'render-missing': (req, res) => res.render('missing', (e) => res.status(500).send(e.message.slice(0, 30) + e.view.name)),
  'render-locals': (req, res) => { res.locals.y = 2; res.render('a', { x: 1 }); },
  'app-render': (req, res, next) => app.render('a', { x: 'app' }, (e, s) => e ? next(e) : res.send(s)),
  sendFile: (req, res, next) => sendFile(res, path.join(files, 'name.txt')),
  'sendFile-opts': (req, res, next) => sendFile(res, 'name.txt', { root: files, maxAge: '1d', headers: { 'x-a': 1 }, lastModified: false, cacheControl: true, immutable: true }),
  'sendFile-cb': (req, res, next) => sendFile(res, path.join(files, 'user.json'), (e) => { console.log('sendFile cb', e && e.code, res.headersSent, res.writableEnded); }),
  'sendFile-none': (req, res, next) => sendFile(res, path.join(files, 'none.txt'), (e) => { next(e); }),
  'sendFile-dir': (req, res, next) => sendFile(res, files),
  'sendFile-dot': (req, res) => sendFile(res, '.hidden', { root: files }),
  'sendFile-dot2': (req, res) => sendFile(res, '.hidden', { root: files, dotfiles: 'allow' }),
  'sendFile-empty': (req, res) => sendFile(res, path.join(files, 'empty.txt')),
  'sendFile-bad': (req, res) => sendFile(res),
  'sendFile-rel': (req, res) => sendFile(res, 'name.txt'),
  'sendFile-202': (req, res) => { res.status(202); sendFile(res, path.join(files, 'name.txt')); },
  'sendFile-ct': (req, res) => { res.type('text/x'); sendFile(res, path.join(files, 'name.txt')); },
  download: (req, res) => res.download(path.join(files, 'user.json')),
  'download-name': (req, res) => res.download(path.join(files, 'user.json'), 'document'),
  'download-cb': (req, res, next) => res.download(path.join(files, 'none.json'), 'x', (e) => { console.log('dl', e.code, res.getHeader('content-disposition')); next(e); }),
  'download-opts': (req, res) => version > 3 ? res.download('user.json', 'd.json', { root: files, headers: { 'X-Foo': 'Bar', 'Content-Disposition': 'inline' } }) : res.end(),
  'download-range': (req, res) => res.download(path.join(files, 'big.txt')),
  'end-cb': (req, res) => { res.end('x', () => console.log('end cb')); },
  stream: (req, res) => { Readable.from(['a', 'b', 'c']).pipe(res); },
  'pipeline-big': (req, res) => { pipeline(fs.createReadStream(path.join(files, 'big.txt'), { highWaterMark: 100 }), res, (e) => console.log('pl', e)); },
  cork: (req, res) => { res.cork(); res.write('a'); res.write('b'); res.uncork(); res.end('c'); },
  'headers-after': (req, res, next) => { res.write('x'); try { res.setHeader('a', 'b'); } catch (e) { console.log(e.code); } try { res.status(500).json({}); } catch (e) { console.log(e.code); res.end(); } },
  'send-twice': (req, res, next) => { res.send('one'); res.send('two'); },
  'write-after-end': (req, res) => { res.on('error', (e) => console.log('wae', e.code)); res.end('a'); console.log(res.write('b')); res.end('c'); },
  'end-twice': (req, res) => { res.end('a'); res.end(); console.log(res.finished, res.writableEnded); },
  'end-twice-cb': (req, res) => { res.end('a'); res.end((e) => console.log('2nd', e && e.code)); },
  rawlist: (req, res) => { res.writeHead(200, [['X-A', '1'], ['X-A', '2'], ['x-b', '3']]); res.end(); },
  'writeHead-merge': (req, res) => { res.setHeader('X-One', '1'); res.setHeader('Set-Cookie', ['a', 'b']); res.writeHead(200, 'OKAY', { 'x-ONE': '2', 'X-Two': '2' }); res.end(); },
  appendHeader: (req, res) => { res.appendHeader('X-L', '1'); res.appendHeader('x-l', '2'); res.appendHeader('X-L', ['3']); res.end(JSON.stringify(res.getHeaders()) + res.getHeaderNames() + res.getRawHeaderNames()); },
  setHeaders: (req, res) => { res.setHeaders && res.setHeaders(new Map([['a-b', '1'], ['C-d', '2']])); res.end(); },
  socket: (req, res) => res.json([req.socket === res.socket, req.connection === req.socket, res.connection === res.socket, req.socket.remoteAddress, req.socket.encrypted, typeof req.socket.localPort, req.socket.readyState, req.socket.writable, req.socket.readable, req.socket.remoteFamily, req.socket.connecting, req.socket.timeout, req.client === req.socket, req.socket.address().family]),
  'sock-events': (req, res) => { res.json([req.socket.listenerCount('close') > 0, res.socket._httpMessage === res, req.socket.parser !== null]); },
  trailers: (req, res) => { res.writeHead(200, { Trailer: 'X-A', 'Content-Type': 'text/plain' }); res.write('d'); res.addTrailers([['X-A', '1'], ['X-B', '2']]); res.end(); },
  sse: (req, res) => { res.writeHead(200, { 'Content-Type': 'text/event-stream' }); res.write('data: 1\n\n'); res.flush && res.flush(); setTimeout(() => res.end('data: 2\n\n'), 3); },
  implicit: (req, res) => { res.on('prefinish', () => console.log('prefinish', res.headersSent)); res.setHeader('X', 'y'); res.write(''); res.end(''); },
  setTimeout: (req, res) => { res.setTimeout(1e5, () => 0); req.setTimeout(1e5); res.end('t' + res.socket.timeout); },
  strict: (req, res) => { res.strictContentLength = true; res.setHeader('Content-Length', 2); try { res.end('abc'); } catch (e) { console.log(e.code); res.destroy(); } },
  date: (req, res) => { res.sendDate = false; res.end(); },
  'conn-close': (req, res) => { res.set('Connection', 'close'); res.end('x'); },
  te: (req, res) => { res.set('Transfer-Encoding', 'chunked'); res.end('x'); },
  useChunked: (req, res) => { res.useChunkedEncodingByDefault = false; res.write('x'); res.end(); },
  'req-misc': (req, res) => res.json([req.ip, req.ips, req.protocol, req.secure, req.host, req.hostname, req.subdomains, req.xhr, req.fresh, req.stale, req.path, req.query, req.accepts('html'), req.acceptsCharsets && req.acceptsCharsets('utf-8'), req.acceptsEncodings && req.acceptsEncodings('gzip'), req.acceptsLanguages && req.acceptsLanguages('en'), req.get('Referrer'), req.is('text/*'), req.range && req.range(1000), req.param && 0, req.headers, req.rawHeaders, req.headersDistinct, req.httpVersion, req.method, req.url]),
  'req-events': (req, res) => { const l = []; req.on('end', () => { l.push('end'); }); req.on('close', () => l.push('close')); req.on('data', (d) => l.push(d.length)); req.on('end', () => { res.json([l, req.complete, req.readableEnded]); }); },
  'req-enc': (req, res) => { let s = ''; req.setEncoding('utf8'); req.on('data', (d) => s += typeof d + d); req.on('end', () => res.send(s)); },
  'req-readable': (req, res) => { let s = ''; req.on('readable', () => { let c; while ((c = req.read(2)) !== null) s += c + '|'; const rest = req.read(); if (rest) s += rest; }); req.on('end', () => res.send(s)); },
  'req-pause': (req, res) => { req.pause(); let n = 0; req.on('data', (d) => n += d.length); setTimeout(() => { req.resume(); }, 2); req.on('end', () => res.send('' + n)); },
  'req-unpipe': (req, res) => { const p = new PassThrough(); req.pipe(p); req.unpipe(p); req.resume(); req.on('end', () => res.send('un')); },
  'req-text': async (req, res) => { res.send(await require('node:stream/consumers').text(req)); },
  'req-web': async (req, res) => { const w = Readable.toWeb(req); let t = ''; for await (const c of w) t += Buffer.from(c); res.send(t); },
  'req-toArray': async (req, res) => { res.send('' + (await req.toArray()).length); },
  'req-destroyed': (req, res) => { req.on('close', () => console.log('reqclose', req.destroyed)); req.resume(); req.on('end', () => setTimeout(() => res.send('' + req.destroyed), 2)); },
  'throw-status': () => { const e = new Error('bad'); e.status = 400; e.expose = true; throw e; },
  'throw-str': () => { throw 'str'; },
  'next-route-err': (req, res, next) => next(undefined),
  'next-null': (req, res, next) => next(null),
  'next-zero': (req, res, next) => next(0),
  'next-false': (req, res, next) => next(false),
  'next-empty': (req, res, next) => next(''),
  'next-obj': (req, res, next) => next({ status: 409, message: 'obj' }),
  httperr: (req, res, next) => next(require('http-errors')(404, 'nope', { extra: 1 })),
  aggregate: (req, res, next) => next(new AggregateError([new Error('a')], 'agg')),
  'async-throw': async (req, res) => { if (version < 5) res.send('sent'); throw new SyntaxError('async'); },
  'async-next': async (req, res, next) => { await null; next(); },
  'headers-err': (req, res, next) => { const e = new Error('auth'); e.statusCode = 401; e.headers = { 'WWW-Authenticate': 'Basic' }; next(e); },
  'next-twice': (req, res, next) => { next(); next(); },
  thenable: (req, res) => { if (version < 5) res.send('sent'); return { then() { console.log('asked'); res.send('thenable'); } }; },
  'sync-return': (req, res) => res.send('ret') && 5,
  ctxthis: function (req, res) { res.send(String(this === undefined || this === globalThis)); },
  argc: function () { arguments[1].send(String(arguments.length)); },
};
for (const [name, handler] of Object.entries(handlers)) {
  // Each of some thirty methods is a function more in the router; one by all of them is enough.
  if (name === 'send-bool') app.all('/r/' + name, handler);
  else app.get('/r/' + name, handler).post('/r/' + name, handler);
}

// bodies that middleware of Express reads
if (express.json) {
  const verify = (req, res, buffer) => { if (buffer[0] === 0x5b) throw new Error('no lists'); req.raw = buffer; };
  app.use('/body/json', express.json({ limit: 100, verify }), (req, res) => res.json([req.body, req.raw && req.raw.length, Buffer.isBuffer(req.raw)]));
  app.use('/body/form', express.urlencoded({ extended: true }), (req, res) => res.json(req.body));
}
if (version > 3) {
  app.use('/body/text', express.text({ type: '*/*' }), (req, res) => res.json([req.body, req.complete, req.readableEnded]));
  app.use('/body/raw', express.raw({ type: () => true }), (req, res) => res.json([Buffer.isBuffer(req.body), String(req.body)]));
}

// files
app.use('/static', express.static(files, { maxAge: 1000, setHeaders: (res, file, stat) => { res.setHeader('X-Size', stat.size); } }), (req, res) => res.status(404).send('fell through'));
app.use('/strict', express.static(files, { index: false, redirect: false, fallthrough: false, dotfiles: 'deny' }));

// chains
app.get('/chain',
  (req, res, next) => { req.a = { list: [1] }; req.b = req.a; res.locals.l = req.a; next(); },
  [
    (req, res, next) => { req.a.list.push(2); req.b.same = req.a === req.b && res.locals.l === req.a; next(); },
    (req, res, next) => { delete req.b; req.byItem = new Map([[req.a, 1]]); next(); },
  ],
  (req, res) => res.json([req.a, 'b' in req, res.locals.l === req.a, req.byItem.get(req.a)]));
app.get(/^\/re\/(\d+)\/(?<name>\w+)$/, (req, res) => res.json(req.params));
app.get('/list', [[(req, res, next) => next()], (req, res, next) => next('route')], (req, res) => res.send('no'));
app.get('/list', (req, res) => res.send('yes'));

// errors
app.get('/status-and-throw', (req, res) => { res.status(404).set('X-Before', 'kept'); req.before = 'kept'; throw new Error('thrown'); });
app.use((req, res, next) => { if (req.path === '/last') return next(new Error('last')); next(); });
app.use((error, req, res, next) => { if (error && error.message === 'bad id') { req.handled = true; return next(); } next(error); });
app.use((req, res, next) => { if (req.handled) return res.send('handled'); next(); });
app.use((error, req, res, next) => { if (error && error.message === 'last') return res.status(500).send(error.stack.split('\n').slice(0, 8).join('\n').replaceAll(__dirname, '')); next(error); });
app.use((error, req, res, next) => { if (req.before) console.log(req.before, res.statusCode, res.get('X-Before')); next(error); });
process.on('unhandledRejection', (error) => console.log('unhandled', String(error)));
const server = http.createServer(app).listen(0, '127.0.0.1', () => console.log('port ' + server.address().port));
`;

export function apiApp(version: Version): Tree {
  const name = version === 5 ? 'express' : `express${version}`;
  return {
    'app.js': PROGRAM.replace('PACKAGE', `'${name}'`).replace('VERSION', String(version)),
    'views/a.html': 'hello <b>X</b>',
    'files/name.txt': 'tobi',
    'files/user.json': '{"a":1}',
    'files/big.txt': 'x'.repeat(5000),
    'files/index.html': '<p>index</p>',
    'files/.hidden': 'hidden',
    'files/% of dogs.txt': '20%',
    'files/empty.txt': '',
    'files/sub/index.html': 'sub',
  };
}

const PROXIED = ['X-Forwarded-For: 1.1.1.1, 2.2.2.2', 'X-Forwarded-Proto: https', 'Referer: http://from/'];

const PATHS = [
  ...[
    '/p/1',
    '/p/bad',
    '/p/skip',
    '/p/throw',
    '/u/bob',
    '/m/1/2',
    '/m/1/deep/3/4?z=1',
    '/sub',
    '/sub/fails',
    '/sub/after',
  ],
  ...['/route', '/re/12/ab', '/list', '/chain', '/last', '/status-and-throw', '/none', '/%'],
  ...['/static/name.txt', '/static/', '/static/sub', '/static/none', '/static/%25%20of%20dogs.txt', '/static/.hidden'],
  ...['/strict/', '/strict/.hidden', '/strict/none', '/strict/../x', '/strict/sub'],
];

const BODIES = ['{"a":1}', '[1]', 'bad {', 'x'.repeat(200), ''];

const CONDITIONAL = [
  get('/static/big.txt', ['Range: bytes=-5', 'If-Range: "x"']),
  get('/r/send-304', ['If-None-Match: "123"']),
  get('/r/send-weak', ['If-None-Match: *']),
  get('/r/sendFile', ['If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT']),
];

export function apiRequests(version: Version): readonly string[] {
  const names = [...PROGRAM.matchAll(/^ {2}'?([\w-]+)'?: /gm)].map(([, name = '']) => name);
  return [
    ...PATHS.map((path) => get(path, PROXIED)),
    ...names.flatMap((name) => byAllMethods(`/r/${name}`)),
    ...['POST', 'DELETE', 'PATCH', 'OPTIONS'].map((method) => get('/route', [], method)),
    ...['HEAD', 'POST'].map((method) => get('/static/name.txt', [], method)),
    ...['bytes=0-9', 'bytes=9999-', 'bytes=1-3,5-6'].map((range) => get('/static/big.txt', [`Range: ${range}`])),
    ...['bytes=1-3', 'bytes=1-3,5-6'].map((range) => get('/r/download-range', [`Range: ${range}`])),
    // Express 3 reads there what newer versions of Node no longer have, and the process ends.
    ...(version === 3 ? [] : CONDITIONAL),
    get('/r/jsonp?callback=foo.bar[1]'),
    ...['text/html', 'application/json', 'image/x', 'text/*;q=.5, application/json;q=.6'].flatMap((type) =>
      ['format', 'format-default', 'format-utf'].map((name) => get(`/r/${name}`, [`Accept: ${type}`])),
    ),
    get('/r/req-misc?a[b]=1&c=2&c=3', [
      ...['X-Requested-With: XMLHttpRequest', 'Accept-Language: en;q=.8, es', 'Accept-Encoding: gzip', 'X-Dup: 1'],
      ...['Accept-Charset: utf-8', 'Range: bytes=0-4', 'x-dup: 2', 'Cookie: a=1', 'Cookie: b=2', ...PROXIED],
    ]),
    ...(version === 3 ? [] : ['json', 'form', 'text', 'raw'].flatMap((kind) => bodiesFor(`/body/${kind}`))),
  ];
}

function byAllMethods(path: string): readonly string[] {
  // Node itself ends the program by an error where trailers are added to an answer without a body.
  const head = path.endsWith('/trailers') ? [] : [get(path, [], 'HEAD')];
  return [get(path, PROXIED), ...head, post(path, 'hello wörld', ['Content-Type: text/plain'])];
}

function bodiesFor(path: string): readonly string[] {
  return [
    ...BODIES.map((body) => post(path, body)),
    post(path, 'a[b]=1&c=%E2%9C%93', ['Content-Type: application/x-www-form-urlencoded']),
    post(path, '{}', ['Content-Type: application/json', 'Content-Encoding: nope']),
    `${get(path, ['Content-Type: application/json', 'Transfer-Encoding: chunked'], 'POST')}3\r\n{"b\r\n4\r\n":2}\r\n0\r\n\r\n`,
  ];
}
