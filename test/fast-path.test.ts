import diagnostics from 'node:diagnostics_channel';
import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import { createRequire } from 'node:module';
import net from 'node:net';
import test, { type ExecutionContext } from 'ava';
import fastPath from '../runtime/fast-path/born-as-express.cjs';

// Requests and responses that are born with the prototypes which Express is about to set: nobody may see that.

const require = createRequire(import.meta.url);

interface Req extends http.IncomingMessage {
  baseUrl: string;
  originalUrl: string;
  params: object;
  query: object;
  app: App;
  route?: { readonly path: unknown };
  ip: string;
}
interface Res extends http.ServerResponse {
  locals: { [name: string]: unknown };
  app: App;
  json(value: unknown): Res;
  send(value: unknown): Res;
  status(code: number): Res;
  set(name: string, value: unknown): Res;
  type(name: string): Res;
}
type Next = (error?: unknown) => void;
type Handler = (req: Req, res: Res, next: Next) => unknown;
type Fn = (...args: unknown[]) => unknown;
interface Router {
  use(...args: unknown[]): unknown;
  all(...args: unknown[]): unknown;
  get(...args: unknown[]): unknown;
  post(...args: unknown[]): unknown;
  param(name: string, fn: Fn): unknown;
}
interface App extends Router {
  (req: http.IncomingMessage, res: http.ServerResponse): void;
  request: object;
  response: { [name: string]: unknown };
  handle: Fn;
  set(name: string, value: unknown): unknown;
}
interface Express {
  (): App;
  Router(options?: object): Router;
  response: { [name: string]: unknown };
}

const VERSIONS = ['express4', 'express'].map((name) => [name, require(name) as Express] as const);

async function listen(t: ExecutionContext, server: http.Server): Promise<number> {
  server.listen(0);
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** What comes back, byte for byte. */
async function exchange(port: number, requests: readonly string[]): Promise<string> {
  const socket = net.connect(port);
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  socket.write(
    requests.map((each, index) => each.replace('$END', index === requests.length - 1 ? CLOSE : '')).join(''),
  );
  await once(socket, 'close');
  return text.replace(/^Date: .*$/gm, 'Date: x').replace(/:\d{4,5}\b/g, ':port');
}

const CLOSE = 'Connection: close\r\n';
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n$END\r\n`;

// --- it is used, and Express finds what it would set ----------------------------------------------------------------------

for (const [name, express] of VERSIONS) {
  test.serial(`${name}: requests are born so, with Express itself looking at them`, async (t) => {
    const app = express();
    app.get('/', (req: Req, res: Res) => {
      const seen = [Object.getPrototypeOf(req) === app.request, Object.getPrototypeOf(res) === app.response];
      const { name: made } = req.constructor;
      // Stack traces name what an object was made by.
      Reflect.set(app.response, 'whoAmI', function whoAmI(this: unknown) {
        return /at (\w+)\.whoAmI/.exec(String(new Error().stack))?.[1];
      });
      Reflect.set(app.request, 'whoAmI', Reflect.get(app.response, 'whoAmI'));
      const who = [req, res].map((each) => (Reflect.get(each, 'whoAmI') as Fn).call(each));
      res.json({ seen, is: req instanceof http.IncomingMessage, made, who });
    });
    const server = http.createServer(app);
    t.true(fastPath.apply(server));
    const port = await listen(t, server);
    const born: boolean[] = [];
    const emit = server.listeners('request')[0];
    t.is(emit, app);
    // Looked up on the app each time, with nothing of the request.
    Reflect.set(app, 'enabled', () => {
      const { incoming } = parserOf(server);
      born.push(incoming !== null && Object.getPrototypeOf(incoming) === app.request);
      return true;
    });
    const text = await exchange(port, [get('/'), get('/')]);
    t.deepEqual(
      [...text.matchAll(/\{.*\}/g)].map(String),
      Array(2).fill(
        '{"seen":[true,true],"is":true,"made":"IncomingMessage","who":["IncomingMessage","ServerResponse"]}',
      ),
    );
    t.true(born.includes(true));
  });
}

function parserOf(server: http.Server): { readonly incoming: object | null } {
  const symbol = Object.getOwnPropertySymbols(server).find(
    ({ description }) => description === 'http.server.connections',
  );
  const list: { all(): { readonly incoming: object | null }[] } = Reflect.get(server, symbol ?? '');
  return list.all().find(({ incoming }) => incoming !== null) ?? { incoming: null };
}

// --- whoever looks before Express finds Node's own -------------------------------------------------------------------------

const [, express] = VERSIONS[1]!;

function plainApp(): App {
  const app = express();
  app.get('/', (_req: Req, res: Res) => res.send('served'));
  return app;
}

interface Watched {
  readonly server: http.Server;
  readonly app: App;
  readonly see: (req: unknown, res?: unknown) => void;
}

/** Before it listens, and while it serves. */
const OBSERVERS: { readonly [name: string]: (watched: Watched) => () => void } = {
  'a listener of its own': ({ server, see }) => {
    server.prependListener('request', see);
    return () => server.off('request', see);
  },
  'a handle of its own': ({ app, see }) => {
    const { handle } = app;
    app.handle = (req, res) => {
      see(req, res);
      return Reflect.apply(handle, app, [req, res]);
    };
    return () => (app.handle = handle);
  },
  'an emit of its own': ({ server, see }) => {
    Reflect.set(server, 'emit', (event: string, ...args: unknown[]) => {
      if (event === 'request') see(args[0], args[1]);
      return Reflect.apply(EventEmitter.prototype.emit, server, [event, ...args]);
    });
    return () => void Reflect.deleteProperty(server, 'emit');
  },
  'a channel of Node': ({ see }) => {
    const heard = (message: unknown): void =>
      see(Reflect.get(Object(message), 'request'), Reflect.get(Object(message), 'response'));
    diagnostics.subscribe('http.server.request.start', heard);
    return () => void diagnostics.unsubscribe('http.server.request.start', heard);
  },
  'a method that Express calls before': ({ app, see }) => {
    const native = http.ServerResponse.prototype.setHeader;
    app.response.setHeader = function (this: http.ServerResponse, name: string, value: string): unknown {
      if (name === 'X-Powered-By') see(null, null);
      return Reflect.apply(native, this, [name, value]);
    };
    return () => void Reflect.deleteProperty(app.response, 'setHeader');
  },
};

for (const [name, observe] of Object.entries(OBSERVERS)) {
  for (const when of ['before it listens', 'while it serves'] as const) {
    test.serial(`${name}, ${when}: it finds what Node makes`, async (t) => {
      const app = plainApp();
      const server = http.createServer(app);
      const seen: boolean[] = [];
      const see = (req: unknown, res?: unknown): void => {
        const own = [http.IncomingMessage.prototype, http.ServerResponse.prototype];
        seen.push(
          Object.getPrototypeOf(req) === own[0] && (res === undefined || Object.getPrototypeOf(res) === own[1]),
        );
      };
      let undo = when === 'before it listens' ? observe({ server, app, see }) : null;
      fastPath.apply(server);
      const port = await listen(t, server);
      await exchange(port, [get('/')]);
      undo ??= observe({ server, app, see });
      try {
        t.regex(await exchange(port, [get('/')]), /served/);
      } finally {
        undo();
      }
      // Express calls its own `setHeader` by then, or Node's: a patch is not seen at all.
      if (name.startsWith('a method')) t.deepEqual(seen, []);
      else t.true(seen.length > 0 && seen.every((each) => each));
      t.regex(await exchange(port, [get('/')]), /served/);
    });
  }
}

test('servers that are not just one Express app stay as they are', (t) => {
  const app = plainApp();
  t.false(fastPath.apply(http.createServer((req, res) => app(req, res))));
  t.false(fastPath.apply(http.createServer(app).on('checkContinue', () => {})));
  t.false(fastPath.apply(http.createServer(app).on('upgrade', () => {})));
  class Own extends http.IncomingMessage {}
  t.false(fastPath.apply(http.createServer({ IncomingMessage: Own }, app)));
  const patched = plainApp();
  Object.defineProperty(patched.request, 'url', { get: () => '/other', set: () => {}, configurable: true });
  t.false(fastPath.apply(http.createServer(patched)));
});

// --- random apps -----------------------------------------------------------------------------------------------------------

/** Small, and the same everywhere. */
function chance(seed: number): (below: number) => number {
  let state = seed * 2654435761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % below;
  };
}

const PATHS = ['/', '/a', '/a/b', '/:id', '/:id/b', '/A', '/a/', '/%61', '/x.y'];
const URLS = [
  ...PATHS.filter((path) => !path.includes(':')),
  '/7',
  '/7/b',
  '/7/b/?q=1&q=2',
  '/%zz',
  '/none',
  '/a?x[y]=1',
  '//a',
  '/a/b/a/b',
];
const METHODS = ['GET', 'POST', 'HEAD', 'OPTIONS', 'DELETE'];

function randomApp(make: Express, seed: number): App {
  const next = chance(seed);
  const pick = <T>(list: readonly T[]): T => list[next(list.length)]!;
  const trace = (req: Req, res: Res, mark: number): void => {
    const list = (res.locals.trace as unknown[] | undefined) ?? (res.locals.trace = []);
    const is = [Object.getPrototypeOf(req) === req.app.request, Object.getPrototypeOf(res) === res.app.response];
    const { url, baseUrl, originalUrl, params, query, route } = req;
    (list as unknown[]).push([
      mark,
      url,
      baseUrl,
      originalUrl,
      params,
      query,
      String(route?.path),
      is,
      Object.keys(req).length,
    ]);
  };
  let marks = 0;
  const handler = (): Handler => {
    const [kind, mark] = [next(9), ++marks];
    return (req, res, go) => {
      trace(req, res, mark);
      if (kind < 4) return go();
      if (kind === 4) return setImmediate(go);
      if (kind === 5) return go('route');
      if (kind === 6) throw Object.assign(new Error(`thrown by ${mark}`), { status: 418, stack: 'as always' });
      if (kind === 7) return go(Object.assign(new Error(`passed by ${mark}`), { stack: 'as always' }));
      return res.status(200 + (mark % 5)).json({ mark, trace: res.locals.trace, keys: Object.keys(res).length });
    };
  };
  const fill = (router: Router, depth: number): void => {
    for (let count = 2 + next(4); count > 0; count--) {
      const kind = next(depth > 0 ? 7 : 5);
      if (kind === 0) router.use(handler());
      else if (kind === 1) router.get(pick(PATHS), handler(), handler());
      else if (kind === 2) router.post(pick(PATHS), handler());
      else if (kind === 3) router.all(pick(PATHS), handler());
      else if (kind === 4) router.use(pick(PATHS), handler());
      else {
        const inner =
          kind === 5
            ? make.Router({ mergeParams: next(2) > 0, strict: next(2) > 0, caseSensitive: next(2) > 0 })
            : make();
        if (kind === 6 && next(2) > 0) (inner as App).set('x-powered-by', false);
        fill(inner, depth - 1);
        router.use(pick(PATHS), inner);
      }
    }
    if (next(3) === 0)
      router.param('id', (req, res, go) => {
        trace(req as Req, res as Res, -1);
        (go as Next)();
      });
  };
  const app = make();
  for (const setting of ['x-powered-by', 'etag', 'strict routing', 'case sensitive routing'])
    if (next(3) === 0) app.set(setting, next(2) > 0);
  // Errors are shown, and not written to the terminal.
  app.set('env', 'test');
  fill(app, 2);
  return app;
}

for (const [name, make] of VERSIONS) {
  test.serial(`${name}: random apps answer the same, byte for byte`, async (t) => {
    for (let seed = 1; seed <= 80; seed++) {
      const servers = [http.createServer(randomApp(make, seed)), http.createServer(randomApp(make, seed))] as const;
      t.true(fastPath.apply(servers[1]), `seed ${seed}`);
      fastPath.shorten(servers[1]);
      const ports = [await listen(t, servers[0]), await listen(t, servers[1])] as const;
      const next = chance(seed + 1000);
      const requests = Array.from({ length: 8 }, () => {
        const method = METHODS[next(4) === 0 ? next(METHODS.length) : 0];
        const body = method === 'POST' ? 'Content-Length: 2\r\n$END\r\nhi' : '$END\r\n';
        return `${method} ${URLS[next(URLS.length)]} HTTP/1.1\r\nHost: x\r\n${body}`;
      });
      // On one connection, one behind the other.
      const [plain, fast] = await Promise.all([exchange(ports[0], requests), exchange(ports[1], requests)]);
      t.is(fast, plain, `seed ${seed}`);
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    }
  });
}

// --- layers that cannot match are passed over --------------------------------------------------------------------------------

test('Express 4: expressions of layers find what they found, whatever the path', (t) => {
  const make = VERSIONS[0]![1];
  const pieces = [
    '/',
    '/a',
    '/Ab',
    '/a.b',
    '/a-b',
    '/:x',
    '/:x?',
    '/a*',
    '/a(b|c)',
    '/ab?c',
    '/a+',
    '/x{2}',
    '/\u00fc',
    '/k',
    '/[ab]',
  ];
  const ends = ['', '/', 'x', '/x', '/7/', '\n', '?', '\u00dc', '\u212a', 'b/c'];
  const next = chance(7);
  const pick = (list: readonly string[]): string => list[next(list.length)]!;
  const expressions = [
    /^\/a|\/b/,
    /^\/a/,
    /\/a/,
    /^\/ab?/i,
    /^\/a/g,
    /^\/a/y,
    /^\/A/iu,
    /^[/]a/,
    /^(\/a|\/b)/i,
    /^\/a\d/,
    /^\/ab{0}/,
  ];
  const quick: boolean[] = [];
  for (let turn = 0; turn < 50; turn++) {
    const app = make();
    app.set('strict routing', next(2) > 0);
    app.set('case sensitive routing', next(2) > 0);
    const path = pick(pieces) + pick(pieces);
    const inner = make.Router({ strict: next(2) > 0, caseSensitive: next(2) > 0 });
    inner.get(pick(pieces) + pick(pieces), () => {});
    app.get(path, () => {});
    app.use([pick(pieces), pick(pieces)], inner);
    app.use(pick(pieces), inner);
    app.get(expressions[turn % expressions.length], () => {});
    const layers = [...layersOf(app), ...layersOf(inner)].map(({ regexp }) => regexp);
    const plain = layers.map((regexp) => new RegExp(regexp.source, regexp.flags));
    fastPath.shorten(http.createServer(app));
    for (const [index, regexp] of layers.entries()) {
      quick.push(Object.hasOwn(regexp, 'exec'));
      for (const begin of pieces) {
        for (const change of ['toString', 'toUpperCase', 'toLowerCase'] as const) {
          const asked = `${begin}${pick(pieces)}${pick(ends)}`[change]();
          const found = [regexp.exec(asked), plain[index]!.exec(asked)];
          t.is(JSON.stringify(found[0]), JSON.stringify(found[1]), `${regexp} ${asked}`);
        }
      }
    }
  }
  t.true(quick.includes(true) && quick.includes(false));
  const app = make();
  app.get('/users/:id', () => {});
  fastPath.shorten(http.createServer(app));
  t.true(Object.hasOwn(layersOf(app)[2]!.regexp, 'exec'));
});

function layersOf(router: object): readonly { readonly regexp: RegExp }[] {
  const { stack } = (Reflect.get(router, '_router') ?? router) as { stack: readonly { readonly regexp: RegExp }[] };
  return stack;
}

// --- texts are answered in fewer steps ---------------------------------------------------------------------------------------

/** A copy of its own of Express and of all that it loads: what is replaced in one is not in the other. */
function copyOf(name: string): Express {
  for (const file of Object.keys(require.cache)) if (/node_modules/.test(file)) delete require.cache[file];
  return require(name) as Express;
}

type Answer = (req: Req, res: Res & { readonly req: Req }) => unknown;

const TEXTS = [
  '',
  'text',
  'caf\u00e9 \u20ac \ud83d\ude00',
  '\ud800 alone',
  'long '.repeat(400),
  'l\u00f6ng '.repeat(400),
];
const TYPES = [
  'text/plain',
  'text/plain; x=y',
  'a/b;charset=ascii',
  'application/json',
  'TEXT/html; Charset=ISO-8859-1; a="b c"',
  'image/svg+xml',
  'no type',
];

/** How a handler may answer, or prepare its answer. */
const ANSWERS: readonly Answer[] = [
  ...TEXTS.map(
    (text): Answer =>
      (_req, res) =>
        res.send(text),
  ),
  ...TEXTS.map(
    (text): Answer =>
      (_req, res) =>
        res.json({ text }),
  ),
  ...TYPES.map(
    (type): Answer =>
      (_req, res) =>
        res.set('content-TYPE', type).send('typed'),
  ),
  ...TYPES.map(
    (type): Answer =>
      (_req, res) =>
        (res.setHeader('content-type', type) as Res).send('typ\u00e9'),
  ),
  ...[204, 205, 304, 404, 500].map(
    (code): Answer =>
      (_req, res) =>
        res.status(code).send('with a status'),
  ),
  (_req, res) => res.set('ETag', '"mine"').type('txt').send('tagged'),
  (_req, res) => res.set('X-Latin', 'caf\u00e9').type('txt').send('short'),
  (_req, res) => res.set('X-Latin', 'caf\u00e9').json({ text: 'caf\u00e9' }),
  (_req, res) => res.set('Last-Modified', 'Thu, 01 Jan 1970 00:00:00 GMT').json({ is: 'old' }),
  (_req, res) => res.set('Transfer-Encoding', 'chunked').type('txt').send('in pieces'),
  (_req, res) => res.type('txt').send('first').send('second'),
  (_req, res) => res.writeHead(200, { 'X-Early': '1' }).send('late'),
  (_req, res) => [res.write('a'), res.send('late')],
  (_req, res) => res.type('txt').send(Buffer.from('bytes')),
  (_req, res) => res.json(null),
  (_req, res) => res.json(undefined),
  (_req, res) => res.send(undefined),
  (_req, res) => res.type('txt').send(true),
  (_req, res) => void setImmediate(() => res.json({ is: 'later' })),
  (req, res) => {
    req.headers['if-none-match'] = '*';
    res.json({ is: 'fresh' });
  },
];

/** What packages put on requests and responses. */
const HOOKED = ['end', 'setHeader', 'getHeader', 'removeHeader', 'writeHead', 'send', 'json', 'set', 'get', 'status'];
const HOOKS: readonly ((req: Req, res: Res, log: unknown[]) => void)[] = [
  () => {},
  ...HOOKED.map((name) => (_req: Req, res: Res, log: unknown[]) => {
    const own = Reflect.get(res, name) as Fn;
    Reflect.set(res, name, function (this: unknown, ...args: unknown[]) {
      log.push([name, ...args.map((each) => (Buffer.isBuffer(each) ? ['bytes', each.length] : String(each)))]);
      return Reflect.apply(own, this, args);
    });
  }),
  (req) => void Object.defineProperty(req, 'fresh', { value: true }),
  ({ socket }, res, log) => {
    const { write } = socket;
    socket.write = function (this: unknown, ...args: unknown[]) {
      log.push(['write', typeof args[0], (args[0] as string).length, String(args[1])]);
      return Reflect.apply(write, socket, args as never) as boolean;
    } as never;
    res.on('finish', () => void (socket.write = write));
  },
];

const TAGS = ['weak', 'strong', false, (body: Buffer, encoding: unknown) => `"${body.length}-${encoding}"`];

function answering(make: Express, log: unknown[]): App {
  const app = make();
  app.set('env', 'test');
  app.use((req: Req, res: Res, next: Next) => {
    app.set('etag', TAGS[Number(req.headers['x-tags'] ?? 0)]);
    HOOKS[Number(req.headers['x-hook'] ?? 0)]?.(req, res, log);
    next();
  });
  app.all(
    '/:index',
    (req: Req, res: Res) => void ANSWERS[Number(Reflect.get(req.params, 'index'))]?.(req, res as never),
  );
  app.use((error: { readonly code?: string; readonly stack?: string }, _req: Req, res: Res, _next: Next) => {
    log.push([error.code, String(error), /short-send/.test(`${error.stack}`)]);
    res.end();
  });
  return app;
}

for (const name of ['express4', 'express']) {
  test.serial(`${name}: whatever is answered, and whoever listens to that, the bytes are the same`, async (t) => {
    const copies = [copyOf(name), copyOf(name)] as const;
    t.not(copies[0].response, copies[1].response);
    const logs: unknown[][] = [[], []];
    const servers = copies.map((copy, index) => http.createServer(answering(copy, logs[index]!)));
    const { send } = copies[1].response;
    t.true(fastPath.apply(servers[1]!));
    fastPath.shorten(servers[1]!);
    // That is found as long as there is no answer to be sent.
    t.is(copies[1].response.send, send);
    t.truthy(Object.getOwnPropertyDescriptor(copies[1].response, 'send')?.get);
    const ports = [await listen(t, servers[0]!), await listen(t, servers[1]!)] as const;
    const compare = async (requests: readonly string[]): Promise<void> => {
      const [plain, fast] = await Promise.all(ports.map((port) => exchange(port, requests)));
      if (plain !== fast) t.fail(firstDifference(plain!, fast!));
      t.is(JSON.stringify(logs[1]!.splice(0)), JSON.stringify(logs[0]!.splice(0)));
      t.is([...fast!.matchAll(/HTTP\/1\.1 \d/g)].length, requests.length);
    };
    const ask = (head: string, index: number): string[] =>
      Array(2).fill(`${head.replace('/', `/${index}`)}\r\nHost: x\r\n$END\r\n`);
    const heads = ['GET / HTTP/1.1', 'HEAD / HTTP/1.1', 'DELETE / HTTP/1.1', 'GET / HTTP/1.1\r\nIf-None-Match: *'];
    for (const index of ANSWERS.keys()) {
      await compare(ask(heads[0]!, index).slice(1));
      await compare(heads.flatMap((head) => TAGS.flatMap((_, tags) => ask(`${head}\r\nX-Tags: ${tags}`, index))));
      await compare([...HOOKS.keys()].flatMap((hook) => ask(`GET / HTTP/1.1\r\nX-Hook: ${hook}`, index)));
    }
  });

  test.serial(`${name}: a text is answered without a buffer, unless something has been replaced`, async (t) => {
    const copy = copyOf(name);
    const app = copy();
    app.get('/', (_req: Req, res: Res) => res.json({ is: 'short' }));
    const server = http.createServer(app);
    fastPath.shorten(server);
    const port = await listen(t, server);
    const buffers = async (): Promise<number> => {
      const { from } = Buffer;
      let count = 0;
      Buffer.from = ((...args: Parameters<typeof from>) => {
        if (String(args[0]).includes('short')) count++;
        return Reflect.apply(from, Buffer, args);
      }) as typeof from;
      try {
        t.regex(await exchange(port, [get('/')]), /ETag: W\/"e-.*\r\n.*\r\n.*\r\n\r\n\{"is":"short"\}$/);
        return count;
      } finally {
        Buffer.from = from;
      }
    };
    t.is(await buffers(), 0);
    const modules = Object.values(require.cache).filter((each) =>
      /content-type.(?:dist.)?index\.js$/.test(`${each?.id}`),
    );
    const parsers = modules.map((each) => each?.exports as { parse: Fn });
    const own = parsers.map(({ parse }) => parse);
    for (const [index, parser] of parsers.entries()) parser.parse = (text) => own[index]!(text);
    t.true((await buffers()) > 0);
    for (const [index, parser] of parsers.entries()) parser.parse = own[index]!;
    t.is(await buffers(), 0);
  });
}

function firstDifference(plain: string, fast: string): string {
  const at = [...plain].findIndex((char, index) => fast[index] !== char);
  return `${plain.slice(Math.max(0, at - 300), at + 100)}\n--- but\n${fast.slice(Math.max(0, at - 300), at + 100)}`;
}

// Last: it changes Node's own prototypes, and everybody notices.
test('Express 3 stays as it is', (t) => {
  t.false(fastPath.apply(http.createServer(require('express3')() as App)));
});
