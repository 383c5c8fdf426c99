import { availableParallelism } from 'node:os';
import type { ExecutionContext } from 'ava';

/** A file's tests begin all at once; so many pieces of heavy work at a time do. */
const most = Math.max(2, availableParallelism());

type Turn = <Result>(work: () => Promise<Result>) => Promise<Result>;

function takeTurns(): Turn {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}

export const inTurn = takeTurns();

/** Apart from the other: a test within a turn may start processes. */
const testInTurn = takeTurns();
const turns = new WeakMap<ExecutionContext, Promise<void>>();

/**
 * From here on to its end the test is one of few that are at work, however many processes it starts. All of one test in a row,
 * rather than a piece of each: so tests end all the time, which is what AVA's limit of time looks at.
 */
export function turnOf(t: ExecutionContext): Promise<void> {
  const known = turns.get(t);
  if (known !== undefined) return known;
  const begun = new Promise<void>((begin) => {
    const ended = new Promise<void>((end) => t.teardown(end));
    void testInTurn(() => {
      begin();
      return ended;
    });
  });
  turns.set(t, begun);
  return begun;
}
