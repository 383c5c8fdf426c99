import test from 'ava';
import { Capacity } from '../runtime/capacity.js';

/** Home on a clock of the test's own. */
function at(cores: number): {
  readonly capacity: Capacity;
  readonly decided: string[];
  pass(ms: number, busy: number): number;
} {
  const decided: string[] = [];
  let now = 0;
  let share = 0;
  const capacity = new Capacity((what, why) => void decided.push(`${what}: ${why}`), cores, {
    now: () => now,
    busy: () => share,
  });
  const pass = (ms: number, busy: number): number => {
    share = busy;
    for (const until = now + ms; now < until; now += 50) capacity.mostFor(15);
    return capacity.mostFor(15);
  };
  return { capacity, decided, pass };
}

test('while home has time, all compute', (t) => {
  const { pass } = at(2);
  t.is(pass(10_000, 0.05), Number.POSITIVE_INFINITY);
  t.is(pass(10_000, 0.7), Number.POSITIVE_INFINITY);
});

test('what home needs is left to it, as long as it does', (t) => {
  const { pass, capacity, decided } = at(2);
  t.is(pass(500, 0.95), 1);
  t.is(capacity.mostFor(0.4), Number.POSITIVE_INFINITY, 'what is short may go anywhere');
  t.is(pass(10_000, 0.6), 1, 'it has more to do than half of the time');
  t.is(pass(1_000, 0.2), Number.POSITIVE_INFINITY);
  t.deepEqual(decided, [
    'long work goes to 1 of the replicas at a time: the main thread is busy for 95 % of its time',
    'long work goes to all of the replicas at a time: the main thread is busy for 20 % of its time',
  ]);
});

test('there is one always, and with more cores all but one', (t) => {
  t.is(at(1).pass(1_000, 1), 1);
  t.is(at(8).pass(1_000, 1), 7);
});

test('a burst is none', (t) => {
  const { pass } = at(4);
  t.is(pass(150, 1), Number.POSITIVE_INFINITY);
  t.is(pass(10_000, 0.1), Number.POSITIVE_INFINITY);
});
