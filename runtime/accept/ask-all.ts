/**
 * Asks replicas how many connections each has of one server, and gives the sum when all have answered or are no more.
 */
import type { Replica } from '../replicas.js';

interface Asked {
  readonly waiting: Set<Replica>;
  sum: number;
  resolve(sum: number): void;
}

export class AskAll {
  readonly #home: string;
  /** By number. */
  readonly #asked = new Map<number, Asked>();
  #last = 0;

  /** `home`: home's name of the server. */
  constructor(home: string) {
    this.#home = home;
  }

  connections(replicas: Iterable<Replica>): Promise<number> {
    const waiting = new Set([...replicas].filter(({ isReady }) => isReady));
    if (waiting.size === 0) return Promise.resolve(0);
    const ask = ++this.#last;
    return new Promise((resolve) => {
      this.#asked.set(ask, { waiting, sum: 0, resolve });
      for (const { channel } of waiting) channel.send({ kind: 'count-accepted', home: this.#home, ask });
    });
  }

  answered(replica: Replica, ask: number, connections: number): void {
    const asked = this.#asked.get(ask);
    if (asked?.waiting.delete(replica) !== true) return;
    asked.sum += connections;
    if (asked.waiting.size > 0) return;
    this.#asked.delete(ask);
    asked.resolve(asked.sum);
  }

  gone(replica: Replica): void {
    for (const ask of [...this.#asked.keys()]) this.answered(replica, ask, 0);
  }
}
