import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

// Every fixture with requests: by node, by `fluxion run` with all that may move on a replica and, where it has cuts, as emitted, and
// as emitted with every cut taken. Where it has none, the emitted folder has the original's own texts evaluated: one of a topic shows
// that it does.

const topics = new Set<string>();

for (const fixture of findFixtures()) {
  const file = join(fixture.folder, 'requests.json');
  if (!existsSync(file)) continue;
  const topic = dirname(fixture.name);
  const isFirst = !topics.has(topic);
  topics.add(topic);
  test(`by node, as emitted, with every cut taken, and on two loops: ${fixture.name}`, async (t) => {
    await turnOf(t);
    const asked: Pick<RunOptions, 'env' | 'requests'> = JSON.parse(readFileSync(file, 'utf8'));
    const out = join(tempFolder(t), 'out');
    const app = { ...fixture, ...(await compileApp(fixture.folder, fixture.entry, out)) };
    const original = await runOriginal(app, asked);
    const cut = hasCuts(out);
    if (cut || isFirst) t.deepEqual(await runEmitted(app, asked), original);
    if (cut) {
      const { cuts: _cuts, ...taken } = await runFactories(app, asked);
      t.deepEqual(taken, original);
    }
    const { said, ...eager } = await runEager(app, asked);
    t.log(said);
    t.deepEqual(eager, original);
  });
}

function hasCuts(out: string): boolean {
  const { home }: { readonly home: { readonly [id: string]: { readonly cuts: readonly string[] } } } = JSON.parse(
    readFileSync(join(out, 'fluxion.json'), 'utf8'),
  );
  return Object.values(home).some(({ cuts }) => cuts.length > 0);
}
