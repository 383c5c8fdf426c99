/** What the build makes of the compiler's modules does the same, on the same lines. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import test from 'ava';
import { makePlain } from '../build-plain.js';

const helpers = fileURLToPath(new URL('../syntax/iterate.js', import.meta.url));

const program = `
class Counter {
  #count = 0;
  static #made = 0;
  constructor() { Counter.#made += 1; }
  #add(by) { this.#count += by; return this; }
  get #double() { return this.#count * 2; }
  add(by) { return this.#add(by).#double; }
  static get made() { return Counter.#made; }
}
function* count(to, log) { for (let n = 0; n < to; n++) { log.push(n); yield n; } }

export function run() {
  const said = [];
  const say = (...words) => void said.push(words.join(' '));

  const growing = [1, 2, 3];
  for (const n of growing) { if (n < 3) growing.push(n + 10); say('list', n); }
  const shrinking = [1, 2, 3, 4];
  for (const n of shrinking) { shrinking.pop(); say('shorter', n); }
  for (const n of [, 5]) say('hole', n);
  for (const n of Int32Array.of(7, 8)) say('integers', n);
  for (const c of 'aß') say('text', c);
  const set = new Set([1]);
  for (const n of set) { if (n < 4) set.add(n + 1); say('set', n); }
  const map = new Map([['a', 1], ['b', 2]]);
  for (const [key, value] of map) { map.delete('b'); say('map', key, value); }
  for (const [, value] of Object.entries({ x: 1 })) say('entry', value);
  for (const { length } of ['one', 'three']) say('length', length);
  for (let [first, second = 'none'] of [[1], [1, 2]]) { first += 1; say('default', first, second); }

  outer: for (const a of [1, 2, 3])
    for (const b of new Set([1, 2, 3])) {
      if (b === 2) continue;
      if (a === 2) continue outer;
      if (a === 3) break outer;
      say('pair', a, b);
    }

  const made = [];
  for (const n of [1, 2]) made.push(() => n);
  say('closures', ...made.map((fn) => fn()));
  for (const n of [1]) { const n = 2; say('inner', n); }

  const log = [];
  for (const n of count(5, log)) if (n === 2) break;
  const [one, , three] = count(9, log);
  const [only] = new Set(['x', 'y']);
  const [none, nothing] = [];
  const [left, right] = [said.length, made.length];
  say('taken', one, three, only, none, nothing, left, right, log);

  const sum = new Counter().add(2) + new Counter().add(3);
  say('private', sum, Counter.made);
  const find = (list) => { for (const each of list) if (each > 1) return each; return null; };
  say('found', find([1, 2, 3]), find(new Set([5])), find([]));
  return said;
}

export const where = () => new Error('here').stack.split('\\n')[1].replace(/.*:(\\d+):\\d+\\)?$/, '$1');
`;

test('a module that is made plain does the same, on the same lines', async (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'fluxion-plain-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const plain = makePlain(program, pathToFileURL(helpers).href);
  const load = async (name: string, text: string): Promise<{ run(): string[]; where(): string }> => {
    writeFileSync(path.join(folder, name), text);
    return import(pathToFileURL(path.join(folder, name)).href);
  };
  const [before, after] = [await load('before.mjs', program), await load('after.mjs', plain)];
  t.deepEqual(after.run(), before.run());
  t.is(after.where(), before.where());
  t.notRegex(plain, /\bof \[|#count|const \[/);
  t.is(makePlain(plain, helpers), plain, 'once is enough');
});

test('what would not do the same is no module of the compiler', (t) => {
  const left = `function* steps() { try { yield 1; } finally { close(); } }`;
  t.throws(() => makePlain(left, helpers), { message: /left early/ });
  t.throws(() => makePlain(`let $name = 1;`, helpers), { message: /begin with \$/ });
  const heirs = `class A { #x = 1; } class B extends A { #x = 2; }`;
  t.throws(() => makePlain(heirs, helpers), { message: /#x/ });
});
