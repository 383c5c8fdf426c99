import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { pipeline } from 'node:stream';
import test, { type ExecutionContext } from 'ava';
import { bridge, serve } from './support/bridged-app.js';
import { type Handler, load } from './support/express-types.js';
import { exchangeBytes, get } from './support/raw-client.js';

// Each app is served by Node and across the bridge; a client sends a part of a request or all of it, and goes away when
// the handler says so. What the handlers notice, in order, must be the same.

type Log = (what: string) => void;

const PLAIN = get('/');
const PART = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc';
const WHOLE = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc';

function stateOf(req: IncomingMessage, res: ServerResponse): string {
  const { destroyed, aborted, complete, readableAborted, errored, socket } = req;
  const reply = [
    res.destroyed,
    res.writableEnded,
    res.writableFinished,
    res.headersSent,
    res.closed,
    res.socket === null,
  ];
  return [destroyed, aborted, complete, readableAborted, errored?.message, ...reply, socket.destroyed].join();
}

function watch(req: IncomingMessage, res: ServerResponse, log: Log): void {
  const told = (name: string) => (error?: Error) => log(`${name} ${error?.message} ${stateOf(req, res)}`);
  for (const event of ['aborted', 'error', 'close', 'end']) req.on(event, told(`req ${event}`));
  for (const event of ['error', 'close', 'finish']) res.on(event, told(`res ${event}`));
}

/** When the connection is gone, and everybody has heard of it. */
function whenGone(res: ServerResponse): Promise<void> {
  return new Promise((done) => res.on('close', () => setImmediate(() => setImmediate(done))));
}

/** The client goes when the handler logs `go`; the app logs `all` when there is nothing more to come. */
async function logOf(make: (log: Log) => RequestListener, isBridged: boolean, request: string): Promise<string[]> {
  const log: string[] = [];
  const heard = new Map<string, () => void>();
  const says = (what: string): Promise<void> => new Promise((done) => heard.set(what, done));
  const tell = (what: string): void => {
    if (what !== 'go' && what !== 'all') log.push(what);
    heard.get(what)?.();
  };
  const { port, close } = await started(() => make(tell), isBridged);
  const [go, all] = [says('go'), says('all')];
  const socket = connect(port, '127.0.0.1', () => socket.write(request));
  socket.on('error', () => {});
  socket.resume();
  await go;
  socket.destroy();
  await all;
  await close();
  return log;
}

async function started(
  make: () => RequestListener,
  isBridged: boolean,
): Promise<{ port: number; close: () => Promise<unknown> }> {
  if (isBridged) return bridge(make, { express: 5 });
  const { server, port } = await serve(make());
  return { port, close: () => new Promise((done) => server.close(done)) };
}

async function same(t: ExecutionContext, handlers: (log: Log) => Handler[], requests = [PLAIN, PART, WHOLE]) {
  const make = (log: Log): RequestListener => {
    const app = load(5)();
    for (const handler of handlers(log)) app.use(handler);
    app.use((error: unknown, req: IncomingMessage, res: ServerResponse, _next: unknown) => {
      log(`error handler: ${String(error)} ${stateOf(req, res)}`);
      res.end('failed');
      log('all');
    });
    return app;
  };
  for (const request of requests) {
    const plain = await logOf(make, false, request);
    t.deepEqual(await logOf(make, true, request), plain, request.slice(0, 4));
    t.true(plain.length > 0);
  }
}

test('events of request and response', async (t) => {
  await same(t, (log) => [
    (req, res) => {
      watch(req, res, log);
      req.on('close', () => setImmediate(log, 'all'));
      setImmediate(log, 'go');
    },
  ]);
});

test('in the middle of a stream', async (t) => {
  await same(t, (log) => [
    (req, res) => {
      watch(req, res, log);
      req.on('close', () => setImmediate(log, 'all'));
      res.write('begun', () => log('go'));
    },
  ]);
});

test('while the body is read', async (t) => {
  await same(
    t,
    (log) => [
      async (req, res) => {
        try {
          for await (const _ of req) log('go');
        } catch (error) {
          log(`${String(error)} ${stateOf(req, res)}`);
          log('all');
        }
      },
    ],
    [PART],
  );
});

test('in the middle of a pipeline', async (t) => {
  await same(
    t,
    (log) => [
      (req, res) => {
        req.once('data', () => log('go'));
        pipeline(req, res, (error) => {
          log(`${error?.code}`);
          log('all');
        });
      },
    ],
    [PART],
  );
});

test('next, when the client has gone', async (t) => {
  await same(t, (log) => [
    async (req, res, next) => {
      setImmediate(log, 'go');
      await whenGone(res);
      log(stateOf(req, res));
      req.custom = 'from before';
      next();
    },
    (req, res) => {
      log(`${String(req.custom)} ${stateOf(req, res)}`);
      res.send('nobody reads it');
      log(stateOf(req, res));
      log('all');
    },
  ]);
});

test('errors, when the client has gone', async (t) => {
  await same(t, (log) => [
    (_req, res, next) => {
      setImmediate(log, 'go');
      void whenGone(res).then(() => next(new RangeError('late')));
    },
  ]);
  await same(t, (log) => [
    async (_req, res) => {
      setImmediate(log, 'go');
      await whenGone(res);
      throw new TypeError('late');
    },
  ]);
});

test('what is written when the client has gone', async (t) => {
  await same(t, (log) => [
    async (req, res) => {
      res.on('error', (error) => log(`error ${error.message}`));
      setImmediate(log, 'go');
      await whenGone(res);
      res.setHeader('X-Late', '1');
      log(String(res.write('x', (error) => log(`written ${error?.message}`))));
      res.end('y');
      log(stateOf(req, res));
      setImmediate(() => log(stateOf(req, res)));
      setImmediate(log, 'all');
    },
  ]);
});

for (const [name, destroy] of Object.entries<(req: IncomingMessage, res: ServerResponse) => void>({
  'the request': (req) => req.destroy(),
  'the request, with an error': (req) => req.destroy(new Error('mine')),
  'the response': (_req, res) => res.destroy(),
  'the connection': (req) => req.socket.destroy(),
})) {
  test(`a handler destroys ${name}`, async (t) => {
    await same(
      t,
      (log) => [
        (req, res) => {
          watch(req, res, log);
          destroy(req, res);
          log(stateOf(req, res));
          let open = 2;
          const closed = (): void => void (--open === 0 && setImmediate(log, 'all'));
          req.on('close', closed);
          res.on('close', closed);
          log('go');
        },
      ],
      [PLAIN, PART],
    );
  });
}

test('an answer for who has gone, and an error behind it', async (t) => {
  await same(t, (log) => [
    (req, res, next) => {
      whenGone(res).then(() => {
        res.end('text');
        log(stateOf(req, res));
        next(new Error('late'));
      });
      setImmediate(log, 'go');
    },
  ]);
});

/** What Node's socket tells of its two ends. */
function endsOf({ socket }: IncomingMessage): string {
  const { remoteAddress, remotePort, localAddress, localPort } = socket;
  return [remoteAddress, remotePort !== undefined, localAddress, localPort !== undefined].join();
}

for (const asker of [0, 1, 2, null]) {
  test(`who has gone is known where it was asked before: ${asker === null ? 'nobody does' : `handler ${asker}`}`, async (t) => {
    await same(t, (log) =>
      [0, 1, 2].map(
        (number): Handler =>
          (req, res, next) => {
            if (number === asker) log(endsOf(req));
            res.on('close', () => log(`${number} ${endsOf(req)}`));
            if (number < 2) return next();
            whenGone(res).then(() => log('all'));
            setImmediate(log, 'go');
          },
      ),
    );
  });
}

test('an error behind the answer reaches the error handler', async (t) => {
  const logs: string[][] = [];
  for (const isBridged of [false, true]) {
    const log: string[] = [];
    const make = (): RequestListener => {
      const app = load(5)();
      app.get('/', async (_req, res) => {
        res.send('answer');
        await new Promise((done) => setTimeout(done, 20));
        throw new Error('late');
      });
      app.use((error: unknown, req: IncomingMessage, res: ServerResponse, _next: unknown) => {
        log.push(`${String(error)} ${res.headersSent} ${res.writableFinished} ${req.url}`);
        waiting?.();
      });
      return app;
    };
    let waiting: (() => void) | null = null;
    const heard = new Promise<void>((done) => (waiting = done));
    const { port, close } = await started(make, isBridged);
    t.true((await exchangeBytes(port, get('/'))).endsWith('answer'));
    await heard;
    await close();
    logs.push(log);
  }
  t.deepEqual(logs[1], logs[0]);
  t.is(logs[0]?.length, 1);
});
