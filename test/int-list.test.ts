/** Columns: what is read is what was written, in however few bytes a chunk is kept. */
import test from 'ava';
import { IntList, IntRange } from '../analyzer/int-list.js';

const CHUNK = 1 << 14;
const edges = [0, -1, 127, -128, 128, -129, 32_767, -32_768, 32_768, -32_769, 0x7fffffff, -0x80000000];

test('whatever a chunk is filled with is read again, also next to what takes more bytes', (t) => {
  for (const edge of edges) {
    const list = new IntList();
    for (let index = 0; index < 3 * CHUNK; index++) list.push(index === CHUNK + 7 ? edge : index % 100);
    for (let index = 0; index < 3 * CHUNK; index++)
      if (list.get(index) !== (index === CHUNK + 7 ? edge : index % 100)) return t.fail(`${edge}: entry ${index}`);
  }
  t.pass();
});

test('what is set later in a chunk of small entries need not be small', (t) => {
  for (const edge of edges) {
    const list = new IntList();
    for (let index = 0; index < 2 * CHUNK + 1; index++) list.push(index & 1);
    for (const index of [0, 5, CHUNK - 1, CHUNK, 2 * CHUNK]) list.set(index, edge);
    t.deepEqual(
      [0, 1, 5, 6, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK].map((index) => list.get(index)),
      [edge, 1, edge, 0, edge, edge, 1, edge],
    );
  }
});

test('entries that were taken back make room for larger ones', (t) => {
  const list = new IntList();
  for (let index = 0; index < CHUNK + 1; index++) list.push(1);
  list.length = CHUNK - 2;
  for (const entry of [1_000_000, -1_000_000, 3, 70_000]) list.push(entry);
  t.is(list.length, CHUNK + 2);
  t.deepEqual(
    [CHUNK - 3, CHUNK - 2, CHUNK - 1, CHUNK, CHUNK + 1].map((index) => list.get(index)),
    [1, 1_000_000, -1_000_000, 3, 70_000],
  );
});

test('a range is what was pushed since its first entry', (t) => {
  const list = new IntList(2);
  list.push(9);
  const first = list.push(4);
  list.push(5);
  const range = new IntRange(list, first);
  list.push(6);
  t.deepEqual([range.length, range.get(0), range.get(1)], [2, 4, 5]);
});
