/**
 * Home's part of accepting on several loops: replicas that can serve all that a server calls listen on the same socket,
 * each by a descriptor of its own, and whoever has time takes the next connection.
 *
 * What the app does with its server holds for all loops: `close()` closes everywhere, and the server is closed when the
 * last connection anywhere has ended.
 */
import type http from 'node:http';
import process from 'node:process';
import type { Log } from '../log.js';
import type { Ending, ToHome } from '../messages.js';
import type { Replica } from '../replicas.js';
import { duplicate } from './duplicate.js';
import { settingsOf } from './server-settings.js';

interface There {
  requests: number;
  /** The replica has been given the socket. */
  isTold: boolean;
  /** The server is closing, and waits for this loop. */
  isAwaited: boolean;
}

interface Asked {
  readonly waiting: Set<Replica>;
  sum: number;
  resolve(sum: number): void;
}

export class HomeAccept {
  readonly #server: http.Server;
  /** Home's name of it. */
  readonly #root: string;
  readonly #log: Log;
  readonly #there = new Map<Replica, There>();
  /** Of those that have ended, too. */
  readonly #answered = new Map<Replica, number>();
  /** Questions for how many connections there are, by number. */
  readonly #asked = new Map<number, Asked>();
  #lastAsk = 0;
  /** Threads do not keep the process, but a server that closes does. */
  #keeping: NodeJS.Timeout | null = null;
  #isClosing = false;
  #isWatched = false;

  constructor(server: http.Server, root: string, log: Log) {
    this.#server = server;
    this.#root = root;
    this.#log = log;
  }

  /** Somebody else could accept for it. */
  get isPossible(): boolean {
    return !this.#isClosing && fdOf(this.#server) !== null && settingsOf(this.#server) !== null;
  }

  get isOn(): boolean {
    return this.#there.size > 0;
  }

  /** Answered elsewhere, so far. */
  requestsOf(replica: Replica): number {
    return this.#answered.get(replica) ?? 0;
  }

  /** `root`: the replica's name of the server. */
  async turnOn(replica: Replica, root: string): Promise<void> {
    const handle: unknown = Reflect.get(this.#server, '_handle');
    if (!this.isPossible || this.#there.has(replica) || typeof handle !== 'object' || handle === null) return;
    const there: There = { requests: 0, isTold: false, isAwaited: false };
    this.#there.set(replica, there);
    this.#watch();
    const [fd] = await duplicate(handle, 1);
    // Turned off in the meantime, maybe on again.
    if (this.#there.get(replica) !== there) return;
    const settings = settingsOf(this.#server);
    if (fd === undefined || settings === null || !this.isPossible || !replica.isReady) {
      this.#there.delete(replica);
      return;
    }
    there.isTold = true;
    replica.hasAccepted = true;
    replica.channel.send({ kind: 'accept', root, home: this.#root, fd, settings });
    this.#log.debug(`${replica.id} accepts connections of ${this.#root}`);
  }

  /** New connections come home. */
  turnOff(connections: Ending): void {
    for (const replica of [...this.#there.keys()]) this.#stop(replica, connections);
  }

  received(replica: Replica, { requests, connections, isOver, ask }: Extract<ToHome, { kind: 'accepts' }>): void {
    if (ask !== null) this.#answer(replica, ask, connections);
    const there = this.#there.get(replica);
    if (there === undefined) return;
    this.#answered.set(replica, this.requestsOf(replica) + requests - there.requests);
    there.requests = requests;
    if (isOver) this.gone(replica);
  }

  /** It has ended what it had of this server, or has ended itself. */
  gone(replica: Replica): void {
    for (const ask of [...this.#asked.keys()]) this.#answer(replica, ask, 0);
    const there = this.#there.get(replica);
    this.#there.delete(replica);
    if (there?.isAwaited) this.#release();
  }

  #stop(replica: Replica, connections: Ending): void {
    const isTold = this.#there.get(replica)?.isTold === true;
    if (isTold && replica.isReady) replica.channel.send({ kind: 'stop-accept', home: this.#root, connections });
    else this.gone(replica);
  }

  // --- what the app does with its server --------------------------------------------------------------------------------

  /** Looked up through getters, as in `watch-servers.cts`: nothing shows in stack traces. */
  #watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    this.#before('close', () => this.#close());
    this.#before('closeAllConnections', () => this.turnOff('at-once'));
    const count = this.#server.getConnections;
    const here = (done: (error: Error | null, count: number) => void): http.Server => {
      const held = this.#held();
      const elsewhere = this.#connectionsElsewhere();
      return Reflect.apply(count, this.#server, [
        (error: Error | null, own: number) => {
          void elsewhere.then((others) => done(error, error === null ? own - held + others : own));
        },
      ]);
    };
    this.#define('getConnections', () => here);
  }

  async #connectionsElsewhere(): Promise<number> {
    const waiting = new Set([...this.#there.keys()].filter(({ isReady }) => isReady));
    if (waiting.size === 0) return 0;
    const ask = ++this.#lastAsk;
    return new Promise((resolve) => {
      this.#asked.set(ask, { waiting, sum: 0, resolve });
      for (const { channel } of waiting) channel.send({ kind: 'count-accepted', home: this.#root, ask });
    });
  }

  #answer(replica: Replica, ask: number, connections: number): void {
    const asked = this.#asked.get(ask);
    if (asked?.waiting.delete(replica) !== true) return;
    asked.sum += connections;
    if (asked.waiting.size > 0) return;
    this.#asked.delete(ask);
    asked.resolve(asked.sum);
  }

  #before(name: 'close' | 'closeAllConnections', act: () => void): void {
    this.#define(name, (method) => {
      act();
      return method;
    });
  }

  #define(name: string, give: (method: unknown) => unknown): void {
    let method: unknown = Reflect.get(this.#server, name);
    Object.defineProperty(this.#server, name, {
      configurable: true,
      enumerable: false,
      get: () => give(method),
      set: (value: unknown) => {
        method = value;
      },
    });
  }

  #close(): void {
    if (this.#isClosing || !this.#server.listening) return;
    this.#isClosing = true;
    for (const [replica, there] of [...this.#there]) {
      if (there.isTold) there.isAwaited = true;
      else this.#there.delete(replica);
    }
    for (const replica of [...this.#there.keys()]) {
      // A server is closed when it has no connections: as many as are elsewhere, at least.
      this.#add(1);
      this.#stop(replica, 'close');
    }
    if (this.#there.size > 0) this.#keeping = setInterval(() => {}, 1 << 30);
  }

  #held(): number {
    return [...this.#there.values()].filter(({ isAwaited }) => isAwaited).length;
  }

  #release(): void {
    this.#add(-1);
    if (this.#held() === 0 && this.#keeping !== null) clearInterval(this.#keeping);
    const settle: unknown = Reflect.get(this.#server, '_emitCloseIfDrained');
    if (typeof settle === 'function') Reflect.apply(settle, this.#server, []);
  }

  #add(count: number): void {
    Reflect.set(this.#server, '_connections', Number(Reflect.get(this.#server, '_connections')) + count);
  }
}

/** Null for what is no socket of this process's own: pipes, those of a cluster's workers, and all of them on Windows. */
function fdOf(server: http.Server): number | null {
  if (process.platform === 'win32') return null;
  const handle: unknown = Reflect.get(server, '_handle');
  if (typeof handle !== 'object' || handle?.constructor.name !== 'TCP') return null;
  const fd: unknown = Reflect.get(handle, 'fd');
  return typeof fd === 'number' && fd > 2 ? fd : null;
}
