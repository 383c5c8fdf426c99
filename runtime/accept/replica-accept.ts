/**
 * A replica's part: servers of its own on home's listening sockets. What they call is the replica's own routers, with nothing
 * between.
 */
import type http from 'node:http';
import net from 'node:net';
import timers from 'node:timers';
import type { Ending, ToHome, ToReplica } from '../messages.js';
import { serverWith } from './server-settings.js';

// As they were before start-up: the firewall stands before them later.
const { listen, close } = net.Server.prototype;
const { setInterval, clearInterval } = timers;

const TELL_EVERY_MS = 250;
const END_IDLE_EVERY_MS = 20;

export type Listener = (...args: unknown[]) => void;

export interface ReplicaAcceptOptions {
  /** What the server of this name calls for requests. */
  listenersOf(root: string): readonly Listener[];
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

  accept({ root, home, fd, settings }: Extract<ToReplica, { kind: 'accept' }>): void {
    this.#servers.get(home)?.stop('leave');
    const server = serverWith(settings);
    const accepting = new Accepting(server, (state) => this.#options.send({ kind: 'accepts', home, ...state }));
    server.on('request', () => {
      this.#options.begins();
      accepting.requests++;
    });
    for (const listener of this.#options.listenersOf(root)) server.on('request', listener);
    this.#servers.set(home, accepting);
    Reflect.apply(listen, server, [{ fd }]);
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
  readonly #tell: Tell;
  readonly #timer: NodeJS.Timeout;
  #ending: NodeJS.Timeout | null = null;
  #told = '';

  constructor(server: http.Server, tell: Tell) {
    this.#server = server;
    this.#tell = tell;
    this.#timer = setInterval(() => this.tell(false, null), TELL_EVERY_MS);
    this.#timer.unref();
    // Home serves them then.
    server.on('error', () => this.stop('leave'));
    server.once('close', () => {
      // It would look for connections that are late for ever.
      server.close();
      clearInterval(this.#timer);
      if (this.#ending !== null) clearInterval(this.#ending);
      this.tell(true, null);
    });
  }

  /** No more connections. */
  stop(connections: Ending): void {
    // Node's own `http.Server.close` ends idle connections as well.
    if (this.#server.listening) Reflect.apply(connections === 'leave' ? close : this.#server.close, this.#server, []);
    if (connections === 'at-once') this.#server.closeAllConnections();
    if (connections === 'leave' || this.#ending !== null) return;
    this.#server.closeIdleConnections();
    if (connections === 'when-idle') {
      this.#ending = setInterval(() => this.#server.closeIdleConnections(), END_IDLE_EVERY_MS);
    }
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
