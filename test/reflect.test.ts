import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import test, { type ExecutionContext } from 'ava';
import { foundSigns, Reflector, type Signs } from '../runtime/link/reflect.js';
import type { Located } from './support/locate-worker.js';
import { tempFolder } from './support/temp-folder.js';

const require = createRequire(import.meta.url);

function locateHere(files: readonly string[]): ReturnType<Reflector['locate']> {
  const reflector = new Reflector();
  const places = reflector.locate(files.map((file) => require(file)));
  reflector.close();
  return places;
}

async function locateElsewhere(files: readonly string[], signs: Signs): Promise<Located> {
  const worker = new Worker(new URL('./support/locate-worker.js', import.meta.url), { workerData: { files, signs } });
  const [located] = await once(worker, 'message');
  await worker.terminate();
  return located;
}

function filesOf(t: ExecutionContext, tree: { readonly [name: string]: string }): readonly string[] {
  const folder = tempFolder(t, tree);
  return Object.keys(tree).map((name) => join(folder, name));
}

test('what one thread has found another one finds without asking V8 for all of its scripts', async (t) => {
  const files = filesOf(t, {
    'a.cjs': 'module.exports = (req, res) => res.end("a");',
    'b.cjs': 'exports = 1;\nmodule.exports = () => "b";',
  });
  const here = locateHere(files);
  t.deepEqual(
    here.map((place) => [place?.url, place?.line]),
    files.map((file, index) => [pathToFileURL(file).href, index + 1]),
  );
  t.deepEqual(await locateElsewhere(files, foundSigns()), { places: here, asked: 0 });
  t.deepEqual(await locateElsewhere(files, new Map()), { places: here, asked: 1 });
});

test('what stands at the same place of several files is told apart', async (t) => {
  const text = 'module.exports = (req, res) => res.end("the same");';
  const files = filesOf(t, { 'one.cjs': text, 'two.cjs': text });
  const here = locateHere(files);
  t.deepEqual(
    here.map((place) => place?.url),
    files.map((file) => pathToFileURL(file).href),
  );
  // Once more, which makes it no less doubtful.
  locateHere(files.slice(0, 1));
  t.deepEqual(await locateElsewhere([...files].reverse(), foundSigns()), { places: [...here].reverse(), asked: 1 });
});

test('what has another text is another function', async (t) => {
  const [file = ''] = filesOf(t, { 'now.cjs': 'module.exports = () => "now";' });
  const here = locateHere([file]);
  const [other = ''] = filesOf(t, { 'then.cjs': '' });
  writeFileSync(other, 'module.exports = () => "then";');
  const { places, asked } = await locateElsewhere([other], foundSigns());
  t.is(asked, 1);
  t.deepEqual(
    places,
    here.map((place) => place && { ...place, url: pathToFileURL(other).href }),
  );
});
