/**
 * Home's part of serving connections on several loops: it accepts them all, and hands most over to replicas that can serve all
 * that the server calls; those that it has itself as well, when they wait for their next request. Each loop is given as many.
 *
 * What the app does with its server holds for all loops: `close()` closes everywhere, and the server is closed when the
 * last connection anywhere has ended.
 */
import type http from 'node:http';
import type net from 'node:net';
import os from 'node:os';
import process from 'node:process';
import type { Log } from '../log.js';
import type { Ending, ToHome } from '../messages.js';
import type { Replica } from '../replicas.js';
import { connectTo, idleConnections, Waiting } from './connections.js';
import { type Handle, HandlePort, handleOf, type Parcel } from './handle-port.js';
import { settingsOf } from './server-settings.js';

const CORES = os.availableParallelism();

interface There {
  requests: number;
  /** By which connections go there; null until it is told. */
  port: HandlePort | null;
  /** How many it has, and those that are on their way to it. */
  readonly open: Int32Array;
  isEnding: boolean;
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
  /** Home's own that are on their way to a replica. */
  readonly #leaving = new Set<net.Socket>();
  readonly #waiting: Waiting;

  constructor(server: http.Server, root: string, log: Log) {
    this.#server = server;
    this.#waiting = new Waiting(server);
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
    if (!this.isPossible || this.#there.has(replica)) return;
    const open = new Int32Array(new SharedArrayBuffer(4));
    const there: There = { requests: 0, port: null, open, isEnding: false, isAwaited: false };
    this.#there.set(replica, there);
    this.#watch();
    const { port, fd } = await HandlePort.make({
      received: (handle, what) => this.#takeBack(handle, what),
      closed: () => {},
    });
    // Turned off in the meantime, maybe on again.
    const isCurrent = this.#there.get(replica) === there;
    const settings = settingsOf(this.#server);
    const listening = handleOf(this.#server);
    if (!isCurrent || settings === null || listening === null || !this.isPossible || !replica.isReady) {
      port.close();
      if (isCurrent) this.#there.delete(replica);
      return;
    }
    there.port = port;
    replica.channel.send({ kind: 'accept', root, home: this.#root, fd, open, settings });
    port.send(listening, 'l', () => {});
    this.#log.debug(`${replica.id} accepts connections of ${this.#root}`);
  }

  // --- connections ------------------------------------------------------------------------------------------------------

  /** Null where home is to serve the next one itself: it has fewer than any other, and the machine has a core for it. */
  #next(): There | null {
    const takers = this.#takers();
    let [best, least] = [null as There | null, takers.length < CORES ? this.#own() : Number.POSITIVE_INFINITY];
    for (const there of takers) {
      const count = Atomics.load(there.open, 0);
      if (count < least || (count === least && best === null)) [best, least] = [there, count];
    }
    return best;
  }

  #takers(): readonly There[] {
    return [...this.#there.values()].filter(({ port, isEnding }) => port !== null && !isEnding);
  }

  /** Connections that home has. */
  #own(): number {
    return Number(Reflect.get(this.#server, '_connections')) - this.#held() - this.#leaving.size;
  }

  #send({ port, open }: There, handle: Handle, what: Parcel, done: (hasArrived: boolean) => void): void {
    Atomics.add(open, 0, 1);
    port?.send(handle, what, (hasArrived) => {
      if (!hasArrived) Atomics.sub(open, 0, 1);
      done(hasArrived);
    });
  }

  /** Connections that wait for their next request go to loops that have fewer. */
  moveIdle(): void {
    if (!this.isOn || this.#isClosing || !Waiting.isPossible(this.#server)) return;
    const takesPart = this.#takers().length < CORES;
    for (const socket of [...idleConnections(this.#server), ...this.#waiting.idle()]) {
      const handle = handleOf(socket);
      if (handle === null || this.#leaving.has(socket)) continue;
      const there = this.#next();
      // Home would have one fewer then.
      if (there === null || (takesPart && Atomics.load(there.open, 0) + 1 > this.#own())) return;
      this.#leaving.add(socket);
      handle.readStop();
      this.#send(there, handle, 'i', (hasArrived) => {
        this.#leaving.delete(socket);
        if (hasArrived) socket.destroy();
        else if (!socket.destroyed) handle.readStart();
      });
    }
  }

  #takeBack(handle: Handle, what: Parcel): void {
    if (this.#isClosing && what === 'i') return handle.close();
    const socket = connectTo(this.#server, handle);
    if (what === 'i') this.#waiting.add(socket);
  }

  /** No more go there. */
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

  /** It has connections of this server, or may get some. */
  serves(replica: Replica): boolean {
    return this.#there.has(replica);
  }

  /** Nothing more goes to this one, and what it has it gives back. */
  takeFrom(replica: Replica): void {
    this.#stop(replica, 'give-back');
  }

  #stop(replica: Replica, connections: Ending): void {
    const there = this.#there.get(replica);
    if (there === undefined) return;
    if (there.port === null || !replica.isReady) return this.gone(replica);
    if (there.isEnding && connections === 'give-back') return;
    there.isEnding = true;
    replica.channel.send({ kind: 'stop-accept', home: this.#root, connections });
  }

  // --- what the app does with its server --------------------------------------------------------------------------------

  /** Looked up through getters, as in `watch-servers.cts`: nothing shows in stack traces. */
  #watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    this.#watchConnections();
    this.#before('close', () => this.#close());
    this.#before('closeIdleConnections', () => {
      for (const socket of this.#waiting.idle()) socket.destroy();
    });
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

  /** Node asks the handle of the listening socket for its listener each time. */
  #watchConnections(): void {
    const handle = handleOf(this.#server);
    const accept = handle?.onconnection;
    if (handle === null || accept === undefined) return;
    const own = (status: number, client?: Handle): void => Reflect.apply(accept, handle, [status, client]);
    const spread = (status: number, client?: Handle): void => {
      const there = client === undefined || status !== 0 || this.#isClosing ? null : this.#next();
      if (there === null || client === undefined) return own(status, client);
      this.#send(there, client, 'n', (hasArrived) => (hasArrived ? client.close() : own(status, client)));
    };
    Reflect.set(handle, 'onconnection', spread);
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

  #before(name: 'close' | 'closeAllConnections' | 'closeIdleConnections', act: () => void): void {
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
      if (there.port !== null) there.isAwaited = true;
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
