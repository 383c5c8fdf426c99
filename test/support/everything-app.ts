/** An Express app with a handler for each thing that a handler does with `req`, `res` and `next`; for Express 3, 4 and 5. */
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atHome } from './bridged-app.js';
import { type App, type ErrorHandler, type Handler, load } from './express-types.js';

export type Version = 3 | 4 | 5;

const folder = mkdtempSync(join(tmpdir(), 'fluxion-bridge-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'file.txt');
writeFileSync(file, Array.from({ length: 30_000 }, (_, at) => `line ${at}\n`).join(''));
writeFileSync(join(folder, 'page.x'), 'Hello $name of $site, $local\n');

/** A JSON body parser that needs no package, so that all versions have the same. */
const parseBody: Handler = atHome((req, _res, next) => {
  if (req.headers['content-type'] !== 'application/json') return next();
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    try {
      req.body = JSON.parse(Buffer.concat(chunks).toString());
      next();
    } catch (error) {
      next(error);
    }
  });
});

const someState: Handler = atHome((req, res, next) => {
  req.user = { name: 'Ann', tags: ['a', 'b'], since: new Date(0), seen: new Map([['x', { n: 1 }]]) };
  res.locals.local = 'local';
  res.setHeader('X-Early', 'kept');
  res.setHeader('x-LATER', 'changed or removed');
  next();
});

/** Adds a header as late as can be and counts what is written, as packages for headers, sessions and logs do. */
const hooks: Handler = atHome((req, res, next) => {
  if (req.headers['x-hooks'] === undefined) return next();
  const { writeHead, write, end } = res;
  let calls = '';
  const count = (name: string, chunk: unknown): void => {
    calls += `${name}:${typeof chunk === 'string' ? `s${chunk.length}` : Buffer.isBuffer(chunk) ? `b${chunk.length}` : '-'} `;
  };
  Object.assign(res, {
    writeHead(...args: unknown[]) {
      res.setHeader('X-Hooked', `${calls}user=${req.user.name} ${String(req.custom)}`);
      return Reflect.apply(writeHead, res, args);
    },
    write(...args: unknown[]) {
      count('write', args[0]);
      return Reflect.apply(write, res, args);
    },
    end(...args: unknown[]) {
      count('end', args[0]);
      return Reflect.apply(end, res, args);
    },
  });
  next();
});

/** Turns all that is written upside down, in pieces, like a compression. */
const transform: Handler = atHome((req, res, next) => {
  if (req.headers['x-transform'] === undefined) return next();
  const { write, end } = res;
  const shout = (chunk: unknown): string =>
    (Buffer.isBuffer(chunk) ? chunk.toString() : String(chunk ?? '')).toUpperCase();
  Object.assign(res, {
    write(chunk: unknown) {
      if (!res.headersSent) res.removeHeader('Content-Length');
      return Reflect.apply(write, res, [shout(chunk)]);
    },
    end(chunk: unknown) {
      if (!res.headersSent) res.removeHeader('Content-Length');
      if (chunk !== undefined) Reflect.apply(write, res, [shout(chunk)]);
      return Reflect.apply(end, res, []);
    },
  });
  next();
});

export function everythingApp(version: Version): App {
  const express = load(version);
  const app = express();
  app.engine('x', (_path, locals, done) => {
    done(null, `Hello ${String(locals.name)} of ${String(locals.site)}, ${String(locals.local)}\n`);
  });
  app.set('view engine', 'x');
  app.set('views', folder);
  app.enable('trust proxy');
  app.locals.site = 'site';
  app.use(parseBody);
  app.use(someState);
  app.use(hooks);
  app.use(transform);
  addReplies(app, version);
  addRaw(app);
  addRequests(app);
  addChains(app, version);
  addErrors(app);
  return app;
}

function addReplies(app: App, version: Version): void {
  app.get('/send/string', (_req, res) => res.send('some text'));
  app.get('/send/empty', (_req, res) => res.send(''));
  app.get('/send/none', (_req, res) => res.send());
  app.get('/send/buffer', (_req, res) => res.send(Buffer.from([1, 2, 3, 255])));
  app.get('/send/object', (_req, res) => res.send({ a: [1, 2], b: null }));
  app.get('/send/null', (_req, res) => res.send(null));
  app.get('/send/utf8', (_req, res) => res.send('héllo ✓'));
  app.get('/send/large', (_req, res) => res.send('x'.repeat(300_000)));
  app.get('/send/large-buffer', (_req, res) => res.send(Buffer.alloc(300_000, 'y')));
  app.get('/json', (_req, res) => res.json({ list: [1, { deep: true }], text: '<é>' }));
  app.get('/jsonp', (_req, res) => res.jsonp({ a: 1 }));
  app.get('/status/:code', (req, res) => res.status(Number(req.params.code)).send('body'));
  if (version > 3) app.get('/sendStatus/:code', (req, res) => res.sendStatus(Number(req.params.code)));
  app.get('/message', (_req, res) => {
    res.statusMessage = 'So So';
    res.status(299).send('x');
  });
  app.get('/redirect', (_req, res) => res.redirect('/elsewhere?a=ü'));
  app.get('/redirect/301', (_req, res) => res.redirect(301, 'http://example.com/'));
  app.get('/cookie', (_req, res) => {
    res.cookie('a', 'one', { httpOnly: true, path: '/x' });
    res.cookie('b', { json: true });
    res.clearCookie('c');
    res.send('cookies');
  });
  app.get('/format', (_req, res) => {
    res.format({ 'text/plain': (_q, r) => r.send('plain'), 'application/json': (_q, r) => r.send({ json: true }) });
  });
  app.get('/render', (_req, res) => res.render('page', { name: 'you' }));
  app.get('/render/missing', (_req, res) => res.render('nowhere'));
  app.get('/attachment', (_req, res) => res.attachment('näme.pdf').send('pdf'));
  app.get('/file', (_req, res) => (version === 3 ? res.sendfile(file) : res.sendFile(file)));
  app.get('/file/missing', (_req, res) => (version === 3 ? res.sendfile(`${file}x`) : res.sendFile(`${file}x`)));
  app.get('/download', (_req, res) => res.download(file, 'other.txt'));
  app.get('/headers', (_req, res) => {
    res.set('X-Mixed-Case', 'one').set('x-lower', 'two');
    res.setHeader('X-List', ['a', 'b']);
    res.setHeader('X-Number', 7);
    res.setHeader('Set-Cookie', ['q=1', 'r=2']);
    res.setHeader('X-Early', 'overwritten');
    res.removeHeader('X-Later');
    res.setHeader('x-later', 'again');
    res.vary('Accept');
    res.type('html').send('<p>');
  });
  app.get('/removed', (_req, res) => {
    for (const name of ['X-Powered-By', 'X-Early', 'Date', 'Connection', 'Content-Length']) res.removeHeader(name);
    res.end('removed');
  });
  app.get('/removed/set-again', (_req, res) => {
    for (const name of ['Date', 'Connection', 'Content-Length']) res.removeHeader(name);
    res.setHeader('Content-Length', 5);
    res.end('again');
  });
  app.get('/parsed', (req, res) => {
    const parsed = Object(Reflect.get(req, '_parsedUrl'));
    res.send([parsed.pathname, parsed.query, parsed.search, Object.keys(parsed)]);
  });
  app.get('/etag', (_req, res) => res.send('always the same'));
}

function addRaw(app: App): void {
  app.all('/writeHead', (_req, res) => {
    res.writeHead(201, 'Made', { 'X-A': '1', 'x-early': 'by writeHead', 'X-C': ['1', '2'] });
    res.end('made');
  });
  app.get('/writeHead/list', (_req, res) => {
    res.writeHead(200, ['X-B', '1', 'x-b', '2', 'Content-Type', 'text/x']);
    res.end();
  });
  app.get('/writeHead/length', (_req, res) => {
    Reflect.set(res, '_contentLength', 5);
    res.writeHead(200, { 'Content-Type': 'text/plain' });
    res.end('known');
  });
  app.get('/writeHead/twice', (_req, res) => {
    res.writeHead(200);
    try {
      res.writeHead(201);
    } catch (error) {
      res.end(`${String(error)} ${res.headersSent}`);
    }
  });
  app.get('/invalid', (_req, res) => {
    const said: string[] = [];
    for (const step of [
      () => res.setHeader('bad name', 'x'),
      () => res.setHeader('X', 'bad\nvalue'),
      () => res.writeHead(99),
      () => res.end(7),
    ]) {
      try {
        step();
      } catch (error) {
        said.push(String(error));
      }
    }
    res.end(said.join('\n'));
  });
  app.all('/write', (_req, res) => {
    res.write('one ');
    res.write(Buffer.from('two '));
    res.write('74776f', 'hex');
    setTimeout(() => {
      res.write(' later');
      setImmediate(() => res.end(' end'));
    }, 5);
  });
  app.all('/length', (_req, res) => {
    res.setHeader('Content-Length', 5);
    res.write('12');
    res.end('345');
  });
  app.get('/trailers', (_req, res) => {
    res.setHeader('Trailer', 'X-Sum');
    res.write('body');
    res.addTrailers({ 'X-Sum': '10' });
    res.end();
  });
  app.get('/flush', (_req, res) => {
    res.setHeader('X-Flushed', 'yes');
    res.flushHeaders();
    setTimeout(() => res.end('flushed'), 5);
  });
  app.get('/hints', (_req, res) => {
    res.writeProcessing();
    res.writeEarlyHints({ link: '</a.css>; rel=preload' }, () => res.end('hinted'));
  });
  app.all('/nothing/:code', (req, res) => {
    res.statusCode = Number(req.params.code);
    res.end('not sent where there is no body');
  });
  app.get('/pipe', (_req, res) => {
    res.setHeader('Content-Type', 'text/plain');
    createReadStream(file).pipe(res);
  });
  app.get('/callbacks', (_req, res) => {
    const order: string[] = [];
    res.on('finish', () => order.push('finish'));
    res.write('a', () => {
      order.push('written');
      res.write(order.join());
      res.end('b', () => order.push('ended'));
    });
  });
  app.get('/close-connection', (_req, res) => {
    res.shouldKeepAlive = false;
    res.send('closing');
  });
}

function addRequests(app: App): void {
  app.get('/request/:name', (req, res) => {
    const { method, url, originalUrl, baseUrl, params, query, ip, ips, protocol, secure, xhr, hostname, path } = req;
    const { httpVersion, rawHeaders, headers, complete, route } = req;
    res.json({ method, url, originalUrl, baseUrl, params, query, ip, ips, protocol, secure, xhr, hostname, path });
    return { httpVersion, rawHeaders, headers, complete, route };
  });
  app.all('/request-raw', (req, res) => {
    const { httpVersion, httpVersionMajor, rawHeaders, headers, headersDistinct, upgrade, aborted } = req;
    const { remoteFamily, localPort, destroyed } = req.socket;
    const route = req.route.path;
    const same = [req.res === res, res.req === req, req.app === res.app, typeof req.next, localPort === undefined];
    res.json({
      ...{
        httpVersion,
        httpVersionMajor,
        headers,
        headersDistinct,
        upgrade,
        aborted,
        remoteFamily,
        destroyed,
        route,
        same,
      },
      raw: rawHeaders.length,
    });
  });
  app.get('/accepts', (req, res) => {
    res.json([req.accepts('json', 'html'), req.is('json'), req.get('X-Some'), req.range(100), req.fresh]);
  });
  app.post('/body', (req, res) => res.json({ body: req.body, keys: Object.keys(req.body) }));
  app.post('/echo', (req, res) => {
    req.pipe(res);
  });
  app.post('/count', (req, res) => {
    let bytes = 0;
    req.on('data', (chunk: Buffer) => (bytes += chunk.length));
    req.on('end', () => res.json({ bytes, complete: req.complete, trailers: req.trailers }));
  });
  app.post('/iterate', async (req, res) => {
    let text = '';
    for await (const chunk of req) text += String(chunk);
    res.end(text);
  });
  app.post('/ignore', (_req, res) => res.send('not read'));
  app.get('/state', (req, res) => {
    const { user } = req;
    res.json([user, user.since instanceof Date, user.seen instanceof Map && user.seen.size, res.locals.local]);
  });
}

function addChains(app: App, version: Version): void {
  app.get('/chain', (req, _res, next) => {
    req.custom = { by: 'first' };
    req.user.name = 'Bob';
    (req.user.tags as string[]).push('c');
    delete req.user.since;
    next();
  });
  app.get('/chain', (req, res, next) => {
    res.setHeader('X-Chain', 'yes');
    res.status(202);
    req.headers['x-added'] = 'added';
    next();
  });
  app.get(
    '/chain',
    atHome<Handler>((req, res) => res.json([req.custom, req.user, req.headers['x-added'], res.statusCode])),
  );
  app.get(
    '/route',
    (_req, _res, next) => next('route'),
    (_req, res) => res.send('wrong'),
  );
  app.get('/route', (_req, res) => res.send('right'));
  app.get('/later', (_req, _res, next) => {
    setImmediate(next);
  });
  app.get('/later', (_req, res) => setTimeout(() => res.send('later'), 2));
  app.get('/url', (req, _res, next) => {
    req.url = '/send/string';
    next();
  });
  if (version > 3) {
    const router = load(version).Router();
    const inner: Handler = (req, _res, next) => {
      req.custom = `in ${req.baseUrl} ${req.url}`;
      next();
    };
    router.use(inner);
    router.get('/inner/:id', (req, res) => res.json([req.custom, req.baseUrl, req.originalUrl, req.params, req.path]));
    router.get('/leave', (_req, _res, next) => next('router'));
    router.get('/leave', (_req, res) => res.send('wrong'));
    app.use('/mounted/:a', router as unknown as Handler);
    app.get('/mounted/x/leave', (_req, res) => res.send('left'));
  }
}

function addErrors(app: App): void {
  app.get('/throws', () => {
    throw new Error('no luck');
  });
  app.get('/throws/type', () => {
    const nothing: unknown = undefined;
    return (nothing as { x: number }).x;
  });
  app.get('/throws/string', () => {
    throw 'a string';
  });
  app.get('/throws/status', () => {
    throw Object.assign(new RangeError('teapot'), { status: 418, headers: { 'X-Tea': 'green' }, code: 'TEA' });
  });
  app.get('/throws/cause', (_req, _res, next) => next(new Error('outer', { cause: new TypeError('inner') })));
  app.get('/throws/late', (_req, _res, next) => {
    setImmediate(() => next(new Error('late')));
  });
  app.get('/throws/written', (_req, res) => {
    res.write('partial');
    throw new Error('too late');
  });
  app.get('/handled', (_req, _res, next) =>
    next(Object.assign(new Error('to be handled'), { handle: true, code: 'E' })),
  );
  const handle: ErrorHandler = (err, req, res, next) => {
    if (typeof err === 'string' || !('handle' in err)) return next(err);
    res.status(503).json({ message: err.message, code: err.code, url: req.url, isError: err instanceof Error });
  };
  app.use(handle);
}
