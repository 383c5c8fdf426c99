/**
 * The last steps of the build. What the compiler consists of is made plain (`build-plain.ts`); then what the compiler, the engine and replicas
 * load goes into few files. Loaded module by module, it took twice as long, on each loop.
 *
 * Reads: dist, as the TypeScript compiler wrote it.
 * Gives: dist/bin/bundle and dist/runtime/bundle. These lie as deep as most of what goes into them, for paths that begin there.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { makePlain } from './build-plain.js';

const root = fileURLToPath(new URL('.', import.meta.url));
const helpers = path.join(root, 'syntax/iterate.js');

for (const folder of ['syntax', 'analyzer', 'pipeliner', 'flx']) {
  for (const name of readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })) {
    const file = path.join(root, folder, name);
    if (!name.endsWith('.js') || file === helpers) continue;
    const from = path.relative(path.dirname(file), helpers).split(path.sep).join('/');
    writeFileSync(file, makePlain(readFileSync(file, 'utf8'), from.startsWith('.') ? from : `./${from}`));
  }
}

/** CommonJS is there before the engine is, and has state; two modules are known by their names in stack traces. */
const APART = /\.cjs$|[\\/](?:stack|call-handler)\.js$/;

function apartFrom(outdir: string): Plugin {
  return {
    name: 'apart',
    setup({ onResolve }) {
      onResolve({ filter: APART }, ({ path: specifier, resolveDir, kind }) => {
        if (kind === 'entry-point') return undefined;
        const from = path.relative(outdir, path.resolve(resolveDir, specifier));
        return { path: from.split(path.sep).join('/'), external: true };
      });
    },
  };
}

async function bundle(folder: string, entries: { readonly [name: string]: string }): Promise<void> {
  const from = path.join(root, folder);
  const outdir = path.join(from, 'bundle');
  // Parts have other names when they have other content.
  rmSync(outdir, { recursive: true, force: true });
  await build({
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, path.join(from, file)])),
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    sourcemap: true,
    sourcesContent: false,
    minifyWhitespace: true,
    legalComments: 'none',
    lineLimit: 160,
    plugins: [apartFrom(outdir)],
  });
}

await bundle('bin', { main: 'main.js', prepare: 'prepare.js', thread: 'thread.js' });
await bundle('runtime', {
  codec: 'codec.js',
  compare: 'link/compare.js',
  bridge: 'http-bridge/index.js',
  dispatch: 'dispatch.js',
  plan: 'accept/plan.js',
  engine: 'engine.js',
  replica: 'replica.js',
});
