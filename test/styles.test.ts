/**
 * Apps in the styles that people write them in (fixtures/styles), and apps that try to fool the analysis (fixtures/adversarial): which handlers may move, as the linker says of the running
 * app, and that it answers as under node while all that may move does; also where threads take connections, by new connections and by
 * ones that are kept. Nearly all of these apps have routes of both kinds.
 *
 * Two things could be wrong, and both are counted: a handler that must not move and does, and one that could and does not.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { compile } from '../compile.js';
import type { Request } from './support/differential.js';
import { type Fixture, findAdversarial, findStyles } from './support/fixture.js';
import { inTurn } from './support/in-turn.js';
import { type Reply, ServedApp, type ServeOptions } from './support/served-app.js';
import { countStyles, type FoundPlacement, findPlacements, readStyle, type Style } from './support/style.js';
import { tempFolder } from './support/temp-folder.js';

const NODE: ServeOptions = { flags: null };
const EAGER: readonly string[] = ['--placement', 'eager', '--threads', '1', '--sanitize'];
/** How often each request is sent. */
const TIMES = 2;
const ACCEPTING: readonly string[] = ['--accept', 'every', '--threads', '1'];
const DECIDED =
  /^fluxion (?:debug: replica-\d+ accepts|info: server0: the main thread accepts alone|info: server0: all )/m;

const apps = [...findStyles(), ...findAdversarial()];
let accepting = 0;

for (const app of apps) {
  test(`${app.name}: what moves, and what it answers`, (t) => inTurn(() => checkStyle(t, app)));
}

test('most of them are served by several threads', (t) =>
  inTurn(async () => {
    t.true(accepting > apps.length / 2, `${accepting} of ${apps.length}`);
  }));

/** The compiler could not follow the app to where it says what handles the route. */
const NOT_FOUND: FoundPlacement = { id: '', placement: 'home', why: 'is not found by the compiler' };

async function checkStyle(t: ExecutionContext, app: Fixture): Promise<void> {
  const style = readStyle(app);
  const folder = tempFolder(t);
  const [original, spread] = await Promise.all([
    ServedApp.serveFixture(t, app, NODE),
    ServedApp.serveFixture(t, app, { flags: EAGER, folder }),
  ]);
  // Whether there is a replica is among what is asked.
  await spread.says(/^fluxion (?:debug: replica-1 is ready|info: server0: all )/m);
  await spread.hasHeardCompiler();
  // It finds what the other has compiled.
  const shared = await ServedApp.serveFixture(t, app, { flags: ACCEPTING, cache: join(folder, 'cache') });
  const [decided] = await shared.says(DECIDED);
  if (decided.endsWith('accepts')) accepting++;
  for (const [index, request] of inRandomOrder(style.requests).entries()) {
    const isNew = index % 3 === 0;
    const [expected, ...answers] = await Promise.all([original, spread, shared].map((to) => ask(to, request, isNew)));
    t.deepEqual(answers, [expected, expected], `${request.method ?? 'GET'} ${request.path}`);
  }
  t.deepEqual([...shared.logged('error'), ...shared.logged('warn').filter((line) => line.includes(' came to '))], []);
  const { link, fluxions } = await spread.report();
  t.deepEqual([spread.logged('error'), (await spread.ended).code], [[], null]);
  if (link === null) return t.fail('the app was not linked');

  const { program } = await compile({ entry: app.entry, cwd: app.folder });
  const found = findPlacements(program, link);
  t.deepEqual(
    [...found.keys()].filter((route) => !(route in style.routes)),
    [],
  );
  for (const [route, expected] of Object.entries(style.routes)) {
    const { id, placement, why } = found.get(route) ?? NOT_FOUND;
    t.is(placement, typeof expected === 'string' ? expected : 'home', `${route}: ${why}`);
    if (typeof expected !== 'string') t.true(why.includes(expected.home), `${route} stays because of: ${why}`);
    const runs = Object.keys(fluxions.find((each) => each.id === id)?.runs ?? {});
    if (typeof expected === 'string') t.true(runs.includes('replica-1'), `${route} ran on ${runs.join()}`);
    else t.false(runs.includes('replica-1'), `${route} ran on ${runs.join()}`);
  }
}

async function ask(
  app: ServedApp,
  { method = 'GET', path, headers = {}, body = null }: Omit<Request, 'body'> & { readonly body?: string | null },
  isNew = false,
): Promise<Reply> {
  const reply = await app.request(path, { method, headers, ...(isNew ? { agent: false } : {}) }, body);
  const { date: _date, ...others } = reply.headers;
  return { ...reply, headers: others };
}

/** Another order for each style, and the same each time. */
function inRandomOrder(requests: readonly Request[]): readonly Request[] {
  let state = requests.length + JSON.stringify(requests).length;
  const random = (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
  return Array.from({ length: TIMES }, () => requests)
    .flat()
    .map((request) => ({ request, at: random() }))
    .sort((left, right) => left.at - right.at)
    .map(({ request }) => request);
}

test('README says how many of the routes move', (t) => {
  const styles: readonly Style[] = findStyles().map(readStyle);
  const { movable, moved, bound } = countStyles(styles);
  const tricks = countStyles(findAdversarial().map(readStyle));
  const said = `${styles.length} apps in as many styles: ${moved} of ${movable} handlers of routes that could move do, and none of ${bound} that must not (${tricks.bound} more in apps that try to fool the analysis)`;
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8').replace(/\s+/g, ' ');
  t.true(readme.includes(said), `README.md has to say: ${said}`);
});
