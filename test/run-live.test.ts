/**
 * What the running app says of its handlers is compiled once for the same app that says the same; and it holds of the program that
 * runs, not of what is on disk by then.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { modulesFolder, ServedApp, type ServeOptions } from './support/served-app.js';
import { link, tempFolder } from './support/temp-folder.js';

const EAGER: readonly string[] = ['--placement', 'eager', '--threads', '1'];

/** `WHAT` says which method the second route calls. */
const APP = `
const express = require('express');
const app = express();
class Sums {
  twice(req, res) { res.json(2 * req.params.n); }
  half(req, res) { res.json(req.params.n / 2); }
}
class List {
  constructor() { this.all = []; }
  keep(req, res) { res.json(this.all.push(req.params.n)); }
  half(req, res) { res.json(req.params.n / 2); }
}
const controllers = { sums: new Sums(), list: new List() };
const routes = { '/first/:n': 'sums#twice', '/second/:n': 'list#' + (process.env.WHAT || 'keep') };
for (const [path, target] of Object.entries(routes)) {
  const [name, action] = target.split('#');
  const controller = controllers[name];
  app.get(path, (req, res) => controller[action](req, res));
}
const server = app.listen(0, () => console.log('port ' + server.address().port));
`;

test('what the app says is compiled once, and anew when it says something else', async (t) => {
  const cache = tempFolder(t);
  const folder = tempFolder(t, { node_modules: link(modulesFolder), 'app.js': APP });
  const start = async (what: string): Promise<readonly string[]> => {
    const options = { flags: EAGER, env: { FLUXION_CACHE: cache, WHAT: what }, replicas: 1 };
    const app = await ServedApp.serveAgain(t, folder, options);
    const { link: linked } = await app.report();
    return (linked?.fluxions ?? []).flatMap(({ moves, closure }) => (moves ? (closure?.labels ?? []) : [])).sort();
  };
  t.deepEqual(await start('keep'), ['GET /first/:n']);
  t.is(liftsIn(cache).length, 1);
  t.deepEqual(await start('keep'), ['GET /first/:n']);
  t.is(liftsIn(cache).length, 1);
  t.deepEqual(await start('half'), ['GET /first/:n', 'GET /second/:n']);
  t.is(liftsIn(cache).length, 2);
});

test('what the app says of itself is nothing to a file that has changed since', async (t) => {
  const app = await serve(t, { flags: EAGER, env: { CHANGE: '1' } });
  await app.says(/the compiler has heard it: 0 handlers/);
  await app.says(/server0: all that it calls stays on the main thread/);
  t.is((await app.get('/first/2')).text, '4');
});

test('replicas serve whole connections of an app that only the running app can tell of', async (t) => {
  const app = await serve(t, { flags: ['--accept', 'every', '--threads', '2'], env: { WHAT: 'half' }, replicas: 2 });
  await app.says(/replica-\d+ accepts connections of server0/);
  t.deepEqual([(await app.get('/first/2')).text, (await app.get('/second/2')).text], ['4', '1']);
});

function serve(t: ExecutionContext, options: ServeOptions): Promise<ServedApp> {
  const changes = `if (process.env.CHANGE) require('fs').appendFileSync(__filename, '// other\\n');`;
  return ServedApp.serve(t, { 'app.js': APP + changes }, options);
}

/** Folders of the cache with what the compiler made of what an app said. */
function liftsIn(cache: string): readonly string[] {
  return readdirSync(cache).filter((key) =>
    readdirSync(join(cache, key), { withFileTypes: true }).some(
      (each) => each.isDirectory() && existsSync(join(cache, key, each.name, 'lift.json')),
    ),
  );
}
