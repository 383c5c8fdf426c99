import { availableParallelism } from 'node:os';

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
