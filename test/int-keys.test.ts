import test from 'ava';
import { IntKeys } from '../analyzer/int-keys.js';

test('pairs have numbers in the order in which they came', (t) => {
  const keys = new IntKeys();
  const expected = new Map<string, number>();
  for (let state = 1, step = 0; step < 30_000; step++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const [one, two] = [(state >>> 8) % 300, ((state >>> 4) % 90) - 30];
    const known = expected.get(`${one} ${two}`);
    if (keys.find(one, two) !== (known ?? -1)) t.fail(`${one}, ${two} before it is added`);
    if (keys.isNew(one, two) !== (known === undefined)) t.fail(`${one}, ${two}`);
    if (known === undefined) expected.set(`${one} ${two}`, expected.size);
    if (keys.add(one, two) !== expected.get(`${one} ${two}`)) t.fail(`the number of ${one}, ${two}`);
  }
  t.is(keys.length, expected.size);
  t.is(keys.find(300, 0), -1);
});

test('single numbers have numbers as well', (t) => {
  const keys = new IntKeys(true);
  t.deepEqual(
    [7, -2, 2 ** 31 - 1, 7, -2].map((one) => keys.add(one)),
    [0, 1, 2, 0, 1],
  );
  t.is(keys.find(-2), 1);
  t.is(keys.find(0), -1);
});
