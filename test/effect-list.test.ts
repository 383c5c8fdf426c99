import test from 'ava';
import { EffectList } from '../analyzer/effects/effect-list.js';

type Row = readonly [kind: number, root: number, op: number, at: number, value: number];

/** As much of a function as takes several chunks for all of them. */
function rowsOf(fn: number): Row[] {
  return Array.from({ length: (fn * 7) % 60 }, (_, index) => {
    const op = fn * 1000 + index;
    return [index % 9, index % 5 === 0 ? -1 : fn * 31 + index, op, index % 4 === 0 ? op - 3 : op, (index % 3) * fn];
  });
}

test('effects are read as they were listed last, whatever their rows leave out', (t) => {
  const count = 600;
  const list = new EffectList(count);
  const write = (fn: number, rows: readonly Row[]): void => {
    list.begin(fn);
    for (const row of rows) list.push(...row);
    list.end(fn);
  };
  // Callees come first; functions that call each other in a circle are listed again; of some nothing is ever listed.
  for (let fn = count - 1; fn >= 0; fn--) {
    if (fn % 10 === 3) continue;
    if (fn % 4 === 1) write(fn, [[2, 5, 7, 7, 0], ...rowsOf(fn)]);
    write(fn, rowsOf(fn));
  }
  list.close();
  for (let fn = 0; fn < count; fn++) {
    const found: Row[] = [];
    list.each(fn, (...row) => found.push(row));
    const expected = fn % 10 === 3 ? [] : rowsOf(fn);
    if (list.count(fn) !== expected.length) t.fail(`how many ${fn} has`);
    t.deepEqual(found, expected);
  }
});
