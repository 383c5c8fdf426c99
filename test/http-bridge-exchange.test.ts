import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import test, { type ExecutionContext } from 'ava';
import { HomeExchange, type Outcome, openExchange, type ReplicaExchange } from '../runtime/http-bridge/index.js';
import { exchangeBytes, get } from './support/raw-client.js';

const NO_NAMES = { nameOf: () => undefined, thingOf: () => undefined };

interface Pair {
  readonly there: ReplicaExchange;
  readonly outcomes: Outcome[];
  /** Which sides have forgotten the exchange. */
  readonly closed: string[];
  /** Lets everything arrive that was sent, and what is sent for that. */
  settle(): Promise<void>;
}

/** One exchange, opened by hand, as for a variable of a message. */
function pair(req: IncomingMessage, res: ServerResponse, settled = (_outcome: Outcome): void => {}): Pair {
  const { port1, port2 } = new MessageChannel();
  const outcomes: Outcome[] = [];
  const closed: string[] = [];
  const home = new HomeExchange({
    id: 1,
    req,
    res,
    next: null,
    app: NO_NAMES,
    send: (message) => port1.postMessage(message),
    settle: (outcome) => {
      outcomes.push(outcome);
      settled(outcome);
    },
    closed: () => closed.push('home'),
  });
  const there = openExchange(structuredClone(home.envelope), {
    app: NO_NAMES,
    send: (message, transfer) => port2.postMessage(message, transfer),
    closed: () => closed.push('replica'),
  });
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 3; turn++) {
      await new Promise((done) => setImmediate(done));
      for (let got = receiveMessageOnPort(port1); got !== undefined; got = receiveMessageOnPort(port1)) {
        home.receive(got.message);
      }
      for (let got = receiveMessageOnPort(port2); got !== undefined; got = receiveMessageOnPort(port2)) {
        there.receive(got.message);
      }
    }
  };
  return { there, outcomes, closed, settle };
}

async function answerOf(
  t: ExecutionContext,
  handler: (req: IncomingMessage, res: ServerResponse) => Promise<void>,
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

test('a response that is a variable is answered by the replica', async (t) => {
  const answer = await answerOf(t, async (req, res) => {
    res.setHeader('X-Home', '1');
    const { there, settle, closed } = pair(req, res);
    t.is(there.res.getHeader('X-Home'), '1');
    t.is(there.req.url, '/path');
    there.res.statusCode = 201;
    there.res.end('text');
    await settle();
    t.deepEqual(closed.sort(), ['home', 'replica']);
  });
  t.regex(answer, /^HTTP\/1.1 201 Created\r\nX-Home: 1\r\n[\s\S]*text$/);
});

test('handed back, the real ones show what was done to the stand-ins', async (t) => {
  const answer = await answerOf(t, async (req, res) => {
    Object.assign(res, { locals: { a: 1 } });
    const locals: unknown = Reflect.get(res, 'locals');
    const { there, settle } = pair(req, res);
    there.res.setHeader('X-There', 'yes');
    there.res.statusCode = 202;
    Reflect.set(Reflect.get(there.res, 'locals'), 'a', 2);
    Reflect.set(there.req, 'user', { name: 'Ann' });
    there.handBack();
    await settle();
    t.is(res.getHeader('x-there'), 'yes');
    t.is(Reflect.get(res, 'locals'), locals);
    t.deepEqual(locals, { a: 2 });
    t.deepEqual(Reflect.get(req, 'user'), { name: 'Ann' });
    res.end('home');
    await settle();
  });
  t.regex(answer, /^HTTP\/1.1 202 Accepted\r\nX-There: yes\r\n[\s\S]*home$/);
});

test('what a replica does after it handed a response back still arrives, in order', async (t) => {
  const answer = await answerOf(t, async (req, res) => {
    const { there, settle, closed } = pair(req, res);
    there.res.write('one ');
    there.handBack();
    await settle();
    res.write('two ');
    there.res.write('three ');
    await settle();
    t.deepEqual(closed, []);
    res.end('four');
    await settle();
    await new Promise((done) => setTimeout(done, 20));
    await settle();
    t.true(there.res.writableEnded);
    t.deepEqual(closed.sort(), ['home', 'replica']);
  });
  t.regex(answer, /one [\s\S]*two [\s\S]*three [\s\S]*four/);
});

test('code that waits behind next sees that home has answered', async (t) => {
  await answerOf(t, async (req, res) => {
    const { there, outcomes, settle } = pair(req, res);
    there.next();
    await settle();
    t.like(outcomes, [{ kind: 'next', given: false }]);
    t.false(there.res.headersSent);
    res.statusCode = 204;
    res.setHeader('X-Late', '1');
    res.end();
    await new Promise((done) => setTimeout(done, 20));
    await settle();
    t.true(there.res.headersSent);
    t.is(there.res.statusCode, 204);
    t.is(there.res.getHeader('x-late'), '1');
  });
});

test('timeouts', async (t) => {
  const answer = await answerOf(t, async (req, res) => {
    const { there, settle } = pair(req, res);
    there.res.setTimeout(20, () => there.res.end('too late'));
    await settle();
    await new Promise((done) => setTimeout(done, 60));
    await settle();
  });
  t.regex(answer, /too late$/);
});

test('a response that is destroyed at the replica is destroyed at home', async (t) => {
  const answer = await answerOf(t, async (req, res) => {
    const { there, settle, closed } = pair(req, res);
    there.res.write('partial');
    await settle();
    there.res.destroy();
    await settle();
    t.true(res.destroyed);
    t.deepEqual(closed, ['home', 'replica']);
  });
  t.regex(answer, /partial/);
  t.notRegex(answer, /\r\n0\r\n/);
});

test('what was written in one turn is sent before an error of the next one ends the connection', async (t) => {
  const answer = await answerOf(t, async (req, res) => {
    // As Express does where an answer has begun.
    const { there, settle, outcomes } = pair(req, res, () => req.socket.destroy());
    there.res.write('partial');
    await new Promise((done) => setImmediate(done));
    there.next(new Error('late'));
    await settle();
    t.like(outcomes, [{ kind: 'next', given: true }]);
  });
  t.regex(answer, /partial/);
});

type Box = Record<string | symbol, unknown>;

for (const [name, change] of Object.entries<(box: Box) => unknown>({
  'is frozen': (box) => Object.freeze(box.inner),
  'has another prototype': (box) => Object.setPrototypeOf(box.inner, null),
  'has a hidden property': (box) => Object.defineProperty(box, 'more', { value: 1 }),
  'hides a property': (box) => Object.defineProperty(box, 'first', { enumerable: false }),
  'has an accessor': (box) => Object.defineProperty(box, 'more', { get: () => 1, enumerable: true }),
  'has a property named by a symbol': (box) => (box[Symbol.for('more')] = 1),
  'has its properties in another order': (box) => delete box.first && (box.first = 1),
  'has a URL that was changed': ({ url }) => (url as URL).searchParams.set('page', '2'),
})) {
  test(`a handler whose request holds what ${name} when the chain goes on runs at home`, async (t) => {
    await answerOf(t, async (req, res) => {
      const make = (): Box => ({ first: 1, inner: { list: [1] }, url: new URL('http://localhost/?page=1') });
      Object.assign(req, { box: make() });
      const { there, settle, outcomes } = pair(req, res);
      change(Reflect.get(there.req, 'box'));
      there.next();
      await settle();
      t.like(outcomes, [{ kind: 'cannot-travel', untouched: true }]);
      t.deepEqual(Reflect.get(req, 'box'), make());
      res.end('home');
    });
  });
}

test('what is changed in many places of one object is looked at once more, and not for each of them', async (t) => {
  await answerOf(t, async (req, res) => {
    const count = 1000;
    Object.assign(req, { rows: Array.from({ length: count }, (_, row) => ({ row })) });
    const { there, settle } = pair(req, res);
    const rows: object[] = Reflect.get(there.req, 'rows');
    rows.reverse();
    const { isExtensible } = Object;
    let looks = 0;
    Object.isExtensible = (of) => {
      looks++;
      return isExtensible(of);
    };
    there.next();
    await settle();
    Object.isExtensible = isExtensible;
    t.true(looks > count && looks < 20 * count, String(looks));
    t.deepEqual(Reflect.get(req, 'rows')[0], { row: count - 1 });
    res.end('home');
  });
});

test('what is added to what hangs on a request, and taken away, is told home', async (t) => {
  await answerOf(t, async (req, res) => {
    Object.assign(req, { box: { first: 1, inner: { list: [1] }, last: 1 } });
    const { there, settle, outcomes } = pair(req, res);
    const box: Box = Reflect.get(there.req, 'box');
    delete box.first;
    Object.assign(box, { last: 2, more: { deep: Object.freeze([1]) }, 7: 'index' });
    there.next();
    await settle();
    t.like(outcomes, [{ kind: 'next' }]);
    t.deepEqual(Object.entries(Reflect.get(req, 'box')), [
      ['7', 'index'],
      ['inner', { list: [1] }],
      ['last', 2],
      ['more', { deep: [1] }],
    ]);
    res.end('home');
  });
});

for (const how of ['enumerable', 'writable', 'configurable']) {
  test(`what a handler puts on a request that is not ${how} does not become so on the way`, async (t) => {
    const plain = { value: 1, enumerable: true, writable: true, configurable: true };
    await answerOf(t, async (req, res) => {
      const { there, settle, outcomes } = pair(req, res);
      Object.defineProperty(there.req, 'mark', { ...plain, [how]: false });
      there.next();
      await settle();
      t.like(outcomes, [{ kind: 'cannot-travel', what: 'req.mark', untouched: true }]);
      t.false('mark' in req);
      res.end('home');
    });
  });
}

test('nothing is sent after something could not travel', async (t) => {
  await answerOf(t, async (req, res) => {
    const { there, settle, outcomes, closed } = pair(req, res);
    there.res.setHeader('X-There', 'never');
    t.throws(() => there.res.socket?.write('raw'), { message: /it bypasses the response/ });
    there.res.end('never');
    await settle();
    t.like(outcomes, [{ kind: 'cannot-travel', what: 'res.socket.write', untouched: true }]);
    t.false(res.headersSent);
    t.deepEqual(closed, ['replica', 'home']);
    res.end('home');
  });
});
