import { EventEmitter } from 'node:events';
import http from 'node:http';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import type { LinkFluxion, LinkManifest, StartManifest } from '../flx/run-manifest.js';
import { findDifference, freshReach, type Reached } from '../runtime/link/compare.js';
import { Reach } from '../runtime/link/reach.js';
import { Reflector } from '../runtime/link/reflect.js';
import { divergenceText, Sanitizer } from '../runtime/sanitize.js';
import { tempFolder } from './support/temp-folder.js';

// What a function can reach, as text: the same text wherever start-up went the same way, another one wherever it did not.
// This file stands for a module of an app.

const ID = 'app.js';
const start = {
  version: 1,
  entry: ID,
  movable: true,
  modules: [{ id: ID, source: fileURLToPath(import.meta.url) }],
} as unknown as StartManifest;
const link = { changing: { [ID]: ['counter'] }, once: {}, appNames: [] } as unknown as LinkManifest;

function reachedBy(fn: object): Reached {
  const reach = freshReach(start, link, []);
  const reached = reach.of(fn);
  reach.close();
  return reached;
}

class Cart {
  #items: string[] = [];
  constructor(readonly owner: string) {}
  add(item: string): void {
    this.#items.push(item);
  }
  show(): string {
    return `${this.owner} ${this.#items.join()}`;
  }
}

class Base {
  constructor(readonly value: unknown) {}
  show(): unknown {
    return this.value;
  }
}

let ran = 0;
function note(): undefined {
  ran++;
}

class Arrows extends Base {
  make: { readonly [what: string]: () => unknown } = {
    'in a field': () => () => note() ?? this.value,
    'that is asynchronous': () => async () => note() ?? this.value,
    'that takes things apart':
      () =>
      ({ body: { id } }: { body: { id: string } }, ...rest: unknown[]) =>
        note() ?? [id, rest, this.value],
    'that another one uses': () => () => [1].map(() => note() ?? this.value),
    'that another one makes': () => () => async () => note() ?? this.value,
    'that asks for what is above': () => () => note() ?? super.show(),
  };
  inMethod() {
    return () => note() ?? this.value;
  }
}

class Unclear extends Base {
  initial = (id = ran++) => [id, this.value];
  computed = ({ [String(ran++)]: id }: { [name: string]: unknown }) => [id, this.value];
}

/** As two loops would: the same code is run again. */
const MAKE: { readonly [what: string]: (value: unknown) => () => unknown } = {
  'a variable': (value) => () => value,
  'an object': (value) => {
    const config = { deep: [{ value }] };
    return () => config;
  },
  'a symbol as name': (value) => {
    const hidden = { [Symbol.for('value')]: value };
    return () => hidden;
  },
  'what is not listed': (value) => {
    const hidden = Object.defineProperty({}, 'value', { value });
    return () => hidden;
  },
  'a map': (value) => {
    const map = new Map([['key', { value }]]);
    return () => map;
  },
  'a set': (value) => {
    const set = new Set([value]);
    return () => set;
  },
  'an instance': (value) => {
    const cart = new Cart(String(value));
    return () => cart.show();
  },
  'a private field': (value) => {
    const cart = new Cart('somebody');
    cart.add(String(value));
    return () => cart.show();
  },
  'another function’s variable': (value) => {
    const inner = () => value;
    return () => inner();
  },
  'what a function is bound to': (value) =>
    function show(this: unknown) {
      return this;
    }.bind({ value }),
  'the this of an arrow function': (value) => new Arrows(value).inMethod(),
  ...Object.fromEntries(
    Object.keys(new Arrows(0).make).map((what) => [
      `the this of an arrow function ${what}`,
      (value: unknown) => new Arrows(value).make[what]?.() as () => unknown,
    ]),
  ),
  'a date': (value) => {
    const date = new Date(Number(value) * 1000);
    return () => date;
  },
  bytes: (value) => {
    const bytes = Buffer.from(String(value));
    return () => bytes;
  },
  'a settled promise': (value) => {
    const promise = Promise.resolve({ value });
    return () => promise;
  },
};

for (const [what, make] of Object.entries(MAKE)) {
  test(`the same, and another: ${what}`, (t) => {
    t.is(findDifference(reachedBy(make(1)), reachedBy(make(1))), null);
    t.not(findDifference(reachedBy(make(1)), reachedBy(make(2))), null);
  });
}

test('nothing of an arrow function runs when it is asked for its this', (t) => t.is(ran, 0));

test('an arrow function whose parameters have code is like nothing else, if it names this', (t) => {
  for (const name of ['initial', 'computed'] as const) {
    const fn = new Unclear(1)[name];
    t.is(findDifference(reachedBy(fn), reachedBy(fn)), 'this', name);
  }
  t.is(ran, 0);
});

test('code by its place', (t) => {
  const [one, other] = [() => 1, () => 1];
  const use = (fn: () => number) => () => fn();
  t.is(findDifference(reachedBy(use(one)), reachedBy(use(one))), null);
  t.is(findDifference(reachedBy(use(one)), reachedBy(use(other))), 'fn');
});

test('what waits is like nothing else', (t) => {
  const waiting = new Promise(() => {});
  const use = () => waiting;
  t.is(findDifference(reachedBy(use), reachedBy(use)), 'waiting');
});

test('a pool of one connection is like nothing else', (t) => {
  const folder = tempFolder(t, {
    'node_modules/mongodb/client.js': `exports.Client = class { constructor(most) { this.options = { maxPoolSize: most }; } };
      exports.modelOf = (client) => Object.assign(() => {}, { db: { client } });`,
  });
  const { Client, modelOf } = createRequire(import.meta.url)(join(folder, 'node_modules/mongodb/client.js'));
  for (const make of [(most: number) => new Client(most), (most: number) => modelOf(new Client(most))]) {
    const use = (pool: object) => () => pool;
    t.is(findDifference(reachedBy(use(make(10))), reachedBy(use(make(10)))), null);
    t.is(findDifference(reachedBy(use(make(1))), reachedBy(use(make(1)))), 'pool');
  }
});

test('circles end', (t) => {
  const make = (value: number) => {
    const circle: { self?: object; value: number } = { value };
    circle.self = circle;
    return () => circle;
  };
  t.is(findDifference(reachedBy(make(1)), reachedBy(make(1))), null);
  t.is(findDifference(reachedBy(make(1)), reachedBy(make(2))), 'circle');
});

test('what changes while the app serves is nobody’s to compare', (t) => {
  const make = (counter: number) => () => counter;
  t.is(findDifference(reachedBy(make(1)), reachedBy(make(2))), null);
});

test('the sanitizer tells once what is not as it was, and what has run', (t) => {
  const limits = { most: 1 };
  const read = () => limits.most;
  const fluxion = { id: 'read', module: ID, line: 3 } as LinkFluxion;
  const sanitizer = new Sanitizer([{ fluxion, fn: read, reached: reachedBy(read) }], () => freshReach(start, link, []));
  sanitizer.ran('GET /');
  t.deepEqual(sanitizer.look(), []);
  limits.most = 2;
  sanitizer.ran('POST /most');
  const [found] = sanitizer.look();
  t.is(
    found && divergenceText('replica-1', found),
    'sanitize: "limits", which "read" (app.js:3) reads on every loop, has changed on replica-1; run since it was as it should be: POST /most',
  );
  t.deepEqual(sanitizer.look(), []);
});

test('what middleware has in hands that leads out of the program is no stranger where other threads have their own', (t) => {
  const held = {
    agent: new http.Agent({ keepAlive: true }),
    oneByOne: new http.Agent({ maxSockets: 1 }),
    request: Object.create(http.IncomingMessage.prototype),
    socket: new Socket(),
    events: new EventEmitter(),
  };
  const reflector = new Reflector();
  const reach = new Reach(reflector, { isApp: (url) => url === import.meta.url, changes: () => false });
  const strangers = new Map<object, string>();
  reach.of(() => held, null, strangers);
  reflector.close();
  const names = Object.entries(held).filter(([, value]) => strangers.has(value));
  t.deepEqual(
    names.map(([name]) => name),
    ['oneByOne', 'socket', 'events'],
  );
});

test('standard output is the same everywhere', (t) => {
  const [out, err] = [process.stdout, process.stderr];
  t.deepEqual(
    reachedBy(() => [out, err]),
    [
      ['out', 'process.stdout'],
      ['err', 'process.stderr'],
    ],
  );
});
