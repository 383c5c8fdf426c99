/**
 * The last step of the build: what the compiler, the engine and replicas load goes into few files. Loaded module by module, it took twice
 * as long, on each loop.
 *
 * Reads: dist, as the TypeScript compiler wrote it.
 * Gives: dist/bin/bundle and dist/runtime/bundle. These lie as deep as most of what goes into them, for paths that begin there.
 */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

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
  const root = fileURLToPath(new URL(`./${folder}/`, import.meta.url));
  const outdir = path.join(root, 'bundle');
  // Parts have other names when they have other content.
  rmSync(outdir, { recursive: true, force: true });
  await build({
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, path.join(root, file)])),
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
