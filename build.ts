/**
 * The last steps of the build.
 *
 * Private names of the compiler's classes become plain ones: `#facts` is `$facts` from here on, as long as before, so places in source maps stay
 * right. TypeScript has seen to it by now that nobody else uses them, and V8 takes several times as long to find a private one in code that
 * it has not optimised, which in most compiles is nearly all.
 *
 * What the compiler, the engine and replicas load goes into few files. Loaded module by module, it took twice as long, on each loop.
 *
 * Reads: dist, as the TypeScript compiler wrote it.
 * Gives: dist/bin/bundle and dist/runtime/bundle. These lie as deep as most of what goes into them, for paths that begin there.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { invariant } from './diagnostics/invariant.js';
import { parse } from './syntax/parser.js';

const root = fileURLToPath(new URL('.', import.meta.url));
const compilerFolders = ['syntax', 'analyzer', 'pipeliner', 'flx'];

interface TreeNode {
  readonly type: string;
  readonly start: number;
  readonly name?: string;
}

function* nodesWithin(value: unknown): Generator<TreeNode> {
  if (typeof value !== 'object' || value === null) return;
  if ('type' in value && 'start' in value) yield value as TreeNode;
  for (const inner of Object.values(value)) yield* nodesWithin(inner);
}

function openPrivateNames(text: string, file: string): string {
  const nodes = [...nodesWithin(parse(text, 'module'))];
  const hidden = nodes.filter(({ type }) => type === 'PrivateIdentifier').sort((a, b) => a.start - b.start);
  const names = new Set(hidden.map(({ name }) => `$${name}`));
  const taken = nodes.find(({ type, name = '' }) => type === 'Identifier' && names.has(name));
  invariant(taken === undefined, `${file} has both a private name and ${taken?.name}`);
  let opened = '';
  let end = 0;
  for (const { start } of hidden) {
    // `get#size()` is not written by the TypeScript compiler, so it is a name of its own already.
    opened += `${text.slice(end, start)}$`;
    end = start + 1;
  }
  return opened + text.slice(end);
}

for (const folder of compilerFolders) {
  for (const name of readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })) {
    const file = path.join(root, folder, name);
    if (name.endsWith('.js')) writeFileSync(file, openPrivateNames(readFileSync(file, 'utf8'), file));
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
