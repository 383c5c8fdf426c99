import test from 'ava';
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
  sets.share();
  t.deepEqual(
    expected.map((_, id) => sets.get(id)),
    listed,
  );
  t.is(sets.get(0), sets.get(20), 'those that hold the same are one array');
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
