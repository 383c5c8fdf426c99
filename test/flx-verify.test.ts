import test from 'ava';
import { InvariantError } from '../diagnostics/invariant.js';
import { parseFlx } from '../flx/parse.js';
import { printFlx } from '../flx/print.js';
import {
  type Fluxion,
  type FluxionProgram,
  noLinkFacts,
  type Place,
  type StateVariable,
  type StreamFact,
} from '../flx/program.js';
import { toFlxProgram } from '../flx/to-flx-program.js';
import { verifyProgram } from '../flx/verify.js';

const place = (line: number, column = 1, module = 'app.js'): Place => ({ module, line, column });

const toHandler: StreamFact = {
  type: 'start',
  dest: ['handler'],
  message: ['res'],
  callee: 'app.get',
  loc: place(3, 14),
  inferred: false,
  label: 'GET /',
};

const main: Fluxion = {
  id: 'main',
  tags: ['grp_count'],
  context: ['count'],
  streams: [toHandler],
  at: place(1),
  placement: 'home',
  code: "app.get('/', >> handler);",
  kind: 'main',
  reasons: [{ code: 'pipeliner/start-up', message: 'start-up code', loc: place(1), lift: '' }],
};

const handler: Fluxion = {
  id: 'handler',
  tags: ['grp_count'],
  context: ['count'],
  streams: [],
  at: place(3, 14),
  placement: 'group',
  code: 'function handler(req, res) {\n  count += 1;\n}',
  kind: 'start',
  reasons: [],
};

const count: StateVariable = {
  name: 'count',
  module: 'app.js',
  loc: place(1, 5),
  class: 'share',
  tag: 'grp_count',
  fluxions: ['main', 'handler'],
  writes: [place(4, 3)],
  reads: [],
};

const wellFormed: FluxionProgram = {
  sources: [],
  packages: [],
  cuts: [],
  uncut: [],
  link: noLinkFacts,
  version: 1,
  entry: 'app.js',
  modules: [
    { id: 'app.js', code: main.code },
    { id: 'routes.js', code: '' },
  ],
  fluxions: [main, handler],
  variables: [count],
  unresolved: [{ callee: 'app.post', loc: place(9), code: 'x', reason: 'computed', lift: '' }],
};

test('a well-formed program passes, whether the entry is listed as a module or not', (t) => {
  t.notThrows(() => verifyProgram(wellFormed));
  t.notThrows(() => verifyProgram({ ...wellFormed, modules: [] }));
});

test('what is shared without a tag, because one fluxion alone uses it, passes', (t) => {
  t.notThrows(() => verifyProgram({ ...wellFormed, variables: [{ ...count, tag: null, fluxions: ['main'] }] }));
});

const BUGS: readonly (readonly [title: string, program: Partial<FluxionProgram>, message: string])[] = [
  ['no fluxions', { fluxions: [] }, 'the program has no fluxions'],
  ['no main', { fluxions: [handler, main] }, 'the first fluxion, "handler", is of kind start, not main'],
  [
    'main is moved',
    { fluxions: [{ ...main, placement: 'group' }, handler] },
    '"main" is the start-up code and is placed group, not home',
  ],
  ['two mains', { fluxions: [main, { ...handler, kind: 'main' }] }, '"handler" is a second fluxion of kind main'],
  ['same id twice', { fluxions: [main, handler, handler] }, 'two fluxions have the id "handler"'],
  [
    'unknown destination',
    { fluxions: [{ ...main, streams: [{ ...toHandler, dest: ['handler', 'gone'] }] }, handler] },
    'the stream of fluxion "main" at app.get leads to "gone", which does not exist',
  ],
  [
    'no destination',
    { fluxions: [{ ...main, streams: [{ ...toHandler, dest: [] }] }, handler] },
    'the stream of fluxion "main" at app.get has no destination',
  ],
  [
    'repeated variable in a message',
    { fluxions: [{ ...main, streams: [{ ...toHandler, message: ['a', 'b', 'a'] }] }, handler] },
    'the stream of fluxion "main" at app.get lists the variable "a" twice',
  ],
  [
    'repeated context variable',
    { fluxions: [main, { ...handler, context: ['count', 'count'] }] },
    'fluxion "handler" lists the context variable "count" twice',
  ],
  [
    'repeated tag',
    { fluxions: [main, { ...handler, tags: ['grp_count', 'grp_count'] }] },
    'fluxion "handler" lists the tag "grp_count" twice',
  ],
  [
    'a shared variable whose tag a fluxion lacks',
    { fluxions: [main, { ...handler, tags: ['grp_other'] }] },
    'variable "count" of app.js is shared as "grp_count", and fluxion "handler" does not have that tag',
  ],
  [
    'a shared variable of an unknown fluxion',
    { variables: [{ ...count, fluxions: ['gone'] }] },
    'variable "count" of app.js is used by "gone", which does not exist',
  ],
  [
    'a tag on a streamed variable',
    { variables: [{ ...count, class: 'stream' }] },
    'variable "count" of app.js is of class stream and has the tag "grp_count"',
  ],
  [
    'a tag on a scoped variable',
    { variables: [{ ...count, class: 'scope' }] },
    'variable "count" of app.js is of class scope and has the tag "grp_count"',
  ],
  [
    'a group without tag and context',
    { fluxions: [main, { ...handler, tags: [], context: [] }], variables: [] },
    'fluxion "handler" is placed with a group and has neither a tag nor a context',
  ],
  [
    'a module twice',
    { modules: [...wellFormed.modules, { id: 'routes.js', code: '' }] },
    'module "routes.js" is listed twice',
  ],
  [
    'an unknown module',
    { fluxions: [main, { ...handler, at: place(1, 1, 'gone.js') }] },
    'fluxion "handler" is of module "gone.js", which the program does not have',
  ],
  [
    'a line that counts from 0',
    { fluxions: [main, { ...handler, at: place(0) }] },
    'the place 0:1 of fluxion "handler" does not count from 1',
  ],
  [
    'a column that counts from 0',
    { fluxions: [{ ...main, streams: [{ ...toHandler, loc: place(3, 0) }] }, handler] },
    'the place 3:0 of the stream of fluxion "main" at app.get does not count from 1',
  ],
  [
    'a write without a line',
    { variables: [{ ...count, writes: [place(Number.NaN)] }] },
    'the place NaN:1 of variable "count" of app.js does not count from 1',
  ],
];

for (const [title, change, message] of BUGS) {
  test(`refused: ${title}`, (t) => {
    const error = t.throws(() => verifyProgram({ ...wellFormed, ...change }), { instanceOf: InvariantError });
    t.is(error?.message, `${message}; this is a bug in Fluxion`);
  });
}

test('the text says what the program says, and the entry is no module of its own', (t) => {
  const text = toFlxProgram(wellFormed);
  t.is(
    printFlx(text),
    `flx main & grp_count {count} @ app.js:1:1 home
>> handler [res]
  app.get('/', >> handler);

module routes.js

flx handler & grp_count {count} @ app.js:3:14 group
-> null
  function handler(req, res) {
    count += 1;
  }
`,
  );
  t.deepEqual(parseFlx(printFlx(text)), text);
});
