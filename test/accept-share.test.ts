import test from 'ava';
import { Share } from '../runtime/accept/share.js';

// On a clock of the test's own.

function* seconds(share: Share, far: number, there: number, from = 0): Generator<string> {
  for (let second = from; ; second++)
    yield share.look(second * 1_000 + 1_000, far * (second + 1), there * (second + 1));
}

function take(count: number, looks: Generator<string>): readonly string[] {
  return Array.from({ length: count }, () => String(looks.next().value));
}

test('where replicas answer most, they go on', (t) => {
  t.deepEqual([...new Set(take(100, seconds(new Share(), 300, 700)))], ['pays']);
});

test('where most is for the main thread, it takes connections alone, and tries again later each time', (t) => {
  const looks = take(100, seconds(new Share(), 700, 300));
  const tries = looks.flatMap((look, second) =>
    look === 'pays' || looks[second - 1] === 'pays' || second === 0 ? [second] : [],
  );
  t.is(looks[0], 'holds');
  t.true(looks.filter((look) => look === 'holds').length > 95);
  t.true(tries.length <= 5);
});

test('a few requests say nothing', (t) => {
  t.deepEqual([...new Set(take(50, seconds(new Share(), 3, 0)))], ['pays']);
});
