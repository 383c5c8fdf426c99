/** Seven things that every app with something in memory relies on: all hold under every placement, with replicas up. */
import test from 'ava';
import { CHECKS, type Results, runChecks } from './support/everyday.js';
import { findApp } from './support/fixture.js';
import { inTurn } from './support/in-turn.js';
import { PLACEMENTS } from './support/placements.js';
import { runsAway, ServedApp } from './support/served-app.js';

const ALL_OK: Results = Object.fromEntries([...Object.keys(CHECKS), 'work beside'].map((check) => [check, 'ok']));

for (const [name, options] of Object.entries(PLACEMENTS)) {
  test(`seven of seven: ${name}`, (t) =>
    inTurn(async () => {
      const served = await ServedApp.serveFixture(t, findApp('everyday'), options);
      if (name === 'auto') {
        // It starts replicas when it has seen that the work is heavy.
        while (!/replica-2 is ready/.test(served.stderr)) await served.get('/work/primes/2000000');
      }
      for (const connections of ['new', 'kept'] as const) {
        const { port } = served;
        t.deepEqual(await runChecks({ port, stdout: () => served.stdout, connections }), ALL_OK, connections);
      }
      if (name !== 'eager' && name !== 'auto') return;
      const report = await served.report();
      t.true(runsAway(report, 'get_primes_below') > 0);
      t.is(report.loops.filter(({ id, requests }) => id !== 'home' && requests > 0).length, 2);
    }));
}
