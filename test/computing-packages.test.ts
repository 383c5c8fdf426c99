/** Packages that compute and nothing else: who uses them is free, until somebody changes what they go by. */
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { compile } from '../compile.js';
import type { FluxionProgram } from '../flx/program.js';
import { tempFolder } from './support/temp-folder.js';

interface Probe {
  readonly name: string;
  readonly top: string;
  /** Handlers by name: these may run anywhere. */
  readonly free?: { readonly [name: string]: string };
  /** These share something, or change what others use. */
  readonly bound?: { readonly [name: string]: string };
}

const probes: readonly Probe[] = [
  {
    name: 'components of React',
    top: `const React = require('react'); const { renderToString } = require('react-dom/server'); const e = React.createElement;
      let n = 0; const store = { hits: 0 }; const Ctx = React.createContext(store);
      function Pure({ name }) { const [text] = React.useState(name + '!'); return e('p', { className: 'c', onClick: () => 1 }, text); }
      function Counts() { n += 1; return e('b', null, n); }
      function Late() { const [s] = React.useState(store); s.hits++; return e('i', null, s.hits); }
      class Old extends React.Component { render() { store.hits++; return e('u', null, store.hits); } }
      const Memo = React.memo(function () { store.hits++; return e('s', null, store.hits); });
      const element = e(Counts);
      function OfContext() { const c = React.useContext(Ctx); c.hits++; return e('b', null, c.hits); }`,
    free: { pure: 'res.send(renderToString(e(Pure, { name: req.query.name })));' },
    bound: {
      counts: 'res.send(renderToString(e(Counts)));',
      late: 'res.send(renderToString(e(Late)));',
      old: "res.send(renderToString(e('div', null, e(Old))));",
      memo: 'res.send(renderToString(e(Memo)));',
      element: 'res.send(renderToString(element));',
      context: 'res.send(renderToString(e(OfContext)));',
      read: 'res.json(store.hits);',
    },
  },
  {
    name: 'classes that packages make instances of',
    top: `const React = require('react'); const { renderToString } = require('react-dom/server'); const e = React.createElement;
      const { Liquid } = require('liquidjs'); let n = 0; const store = { n: 0 };
      class Pure extends React.Component {
        constructor(props) { super(props); this.state = { a: 1 }; } render() { return e('u', null, this.props.name + this.state.a); }
      }
      class Made extends React.Component { constructor(p) { super(p); n++; } render() { return e('u', null, n); } }
      class Own extends React.Component { static n = 0; render() { Own.n++; return e('u', null, Own.n); } }
      class Before extends React.Component { componentWillMount() { this.props.store.n++; } render() { return e('u', null, store.n); } }
      class Base extends React.Component { help() { n += 1; return n; } }
      class Derived extends Base { render() { return e('b', null, this.help()); } }
      const clean = new Liquid(); clean.registerTag('none', class { parse() {} render() { return 'x'; } });
      const engine = new Liquid(); engine.registerTag('hit', class { parse() {} render() { return ++n; } });`,
    free: {
      a: 'res.send(renderToString(e(Pure, { name: req.query.name })));',
      b: "res.send(await clean.parseAndRender('{% none %}', {}));",
    },
    bound: {
      c: 'res.send(renderToString(e(Made)));',
      d: 'res.send(renderToString(e(Own)));',
      f: 'res.send(renderToString(e(Before, { store })));',
      g: 'res.send(renderToString(e(Derived)));',
      h: "res.send(await engine.parseAndRender('{% hit %}', {}));",
    },
  },
  {
    name: 'a component that shows whether it was there before',
    top: `const React = require('react'); const { renderToString } = require('react-dom/server'); const e = React.createElement;
      const Lazy = React.lazy(() => Promise.resolve({ default: () => e('b') }));`,
    bound: { a: "res.send(renderToString(e(React.Suspense, { fallback: 'wait' }, e(Lazy))));" },
  },
  {
    name: 'components of Vue',
    top: `const { createSSRApp, h, ref, reactive } = require('vue'); const { renderToString } = require('vue/server-renderer');
      const state = reactive({ n: 0 }); const count = ref(0);
      const C = { props: ['store'], created() { this.store.n++; }, render() { return h('b', plain.n); } }; const plain = { n: 0 };
      const A = { setup() { state.n++; return () => h('b', state.n); } };
      const B = { render() { count.value++; return h('b', count.value); } };`,
    free: { pure: "res.send(await renderToString(createSSRApp({ render: () => h('p', req.query.q) })));" },
    bound: {
      a: 'res.send(await renderToString(createSSRApp(A)));',
      b: 'res.send(await renderToString(createSSRApp(B)));',
      c: 'res.json(count.value);',
      d: 'res.send(await renderToString(createSSRApp(C, { store: plain })));',
    },
  },
  {
    name: 'resolvers of GraphQL',
    top: `const { graphql, buildSchema, GraphQLObjectType, GraphQLSchema, GraphQLInt, GraphQLString } = require('graphql');
      let hits = 0; const text = buildSchema('type Query { hello: String }'); const root = { hello: () => 'hi' };
      const count = { hello: () => String(++hits) };
      const counts = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Q',
        fields: { hits: { type: GraphQLInt, resolve: () => ++hits } } }) });`,
    free: { pure: "res.json(await graphql({ schema: text, source: '{ hello }', rootValue: root }));" },
    bound: {
      a: "res.json(await graphql({ schema: text, source: '{ hello }', rootValue: count }));",
      b: "res.json(await graphql({ schema: counts, source: '{ hits }' }));",
    },
  },
  {
    name: 'templates of Liquid',
    top: `const { Liquid } = require('liquidjs'); const clean = new Liquid(); const engine = new Liquid(); const late = new Liquid();
      const scope = {}; let n = 0; engine.registerFilter('count', (x) => x + ++n);
      Promise.resolve().then(() => late.registerFilter('up', (x) => x + '!'));`,
    free: { pure: "res.send(await clean.parseAndRender('{{ n }}', { n: req.query.n }));" },
    bound: {
      a: "res.send(await clean.parseAndRender('{% increment x %}', scope));",
      b: 'res.json(scope);',
      c: "res.send(await engine.parseAndRender('{{ 1 | count }}', {}));",
      d: "res.send(await late.parseAndRender('{{ 1 | up }}', {}));",
    },
  },
  {
    name: 'documents',
    top: `const cheerio = require('cheerio'); const { JSDOM } = require('jsdom'); const TurndownService = require('turndown');
      const $ = cheerio.load('<ul><li>a</li></ul>'); const items = $('li'); const { body } = new JSDOM('<p>x').window.document;
      const td = new TurndownService(); const own = new TurndownService(); const late = new TurndownService();
      setTimeout(() => late.addRule('x', { filter: ['b'], replacement: (c) => c }), 50);`,
    free: {
      cheerios: "const $ = cheerio.load(req.query.h); $('li').addClass('x'); res.json($('h1').text().trim());",
      doms: "res.json(new JSDOM(req.query.h).window.document.querySelector('h1').textContent);",
      downs: 'res.send(td.turndown(req.query.h));',
    },
    bound: {
      a: "items.append('<i>x</i>'); res.send($.html());",
      b: 'res.send($.html());',
      c: "body.innerHTML += 'x'; res.json(1);",
      d: "own.addRule('b', { filter: ['b'], replacement: () => req.query.q }); res.send('x');",
      f: "res.send(own.turndown('<b>x</b>'));",
      g: "res.send(late.turndown('<b>x</b>'));",
    },
  },
  {
    name: 'what the last call has left',
    top: `const { JSDOM } = require('jsdom'); const purifier = require('dompurify')(new JSDOM('').window);
      const showdown = require('showdown'); const converter = new showdown.Converter({ metadata: true });`,
    bound: {
      a: 'res.send(purifier.sanitize(req.query.h));',
      b: 'res.json(purifier.removed.length);',
      c: 'res.send(converter.makeHtml(req.query.m));',
      d: 'res.json(converter.getMetadata());',
    },
  },
  {
    name: 'the same where nobody asks for it',
    top: `const { JSDOM } = require('jsdom'); const purifier = require('dompurify')(new JSDOM('').window);
      const showdown = require('showdown'); const converter = new showdown.Converter({ metadata: true });`,
    free: { a: 'res.send(purifier.sanitize(req.query.h));', c: 'res.send(converter.makeHtml(req.query.m));' },
  },
  {
    name: 'settings that no model lists',
    top: `const sanitize = require('sanitize-html');`,
    bound: {
      a: 'res.send(sanitize(req.query.h));',
      b: "sanitize.defaults.allowedTags.push('script'); res.end();",
    },
  },
  {
    name: 'settings behind a helper',
    top: `const Big = require('big.js'); const set = (lib, digits) => { lib.DP = digits; };`,
    bound: { a: 'res.send(new Big(1).div(3).toString());', b: 'set(Big, Number(req.query.n)); res.end();' },
  },
  {
    name: 'settings of a package that another one goes by',
    top: `const moment = require('moment'); const zoned = require('moment-timezone');`,
    bound: { a: "res.send(zoned.tz(0, 'Europe/Berlin').format());", b: "moment.locale('de'); res.end();" },
  },
  {
    name: 'what start-up sets up some time later',
    top: `const MarkdownIt = require('markdown-it'); const Fuse = require('fuse.js'); const md = new MarkdownIt();
      const early = new MarkdownIt(); const fuse = new Fuse([]); early.enable('table');
      setTimeout(() => { md.disable('table'); fuse.add('x'); }, 50);`,
    free: { a: 'res.send(early.render(req.query.m));' },
    bound: { b: 'res.send(md.render(req.query.m));', c: 'res.json(fuse.search(req.query.q).length);' },
  },
  {
    name: 'things in an index',
    top: `const Fuse = require('fuse.js'); const list = [{ t: 'a', n: 0 }]; const fuse = new Fuse(list, { keys: ['t'] });
      const other = new Fuse(['a', 'b']);`,
    free: { a: 'res.json(other.search(req.query.q).map((found) => found.item));' },
    bound: { b: "fuse.search('a')[0].item.n++; res.end();", c: 'res.json(list[0].n);' },
  },
  {
    name: 'functions over lists',
    top: `const R = require('ramda'); const state = { n: 0 }; let hits = 0; const holder = { inner: { k: 0 } };
      const double = R.pipe(R.map(R.multiply(2)), R.sum); const count = R.map((x) => x + ++hits); const first = R.head([state]);
      const memo = R.memoizeWith(String, (x) => ({ x, n: 0 })); const push = R.invoker(1, 'push'); const inner = R.prop('inner');`,
    free: { a: 'res.json(double([1, Number(req.query.n)]));' },
    bound: {
      b: 'res.json(count([1]));',
      c: 'first.n += 1; res.json(state.n);',
      d: "memo('a').n++; res.end();",
      f: 'push(1, []); res.end();',
      g: 'inner(holder).k++; res.json(holder.inner.k);',
      h: 'R.find((o) => o.n >= 0, [state]).n++; res.end();',
    },
  },
  {
    name: 'parts of what packages hold',
    top: `const cheerio = require('cheerio'); const math = require('mathjs'); const PF = require('pathfinding'); const turf = require('@turf/turf');
      const { useContext, createContext, createElement } = require('react'); const { renderToString } = require('react-dom/server');
      const $ = cheerio.load('<p>'); const m = math.matrix([[1]]); const grid = new PF.Grid(2, 2); const at = [1, 2]; const held = { n: 0 };
      const Ctx = createContext(held); function Bump() { useContext(Ctx).n++; return null; }`,
    bound: {
      a: "$('p').each((i, el) => { el.attribs.x = 'y'; }); res.end();",
      b: 'res.send($.html());',
      c: 'm.valueOf()[0][0]++; res.end();',
      d: 'res.json(math.det(m));',
      f: 'grid.getNodeAt(0, 0).walkable = false; res.end();',
      g: 'res.json(new PF.AStarFinder().findPath(0, 0, 1, 1, grid.clone()));',
      h: 'turf.lineString([at, [3, 4]]).geometry.coordinates[0][0]++; res.end();',
      i: 'res.json(at);',
      j: 'renderToString(createElement(Bump)); res.end();',
      k: 'res.json(held.n);',
    },
  },
  {
    name: 'values that change and values that do not',
    top: `const { Map } = require('immutable'); const { Chess } = require('chess.js'); const { scaleLinear } = require('d3-scale');
      const Decimal = require('decimal.js'); const mutable = Map().asMutable(); const game = new Chess(); const held = { n: 0 };
      const x = scaleLinear().domain([0, 10]); const y = scaleLinear().domain([0, 10]); const map = Map({ held });`,
    free: {
      a: "res.json(Map({ a: 1 }).set('b', req.query.q).toJS());",
      b: 'res.json(x(Number(req.query.n)));',
      c: 'res.send(new Decimal(req.query.n).div(3).toString());',
      d: "const own = new Chess(); own.move('e4'); res.json(own.fen());",
    },
    bound: {
      f: "mutable.set('a', 1); res.end();",
      g: 'game.move(game.moves()[0]); res.end();',
      h: 'y.domain([0, Number(req.query.n)]); res.json(y(1));',
      i: "map.get('held').n++; res.json(held.n);",
    },
  },
];

async function placementsOf(t: ExecutionContext, { top, free = {}, bound = {} }: Probe): Promise<FluxionProgram> {
  const handlers = Object.entries({ ...free, ...bound }).map(
    ([name, code]) =>
      `app.get('/${name}', ${code.includes('await ') ? 'async ' : ''}function of_${name}(req, res) { ${code} });\n`,
  );
  const app = `const express = require('express');\n${top}\nconst app = express();\n${handlers.join('')}app.listen(3000);\n`;
  const cwd = tempFolder(t, { 'package.json': '{}', 'app.js': app });
  return (await compile({ entry: join(cwd, 'app.js'), cwd })).program;
}

for (const probe of probes) {
  test(probe.name, async (t) => {
    const { fluxions } = await placementsOf(t, probe);
    const placed = (name: string): string | undefined => fluxions.find(({ id }) => id === `of_${name}`)?.placement;
    const reasons = (name: string): string =>
      fluxions
        .filter(({ id }) => id.startsWith(`of_${name}`))
        .flatMap((fluxion) => fluxion.reasons.map(({ message }) => `${fluxion.id}: ${message}`))
        .join('\n');
    for (const name of Object.keys(probe.free ?? {})) t.is(placed(name), 'replicated', reasons(name));
    for (const name of Object.keys(probe.bound ?? {})) t.not(placed(name), 'replicated', name);
  });
}

test('what a callback of code that nobody knows gives stays where it was called', async (t) => {
  const cwd = tempFolder(t, {
    'package.json': '{}',
    'app.js': `const express = require('express');
const lib = require('nobody-knows');
const app = express();
app.get('/a', function listed(req, res) { res.json(lib.errors().map((e) => e.message)); });
app.get('/b', function asked(req, res) { lib.find(req.query.id, (err, found) => { res.json(found); }); });
app.get('/c', function promised(req, res) { lib.look(req.query.id).then((found) => { res.json(found); }); });
app.listen(3000);
`,
  });
  const { program } = await compile({ entry: join(cwd, 'app.js'), cwd });
  t.deepEqual(
    program.cuts.map(({ dest }) => dest),
    ['promised_then'],
  );
});
