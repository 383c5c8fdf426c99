import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

// Which folder may know of which: what a phase imports says what it depends on.

const MAY_IMPORT: { readonly [folder: string]: RegExp } = {
  analyzer: /^(syntax\/|diagnostics\/|models\/types\.|flx\/(program|live-facts)\.)/,
  pipeliner: /^(analyzer\/|diagnostics\/|models\/types\.|flx\/(program|layout-code|live-facts)\.)/,
  models: /^$/,
  diagnostics: /^$/,
  flx: /^(syntax|diagnostics)\//,
  syntax: /^$/,
  runtime: /^(diagnostics\/|flx\/(program|run-manifest|link-report|live-facts)\.)/,
};

const root = findRoot(dirname(fileURLToPath(import.meta.url)));

/** Sources are read, not what was built of them. */
function findRoot(folder: string): string {
  return existsSync(join(folder, 'tsconfig.json')) ? folder : findRoot(dirname(folder));
}

function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const found = text.matchAll(/(?:\bfrom|\bimport\(|\brequire\()\s*'(\.[^']+)'/g);
  return [...found].map((match) => relative('.', join(dirname(file), match[1] ?? '')));
}

for (const [folder, allowed] of Object.entries(MAY_IMPORT)) {
  test(`${folder}/ imports only what it may know of`, (t) => {
    const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
    const files = names.filter((name) => /\.c?ts$/.test(name)).map((name) => join(folder, name));
    t.true(files.length > 0);
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => !target.startsWith(`${folder}/`) && !allowed.test(target))
        .map((target) => `${file} imports ${target}`),
    );
    t.deepEqual(wrong, []);
  });
}

test('the runtime takes node:http and node:process without what an import of them would load', (t) => {
  const names = readdirSync(join(root, 'runtime'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const wrong = names.filter((name) =>
    /^import (?!type ).*'node:(https?|process)'/m.test(readFileSync(join(root, 'runtime', name), 'utf8')),
  );
  t.deepEqual(wrong, []);
});
