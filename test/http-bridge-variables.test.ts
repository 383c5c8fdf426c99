import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import test, { type ExecutionContext } from 'ava';
import type { Encoded } from '../runtime/codec.js';
import {
  CannotTravel,
  HomeTable,
  type Outcome,
  ReplicaTable,
  type ToHome,
  type ToReplica,
  type Variables,
} from '../runtime/http-bridge/index.js';
import { exchangeBytes, get } from './support/raw-client.js';

const NO_NAMES = { nameOf: () => undefined, thingOf: () => undefined };

/** What a bus does: messages of the tables and variables of the app on one ordered port in each direction. */
interface Sides {
  readonly home: HomeTable;
  readonly replica: ReplicaTable;
  readonly outcomes: Outcome[];
  toReplica(value: unknown): unknown;
  toHome(value: unknown): unknown;
  /** Lets everything arrive that was sent. */
  settle(): void;
}

function sides(): Sides {
  const { port1, port2 } = new MessageChannel();
  const home = new HomeTable(NO_NAMES, (message) => port1.postMessage(message));
  const replica = new ReplicaTable(NO_NAMES, (message, transfer) => port2.postMessage(message, transfer));
  const outcomes: Outcome[] = [];
  const drain = (): unknown => {
    let last: unknown;
    for (let got = receiveMessageOnPort(port1); got !== undefined; got = receiveMessageOnPort(port1)) {
      if ('kind' in got.message) home.receive(got.message as ToHome);
      else last = home.decode(got.message as Encoded);
    }
    for (let got = receiveMessageOnPort(port2); got !== undefined; got = receiveMessageOnPort(port2)) {
      if ('kind' in got.message) replica.receive(got.message as ToReplica);
      else last = replica.decode(got.message as Variables);
    }
    return last;
  };
  return {
    home,
    replica,
    outcomes,
    toReplica(value) {
      port1.postMessage(home.encode(value, 'message', (outcome) => outcomes.push(outcome)));
      return drain();
    },
    toHome(value) {
      port2.postMessage(replica.encode(value, 'message'));
      return drain();
    },
    settle: () => void drain(),
  };
}

async function withRequest(
  t: ExecutionContext,
  handler: (req: IncomingMessage, res: ServerResponse) => unknown,
): Promise<string> {
  let failed: unknown;
  const server = createServer(async (req, res) => {
    try {
      await handler(req, res);
    } catch (error) {
      failed = error;
      res.destroy();
    }
  });
  t.teardown(() => server.close());
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const answer = await exchangeBytes((server.address() as AddressInfo).port, get('/path'));
  if (failed !== undefined) throw failed;
  return answer;
}

const tick = (): Promise<void> => new Promise((done) => setImmediate(done));

test('a response that is a variable is answered by the replica', async (t) => {
  const { toReplica, settle, home, replica } = sides();
  const answer = await withRequest(t, async (_req, res) => {
    res.setHeader('X-Home', '1');
    const [there, text] = toReplica([res, 'text']) as [ServerResponse, string];
    t.not(there, res);
    t.is(there.getHeader('X-Home'), '1');
    there.statusCode = 201;
    there.end(text);
    await tick();
    settle();
  });
  t.regex(answer, /^HTTP\/1.1 201 Created\r\nX-Home: 1\r\n[\s\S]*text$/);
  t.deepEqual([home.size, replica.size], [0, 0]);
});

test('a response goes there and back, and there again', async (t) => {
  const { toReplica, toHome, settle } = sides();
  const answer = await withRequest(t, async (req, res) => {
    Object.assign(res, { locals: { a: 1 } });
    const there = toReplica({ req, res, list: [res] }) as never as {
      req: IncomingMessage;
      res: ServerResponse & { locals: { a: number } };
      list: unknown[];
    };
    t.is(there.list[0], there.res);
    t.is(there.req.url, '/path');
    there.res.setHeader('X-There', 'yes');
    there.res.locals.a = 2;
    const back = toHome([there.res, there.req, there.res.locals]) as [ServerResponse, IncomingMessage, unknown];
    t.is(back[0], res);
    t.is(back[1], req);
    t.is(res.getHeader('x-there'), 'yes');
    t.deepEqual(Reflect.get(res, 'locals'), { a: 2 });
    res.setHeader('X-There', 'again');
    res.setHeader('X-Home', 'later');
    Reflect.set(res, 'locals', { a: 3 });
    const again = toReplica([res]) as [ServerResponse & { locals: { a: number } }];
    t.is(again[0], there.res);
    t.is(again[0].getHeader('X-There'), 'again');
    t.is(again[0].locals.a, 3);
    again[0].end('done');
    await tick();
    settle();
  });
  t.regex(answer, /\r\nX-There: again\r\nX-Home: later\r\n[\s\S]*done$/);
});

test('what a replica does after it handed a response back still arrives', async (t) => {
  const { toReplica, toHome, settle } = sides();
  const answer = await withRequest(t, async (_req, res) => {
    const [there] = toReplica([res]) as [ServerResponse];
    there.write('one ');
    toHome([there]);
    res.write('two ');
    there.write('three ');
    await tick();
    settle();
    res.end('four');
    await tick();
    settle();
    await tick();
    settle();
    t.true(there.writableEnded);
  });
  t.regex(answer, /one [\s\S]*two [\s\S]*three [\s\S]*four/);
});

test('next as a variable', async (t) => {
  const { toReplica, settle } = sides();
  const answer = await withRequest(t, async (_req, res) => {
    const next = function next(error: unknown): void {
      res.end(`next: ${String(error)} ${res.getHeader('x-there')}`);
    };
    const there = toReplica([res, next]) as [ServerResponse, (error: unknown) => void];
    there[0].setHeader('X-There', 'yes');
    there[1](new TypeError('oh'));
    await tick();
    settle();
  });
  t.regex(answer, /next: TypeError: oh yes/);
});

test('a next without its request cannot travel', (t) => {
  const { toReplica, home } = sides();
  const error = t.throws(() => toReplica([function next(_error: unknown) {}]), { instanceOf: CannotTravel });
  t.regex(error.message, /^next cannot travel/);
  t.is(home.size, 0);
});

test('nothing stays open for variables that cannot travel', async (t) => {
  const { toReplica, home } = sides();
  await withRequest(t, (_req, res) => {
    const error = t.throws(() => toReplica([res, { deep: new WeakMap() }]), { instanceOf: CannotTravel });
    t.is(error.message, 'message[1].deep cannot travel: it is a WeakMap');
    t.is(home.size, 0);
    res.end();
  });
});
