import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import {
  compileApp,
  type RunOptions,
  runEager,
  runEmitted,
  runFactories,
  runOriginal,
} from './support/differential.js';
import { findFixtures } from './support/fixture.js';
import { turnOf } from './support/in-turn.js';
import { tempFolder } from './support/temp-folder.js';

// Every fixture with requests: by node, as emitted, as emitted with every cut taken, and by `fluxion run` with all that may move on
// a replica.

for (const fixture of findFixtures()) {
  const file = join(fixture.folder, 'requests.json');
  if (!existsSync(file)) continue;
  test(`as written, as emitted, with every cut taken, and on two loops: ${fixture.name}`, async (t) => {
    await turnOf(t);
    const asked: Pick<RunOptions, 'env' | 'requests'> = JSON.parse(readFileSync(file, 'utf8'));
    const out = join(tempFolder(t), 'out');
    const app = { ...fixture, ...(await compileApp(fixture.folder, fixture.entry, out)) };
    const original = await runOriginal(app, asked);
    t.deepEqual(await runEmitted(app, asked), original);
    const { cuts: _cuts, ...cut } = await runFactories(app, asked);
    t.deepEqual(cut, original);
    const { said, ...eager } = await runEager(app, asked);
    t.log(said);
    t.deepEqual(eager, original);
  });
}
