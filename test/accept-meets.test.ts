import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { Meets, type Stay } from '../runtime/accept/meets.js';
import { Reflector } from '../runtime/link/reflect.js';
import { type Stacks, stacksOfServer } from '../runtime/link/routers.js';
import { type App, type Handler, load } from './support/express-types.js';

// Whether a request may come to some function is said before anything of it runs; the router then says whether it did.

interface Called {
  readonly name: string;
}

/** `see` makes handlers that tell that they were called, and pass the request on. */
function build(version: 4 | 5, see: (name: string) => Handler): App {
  const make = load(version);
  const app = make();
  app.use('/use', see('use'));
  app.use(['/one', '/two'], see('list'));
  app.get('/get/:id', see('get'));
  app.post('/get/:id', see('post'));
  app.all('/all', see('all'));
  app.get(/^\/reg(ex)?$/, see('regexp'));
  app.get(/\/once/g, see('remembers'));
  app.get(['/a', '/b/:c'], see('paths'));
  const inner = make.Router({ mergeParams: true });
  inner.get('/', see('inner root'));
  inner.get('/x', see('inner x'));
  inner.put('/x/:y', see('inner put'));
  inner.param('p', see('param'));
  inner.get('/p/:p', see('with param'));
  app.use('/in', inner);
  const deep = make.Router({ caseSensitive: true, strict: true });
  deep.get('/Case/', see('case'));
  const mounted = make();
  mounted.use('/deep', deep);
  mounted.get('/page', see('page'));
  app.use('/users/:id', mounted);
  return app;
}

const PATHS = [
  ...[
    '/',
    '/use',
    '/use/more',
    '/used',
    '/USE',
    '/one',
    '/two/x',
    '/get/1',
    '/get/',
    '/get/%zz',
    '/get/1/2',
    '/all',
    '/all/',
  ],
  ...[
    '/reg',
    '/regex',
    '/once',
    '/a/once/b',
    '/a',
    '/b/1',
    '/in',
    '/in/',
    '/in/x',
    '/in/x/',
    '/IN/X',
    '/in/x/1',
    '/in/p/1',
    '/in/p',
  ],
  ...[
    '/in//x',
    '//in/x',
    '/users/1/page',
    '/users/1/deep/Case/',
    '/users/1/deep/case/',
    '/users/1/deep/Case',
    '/users//page',
  ],
  ...[
    '/users/%2f/page?x=/use',
    '/use?x',
    '/?/use',
    '/%75se',
    '/in/x#y',
    '/in/../in/x',
    '/us',
    '/users/1',
    '/users/%zz/page',
  ],
];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS', 'PATCH'];

const stay = (path: string): Stay => ({ path, prefix: null });

async function compare(t: ExecutionContext, version: 4 | 5): Promise<void> {
  const called = new Set<string>();
  const see = (name: string): Handler => {
    const fn: Handler = (_req, _res, next) => {
      called.add(name);
      next();
    };
    return Object.defineProperty(fn, 'name', { value: name });
  };
  const server = createServer(build(version, see));
  const reflector = new Reflector();
  const stacks: Stacks = stacksOfServer(server, reflector);
  reflector.close();
  const slots = stacks.slots.filter(
    ({ fn }: { readonly fn: Called }) => /^[a-z]/.test(fn.name) && fn.name !== 'query' && fn.name !== 'expressInit',
  );
  const paths = new Map<string, string[]>();
  for (const { fn, path } of slots) paths.set(fn.name, [...(paths.get(fn.name) ?? []), path]);
  t.is(paths.size, 15);
  await new Promise<void>((resolve) => server.listen(0, resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const ask = (method: string, path: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const req = request({ port, method, path }, (res) => res.resume().on('end', resolve));
      req.on('error', reject).end();
    });
  let [says, does] = [0, 0];
  for (const path of PATHS) {
    for (const method of METHODS) {
      // One that remembers has another answer each time.
      called.clear();
      const may = new Map(
        [...paths].map(([name, its]) => [name, new Meets(stacks, its.map(stay)).mayMeet(method, path)]),
      );
      await ask(method, path);
      for (const name of called) t.true(may.get(name), `${method} ${path} came to "${name}"`);
      says += [...may.values()].filter(Boolean).length;
      does += called.size;
    }
  }
  // Of what is said to be met most is met: errors and regular expressions of the app's own are the exceptions.
  t.true(says < does * 4, `${says} are said to be met, ${does} are`);
}

test('Express 5: whatever is met was said to be', (t) => compare(t, 5));

test('Express 4: whatever is met was said to be', (t) => compare(t, 4));

test('what is used by every request is always met, what has a path is not', (t) => {
  const app = load(5)();
  const handler: Handler = (_req, _res, next) => next();
  app.use(handler);
  app.get('/a', handler);
  const reflector = new Reflector();
  const stacks = stacksOfServer(createServer(app), reflector);
  reflector.close();
  t.deepEqual(
    stacks.slots.map(({ path }) => new Meets(stacks, [stay(path)]).isAlways),
    [true, false],
  );
  fc.assert(fc.property(fc.webPath(), (path) => new Meets(stacks, [stay('0/0')]).mayMeet('GET', path || '/')));
});
