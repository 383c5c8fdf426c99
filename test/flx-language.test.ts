// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are code under test
import { readFile } from 'node:fs/promises';
import test from 'ava';
import * as espree from 'espree';
import fc from 'fast-check';
import { normaliseCode, normaliseSlice } from '../flx/layout-code.js';
import { parseFlx } from '../flx/parse.js';
import { findPlaceholders } from '../flx/placeholders.js';
import { printFlx } from '../flx/print.js';
import type { FlxFluxion, FlxModule, FlxProgram } from '../flx/program.js';
import { scanCode } from '../flx/scan-code.js';
import { FlxSyntaxError } from '../flx/syntax-error.js';

const PAPER = `flx main & grp_res
>> handler [res]
  var app = require('express')(), fs = require('fs'), count = 0;

  app.get('/', >> handler);
  app.listen(8080);

flx handler
-> reply [res]
  function handler(req, res) {
    fs.readFile(__filename, -> reply);
  }

flx reply & grp_res {count, template}
-> null
  function reply(err, data) {
    count += 1;
    res.send(err || template(count, data));
  }
`;

function fluxion(id: string, facts: Partial<FlxFluxion> = {}): FlxFluxion {
  return { id, tags: [], context: [], streams: [], at: null, placement: null, code: '', ...facts };
}

function lines(...text: readonly string[]): string {
  return text.join('\n');
}

// The paper's grammar -----------------------------------------------------------------------------------------------

test('the paper’s example parses to its three fluxions', (t) => {
  t.deepEqual(parseFlx(PAPER), {
    modules: [],
    fluxions: [
      fluxion('main', {
        tags: ['grp_res'],
        streams: [{ type: 'start', dest: ['handler'], message: ['res'] }],
        code: lines(
          "var app = require('express')(), fs = require('fs'), count = 0;",
          '',
          "app.get('/', >> handler);",
          'app.listen(8080);',
        ),
      }),
      fluxion('handler', {
        streams: [{ type: 'post', dest: ['reply'], message: ['res'] }],
        code: lines('function handler(req, res) {', '  fs.readFile(__filename, -> reply);', '}'),
      }),
      fluxion('reply', {
        tags: ['grp_res'],
        context: ['count', 'template'],
        code: lines('function reply(err, data) {', '  count += 1;', '  res.send(err || template(count, data));', '}'),
      }),
    ],
  });
});

test('the paper’s example prints as it stands', (t) => {
  t.is(printFlx(parseFlx(PAPER)), PAPER);
});

test('"no streams" may be written in several ways, and prints in one', (t) => {
  for (const none of ['-> null', '>> null', 'null', '->null', '  \n-> null  ']) {
    t.is(printFlx(parseFlx(`flx a\n${none}\n  f();\n`)), 'flx a\n-> null\n  f();\n', JSON.stringify(none));
  }
});

test('spacing is free outside of code', (t) => {
  const text =
    'flx\ta&t ,u{ x,this.y }@app.js:1:2   home \n\n>>b ,c[ ]\n->d[ m , n ]\n\n\n      f();\n\n\n\nflx b{}\nnull';
  t.is(
    printFlx(parseFlx(text)),
    lines('flx a & t, u {x, this.y} @ app.js:1:2 home', '>> b, c', '-> d [m, n]', '  f();', '', 'flx b', '-> null', ''),
  );
});

test('text with CRLF line ends, a byte order mark and no line end at the end says the same', (t) => {
  t.deepEqual(parseFlx(`\uFEFF${PAPER.trimEnd().replaceAll('\n', '\r\n')}`), parseFlx(PAPER));
});

// The superset ------------------------------------------------------------------------------------------------------

const SUPERSET = `flx main @ app.js:1:1 home
>> list
  require('./routes/users');

module routes/users.js
  router.get('/', >> list);

module "lib/a \\"b\\".js"
  exports.x = 1;

module empty.js

flx list & grp_cache {this.cache, this.#key} @ "routes/my users.js":6:29 replicated
-> null
  function list() {}

flx other @ group
-> null
`;

test('modules stand behind the first fluxion; headers carry place and placement', (t) => {
  const program = parseFlx(SUPERSET);
  t.deepEqual(
    program.modules.map((module) => module.id),
    ['routes/users.js', 'lib/a "b".js', 'empty.js'],
  );
  t.deepEqual(
    program.fluxions.map(({ id, at, placement }) => ({ id, at, placement })),
    [
      { id: 'main', at: { module: 'app.js', line: 1, column: 1 }, placement: 'home' },
      { id: 'list', at: { module: 'routes/my users.js', line: 6, column: 29 }, placement: 'replicated' },
      { id: 'other', at: null, placement: 'group' },
    ],
  );
  t.deepEqual(program.fluxions[1]?.context, ['this.cache', 'this.#key']);
  t.is(printFlx(program), SUPERSET);
});

test('modules are accepted anywhere', (t) => {
  const [main = '', users = '', quoted = '', empty = '', list = '', other = ''] = SUPERSET.trimEnd().split('\n\n');
  const moved = [users, main, list, quoted, other, empty].join('\n\n');
  t.is(printFlx(parseFlx(moved)), SUPERSET);
});

test('a program without fluxions, without modules, without anything', (t) => {
  for (const program of [
    { fluxions: [], modules: [] },
    { fluxions: [], modules: [{ id: 'a.js', code: 'f();' }] },
    { fluxions: [fluxion('a')], modules: [] },
  ]) {
    t.deepEqual(parseFlx(printFlx(program)), program);
  }
  t.is(printFlx({ fluxions: [], modules: [] }), '');
});

test('a module whose path is a placement word is told from the placement', (t) => {
  const program = {
    fluxions: [fluxion('a', { at: { module: 'home', line: 1, column: 1 }, placement: 'group' })],
    modules: [],
  };
  t.is(printFlx(program), 'flx a @ home:1:1 group\n-> null\n');
  t.deepEqual(parseFlx(printFlx(program)), program);
});

test('the examples of the documentation are in their printed form', async (t) => {
  const page = await readFile(new URL('../../docs/flx.md', import.meta.url), 'utf8');
  const examples = [...page.matchAll(/^```flx\n(.*?)^```$/gms)].map((match) => match[1] ?? '');
  t.true(examples.length >= 5);
  for (const example of examples) t.is(printFlx(parseFlx(example)), example);
});

// Code --------------------------------------------------------------------------------------------------------------

/** Pieces of code that are hard to lay out, to scan, or both. */
const NASTY: readonly string[] = [
  'var s = `one\nflx x\n-> null\nmodule y.js\n  two`;',
  'f(`a${ b + `c${\n  d\n}\nflx z` }\n   e`);',
  '/*\nflx x\n   module y.js\n*/ f();',
  '/** one\n *\n   \n * two */',
  "var s = 'one \\\nflx x \\\n   two';",
  'var s = "`", t = \'/*\', u = "//";',
  'x = /[`"\'/]\\/`/g.test(y) / 2; // `',
  'if (a) /`/.test(b);\nelse /"/.test(c);',
  'a = b / c / `\nflx x`.length;',
  'app.get("/", >> handler);\nfs.readFile(f, -> reply);',
  '-> reply;',
  '>> handler',
  'while (n --> 0) a = b >> c >>> d;',
  "<!-- it's `old`\nf();\n--> it's `old` too\ng();",
  "#!/usr/bin/env node don't `\nf();",
  'var ünïcode = "\u2028`", $ = \u{20000}1;',
  '// one\u2028x = `\nflx y`;',
  'f();\r\n\tg();\r\n\r\n\t\th(`\r\n\t`);\rk();',
  '\n\n    f();\n      g();\n\n',
  '\tf();\n\t\tg();\n \t\n',
  '| f();',
  'function f() {\n\treturn `\n\t${ g(\n\t\t1) }\n`;\n}',
  '({ a: 1, get b() { return /`/ } })',
  'return function () {} / 1 / "`";',
  "x = 'never closed\nf();",
  'x = `never closed',
  '/* never closed',
  'x = `${ never closed',
  "x = 'ends with a backslash\\",
  '}}) ] ` ]] `',
  'flx x\n-> null\n  f();',
  'module y.js',
  '\\u{61} = 1; \\',
  ' \u00a0\f\v',
];

const anyCode = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...NASTY) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
      {
        weight: 2,
        arbitrary: fc.string({
          unit: fc.constantFrom(...'`\'"/\\${}()[]*!<>-=; \n\t\r|#x', '//', '/*', '*/', '${', 'flx x', 'if', '\u2028'),
          maxLength: 30,
        }),
      },
    ),
    { maxLength: 6 },
  )
  .chain((pieces) => fc.constantFrom('\n', '', '  ', '\n   ', ';\n\n').map((glue) => pieces.join(glue)));

test('the normal form is reached in one step', (t) => {
  fc.assert(
    fc.property(anyCode, (code) => normaliseCode(normaliseCode(code)) === normaliseCode(code)),
    {
      numRuns: 3000,
    },
  );
  t.pass();
});

const identifier = fc
  .oneof(
    fc.stringMatching(/^[a-zA-Z_$][\w$]{0,8}$/),
    fc.constantFrom('ünï', '变量', 'a\u200cb', '\u{20000}', 'flx', 'module', 'constructor', '__proto__', 'home', '$'),
  )
  .filter((word) => word !== 'null');

const name = fc.oneof(
  { weight: 4, arbitrary: fc.array(identifier, { minLength: 1, maxLength: 3 }).map((words) => words.join('.')) },
  { weight: 1, arbitrary: identifier.map((word) => `this.#${word}`) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
);

const path = fc.oneof(
  fc.constantFrom(
    'app.js',
    'routes/users.js',
    '../a b/c.mjs',
    'a:1:2',
    'home',
    '@me/x.js',
    '"',
    '\\',
    'é.cjs',
    '[id].js',
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
);

const count = fc.integer({ min: 1, max: 1_000_000 });

const stream = fc.record({
  type: fc.constantFrom('start' as const, 'post' as const),
  dest: fc.array(identifier, { minLength: 1, maxLength: 3 }),
  message: fc.array(name, { maxLength: 3 }),
});

const normalCode = anyCode.map(normaliseCode);

const anyFluxion: fc.Arbitrary<FlxFluxion> = fc.record({
  id: identifier,
  tags: fc.array(name, { maxLength: 2 }),
  context: fc.array(name, { maxLength: 3 }),
  streams: fc.array(stream, { maxLength: 3 }),
  at: fc.option(fc.record({ module: path, line: count, column: count })),
  placement: fc.option(fc.constantFrom('home' as const, 'group' as const, 'replicated' as const)),
  code: normalCode,
});

const anyModule: fc.Arbitrary<FlxModule> = fc.record({ id: path, code: normalCode });

const anyProgram: fc.Arbitrary<FlxProgram> = fc.record(
  {
    fluxions: fc.uniqueArray(anyFluxion, { selector: ({ id }) => id, maxLength: 4 }),
    modules: fc.uniqueArray(anyModule, { selector: ({ id }) => id, maxLength: 3 }),
  },
  { noNullPrototype: true },
);

test('parsing what was printed gives the program', (t) => {
  fc.assert(
    fc.property(anyProgram, (program) => {
      t.deepEqual(parseFlx(printFlx(program)), program);
    }),
    { numRuns: 2000 },
  );
});

test('printing what was parsed gives the text', (t) => {
  fc.assert(
    fc.property(anyProgram, (program) => {
      const text = printFlx(program);
      return printFlx(parseFlx(text)) === text;
    }),
    { numRuns: 1000 },
  );
  t.pass();
});

test('code that is not in its normal form is printed in it', (t) => {
  fc.assert(
    fc.property(anyCode, (code) => {
      const [parsed] = parseFlx(printFlx({ fluxions: [fluxion('a', { code }), fluxion('b')], modules: [] })).fluxions;
      return parsed?.code === normaliseCode(code);
    }),
    { numRuns: 2000 },
  );
  t.pass();
});

test('no text makes the parser do anything but give a program or a syntax error', (t) => {
  const piece = fc.oneof(
    fc.constantFrom('flx ', 'flx a', 'module ', '\n', '>> ', '-> null', '[', ']', '{', '}', '&', '@', '"', ':1:1', ' '),
    anyCode,
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 15 }), (pieces) => {
      try {
        const program = parseFlx(pieces.join(''));
        t.deepEqual(parseFlx(printFlx(program)), program);
      } catch (error) {
        if (!(error instanceof FlxSyntaxError)) throw error;
      }
    }),
    { numRuns: 3000 },
  );
  t.pass();
});

/** What the code means: its tree, with strings and templates as they are, and without places. */
function meaning(code: string): string {
  const tree: unknown = espree.parse(code, { ecmaVersion: 'latest', sourceType: 'script' });
  const skipped = new Set(['start', 'end', 'range', 'loc']);
  return JSON.stringify(tree, (key, value: unknown) => {
    if (skipped.has(key)) return undefined;
    return value instanceof RegExp || typeof value === 'bigint' ? String(value) : value;
  });
}

test('layout never changes what code means', (t) => {
  const valid = NASTY.filter((code) => {
    try {
      return meaning(code) !== '';
    } catch {
      return false;
    }
  });
  t.true(valid.length >= 14, `${valid.length} pieces are valid as a script`);
  const block = fc.array(fc.constantFrom(...valid.filter((code) => !code.startsWith('#!'))), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(block, fc.constantFrom('', ' ', '\t', '    '), (pieces, indentation) => {
      const code = pieces.map((piece) => indentation + piece).join('\n');
      const [parsed] = parseFlx(printFlx({ fluxions: [fluxion('a', { code })], modules: [] })).fluxions;
      t.is(meaning(parsed?.code ?? ''), meaning(code));
    }),
    { numRuns: 500 },
  );
});

test('normal form: indentation goes, except where it is part of a value', (t) => {
  t.is(
    normaliseCode(
      "\n\n    f(`\n    flx x\n`);\r\n      g('a\\\n    b');\n  \t\n    /* c\n  d\n       e */\n    h();\n\n",
    ),
    "f(`\n    flx x\n`);\n  g('a\\\n    b');\n\n/* c\nd\n   e */\nh();",
  );
  t.is(normaliseCode('\tf();\n\t\tg();'), 'f();\n\tg();');
  t.is(normaliseCode('\tf();\n  g();'), '\tf();\n  g();', 'nothing in common');
  t.is(normaliseCode(' \n\t\n'), '');
});

test('code that never ends a literal is kept, and marked line by line', (t) => {
  const code = '  x = `\n\n   flx y\n';
  t.is(normaliseCode(code), code);
  const program = { fluxions: [fluxion('a', { code }), fluxion('b')], modules: [] };
  t.is(
    printFlx(program),
    lines('flx a', '-> null', '  |   x = `', '  |', '  |    flx y', '  |', '', 'flx b', '-> null', ''),
  );
  t.deepEqual(parseFlx(printFlx(program)), program);
});

test('a slice takes the indentation of the line on which it begins', (t) => {
  const source = 'a();\n    b(function () {\n      c();\n    });\n';
  const start = source.indexOf('function');
  t.is(normaliseSlice(source, start, source.lastIndexOf(')'), 5), 'function () {\n  c();\n}');
});

test('nesting costs no stack, and time grows with size alone', (t) => {
  const deep = 200_000;
  const nested = [
    '('.repeat(deep),
    '`${'.repeat(deep),
    '{[('.repeat(deep),
    `x = ${'a ? '.repeat(deep)}`,
    `x = ${'/ '.repeat(deep)}`,
    '/'.repeat(3) + '[/'.repeat(deep),
    '>> '.repeat(deep),
    `${'\n'.repeat(deep)}${' '.repeat(deep)}x`,
  ];
  for (const code of nested) {
    const program = { fluxions: [fluxion('a', { code: normaliseCode(code) })], modules: [] };
    t.deepEqual(parseFlx(printFlx(program)), program);
  }
});

// Placeholders ------------------------------------------------------------------------------------------------------

test('placeholders are found where an expression stands, with their places', (t) => {
  const code =
    "app.get('/', >> handler);\nfs.readFile(f, ->reply, x = [>> $a1], { k: ->  ünï });\nawait f(), -> rest;\n=> >> b";
  t.deepEqual(
    findPlaceholders(code).map(({ type, id, start, end }) => [type, id, code.slice(start, end)]),
    [
      ['start', 'handler', '>> handler'],
      ['post', 'reply', '->reply'],
      ['start', '$a1', '>> $a1'],
      ['post', 'ünï', '->  ünï'],
      ['post', 'rest', '-> rest'],
      ['start', 'b', '>> b'],
    ],
  );
});

test('shifts, loops, arrows, literals and comments are no placeholders', (t) => {
  for (const code of [
    'a >> b',
    'a >>> b',
    'a >>= b',
    'a[0] >> b; f() >> c; `x` >> d; "x" >> e; /x/ >> f; 1 >> g; ({}) >> h',
    'while (n --> zero) f();',
    'while (n-->zero) f();',
    'x = a--\n> b',
    '"-> a"; \'>> b\'; `-> c`; /-> d/; /[/] >> e/',
    '// -> a\n/* >> b\n-> c */',
    '--> a\n<!-- >> b',
    'x = a\n/b >> c/d',
    'x = function () {} >> y; z = class {} >> w',
    'x => y',
    '>> 1; -> "a"; >>\na',
  ]) {
    t.deepEqual(findPlaceholders(code), [], code);
  }
  t.is(findPlaceholders('`${ -> a }`; if (b) >> c').length, 2);
});

test('a regular expression is told from a division', (t) => {
  // Each piece ends inside a template literal exactly if the last slashes are misread.
  for (const code of [
    'x = a / b / `c`',
    'x = f(a) / b; y = /`/',
    'if (a) /`/.test(b)',
    'for (const a of /`/.exec(b)) /`/.test(a)',
    'function f() {}\n/`/.test(a)',
    'x = function () {} / a; /`/',
    'x = { f() {} } / a; /`/',
    'switch (a) { case /`/: default: /`/ }',
    'a ? /`/ : {} / b / `c`',
    'x.return / a; x?.if / b; /`/',
    'a++ / b; /`/',
    'a = b\n++/`/.lastIndex',
    'x = a => {}\n/`/.test(b)',
    'class A extends f({}) { m() { /`/ } static { /`/ } }\n/`/',
    'x = class { } / a; /`/',
    'export default {} / a; /`/',
    'import x from "y"\n/`/',
    'function* g() { yield /`/ }',
    'return\n{ /`/ }',
    'l: { } /`/',
    'async function f() {}\n/`/',
    'x = async function () {} / a; /`/',
    'for await (const a of b) /`/',
    'x = a?.5:/`/',
    '\\u{61}b / c; /[/`]/',
  ]) {
    t.is(scanCode(code).open, null, code);
  }
});

// Errors ------------------------------------------------------------------------------------------------------------

interface Mistake {
  readonly title: string;
  readonly text: string;
  readonly at: readonly [line: number, column: number];
  readonly message: string;
  readonly lift?: RegExp;
}

const MISTAKES: readonly Mistake[] = [
  {
    title: 'missing id',
    text: 'flx\n-> null\n',
    at: [1, 4],
    message: 'expected the id of a fluxion, found the end of the line',
  },
  {
    title: 'an id that is none',
    text: 'flx 1st\n-> null\n',
    at: [1, 5],
    message: 'expected the id of a fluxion, found "1st"',
  },
  {
    title: 'null as an id',
    text: 'flx null\n-> null\n',
    at: [1, 5],
    message: 'expected the id of a fluxion, found "null"',
  },
  {
    title: 'unknown arrow',
    text: 'flx a\n=> b [x]\n',
    at: [2, 1],
    message: 'expected the arrow of a stream, ">>" (start) or "->" (post), found "=>"',
  },
  {
    title: 'missing destination',
    text: 'flx a\n>> [x]\n',
    at: [2, 4],
    message: 'expected the id of a fluxion, or null, found "["',
  },
  {
    title: 'missing ]',
    text: 'flx a\n>> b [x, y\n  f();\n',
    at: [2, 11],
    message: 'expected "," or "]", found the end of the line',
    lift: /close the list/,
  },
  {
    title: 'missing comma',
    text: 'flx a {x y}\n-> null\n',
    at: [1, 10],
    message: 'expected "," or "}", found "y"',
    lift: /comma/,
  },
  {
    title: 'comma without a name',
    text: 'flx a {x, }\n-> null\n',
    at: [1, 11],
    message: 'expected the name of a context variable, found "}"',
  },
  {
    title: 'missing tag',
    text: 'flx a & {x}\n-> null\n',
    at: [1, 9],
    message: 'expected a group tag, found "{"',
  },
  {
    title: 'stray text after the header',
    text: 'flx a b\n-> null\n',
    at: [1, 7],
    message: 'expected "&", "{", "@" or the end of the line, found "b"',
  },
  {
    title: 'tags behind the context',
    text: 'flx a {x} & t\n-> null\n',
    at: [1, 11],
    message: 'expected "@" or the end of the line, found "&"',
    lift: /flx id & tag/,
  },
  {
    title: 'stray text after a stream',
    text: 'flx a\n-> b [x] y\n',
    at: [2, 10],
    message: 'expected the end of the line, found "y"',
  },
  {
    title: 'a place that is none',
    text: 'flx a @ app.js:0:1\n-> null\n',
    at: [1, 9],
    message: 'expected file.js:line:column, or one of home, group, replicated, found "app.js:0:1"',
    lift: /count from 1/,
  },
  {
    title: 'unknown placement',
    text: 'flx a @ app.js:1:1 away\n-> null\n',
    at: [1, 20],
    message: 'expected home, group, replicated or the end of the line, found "away"',
  },
  {
    title: 'code before the first header',
    text: '\n  var x = 1;\nflx a\n-> null\n',
    at: [2, 3],
    message: 'expected "flx <id>" or "module <path>", found "var"',
  },
  {
    title: 'missing streams',
    text: 'flx a\n  f();\n',
    at: [2, 3],
    message: 'expected a stream or "-> null", found "f"',
  },
  {
    title: 'missing streams at the end',
    text: 'flx a',
    at: [1, 6],
    message: 'expected a stream or "-> null", found the end of the text',
  },
  {
    title: 'indented stream',
    text: 'flx a\n  >> b\n',
    at: [2, 3],
    message: 'expected a stream or "-> null", found ">>"',
    lift: /column 1/,
  },
  {
    title: 'streams beside null',
    text: 'flx a\n-> null\n>> b\n',
    at: [3, 1],
    message: 'expected code, found ">>"',
    lift: /no streams/,
  },
  {
    title: 'stream behind the code',
    text: 'flx a\n-> null\n  f();\n>> b\n',
    at: [4, 1],
    message: 'expected code, or the header of the next block, found ">>"',
    lift: /before the code/,
  },
  {
    title: 'tab indentation',
    text: 'flx a\n-> null\n  f();\n\tg();\n',
    at: [4, 1],
    message: 'expected code that is indented by two spaces, found a tab',
  },
  {
    title: 'code without indentation',
    text: 'flx a\n-> null\n  function a() {\n}\n',
    at: [4, 1],
    message: 'expected indented code, "flx <id>" or "module <path>", found "}"',
    lift: /indented by two spaces/,
  },
  {
    title: 'module.exports without indentation',
    text: 'flx a\n-> null\nmodule.exports = 1;\n',
    at: [3, 1],
    message: 'expected indented code, "flx <id>" or "module <path>", found "module.exports"',
  },
  {
    title: 'duplicate id',
    text: 'flx a\n-> null\n\nflx a\n-> null\n',
    at: [4, 5],
    message: 'expected a new fluxion, found a second "a" (the first is on line 1)',
  },
  {
    title: 'duplicate module',
    text: 'module a.js\n\nmodule "a.js"\n',
    at: [3, 8],
    message: 'expected a new module, found a second "a.js" (the first is on line 1)',
  },
  {
    title: 'missing path',
    text: 'module\n',
    at: [1, 7],
    message: 'expected the path of a module, found the end of the line',
  },
  {
    title: 'path with a space',
    text: 'module my file.js\n',
    at: [1, 11],
    message: 'expected the end of the line, found "file.js"',
    lift: /quote/,
  },
  {
    title: 'quote that is not closed',
    text: 'module "a.js\n',
    at: [1, 8],
    message: 'expected the path of a module, found a double quote',
    lift: /JSON/,
  },
  {
    title: 'template literal that is not closed',
    text: 'flx a\n-> null\n  f(`${x} y);\n\nflx b\n-> null\n',
    at: [3, 5],
    message: 'expected the end of the template literal, found the end of the text',
    lift: /never closed/,
  },
  {
    title: 'line without a bar',
    text: 'flx a\n-> null\n  | f(`\n  g();\n',
    at: [4, 3],
    message: 'expected "|", found "g"',
  },
];

for (const { title, text, at, message, lift } of MISTAKES) {
  test(`error: ${title}`, (t) => {
    const error = t.throws(() => parseFlx(text, 'app.flx'), { instanceOf: FlxSyntaxError });
    t.deepEqual([error?.line, error?.column], [...at]);
    t.is(error?.diagnostic.message, message);
    t.is(error?.message, `app.flx:${at[0]}:${at[1]}: ${message}`);
    t.is(error?.diagnostic.code, 'flx/syntax');
    t.is(error?.diagnostic.span?.file, 'app.flx');
    t.regex(error?.diagnostic.lift ?? '', lift ?? /./);
  });
}
