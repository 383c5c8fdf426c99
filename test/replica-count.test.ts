import test from 'ava';
import { ReplicaCount } from '../runtime/replica-count.js';

/** Replicas that come and go as they are told, on a clock of the test's own. */
class Bench {
  time = 0;
  /** When each that is being started will be ready. */
  starting: number[] = [];
  ready = 1;
  retired = 0;
  /** What keeps home busy may be done by others. */
  relieves = true;
  readonly #count = new ReplicaCount();

  constructor(readonly most: number) {}

  /** `work` is for how many replicas there would be enough to do; home has as much as it can where `isHomeFull`. */
  pass(ms: number, work: number, isHomeFull = false): void {
    for (const until = this.time + ms; this.time < until; this.time += 100) {
      const up = this.starting.filter((at) => at <= this.time).length;
      this.starting = this.starting.filter((at) => at > this.time);
      this.ready += up;
      const each = Math.min(1, work / this.ready);
      const decision = this.#count.look(this.time, {
        most: this.most,
        relieves: this.relieves,
        home: isHomeFull ? 1 : 0.1,
        replicas: Array.from({ length: this.ready }, () => each),
        starting: this.starting.length,
        waiting: work > this.ready ? 10 : 0,
      });
      if (decision.kind === 'start') {
        for (let n = 0; n < decision.count; n++) this.starting.push(this.time + 400);
      }
      if (decision.kind === 'retire') {
        this.ready--;
        this.retired++;
      }
    }
  }
}

test('an idle app keeps one spare, however long', (t) => {
  const bench = new Bench(8);
  bench.pass(3_600_000, 0);
  t.is(bench.ready, 1);
  t.is(bench.retired, 0);
});

test('a crowd has all of them within a second', (t) => {
  const bench = new Bench(8);
  bench.pass(900, 20, true);
  t.is(bench.ready, 8);
  t.is(bench.starting.length, 0);
});

test('where home has no time and replicas neither, all come, though nothing waits', (t) => {
  const bench = new Bench(4);
  bench.pass(900, 1, true);
  t.is(bench.ready, 4);
});

test('where home is busy with what only home can do, one is enough for what it sends away', (t) => {
  const bench = new Bench(4);
  bench.relieves = false;
  bench.pass(60_000, 0.3, true);
  t.is(bench.ready, 1);
  bench.pass(1_000, 8, true);
  t.is(bench.ready, 4, 'work that waits is theirs');
});

test('as many as are of use', (t) => {
  const bench = new Bench(8);
  bench.pass(60_000, 0.5);
  t.is(bench.ready, 1);
  bench.pass(60_000, 0.9);
  t.is(bench.ready, 2);
  t.is(bench.retired, 0);
});

test('when the crowd has gone they end one by one, but for a spare', (t) => {
  const bench = new Bench(8);
  bench.pass(10_000, 20, true);
  bench.pass(25_000, 0);
  t.is(bench.ready, 8, 'a lull is no end');
  bench.pass(120_000, 0);
  t.is(bench.ready, 1);
  t.is(bench.retired, 7);
});

test('waves do not make them come and go', (t) => {
  const bench = new Bench(4);
  for (let wave = 0; wave < 50; wave++) {
    bench.pass(10_000, 8, true);
    bench.pass(20_000, 0);
  }
  t.is(bench.retired, 0);
});

test('never more than allowed, never fewer than one', (t) => {
  const bench = new Bench(3);
  let seed = 1;
  for (let step = 0; step < 3_000; step++) {
    seed = (seed * 48271) % 2147483647;
    bench.pass(100 * (1 + (seed % 80)), (seed % 50) / 8, seed % 3 === 0);
    t.true(bench.ready >= 1 && bench.ready + bench.starting.length <= 3);
  }
});
