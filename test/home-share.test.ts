import test from 'ava';
import { HomeShare, type Sides } from '../runtime/home-share.js';

interface Second {
  /** How busy they are. */
  readonly home: number;
  readonly replicas: readonly number[];
  /** Requests in each tenth of a second that come to work that may leave; and others. */
  readonly asked?: number;
  readonly others?: number;
}

/** Home on a clock of the test's own, with so many replicas of use beside it. */
function besides(count: number): {
  readonly share: HomeShare;
  readonly decided: string[];
  /** Of the last tenth of a second, how many runs home took. */
  pass(looks: number, second: Second): number;
} {
  const decided: string[] = [];
  let requests = 0;
  let sides: Sides = { here: 0, away: 0 };
  const share = new HomeShare(
    (what) => void decided.push(what),
    () => requests,
    () => sides,
    count,
  );
  /** All that is asked for in a tenth of a second is under way until the end of it. */
  const pass = (looks: number, { home, replicas, asked = 40, others = 0 }: Second): number => {
    let taken = 0;
    for (let look = 0; look < looks; look++) {
      taken = 0;
      for (let at = 0; at < asked; at++) {
        requests++;
        sides = { here: taken, away: at - taken };
        // A router asks before it calls a handler, and what is called asks again.
        if (share.takes(false) && share.takes(false)) taken++;
      }
      requests += others;
      share.look(home, replicas);
    }
    return taken;
  };
  return { share, decided, pass };
}

const FULL = [0.97, 0.98];

test('where replicas have no time and home has, home takes more and more, and fewer replicas are used', (t) => {
  const { share, pass, decided } = besides(1);
  t.is(pass(3, { home: 0.1, replicas: FULL }), 0, 'three looks decide');
  const few = pass(2, { home: 0.5, replicas: [0.99, 0] });
  t.true(few > 0 && few < 10, String(few));
  t.true(pass(5, { home: 0.5, replicas: [0.99, 0] }) > few);
  t.is(share.mostFor(2), 1);
  t.is(share.mostFor(5), Number.POSITIVE_INFINITY, 'what computes for long is for all of them');
  t.deepEqual(decided, ['the main thread takes some of what may leave']);
});

test('it takes no more when it is as busy, and less when replicas have to wait for it', (t) => {
  const { pass } = besides(1);
  pass(8, { home: 0.3, replicas: FULL });
  const some = pass(1, { home: 0.95, replicas: [0.99, 0] });
  t.is(pass(20, { home: 0.95, replicas: [0.99, 0] }), some);
  t.true(pass(4, { home: 0.99, replicas: [0.8, 0] }) < some);
  t.true(pass(30, { home: 0.99, replicas: [0.8, 0] }) > 0);
  t.true(pass(3, { home: 0.99, replicas: [0.5, 0] }) > 0, 'they wait for it more than they compute');
});

test('the next burst begins with what the last one ended with, unless that ended for others', (t) => {
  const { share, pass } = besides(1);
  pass(20, { home: 0.3, replicas: FULL });
  const some = pass(1, { home: 0.9, replicas: [0.99, 0] });
  pass(300, { home: 0, replicas: [0, 0], asked: 0 });
  pass(10, { home: 0.01, replicas: [0, 0], asked: 0, others: 1 });
  t.false(share.takes(false));
  pass(1, { home: 0.1, replicas: FULL });
  const again = pass(1, { home: 0.9, replicas: [0.99, 0] });
  t.true(again > some / 2 && again <= some, `${again} of ${some}`);
  pass(1, { home: 0.9, replicas: [0.99, 0], others: 5 });
  pass(1, { home: 0.1, replicas: FULL });
  t.is(pass(1, { home: 0.1, replicas: FULL }), 0, 'three looks decide again');
});

test('where replicas have time it takes none', (t) => {
  const { share, pass, decided } = besides(1);
  t.is(pass(20, { home: 0.1, replicas: [0.5, 0.5] }), 0);
  t.is(pass(20, { home: 0.1, replicas: [0.97] }) > 0, true, 'one is all that would be used');
  pass(1, { home: 0.1, replicas: [0.4] });
  t.is(pass(1, { home: 0.1, replicas: [0.4] }), 0);
  t.is(share.mostFor(2), Number.POSITIVE_INFINITY);
  t.is(decided.at(-1), 'the main thread takes none of what may leave');
});

test('with more cores all but one of them have to be busy', (t) => {
  t.is(besides(3).pass(20, { home: 0.1, replicas: [0.99, 0.99] }), 0, 'another one is to come');
  t.true(besides(3).pass(20, { home: 0.1, replicas: [0.99, 0.99, 0.98, 0.2] }) > 0);
});

test('what computes for long is asked for like the rest, and not taken', (t) => {
  const { share, pass } = besides(1);
  pass(20, { home: 0.3, replicas: FULL });
  for (let at = 0; at < 100; at++) t.false(share.takes(true));
  t.true(pass(1, { home: 0.3, replicas: FULL }) > 0);
});

test('who asks for something else does not wait for it', (t) => {
  const { pass } = besides(1);
  t.is(pass(20, { home: 0.1, replicas: FULL, others: 2 }), 0);
  t.true(pass(8, { home: 0.1, replicas: FULL }) > 0);
  pass(1, { home: 0.5, replicas: FULL, others: 2 });
  t.is(pass(1, { home: 0.5, replicas: FULL }), 0, 'at once');
});

test('home that is busy with something that no request has asked for begins with none, nor where no request is seen', (t) => {
  t.is(besides(1).pass(20, { home: 0.6, replicas: FULL }), 0);
  const { share, decided } = besides(1);
  for (let look = 0; look < 20; look++) {
    t.false(share.takes(false));
    share.look(0.1, FULL);
  }
  t.deepEqual(decided, []);
});

test('while home may take its part no replica is started for that, but not for ever', (t) => {
  const { share, pass } = besides(1);
  t.is(share.enough, Number.POSITIVE_INFINITY, 'nothing was asked yet');
  pass(2, { home: 0.3, replicas: FULL });
  t.is(share.enough, 1);
  pass(1, { home: 0.3, replicas: FULL });
  t.true(share.isTaking);
  t.is(share.enough, 1);
  const busy = besides(1);
  busy.pass(5, { home: 0.9, replicas: FULL });
  t.is(busy.share.enough, 1, 'it may still have to do with what came before');
  busy.pass(10, { home: 0.9, replicas: FULL });
  t.is(busy.share.enough, Number.POSITIVE_INFINITY, 'it has no time');
  const others = besides(1);
  others.pass(2, { home: 0.3, replicas: FULL, others: 5 });
  t.is(others.share.enough, Number.POSITIVE_INFINITY, 'it has others to answer');
});

test('neither side runs dry while work waits for the other', (t) => {
  const decided: string[] = [];
  let sides: Sides = { here: 0, away: 20 };
  let requests = 0;
  const share = new HomeShare(
    (what) => void decided.push(what),
    () => requests,
    () => sides,
    1,
  );
  for (let look = 0; look < 10; look++) {
    requests++;
    share.takes(false);
    share.look(0.3, FULL);
  }
  t.true(share.takes(false));
  sides = { here: 20, away: 0 };
  t.false(share.takes(false));
});
