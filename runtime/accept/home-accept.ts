/**
 * Home's part of serving connections on several loops: it accepts them all, and hands most over to replicas that can serve all
 * that the server calls; those that it has itself as well, when they wait for their next request. Each loop is given as much to do: as
 * many connections, where home answers nothing for others; where it does it keeps fewer of its own.
 *
 * What the app does with its server holds for all loops: `close()` closes everywhere, and the server is closed when the
 * last connection anywhere has ended.
 */
import type http from 'node:http';
import type net from 'node:net';
import { performance } from 'node:perf_hooks';
import cores from '../cores.cjs';
import type { Log } from '../log.js';
import type { Ending, ToHome } from '../messages.js';
import process from '../node-process.cjs';
import type { Replica } from '../replicas.js';
import { AskAll } from './ask-all.js';
import { connectTo, idleConnections, Waiting } from './connections.js';
import { FarConnections } from './far-connections.js';
import { Guests } from './guests.js';
import { type Handle, HandlePort, handleOf, type Parcel } from './handle-port.js';
import type { Stay } from './meets.js';
import type { Begun } from './pipe-bytes.js';
import { canBeSplit, isForUpgrades, isHttps, settingsOf } from './server-settings.js';
import { isUntouched } from './untouched.js';
import { whenRead } from './when-read.js';

const CORES = cores.cores();
/** Fewer requests say nothing of what others ask home for. */
const ENOUGH = 100;
const NEW_WEIGHT = 0.3;

interface There {
  requests: number;
  long: number;
  /** By which connections go there; null until it is told. */
  port: HandlePort | null;
  /** How many it has, and those that are on their way to it. */
  readonly open: Int32Array;
  isEnding: boolean;
  /** With which it serves connections. */
  settings: string;
  /** It has not said yet that it has the certificates that are to be used from now on. */
  isRenewing: boolean;
  /** Some of what it is asked for has to run at home. */
  readonly isPart: boolean;
  /** The server is closing, and waits for this loop. */
  isAwaited: boolean;
}

export class HomeAccept {
  readonly #server: http.Server;
  /** Home's name of it. */
  readonly #root: string;
  readonly #log: Log;
  readonly #there = new Map<Replica, There>();
  /** Of those that have ended, too. */
  readonly #answered = new Map<Replica, number>();
  readonly #asks: AskAll;
  /** Threads do not keep the process, but a server that closes does. */
  #keeping: NodeJS.Timeout | null = null;
  #isClosing = false;
  #isWatched = false;
  /** How often certificates or their like have changed. */
  #number = 0;
  /** Home's own that are on their way to a replica. */
  readonly #leaving = new Set<net.Socket>();
  readonly #waiting: Waiting;
  readonly #guests: Guests<There>;
  readonly far: FarConnections;
  /** Requests that held replicas up for long. */
  longElsewhere = 0;
  /** Of what comes by replicas, how much is home's. */
  #farShare = 0;
  #lastFar = 0;
  #lastAll = 0;
  readonly #answers: () => void;

  /** `answers`: called before a connection of a replica's has an answer of home's, or goes back there. */
  constructor(server: http.Server, root: string, log: Log, answers: () => void) {
    this.#server = server;
    this.#waiting = new Waiting(server);
    this.#asks = new AskAll(root);
    this.#answers = answers;
    this.far = new FarConnections(server, root, answers);
    this.#guests = new Guests(server, (socket) => this.#returnGuest(socket));
    this.#root = root;
    this.#log = log;
  }

  /** Null where somebody else could accept for it, if what home alone can serve is given back. */
  whyImpossible(): string | null {
    if (this.#isClosing) return 'it is closing';
    if (process.platform === 'win32') return 'that is not possible on Windows';
    if (fdOf(this.#server) === null) return 'it listens to no socket of its own';
    const settings = settingsOf(this.#server);
    if (typeof settings === 'string') return settings;
    return this.isSecure && !canBeSplit(this.#server) ? 'it counts the requests of each connection' : null;
  }

  /** Connections stay where they are then. */
  get isSecure(): boolean {
    return isHttps(this.#server);
  }

  get isOn(): boolean {
    return this.#there.size > 0;
  }

  /** How many others take connections now. */
  get takers(): number {
    return this.#takers().length;
  }

  /** Answered elsewhere, so far. */
  requestsOf(replica: Replica): number {
    return this.#answered.get(replica) ?? 0;
  }

  /** By all replicas, those that have ended too. */
  get answeredElsewhere(): number {
    let sum = 0;
    for (const requests of this.#answered.values()) sum += requests;
    return sum;
  }

  /** `root`: the replica's name of the server; `stays`: its names of what has to run at home. */
  async turnOn(replica: Replica, root: string, stays: readonly Stay[]): Promise<void> {
    const known = this.#there.get(replica);
    if (known?.isEnding === false || this.whyImpossible() !== null) return;
    if (known !== undefined) return this.#resume(replica, known);
    const isPart = stays.length > 0 || isForUpgrades(this.#server) || this.isSecure;
    if (isPart && !canBeSplit(this.#server)) return;
    const open = new Int32Array(new SharedArrayBuffer(4));
    const states = { isEnding: false, isAwaited: false, isRenewing: false };
    const there: There = { requests: 0, long: 0, port: null, open, isPart, settings: '', ...states };
    this.#there.set(replica, there);
    this.#watch();
    const { port, fd } = await HandlePort.make({
      received: (handle, what, begun) => this.#takeBack(there, handle, what, begun),
      closed: () => {},
    });
    // Turned off in the meantime, maybe on again.
    const isCurrent = this.#there.get(replica) === there;
    const settings = settingsOf(this.#server);
    const listening = handleOf(this.#server);
    const isPossible = this.whyImpossible() === null && replica.isReady;
    if (!isCurrent || typeof settings === 'string' || listening === null || !isPossible) {
      port.close();
      if (isCurrent) this.#there.delete(replica);
      return;
    }
    there.port = port;
    there.settings = JSON.stringify(settings.plain);
    there.isRenewing = false;
    replica.channel.send({ kind: 'accept', root, home: this.#root, fd, open, settings, isPart, stays });
    port.send(listening, 'l', () => {});
    this.#log.debug(`${replica.id} accepts connections of ${this.#root}`);
    const others =
      stays.length > 0 ? `; the main thread answers what may come to ${stays.length} of its functions` : '';
    this.#log.infoOnce(`${this.#root}: other threads take connections as well${others}`);
  }

  /** It was to serve no more, and still has some. */
  #resume(replica: Replica, there: There): void {
    const settings = settingsOf(this.#server);
    if (typeof settings === 'string' || there.settings !== JSON.stringify(settings.plain)) return;
    if (there.port === null || !replica.isReady) return;
    there.isEnding = false;
    replica.channel.send({ kind: 'resume-accept', home: this.#root });
    if (this.isSecure) this.#renewAt(replica, there);
  }

  // --- certificates -----------------------------------------------------------------------------------------------------

  /** The app is about to change them. Until a replica has the new ones it gets no new connections. */
  #renew(): void {
    this.#number++;
    for (const there of this.#there.values()) there.isRenewing = true;
    process.nextTick(() => {
      this.mindServer();
      for (const [replica, there] of this.#there) this.#renewAt(replica, there);
    });
  }

  #renewAt(replica: Replica, there: There): void {
    const settings = settingsOf(this.#server);
    if (typeof settings === 'string' || settings.secure === null || there.port === null) return;
    there.isRenewing = true;
    replica.channel.send({ kind: 'renew', home: this.#root, number: this.#number, secure: settings.secure });
  }

  /** It may be another one by now: with other times to wait, with listeners that only home has. */
  mindServer(): void {
    if (this.#isClosing || ![...this.#there.values()].some(({ port, isEnding }) => port !== null && !isEnding)) return;
    const settings = settingsOf(this.#server);
    const print = typeof settings === 'string' ? null : JSON.stringify(settings.plain);
    for (const [replica, there] of this.#there) {
      if (there.port === null || there.isEnding || there.settings === print) continue;
      if (typeof settings === 'string') {
        this.#log.infoOnce(`${this.#root}: the main thread takes new connections alone, as ${settings}`);
      }
      this.#stop(replica, 'give-back');
    }
  }

  renewed(replica: Replica, number: number): void {
    const there = this.#there.get(replica);
    if (there !== undefined && number === this.#number) there.isRenewing = false;
  }

  // --- connections ------------------------------------------------------------------------------------------------------

  /** Null where home is to serve the next one itself: it has less to do than any other, and the machine has a core for it. */
  #next(): There | null {
    const takers = this.#takers();
    let [best, least] = [
      null as There | null,
      takers.length < CORES ? this.#ownLoad(takers) : Number.POSITIVE_INFINITY,
    ];
    for (const there of takers) {
      const load = this.#loadOf(this.#countOf(there));
      if (load < least || (load === least && best === null)) [best, least] = [there, load];
    }
    return best;
  }

  /** What a replica does for so many connections, in those of which it would do all. */
  #loadOf(count: number): number {
    return count * (1 - this.#farShare);
  }

  #ownLoad(takers: readonly There[]): number {
    return this.#own() + takers.reduce((sum, there) => sum + this.#countOf(there), 0) * this.#farShare;
  }

  #mindFarShare(): void {
    const [far, all] = [this.far.answered, this.far.answered + this.answeredElsewhere];
    const [fars, alls] = [far - this.#lastFar, all - this.#lastAll];
    if (alls < ENOUGH) return;
    [this.#lastFar, this.#lastAll] = [far, all];
    this.#farShare += (fars / alls - this.#farShare) * NEW_WEIGHT;
  }

  #takers(): readonly There[] {
    return [...this.#there.values()].filter(takesConnections);
  }

  /** Connections that it has, and those that home has of them for a while. */
  #countOf(there: There): number {
    return Atomics.load(there.open, 0) + this.#guests.count(there);
  }

  /** Connections that home has, without those. */
  #own(): number {
    return Number(Reflect.get(this.#server, '_connections')) - this.#held() - this.#leaving.size - this.#guests.count();
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
    if (!this.isOn || this.#isClosing) return;
    this.#mindFarShare();
    if (this.isSecure || !Waiting.isPossible(this.#server)) return;
    if (this.#own() + this.#guests.count() === 0) return;
    const takers = this.#takers();
    for (const socket of [...idleConnections(this.#server), ...this.#waiting.idle()]) {
      const guest = this.#guests.get(socket);
      if (guest !== null) {
        if (guest.until <= performance.now()) this.#returnGuest(socket);
        continue;
      }
      const there = this.#next();
      if (there === null) return;
      // It would have more to do than home then.
      if (takers.length < CORES && this.#loadOf(this.#countOf(there) + 1) > this.#ownLoad(takers)) return;
      this.#move(socket, there, 'i');
    }
  }

  #returnGuest(socket: net.Socket): void {
    this.#answers();
    const guest = this.#guests.get(socket);
    if (guest === null || this.#isClosing || !Waiting.isPossible(this.#server)) return;
    const there = takesConnections(guest.from) ? guest.from : this.#next();
    if (there !== null) this.#move(socket, there, `${guest.vain}` as Parcel);
  }

  #move(socket: net.Socket, there: There, what: Parcel): void {
    const handle = handleOf(socket);
    if (handle === null || this.#leaving.has(socket) || (there.isPart && !isUntouched(socket))) return;
    this.#leaving.add(socket);
    handle.readStop();
    this.#send(there, handle, what, (hasArrived) => {
      this.#leaving.delete(socket);
      if (hasArrived) socket.destroy();
      else if (!socket.destroyed) handle.readStart();
    });
  }

  #takeBack(there: There, handle: Handle, what: Parcel, begun: Begun | null): void {
    const isWaiting = begun === null && what !== 'n';
    const socket = connectTo(this.#server, handle);
    if (isWaiting) this.#waiting.add(socket);
    if (isWaiting && this.#isClosing) this.#closeWaiting();
    if (begun === null) return;
    this.#guests.add(socket, there, begun);
    // As if it had been read just now. Last: what it calls may throw.
    socket.emit('data', begun.bytes);
  }

  /** No more go there. */
  turnOff(connections: Ending): void {
    for (const replica of [...this.#there.keys()]) this.#stop(replica, connections);
  }

  received(replica: Replica, { requests, long, connections, isOver, ask }: Extract<ToHome, { kind: 'accepts' }>): void {
    if (ask !== null) this.#asks.answered(replica, ask, connections);
    const there = this.#there.get(replica);
    if (there === undefined) return;
    this.#answered.set(replica, this.requestsOf(replica) + requests - there.requests);
    there.requests = requests;
    this.longElsewhere += long - there.long;
    there.long = long;
    if (isOver) this.gone(replica);
  }

  /** It has ended what it had of this server, or has ended itself. */
  gone(replica: Replica): void {
    this.#asks.gone(replica);
    this.far.gone(replica);
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
    this.#define('closeIdleConnections', (method) => (this.isOn ? this.#closeIdleSoon(method) : method));
    this.#before('closeAllConnections', () => this.turnOff('at-once'));
    if (this.isSecure) {
      for (const name of ['setSecureContext', 'addContext', 'setTicketKeys'] as const)
        this.#before(name, () => this.#renew());
    }
    const count = this.#server.getConnections;
    const here = (done: (error: Error | null, count: number) => void): http.Server => {
      const held = this.#held();
      const elsewhere = this.#asks.connections(this.#there.keys());
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

  /** Whoever asks was answered by any loop, and what others have asked before that may not have been read here. */
  #closeIdleSoon(method: unknown): unknown {
    const close = (): void => {
      this.#closeWaiting();
      for (const [replica, { port }] of this.#there) {
        if (port !== null && replica.isReady) replica.channel.send({ kind: 'close-idle', home: this.#root });
      }
      if (typeof method === 'function') whenRead(() => void Reflect.apply(method, this.#server, []));
    };
    return Object.defineProperty(close, 'name', { value: 'closeIdleConnections' });
  }

  #closeWaiting(): void {
    whenRead(() => {
      for (const socket of this.#waiting.idle()) socket.destroy();
    });
  }

  #before(name: string, act: () => void): void {
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

function takesConnections({ port, isEnding, isRenewing }: There): boolean {
  return port !== null && !isEnding && !isRenewing;
}

/** Null for what is no socket of this process's own: pipes, those of a cluster's workers, and all of them on Windows. */
function fdOf(server: http.Server): number | null {
  if (process.platform === 'win32') return null;
  const handle: unknown = Reflect.get(server, '_handle');
  if (typeof handle !== 'object' || handle?.constructor.name !== 'TCP') return null;
  const fd: unknown = Reflect.get(handle, 'fd');
  return typeof fd === 'number' && fd > 2 ? fd : null;
}
