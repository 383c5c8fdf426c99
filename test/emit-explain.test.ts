import { readFileSync } from 'node:fs';
import test from 'ava';
import { printExplain, printExplainJson } from '../flx/emit/explain.js';
import {
  type Fluxion,
  type FluxionKind,
  type FluxionProgram,
  noLinkFacts,
  type Place,
  type Placement,
  type Reason,
  type StateVariable,
  type StreamFact,
  type StreamType,
  type Unresolved,
} from '../flx/program.js';
import { verifyProgram } from '../flx/verify.js';

// --- sample programs ---

/** `routes/users.js:5:3`; the column may be left out. */
function place(text: string): Place {
  const [module = 'app.js', line = '1', column = '1'] = text.split(':');
  return { module, line: Number(line), column: Number(column) };
}

function stream(type: StreamType, callee: string, dest: string, at: string, label: string | null = null): StreamFact {
  return { type, callee, dest: dest.split(' '), message: ['res'], loc: place(at), inferred: false, label };
}

const get = (path: string, dest: string, at: string) => stream('start', 'app.get', dest, at, `GET ${path}`);
const post = (callee: string, dest: string, at: string) => stream('post', callee, dest, at);

interface Stage {
  readonly kind?: FluxionKind;
  readonly placement?: Placement;
  readonly tags?: readonly string[];
  readonly context?: readonly string[];
  readonly reasons?: readonly Reason[];
  readonly streams?: readonly StreamFact[];
}

function fluxion(id: string, at: string, stage: Stage = {}): Fluxion {
  const defaults = { kind: 'start', placement: 'replicated', tags: [], context: [], reasons: [], streams: [] } as const;
  return { id, at: place(at), code: '', ...defaults, ...stage };
}

function main(streams: readonly StreamFact[], tags: readonly string[] = []): Fluxion {
  return fluxion('main', 'app.js:1', { kind: 'main', placement: 'home', streams, tags });
}

function shared(name: string, tag: string, fluxions: string, writes: string, reads: string): StateVariable {
  return {
    name,
    module: 'app.js',
    loc: place('app.js:2'),
    class: 'share',
    tag,
    fluxions: fluxions.split(' '),
    writes: writes.split(' ').filter(Boolean).map(place),
    reads: reads.split(' ').filter(Boolean).map(place),
  };
}

const NO_CODE = { sources: [], packages: [], cuts: [], uncut: [], link: noLinkFacts };

function program(
  fluxions: readonly Fluxion[],
  variables: readonly StateVariable[] = [],
  unresolved: readonly Unresolved[] = [],
): FluxionProgram {
  const modules = [...new Set(['app.js', ...fluxions.map((one) => one.at.module)])].map((id) => ({ id, code: '' }));
  const made: FluxionProgram = { version: 1, entry: 'app.js', modules, fluxions, variables, unresolved, ...NO_CODE };
  if (fluxions.length > 0) verifyProgram(made);
  return made;
}

const unknownCall = (callee: string, at: string): Reason => ({
  code: 'pipeliner/call-unresolved',
  message: `"${callee}" may read or change anything`,
  loc: place(at),
  lift: 'call a function that is in sight',
});

const paper = program(
  [
    main([get('/', 'handler', 'app.js:4')], ['grp_res']),
    fluxion('handler', 'app.js:4:14', { streams: [post('fs.readFile', 'reply', 'app.js:5')] }),
    fluxion('reply', 'app.js:5:27', {
      kind: 'post',
      placement: 'group',
      tags: ['grp_res'],
      context: ['count', 'template'],
      reasons: [
        {
          code: 'pipeliner/keeps-state',
          message: 'it alone changes "count", so there is one of it',
          loc: place('app.js:6'),
          lift: '',
        },
      ],
    }),
  ],
  [
    shared('res', 'grp_res', 'main reply', 'app.js:7', 'app.js:7'),
    {
      ...shared('count', '', 'reply', 'app.js:6', 'app.js:6 app.js:7'),
      class: 'scope',
      tag: null,
      loc: place('app.js:2:5'),
    },
  ],
);

const counter = program(
  [
    main([get('/hits', 'hits', 'app.js:3'), get('/total', 'total', 'app.js:7')]),
    fluxion('hits', 'app.js:3:18', { placement: 'group', tags: ['grp_count'], context: ['count'] }),
    fluxion('total', 'app.js:7:18', { placement: 'group', tags: ['grp_count'], context: ['count'] }),
  ],
  [shared('count', 'grp_count', 'hits total', 'app.js:4', 'app.js:4 app.js:8')],
);

/** Forty routes: every fourth shares a cache, every tenth calls something unknown, all pass the same middleware. */
function shop(): FluxionProgram {
  const numbers = Array.from({ length: 40 }, (_, index) => index);
  const isCached = (index: number) => index % 4 === 0;
  const isUnknown = (index: number) => index % 10 === 5;
  const at = (index: number) => `routes/r${index % 5}.js:${10 + index}`;
  const handlers = numbers.map((index) =>
    fluxion(`show_${index}`, `${at(index)}:20`, {
      ...(isCached(index) ? { placement: 'group', tags: ['grp_cache'], context: ['cache'] } : {}),
      ...(isUnknown(index) ? { placement: 'home', reasons: [unknownCall('render', at(index))] } : {}),
    }),
  );
  return program(
    [
      main([
        stream('start', 'app.use', 'log', 'app.js:3', 'use'),
        ...numbers.map((index) => get(`/item/${index}`, `auth show_${index}`, at(index))),
      ]),
      fluxion('log', 'app.js:3:9'),
      fluxion('auth', 'lib/auth.js:4', { streams: [post('db.query', 'auth_query', 'lib/auth.js:5')] }),
      fluxion('auth_query', 'lib/auth.js:5:12', { kind: 'post' }),
      ...handlers,
    ],
    [
      shared(
        'cache',
        'grp_cache',
        numbers
          .filter(isCached)
          .map((index) => `show_${index}`)
          .join(' '),
        'routes/r0.js:11 routes/r1.js:12',
        numbers.map(at).join(' '),
      ),
    ],
  );
}

// --- reading the text ---

/** The lines from the one that begins with `title` to the next empty one. */
function block(text: string, title: string): string {
  const lines = text.split('\n');
  const from = lines.findIndex((line) => line === title || line.startsWith(`${title} `));
  if (from === -1) return '';
  const to = lines.indexOf('', from);
  return lines.slice(from, to === -1 ? undefined : to).join('\n');
}

function occurrences(text: string, part: string): number {
  return text.split(part).length - 1;
}

// --- text ---

test('the text of a small program, as a whole', (t) => {
  t.is(
    printExplain(paper),
    `app.js: 3 fluxions; 1 can be replicated, 1 is grouped, 1 stays at home
1 route; 1 can in part

replicated: on any loop; group: on the one loop of its group; home: on the main loop
>> called again and again from outside; -> goes on with one flow, once
what is replicated leaves the main loop once it is seen to cost more than a message does (0.3 ms)


== Routes (1)

GET /          in part        app.js:4
  >> handler   replicated     app.js:4
     -> reply  group grp_res  app.js:5  fs.readFile
        "count" is written at app.js:6 and read at app.js:7, and kept from one message to the next


== Groups (2)
To spread a group, keep its variables where every loop can reach them, as in a database.

grp_res
  fluxions: main, reply
  "res", declared at app.js:2
    written at app.js:7
    read at    app.js:7

reply alone
  "count", declared at app.js:2
    written at app.js:6
    read at    app.js:6, app.js:7
`,
  );
});

test('two routes that share a counter both tell where it is written and read', (t) => {
  const text = printExplain(counter);
  for (const route of ['GET /hits', 'GET /total']) {
    t.true(block(text, route).includes('"count" is written at app.js:4 and read at app.js:8'), route);
    t.true(block(text, route).includes('group grp_count'), route);
  }
  t.true(block(text, 'grp_count').includes('fluxions: hits, total'));
  t.true(text.includes('2 routes; 2 cannot'));
});

test('of the variables of a group those are told that the fluxion uses, else the one that names the group', (t) => {
  const variables = [
    ...counter.variables,
    { ...shared('total', 'grp_count', 'total', 'app.js:9', 'app.js:8'), loc: place('app.js:1') },
  ];
  const text = printExplain({
    ...counter,
    variables: variables.map((one) => (one.name === 'count' ? { ...one, fluxions: ['hits'] } : one)),
  });
  t.regex(block(text, 'GET /total'), /"total" is written at app\.js:9 and read at app\.js:8$/m);
  t.regex(block(text, 'GET /hits'), /"count" is written at app\.js:4 and read at app\.js:8$/m);
  const others = variables.map((one) => (one.name === 'count' ? { ...one, fluxions: ['nobody'] } : one));
  const unchanged = { ...shared('view', 'grp_count', 'hits', 'app.js:9', 'app.js:8'), writes: [] };
  const led = printExplain({ ...counter, variables: [...others, unchanged] });
  t.regex(block(led, 'GET /hits'), /"count" is written at app\.js:4 and read at app\.js:8; also "view"$/m);
});

test('in a program with forty routes each one is found by its label, with a mark for what many have', (t) => {
  const text = printExplain(shop());
  t.true(text.includes('\n40 routes; 26 can run on every loop, 14 can in part\n'));
  const labels = text.split('\n').filter((line) => line.startsWith('GET /item/'));
  t.is(labels.length, 40);
  t.is(new Set(labels).size, 40);
  t.is(occurrences(text, 'may read or change anything'), 1);
  t.is(occurrences(text, '"cache"'), 1);
  t.true(block(text, 'GET /item/5').includes('home [1]'));
  t.true(block(text, 'GET /item/8').includes('group grp_cache'));
  const reason = block(text, '[1]');
  for (const part of ['"render" may', 'at routes/r0.js:15', 'show_5', 'to lift it: call']) {
    t.true(reason.includes(part), part);
  }
  t.true(text.split('\n').every((line) => line.length <= 100));
});

test('routes stand in source order, module by module', (t) => {
  const labels = printExplain(shop())
    .split('\n')
    .flatMap((line) => /^GET \S+/.exec(line)?.[0] ?? []);
  t.deepEqual(labels.slice(0, 3), ['GET /item/0', 'GET /item/5', 'GET /item/10']);
  t.is(labels.at(-1), 'GET /item/39');
});

test('what middleware sends to is shown once, and referred to afterwards', (t) => {
  const text = printExplain(shop());
  t.is(occurrences(text, '-> auth_query'), 1);
  t.is(occurrences(text, 'see GET /item/0'), 39);
});

test('routes of the same label are told apart by their place', (t) => {
  const text = printExplain(
    program([
      main([get('/', 'auth', 'a.js:2'), get('/', 'auth', 'b.js:3'), get('/twice', 'auth auth', 'c.js:4')]),
      fluxion('auth', 'app.js:4', { streams: [post('db.query', 'found', 'app.js:5')] }),
      fluxion('found', 'app.js:5', { kind: 'post' }),
    ]),
  );
  t.is(occurrences(text, '>> auth'), 4);
  t.is(occurrences(text, 'see a.js:2'), 3);
});

test('a fluxion that stands twice in one chain refers to the first time', (t) => {
  const text = printExplain(
    program([
      main([get('/', 'first second', 'app.js:2')]),
      fluxion('first', 'app.js:3', { streams: [post('a', 'found', 'app.js:4')] }),
      fluxion('second', 'app.js:5', { streams: [post('b', 'found', 'app.js:6')] }),
      fluxion('found', 'app.js:7', { kind: 'post', streams: [post('c', 'done', 'app.js:8')] }),
      fluxion('done', 'app.js:9', { kind: 'post' }),
    ]),
  );
  t.is(occurrences(text, '-> done'), 1);
  t.regex(text, /-> found .*b; see above/);
});

test('a timer that arms itself again is cut', (t) => {
  const text = printExplain(
    program([
      main([stream('start', 'setInterval', 'tick', 'app.js:2', 'setInterval'), post('setTimeout', 'poll', 'app.js:3')]),
      fluxion('tick', 'app.js:2:13', { placement: 'home' }),
      fluxion('poll', 'app.js:3:12', {
        kind: 'post',
        placement: 'home',
        streams: [post('fetch', 'rearm', 'app.js:4')],
      }),
      fluxion('rearm', 'app.js:4:9', {
        kind: 'post',
        placement: 'home',
        streams: [post('setTimeout', 'poll', 'app.js:5')],
      }),
    ]),
  );
  t.is(occurrences(text, '-> poll'), 2);
  t.regex(text, /-> rearm.*fetch\n {8}-> poll.*setTimeout; again and again\n/);
  t.regex(text, /^setInterval +home +app\.js:2$/m);
  t.true(text.indexOf('== Timers') < text.indexOf('== What start-up goes on with'));
});

test('routes that begin behind an asynchronous start-up are routes all the same', (t) => {
  const text = printExplain(
    program([
      main([post('db.connect', 'connected', 'app.js:2')]),
      fluxion('connected', 'app.js:2:12', {
        kind: 'post',
        placement: 'home',
        streams: [get('/', 'index', 'app.js:3'), stream('start', 'db.on', 'lost', 'app.js:4', 'on close')],
      }),
      fluxion('index', 'app.js:3:12'),
      fluxion('lost', 'app.js:4:16', { placement: 'home' }),
    ]),
  );
  t.true(block(text, 'GET /').includes('>> index'));
  const start = block(text, 'db.connect');
  t.true(start.includes('begins 1 other chain'));
  t.false(start.includes('>> index'));
  t.regex(start, />> lost .*db\.on/);
});

test('home reasons have their place and what would lift them', (t) => {
  const text = printExplain(
    program([
      main([get('/', 'page', 'app.js:3')]),
      fluxion('page', 'app.js:3:12', {
        placement: 'home',
        reasons: [
          unknownCall('views[name]', 'lib/views.js:17:5'),
          { code: 'x/y', message: 'at its own line', loc: place('app.js:3:40'), lift: '' },
        ],
      }),
    ]),
  );
  const page = block(text, 'GET /');
  t.true(page.includes('     lib/views.js:17: "views[name]" may read or change anything\n'));
  t.true(page.includes('     to lift it: call a function that is in sight\n'));
  t.true(page.endsWith('     at its own line'));
});

test('unresolved rupture points that have the same obstacle share its text', (t) => {
  const unresolved = (callee: string, at: string, reason: string): Unresolved => ({
    callee,
    loc: place(at),
    code: 'analyzer/callback-unresolved',
    reason,
    lift: 'pass one known function',
  });
  const text = printExplain(
    program(
      [main([])],
      [],
      [
        unresolved('app.post', 'app.js:9', 'it is computed'),
        unresolved('client\n    .get', 'app.js:12', 'it is a parameter'),
        unresolved('app.put', 'app.js:10', 'it is computed'),
      ],
    ),
  );
  t.is(occurrences(text, 'it is computed'), 1);
  t.regex(
    text,
    /^app\.post +app\.js:9\napp\.put +app\.js:10\n {2}it is computed\n {2}to lift it: pass one known function$/m,
  );
  t.regex(text, /^client \.get +app\.js:12$/m);
  t.true(text.includes('3 rupture points unresolved'));
});

test('a fluxion that no chain leads to is not lost', (t) => {
  const text = printExplain(
    program([
      main([]),
      fluxion('inner', 'app.js:6', { kind: 'post' }),
      fluxion('outer', 'app.js:5', { streams: [post('fs.stat', 'inner', 'app.js:6')] }),
      fluxion('ring', 'app.js:8', { kind: 'post', streams: [post('setTimeout', 'ring', 'app.js:9')] }),
    ]),
  );
  t.true(text.includes('== Called by nobody in this program (2)'));
  t.regex(block(text, 'outer'), /-> inner/);
  t.is(occurrences(text, 'inner'), 1);
  t.regex(block(text, 'ring'), /again and again/);
});

test('a program with nothing in it is explained in a line', (t) => {
  t.is(printExplain(program([])), 'app.js: no fluxions\n');
  t.is(printExplain(program([main([])])), 'app.js: 1 fluxion; 1 stays at home\n');
});

test('what comes from the app cannot disturb the terminal', (t) => {
  const text = printExplain(
    program([
      main([get('/\u001b[31m\nGET /fake', 'page', 'app.js:3')]),
      fluxion('page', 'app.js:3', {
        placement: 'home',
        reasons: [{ code: 'x/y', message: 'a\u001b[2Jb\r\u202ec', loc: null, lift: 'l\nm' }],
      }),
    ]),
  );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  t.notRegex(text, /[\u0000-\u0009\u000b-\u001f\u202e]/);
  t.notRegex(text, /^GET \/fake/m);
});

test('neither form says undefined, null or NaN to people', (t) => {
  for (const sample of [paper, counter, shop(), program([])]) {
    t.notRegex(printExplain(sample), /undefined|\bnull\b|NaN|\[object/);
    t.notRegex(printExplainJson(sample), /undefined|NaN|\[object/);
    t.notRegex(printExplain(sample), / $/m);
  }
});

// --- data ---

interface StepData {
  readonly depth: number;
  readonly type: string | null;
  readonly id: string;
  readonly placement: string;
  readonly tags: readonly string[];
  readonly boundBy: readonly string[];
  readonly ownState: boolean;
  readonly reasons: readonly { readonly message: string }[];
  readonly cut: string | null;
}

interface ChainData {
  readonly kind?: string;
  readonly label: string;
  readonly place: Place;
  readonly placements: readonly string[];
  readonly chain: readonly StepData[];
}

interface ExplainData {
  readonly version: number;
  readonly entry: string;
  readonly summary: unknown;
  readonly routes: readonly ChainData[];
  readonly chains: readonly ChainData[];
  readonly groups: readonly { readonly tag: string | null; readonly fluxions: readonly string[] }[];
  readonly unresolved: readonly unknown[];
}

const explainData = (of: FluxionProgram): ExplainData => JSON.parse(printExplainJson(of));

test('the data says what the text says', (t) => {
  const data = explainData(paper);
  t.deepEqual(Object.keys(data), ['version', 'entry', 'summary', 'routes', 'chains', 'groups', 'unresolved']);
  t.deepEqual(data.summary, {
    fluxions: { total: 3, replicated: 1, group: 1, home: 1 },
    routes: { total: 1, replicated: 0, partly: 1, bound: 0 },
    middleware: { total: 0, replicated: 0, partly: 0, bound: 0 },
    groups: 2,
    unresolved: 0,
  });
  const [route] = data.routes;
  t.like(route, { label: 'GET /', place: place('app.js:4'), placements: ['replicated', 'group'] });
  t.deepEqual(
    route?.chain.map(({ depth, type, id, placement }) => [depth, type, id, placement]),
    [
      [0, 'start', 'handler', 'replicated'],
      [1, 'post', 'reply', 'group'],
    ],
  );
  t.like(route?.chain[1], { tags: ['grp_res'], boundBy: [], ownState: true, reasons: [], cut: null });
  t.deepEqual(
    data.groups.map(({ tag, fluxions }) => [tag, fluxions]),
    [
      ['grp_res', ['main', 'reply']],
      [null, ['reply']],
    ],
  );
});

test('the data of a large program repeats the steps of each chain, and cuts what was shown', (t) => {
  const data = explainData(shop());
  t.is(data.routes.length, 40);
  t.deepEqual(data.summary, {
    fluxions: { total: 44, replicated: 29, group: 10, home: 5 },
    routes: { total: 40, replicated: 26, partly: 14, bound: 0 },
    middleware: { total: 1, replicated: 1, partly: 0, bound: 0 },
    groups: 1,
    unresolved: 0,
  });
  const five = data.routes.find(({ label }) => label === 'GET /item/5');
  t.deepEqual(
    five?.chain.map(({ id, cut }) => [id, cut]),
    [
      ['auth', 'repeat'],
      ['show_5', null],
    ],
  );
  t.is(five?.chain[1]?.reasons[0]?.message, '"render" may read or change anything');
  t.deepEqual(
    data.chains.map(({ kind, label }) => [kind, label]),
    [['middleware', 'app.use']],
  );
});

test('a chain says where it leads even if what it leads through is cut', (t) => {
  const at = (line: number) => `app.js:${line}`;
  const data = explainData(
    program([
      main([get('/a', 'auth', at(2)), get('/b', 'auth', at(3))]),
      fluxion('auth', at(4), { streams: [post('db.query', 'found', at(5))] }),
      fluxion('found', at(5), { kind: 'post', placement: 'home' }),
    ]),
  );
  t.deepEqual(
    data.routes.map(({ placements }) => placements),
    [
      ['replicated', 'home'],
      ['replicated', 'home'],
    ],
  );
  t.is(data.routes[1]?.chain.length, 1);
});

test('chains that are deeper than the call stack are printed', (t) => {
  const depth = 20_000;
  const links = Array.from({ length: depth }, (_, index) =>
    fluxion(`f${index}`, `app.js:${index + 2}`, {
      kind: 'post',
      streams: index + 1 < depth ? [post('next', `f${index + 1}`, `app.js:${index + 2}`)] : [],
    }),
  );
  const deep = program([main([get('/', 'f0', 'app.js:2')]), ...links]);
  t.is(explainData(deep).routes[0]?.chain.length, depth);
  t.true(printExplain(deep).includes(`f${depth - 1}`));
});

test('the same program gives the same bytes', (t) => {
  t.is(printExplain(shop()), printExplain(shop()));
  t.is(printExplainJson(shop()), printExplainJson(shop()));
});

test('every key of the data is in its documentation', (t) => {
  const docs = readFileSync(new URL('../../docs/json.md', import.meta.url), 'utf8');
  const keys = new Set<string>();
  JSON.parse(printExplainJson(shop()), (key, value: unknown) => {
    if (!/^\d*$/.test(key)) keys.add(key);
    return value;
  });
  t.true(keys.size > 20);
  for (const key of keys) t.true(docs.includes(`\`${key}\``), key);
});
