/**
 * A replica's part: servers of its own, which take the connections that home hands over, and give them back where they are
 * to be served there again. What they call is the replica's own routers, with nothing between.
 */
import type http from 'node:http';
import type net from 'node:net';
import timers from 'node:timers';
import fastPath from '../fast-path/born-as-express.cjs';
import type { Handler, Stacks } from '../link/routers.js';
import type { Ending, ToHome, ToReplica } from '../messages.js';
import { IncomingMessage, ServerResponse } from '../node-http.js';
import { connectTo, idleConnections, Waiting } from './connections.js';
import { RunCounts } from './count-runs.js';
import { FarRequests } from './far-requests.js';
import { Gate, type GateOptions } from './gate.js';
import { type Handle, HandlePort, handleOf, type Parcel } from './handle-port.js';
import { LongCount } from './long-runs.js';
import { Meets, type Stay } from './meets.js';
import type { Begun } from './pipe-bytes.js';
import type { SecureSettings } from './secure-settings.js';
import { isHttps, renew, serverWith } from './server-settings.js';
import { whenRead } from './when-read.js';

// As they were before start-up: the firewall stands before them later.
const { setInterval, clearInterval, setTimeout } = timers;

const TELL_EVERY_MS = 250;
const GIVE_BACK_EVERY_MS = 20;
/** A connection takes less from home to here. */
const WAY_MS = 100;
const LOOK_AGAIN_MS = 2;

export type Listener = (...args: unknown[]) => void;

export interface ReplicaAcceptOptions {
  /** What the server of this name calls for requests. */
  listenersOf(root: string): readonly Listener[];
  /** What hangs below it. */
  stacksOf(root: string): Stacks | null;
  /** The fluxion that a function of its stacks is, by its path; null where nobody counts. */
  fluxionsOf: ((root: string) => ReadonlyMap<string, string>) | null;
  readonly fastPath: boolean;
  /** Before each request. */
  begins(): void;
  send(message: ToHome): void;
}

export class ReplicaAccept {
  readonly #options: ReplicaAcceptOptions;
  readonly #servers = new Map<string, Accepting>();
  readonly #far = new Map<string, FarRequests>();
  readonly #counts = new RunCounts();
  #effects = 0;

  constructor(options: ReplicaAcceptOptions) {
    this.#options = options;
  }

  /** The outside has seen something of what runs here. */
  hadEffect(): void {
    this.#effects++;
  }

  accept({ root, home, fd, open, settings, isPart, stays }: Extract<ToReplica, { kind: 'accept' }>): void {
    const server = serverWith(settings);
    const tell: Tell = (state) => this.#options.send({ kind: 'accepts', home, runs: this.#counts.take(), ...state });
    const accepting = new Accepting(server, fd, open, tell);
    const begins = (): void => {
      this.#options.begins();
      accepting.requests++;
      accepting.long.begins();
    };
    const ends = (): void => accepting.long.ends();
    for (const each of [begins, ends]) fastPath.isHarmless(each);
    server.on('request', begins);
    this.#watch(root);
    for (const listener of this.#options.listenersOf(root)) server.on('request', listener);
    server.on('request', ends);
    if (this.#options.fastPath) {
      fastPath.apply(server);
      fastPath.shorten(server);
    }
    if (isPart) this.#open(server, accepting, root, home, stays);
    this.#servers.set(home, accepting);
  }

  #watch(root: string): void {
    const fluxions = this.#options.fluxionsOf?.(root);
    if (fluxions === undefined) return;
    for (const slot of this.#options.stacksOf(root)?.slots ?? []) {
      const fluxion = fluxions.get(slot.path);
      if (fluxion !== undefined) this.#counts.watch(slot, fluxion);
    }
  }

  answered(message: Extract<ToReplica, { kind: 'far-answer' }>): void {
    this.#far.get(message.home)?.received(message);
  }

  /** Of what it calls, these have to run at home. */
  #open(server: http.Server, accepting: Accepting, root: string, home: string, stays: readonly Stay[]): void {
    const stacks = this.#options.stacksOf(root);
    if (stacks === null) throw new Error(`${root} is not known here`);
    const meets = new Meets(stacks, stays);
    const far = new FarRequests({ server, home, send: (message) => this.#options.send(message) });
    this.#far.set(home, far);
    const gate = accepting.open({
      server,
      far,
      // What home has changed since is known there only.
      mayMeet: (method, url) => accepting.isEnding || meets.mayMeet(method, url),
      effects: () => this.#effects,
    });
    // What passes others on is asked for these.
    const isHomes = new Set(stays.flatMap(({ path, prefix }) => (prefix === null ? [path] : [])));
    for (const slot of stacks.slots) {
      if (isHomes.has(slot.path)) slot.replace(this.#guard(slot.fn, gate, home));
    }
  }

  /** In the place of what has to run at home. That it is called at all was not to be expected: some code of the app's changes its routes. */
  #guard(fn: Handler, gate: Gate, home: string): Handler {
    const stop = (args: readonly unknown[]): void => {
      const req = args.find((each) => each instanceof IncomingMessage);
      const res = args.find((each) => each instanceof ServerResponse);
      if (req === undefined || res === undefined) return;
      const what = `${req.method} ${Reflect.get(req, 'originalUrl') ?? req.url}`;
      gate.startAgain(req, res, (couldBe) => {
        this.#options.send({ kind: 'astray', home, what, to: fn.name, isLost: !couldBe });
        if (!couldBe) fail(req, res);
      });
    };
    const guard = (...args: never[]): void => {
      stop(args);
    };
    return Object.defineProperty(guard, 'length', { value: fn.length });
  }

  resume({ home }: Extract<ToReplica, { kind: 'resume-accept' }>): void {
    this.#servers.get(home)?.resume();
  }

  closeIdle({ home }: Extract<ToReplica, { kind: 'close-idle' }>): void {
    this.#servers.get(home)?.closeIdle();
  }

  renew({ home, number, secure }: Extract<ToReplica, { kind: 'renew' }>): void {
    this.#servers.get(home)?.renew(secure);
    this.#options.send({ kind: 'renewed', home, number });
  }

  count({ home, ask }: Extract<ToReplica, { kind: 'count-accepted' }>): void {
    const accepting = this.#servers.get(home);
    if (accepting === undefined) {
      this.#options.send({ kind: 'accepts', home, ...NOTHING, ask });
    } else accepting.tell(false, ask);
  }

  stop({ home, connections }: Extract<ToReplica, { kind: 'stop-accept' }>): void {
    const accepting = this.#servers.get(home);
    if (accepting === undefined) this.#options.send({ kind: 'accepts', home, ...NOTHING, ask: null });
    else accepting.stop(connections);
  }
}

const NOTHING = { requests: 0, long: 0, connections: 0, isOver: true, runs: [] } as const;

/** One clear error. */
function fail({ socket }: IncomingMessage, res: ServerResponse): void {
  if (res.headersSent) return void socket.destroy();
  res.statusCode = 500;
  res.end();
}

type Tell = (state: {
  requests: number;
  long: number;
  connections: number;
  isOver: boolean;
  ask: number | null;
}) => void;

class Accepting {
  requests = 0;
  readonly long = new LongCount();
  readonly #server: http.Server;
  readonly #port: HandlePort;
  /** Connections that are here, and those that are on their way from home. */
  readonly #open: Int32Array;
  #here = 0;
  readonly #waiting: Waiting;
  readonly #tell: Tell;
  readonly #timer: NodeJS.Timeout;
  /** On their way home. */
  readonly #leaving = new Set<net.Socket>();
  #ending: Ending | null = null;
  #givesBack: NodeJS.Timeout | null = null;
  #isOver = false;
  #told = '';
  #gate: Gate | null = null;

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

  /** Connections go back home. */
  get isEnding(): boolean {
    return this.#ending === 'give-back';
  }

  /** Some requests are for home. */
  open(options: Pick<GateOptions, 'server' | 'far' | 'mayMeet' | 'effects'>): Gate {
    const begins = (socket: net.Socket): void => this.#waiting.begins(socket);
    const leaves = (socket: net.Socket, begun: Begun): void => this.#leave(socket, begun);
    const canMove = !isHttps(this.#server);
    const gate = new Gate({ ...options, begins, leaves, canMove });
    this.#gate = gate;
    // Behind Node's own listener, which reads requests from it.
    if (!canMove) this.#server.on('secureConnection', (socket: net.Socket) => gate.watch(socket, 0));
    return gate;
  }

  #leave(socket: net.Socket, begun: Begun): void {
    const handle = handleOf(socket);
    if (handle === null || this.#isLeaving(socket)) return;
    this.#leaving.add(socket);
    this.#port.send(handle, 'r', () => this.#left(socket), begun);
  }

  #isLeaving(socket: net.Socket): boolean {
    return socket.destroyed || this.#leaving.has(socket);
  }

  #left(socket: net.Socket): void {
    this.#leaving.delete(socket);
    socket.destroy();
  }

  #received(handle: Handle, what: Parcel): void {
    if (what === 'l') return this.#begin(handle);
    if (this.#ending !== null && !this.#isClosing) return this.#tooLate(handle, what, this.#ending);
    const socket = connectTo(this.#server, handle);
    this.#here++;
    socket.once('close', () => {
      this.#here--;
      Atomics.sub(this.#open, 0, 1);
    });
    if (isHttps(this.#server)) return;
    if (what !== 'n') this.#waiting.add(socket, this.#gate !== null);
    this.#gate?.watch(socket, /\d/.test(what) ? Number(what) : 0);
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

  /** It goes on after all, unless it has ended meanwhile. */
  resume(): void {
    if (this.#isOver || this.#ending !== 'give-back') return;
    this.#ending = null;
    if (this.#givesBack !== null) clearInterval(this.#givesBack);
    this.#givesBack = null;
  }

  closeIdle(): void {
    whenRead(() => {
      for (const socket of this.#idle()) if (!this.#isLeaving(socket)) socket.destroy();
    });
  }

  renew(secure: SecureSettings): void {
    if (!this.#isOver && isHttps(this.#server)) renew(this.#server, secure);
  }

  #stop(connections: Ending): void {
    if (connections === 'give-back') {
      this.#givesBack = setInterval(() => this.#giveBack(), GIVE_BACK_EVERY_MS);
      return this.#giveBack();
    }
    if (connections === 'close') return this.#closeSoon();
    if (this.#server.listening) this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Not before what has been asked until now is read here. */
  #closeSoon(until = performance.now() + WAY_MS): void {
    whenRead(() => {
      if (!this.#isClosing) return;
      if (Atomics.load(this.#open, 0) > this.#here && performance.now() < until)
        return void setTimeout(() => this.#closeSoon(until), LOOK_AGAIN_MS);
      this.#server.close();
      for (const socket of this.#waiting.idle()) socket.destroy();
    });
  }

  get #isClosing(): boolean {
    return this.#ending === 'close' && this.#server.listening;
  }

  /** Each connection goes home as soon as nothing is under way on it. Those of TLS end here, and ask home for all that comes on them. */
  #giveBack(): void {
    for (const socket of isHttps(this.#server) ? [] : this.#idle()) {
      const handle = handleOf(socket);
      if (handle === null || this.#isLeaving(socket)) continue;
      this.#leaving.add(socket);
      handle.readStop();
      this.#port.send(handle, 'i', () => this.#left(socket));
    }
    this.#server.getConnections((_error, count) => {
      if (count === 0 && this.#server.listening) this.#server.close();
    });
  }

  #idle(): readonly net.Socket[] {
    return [...idleConnections(this.#server), ...this.#waiting.idle()];
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
      const state = { requests: this.requests, long: this.long.count, connections: connections ?? 0, isOver };
      const told = JSON.stringify(state);
      if (ask === null && told === this.#told) return;
      this.#told = told;
      this.#tell({ ...state, ask });
    });
  }
}
