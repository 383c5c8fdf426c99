/**
 * Gives: word of a response's end to all of its exchanges, by one listener: each handler of a chain may have an exchange, and
 *        Node warns of many listeners.
 */
import type { ServerResponse } from 'node:http';
import { Mark } from './exchange-of.js';

interface Waiting {
  readonly exchanges: Set<() => void>;
  readonly listener: () => void;
}

const known = new Mark<Waiting>();

export const closings = {
  add(res: ServerResponse, closed: () => void): void {
    const { exchanges, listener } = known.get(res) ?? watch(res);
    if (exchanges.size === 0) res.on('close', listener);
    exchanges.add(closed);
  },

  remove(res: ServerResponse, closed: () => void): void {
    const waiting = known.get(res);
    if (waiting === undefined || !waiting.exchanges.delete(closed)) return;
    if (waiting.exchanges.size === 0) res.off('close', waiting.listener);
  },
} as const;

function watch(res: ServerResponse): Waiting {
  const exchanges = new Set<() => void>();
  const listener = (): void => {
    for (const closed of [...exchanges]) closed();
  };
  const waiting = { exchanges, listener };
  known.set(res, waiting);
  return waiting;
}
