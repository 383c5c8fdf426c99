import test, { type ExecutionContext } from 'ava';
import { isHeavy, type Movable, makeMovable, Scheduler } from '../runtime/scheduler.js';
import { fluxionOf, runsAway, ServedApp } from './support/served-app.js';

// --- decisions, on a clock of the test's own ---------------------------------------------------------------------------

class Bench {
  time = 0;
  active = 0;
  requests = 0;
  /** Time that other processes had. */
  lost = 0;
  /** What home takes to make a message. */
  sending = 0.02;
  readonly movable: Movable = makeMovable('handler');
  isEven = false;
  readonly scheduler: Scheduler;

  /** `isOwnCpu`: as on a Node that can tell what one thread has computed. */
  constructor(isOwnCpu = true) {
    this.scheduler = new Scheduler('auto', (isHeavy) => this.isEven && !isHeavy, {
      now: () => this.time,
      cpuMs: () => this.active,
      isOwnCpu,
      requests: () => this.requests,
      utilisation: (before) => {
        const active = this.active + this.lost;
        const idle = this.time - active;
        const since = { active: active - (before?.active ?? 0), idle: idle - (before?.idle ?? 0), utilization: 0 };
        return { ...since, utilization: since.active / Math.max(1, since.active + since.idle) };
      },
    });
  }

  /** One request: `ms` in the handler, `unseen` behind its waits or around it. Gives where it ran. */
  request(ms: number, unseen = 0.05, idle = 0, computed = ms): 'home' | 'away' {
    this.time += idle;
    this.requests++;
    if (this.scheduler.goesAway(this.movable)) {
      this.scheduler.leaves(this.movable);
      this.scheduler.sent(this.movable, this.sending, this.scheduler.weighs(this.movable) ? this.sending : null);
      this.scheduler.ranAway(this.movable, ms + Math.max(0, unseen - 0.05));
      this.time += 0.1 + this.sending;
      this.active += 0.1 + this.sending;
      return 'away';
    }
    this.scheduler.ranAtHome(this.movable, ms, this.scheduler.watches(this.movable) ? computed : null);
    this.time += ms + unseen;
    this.active += computed + unseen;
    this.lost += ms - computed;
    return 'home';
  }

  /** One that has to run at home: `ms` in its handlers. */
  bound(ms: number, unseen: number): void {
    this.requests++;
    this.scheduler.ranBound(ms);
    this.time += ms + unseen;
    this.active += ms + unseen;
  }

  many(count: number, ms: (n: number) => number, unseen = 0.05, idle = 0): readonly ('home' | 'away')[] {
    return Array.from({ length: count }, (_, n) => this.request(ms(n), unseen, idle));
  }
}

function away(places: readonly string[]): number {
  return places.filter((place) => place === 'away').length;
}

test('what is heavy leaves after the first run or two', (t) => {
  t.deepEqual(
    new Bench().many(4, () => 50),
    ['home', 'home', 'away', 'away'],
  );
  const short = new Bench();
  t.is(away(short.many(20, () => 3)), 0, 'code that is new may take as long');
  t.true(away(short.many(20, () => 3)) > 10);
});

test('what is light stays, however busy home is with it', (t) => {
  t.is(away(new Bench().many(20_000, () => 0.05)), 0);
});

test('a first run that is slow because code is loaded says nothing', (t) => {
  t.is(away(new Bench().many(1_000, (n) => (n === 0 ? 8 : 0.05))), 0);
});

test('one pause of the machine moves nothing', (t) => {
  t.is(away(new Bench().many(3_000, (n) => (n % 500 === 499 ? 12 : 0.05))), 0);
});

test('what is heavy now and then leaves', (t) => {
  const places = new Bench().many(400, (n) => (n % 5 === 4 ? 15 : 0.1));
  t.true(away(places) > 350);
});

test('work behind a wait is found by a trial', (t) => {
  const bench = new Bench();
  const places = bench.many(1_000, () => 0.02, 5);
  t.true(away(places) > 850);
  t.is(bench.movable.mode, 'away');
});

test('what has to run at home is no reason to try what may leave', (t) => {
  const bench = new Bench();
  const places = Array.from({ length: 3_000 }, () => {
    for (let n = 0; n < 10; n++) bench.bound(1, 0.15);
    return bench.request(0.05);
  });
  t.is(away(places), 0);
});

test('work behind a wait is found among much that has to run at home', (t) => {
  const bench = new Bench();
  const places = Array.from({ length: 1_000 }, () => {
    for (let n = 0; n < 10; n++) bench.bound(1, 0.15);
    return bench.request(0.05, 10);
  });
  t.true(away(places) > 500);
});

test('runs that had to wait for the processor were not long', (t) => {
  const bench = new Bench();
  t.is(away(Array.from({ length: 500 }, (_, n) => bench.request(n % 3 === 0 ? 9 : 0.05, 0.05, 0, 0.05))), 0);
});

test('runs in which other threads of the program may have computed were not long', (t) => {
  const places = (bench: Bench) =>
    Array.from({ length: 500 }, (_, n) => (n % 3 === 0 ? bench.request(9, 0.05, 0, 3) : bench.request(0.05)));
  t.is(away(places(new Bench(false))), 0);
  t.true(away(places(new Bench())) > 300, 'where it is known what the loop itself has computed they were');
  t.true(away(new Bench(false).many(20, () => 50)) > 10, 'what had the processor all the time was long');
});

test('code that is still cold is no reason for a trial', (t) => {
  t.is(away(new Bench().many(20_000, () => 0.05, 0.1)), 0);
  const bench = new Bench();
  const cold = bench.many(400, () => 0.1, 1.5);
  t.is(away([...cold, ...bench.many(5_000, () => 0.02, 0.1)]), 0);
});

test('a loop that waits for the processor is not busy', (t) => {
  const bench = new Bench();
  const places = Array.from({ length: 5_000 }, () => {
    const place = bench.request(0.02, 0.1);
    // Others compute meanwhile; the loop counts that as its own.
    bench.lost += 0.6;
    bench.time += 0.6;
    return place;
  });
  t.is(away(places), 0);
});

test('nothing flaps: a trial that found nothing is not made again soon', (t) => {
  const bench = new Bench();
  // Home is busy with something else, which no handler here can be blamed for.
  const places = Array.from({ length: 5_000 }, () => {
    bench.time += 1;
    bench.active += 1;
    return bench.request(0.02);
  });
  t.true(away(places) <= 40, `${away(places)} trials in ${Math.round(bench.time)} ms`);
});

test('what became light comes back', (t) => {
  const bench = new Bench();
  bench.many(50, () => 10);
  const places = bench.many(500, () => 0.02);
  t.is(places.at(-1), 'home');
  t.true(away(places) < 60);
});

test('what costs more to send than home would be rid of stays', (t) => {
  const parsed = new Bench();
  parsed.sending = 25;
  // Home parses for 3 ms, which no handler is seen to do, and the replica unpacks what was parsed.
  const places = parsed.many(5_000, () => 0.3, 3);
  t.true(away(places) <= 3, `${away(places)} messages in ${Math.round(parsed.time)} ms`);
  const computing = new Bench();
  computing.sending = 25;
  t.true(away(computing.many(1_000, () => 5)) <= 3);
});

test('what cost too much to send is sent again when its messages have become small', (t) => {
  const bench = new Bench();
  bench.sending = 25;
  bench.many(1_000, () => 0.3, 3);
  bench.sending = 0.05;
  const places = bench.many(100_000, () => 0.3, 3);
  t.is(bench.movable.mode, 'away', `after ${Math.round(bench.time / 1000)} s`);
  t.is(places.at(-1), 'away');
});

test('it is unsure where the work is only until a trial has told', (t) => {
  const light = new Bench();
  light.many(500, () => 0.05);
  t.false(light.scheduler.isUnsure);
  const parsed = new Bench();
  parsed.sending = 25;
  const begun: boolean[] = [];
  parsed.many(
    200,
    () => {
      begun.push(parsed.scheduler.isUnsure);
      return 0.3;
    },
    3,
  );
  t.true(begun.includes(true));
  t.is(parsed.movable.mode, 'cheap');
  t.false(parsed.scheduler.isUnsure);
});

test('work that is worth a large message leaves', (t) => {
  const bench = new Bench();
  bench.sending = 5;
  t.true(away(bench.many(200, () => 60)) > 190);
});

test('a large message now and then, or a pause while one is made, brings nothing home', (t) => {
  const bench = new Bench();
  const places = Array.from({ length: 1_000 }, (_, n) => {
    bench.sending = n % 40 === 0 ? 30 : 0.05;
    return bench.request(10);
  });
  t.true(away(places) > 990);
});

test('what was under way when it was decided that it stays changes nothing', (t) => {
  const bench = new Bench();
  bench.sending = 25;
  bench.many(400, () => 0.3, 3);
  t.is(bench.movable.mode, 'cheap');
  for (let n = 0; n < 30; n++) bench.scheduler.ranAway(bench.movable, 40);
  t.is(bench.movable.mode, 'cheap');
});

test('where little is at stake a trial is of a few runs, be there ever so many at once', (t) => {
  const bench = new Bench();
  const { scheduler } = bench;
  const movable: Movable = { ...makeMovable('other'), mode: 'trial' };
  const leaves = (): boolean => {
    if (!scheduler.goesAway(movable)) return false;
    scheduler.leaves(movable);
    return true;
  };
  t.is(Array.from({ length: 500 }, leaves).filter(Boolean).length, 20);
  bench.time += 1_500;
  t.is(
    Array.from({ length: 500 }, leaves).filter(Boolean).length,
    20,
    'those that do not come back are no reason to wait',
  );
  for (let n = 0; n < 20; n++) scheduler.ranAway(movable, 0.01);
  t.is<string, string>(movable.mode, 'cheap');
});

test('where all loops take connections, only what would hold one up leaves', (t) => {
  const bench = new Bench();
  bench.many(100, () => 2);
  t.is(bench.movable.mode, 'away');
  bench.isEven = true;
  t.true(away(bench.many(1_000, () => 2)) <= 20);
  t.false(isHeavy(bench.movable));
  bench.many(400, () => 12);
  t.true(isHeavy(bench.movable));
  t.is(away(bench.many(100, () => 12)), 100);
});

test('what was slow only at first is not heavy', (t) => {
  const bench = new Bench();
  bench.many(4, () => 30);
  t.true(isHeavy(bench.movable));
  bench.many(60, () => 1);
  t.is(bench.movable.mode, 'away');
  t.false(isHeavy(bench.movable));
});

// --- a real app --------------------------------------------------------------------------------------------------------

const APP = `
const express = require('express');
const { readFile } = require('fs/promises');
const app = express();
function work(rounds) {
  let sum = 0;
  for (let at = 0; at < rounds; at++) sum += at % 7;
  return sum;
}
app.get('/heavy', (req, res) => { res.json(work(4e7)); });
app.get('/light', (req, res) => { res.json(work(10)); });
app.get('/behind', async (req, res) => { await readFile(__filename); res.json(work(4e7)); });
const server = app.listen(0, () => console.log('port ' + server.address().port));
`;

const AUTO = { flags: ['--threads', '2'] } as const;

async function ask(app: ServedApp, path: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await app.get(path);
}

test.serial('a heavy handler moves after its first runs, a light one never does', async (t) => {
  const app = await ServedApp.serve(t, { 'app.js': APP }, AUTO);
  await ask(app, '/light', 20);
  t.false(app.stderr.includes('is ready'));
  await app.askUntil(app.hasReplicas(1), () => app.get('/heavy'));
  // A second one comes when there is more to do than one has time for.
  await app.askUntil(app.hasReplicas(2), () => app.many(12, () => '/heavy'));
  await app.many(30, () => '/heavy');
  // A trial, of which there may be one, is followed by a time without any.
  for (let round = 0; round < 4; round++) await app.many(300, () => '/light');
  const report = await app.report();
  t.true(runsAway(report, 'get_heavy') >= 30);
  t.is(report.aside, null);
  t.true(Object.values(fluxionOf(report, 'get_heavy').runs).length >= 3, 'both replicas had some');
  t.true(runsAway(report, 'get_light') <= 400, 'no more than a trial');
});

test.serial('a handler that computes behind an await is found', async (t: ExecutionContext) => {
  const app = await ServedApp.serve(t, { 'app.js': APP }, AUTO);
  // Home is busy with it until somebody notices.
  await app.askUntil(app.hasReplicas(1), () => app.many(4, () => '/behind'));
  // Threads are started as home has no time for all that is asked, too: then some run there until it is known what takes it.
  for (let round = 0; round < 3; round++) await app.many(40, () => '/behind');
  const report = await app.report();
  t.true(runsAway(report, 'get_behind') >= 80, JSON.stringify([report.fluxions, report.decisions, report.accept]));
});

test.serial('what takes a millisecond or two is served by all loops once one has no time for it', async (t) => {
  const text = `
const express = require('express');
const app = express();
app.get('/page/:n', (req, res) => {
  const end = performance.now() + 1.5;
  while (performance.now() < end);
  res.send('page ' + req.params.n);
});
const server = app.listen(0, () => console.log('port ' + server.address().port));
`;
  const app = await ServedApp.serve(t, { 'app.js': text }, AUTO);
  await app.askUntil(app.says(/replica-\d+ accepts connections/), () => app.many(100, (n) => `/page/${n}`));
  for (const [n, { text }] of (await app.many(200, (n) => `/page/${n}`)).entries()) t.is(text, `page ${n}`);
});

test.serial('an app with nothing heavy starts no thread', async (t) => {
  // A crowd would be served by several loops, however light what it asks is.
  const app = await ServedApp.serve(t, { 'app.js': APP }, { ...AUTO, flags: [...AUTO.flags, '--accept', 'home'] });
  await ask(app, '/light', 300);
  const report = await app.report();
  // On a machine with so much else to do that even this takes a millisecond it is no light handler.
  const [decision] = report.decisions;
  if (decision !== undefined)
    return t.regex(decision.why, /^"get_light"(, which takes| is tried elsewhere: of each request) \d+\.\d ms/);
  t.deepEqual(
    report.loops.map(({ id }) => id),
    ['home'],
  );
  t.is(report.bus.messages, 0);
  t.regex(report.aside ?? '', /nothing has cost as much/);
});
