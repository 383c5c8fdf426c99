import { join } from 'node:path';
import test from 'ava';
import { resolveEntry } from '../analyzer/resolve-entry.js';
import { BadInput } from '../diagnostics/bad-input.js';
import { link, tempFolder } from './support/temp-folder.js';

test('an entry is found as node finds it', (t) => {
  const root = tempFolder(t, {
    'package.json': '{"main": "lib/start"}',
    'lib/start.js': '',
    'app.js': '',
    'bin/www': '',
    'linked.js': link('app.js'),
    'node_modules/tool/cli.js': '',
  });
  const cases = {
    'app.js': 'app.js',
    app: 'app.js',
    './bin/../app': 'app.js',
    'bin/www': 'bin/www',
    '.': 'lib/start.js',
    'linked.js': 'app.js',
    'node_modules/tool/cli': 'node_modules/tool/cli.js',
    [join(root, 'app.js')]: 'app.js',
  };
  for (const [entry, file] of Object.entries(cases)) t.is(resolveEntry(entry, root), join(root, file), entry);
});

test('an entry that is not there is named with what may be meant', (t) => {
  const root = tempFolder(t, {
    'src/app.js': '',
    'src/db.mjs': '',
    'empty/readme.txt': '',
    'circle.js': link('circle.js'),
  });
  const refused = (entry: string, code: string, words: RegExp) => {
    const error = t.throws(() => resolveEntry(entry, root), { instanceOf: BadInput, message: words }, entry);
    t.is(error instanceof BadInput ? error.diagnostics[0]?.code : null, code, entry);
  };
  refused('src/ap.js', 'cli/entry-not-found', /no such file; did you mean "src\/app\.js"\?/);
  refused('src/db.js', 'cli/entry-not-found', /did you mean "src\/db\.mjs"\?/);
  refused('empty', 'cli/entry-not-found', /a folder without an index\.js/);
  refused('nowhere/app.js', 'cli/entry-not-found', /the folder it should be in does not exist/);
  refused('src/app.js/x', 'cli/entry-not-found', /the folder it should be in does not exist/);
  refused('circle.js', 'cli/entry-unreadable', /circle \(ELOOP\)/);
});
