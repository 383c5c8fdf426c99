import { readFileSync } from 'node:fs';
import test from 'ava';
import { jsonPieces, jsonText, printJson } from '../flx/emit/json.js';
import { type Fluxion, type FluxionProgram, noLinkFacts, type Place } from '../flx/program.js';
import { verifyProgram } from '../flx/verify.js';

const at = (line: number, column: number, module = 'app.js'): Place => ({ module, line, column });

const handler: Fluxion = {
  id: 'handler',
  kind: 'start',
  tags: [],
  context: [],
  at: at(4, 14),
  placement: 'replicated',
  reasons: [{ code: 'pipeliner/stateless', message: 'it changes nothing', loc: null, lift: '' }],
  streams: [
    {
      type: 'post',
      dest: ['reply'],
      message: ['res'],
      callee: 'fs.readFile',
      loc: at(5, 3),
      inferred: false,
      label: null,
    },
  ],
  code: 'function handler(req, res) {\n  fs.readFile(__filename, -> reply);\n}',
};

const reply: Fluxion = {
  id: 'reply',
  kind: 'post',
  tags: ['grp_res'],
  context: ['count', 'template'],
  at: at(5, 27),
  placement: 'group',
  reasons: [
    { code: 'pipeliner/keeps-state', message: 'it alone changes "count"', loc: at(2, 3, 'count.js'), lift: 'move it' },
  ],
  streams: [],
  code: 'function reply(err, data) {\n  count += 1;\n  res.send(err || template(count, data));\n}',
};

const main: Fluxion = {
  id: 'main',
  kind: 'main',
  tags: ['grp_res'],
  context: [],
  at: at(1, 1),
  placement: 'home',
  reasons: [],
  streams: [
    {
      type: 'start',
      dest: ['handler'],
      message: ['res'],
      callee: 'app.get',
      loc: at(4, 1),
      inferred: false,
      label: 'GET /',
    },
  ],
  code: "app.get('/', >> handler);",
};

const paper: FluxionProgram = {
  version: 1,
  entry: 'app.js',
  modules: [
    { id: 'count.js', code: 'secret source' },
    { id: 'app.js', code: '' },
  ],
  fluxions: [main, handler, reply],
  variables: [
    {
      name: 'count',
      module: 'app.js',
      loc: at(2, 5),
      class: 'scope',
      tag: null,
      fluxions: ['reply'],
      writes: [at(6, 5)],
      reads: [at(6, 5), at(7, 30)],
    },
  ],
  unresolved: [
    { callee: 'app.post', loc: at(9, 1), code: 'analyzer/callback-unresolved', reason: 'computed', lift: 'name it' },
  ],
  packages: [],
  sources: [
    { id: 'app.js', file: '/home/me/app.js', kind: 'commonjs', text: 'secret source', codeStart: 0 },
    { id: 'count.js', file: '/home/me/count.js', kind: 'commonjs', text: 'secret source', codeStart: 0 },
  ],
  cuts: [{ kind: 'callback', module: 'app.js', dest: 'handler', message: ['res'], start: 54321, end: 54322 }],
  uncut: [],
  link: noLinkFacts,
};

test('a program comes out with the documented keys, in their order', (t) => {
  verifyProgram(paper);
  const expected = {
    version: 1,
    entry: 'app.js',
    modules: ['count.js', 'app.js'],
    fluxions: [
      {
        id: 'main',
        kind: 'main',
        module: 'app.js',
        loc: { line: 1, column: 1 },
        tags: ['grp_res'],
        context: [],
        placement: 'home',
        reasons: [],
        streams: [
          {
            type: 'start',
            callee: 'app.get',
            label: 'GET /',
            inferred: false,
            loc: { module: 'app.js', line: 4, column: 1 },
            dest: ['handler'],
            message: ['res'],
          },
        ],
      },
      {
        id: 'handler',
        kind: 'start',
        module: 'app.js',
        loc: { line: 4, column: 14 },
        tags: [],
        context: [],
        placement: 'replicated',
        reasons: [{ code: 'pipeliner/stateless', message: 'it changes nothing', loc: null, lift: '' }],
        streams: [
          {
            type: 'post',
            callee: 'fs.readFile',
            label: null,
            inferred: false,
            loc: { module: 'app.js', line: 5, column: 3 },
            dest: ['reply'],
            message: ['res'],
          },
        ],
      },
      {
        id: 'reply',
        kind: 'post',
        module: 'app.js',
        loc: { line: 5, column: 27 },
        tags: ['grp_res'],
        context: ['count', 'template'],
        placement: 'group',
        reasons: [
          {
            code: 'pipeliner/keeps-state',
            message: 'it alone changes "count"',
            loc: { module: 'count.js', line: 2, column: 3 },
            lift: 'move it',
          },
        ],
        streams: [],
      },
    ],
    variables: [
      {
        name: 'count',
        module: 'app.js',
        loc: { line: 2, column: 5 },
        class: 'scope',
        tag: null,
        fluxions: ['reply'],
        writes: [{ module: 'app.js', line: 6, column: 5 }],
        reads: [
          { module: 'app.js', line: 6, column: 5 },
          { module: 'app.js', line: 7, column: 30 },
        ],
      },
    ],
    unresolved: [
      {
        callee: 'app.post',
        loc: { module: 'app.js', line: 9, column: 1 },
        code: 'analyzer/callback-unresolved',
        reason: 'computed',
        lift: 'name it',
      },
    ],
  };
  t.is(jsonText(JSON.parse(printJson(paper))), jsonText(expected));
});

test('the same program gives the same bytes, whatever the order of the keys in memory', (t) => {
  const { unresolved, variables, fluxions, modules, entry, version, sources, packages, cuts, uncut, link } = paper;
  const reversed = fluxions.map(
    ({ streams, reasons, placement, context, tags, kind, id, at: { column, line, module }, code }) => {
      return { streams, reasons, placement, context, tags, kind, id, at: { column, line, module }, code };
    },
  );
  const other: FluxionProgram = {
    cuts,
    uncut,
    link,
    sources,
    packages,
    unresolved,
    variables,
    fluxions: reversed,
    modules,
    entry,
    version,
  };
  t.not(JSON.stringify(other), JSON.stringify(paper));
  t.is(printJson(other), printJson(paper));
});

test('source text, paths of the machine and keys of a later version stay out', (t) => {
  const extended = { ...paper, extra: 'later', fluxions: [{ ...main, extra: 'later' }, handler, reply] };
  const json = printJson(extended);
  for (const part of ['later', 'secret source', 'function handler', '/home/me', '54321']) {
    t.false(json.includes(part), part);
  }
});

test('the entry is among the modules even if the program does not list it', (t) => {
  const parsed: { modules: string[] } = JSON.parse(printJson({ ...paper, modules: [{ id: 'count.js', code: '' }] }));
  t.deepEqual(parsed.modules, ['app.js', 'count.js']);
});

test('each fluxion, variable and unresolved point has a line of its own', (t) => {
  const lines = printJson(paper, { home: {} }).split('\n');
  const { fluxions, variables, unresolved } = paper;
  t.is(lines.filter((line) => line.startsWith('{"')).length, fluxions.length + variables.length + unresolved.length);
  t.deepEqual(lines.slice(-3), ['"home": {}', '}', '']);
  t.deepEqual([...jsonPieces(paper)].join(''), printJson(paper));
});

test('an empty program is still a document', (t) => {
  const empty: FluxionProgram = {
    version: 1,
    entry: 'app.js',
    modules: [],
    fluxions: [],
    variables: [],
    unresolved: [],
    sources: [],
    packages: [],
    cuts: [],
    uncut: [],
    link: noLinkFacts,
  };
  t.is(
    printJson(empty),
    '{\n"version": 1,\n"entry": "app.js",\n"modules": ["app.js"],\n"fluxions": [],\n"variables": [],\n"unresolved": []\n}\n',
  );
});

test('names that are no plain text survive', (t) => {
  const name = 'a"\\\u2028\ud800\u{1f600}\n';
  const parsed: { variables: { name: string }[] } = JSON.parse(
    printJson({ ...paper, variables: paper.variables.map((variable) => ({ ...variable, name })) }),
  );
  t.is(parsed.variables[0]?.name, name);
});

test('every key of the form is in its documentation', (t) => {
  const docs = readFileSync(new URL('../../docs/json.md', import.meta.url), 'utf8');
  const keys = new Set<string>();
  JSON.parse(printJson(paper), (key, value: unknown) => {
    if (!/^\d*$/.test(key)) keys.add(key);
    return value;
  });
  t.true(keys.size > 20);
  for (const key of keys) t.true(docs.includes(`\`${key}\``), key);
});
