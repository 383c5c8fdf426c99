import test from 'ava';
import type { Shape } from '../analyzer/models.js';
import { type Token, TokenTable } from '../analyzer/tokens.js';

test('tokens are read as they were made, however many there are', (t) => {
  const table = new TokenTable();
  const expected: Token[] = [{ kind: 'unknown' }];
  for (let n = 1; n < 10_000; n++) {
    const token: Token =
      n % 3 === 0
        ? { kind: 'function', fn: n }
        : { kind: 'object', type: n % 2 === 0 ? 'Array' : 'Object', fn: n, start: n * 70, proto: n % 5 };
    t.is(table.make(token), n);
    expected.push(token);
  }
  t.is(table.length, expected.length);
  for (const id of [0, 1, 2, 3, 2049, 2050, 1, 9999, 4097, 2049]) t.deepEqual(table.get(id), expected[id]);
});

test('there is one token for each shape and site, and a list of those of a shape', (t) => {
  const table = new TokenTable();
  const [one, two] = [{ path: 'one' } as Shape, { path: 'two' } as Shape];
  const ids = [table.external(one, 5), table.external(two, 5), table.external(one, -1), table.external(one, 5)];
  t.deepEqual(ids, [1, 2, 3, 1]);
  t.deepEqual(table.allOf(one), [1, 3]);
  t.deepEqual(table.allOf(two), [2]);
  t.deepEqual(table.allOf({ path: 'three' } as Shape), []);
  t.deepEqual(table.get(3), { kind: 'external', shape: one, site: -1 });
});
