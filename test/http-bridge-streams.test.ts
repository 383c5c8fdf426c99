import { once } from 'node:events';
import { type IncomingMessage, type RequestListener, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { CannotTravel } from '../runtime/codec.js';
import { atHome, type Bridge, type BridgeOptions, bridge, serve } from './support/bridged-app.js';
import { type Handler, load } from './support/express-types.js';
import { exchangeBytes, get, post } from './support/raw-client.js';

type Listener = (req: IncomingMessage, res: ServerResponse) => unknown;

/** `make` is called for home and for the replica; what happens at either is told by `log`. */
async function start(
  t: ExecutionContext,
  make: (log: (what: string) => void, side: number) => RequestListener,
  options: BridgeOptions = { plain: true },
): Promise<{ bridged: Bridge; log: string[]; said: (what: string) => Promise<void> }> {
  const log: string[] = [];
  const waiting = new Map<string, () => void>();
  const tell = (what: string): void => {
    log.push(what);
    waiting.get(what)?.();
  };
  let side = 0;
  const bridged = await bridge(() => make(tell, side++), options);
  t.teardown(() => bridged.close());
  const said = (what: string): Promise<void> =>
    log.includes(what) ? Promise.resolve() : new Promise((done) => waiting.set(what, done));
  return { bridged, log, said };
}

test.serial('ten megabytes go through and back, never all at once', async (t) => {
  let largest = 0;
  const { bridged } = await start(t, () => (req, res) => {
    req.on('data', () => {
      largest = Math.max(largest, req.readableLength + res.writableLength);
    });
    req.pipe(res);
  });
  const size = 10 * 1024 * 1024;
  const sent = request({ port: bridged.port, method: 'POST', headers: { 'content-length': size } });
  const chunk = Buffer.alloc(65_536, 'z');
  void (async () => {
    for (let at = 0; at < size; at += chunk.length) if (!sent.write(chunk)) await once(sent, 'drain');
    sent.end();
  })();
  const [answer] = await once(sent, 'response');
  let received = 0;
  for await (const part of answer) {
    received += part.length;
    t.true(part.every((byte: number) => byte === 122));
  }
  t.is(received, size);
  t.true(largest < 1_500_000, String(largest));
});

test.serial('a handler that takes all that has come, each time, is given the rest', async (t) => {
  const { bridged } = await start(t, () => async (req, res) => {
    let length = 0;
    for await (const part of req) length += part.length;
    res.end(String(length));
  });
  const size = 2 * 1024 * 1024;
  const sent = request({ port: bridged.port, method: 'POST', headers: { 'content-length': size } });
  sent.end(Buffer.alloc(size, 'z'));
  const [answer] = await once(sent, 'response');
  let text = '';
  for await (const part of answer) text += part;
  t.is(text, String(size));
});

test.serial('a handler that reads slowly holds its client up: nothing of the body is kept for it', async (t) => {
  const { bridged } = await start(t, () => (req, res) => {
    let most = 0;
    req.on('data', (chunk: Buffer) => {
      most = Math.max(most, chunk.length);
      req.pause();
      setTimeout(() => req.resume(), 2);
    });
    req.on('end', () => res.end(String(most)));
  });
  const size = 8 * 1024 * 1024;
  const sent = request({ port: bridged.port, method: 'POST', headers: { 'content-length': size } });
  sent.end(Buffer.alloc(size, 'z'));
  const [answer] = await once(sent, 'response');
  let text = '';
  for await (const part of answer) text += part;
  t.true(Number(text) <= 65_536, text);
});

test.serial('a client that does not read holds the handler up', async (t) => {
  let written = 0;
  const { bridged, said } = await start(t, (log) => (_req, res) => {
    const chunk = Buffer.alloc(65_536);
    const go = (): void => {
      while (written < 200_000_000) {
        written += chunk.length;
        if (!res.write(chunk)) {
          log('waits');
          return void res.once('drain', go);
        }
      }
      res.end();
    };
    go();
    res.on('close', () => log('closed'));
  });
  const socket = connect(bridged.port, '127.0.0.1', () => socket.write(get('/')));
  socket.pause();
  await said('waits');
  // What is on its way fills what there is room for; if nothing held the handler up, all would be written in the end.
  for (let before = -1; before !== written; await sleep(200)) before = written;
  t.true(written < 50_000_000);
  socket.destroy();
  await said('closed');
  t.pass();
});

test.serial('what is written in one turn waits for one drain: Node warns of many listeners', async (t) => {
  const warnings: string[] = [];
  const warned = (warning: Error): void => void warnings.push(warning.message);
  process.on('warning', warned);
  t.teardown(() => process.off('warning', warned));
  const { bridged } = await start(t, (log) => (_req, res) => {
    res.on('drain', () => log('drain'));
    for (let count = 0; count < 40; count++) res.write('x'.repeat(20_000));
    res.end();
  });
  t.true((await exchangeBytes(bridged.port, get('/'))).length > 800_000);
  await new Promise(setImmediate);
  t.deepEqual(warnings, []);
});

test.serial('nothing of a body is read before the handler asks for it', async (t) => {
  const { bridged, said, log } = await start(t, (tell) => (req, res) => {
    tell('called');
    setTimeout(() => {
      tell('asks');
      let bytes = 0;
      req.on('data', (chunk: Buffer) => (bytes += chunk.length));
      req.on('end', () => res.end(`${bytes} ${req.complete}`));
    }, 50);
  });
  const answer = exchangeBytes(bridged.port, post('/', 'x'.repeat(100_000), []));
  await said('called');
  t.is(bridged.messages.toHome, 0);
  await said('asks');
  t.regex(await answer, /100000 true$/);
  t.deepEqual(log, ['called', 'asks']);
});

test.serial('a client that goes away: the same events as in Node', async (t) => {
  const listener =
    (log: (what: string) => void): Listener =>
    (req, res) => {
      req.on('aborted', () => log('req aborted'));
      req.on('error', (error: Error & { code?: string }) => log(`req error ${error.message} ${error.code}`));
      req.on('close', () => log(`req close ${req.aborted} ${req.destroyed}`));
      res.on('error', () => log('res error'));
      res.on('finish', () => log('res finish'));
      res.on('close', () => {
        log(`res close ${res.destroyed} ${res.writableFinished}`);
        setImmediate(log, 'all');
      });
      req.on('data', () => log('data'));
      res.write('begun');
    };
  const logs: string[][] = [];
  for (const plain of [true, false]) {
    const { bridged, log, said } = await start(t, listener, { plain });
    const socket = connect(bridged.port, '127.0.0.1', () =>
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc'),
    );
    await once(socket, 'data');
    await said('data');
    socket.destroy();
    await said('all');
    logs.push([...log]);
  }
  t.deepEqual(logs[0], logs[1]);
});

test.serial('chunks arrive when they are written', async (t) => {
  const { bridged } = await start(t, () => {
    let stream: ServerResponse | undefined;
    return (req, res) => {
      if (req.url === '/stream') {
        stream = res;
        res.writeHead(200, { 'Content-Type': 'text/event-stream' });
        res.write('data: 0\n\n');
      } else {
        stream?.write(`data: ${req.url}\n\n`);
        res.end();
        if (req.url === '/3') stream?.end();
      }
    };
  });
  const sent = request({ port: bridged.port, path: '/stream' }).end();
  const [answer] = await once(sent, 'response');
  // Each is written when the one before has arrived.
  let last = 0;
  for await (const chunk of answer) {
    t.is(String(chunk), last === 0 ? 'data: 0\n\n' : `data: /${last}\n\n`);
    if (++last <= 3) await exchangeBytes(bridged.port, get(`/${last}`));
  }
  t.is(last, 4);
});

test.serial('the end of a response: the same events as in Node', async (t) => {
  const listener =
    (log: (what: string) => void): Listener =>
    (req, res) => {
      res.on('prefinish', () => log('prefinish'));
      res.on('finish', () => log(`finish ${res.writableFinished}`));
      res.on('close', () => {
        log(`close ${res.closed} ${res.destroyed}`);
        setImmediate(log, 'all');
      });
      req.on('end', () => log('end'));
      req.on('close', () => log('req close'));
      res.end('x', () => log('callback'));
      log(`ended ${res.writableEnded} ${res.headersSent}`);
    };
  const logs: string[][] = [];
  for (const plain of [true, false]) {
    const { bridged, log, said } = await start(t, listener, { plain });
    await exchangeBytes(bridged.port, get('/'));
    await said('all');
    logs.push([...log]);
  }
  t.deepEqual(logs[0], logs[1]);
});

test.serial('what cannot travel makes home run the handler again, body included', async (t) => {
  class Session {
    visits = 1;
  }
  const make = (_log: (what: string) => void, side: number): RequestListener => {
    const app = load(4)();
    app.use(
      atHome<Handler>((req, _res, next) => {
        req.session = new Session();
        next();
      }),
    );
    app.post('/read', (req, res) => {
      let body = '';
      req.on('data', (chunk: Buffer) => (body += String(chunk)));
      req.on('end', () => {
        try {
          const session = req.session as Session;
          session.visits++;
          res.json({ body, visits: session.visits, isSession: session instanceof Session, side });
        } catch (error) {
          // A replica's supervisor expects these; here they would end the test.
          if (!(error instanceof CannotTravel)) throw error;
        }
      });
    });
    app.get('/untouched', (_req, res) => res.json({ side }));
    return app;
  };
  const { bridged } = await start(t, make, { express: 4 });
  t.regex(await exchangeBytes(bridged.port, get('/untouched')), /\{"side":1\}$/);
  t.deepEqual(bridged.outcomes, []);
  const answer = await exchangeBytes(bridged.port, post('/read', 'x'.repeat(50_000), []));
  t.regex(answer, /x{50000}","visits":2,"isSession":true,"side":0\}$/);
  t.like(bridged.outcomes[0], { kind: 'cannot-travel', what: 'req.session', untouched: true });
});

test.serial('rejected promises', async (t) => {
  const make = (): RequestListener => {
    const app = load(5)();
    app.get('/rejects', async () => {
      await sleep(1);
      throw new Error('no promise kept');
    });
    app.get('/rejects/nothing', () => Promise.reject());
    return app;
  };
  const { bridged } = await start(t, make, { express: 5 });
  t.regex(await exchangeBytes(bridged.port, get('/rejects')), /500 Internal[\s\S]*Error: no promise kept<br>/);
  t.regex(await exchangeBytes(bridged.port, get('/rejects/nothing')), /500 Internal[\s\S]*Rejected promise/);
});

test.serial('a symbol on a request keeps the handler at home', async (t) => {
  const key = Symbol('user');
  const make = (_log: (what: string) => void, side: number): RequestListener => {
    const app = load(4)();
    app.use(
      atHome<Handler>((req, _res, next) => {
        Reflect.set(req, key, 1);
        next();
      }),
    );
    app.get('/', (_req, res) => res.json({ side }));
    return app;
  };
  const { bridged } = await start(t, make, { express: 4 });
  t.regex(await exchangeBytes(bridged.port, get('/')), /\{"side":0\}$/);
});

test.serial('what the app put on a socket, and what only the socket knows, is used at home', async (t) => {
  const make = (): RequestListener => (req, res) => {
    const { socket } = req;
    if (req.url === '/server') return void res.end(String(Reflect.get(Reflect.get(socket, 'server'), 'listening')));
    res.end(
      `${req.url === '/own' ? Reflect.get(socket, 'number') : ''} ${req.url === '/bytes' && socket.bytesRead > 0}`,
    );
  };
  const { bridged } = await start(t, make);
  bridged.server.on('connection', (socket) => Object.assign(socket, { number: 7 }));
  t.regex(await exchangeBytes(bridged.port, get('/own')), /\r\n7 false$/);
  t.regex(await exchangeBytes(bridged.port, get('/bytes')), /\r\n true$/);
  t.regex(await exchangeBytes(bridged.port, get('/server')), /\r\ntrue$/);
  t.deepEqual(
    bridged.outcomes.map((outcome) => 'what' in outcome && outcome.what),
    ['req.socket.number', 'req.socket.bytesRead', 'req.socket.server.listening'],
  );
});

test.serial('what a handler puts on a connection is there for the requests behind it', async (t) => {
  const make = (): RequestListener => (req, res) => {
    if (req.url === '/put') Object.assign(req.socket, { note: { user: 'ada' } });
    res.end(JSON.stringify(Reflect.get(req.socket, 'note')));
  };
  const { bridged } = await start(t, make);
  const socket = connect(bridged.port, '127.0.0.1', () =>
    socket.write(get('/put').replace('Connection: close\r\n', '')),
  );
  t.regex(String(await once(socket, 'data')), /\{"user":"ada"\}/);
  socket.write(get('/later'));
  t.regex(String(await once(socket, 'data')), /\{"user":"ada"\}/);
  t.deepEqual(
    bridged.outcomes.map((outcome) => 'what' in outcome && outcome.what),
    ['req.socket.note'],
  );
});

for (const when of ['at once', 'in the next tick']) {
  test.serial(
    `what was written before a connection is destroyed ${when} has been sent if it would have been`,
    async (t) => {
      const make = (): RequestListener => (req, res) => {
        res.write('begun');
        const destroy = (): void => {
          req.socket.destroy();
          res.end('late');
        };
        if (when === 'at once') destroy();
        else process.nextTick(destroy);
      };
      const { bridged } = await start(t, make);
      const { server, port } = await serve(make());
      t.teardown(() => server.close());
      const [answer, plain] = await Promise.all([bridged.port, port].map((each) => exchangeBytes(each, get('/'))));
      t.is(answer?.replace(/Date: .*/, ''), plain?.replace(/Date: .*/, ''));
      t.is(answer?.includes('begun'), when !== 'at once');
    },
  );
}

test.serial('a request that waits for its turn on a connection is told that it is gone', async (t) => {
  const { bridged, said } = await start(t, (log) => (req) => {
    log(`has ${req.url}`);
    req.on('close', () => log(`closed ${req.url} ${req.destroyed}`));
    req.resume();
  });
  const socket = connect(bridged.port, '127.0.0.1', () => {
    const second = 'POST /second HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc';
    socket.write(`GET /first HTTP/1.1\r\nHost: x\r\n\r\n${second}`);
  });
  await said('has /second');
  socket.destroy();
  await said('closed /second true');
  t.pass();
});

test.serial('a hook that a replica puts on the response before it goes on is put there at home', async (t) => {
  const make = (): RequestListener => {
    const app = load(4)();
    app.use((_req, res, next) => {
      const { end } = res;
      res.end = function hooked(this: ServerResponse, ...args: unknown[]) {
        this.setHeader('X-Hook', 'yes');
        return Reflect.apply(end, this, args);
      };
      next();
    });
    app.get('/', (_req, res) => void res.end('x'));
    return app;
  };
  const { bridged } = await start(t, make, { express: 4 });
  t.regex(await exchangeBytes(bridged.port, get('/')), /X-Hook: yes/);
});

test.serial('identity of home objects survives changes', async (t) => {
  const kept: unknown[] = [];
  const make = (): RequestListener => {
    const app = load(4)();
    app.use(
      atHome<Handler>((req, _res, next) => {
        req.user = { name: 'Ann', deep: { list: [1, 2, 3] } };
        kept.push(req.user, req.user.deep);
        next();
      }),
    );
    app.use((req, _res, next) => {
      req.user.name = 'Bob';
      (req.user.deep as { list: number[] }).list.length = 1;
      req.added = new Date(5);
      next();
    });
    app.get(
      '/',
      atHome<Handler>((req, res) => {
        res.json([req.user === kept[0], req.user.deep === kept[1], req.user, req.added instanceof Date]);
      }),
    );
    return app;
  };
  const { bridged } = await start(t, make, { express: 4 });
  const answer = await exchangeBytes(bridged.port, get('/'));
  t.true(answer.endsWith('[true,true,{"name":"Bob","deep":{"list":[1]}},true]'), answer);
});

test.serial('what was given is one object wherever a handler puts it', async (t) => {
  type Named = { name: string; list: number[] };
  const kept: Named[] = [];
  const given = (req: object, key: string): Named => Reflect.get(req, key);
  const make = (): RequestListener => {
    const app = load(5)();
    app.use(
      atHome<Handler>((req, res, next) => {
        const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name, list: [1] }));
        Object.assign(req, { a, b, c, since: new Date(0) });
        res.locals.alias = a;
        kept.splice(0, kept.length, a as Named, b as Named, c as Named);
        next();
      }),
    );
    app.use((req, res, next) => {
      const [a, b, c] = [given(req, 'a'), given(req, 'b'), given(req, 'c')];
      Object.assign(req, {
        a: b,
        b: a,
        moved: c,
        when: Reflect.get(req, 'since'),
        byItem: new Map([[a, { inner: c.list }]]),
      });
      Reflect.deleteProperty(req, 'c');
      a.name += '!';
      c.list.push(2);
      (res.locals.alias as Named).list.push(3);
      next(Object.assign(new Error('with a part of the request'), { about: c }));
    });
    app.use(
      atHome((error: unknown, req: IncomingMessage, res: ServerResponse, _next: unknown) => {
        const [a, b, c] = kept;
        const byItem: Map<unknown, { inner: unknown }> = Reflect.get(req, 'byItem');
        res.end(
          JSON.stringify([
            given(req, 'a') === b && given(req, 'b') === a && given(req, 'moved') === c && !('c' in req),
            Reflect.get(req, 'when') === Reflect.get(req, 'since') && byItem.get(a)?.inner === c?.list,
            typeof error === 'object' && error !== null && Reflect.get(error, 'about') === c,
            kept,
          ]),
        );
      }),
    );
    return app;
  };
  const { bridged } = await start(t, make, { express: 5 });
  const answer = await exchangeBytes(bridged.port, get('/'));
  const objects = '[{"name":"a!","list":[1,3]},{"name":"b","list":[1]},{"name":"c","list":[1,2]}]';
  t.true(answer.endsWith(`[true,true,true,${objects}]`), answer);
  t.deepEqual(bridged.ran.length, 1);
});

/** It stops in the middle of the body, and those that come next at home have the rest. */
function stopsReading(most: number): RequestListener {
  const app = load(5)();
  app.post('/', (req, _res, next) => {
    let size = 0;
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size < most) return;
      req.off('data', take);
      req.pause();
      Reflect.set(req, 'taken', size);
      next(new Error('too long'));
    };
    if (most > 0) req.on('data', take);
    else {
      req.pause();
      setImmediate(next, new Error('too long'));
    }
  });
  app.use(
    atHome((error: Error, req: IncomingMessage, res: ServerResponse, _next: unknown) => {
      const wasFlowing = req.readableFlowing;
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        const rest = Buffer.concat(chunks);
        const { taken = 0 }: { taken?: number } = req as { taken?: number };
        res.end(JSON.stringify([error.message, wasFlowing, taken + rest.length, rest.subarray(-3).toString()]));
      });
      req.resume();
    }),
  );
  return app;
}

for (const most of [0, 1, 100_000, 700_000, 2_500_000]) {
  test.serial(`the rest of a body is left to those that come next: ${most} bytes are taken`, async (t) => {
    const { bridged } = await start(t, () => stopsReading(most), { express: 5 });
    const body = `${'x'.repeat(2_999_997)}end`;
    for (let n = 0; n < 2; n++) {
      const answer = await exchangeBytes(bridged.port, post('/', body, ['Content-Type: text/plain']));
      t.true(answer.endsWith('["too long",false,3000000,"end"]'), answer.slice(-200));
    }
    t.is(bridged.ran.length, 2);
    t.deepEqual(
      bridged.outcomes.map(({ kind }) => kind),
      ['next', 'next'],
    );
  });
}

test.serial('the end of a response is told once to each of its handlers', async (t) => {
  const make = (log: (what: string) => void): RequestListener => {
    const app = load(5)();
    app.use((req, res, next) => {
      for (const event of ['finish', 'close']) res.on(event, () => log(`${req.url} ${res.statusCode} ${event}`));
      next();
    });
    app.get('/json', (_req, res) => res.status(201).json({}));
    app.get('/chunked', (_req, res) => {
      res.write('a');
      res.end('b');
    });
    app.get('/flushed', (_req, res) => {
      res.setHeader('Content-Length', 0);
      res.flushHeaders();
      res.end();
    });
    app.get('/none', (_req, res) => res.sendStatus(204));
    return app;
  };
  const { bridged, log, said } = await start(t, make, { express: 5 });
  const expected: string[] = [];
  for (const [path, status] of [
    ['/json', 201],
    ['/chunked', 200],
    ['/flushed', 200],
    ['/none', 204],
  ] as const) {
    await exchangeBytes(bridged.port, get(path));
    expected.push(`${path} ${status} finish`, `${path} ${status} close`);
    await said(`${path} ${status} close`);
    await sleep(5);
  }
  t.deepEqual(log, expected);
});
test.serial('the end of a response is said once, whoever ends it, and when all of it was sent', async (t) => {
  const logs: string[][] = [];
  for (const isBridged of [true, false]) {
    const make = (log: (what: string) => void): RequestListener => {
      const app = load(5)();
      app.use((req, res, next) => {
        res.on('finish', () => log(`first ${req.url} ${res.writableFinished}`));
        next();
      });
      app.get('/sized', (_req, res) => {
        res.on('finish', () => log('last'));
        res.setHeader('Content-Length', 3);
        res.write('abc');
        setImmediate(() => {
          res.end();
          log(`ended ${res.writableFinished}`);
        });
      });
      app.get('/flushed', (_req, res) => {
        res.setHeader('Content-Length', 0);
        res.flushHeaders();
        setImmediate(() => res.end());
      });
      const home: Handler = (_req, res) => res.json({ at: 'home' });
      app.get('/home', isBridged ? atHome(home) : home);
      return app;
    };
    const log: string[] = [];
    const told = (what: string): void => void log.push(what);
    const { bridged } = isBridged
      ? await start(t, () => make(told), { express: 5 })
      : { bridged: await started(t, make(told)) };
    for (const path of ['/sized', '/flushed', '/home']) await exchangeBytes(bridged.port, get(path));
    while (bridged.open().some((count) => count > 0)) await sleep(1);
    logs.push(log);
  }
  t.deepEqual(logs[0]?.sort(), logs[1]?.sort());
  t.is(logs[0]?.length, 5);
});

async function started(t: ExecutionContext, app: RequestListener): Promise<{ port: number; open: () => number[] }> {
  const { server, port } = await serve(app);
  t.teardown(() => server.close());
  return { port, open: () => [] };
}
