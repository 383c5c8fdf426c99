/**
 * A client that says that it sends no more still waits for its answer. Node closes its connection at once then, unless a handler has
 * answered by that time, and one that does so without waiting always has. So while a handler is elsewhere Node hears of that end
 * when all that came before it has been seen there, and what the handler did with it at once is here. The same holds for what comes
 * behind a request and makes no sense, of which Node's parser tells, and which is answered by a 400:
 *
 *     the request has left ──> its client ends ──> two messages there and back, and nothing else meanwhile ──> Node is told
 *                                              └─> the request is over ────────────────────────────────────────────┘
 *
 * The first of them may come to the replica in the turn in which the handler runs; the second one comes after what that has sent.
 */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import timers from 'node:timers';

const { setImmediate } = timers;

/** Whoever sends all the time is not waited for for ever. */
const MOST_ROUNDS = 50;
const CALM_ROUNDS = 2;
const NODES_OWN = 'bound socketOnEnd';

export interface AwayWork {
  /** How many messages there have been, both ways. */
  readonly traffic: number;
  /** There and back. */
  round(): Promise<void>;
}

type Listener = (...args: unknown[]) => void;

interface Held {
  readonly works: Set<object>;
  /** Of Node's, and of whoever else listens. */
  readonly listeners: readonly Listener[];
  readonly gate: () => void;
  /** What is to be told, in order. */
  readonly late: (() => void)[];
  /** Node tells of errors of its parser as ever. */
  readonly restore: () => void;
}

export class HalfClosed<W extends object> {
  readonly #held = new WeakMap<Socket, Held>();
  readonly #away: (work: W) => AwayWork | 'waits' | null;

  /** Works that wait for room somewhere, of clients that have ended. */
  readonly #waiting = new Map<W, () => void>();

  /** `away`: where this work is now; null where it is over. */
  constructor(away: (work: W) => AwayWork | 'waits' | null) {
    this.#away = away;
  }

  /** The work leaves home. */
  hold(socket: Socket, work: W): void {
    (this.#held.get(socket) ?? this.#watch(socket)).works.add(work);
  }

  /** It has been sent, or will not be. */
  moved(work: W): void {
    this.#waiting.get(work)?.();
    this.#waiting.delete(work);
  }

  /** It is over, or goes on at home: what that does in this turn comes before the end. */
  release(socket: Socket, work: W): void {
    this.moved(work);
    const held = this.#held.get(socket);
    if (held === undefined || !held.works.delete(work) || held.works.size > 0) return;
    if (held.late.length > 0) setImmediate(() => void (held.works.size === 0 && this.#end(socket, held)));
    else this.#giveBack(socket, held);
  }

  #watch(socket: Socket): Held {
    const listeners = socket.rawListeners('end') as Listener[];
    for (const each of listeners) socket.off('end', each);
    const late: (() => void)[] = [];
    const tellLater = (tell: () => void): void => {
      late.push(tell);
      if (late.length === 1) void this.#whenCalm(socket, held);
    };
    const gate = (): void => {
      tellLater(() => {
        if (!socket.destroyed) for (const each of listeners) Reflect.apply(each, socket, []);
      });
    };
    const held: Held = { works: new Set(), listeners, gate, late, restore: catchErrors(socket, tellLater) };
    socket.on('end', gate);
    this.#held.set(socket, held);
    return held;
  }

  async #whenCalm(socket: Socket, held: Held): Promise<void> {
    for (const work of held.works) await this.#calm(work as W);
    this.#end(socket, held);
  }

  async #calm(work: W): Promise<void> {
    let [calm, traffic] = [0, -1];
    for (let round = 0; round < MOST_ROUNDS; ) {
      const away = this.#away(work);
      if (away === null) return;
      if (away === 'waits') {
        await new Promise<void>((resolve) => this.#waiting.set(work, resolve));
        continue;
      }
      calm = away.traffic === traffic ? calm + 1 : 0;
      if (calm === CALM_ROUNDS) return;
      traffic = away.traffic;
      await away.round();
      round++;
    }
  }

  #end(socket: Socket, held: Held): void {
    if (this.#held.get(socket) !== held) return;
    this.#giveBack(socket, held);
    for (const tell of held.late) tell();
  }

  #giveBack(socket: Socket, held: Held): void {
    this.#held.delete(socket);
    socket.off('end', held.gate);
    held.restore();
    // Node takes its own away from a connection on which another protocol is spoken, and did not find it here.
    const isHttp = Boolean(Reflect.get(socket, 'parser'));
    for (const each of held.listeners) if (isHttp || each.name !== NODES_OWN) socket.on('end', each);
  }
}

/**
 * Node calls its own listener for errors where the parser finds one, and that the server's listeners for those of clients. Whoever asks
 * the connection for its server while that listener runs, which has taken itself away first, is Node.
 */
function catchErrors(socket: Socket, tellLater: (tell: () => void) => void): () => void {
  const nodes = socket.rawListeners('error').find(({ name }) => name === 'socketOnError');
  const server: unknown = Reflect.get(socket, 'server');
  if (nodes === undefined || !(server instanceof EventEmitter)) return () => {};
  let isTold = false;
  const emit = (event: string, error: unknown, from: unknown): boolean => {
    const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
    if (typeof code !== 'string' || !code.startsWith('HPE_')) return server.emit(event, error, from);
    if (!isTold) tellLater(() => void (socket.destroyed || Reflect.apply(nodes, socket, [error])));
    isTold = true;
    return true;
  };
  const get = (): unknown => (socket.rawListeners('error').includes(nodes) ? server : { emit });
  Object.defineProperty(socket, 'server', { get, configurable: true, enumerable: true });
  return () => {
    Object.defineProperty(socket, 'server', { value: server, configurable: true, enumerable: true, writable: true });
  };
}
