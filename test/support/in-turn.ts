import { availableParallelism } from 'node:os';
import type { ExecutionContext } from 'ava';

/** A file's tests begin all at once; so many pieces of heavy work at a time do. */
const most = Math.max(2, availableParallelism());
const waiting: (() => void)[] = [];
let running = 0;

export async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}

/**
 * From here on to its end the test is one of few that are at work, however many processes it starts. All of one test in a row,
 * rather than a piece of each: so tests end all the time, which is what AVA's limit of time looks at.
 */
export function turnOf(t: ExecutionContext): Promise<void> {
  const known = turns.get(t);
  if (known !== undefined) return known;
  const begun = new Promise<void>((begin) => {
    const ended = new Promise<void>((end) => t.teardown(end));
    void inTurn(() => {
      begin();
      return ended;
    });
  });
  turns.set(t, begun);
  return begun;
}

const turns = new WeakMap<ExecutionContext, Promise<void>>();
