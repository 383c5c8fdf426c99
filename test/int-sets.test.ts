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
