import test from 'ava';
import { LongCount, LongRuns } from '../runtime/accept/long-runs.js';

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

/** Requests of `ms`, of which the processor computes `computed`. */
function counter(): { readonly long: LongCount; run(times: number, ms: number, computed?: number): number } {
  let [now, cpu] = [0, 0];
  const long = new LongCount(
    () => now,
    () => cpu,
  );
  const run = (times: number, ms: number, computed = ms): number => {
    const before = long.count;
    for (let n = 0; n < times; n++) {
      long.begins();
      now += ms;
      cpu += computed;
      long.ends();
    }
    return long.count - before;
  };
  return { long, run };
}

test('a replica counts what it computed for long, once it is warm', (t) => {
  const { run } = counter();
  t.is(run(100, 15), 0, 'its code is new');
  run(2_000, 0.5);
  t.is(run(10, 15), 9, 'the first makes it look');
  t.is(run(1_000, 0.5), 0);
});

test('waiting for the processor is not computing', (t) => {
  const { run } = counter();
  run(10_000, 1);
  t.is(run(500, 9, 0.2), 0);
});
