import test from 'ava';
import { LongRuns } from '../runtime/accept/long-runs.js';

test('now and then a long one is nothing', (t) => {
  const runs = new LongRuns();
  for (let second = 1; second < 100; second++) t.is(runs.look(second * 1_000, second * 2), 'few');
});

test('many hand all over to the main thread, and for longer each time', (t) => {
  const runs = new LongRuns();
  t.is(runs.look(1_000, 0), 'few');
  t.is(runs.look(1_100, 4), 'holds');
  t.is(runs.look(11_000, 9), 'holds');
  t.is(runs.look(11_200, 9), 'few', 'what ended meanwhile does not count');
  t.is(runs.look(11_300, 13), 'holds');
  t.is(runs.look(31_200, 13), 'holds');
  t.is(runs.look(31_400, 13), 'few');
});
