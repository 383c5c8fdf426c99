/**
 * The last step of the build: what the engine and replicas load goes into few files. Loaded module by module, it took twice as long, on
 * each loop.
 *
 * Reads: dist/runtime, as the TypeScript compiler wrote it.
 * Gives: dist/runtime/bundle.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const runtime = fileURLToPath(new URL('./runtime/', import.meta.url));
const outdir = path.join(runtime, 'bundle');

/** CommonJS is there before the engine is, and has state; two modules are known by their names in stack traces. */
const APART = /\.cjs$|[\\/](?:stack|call-handler)\.js$/;

const apart: Plugin = {
  name: 'apart',
  setup({ onResolve }) {
    onResolve({ filter: APART }, ({ path: specifier, resolveDir, kind }) => {
      if (kind === 'entry-point') return undefined;
      const from = path.relative(outdir, path.resolve(resolveDir, specifier));
      return { path: from.split(path.sep).join('/'), external: true };
    });
  },
};

await build({
  entryPoints: {
    codec: path.join(runtime, 'codec.js'),
    compare: path.join(runtime, 'link/compare.js'),
    bridge: path.join(runtime, 'http-bridge/index.js'),
    dispatch: path.join(runtime, 'dispatch.js'),
    plan: path.join(runtime, 'accept/plan.js'),
    engine: path.join(runtime, 'engine.js'),
    replica: path.join(runtime, 'replica.js'),
  },
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  packages: 'external',
  sourcemap: true,
  sourcesContent: false,
  keepNames: false,
  plugins: [apart],
});
