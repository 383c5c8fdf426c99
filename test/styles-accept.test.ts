/**
 * The apps of fixtures/styles and fixtures/adversarial, with threads that take connections: whoever asks, by new connections and by ones that
 * are kept, hears what node says. Nearly all of these apps have routes of both kinds.
 */
import test, { type ExecutionContext } from 'ava';
import { type Fixture, findAdversarial, findStyles } from './support/fixture.js';
import { inTurn } from './support/in-turn.js';
import { type Reply, ServedApp } from './support/served-app.js';
import { readStyle, type Style } from './support/style.js';

type Request = Style['requests'][number];

const ACCEPTING = ['--accept', 'every', '--threads', '2'];
const DECIDED =
  /^fluxion (?:debug: replica-\d+ accepts|debug: server0: the main thread accepts alone|info: server0: all )/m;
const TIMES = 2;

let accepting = 0;

const apps = [...findStyles(), ...findAdversarial()];

for (const app of apps) test(`${app.name}: answers as under node`, (t) => inTurn(() => check(t, app)));

test('most of them are served by several threads', (t) =>
  inTurn(async () => {
    t.true(accepting > apps.length / 2, `${accepting} of ${apps.length}`);
  }));

async function check(t: ExecutionContext, app: Fixture): Promise<void> {
  const { requests } = readStyle(app);
  const [original, spread] = await Promise.all([
    ServedApp.serveFixture(t, app, { flags: null }),
    ServedApp.serveFixture(t, app, { flags: ACCEPTING }),
  ]);
  const [decided] = await spread.says(DECIDED);
  if (decided.endsWith('accepts')) accepting++;
  const list = Array.from({ length: TIMES }, () => requests).flat();
  for (const [index, request] of list.entries()) {
    const isNew = index % 3 === 0;
    t.deepEqual(await ask(spread, request, isNew), await ask(original, request, isNew), request.path);
  }
  t.deepEqual([...spread.logged('error'), ...spread.logged('warn').filter((line) => line.includes(' came to '))], []);
}

async function ask(
  app: ServedApp,
  { method = 'GET', path, headers = {}, body = null }: Omit<Request, 'body'> & { readonly body?: string | null },
  isNew: boolean,
): Promise<Reply> {
  const reply = await app.request(path, { method, headers, ...(isNew ? { agent: false } : {}) }, body);
  const { date: _date, ...others } = reply.headers;
  return { ...reply, headers: others };
}
