/** Child loggers of pino, as one loop tells another of them. */
import { createRequire } from 'node:module';
import test from 'ava';
import pino from 'pino';
import { childOf, loggerOf, makeChild } from '../runtime/link/child-loggers.js';

/** Its types say that each request of Node's has a logger. */
const makeMiddleware: (options: object, stream: object) => { readonly logger: object } = createRequire(import.meta.url)(
  'pino-http',
);

interface Heard {
  readonly stream: { write(line: string): void };
  readonly lines: string[];
}

function listen(): Heard {
  const lines: string[] = [];
  return { lines, stream: { write: (line) => void lines.push(line) } };
}

const OPTIONS = { base: null, timestamp: false } as const;

test('a child of a child is made again of what both are bound to', (t) => {
  const { stream, lines } = listen();
  const logger = pino(OPTIONS, stream);
  const child = logger.child({ request: 1 }).child({ user: { name: 'ada' } });
  const told = childOf(child, (thing) => thing === logger);
  if (told === null) return t.fail();
  t.is(told.bound.length, 2);
  const made = makeChild(logger, told.bound);
  for (const each of [child, made]) Reflect.apply(Reflect.get(each, 'info'), each, [{ a: 1 }, 'said']);
  t.is(lines[0], lines[1]);
  t.is(lines[0], '{"level":30,"request":1,"user":{"name":"ada"},"a":1,"msg":"said"}\n');
});

test('what has more than that, or comes from a logger that nobody knows, is not told', (t) => {
  const { stream } = listen();
  const logger = pino(OPTIONS, stream);
  const known = (thing: object): boolean => thing === logger;
  const named = logger.child({ a: 1 });
  Object.assign(named, { name: 'named' });
  const set = logger.child({ a: 1 });
  set.level = 'debug';
  const replaced = logger.child({ a: 1 });
  replaced.info = () => {};
  const others = [
    set,
    named,
    replaced,
    logger.child({ a: 1 }, { level: 'debug' }),
    logger.child({ a: 1 }, { serializers: { a: () => 2 } }),
    logger.child({ a: 1 }, { msgPrefix: 'of ' }),
    pino(OPTIONS, stream).child({ a: 1 }),
    Object.create(logger),
    { child: () => ({}) },
  ];
  for (const other of others) t.is(childOf(other, known), null);
  t.not(childOf(logger.child({}), known), null);
});

test('nobody hears of a child that is made to compare', (t) => {
  const heard: unknown[] = [];
  const logger = pino({ ...OPTIONS, onChild: (child) => void heard.push(child) }, listen().stream);
  t.is(
    childOf(logger.child({ a: 1 }), (thing) => thing === logger),
    null,
  );
  t.is(heard.length, 1);
});

test('the logger that middleware keeps for good', (t) => {
  const middleware = makeMiddleware(OPTIONS, listen().stream);
  t.is(loggerOf(middleware), middleware.logger);
  Object.assign(middleware, { logger: pino(OPTIONS) });
  t.is(loggerOf(middleware), null);
  t.is(loggerOf(Object.assign(() => {}, { logger: pino(OPTIONS) })), null);
});
