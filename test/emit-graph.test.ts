// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the samples are source text
import { createHash } from 'node:crypto';
import test from 'ava';
import { printDot } from '../flx/emit/dot.js';
import { endOf, type LayoutLink } from '../flx/emit/graph-geometry.js';
import { buildGraphModel } from '../flx/emit/graph-model.js';
import { countCrossings, orderLayers } from '../flx/emit/graph-order.js';
import { textWidth } from '../flx/emit/graph-text.js';
import { printHtml } from '../flx/emit/html.js';
import { clientScript } from '../flx/emit/html-client.js';
import { tokenize } from '../flx/emit/html-tokens.js';
import { type LaidOutBox, type LayoutInput, layoutGraph } from '../flx/emit/layout.js';
import { printSvg } from '../flx/emit/svg.js';
import {
  type Fluxion,
  type FluxionKind,
  type FluxionProgram,
  noLinkFacts,
  type Placement,
  type StreamFact,
  type StreamType,
} from '../flx/program.js';

// --- sample programs ---

interface Stage {
  readonly id: string;
  readonly kind?: FluxionKind;
  readonly at?: string;
  readonly tags?: readonly string[];
  readonly context?: readonly string[];
  readonly placement?: Placement;
  readonly code?: string;
  readonly streams?: readonly StreamFact[];
}

function stream(
  type: StreamType,
  dest: string | readonly string[],
  message: string,
  callee: string,
  label: string | null = null,
): StreamFact {
  return {
    type,
    dest: typeof dest === 'string' ? [dest] : dest,
    message: message === '' ? [] : message.split(' '),
    callee,
    loc: { module: 'app.js', line: 4, column: 3 },
    inferred: false,
    label,
  };
}

const route = (method: string, path: string, dest: string | readonly string[], message = 'req res') =>
  stream('start', dest, message, `app.${method.toLowerCase()}`, `${method} ${path}`);
const post = (callee: string, dest: string | readonly string[], message: string) =>
  stream('post', dest, message, callee);

function fluxion(stage: Stage): Fluxion {
  const [module = 'app.js', line = '1'] = (stage.at ?? 'app.js:1').split(':');
  const kind = stage.kind ?? 'start';
  const tags = stage.tags ?? [];
  const placement = stage.placement ?? (kind === 'main' ? 'home' : tags.length > 0 ? 'group' : 'replicated');
  const at = { module, line: Number(line), column: 1 };
  return {
    id: stage.id,
    kind,
    tags,
    context: stage.context ?? [],
    placement,
    at,
    code: stage.code ?? `(req, res) => {\n  res.json({ stage: '${stage.id}' });\n}`,
    streams: stage.streams ?? [],
    reasons: [
      {
        code: `pipeliner/${placement}`,
        message:
          placement === 'group'
            ? `"${tags[0]?.replace('grp_', '')}" is written here and read elsewhere, so all stages that touch it run on one loop`
            : placement === 'home'
              ? 'the start-up code runs once, at home'
              : 'it changes nothing that outlives the request',
        loc: placement === 'group' ? at : null,
        lift:
          placement === 'group' ? `keep "${tags[0]?.replace('grp_', '')}" in a store that every loop can reach` : '',
      },
    ],
  };
}

function program(stages: readonly Stage[], entry = 'app.js'): FluxionProgram {
  const fluxions = stages.map(fluxion);
  const tagged = [...new Set(fluxions.flatMap((one) => one.tags))];
  return {
    version: 1,
    entry,
    modules: [{ id: entry, code: '' }],
    fluxions,
    variables: tagged.map((tag, index) => ({
      name: tag.replace('grp_', ''),
      module: entry,
      loc: { module: entry, line: index + 2, column: 5 },
      class: 'share',
      tag,
      fluxions: fluxions.flatMap((one) => (one.tags.includes(tag) ? [one.id] : [])),
      writes: [{ module: entry, line: index + 20, column: 7 }],
      reads: [{ module: entry, line: index + 30, column: 12 }],
    })),
    unresolved: [],
    sources: [],
    packages: [],
    cuts: [],
    uncut: [],
    link: noLinkFacts,
  };
}

const counter = program([
  {
    id: 'main',
    kind: 'main',
    tags: ['grp_res'],
    placement: 'home',
    streams: [route('GET', '/', 'handler', 'res')],
    code: "const app = require('express')();\nconst fs = require('fs');\nlet count = 0;\n\napp.get('/', >> handler);\napp.listen(8080);",
  },
  {
    id: 'handler',
    at: 'app.js:5',
    streams: [post('fs.readFile', 'reply', 'res')],
    code: 'function handler(req, res) {\n  fs.readFile(__filename, -> reply);\n}',
  },
  {
    id: 'reply',
    kind: 'post',
    at: 'app.js:6',
    tags: ['grp_res'],
    context: ['count', 'template'],
    code: 'function reply(err, data) {\n  count += 1;\n  res.send(err || template(count, data));\n}',
  },
]);

const shop = program(
  [
    {
      id: 'main',
      kind: 'main',
      at: 'server.js:1',
      streams: [
        stream('start', 'access_log', 'req res next', 'app.use', 'use *'),
        stream('start', 'session', 'req res next', 'app.use', 'use *'),
        route('GET', '/', 'home_page'),
        route('GET', '/products', 'list_products'),
        route('GET', '/products/:id', 'show_product'),
        route('GET', '/products/:id/image', 'product_image'),
        route('POST', '/products', ['require_admin', 'create_product']),
        route('DELETE', '/products/:id', ['require_admin', 'remove_product']),
        route('GET', '/cart', ['require_user', 'show_cart']),
        route('POST', '/cart/items', ['require_user', 'add_to_cart']),
        route('POST', '/checkout', ['require_user', 'checkout']),
        route('GET', '/metrics', 'metrics', 'res'),
        route('GET', '/events', 'subscribe'),
        stream('start', 'expire_sessions', '', 'setInterval', 'every 60000 ms'),
        stream('start', 'on_error', 'err req res', 'app.use', 'use *'),
      ],
    },
    { id: 'access_log', at: 'server.js:14', tags: ['grp_hits'], context: ['hits'] },
    { id: 'session', at: 'lib/session.js:8', tags: ['grp_sessions'], context: ['sessions'] },
    { id: 'home_page', at: 'routes/pages.js:5', streams: [post('fs.readFile', 'post_home_readFile', 'res')] },
    { id: 'post_home_readFile', kind: 'post', at: 'routes/pages.js:6' },
    { id: 'list_products', at: 'routes/products.js:9', streams: [post('db.query', 'rest_list_query', 'req res')] },
    { id: 'rest_list_query', kind: 'rest', at: 'routes/products.js:11' },
    {
      id: 'show_product',
      at: 'routes/products.js:18',
      tags: ['grp_cache'],
      context: ['cache'],
      streams: [post('db.query', 'rest_show_query', 'req res id')],
    },
    {
      id: 'rest_show_query',
      kind: 'rest',
      at: 'routes/products.js:22',
      tags: ['grp_cache'],
      context: ['cache'],
      code: 'async -> {\n  const [row] = rows;\n  if (!row) return res.status(404).end(`no product ${id}`);\n  cache[id] = row; // served from memory next time\n  res.json(row);\n}',
    },
    {
      id: 'product_image',
      at: 'routes/products.js:31',
      streams: [post('fs.stat', 'post_image_stat', 'req res file')],
      code: '(req, res) => {\n  const file = path.join(images, `${req.params.id}.png`);\n  fs.stat(file, -> post_image_stat);\n}',
    },
    {
      id: 'post_image_stat',
      kind: 'post',
      at: 'routes/products.js:33',
      streams: [post('sharp.toBuffer', 'rest_image_resize', 'res'), post('next', 'on_error', 'err')],
    },
    { id: 'rest_image_resize', kind: 'rest', at: 'routes/products.js:36' },
    { id: 'require_admin', at: 'lib/auth.js:4', tags: ['grp_sessions'], context: ['sessions'] },
    { id: 'require_user', at: 'lib/auth.js:12', tags: ['grp_sessions'], context: ['sessions'] },
    { id: 'create_product', at: 'routes/products.js:41', streams: [post('db.query', 'rest_create_query', 'res')] },
    {
      id: 'rest_create_query',
      kind: 'rest',
      at: 'routes/products.js:43',
      tags: ['grp_cache', 'grp_clients'],
      context: ['cache', 'clients'],
    },
    { id: 'remove_product', at: 'routes/products.js:50', tags: ['grp_cache'], context: ['cache'] },
    { id: 'show_cart', at: 'routes/cart.js:6', tags: ['grp_sessions'] },
    { id: 'add_to_cart', at: 'routes/cart.js:13', tags: ['grp_sessions'], context: ['sessions', 'prices'] },
    { id: 'checkout', at: 'routes/cart.js:27', streams: [post('fetch', 'rest_checkout_pay', 'req res order')] },
    {
      id: 'rest_checkout_pay',
      kind: 'rest',
      at: 'routes/cart.js:31',
      streams: [
        post('db.query', 'rest_checkout_store', 'res order receipt'),
        post('setTimeout', 'rest_checkout_pay', 'order'),
      ],
    },
    { id: 'rest_checkout_store', kind: 'rest', at: 'routes/cart.js:38', tags: ['grp_clients'], context: ['clients'] },
    { id: 'metrics', at: 'server.js:40', tags: ['grp_hits'], context: ['hits'] },
    { id: 'subscribe', at: 'routes/events.js:7', tags: ['grp_clients'], context: ['clients'] },
    { id: 'expire_sessions', at: 'lib/session.js:30', tags: ['grp_sessions'], context: ['sessions'] },
    { id: 'on_error', at: 'server.js:52', placement: 'home' },
  ],
  'server.js',
);

const RESOURCES =
  'users teams projects tasks comments files labels invoices payments orders products carts reviews sessions tokens events audits exports webhooks settings'.split(
    ' ',
  );

/** A program of about `size` stages: resources with routes that read, write, and go on after queries. */
function largeProgram(size: number): FluxionProgram {
  const stages: Stage[] = [];
  const routes: StreamFact[] = [];
  for (let index = 0; stages.length < size - 1; index += 1) {
    const name =
      RESOURCES[index % RESOURCES.length]! + (index < RESOURCES.length ? '' : Math.floor(index / RESOURCES.length));
    const at = (line: number) => `routes/${name}.js:${line}`;
    const tags = index % 3 === 1 ? [`grp_${name}`] : [];
    routes.push(route('GET', `/${name}`, `get_${name}`), route('GET', `/${name}/:id`, `get_${name}_id`));
    routes.push(
      route('POST', `/${name}`, ['auth', `post_${name}`]),
      route('DELETE', `/${name}/:id`, ['auth', `delete_${name}_id`]),
    );
    stages.push(
      { id: `get_${name}`, at: at(5), streams: [post('db.query', `rest_get_${name}_query`, 'res')] },
      { id: `rest_get_${name}_query`, kind: 'rest', at: at(7) },
      {
        id: `get_${name}_id`,
        at: at(12),
        tags,
        streams: [post('cache.get', [`found_${name}`, `missed_${name}`], 'req res')],
      },
      { id: `found_${name}`, kind: 'post', at: at(14), tags },
      { id: `missed_${name}`, kind: 'post', at: at(16) },
      { id: `post_${name}`, at: at(22), tags, context: tags.length > 0 ? [name, 'limits'] : [] },
      { id: `delete_${name}_id`, at: at(30), tags },
    );
  }
  const main: Stage = { id: 'main', kind: 'main', at: 'index.js:1', streams: routes };
  const auth: Stage = { id: 'auth', at: 'lib/auth.js:3', placement: 'home' };
  return program([main, auth, ...stages.slice(0, size - 2)], 'index.js');
}

// --- end of samples ---

const HOSTILE = '</script><script>alert(1)</script><!--<script>\u2028\u2029<img src=x onerror=alert(2)>&"\'`]]>\\';

/** Every text that comes from the user's program is hostile. */
const hostile: FluxionProgram = {
  ...program([
    { id: 'main', kind: 'main', streams: [route('GET', `/${HOSTILE}`, `evil ${HOSTILE}`, HOSTILE)] },
    { id: `evil ${HOSTILE}`, at: `${HOSTILE}.js:3`, tags: [`grp_${HOSTILE}`], context: [HOSTILE], code: HOSTILE },
  ]),
  entry: `${HOSTILE}\u202e\u0000\u0007.js`,
  unresolved: [
    { callee: HOSTILE, loc: { module: HOSTILE, line: 1, column: 1 }, code: HOSTILE, reason: HOSTILE, lift: HOSTILE },
  ],
};

/** Cycles, loops, parallel streams, a second source, stages that nothing leads to, a stream to nowhere. */
const tangle = program([
  {
    id: 'main',
    kind: 'main',
    streams: [route('GET', '/a', 'a'), route('GET', '/b', ['a', 'b']), route('GET', '/d', 'd')],
  },
  { id: 'a', streams: [post('x', 'b', 'v'), post('y', 'a', ''), post('z', 'main', '')] },
  { id: 'b', kind: 'post', streams: [post('x', ['c', 'a'], 'v w'), stream('start', 'c', 'v', 'on')] },
  { id: 'c', kind: 'post', streams: [post('again', 'b', 'v'), post('gone', 'nowhere', '')] },
  { id: 'd', streams: [post('x', 'e', ''), post('x', 'g', '')] },
  { id: 'e', kind: 'post', streams: [post('x', 'f', '')] },
  { id: 'f', kind: 'post', streams: [post('x', 'g', '')] },
  { id: 'g', kind: 'post', streams: [post('x', 'd', '')] },
  { id: 'alone' },
  { id: 'alone_too', tags: ['grp_a', 'grp_b', 'grp_c'] },
]);

const samples: readonly (readonly [string, FluxionProgram])[] = [
  ['three stages', counter],
  ['a shop', shop],
  ['a large app', largeProgram(150)],
  ['a tangle', tangle],
  ['hostile texts', hostile],
  ['an empty program', program([])],
  ['no start-up code', program([{ id: 'a', streams: [post('x', 'b', '')] }, { id: 'b', kind: 'post' }, { id: 'c' }])],
];

// --- a scanner for well-formed XML, as far as the pictures use it ---

interface Scanned {
  readonly elements: readonly { readonly name: string; readonly attributes: ReadonlyMap<string, string> }[];
  readonly text: string;
}

/** Throws where the text is not well-formed. */
function scanXml(source: string): Scanned {
  const elements: { name: string; attributes: Map<string, string> }[] = [];
  const open: string[] = [];
  let text = '';
  let at = 0;
  while (at < source.length) {
    if (source[at] !== '<') {
      const end = source.indexOf('<', at);
      text += readText(source.slice(at, end === -1 ? source.length : end));
      at = end === -1 ? source.length : end;
      continue;
    }
    const end = tagEnd(source, at);
    const inner = source.slice(at + 1, end);
    at = end + 1;
    if (inner.startsWith('/')) {
      const name = open.pop();
      if (name !== inner.slice(1)) throw new Error(`</${inner.slice(1)}> closes <${name}>`);
      continue;
    }
    const isClosed = inner.endsWith('/');
    const element = readTag(isClosed ? inner.slice(0, -1) : inner);
    elements.push(element);
    if (!isClosed) open.push(element.name);
    if (open.length === 0 && source.slice(at).trim() !== '') throw new Error('something follows the root element');
  }
  if (open.length > 0) throw new Error(`<${open.at(-1)}> is not closed`);
  return { elements, text };
}

function tagEnd(source: string, start: number): number {
  let quote = '';
  for (let at = start + 1; at < source.length; at += 1) {
    const char = source[at]!;
    if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === '"' || char === "'") quote = char;
    else if (char === '>') return at;
    else if (char === '<') throw new Error('"<" inside a tag');
  }
  throw new Error('a tag does not end');
}

function readTag(inner: string): { name: string; attributes: Map<string, string> } {
  const space = inner.indexOf(' ');
  const name = space === -1 ? inner : inner.slice(0, space);
  if (![...name].every((char) => /[a-z]/i.test(char))) throw new Error(`"${name}" is no name`);
  const attributes = new Map<string, string>();
  let rest = space === -1 ? '' : inner.slice(space).trimStart();
  while (rest !== '') {
    const equals = rest.indexOf('="');
    const close = rest.indexOf('"', equals + 2);
    if (equals < 1 || close < 0) throw new Error(`no attribute: ${rest}`);
    const key = rest.slice(0, equals);
    if (attributes.has(key)) throw new Error(`"${key}" is given twice`);
    const value = rest.slice(equals + 2, close);
    if (value.includes('<')) throw new Error('"<" in an attribute');
    attributes.set(key, readText(value));
    rest = rest.slice(close + 1);
    if (rest !== '' && !rest.startsWith(' ')) throw new Error(`no space before ${rest}`);
    rest = rest.trimStart();
  }
  return { name, attributes };
}

const ENTITIES = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['#39', "'"],
]);

function readText(source: string): string {
  for (const char of source) {
    const code = char.codePointAt(0)!;
    if (code < 0x20 && char !== '\n') throw new Error(`control character ${code}`);
    if (code >= 0xd800 && code <= 0xdfff) throw new Error('half a character');
  }
  const [first, ...parts] = source.split('&');
  return (
    first! +
    parts
      .map((part) => {
        const end = part.indexOf(';');
        const entity = ENTITIES.get(part.slice(0, end));
        if (end < 0 || entity === undefined) throw new Error(`"&${part.slice(0, 8)}" is no entity`);
        return entity + part.slice(end + 1);
      })
      .join('')
  );
}

function stagesOf(scanned: Scanned) {
  return scanned.elements.filter((element) => element.attributes.get('class')?.split(' ').includes('stage'));
}

// --- layout ---

function layoutInput(of: FluxionProgram): LayoutInput {
  const model = buildGraphModel(of);
  return { boxes: model.cards, links: model.links, origin: model.main, aspect: 1.5 };
}

function overlaps(boxes: readonly LaidOutBox[]): string[] {
  const found: string[] = [];
  for (const [i, a] of boxes.entries()) {
    for (const [j, b] of boxes.entries()) {
      if (j <= i) continue;
      const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
      if (!apart) found.push(`${i} and ${j}`);
    }
  }
  return found;
}

function isOnBorder(box: LaidOutBox, point: { x: number; y: number }): boolean {
  const near = (a: number, b: number) => Math.abs(a - b) < 0.2;
  const inX = point.x >= box.x - 0.2 && point.x <= box.x + box.width + 0.2;
  const inY = point.y >= box.y - 0.2 && point.y <= box.y + box.height + 0.2;
  const onSide = near(point.x, box.x) || near(point.x, box.x + box.width);
  const onEdge = near(point.y, box.y) || near(point.y, box.y + box.height);
  return inX && inY && (onSide || onEdge);
}

function checkLayout(input: LayoutInput): string[] {
  const layout = layoutGraph(input);
  const faults = overlaps(layout.boxes).map((pair) => `boxes overlap: ${pair}`);
  for (const box of layout.boxes) {
    const inside = box.x >= -0.2 && box.y >= -0.2 && box.x + box.width <= layout.width + 0.2;
    if (!inside || box.y + box.height > layout.height + 0.2) faults.push(`outside: ${JSON.stringify(box)}`);
  }
  for (const [index, link] of input.links.entries()) {
    const { start, segments } = layout.routes[index]!;
    if (!isOnBorder(layout.boxes[link.from]!, start)) faults.push(`link ${index} starts off its box`);
    if (!isOnBorder(layout.boxes[link.to]!, endOf(layout.routes[index]!)))
      faults.push(`link ${index} ends off its box`);
    if (segments.length === 0) faults.push(`link ${index} has no length`);
    const numbers = segments.flatMap((one) => [one.to.x, one.to.y]);
    if (!numbers.every(Number.isFinite)) faults.push(`link ${index} leaves the plane`);
  }
  return faults;
}

for (const [name, sample] of samples) {
  test(`layout of ${name}: boxes do not touch, links begin and end at their boxes`, (t) => {
    t.deepEqual(checkLayout(layoutInput(sample)), []);
  });
}

test('layout of random graphs: boxes do not touch, links begin and end at their boxes', (t) => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  for (let round = 0; round < 60; round += 1) {
    const count = 1 + random(30);
    const boxes = Array.from({ length: count }, () => ({
      width: 80 + random(200),
      height: 40 + random(80),
      below: random(3) === 0 ? 30 : 0,
    }));
    const links: LayoutLink[] = Array.from({ length: random(3 * count) }, () => ({
      from: random(count),
      to: random(count),
      textWidth: random(150),
    }));
    const input = { boxes, links, origin: random(3) === 0 ? null : random(count), aspect: 1.5 };
    t.deepEqual(checkLayout(input), [], `round ${round}`);
  }
});

test('a chain runs from left to right on one straight line', (t) => {
  const { boxes, routes } = layoutGraph({
    ...layoutInput(counter),
    boxes: [0, 1, 2].map(() => ({ width: 100, height: 50, below: 0 })),
  });
  t.true(boxes[0]!.x + 100 < boxes[1]!.x && boxes[1]!.x + 100 < boxes[2]!.x);
  t.deepEqual(new Set(boxes.map((box) => box.y)).size, 1);
  for (const { segments } of routes) t.is(segments.length, 1);
});

test('texts at links have room between their boxes', (t) => {
  for (const [, sample] of samples) {
    const model = buildGraphModel(sample);
    const layout = layoutGraph(layoutInput(sample));
    for (const [index, link] of model.links.entries()) {
      const { label } = layout.routes[index]!;
      if (label === null) continue;
      const text = { x: label.x, y: label.y - 3, width: link.textWidth, height: 6 };
      t.deepEqual(
        overlaps([text, ...layout.boxes]).filter((pair) => pair.startsWith('0 ')),
        [],
        link.full,
      );
    }
  }
});

test('texts of cards fit into their cards', (t) => {
  for (const [, sample] of samples) {
    for (const card of buildGraphModel(sample).cards) {
      for (const line of card.lines) {
        t.true(line.y < card.height);
        if (line.kind !== 'tags')
          t.true(18 + textWidth(line.text, line.kind === 'id' ? 13 : 11) <= card.width - 13, line.text);
        else for (const tag of line.tags) t.true(18 + tag.x + tag.width <= card.width - 13, tag.text);
      }
    }
  }
});

test('a wide fan is wrapped into columns', (t) => {
  const { width, height } = layoutGraph(layoutInput(largeProgram(150)));
  t.true(width / height > 0.8 && width / height < 3, `${width} x ${height}`);
});

test('a wide fan behind other stages is wrapped as well', (t) => {
  const routes = Array.from({ length: 80 }, (_, index) => route('GET', `/${index}`, `h${index}`));
  const handlers = Array.from({ length: 80 }, (_, index): Stage => ({ id: `h${index}` }));
  const late = program([
    { id: 'main', kind: 'main', streams: [post('connect', 'connected', '')] },
    { id: 'connected', kind: 'post', streams: routes },
    ...handlers,
  ]);
  const { width, height } = layoutGraph(layoutInput(late));
  t.true(width / height > 0.5, `${width} x ${height}`);
  t.deepEqual(checkLayout(layoutInput(late)), []);
});

test('sweeps take out crossings that can be avoided', (t) => {
  // Three items on each side, joined crosswise: 0-5, 1-4, 2-3.
  const layering = {
    layerOf: [0, 0, 0, 1, 1, 1],
    layerCount: 2,
    segments: [
      { left: 0, right: 5 },
      { left: 1, right: 4 },
      { left: 2, right: 3 },
    ],
  };
  t.is(
    countCrossings(
      [
        [0, 1, 2],
        [3, 4, 5],
      ],
      layering,
    ),
    3,
  );
  t.is(countCrossings(orderLayers(layering), layering), 0);
});

test('two thousand stages and one very long chain are drawn in good time', (t) => {
  const long = program(
    Array.from(
      { length: 2000 },
      (_, index): Stage => ({
        id: `s${index}`,
        kind: index === 0 ? 'main' : 'post',
        // Far jumps: each would want as many waypoints as it skips stages.
        streams: [
          post('next', `s${index + 1}`, 'v'),
          ...(index % 5 === 0 ? [post('jump', `s${1999 - index}`, 'v')] : []),
        ],
      }),
    ),
  );
  for (const sample of [largeProgram(2000), long]) {
    const before = performance.now();
    printSvg(sample);
    const spent = performance.now() - before;
    // An eighth of a second on an idle machine; the bound leaves room for a busy one and still catches squares.
    t.true(spent < 5000, `${Math.round(spent)} ms`);
  }
});

// --- dot ---

/** The tokens of a dot file; throws at a quote that does not end. */
function scanDot(source: string): string[] {
  const tokens: string[] = [];
  for (let at = 0; at < source.length; ) {
    if (source[at] !== '"') {
      const end = source.indexOf('"', at);
      const plain = source.slice(at, end === -1 ? source.length : end);
      tokens.push(...plain.split(/\s+/).filter((token) => token !== ''));
      at = end === -1 ? source.length : end;
      continue;
    }
    let end = at + 1;
    while (source[end] !== '"') {
      if (end >= source.length || source[end] === '\n') throw new Error('a string does not end');
      end += source[end] === '\\' ? 2 : 1;
    }
    tokens.push(source.slice(at, end + 1));
    at = end + 1;
  }
  return tokens;
}

test('dot: one node for each fluxion, one edge for each destination', (t) => {
  const dot = printDot(counter);
  t.true(dot.startsWith('digraph "app.js" {\n'));
  t.true(dot.includes('  "main" -> "handler" [label="GET /\\n[res]", style=bold, arrowhead=normalnormal];'));
  t.true(dot.includes('  "handler" -> "reply" [label="fs.readFile\\n[res]", style=dashed, arrowhead=vee];'));
  t.true(dot.includes('  "handler" [label="handler\\napp.js:5 · replicated", peripheries=2];'));
  t.regex(dot, / {2}"reply" \[label="reply\\napp\.js:6 · group\\n\{count, template\}\\n&amp; grp_res"/);
});

test('dot: what the user wrote ends no string and is no escape', (t) => {
  const tokens = scanDot(printDot(hostile));
  const plain = tokens.filter((token) => !token.startsWith('"')).join(' ');
  t.false(/script|alert|onerror/.test(plain), plain);
  t.is(tokens.filter((token) => token === '->').length, 1);
  const odd = printDot(program([{ id: 'a"b\\N\nc', kind: 'main' }]));
  t.true(odd.includes('"a\\"b\\\\N c"'), odd);
});

test('dot: a fluxion of several groups is striped, a stream to nowhere is left out', (t) => {
  const dot = printDot(tangle);
  t.regex(dot, /"alone_too" \[.*style="striped", fillcolor="#\w{6}:#\w{6}:#\w{6}"/);
  t.false(dot.includes('nowhere'));
});

// --- svg ---

for (const [name, sample] of samples) {
  test(`svg of ${name} is well-formed and shows each stage once`, (t) => {
    const scanned = scanXml(printSvg(sample));
    t.is(scanned.elements[0]!.name, 'svg');
    t.is(stagesOf(scanned).length, sample.fluxions.length);
    t.false(scanned.elements.some((element) => ['script', 'image', 'foreignObject', 'a'].includes(element.name)));
    t.false(scanned.elements.some((element) => [...element.attributes.keys()].some((key) => key.startsWith('on'))));
  });
}

test('svg: each id is written out once, and so is each route', (t) => {
  const svg = printSvg(shop);
  for (const one of shop.fluxions) t.is(svg.split(`<text class="id" x="18" y="25">${one.id}</text>`).length, 2, one.id);
  for (const label of ['GET /products/:id', 'POST /checkout', 'every 60000 ms']) {
    t.is(svg.split(`>${label}</text>`).length, 2, label);
  }
  t.true(svg.includes('26 stages · 10 replicated · 14 grouped · 2 at home'));
});

test('svg: starts and posts look different', (t) => {
  const svg = printSvg(counter);
  const heads = [...svg.matchAll(/<g class="link (start|post)">.*?class="head" d="([^"]*)"/g)];
  t.deepEqual(
    heads.map(([, type, path]) => [type, path!.split('M').length - 1]),
    [
      ['start', 2],
      ['post', 1],
    ],
  );
});

test('svg: a long name is shortened and stands in full in the title', (t) => {
  const id = `post_${'x'.repeat(80)}_end`;
  const svg = printSvg(program([{ id, kind: 'main' }]));
  t.true(svg.includes(`<title>${id} · app.js:1`));
  t.regex(svg, /<text class="id"[^>]*>post_x+…x+_end<\/text>/);
});

test('svg: signs that turn the direction of writing do not reach the picture', (t) => {
  t.false(printSvg(program([{ id: 'a\u202eb', kind: 'main' }])).includes('\u202e'));
});

// --- html ---

/** The text of an element that is there once, as an HTML parser finds its end. */
function elementText(html: string, open: string, close: string): string {
  const parts = html.split(open);
  if (parts.length !== 2) throw new Error(`${open} is there ${parts.length - 1} times`);
  return parts[1]!.slice(0, parts[1]!.indexOf(close));
}

const programText = (html: string) => elementText(html, '<script type="application/json" id="program">', '</script');

for (const [name, sample] of samples) {
  test(`html of ${name} carries the program's facts`, (t) => {
    const { version, entry, fluxions, variables, unresolved } = sample;
    const facts: unknown = JSON.parse(programText(printHtml(sample)));
    t.deepEqual(facts, JSON.parse(JSON.stringify({ version, entry, fluxions, variables, unresolved })));
  });
}

test('html: hostile source stays inside its element', (t) => {
  const html = printHtml(hostile);
  t.is(html.toLowerCase().split('<script').length - 1, 2);
  t.is(html.toLowerCase().split('</script').length - 1, 2);
  t.false(html.includes('<img') || html.includes('<!--'));
  t.false(/[\u2028\u2029]/.test(programText(html)));
  t.false(/[<>&]/.test(programText(html)));
});

test('html: the picture in it is well-formed', (t) => {
  for (const [, sample] of samples) {
    const picture = elementText(printHtml(sample), '<svg id="picture"', '</svg>');
    const scanned = scanXml(`<svg${picture}</svg>`);
    t.is(stagesOf(scanned).length, sample.fluxions.length);
    for (const stage of stagesOf(scanned)) t.truthy(stage.attributes.get('aria-label'));
  }
});

test('html: the policy allows its own style and script, and nothing from outside', (t) => {
  const html = printHtml(shop);
  const sha = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const policy = elementText(html, '<meta http-equiv="Content-Security-Policy" content="', '"');
  t.deepEqual(policy.split('; '), [
    "default-src 'none'",
    `style-src ${sha(elementText(html, '<style>', '</style>'))}`,
    `script-src ${sha(elementText(html, '<script>', '</script>'))}`,
    "base-uri 'none'",
    "form-action 'none'",
  ]);
  t.false(/<(link|img|iframe|object|embed)\b/.test(html));
  t.false(/ (src|style|on\w+)="/.test(html.slice(html.indexOf('<body>'), html.indexOf('<script'))));
});

test('html: the script is one that browsers can parse, and puts no markup in', (t) => {
  const script = clientScript(8);
  // Compiled, not run.
  t.notThrows(() => new Function(script));
  t.false(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b/.test(script));
  t.false(script.toLowerCase().includes('</script'));
});

test('same program, same bytes', (t) => {
  for (const [, sample] of samples) {
    const copy = structuredClone(sample);
    t.is(printDot(sample), printDot(copy));
    t.is(printSvg(sample), printSvg(copy));
    t.is(printHtml(sample), printHtml(copy));
  }
});

// --- tokens ---

const kinds = (source: string, ids: readonly string[] = []) =>
  tokenize(source, (id) => ids.includes(id)).map((token) => `${token.kind}:${token.text}`);

test('tokens: placeholders are told from shifts, and only known stages are links', (t) => {
  t.deepEqual(kinds('get("/", >> handler);', ['handler']), [
    'plain:get(',
    'string:"/"',
    'plain:, ',
    'stream:>> ',
    'dest:handler',
    'plain:);',
  ]);
  t.deepEqual(kinds('x >> handler', ['handler']), ['plain:x >> handler']);
  t.deepEqual(kinds('then(-> a, b, c)', ['a', 'b']), [
    'plain:then(',
    'stream:-> ',
    'dest:a',
    'plain:, ',
    'dest:b',
    'plain:, c)',
  ]);
  t.deepEqual(kinds('while (n-->a) f()', ['a']), ['keyword:while', 'plain: (n-->a) f()']);
});

test('tokens: strings, templates, comments, regular expressions, numbers', (t) => {
  t.deepEqual(kinds('const s = `a ${f({ b: "}" })} c`; // end'), [
    'keyword:const',
    'plain: s = ',
    'string:`a ',
    'plain:${f({ b: ',
    'string:"}"',
    'plain: })}',
    'string: c`',
    'plain:; ',
    'comment:// end',
  ]);
  t.deepEqual(kinds('a / b / /[/]x/gi.test(0x1F)'), [
    'plain:a / b / ',
    'regex:/[/]x/gi',
    'plain:.test(',
    'number:0x1F',
    'plain:)',
  ]);
  t.deepEqual(kinds('map.delete(this)'), ['plain:map.delete(', 'keyword:this', 'plain:)']);
});

test('tokens: whatever the text is, the tokens are all of it', (t) => {
  const odd = ['`', '`${', '`a\\', '"a\n', '/*', '\\', '${}}`', '/[', '->', '>>', '😀\ud83d', HOSTILE, '`${`${1}`}`'];
  const sources = [...odd, ...odd.flatMap((a) => odd.map((b) => a + b)), ...shop.fluxions.map((one) => one.code)];
  for (const source of sources) {
    const joined = tokenize(source, () => true)
      .map((token) => token.text)
      .join('');
    t.is(joined, source);
  }
});
