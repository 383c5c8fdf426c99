/**
 * Gives: word of a response's end to all of its exchanges, by one listener: each handler of a chain may have an exchange, and
 *        Node warns of many listeners.
 *
 * A response that waits for its turn on a connection (pipelining) is told nothing by Node when that goes; the connection is asked then.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Mark } from './exchange-of.js';

interface Waiting {
  readonly exchanges: Set<() => void>;
  readonly listener: () => void;
}

const known = new Mark<Waiting>();
const connections = new Mark<Waiting>();

export const closings = {
  add(res: ServerResponse, closed: () => void): void {
    add(known, res, closed);
    if (res.socket === null) add(connections, res.req.socket, closed);
  },

  remove(res: ServerResponse, closed: () => void): void {
    remove(known, res, closed);
    remove(connections, res.req.socket, closed);
  },
} as const;

function add(to: Mark<Waiting>, emitter: ServerResponse | Socket, closed: () => void): void {
  const { exchanges, listener } = to.get(emitter) ?? watch(to, emitter);
  if (exchanges.size === 0) emitter.on('close', listener);
  exchanges.add(closed);
}

function remove(from: Mark<Waiting>, emitter: ServerResponse | Socket, closed: () => void): void {
  const waiting = from.get(emitter);
  if (waiting === undefined || !waiting.exchanges.delete(closed)) return;
  if (waiting.exchanges.size === 0) emitter.off('close', waiting.listener);
}

function watch(from: Mark<Waiting>, emitter: ServerResponse | Socket): Waiting {
  const exchanges = new Set<() => void>();
  const listener = (): void => {
    for (const closed of [...exchanges]) closed();
  };
  const waiting = { exchanges, listener };
  from.set(emitter, waiting);
  return waiting;
}
