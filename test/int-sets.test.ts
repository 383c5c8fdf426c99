import test from 'ava';
import { IntList, inChunk } from '../analyzer/int-list.js';
import { Ranks } from '../analyzer/ranks.js';
import { IntSets } from '../analyzer/sets.js';

/** Numbers that come again and again, the same each time. */
function* numbers(below: number): Generator<number, never> {
  for (let state = 1; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state % below;
  }
}

test('sets have what was added, in its order, while they grow and when they are shared', (t) => {
  const sets = new IntSets();
  const expected = Array.from({ length: 60 }, () => new Set<number>());
  const next = numbers(1 << 30);
  const number = (): number => next.next().value;
  for (let step = 0; step < 15_000; step++) {
    // Some have nothing, some one, some tens, and some thousands.
    const id = number() % expected.length;
    const member = number() % ((id % 20) ** 3 + 1);
    const known = expected[id] as Set<number>;
    if (id % 20 === 7) continue;
    if (sets.add(id, member) === known.has(member)) t.fail(`${member} in ${id}`);
    known.add(member);
  }
  const listed = expected.map((_, id) => Array.from({ length: sets.size(id) }, (__, index) => sets.at(id, index)));
  t.deepEqual(
    listed,
    expected.map((each) => [...each]),
  );
  sets.close(19);
  t.deepEqual(
    expected.map((_, id) => sets.get(id)),
    listed,
  );
  const shared = sets.share();
  t.deepEqual(
    expected.map((_, id) => shared.get(id)),
    listed,
  );
  t.is(shared.numberOf(0), shared.numberOf(20), 'those that hold the same have one number');
  t.is(shared.numberOf(7), 0);
  t.deepEqual(
    expected.map((_, id) => shared.membersOf(shared.numberOf(id))),
    listed,
  );
  const later = shared.renamed((id) => 3 * id + 1);
  t.deepEqual(
    expected.flatMap((_, id) => [later.get(3 * id), later.get(3 * id + 1)]),
    listed.flatMap((members) => [[], members]),
  );
  const hasEven = shared.some((member) => member % 2 === 0);
  t.deepEqual(
    expected.map((_, id) => hasEven(id)),
    listed.map((members) => members.some((member) => member % 2 === 0)),
  );
});

test('the first member that another set does not have', (t) => {
  const sets = new IntSets();
  const evens = 1;
  // Nothing, one, a short list, one with a table that counts in bytes, and one that is too long for that.
  for (const [id, size] of [0, 1, 10, 200, 300].entries()) {
    const to = id + 2;
    for (let member = 0; member < size; member++) sets.add(to, member * 2);
  }
  for (let member = 0; member < 400; member++) sets.add(evens, member * 2);
  const first = (to: number, at: number): number => sets.firstMissing(evens, to, at);
  t.deepEqual(
    [2, 3, 4, 5, 6].map((to) => first(to, 0)),
    [0, 1, 10, 200, 300],
  );
  t.deepEqual(
    [2, 3, 4, 5, 6].map((to) => first(to, 250)),
    [250, 250, 250, 250, 300],
  );
  t.is(sets.firstMissing(5, evens, 0), 200, 'it has all of them');
});

test('lists keep what they are given across their chunks', (t) => {
  const list = new IntList(4);
  const count = 40_000;
  for (let value = 0; value < count; value++) list.push(value * 3);
  t.is(list.length, count);
  t.true([0, 4, 16_383, 16_384, 32_767, 32_768, count - 1].every((index) => list.get(index) === index * 3));
  list.set(16_384, -1);
  t.is(list.chunkOf(16_384)[16_384 & inChunk], -1);
  list.dropFirst(16_384);
  t.deepEqual([list.length, list.get(0), list.get(1)], [count - 16_384, -1, 16_385 * 3]);
  list.clear();
  t.is(list.push(7), 0);
  list.extend(20_000);
  t.deepEqual([list.length, list.get(0), list.get(19_999)], [20_000, 7, 0]);
});

test('ranks know what is in an ascending list, and where, also when its end is taken back', (t) => {
  const ranks = new Ranks();
  const listed: number[] = [];
  const next = numbers(7);
  const check = (): void => {
    const end = (listed.at(-1) ?? 0) + 70;
    const places = Array.from({ length: end }, (_, number) => ranks.of(number));
    t.deepEqual(
      places,
      Array.from({ length: end }, (_, number) => listed.indexOf(number)),
    );
    t.is(ranks.length, listed.length);
  };
  const grow = (from: number): void => {
    for (let number = from; listed.length < 400; number += 1 + next.next().value ** 2) {
      ranks.push(number);
      listed.push(number);
    }
    check();
  };
  grow(3);
  for (const end of [5000, 4097, 640, 96, 31, 0]) {
    ranks.restore(end);
    while (listed.length > 0 && (listed.at(-1) as number) >= end) listed.pop();
    check();
  }
  grow(0);
  t.throws(() => ranks.push(0));
});
