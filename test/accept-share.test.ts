import test from 'ava';
import { type Counted, Share } from '../runtime/accept/share.js';

// On a clock of the test's own.

const NONE: Counted = { requests: 0, homes: 0 };

function* seconds(share: Share, here: Counted, far: number, there: number): Generator<string> {
  for (let second = 1; ; second++)
    yield share.look(second * 1_000, here, { requests: (far + there) * second, homes: far * second });
}

function take(count: number, looks: Generator<string>): readonly string[] {
  return Array.from({ length: count }, () => String(looks.next().value));
}

test('where nothing is for home alone, nothing is looked at first', (t) => {
  t.is(new Share(false).look(0, NONE, NONE), 'pays');
});

test('as long as little has come to home, it looks', (t) => {
  const share = new Share(true);
  t.is(share.look(0, NONE, NONE), 'looks');
  t.is(share.look(100, { requests: 20, homes: 20 }, NONE), 'looks');
  t.is(share.look(200, { requests: 100, homes: 10 }, NONE), 'pays');
});

test('where replicas answer most, they go on', (t) => {
  const looks = take(100, seconds(new Share(true), { requests: 300, homes: 90 }, 300, 700));
  t.deepEqual([...new Set(looks)], ['pays']);
});

test('where most that comes to home is for it alone, nobody else begins, and it looks again later each time', (t) => {
  const share = new Share(true);
  const looks = Array.from({ length: 1_000 }, (_, tenth) =>
    share.look(tenth * 100, { requests: 300, homes: 200 }, NONE),
  );
  t.deepEqual([...new Set(looks)], ['holds']);
  t.is(share.look(300_000, { requests: 300, homes: 100 }, NONE), 'pays');
});

test('where most of what comes by replicas is for home, it takes connections alone, and looks at itself before it tries again', (t) => {
  const looks = take(10, seconds(new Share(false), NONE, 700, 300));
  t.deepEqual(looks, ['holds', ...looks.slice(1).map(() => 'holds')]);
  const share = new Share(false);
  const again = take(40, seconds(share, NONE, 700, 300));
  t.is(again.at(-1), 'looks');
  t.is(share.look(41_000, { requests: 100, homes: 10 }, NONE), 'pays');
});

test('what came before it began is no reason to end it', (t) => {
  const share = new Share(true);
  const before = { requests: 5_000, homes: 5_000 };
  t.is(share.look(10_000, { requests: 100, homes: 10 }, before), 'pays');
  t.is(share.look(11_100, NONE, { requests: 6_000, homes: 5_100 }), 'pays');
});

test('a few requests say nothing', (t) => {
  t.deepEqual([...new Set(take(50, seconds(new Share(false), NONE, 3, 0)))], ['pays']);
});
