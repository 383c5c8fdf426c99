import url from 'node:url';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import test from 'ava';
import fc from 'fast-check';
import {
  CannotTravel,
  decode,
  type Encoded,
  Encoder,
  encode,
  encodeAll,
  NO_REFS,
  type Refs,
} from '../runtime/codec.js';

const { port1, port2 } = new MessageChannel();

function carry(value: unknown, refs: Refs = NO_REFS): unknown {
  port1.postMessage(encode(value, refs));
  const { message }: { message: Encoded } = receiveMessageOnPort(port2) ?? { message: null };
  return decode(message, refs);
}

test.after(() => {
  port1.close();
  port2.close();
});

test('plain data comes back equal', (t) => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
    withNullPrototype: true,
  });
  fc.assert(
    fc.property(anything, (value) => {
      t.deepEqual(carry(value), value);
    }),
    { numRuns: 300 },
  );
});

test('prototypes', (t) => {
  const bare = Object.assign(Object.create(null), { a: Object.create(null) });
  const got = carry({ bare, buffer: Buffer.from('abc'), bytes: new Uint8Array([1]) }) as never as {
    bare: { a: object };
    buffer: Buffer;
    bytes: Uint8Array;
  };
  t.is(Object.getPrototypeOf(got.bare), null);
  t.is(Object.getPrototypeOf(got.bare.a), null);
  t.true(Buffer.isBuffer(got.buffer));
  t.is(got.buffer.toString(), 'abc');
  t.false(Buffer.isBuffer(got.bytes));
});

test('of several values that are put one after the other, what is one object stays one, be it as it is or as a copy', (t) => {
  const shared = { n: 1, bytes: Buffer.from('a') };
  const url = new URL('http://a/b');
  const values = [shared, { url, shared }, [shared]];
  for (const order of [values, values.toReversed(), [values[1], values[0], values[2]]]) {
    port1.postMessage(encodeAll(order, NO_REFS, 'vars'));
    const { message }: { message: Encoded } = receiveMessageOnPort(port2) ?? { message: null };
    const got = decode(message) as unknown[];
    t.deepEqual(got, order);
    const at = (value: unknown): never => got[order.indexOf(value as never)] as never;
    const sent: object = at(shared);
    t.is((at(values[1]) as { shared: object }).shared, sent);
    t.is((at(values[2]) as object[])[0], sent);
    t.true(Buffer.isBuffer((sent as typeof shared).bytes));
  }
});

test('what was copied for a value that cannot travel is copied anew for the next', (t) => {
  const bytes = Buffer.from('abc');
  const error = new TypeError('t');
  const encoder = new Encoder(NO_REFS);
  const list: unknown[] = [undefined, undefined];
  const first = { url: new URL('http://a/b'), bytes, error, fn: () => {} };
  t.throws(() => encoder.put(list, 0, first, 'first'), { instanceOf: CannotTravel });
  encoder.put(list, 0, { url: new URL('http://a/b'), bytes, error }, 'second');
  encoder.put(list, 1, bytes, 'third');
  port1.postMessage({ holder: [list], fixes: encoder.fixes } satisfies Encoded);
  const { message }: { message: Encoded } = receiveMessageOnPort(port2) ?? { message: null };
  const [second, third] = decode(message) as [typeof first, typeof bytes];
  t.true(Buffer.isBuffer(third));
  t.is(second.bytes, third);
  t.true(second.error instanceof TypeError);
});

test('what is one object stays one object, whatever it takes to send it', (t) => {
  for (const special of [null, new URL('http://a/b'), new Error('x')]) {
    const shared = { n: 1 };
    const value: { [name: string]: unknown } = { a: shared, b: [shared], m: new Map([[shared, shared]]), special };
    value.self = value;
    const got = carry(value) as { a: object; b: [object]; m: Map<object, object>; self: object };
    t.is(got.a, got.b[0]);
    t.is(got.m.get(got.a), got.a);
    t.is(got.self, got);
  }
  const error = new Error('shared');
  const [one, two] = carry([error, [error]]) as [Error, [Error]];
  t.is(one, two[0]);
});

test('views of one memory stay so', (t) => {
  const memory = new ArrayBuffer(8);
  const [one, two] = carry([new Uint8Array(memory), new Uint8Array(memory, 4)]) as [Uint8Array, Uint8Array];
  one[4] = 9;
  t.is(two[0], 9);
});

test('a small view of a large slab does not take the slab along', (t) => {
  const slab = Buffer.alloc(1_000_000);
  const got = carry({ part: slab.subarray(10, 20) }) as { part: Buffer };
  t.is(got.part.buffer.byteLength, 10);
  t.true(Buffer.isBuffer(got.part));
});

test('URLs, search parameters, patterns, dates', (t) => {
  const pattern = /a(b)/giu;
  pattern.lastIndex = 3;
  const parsed = url.parse('/a?b=c');
  const value = {
    u: new URL('http://a/?x=ü#y'),
    p: new URLSearchParams('a=1&a=2'),
    r: pattern,
    d: new Date(Number.NaN),
    parsed,
  };
  const got = carry(value) as typeof value;
  t.true(got.u instanceof URL);
  t.is(got.u.href, value.u.href);
  t.true(got.p instanceof URLSearchParams);
  t.deepEqual([...got.p], [...value.p]);
  t.is(String(got.r), String(pattern));
  t.is(got.r.lastIndex, 3);
  t.true(Number.isNaN(got.d.getTime()));
  t.is(Object.getPrototypeOf(got.parsed), Object.getPrototypeOf(parsed));
  t.is(got.parsed.query, 'b=c');
});

test('errors', (t) => {
  const cause = new TypeError('why');
  const error = Object.assign(new RangeError('what', { cause }), { code: 'E_X', status: 418, again: cause });
  Object.defineProperty(error, 'hidden', { value: [1], enumerable: false, writable: true, configurable: true });
  const got = carry({ error }) as { error: typeof error & { hidden: number[]; cause: Error } };
  t.true(got.error instanceof RangeError);
  t.is(Object.getPrototypeOf(got.error), RangeError.prototype);
  t.is(got.error.message, 'what');
  t.is(got.error.stack, error.stack);
  t.is(got.error.code, 'E_X');
  t.deepEqual(Object.keys(got.error), ['code', 'status', 'again']);
  t.deepEqual(got.error.hidden, [1]);
  t.true(got.error.cause instanceof TypeError);
  t.is(got.error.cause, got.error.again);
  t.is(String(got.error), 'RangeError: what');
});

test("errors of Node's own", (t) => {
  const errors: Error[] = [];
  for (const fail of [
    () => Buffer.alloc(-1),
    () => AbortSignal.abort().throwIfAborted(),
    () => new URL('no url'),
    () => process.chdir('/no/such/folder'),
  ]) {
    try {
      fail();
    } catch (error) {
      if (error instanceof Error) errors.push(error);
    }
  }
  t.is(errors.length, 4);
  for (const error of errors) {
    const got = carry(error) as Error & { code: string };
    t.is(String(got), String(error));
    t.is(String(carry(got)), String(error));
    t.is(got instanceof RangeError, error instanceof RangeError);
    t.is(got.code, Reflect.get(error, 'code'));
    t.is(got.stack, error.stack);
  }
});

test('frozen, sealed and closed objects', (t) => {
  const value = {
    f: Object.freeze({ a: Object.freeze([1]) }),
    s: Object.seal({ a: 1 }),
    c: Object.preventExtensions({}),
    e: Object.freeze(Object.assign(new Error('as it was'), { code: 7, cause: Object.freeze(new TypeError('within')) })),
  };
  const got = carry(value) as typeof value;
  t.true(Object.isFrozen(got.f) && Object.isFrozen(got.f.a));
  t.true(Object.isFrozen(got.e) && Object.isFrozen(got.e.cause));
  t.deepEqual([got.e.message, got.e.code, got.e.cause.message], ['as it was', 7, 'within']);
  t.true(Object.isSealed(got.s) && !Object.isFrozen(got.s));
  t.false(Object.isExtensible(got.c));
});

test('references', (t) => {
  const app = () => {};
  const res = new WeakMap();
  const names = new Map<unknown, object>([
    ['app', app],
    ['res', res],
  ]);
  const refs: Refs = {
    nameOf: (thing) => [...names].find(([, known]) => known === thing)?.[0],
    thingOf: (name) => names.get(name),
  };
  t.is(carry(res, refs), res);
  t.deepEqual(carry({ app, list: [res, 1], m: new Map<unknown, unknown>([[res, app]]) }, refs), {
    app,
    list: [res, 1],
    m: new Map<unknown, unknown>([[res, app]]),
  });
});

test('classes that both sides know', (t) => {
  class Point {
    constructor(
      public x: number,
      public y: number,
    ) {}
  }
  class Trouble extends Error {
    level = 3;
  }
  const known = new Map<string, object>([
    ['Point', Point.prototype],
    ['Trouble', Trouble.prototype],
  ]);
  const refs: Refs = {
    ...NO_REFS,
    classOf: (prototype) => [...known].find(([, item]) => item === prototype)?.[0],
    prototypeOf: (name) => known.get(name),
  };
  const [point, trouble] = carry([new Point(1, 2), new Trouble('x')], refs) as [Point, Trouble];
  t.true(point instanceof Point);
  t.is(point.y, 2);
  t.true(trouble instanceof Trouble);
  t.is(trouble.level, 3);
});

test('what cannot travel is named', (t) => {
  class Session {}
  const hidden = Object.defineProperty({}, 'x', { value: 1, enumerable: false });
  const readOnly = Object.defineProperty({}, 'x', { value: 1, enumerable: true });
  const marked = Object.assign(/x/, { y: 1 });
  const cases: [unknown, string, string?][] = [
    [() => {}, 'it is a function'],
    [Symbol('s'), 'it is a symbol'],
    [{ [Symbol('s')]: 1 }, 'it has the property Symbol(s)'],
    [new Session(), 'it is a Session'],
    [Object.create({}), 'it is an Object'],
    [new (class extends Array {})(), 'it is an object of an unknown class'],
    [new Proxy({}, {}), 'it is a proxy'],
    [new Proxy(() => {}, {}), 'it is a proxy'],
    [new WeakMap(), 'it is a WeakMap'],
    [Promise.resolve(), 'it is a Promise'],
    [
      {
        get x() {
          return 1;
        },
      },
      'it is an accessor',
      '.x',
    ],
    [hidden, 'it is hidden', '.x'],
    [readOnly, 'it is read-only', '.x'],
    [new Map([[1, () => {}]]), 'it is a function', '<1>'],
    [new Set([Symbol('s')]), 'it is a symbol', '<0>'],
    [new Uint8Array(new SharedArrayBuffer(1)), 'its memory is shared'],
    [Object.assign(new Map(), { x: 1 }), 'it has the property x'],
    [Object.assign(new Date(), { x: 1 }), 'it has the property x'],
    [Object.assign(new Error('x'), { f() {} }), 'it is a function', '.f'],
    [[1, { deep: [() => {}] }], 'it is a function', '[1].deep[0]'],
    [[new URL('http://x'), { deep: [() => {}] }], 'it is a function', '[1].deep[0]'],
  ];
  for (const [value, why, path = ''] of cases) {
    const error = t.throws(() => encode({ user: value }, NO_REFS, 'req'), { instanceOf: CannotTravel });
    t.is(error.message, `req.user${path} cannot travel: ${why}`);
  }
  t.throws(() => encode(marked), { instanceOf: CannotTravel });
});

test('too deep', (t) => {
  let deep: object = {};
  for (let n = 0; n < 200_000; n++) deep = { deep };
  t.regex(t.throws(() => encode(deep), { instanceOf: CannotTravel }).message, /nested too deeply/);
});

test('no own name of an object changes another', (t) => {
  const value = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":2}}');
  for (const special of [null, new URL('http://x')]) {
    const got = carry({ value, special }) as { value: object };
    t.is(Object.getPrototypeOf(got.value), Object.prototype);
    t.deepEqual(Object.keys(got.value), ['__proto__', 'constructor']);
  }
});
