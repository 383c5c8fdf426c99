/**
 * Gives: the socket of a stand-in: the facts of home's connection, and a place for what Node writes. The bytes go nowhere,
 *        for home's own response makes them; what counts is when they would have been taken.
 */
import { type AddressInfo, Socket } from 'node:net';
import type tls from 'node:tls';
import builtin from '../builtin.cjs';
import type { Address } from './addresses.js';
import type { Connection, SocketMethod } from './messages.js';

/** What a stand-in may have on the way to home before `write` says that it is enough. */
const HIGH_WATER_MARK = 131_072;

type Written = (error?: Error | null) => void;

let secureNames: readonly string[] | null = null;

/** What a TLS connection can tell about itself; all of it is at home. Few apps have one: TLS takes 1.5 MB. */
function findSecureNames(): readonly string[] {
  const { TLSSocket }: typeof tls = builtin.getBuiltin('node:tls');
  const names = Object.getOwnPropertyNames(TLSSocket.prototype);
  return [...names.filter((name) => name !== 'constructor' && !name.startsWith('_')), 'ssl'];
}

/** Node and the bridge put them there later. */
const PUT_BY_NODE: readonly string[] = ['_httpMessage', 'timeout', '_peername', '_sockname', 'destroyed', 'parser'];

/** Of the real connection only; Node itself asks no stand-in for them. */
const AT_HOME: readonly string[] = ['bytesRead', 'bytesWritten'];

function trap(socket: object, name: string, get: (value?: unknown) => unknown): void {
  Object.defineProperty(socket, name, { get: () => get(), set: get, enumerable: true, configurable: true });
}

export interface SocketOwner {
  /** Is Node writing, because the app called a method of the response? */
  readonly isWriting: boolean;
  /** Is it doing so at this moment? */
  readonly isInCall: boolean;
  /** Home's own socket, where both sides are one loop. */
  readonly realSocket: Socket | null;
  fail(what: string, why: string): never;
  pull(): void;
  setTimeout(ms: number): void;
  option(method: SocketMethod, args: unknown[]): void;
  /** Home destroys the real one, and tells when that is closed. */
  destroyed(error: Error | null): void;
}

export class StandInSocket extends Socket {
  readonly #owner: SocketOwner;
  readonly #connection: Connection;
  #isAsked: boolean;
  #pending = 0;
  #isClosed = false;
  /** Those of the call that is being made, and of the response's end. */
  #callbacks: Written[] = [];
  /** Own properties that are none of the app's, or that home has been told of. */
  readonly #known: Set<string>;

  constructor(connection: Connection, owner: SocketOwner) {
    super();
    this.#owner = owner;
    this.#connection = connection;
    this.#isAsked = connection.isAsked;
    for (const name of connection.traps) {
      trap(this, name, (...value) => this.#real('req', name, 'the app put it there', ...value));
    }
    if (connection.tls !== null) this.#beSecure(connection.tls);
    this.#known = new Set([...Object.keys(this), ...PUT_BY_NODE]);
  }

  #beSecure(facts: NonNullable<Connection['tls']>): void {
    Object.assign(this, { encrypted: true }, facts);
    for (const name of (secureNames ??= findSecureNames())) {
      trap(this, name, (...value) => this.#real('req', name, 'it is of the TLS connection', ...value));
    }
  }

  /** Home's own, where both sides are one loop. */
  get real(): Socket | null {
    return this.#owner.realSocket;
  }

  /** What the app has put on the connection since the last time. */
  takePut(): readonly string[] {
    const names = Object.keys(this).filter((name) => !this.#known.has(name));
    for (const name of names) this.#known.add(name);
    return names;
  }

  /** What only home's socket has; a value is to be put there. */
  #real(part: 'req' | 'res', name: string, why: string, ...value: unknown[]): unknown {
    const { realSocket } = this.#owner;
    if (realSocket === null) return this.#owner.fail(`${part}.socket.${name}`, why);
    if (value.length > 0) return Reflect.set(realSocket, name, value[0]);
    const found: unknown = Reflect.get(realSocket, name);
    return typeof found === 'function' ? found.bind(realSocket) : found;
  }

  // --- facts ----------------------------------------------------------------------------------------------------------

  /** Node's own properties (`remoteAddress`, …) ask these. Who was not asked has nothing to tell of a connection that is gone. */
  _getpeername(): Address {
    if (!this.#isAsked) {
      if (this.destroyed) return {};
      this.#isAsked = true;
      this.#owner.option('_getpeername', []);
    }
    const { remoteAddress: address, remotePort: port, remoteFamily: family } = this.#connection;
    return { address, port, family };
  }

  /** Somebody has asked who the client is, wherever that was. */
  remember(): void {
    this.#isAsked = true;
  }

  _getsockname(): Address {
    if (this.destroyed) return {};
    const { localAddress: address, localPort: port, localFamily: family } = this.#connection;
    return { address, port, family };
  }

  override address(): AddressInfo | Record<string, never> {
    const { address, port, family } = this._getsockname();
    return address === undefined || port === undefined || family === undefined ? {} : { address, port, family };
  }
  static {
    // Where Node has an accessor its types have a property.
    const get = (name: string, read: (socket: StandInSocket) => unknown): void => {
      Object.defineProperty(StandInSocket.prototype, name, {
        get(this: StandInSocket) {
          return read(this);
        },
        configurable: true,
      });
    };
    get('pending', () => false);
    Object.defineProperty(StandInSocket.prototype, 'server', {
      get(this: StandInSocket) {
        return this.#server();
      },
      // Node's own constructor clears it.
      set() {},
      configurable: true,
    });
    get('writableLength', (socket) => socket.#writableLength());
    for (const name of AT_HOME) {
      Object.defineProperty(StandInSocket.prototype, name, {
        get(this: StandInSocket) {
          return this.#real('req', name, 'it is of the connection itself');
        },
        // Node's own constructor clears it.
        set() {},
        configurable: true,
      });
    }
  }

  /** Node asks it how strict to be with headers; all else of a server is at home. */
  #server(): unknown {
    if (this.#owner.realSocket !== null) return Reflect.get(this.#owner.realSocket, 'server');
    const { httpValidation, insecureHTTPParser } = this.#connection;
    const known = new Map<string | symbol, unknown>(Object.entries({ httpValidation, insecureHTTPParser }));
    const get = (_: object, name: string | symbol): unknown =>
      known.has(name)
        ? known.get(name)
        : this.#owner.fail(`req.socket.server.${String(name)}`, 'the server is at home');
    return new Proxy({}, { get });
  }

  // --- what Node does with it -------------------------------------------------------------------------------------------

  /** A little is taken by the system at once; but Node must not think, when it ends a response, that all of it is sent. */
  #writableLength(): number {
    if (this.#owner.isInCall) return Math.max(1, this.#pending);
    return this.#pending < HIGH_WATER_MARK ? 0 : this.#pending;
  }

  #callReal(method: 'write' | 'end', args: unknown[]): unknown {
    const found = this.#real('res', method, 'it bypasses the response');
    return typeof found === 'function' ? found(...args) : undefined;
  }

  override write(data: unknown, encoding?: unknown, callback?: unknown): boolean {
    if (!this.#owner.isWriting) return this.#callReal('write', [data, encoding, callback]) === true;
    if (typeof data === 'string' || data instanceof Uint8Array) this.#pending += data.length;
    const written = typeof encoding === 'function' ? encoding : callback;
    if (typeof written === 'function') this.#callbacks.push((error) => written(error));
    return this.#pending < HIGH_WATER_MARK;
  }

  takeCallbacks(): Written[] {
    const taken = this.#callbacks;
    if (taken.length > 0) this.#callbacks = [];
    return taken;
  }

  drained(): void {
    this.#pending = 0;
  }

  /** Node asks for more of the body by this. */
  override resume(): this {
    this.#owner.pull();
    return this;
  }

  override pause(): this {
    return this;
  }

  override setTimeout(ms: number, listener?: () => void): this {
    Reflect.set(this, 'timeout', ms);
    if (listener !== undefined) this.once('timeout', listener);
    this.#owner.setTimeout(ms);
    return this;
  }

  override setNoDelay(...args: unknown[]): this {
    this.#owner.option('setNoDelay', args);
    return this;
  }

  override setKeepAlive(...args: unknown[]): this {
    this.#owner.option('setKeepAlive', args);
    return this;
  }

  override end(...args: unknown[]): this {
    // What is written behind the response's back is for home's socket only.
    if (args.every((arg) => arg === undefined)) this.#owner.option('end', []);
    else this.#callReal('end', args);
    return this;
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    // Home's server takes the error. Sockets tell by themselves that they are closed.
    callback(null);
    if (!this.#isClosed) this.#owner.destroyed(error);
  }

  /** Home's connection is closed: whoever listens is told at once. */
  close(hadError: boolean): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.emit('close', hadError);
  }
}
