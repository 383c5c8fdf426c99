/**
 * Reads: a plan, which says by construction who reads and who changes which state, and by which indirection.
 * Gives: an Express program that does just that, with the truth about each handler.
 *
 * State is an object `{ n, list }` that start-up code makes. Between it and the place where a handler touches it stand
 *
 *   carriers   at the top of the module: another name for the object, a container that holds it, a function that gives it
 *   wrappers   in the handler: a call, a loop or a callback that hands it on
 *   leaves     the access itself, in the handler or in a helper
 */
import fc from 'fast-check';
import type { Tree } from './temp-folder.js';

export interface TouchPlan {
  readonly state: number;
  readonly wrappers: readonly string[];
  readonly leaf: string;
}

export interface HandlerPlan {
  readonly touches: readonly TouchPlan[];
  readonly registered: 'in place' | 'by name' | 'behind another' | 'as a constant' | 'through a helper';
  readonly busy: string;
}

export interface StatePlan {
  /** For each state the carriers between it and the handlers. */
  readonly states: readonly (readonly string[])[];
  readonly handlers: readonly HandlerPlan[];
}

/** Which part of a state is touched: a change of `n` is none to who reads `list`, nor to who asks for the names. */
export type StatePart = 'n' | 'list' | 'names' | 'all';

export interface Touch {
  readonly state: number;
  readonly part: StatePart;
  readonly changes: boolean;
  /** It is done by code that runs later than the handler itself. */
  readonly later: boolean;
}

export interface HandlerTruth {
  readonly id: string;
  readonly touches: readonly Touch[];
}

/** One of them changes what the other one reads or changes. */
export function collide(left: Touch, right: Touch): boolean {
  if (left.state !== right.state || !(left.changes || right.changes)) return false;
  return left.part === right.part || left.part === 'all' || right.part === 'all';
}

export interface StateProgram {
  readonly files: Tree;
  readonly entry: string;
  readonly handlers: readonly HandlerTruth[];
}

interface Carrier {
  readonly declare: (name: string, state: string) => string;
  /** The state, as a handler reaches it. */
  readonly reach: (name: string) => string;
  /** A module of its own that the declaration uses. */
  readonly module?: string;
  /** Reached through the request: nothing at the top of the module can go on from there. */
  readonly last?: true;
}

const itself = (name: string): string => name;
const called = (name: string): string => `${name}()`;
const held = (name: string): string => `${name}.held`;
const first = (name: string): string => `${name}[0]`;

function carrier(declare: Carrier['declare'], reach: Carrier['reach'], more: Partial<Carrier> = {}): Carrier {
  return { declare, reach, ...more };
}

export const carriers: { readonly [name: string]: Carrier } = {
  alias: carrier((n, s) => `const ${n} = ${s};`, itself),
  'alias assigned': carrier((n, s) => `let ${n}; ${n} = ${s};`, itself),
  'alias assigned in a function': carrier((n, s) => `let ${n}; function set${n}() { ${n} = ${s}; } set${n}();`, itself),
  property: carrier((n, s) => `const ${n} = { held: ${s} };`, held),
  'property of a property': carrier(
    (n, s) => `const ${n} = { a: { b: ${s} } };`,
    (n) => `${n}.a.b`,
  ),
  'property assigned': carrier((n, s) => `const ${n} = {}; ${n}.held = ${s};`, held),
  'property assigned by computed name': carrier((n, s) => `const ${n} = {}; ${n}['he' + 'ld'] = ${s};`, held),
  'property read by computed name': carrier(
    (n, s) => `const ${n} = { held: ${s} };`,
    (n) => `${n}['he' + 'ld']`,
  ),
  'symbol property': carrier(
    (n, s) => `const key${n} = Symbol(); const ${n} = { [key${n}]: ${s} };`,
    (n) => `${n}[key${n}]`,
  ),
  'destructured property': carrier((n, s) => `const { held: ${n} } = { held: ${s} };`, itself),
  'destructured item': carrier((n, s) => `const [${n}] = [${s}];`, itself),
  'destructured rest': carrier((n, s) => `const { a: a${n}, ...${n} } = { a: 1, held: ${s} };`, held),
  'destructured default': carrier((n, s) => `const { missing: ${n} = ${s} } = {};`, itself),
  item: carrier((n, s) => `const ${n} = [${s}];`, first),
  'item pushed': carrier((n, s) => `const ${n} = []; ${n}.push(${s});`, first),
  'item spread': carrier((n, s) => `const ${n} = [...[${s}]];`, first),
  'item at': carrier(
    (n, s) => `const ${n} = [${s}];`,
    (n) => `${n}.at(-1)`,
  ),
  'item found': carrier(
    (n, s) => `const ${n} = [${s}];`,
    (n) => `${n}.find((it) => it.n !== undefined)`,
  ),
  'item filtered': carrier((n, s) => `const ${n} = [${s}].filter(Boolean);`, first),
  'item mapped': carrier((n, s) => `const ${n} = [1].map(() => ${s});`, first),
  'item concatenated': carrier((n, s) => `const ${n} = [].concat(${s});`, first),
  'item of Array.from': carrier((n, s) => `const ${n} = Array.from([${s}]);`, first),
  'item of Object.values': carrier(
    (n, s) => `const ${n} = { held: ${s} };`,
    (n) => `Object.values(${n})[0]`,
  ),
  'item of Object.entries': carrier(
    (n, s) => `const ${n} = { held: ${s} };`,
    (n) => `Object.entries(${n})[0][1]`,
  ),
  map: carrier(
    (n, s) => `const ${n} = new Map([['k', ${s}]]);`,
    (n) => `${n}.get('k')`,
  ),
  'map set': carrier(
    (n, s) => `const ${n} = new Map(); ${n}.set('k', ${s});`,
    (n) => `${n}.get('k')`,
  ),
  'weak map': carrier(
    (n, s) => `const ${n} = new WeakMap(); ${n}.set(app, ${s});`,
    (n) => `${n}.get(app)`,
  ),
  set: carrier(
    (n, s) => `const ${n} = new Set([${s}]);`,
    (n) => `[...${n}][0]`,
  ),
  function: carrier((n, s) => `function ${n}() { return ${s}; }`, called),
  arrow: carrier((n, s) => `const ${n} = () => ${s};`, called),
  'function given back': carrier((n, s) => `const ${n} = ((it) => () => it)(${s});`, called),
  'closure of a call': carrier(
    (n, s) => `function make${n}(it) { return { give: () => it }; } const ${n} = make${n}(${s});`,
    (n) => `${n}.give()`,
  ),
  'identity function': carrier((n, s) => `const ${n} = ((it) => it)(${s});`, itself),
  'bound argument': carrier((n, s) => `const ${n} = ((it) => it).bind(null, ${s});`, called),
  'bound receiver': carrier((n, s) => `const ${n} = function () { return this; }.bind(${s});`, called),
  'lazy value': carrier((n, s) => `let made${n}; function ${n}() { made${n} ??= ${s}; return made${n}; }`, called),
  method: carrier(
    (n, s) => `const ${n} = { held: ${s}, give() { return this.held; } };`,
    (n) => `${n}.give()`,
  ),
  getter: carrier((n, s) => `const ${n} = { get held() { return ${s}; } };`, held),
  'class field': carrier((n, s) => `class C${n} { held = ${s}; } const ${n} = new C${n}();`, held),
  'constructor argument': carrier(
    (n, s) => `class C${n} { constructor(it) { this.held = it; } } const ${n} = new C${n}(${s});`,
    held,
  ),
  'private field': carrier(
    (n, s) =>
      `class C${n} { #it; constructor(it) { this.#it = it; } give() { return this.#it; } } const ${n} = new C${n}(${s});`,
    (n) => `${n}.give()`,
  ),
  'inherited field': carrier(
    (n, s) =>
      `class B${n} { constructor(it) { this.held = it; } } class C${n} extends B${n} {} const ${n} = new C${n}(${s});`,
    held,
  ),
  'static field': carrier((n, s) => `class ${n} { static held = ${s}; }`, held),
  'constructor function': carrier(
    (n, s) => `function C${n}(it) { this.held = it; } const ${n} = new C${n}(${s});`,
    held,
  ),
  'prototype property': carrier(
    (n, s) => `class ${n} {} ${n}.prototype.held = ${s};`,
    (n) => `new ${n}().held`,
  ),
  'prototype of Object.create': carrier((n, s) => `const ${n} = Object.create({ held: ${s} });`, held),
  'property of a function': carrier((n, s) => `function ${n}() {} ${n}.held = ${s};`, held),
  'Object.assign': carrier((n, s) => `const ${n} = Object.assign({}, { held: ${s} });`, held),
  'object spread': carrier((n, s) => `const ${n} = { ...{ held: ${s} } };`, held),
  'Object.freeze': carrier((n, s) => `const ${n} = Object.freeze({ held: ${s} });`, held),
  'one of two': carrier((n, s) => `const ${n} = process.argv.length > 99 ? { n: 0, list: [] } : ${s};`, itself),
  'nullish default': carrier((n, s) => `const ${n} = null ?? ${s};`, itself),
  generator: carrier(
    (n, s) => `function* ${n}() { yield ${s}; }`,
    (n) => `${n}().next().value`,
  ),
  'own export': carrier(
    (n, s) => `exports.${n} = ${s};`,
    (n) => `exports.${n}`,
  ),
  'app.locals': carrier(
    (n, s) => `app.locals.${n} = ${s};`,
    (n) => `app.locals.${n}`,
  ),
  'app.set': carrier(
    (n, s) => `app.set('${n}', ${s});`,
    (n) => `app.get('${n}')`,
  ),
  'defined getter of a prototype': carrier(
    (n, s) =>
      `function C${n}() {} Object.defineProperty(C${n}.prototype, 'held', { get: function () { return ${s}; } }); const ${n} = new C${n}();`,
    held,
  ),
  'app.locals of the request': carrier(
    (n, s) => `app.locals.${n} = ${s};`,
    (n) => `req.app.locals.${n}`,
    { last: true },
  ),
  "setting of the request's app": carrier(
    (n, s) => `app.set('${n}', ${s});`,
    (n) => `req.app.get('${n}')`,
    { last: true },
  ),
  'export of another module': carrier((n, s) => `const ${n} = require('./${n}.js'); ${n}.held = ${s};`, held, {
    module: 'exports.held = null;',
  }),
  'export required where it is used': carrier(
    (n, s) => `require('./${n}.js').held = ${s};`,
    (n) => `require('./${n}.js').held`,
    { module: 'exports.held = null;' },
  ),
  'registry module': carrier(
    (n, s) => `const ${n} = require('./${n}.js'); ${n}.put('k', ${s});`,
    (n) => `${n}.take('k')`,
    {
      module:
        'const all = new Map();\nexports.put = (key, it) => { all.set(key, it); };\nexports.take = (key) => all.get(key);',
    },
  ),
  'property of req': carrier(
    (n, s) => `app.use((req, res, next) => { req.${n} = ${s}; next(); });`,
    (n) => `req.${n}`,
    { last: true },
  ),
  'property of res.locals': carrier(
    (n, s) => `app.use((req, res, next) => { res.locals.${n} = ${s}; next(); });`,
    (n) => `res.locals.${n}`,
    { last: true },
  ),
};

interface Wrapper {
  readonly write: (state: string, body: (state: string) => string, name: string) => string;
  /** The body runs in a later turn. */
  readonly later?: true;
}

function wrapper(write: Wrapper['write'], more: Partial<Wrapper> = {}): Wrapper {
  return { write, ...more };
}

const later = { later: true } as const;

export const wrappers: { readonly [name: string]: Wrapper } = {
  constant: wrapper((s, body, n) => `const ${n} = ${s}; ${body(n)}`),
  assigned: wrapper((s, body, n) => `let ${n}; ${n} = ${s}; ${body(n)}`),
  destructured: wrapper((s, body, n) => `const { it: ${n} } = { it: ${s} }; ${body(n)}`),
  'destructuring assignment': wrapper((s, body, n) => `let ${n}; [${n}] = [${s}]; ${body(n)}`),
  block: wrapper((s, body) => `{ ${body(s)} }`),
  branch: wrapper((s, body) => `if (req.query.on) { ${body(s)} }`),
  'switch case': wrapper((s, body) => `switch (req.query.on) { case '1': ${body(s)} break; default: }`),
  'labelled loop': wrapper((s, body, n) => `${n}: for (;;) { ${body(s)} break ${n}; }`),
  'for of': wrapper((s, body, n) => `for (const ${n} of [${s}]) { ${body(n)} }`),
  'try finally': wrapper((s, body) => `try { res.type('text'); } finally { ${body(s)} }`),
  'caught throw': wrapper((s, body, n) => `try { throw ${s}; } catch (${n}) { ${body(n)} }`),
  'nested function': wrapper((s, body, n) => `function ${n}() { ${body(s)} } ${n}();`),
  'nested arrow': wrapper((s, body, n) => `const ${n} = () => { ${body(s)} }; ${n}();`),
  'called in place': wrapper((s, body) => `(() => { ${body(s)} })();`),
  parameter: wrapper((s, body, n) => `((${n}) => { ${body(n)} })(${s});`),
  'default parameter': wrapper((s, body, n) => `((${n} = ${s}) => { ${body(n)} })();`),
  'destructured parameter': wrapper((s, body, n) => `(({ it: ${n} }) => { ${body(n)} })({ it: ${s} });`),
  'rest parameter': wrapper((s, body, n) => `((...${n}) => { ${body(`${n}[0]`)} })(${s});`),
  'spread argument': wrapper((s, body, n) => `((${n}) => { ${body(n)} })(...[${s}]);`),
  'arguments object': wrapper((s, body) => `(function () { ${body('arguments[0]')} })(${s});`),
  'this by call': wrapper((s, body) => `(function () { ${body('this')} }).call(${s});`),
  'argument by call': wrapper((s, body, n) => `((${n}) => { ${body(n)} }).call(null, ${s});`),
  'argument by apply': wrapper((s, body, n) => `((${n}) => { ${body(n)} }).apply(null, [${s}]);`),
  'bound argument': wrapper((s, body, n) => `const ${n} = ((it) => { ${body('it')} }).bind(null, ${s}); ${n}();`),
  'object method': wrapper((s, body) => `({ it: ${s}, go() { ${body('this.it')} } }).go();`),
  'class method': wrapper(
    (s, body, n) => `class ${n} { constructor(it) { this.it = it; } go() { ${body('this.it')} } } new ${n}(${s}).go();`,
  ),
  constructor: wrapper((s, body, n) => `class ${n} { constructor(it) { ${body('it')} } } new ${n}(${s});`),
  forEach: wrapper((s, body, n) => `[${s}].forEach((${n}) => { ${body(n)} });`),
  map: wrapper((s, body, n) => `[${s}].map((${n}) => { ${body(n)} return 1; });`),
  reduce: wrapper((s, body, n) => `[1].reduce((${n}) => { ${body(n)} return ${n}; }, ${s});`),
  'sort comparator': wrapper((s, body) => `[2, 1].sort((a, b) => { ${body(s)} return a - b; });`),
  'replace callback': wrapper((s, body) => `'a'.replace(/a/, () => { ${body(s)} return ''; });`),
  'generator loop': wrapper((s, body, n) => `for (const ${n} of (function* () { yield ${s}; })()) { ${body(n)} }`),
  'promise executor': wrapper((s, body) => `new Promise((done) => { ${body(s)} done(); });`),
  'promise then': wrapper((s, body, n) => `Promise.resolve(${s}).then((${n}) => { ${body(n)} });`, later),
  'promise catch': wrapper((s, body, n) => `Promise.reject(${s}).catch((${n}) => { ${body(n)} });`, later),
  'promise executor value': wrapper(
    (s, body, n) => `new Promise((done) => done(${s})).then((${n}) => { ${body(n)} });`,
    later,
  ),
  'awaited value': wrapper(
    (s, body, n) => `(async () => { const ${n} = await Promise.resolve(${s}); ${body(n)} })();`,
    later,
  ),
  'behind an await': wrapper((s, body) => `(async () => { await null; ${body(s)} })();`, later),
  'async function': wrapper(
    (s, body, n) => `const ${n} = async () => ${s}; ${n}().then((it) => { ${body('it')} });`,
    later,
  ),
  setTimeout: wrapper((s, body) => `setTimeout(() => { ${body(s)} }, 1);`, later),
  'setTimeout argument': wrapper((s, body, n) => `setTimeout((${n}) => { ${body(n)} }, 1, ${s});`, later),
  nextTick: wrapper((s, body, n) => `process.nextTick((${n}) => { ${body(n)} }, ${s});`, later),
  queueMicrotask: wrapper((s, body) => `queueMicrotask(() => { ${body(s)} });`, later),
  'file callback': wrapper((s, body, n) => `fs.readFile('x', (${n}) => { ${body(s)} });`, later),
  'response listener': wrapper((s, body) => `res.on('finish', () => { ${body(s)} });`, later),
  'request listener': wrapper((s, body) => `req.on('data', () => { ${body(s)} });`, later),
};

interface Leaf {
  readonly write: (state: string, name: string) => string;
  readonly part: StatePart;
  readonly changes: boolean;
}

function changing(part: StatePart, write: Leaf['write']): Leaf {
  return { write, part, changes: true };
}

function reading(part: StatePart, write: Leaf['write']): Leaf {
  return { write, part, changes: false };
}

/** Declared once at the top of each program; some of the leaves call them. */
const helpers = `
function bump(it) { it.n += 1; }
const bumpTwice = (it) => { bump(it); bump(it); };
function bumpDeep(it, depth) { if (depth > 0) bumpDeep(it, depth - 1); else it.n++; }
class Bumper { constructor(it) { this.it = it; } bump() { this.it.n++; return this; } }
class Counter extends Bumper { static of(it) { return new Counter(it); } fill(it) { this.it = it; return this; } twice() { super.bump().bump(); } }
function Old(it) { this.it = it; }
Old.prototype.bump = function () { this.it.n++; };
function bumper(it) { return { bump() { it.n++; } }; }
const bumping = (it) => () => { it.n++; };
const boxed = (it) => ({ it, bump() { this.it.n++; } });
const keeper = () => { let kept; return { keep(it) { kept = it; }, bump() { kept.n++; } }; };
function bumpThis() { this.n++; }
function view(it) { return it.n + it.list.length; }
const viewAll = (...all) => all.map(view);`;

export const leaves: { readonly [name: string]: Leaf } = {
  increment: changing('n', (s) => `${s}.n++;`),
  add: changing('n', (s) => `${s}.n += 2;`),
  'computed name': changing('all', (s) => `${s}[req.query.name] = 1;`),
  'nullish assignment': changing('all', (s) => `${s}.more ??= 1;`),
  delete: changing('all', (s) => `delete ${s}.n;`),
  'list push': changing('list', (s) => `${s}.list.push(req.url);`),
  'list item': changing('list', (s) => `${s}.list[0] = 1;`),
  'list length': changing('list', (s) => `${s}.list.length = 0;`),
  'list sort': changing('list', (s) => `${s}.list.sort();`),
  'list method by name': changing('list', (s) => `Array.prototype.push.call(${s}.list, 1);`),
  'local alias': changing('list', (s, n) => `const ${n} = ${s}.list; ${n}.push(1);`),
  'local property': changing('n', (s, n) => `const ${n} = { it: ${s} }; ${n}.it.n--;`),
  'destructured list': changing('list', (s, n) => `const { list: ${n} } = ${s}; ${n}.pop();`),
  'destructuring assignment': changing('n', (s) => `[${s}.n] = [1];`),
  'object destructuring assignment': changing('n', (s) => `({ url: ${s}.n } = req);`),
  'step of an iterator': changing('n', (s) => `new Set([${s}])[Symbol.iterator]().next().value.n++;`),
  'defined getter': changing('n', (s) => `Object.defineProperty({}, 'it', { get: () => ${s} }).it.n++;`),
  'loop variable': changing('n', (s) => `for (${s}.n of [1, 2]);`),
  'optional chain': changing('list', (s) => `${s}?.list?.push(1);`),
  'Object.assign': changing('n', (s) => `Object.assign(${s}, { n: 1 });`),
  'Object.defineProperty': changing('n', (s) => `Object.defineProperty(${s}, 'n', { value: 1 });`),
  'Reflect.set': changing('n', (s) => `Reflect.set(${s}, 'n', 1);`),
  'helper parameter': changing('n', (s) => `bump(${s});`),
  'helper of a helper': changing('n', (s) => `bumpTwice(${s});`),
  'helper with recursion': changing('n', (s) => `bumpDeep(${s}, 3);`),
  'helper class': changing('n', (s) => `new Bumper(${s}).bump();`),
  'helper class, chained': changing('n', (s) => `new Bumper(${s}).bump().bump();`),
  'helper class, extended': changing('n', (s) => `Counter.of(${s}).twice();`),
  'helper class, filled': changing('n', (s) => `new Counter({ n: 0 }).fill(${s}).bump();`),
  'helper constructor function': changing('n', (s) => `new Old(${s}).bump();`),
  'helper factory': changing('n', (s) => `bumper(${s}).bump();`),
  'helper closure': changing('n', (s) => `bumping(${s})();`),
  'helper object': changing('n', (s) => `boxed(${s}).bump();`),
  'helper that keeps': changing('n', (s, n) => `const ${n} = keeper(); ${n}.keep(${s}); ${n}.bump();`),
  'helper by call': changing('n', (s) => `bumpThis.call(${s});`),
  'helper by apply': changing('n', (s) => `bump.apply(null, [${s}]);`),
  'helper borrowed': changing('n', (s) => `[${s}].forEach(bump);`),
  'helper chosen': changing('n', (s) => `(req.query.twice ? bumpTwice : bump)(${s});`),
  'helper in a table': changing('n', (s) => `({ bump, bumpTwice })[req.query.name](${s});`),
  read: reading('n', (s) => `res.locals.seen = ${s}.n;`),
  'read of a list': reading('list', (s) => `res.locals.seen = ${s}.list.length;`),
  'read by destructuring': reading('n', (s, n) => `const { n: ${n} } = ${s}; res.locals.seen = ${n};`),
  'read as text': reading('n', (s) => `res.locals.seen = \`\${${s}.n}\`;`),
  'read by JSON': reading('all', (s) => `res.locals.seen = JSON.stringify(${s});`),
  'read by spread': reading('all', (s) => `res.locals.seen = { ...${s} }.n;`),
  'read by keys': reading('names', (s) => `res.locals.seen = Object.keys(${s}).length;`),
  'read in a loop': reading('list', (s, n) => `for (const ${n} of ${s}.list) res.locals.seen = ${n};`),
  'read by a callback': reading('list', (s) => `res.locals.seen = ${s}.list.filter(Boolean).length;`),
  'read by a helper': reading('all', (s) => `res.locals.seen = view(${s});`),
  'read by a helper with rest': reading('all', (s) => `res.locals.seen = viewAll(${s})[0];`),
  'read by in': reading('names', (s) => `res.locals.seen = 'more' in ${s};`),
  sent: reading('list', (s) => `res.write(JSON.stringify(${s}.list));`),
};

/** What a handler does besides: nothing that outlives the request, and nothing that anybody else changes. */
export const busy: { readonly [name: string]: string } = {
  nothing: '',
  'own counter': 'let own = 0; own++; const more = () => { own += 1; }; more();',
  'own list': 'const own = []; own.push(req.url); own.sort().map((it) => it.length);',
  'own map': "const own = new Map(); own.set('k', {}); own.get('k').n = 1;",
  'own class': 'class Own { n = 0; go() { this.n++; return this; } } new Own().go().go();',
  'own object, given to a helper':
    'const own = { n: 0, list: [] }; bump(own); bumpTwice(own); bumpDeep(own, 2); bumpThis.call(own); bump.apply(null, [own]);',
  'own object, given to a class':
    'const own = { n: 0 }; new Bumper(own).bump(); Counter.of(own).twice(); new Counter(own).fill(own).bump(); new Old(own).bump();',
  'own object, given to a factory':
    'const own = { n: 0 }; bumper(own).bump(); bumping(own)(); boxed(own).bump(); const kept = keeper(); kept.keep(own); kept.bump();',
  'own object, given to a callback': 'const own = { n: 0, list: [] }; [own].forEach(bump); view(own); viewAll(own);',
  'own closure': 'const make = () => { let n = 0; return () => ++n; }; const own = make(); own(); own();',
  'constant table': 'res.locals.word = words[req.query.name] ?? words.one; res.locals.words = Object.keys(words);',
  'constant list': 'res.locals.total = sizes.map((size) => size * 2).reduce((sum, size) => sum + size, 0);',
  'pure helper': 'res.locals.area = area({ width: 2, height: 3 });',
  'request data':
    'req.mark = Date.now(); res.locals.mark = req.mark; const { url, query } = req; res.locals.url = url + query.a;',
  'own recursion': 'const depth = (it) => (it > 0 ? 1 + depth(it - 1) : 0); depth(3);',
  'own loop':
    'let text = ""; for (let at = 0; at < 3; at++) { if (at === 1) continue; text += at; } res.locals.text = text;',
};

const constants = `
const words = { one: 'eins', two: 'zwei' };
const sizes = [1, 2, 3];
function area({ width, height }) { return width * height; }`;

export function writeStateProgram(plan: StatePlan): StateProgram {
  const modules: Record<string, string> = {};
  const top: string[] = ["const express = require('express');", "const fs = require('fs');", 'const app = express();'];
  top.push(helpers, constants);
  const reached = plan.states.map((chain, state) => writeState(chain, state, top, modules));
  const handlers = plan.handlers.map((handler, index) => writeHandler(handler, index, reached, top));
  top.push('app.listen(3000);', '');
  return { files: { ...modules, 'app.js': top.join('\n') }, entry: 'app.js', handlers };
}

function writeState(chain: readonly string[], state: number, top: string[], modules: Record<string, string>): string {
  let reach = `state${state}`;
  top.push(`const ${reach} = { n: 0, list: [] };`);
  for (const [index, name] of chain.entries()) {
    const { declare, reach: reachBy, module } = carriers[name]!;
    const holder = `held${state}_${index}`;
    top.push(declare(holder, reach));
    if (module !== undefined) modules[`${holder}.js`] = module;
    reach = reachBy(holder);
  }
  return reach;
}

function writeHandler(plan: HandlerPlan, index: number, reached: readonly string[], top: string[]): HandlerTruth {
  const id = `handler${index}`;
  const touches = plan.touches.map((touch, at) => writeTouch(touch, reached[touch.state]!, `t${at}`));
  const body = [busy[plan.busy] ?? '', ...touches, 'res.end();'].filter((line) => line !== '').join('\n  ');
  const text = `function ${id}(req, res) {\n  ${body}\n}`;
  top.push(register(plan.registered, id, text));
  return { id, touches: plan.touches.map(truthOf) };
}

function register(how: HandlerPlan['registered'], id: string, text: string): string {
  switch (how) {
    case 'in place':
      return `app.get('/${id}', ${text});`;
    case 'by name':
      return `app.get('/${id}', ${id});\n${text}`;
    case 'behind another':
      return `app.get('/${id}', (req, res, next) => next(), ${text});`;
    case 'through a helper':
      return `${text.replace(`function ${id}`, `function ${id}Does`)}\napp.get('/${id}', function ${id}(req, res) { ${id}Does(req, res); });`;
    case 'as a constant':
      return `const ${id} = ${text.replace(`function ${id}`, 'async function ')};\napp.get('/${id}', [${id}]);`;
  }
}

function writeTouch({ wrappers: chain, leaf }: TouchPlan, state: string, name: string): string {
  const write = (depth: number, reach: string): string => {
    const next = chain[depth];
    if (next === undefined) return leaves[leaf]!.write(reach, `${name}leaf`);
    const wrap = (outer: string): string =>
      wrappers[next]!.write(outer, (inner) => write(depth + 1, inner), `${name}_${depth}`);
    // The next wrapper may be a function with a `this` and `arguments` of its own.
    return isBound(reach) ? `const ${name}${depth} = ${reach}; ${wrap(`${name}${depth}`)}` : wrap(reach);
  };
  return `{ ${write(0, state)} }`;
}

function isBound(reach: string): boolean {
  return /^(this|arguments)\b/.test(reach);
}

function truthOf({ state, leaf, wrappers: chain }: TouchPlan): Touch {
  const { part, changes } = leaves[leaf]!;
  return { state, part, changes, later: chain.some((name) => wrappers[name]!.later) };
}

// Plans -------------------------------------------------------------------------------------------------------------

export interface Vocabulary {
  readonly carriers: readonly string[];
  readonly wrappers: readonly string[];
  readonly leaves: readonly string[];
  readonly busy: readonly string[];
}

/** Everything there is, but for what is named. */
export function vocabularyWithout(names: ReadonlySet<string>): Vocabulary {
  const all = (table: object): string[] => Object.keys(table).filter((name) => !names.has(name));
  return { carriers: all(carriers), wrappers: all(wrappers), leaves: all(leaves), busy: all(busy) };
}

export function statePlans(vocabulary: Vocabulary): fc.Arbitrary<StatePlan> {
  const chain = fc
    .array(fc.constantFrom(...vocabulary.carriers), { maxLength: 3 })
    .map((names) => names.filter((name, index) => !carriers[name]!.last || index === names.length - 1));
  return fc.array(chain, { minLength: 1, maxLength: 3 }).chain((states) => {
    const touch = fc.record({
      state: fc.nat({ max: states.length - 1 }),
      wrappers: fc.array(fc.constantFrom(...vocabulary.wrappers), { maxLength: 2 }),
      leaf: fc.constantFrom(...vocabulary.leaves),
    });
    const handler = fc.record({
      touches: fc.array(touch, { maxLength: 2 }),
      registered: fc.constantFrom(
        'in place' as const,
        'by name',
        'behind another',
        'as a constant',
        'through a helper',
      ),
      busy: fc.constantFrom(...vocabulary.busy),
    });
    return fc.array(handler, { minLength: 2, maxLength: 5 }).map((handlers) => ({ states, handlers }));
  });
}
