/**
 * A replica's part: servers of its own, which take the connections that home hands over, and give them back where they are
 * to be served there again. What they call is the replica's own routers, with nothing between.
 */
import type http from 'node:http';
import type net from 'node:net';
import timers from 'node:timers';
import fastPath from '../fast-path/born-as-express.cjs';
import type { Ending, ToHome, ToReplica } from '../messages.js';
import { connectTo, idleConnections, Waiting } from './connections.js';
import { type Handle, HandlePort, handleOf, type Parcel } from './handle-port.js';
import { serverWith } from './server-settings.js';

// As they were before start-up: the firewall stands before them later.
const { setInterval, clearInterval } = timers;

const TELL_EVERY_MS = 250;
const GIVE_BACK_EVERY_MS = 20;

export type Listener = (...args: unknown[]) => void;

export interface ReplicaAcceptOptions {
  /** What the server of this name calls for requests. */
  listenersOf(root: string): readonly Listener[];
  readonly fastPath: boolean;
  /** Before each request. */
  begins(): void;
  send(message: ToHome): void;
}

export class ReplicaAccept {
  readonly #options: ReplicaAcceptOptions;
  readonly #servers = new Map<string, Accepting>();

  constructor(options: ReplicaAcceptOptions) {
    this.#options = options;
  }

  accept({ root, home, fd, open, settings }: Extract<ToReplica, { kind: 'accept' }>): void {
    const server = serverWith(settings);
    const tell: Tell = (state) => this.#options.send({ kind: 'accepts', home, ...state });
    const accepting = new Accepting(server, fd, open, tell);
    const begins = (): void => {
      this.#options.begins();
      accepting.requests++;
    };
    fastPath.isHarmless(begins);
    server.on('request', begins);
    for (const listener of this.#options.listenersOf(root)) server.on('request', listener);
    if (this.#options.fastPath) fastPath.apply(server);
    this.#servers.set(home, accepting);
  }

  count({ home, ask }: Extract<ToReplica, { kind: 'count-accepted' }>): void {
    const accepting = this.#servers.get(home);
    if (accepting === undefined) {
      this.#options.send({ kind: 'accepts', home, requests: 0, connections: 0, isOver: true, ask });
    } else accepting.tell(false, ask);
  }

  stop({ home, connections }: Extract<ToReplica, { kind: 'stop-accept' }>): void {
    const accepting = this.#servers.get(home);
    if (accepting === undefined)
      this.#options.send({ kind: 'accepts', home, requests: 0, connections: 0, isOver: true, ask: null });
    else accepting.stop(connections);
  }
}

type Tell = (state: { requests: number; connections: number; isOver: boolean; ask: number | null }) => void;

class Accepting {
  requests = 0;
  readonly #server: http.Server;
  readonly #port: HandlePort;
  readonly #open: Int32Array;
  readonly #waiting: Waiting;
  readonly #tell: Tell;
  readonly #timer: NodeJS.Timeout;
  /** On their way home. */
  readonly #leaving = new Set<net.Socket>();
  #ending: Ending | null = null;
  #givesBack: NodeJS.Timeout | null = null;
  #isOver = false;
  #told = '';

  constructor(server: http.Server, fd: number, open: Int32Array, tell: Tell) {
    this.#server = server;
    this.#open = open;
    this.#tell = tell;
    this.#waiting = new Waiting(server);
    this.#timer = setInterval(() => this.tell(false, null), TELL_EVERY_MS);
    this.#timer.unref();
    server.once('close', () => this.#end());
    this.#port = HandlePort.open(fd, {
      received: (handle, what) => this.#received(handle, what),
      closed: () => {},
    });
  }

  #received(handle: Handle, what: Parcel): void {
    if (what === 'l') return this.#begin(handle);
    if (this.#ending !== null) return this.#tooLate(handle, what, this.#ending);
    const socket = connectTo(this.#server, handle);
    socket.once('close', () => void Atomics.sub(this.#open, 0, 1));
    if (what === 'i') this.#waiting.add(socket);
  }

  /** It knows its address by that; nobody listens here. */
  #begin(handle: Handle): void {
    Reflect.set(this.#server, '_handle', handle);
    this.#server.emit('listening');
    if (this.#ending !== null) this.#stop(this.#ending);
  }

  /** Home has sent it before it knew. */
  #tooLate(handle: Handle, what: Parcel, ending: Ending): void {
    Atomics.sub(this.#open, 0, 1);
    const close = (): void => {
      handle.close();
      this.#closePort();
    };
    if (ending === 'give-back') this.#port.send(handle, what, close);
    else close();
  }

  /** No more connections. */
  stop(connections: Ending): void {
    const isFirst = this.#ending === null;
    if (this.#isOver || (!isFirst && connections === 'give-back')) return;
    this.#ending = connections;
    if (this.#server.listening || !isFirst) this.#stop(connections);
  }

  #stop(connections: Ending): void {
    if (connections === 'give-back') {
      this.#givesBack = setInterval(() => this.#giveBack(), GIVE_BACK_EVERY_MS);
      return this.#giveBack();
    }
    if (this.#server.listening) this.#server.close();
    if (connections === 'at-once') this.#server.closeAllConnections();
    else for (const socket of this.#waiting.idle()) socket.destroy();
  }

  /** Each connection goes home as soon as nothing is under way on it. */
  #giveBack(): void {
    for (const socket of [...idleConnections(this.#server), ...this.#waiting.idle()]) {
      const handle = handleOf(socket);
      if (handle === null || this.#leaving.has(socket)) continue;
      this.#leaving.add(socket);
      handle.readStop();
      this.#port.send(handle, 'i', () => {
        this.#leaving.delete(socket);
        socket.destroy();
      });
    }
    this.#server.getConnections((_error, count) => {
      if (count === 0 && this.#server.listening) this.#server.close();
    });
  }

  #end(): void {
    this.#isOver = true;
    // It would look for connections that are late for ever.
    this.#server.close();
    clearInterval(this.#timer);
    if (this.#givesBack !== null) clearInterval(this.#givesBack);
    this.tell(true, null);
    this.#closePort();
  }

  #closePort(): void {
    if (this.#isOver && this.#port.isEmpty) this.#port.close();
  }

  /** Whoever asks is told; without being asked only what is new. */
  tell(isOver: boolean, ask: number | null): void {
    this.#server.getConnections((_error, connections) => {
      const state = { requests: this.requests, connections: connections ?? 0, isOver };
      const told = JSON.stringify(state);
      if (ask === null && told === this.#told) return;
      this.#told = told;
      this.#tell({ ...state, ask });
    });
  }
}
