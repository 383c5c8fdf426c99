/**
 * Reads: a source of chance.
 * Gives: an Express app that serves, and what each of its routes does to its lists. Between a list and the handler that appends to
 *        it, or shows it, stand the same indirections as in generate-state-program.ts; beside these are handlers that keep nothing.
 *
 * Every list is only ever appended to, so what anybody was shown of it says when: `judge-history.ts`.
 */
import { carriers, wrappers } from './generate-state-program.js';
import type { Tree } from './temp-folder.js';

export type Chance = (below: number) => number;

/** What a request to the route does. */
export type RouteKind =
  | { readonly kind: 'appends'; readonly lists: readonly number[] }
  | { readonly kind: 'shows'; readonly list: number }
  | { readonly kind: 'computes' }
  | { readonly kind: 'echoes' }
  | { readonly kind: 'fails' };

export interface Route {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly does: RouteKind;
}

export interface RunningApp {
  readonly files: Tree;
  readonly routes: readonly Route[];
  readonly lists: number;
}

/** What `work` of the app gives. */
export function work(id: number): number {
  let sum = id;
  for (let at = 0; at < 500 + (id % 7) * 400; at++) sum = (sum * 31 + at) % 1_000_003;
  return sum;
}

export function makeChance(seed: number): Chance {
  let state = (seed * 48_271 + 11) % 2_147_483_647;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

const BEGIN = `
const express = require('express');
const fs = require('fs');
const app = express();
app.use(express.json());
function work(id) {
  let sum = id;
  for (let at = 0; at < 500 + (id % 7) * 400; at++) sum = (sum * 31 + at) % 1000003;
  return sum;
}
const pause = () => new Promise((resolve) => setImmediate(resolve));
const wrapped = (fn) => (req, res, next) => Promise.resolve(fn(req, res, next)).catch(next);
`;
const END = `
app.use((error, req, res, next) => { res.status(500).json({ failed: error.message }); });
const server = app.listen(0, () => console.log('port ' + server.address().port));
`;

/** They run the body more than once, never, or behind the reply. */
const others = new Set(['response listener', 'request listener', 'sort comparator']);
const usedWrappers = Object.keys(wrappers).filter((name) => !others.has(name));

export function generateRunningApp(chance: Chance): RunningApp {
  const pick = <T>(list: readonly T[]): T => list[chance(list.length)] as T;
  const modules: Record<string, string> = {};
  const top: string[] = [];
  const reached: string[] = [];
  const lists = 1 + chance(3);
  for (let list = 0; list < lists; list++) reached.push(writeList(list, top, modules, chance, pick));

  const routes: Route[] = [];
  const count = 5 + chance(5);
  for (let index = 0; index < count; index++) {
    const name = `route${index}`;
    const does = index === 0 ? { kind: 'computes' as const } : pickKind(index, lists, chance);
    routes.push({ name, method: does.kind === 'echoes' ? 'POST' : 'GET', does });
    top.push(...writeRoute(name, does, reached, chance, pick));
  }
  // Whatever was appended is shown in the end.
  for (let list = 0; list < lists; list++) {
    routes.push({ name: `list${list}`, method: 'GET', does: { kind: 'shows', list } });
    top.push(`app.get('/list${list}/:id', (req, res) => { res.json({ seen: state${list}.list }); });`);
  }
  return { files: { ...modules, 'app.js': BEGIN + top.join('\n') + END }, routes, lists };
}

function pickKind(index: number, lists: number, chance: Chance): RouteKind {
  const list = chance(lists);
  switch (index % 2 === 1 ? chance(4) : chance(7)) {
    case 0:
    case 1:
      return { kind: 'appends', lists: [list] };
    case 2:
      return { kind: 'appends', lists: [...new Set([list, chance(lists)])] };
    case 3:
      return { kind: 'shows', list };
    case 4:
      return { kind: 'computes' };
    case 5:
      return { kind: 'echoes' };
    default:
      return { kind: 'fails' };
  }
}

function writeList(
  list: number,
  top: string[],
  modules: Record<string, string>,
  chance: Chance,
  pick: <T>(list: readonly T[]) => T,
): string {
  let reach = `state${list}`;
  top.push(`const ${reach} = { n: 0, list: [] };`);
  for (let depth = chance(4), index = 0; index < depth; index++) {
    const { declare, reach: reachBy, module, last } = carriers[pick(Object.keys(carriers))]!;
    const holder = `held${list}_${index}`;
    top.push(declare(holder, reach));
    if (module !== undefined) modules[`${holder}.js`] = module;
    reach = reachBy(holder);
    if (last) break;
  }
  return reach;
}

function writeRoute(
  name: string,
  does: RouteKind,
  reached: readonly string[],
  chance: Chance,
  pick: <T>(list: readonly T[]) => T,
): readonly string[] {
  const body = writeBody(does, reached, chance, pick);
  const before = pick(['', 'work(id);', 'await pause();', 'work(id); await pause();', 'await pause(); work(id);']);
  const isAsync = before.includes('await');
  const text = `${isAsync ? 'async ' : ''}(req, res) => { const id = Number(req.params.id); ${before} ${body} }`;
  const handler = isAsync ? `wrapped(${text})` : text;
  const method = does.kind === 'echoes' ? 'post' : 'get';
  switch (chance(5)) {
    case 0:
      return [`const ${name} = ${handler};`, `app.${method}('/${name}/:id', ${name});`];
    case 1: {
      const marked = `(req, res, next) => { res.set('X-Mark', String(work(Number(req.params.id)))); next(); }`;
      return [`app.${method}('/${name}/:id', ${marked}, ${handler});`];
    }
    case 2:
      return [
        `const in_${name} = express.Router();`,
        `in_${name}.${method}('/:id', ${handler});`,
        `app.use('/${name}', in_${name});`,
      ];
    case 3:
      return [`app.route('/${name}/:id').${method}([${handler}]);`];
    default:
      return [`app.${method}('/${name}/:id', ${handler});`];
  }
}

function writeBody(
  does: RouteKind,
  reached: readonly string[],
  chance: Chance,
  pick: <T>(list: readonly T[]) => T,
): string {
  switch (does.kind) {
    case 'computes':
      return 'res.json({ sum: work(id) });';
    case 'echoes':
      return 'res.status(201).json({ got: req.body, sum: work(id) });';
    case 'fails':
      return "throw new Error('as asked by ' + id);";
    case 'shows':
      return wrap(reached[does.list]!, (state) => `res.json({ seen: ${state}.list });`, chance, pick);
    case 'appends': {
      const [first, second] = does.lists;
      const also = second === undefined ? '' : ` at.push(${reached[second]!}.list.push(id));`;
      const append = (state: string): string => `at.push(${state}.list.push(id));${also} res.json({ at });`;
      return `const at = []; ${wrap(reached[first!]!, append, chance, pick)}`;
    }
  }
}

function wrap(
  reach: string,
  body: (state: string) => string,
  chance: Chance,
  pick: <T>(list: readonly T[]) => T,
): string {
  const chain = Array.from({ length: chance(3) }, () => pick(usedWrappers));
  const write = (depth: number, state: string): string => {
    const name = chain[depth];
    if (name === undefined) return body(state);
    const outer = /^(this|arguments)\b/.test(state) ? `outer${depth}` : state;
    const inner = wrappers[name]!.write(outer, (within) => write(depth + 1, within), `it${depth}`);
    return outer === state ? inner : `const ${outer} = ${state}; ${inner}`;
  };
  return `{ ${write(0, reach)} }`;
}
