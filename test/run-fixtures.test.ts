import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { type RunOptions, runEager, runOriginal } from './support/differential.js';
import { findFixtures } from './support/fixture.js';
import { tempFolder } from './support/temp-folder.js';

// Every fixture with requests, by node and by `fluxion run` with all that may move on a replica.

for (const fixture of findFixtures()) {
  const file = join(fixture.folder, 'requests.json');
  if (!existsSync(file)) continue;
  test(`by node and on two loops: ${fixture.name}`, async (t) => {
    const asked: Pick<RunOptions, 'env' | 'requests'> = JSON.parse(readFileSync(file, 'utf8'));
    const app = { ...fixture, out: join(tempFolder(t), 'out') };
    const original = await runOriginal(app, asked);
    const { said, ...eager } = await runEager(app, asked);
    t.log(said);
    t.deepEqual(eager, original);
  });
}
