import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { WhoHas } from '../runtime/who-has.js';

const MOST = 50_000;

test('who has a part of an exchange keeps it; that nobody has others is told, though they leave next to nothing behind', async (t) => {
  const told = new Set<number>();
  const whoHas = new WhoHas((runs) => {
    for (const run of runs) told.add(run);
  });
  const token = whoHas.watch(0, null);
  let run = 0;
  while (told.size === 0 && run < MOST) {
    whoHas.watch(++run, null);
    if (run % 100 === 0) await setImmediate();
  }
  t.true(run < MOST, 'V8 has tidied up long before');
  t.false(told.has(0));
  t.true(whoHas.watches(0));
  for (const each of told) if (whoHas.watches(each)) t.fail(`${each} is watched, and was told of`);
  t.truthy(token);
});
