import test from 'ava';
import { Budget } from '../analyzer/budget.js';
import { type Place, ReachedFrom } from '../analyzer/effects/reached-from.js';

/** `steps`: of each place, by number, the places that one step leads to. Place n has function n. */
function reachedFrom(steps: readonly (readonly number[])[], work = 1_000_000) {
  const looks: number[] = [];
  const held = (id: number): Place => ({ kind: 'held', id });
  const reached = new ReachedFrom((place, found, visit) => {
    const id = place.kind === 'held' ? place.id : 0;
    looks.push(id);
    found.add(id);
    for (const next of steps[id] ?? []) visit(held(next));
  }, new Budget(work, false));
  return { looks, of: (id: number) => [...reached.of(held(id))].sort((a, b) => a - b) };
}

test('places on one circle reach the same, whichever is asked first', (t) => {
  // 1 and 2 hold each other; 3 leads into the circle, and the circle to 4.
  const steps = [[], [2], [1, 4], [2], []];
  for (const first of [1, 2, 3]) {
    const { of, looks } = reachedFrom(steps);
    of(first);
    t.deepEqual(of(1), [1, 2, 4]);
    t.deepEqual(of(2), [1, 2, 4]);
    t.deepEqual(of(3), [1, 2, 3, 4]);
    t.deepEqual(of(4), [4]);
    t.deepEqual(looks.sort(), [1, 2, 3, 4]);
  }
});

test('each place is looked at once, in however many ways it is come to', (t) => {
  // Two ways on from each of 60 places: 2^60 in all.
  const steps = Array.from({ length: 61 }, (_, at) => (at < 59 ? [at + 1, at + 2] : []));
  const { of, looks } = reachedFrom(steps);
  t.is(of(0).length, 61);
  t.is(looks.length, 61);
});

test('without a budget nothing more is looked at', (t) => {
  const steps = Array.from({ length: 1000 }, (_, at) => [at + 1]);
  const { of, looks } = reachedFrom(steps, 100);
  of(0);
  of(500);
  t.true(looks.length < 200);
});
