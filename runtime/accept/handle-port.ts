/**
 * Gives: a way for sockets between two loops of this process. What is sent arrives as another descriptor of the same socket, so
 *        each loop closes its own without the peer hearing of it.
 *
 * Threads of Node cannot send each other sockets, but processes can, and a pipe made for that may as well have both of its
 * ends here. A socket is one byte with a descriptor attached; one that has arrived is acknowledged by a byte, and only then
 * closed where it came from: what was not acknowledged when the other loop ends is still whole here.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ACKNOWLEDGED, type Begun, PipeBytes, textOf } from './pipe-bytes.js';

/** What Node keeps behind a socket or a server. It is not public, and the same in all versions that Fluxion runs on. */
export interface Handle {
  readonly fd: number;
  readonly onconnection?: (status: number, client?: Handle) => void;
  close(): void;
  unref(): void;
  readStart(): number;
  readStop(): number;
}

interface Pipe extends Handle {
  pendingHandle?: Handle | null;
  open(fd: number): number;
  connect(request: object, file: string): number;
  /** What it gives: a number where all is done, be it in vain; else, without a request, one that it has made. */
  writeLatin1String(request: Request | null, text: string, handle?: Handle): number | Request;
}

interface Request {
  handle?: Handle;
  oncomplete?: ((status: number) => void) | null;
  /** Of one that Node has made: what it came to before anybody could listen. */
  writeStatus?: number | null;
}

interface Classes {
  readonly Pipe: new (kind: number) => Pipe;
  readonly Connecting: new () => Request;
  /** Null since Node 26, which makes its requests itself. */
  readonly Writing: (new () => Request) | null;
}

/**
 * What a socket is: a listening one, a connection that nobody has read from, one between two requests (a digit: the same, and how
 * often it was given back in vain), one on which a request has begun.
 */
export type Parcel = 'l' | 'n' | 'i' | Digit | 'r';
type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9';

export interface HandlePortEvents {
  /** `begun`: with the last kind. */
  received(handle: Handle, what: Parcel, begun: Begun | null): void;
  /** The other end is no more. */
  closed(): void;
}

/** A pipe that carries handles. */
const IPC = 2;

// As they were before start-up: the firewall stands before them later.
const { Socket } = net;
const { connect } = Socket.prototype;

export class HandlePort {
  readonly #pipe: Pipe;
  /** Reads from it: how much of a buffer was filled only Node knows. */
  readonly #reader: net.Socket;
  readonly #writing: Classes['Writing'];
  readonly #events: HandlePortEvents;
  /** In the order in which they were sent, which is the one in which they arrive. */
  readonly #sent: ((hasArrived: boolean) => void)[] = [];
  readonly #bytes = new PipeBytes();
  #isOver = false;

  private constructor(pipe: Pipe, writing: Classes['Writing'], events: HandlePortEvents) {
    this.#pipe = pipe;
    this.#writing = writing;
    this.#events = events;
    this.#reader = new Socket({ handle: pipe, readable: true, writable: true } as net.SocketConstructorOpts);
    this.#reader.on('error', () => {});
    for (const event of ['end', 'close']) this.#reader.on(event, () => this.close());
    this.#reader.on('data', (bytes: Buffer) => this.#read(bytes));
    this.#reader.unref();
  }

  /** One end of a new pair; `fd`: the other end, for exactly one `open` on another loop. */
  static async make(events: HandlePortEvents): Promise<{ readonly port: HandlePort; readonly fd: number }> {
    const { Pipe, Connecting, Writing } = (classes ??= findClasses());
    const folder = mkdtempSync(path.join(tmpdir(), 'fluxion-'));
    const server = net.createServer();
    try {
      const file = path.join(folder, 'pipe');
      await new Promise<void>((resolve, reject) => server.once('error', reject).listen(file, resolve));
      const other = new Promise<Handle>((resolve, reject) => {
        Object.assign(handleOf(server) ?? {}, {
          onconnection: (status: number, client?: Handle) =>
            client === undefined ? reject(new Error(`no pipe: ${status}`)) : resolve(client),
        });
      });
      const pipe = new Pipe(IPC);
      const request = new Connecting();
      const connected = new Promise<void>((resolve, reject) => {
        request.oncomplete = (status) => (status === 0 ? resolve() : reject(new Error(`no pipe: ${status}`)));
      });
      const status = pipe.connect(request, file);
      if (status !== 0 && status !== undefined) throw new Error(`no pipe: ${status}`);
      const [end] = await Promise.all([other, connected]);
      // Closed by the loop that opens it; closed here, it might be another one's by then.
      kept.push(end);
      return { port: new HandlePort(pipe, Writing, events), fd: end.fd };
    } finally {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** The other end of a pair that another loop has made. */
  static open(fd: number, events: HandlePortEvents): HandlePort {
    const { Pipe, Writing } = (classes ??= findClasses());
    const pipe = new Pipe(IPC);
    pipe.open(fd);
    return new HandlePort(pipe, Writing, events);
  }

  /** `done`: the other loop has it, so this one's is to be closed; or it never will, and nothing has happened to it. */
  send(handle: Handle, what: Parcel, done: (hasArrived: boolean) => void, begun: Begun | null = null): void {
    if (this.#isOver) return done(false);
    this.#sent.push(done);
    if ((begun !== null && !this.#write(textOf(begun))) || !this.#write(what, handle)) this.close();
  }

  /** All that was sent has arrived. */
  get isEmpty(): boolean {
    return this.#sent.length === 0;
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reader.destroy();
    for (const done of this.#sent.splice(0)) done(false);
    this.#events.closed();
  }

  #write(text: string, handle?: Handle): boolean {
    const given = this.#writing === null ? null : this.#request(new this.#writing());
    const request = this.#pipe.writeLatin1String(given, text, handle);
    if (typeof request === 'number') return request === 0;
    this.#request(request);
    return (request.writeStatus ?? 0) === 0;
  }

  #request(request: Request): Request {
    request.handle = this.#pipe;
    request.oncomplete = (status) => {
      if (status !== 0) this.close();
    };
    return request;
  }

  /** The byte that a descriptor hangs on is the last of what is read with it. */
  #read(text: Buffer): void {
    const handle = this.#pipe.pendingHandle ?? null;
    this.#pipe.pendingHandle = null;
    this.#bytes.add(handle === null ? text : text.subarray(0, -1));
    for (const done of this.#sent.splice(0, this.#bytes.takeAcknowledged())) done(true);
    if (handle === null) return;
    const begun = this.#bytes.takeBegun();
    if (!this.#write(ACKNOWLEDGED)) return this.close();
    const what = String.fromCharCode(text.at(-1) ?? 0);
    if (isParcel(what)) this.#events.received(handle, what, begun);
  }
}

const kept: Handle[] = [];

function isParcel(what: string): what is Parcel {
  return /^[lnir\d]$/.test(what);
}

export function handleOf(owner: object): Handle | null {
  const handle: unknown = Reflect.get(owner, '_handle');
  return isHandle(handle) ? handle : null;
}

function isHandle(value: unknown): value is Handle {
  return typeof value === 'object' && value !== null && 'fd' in value && typeof value.fd === 'number';
}

let classes: Classes | null = null;

/** Sockets show them: one that connects to nothing, and one that has a handle of ours in the place of Node's. */
function findClasses(): Classes {
  const file = path.join(tmpdir(), 'fluxion-nobody-listens-here');
  const lone = new Socket();
  lone.on('error', () => {});
  Reflect.apply(connect, lone, [{ path: file }]);
  const { constructor: pipe } = Object(Reflect.get(lone, '_handle'));
  lone.destroy();
  const connecting = requestOf((socket) => void Reflect.apply(connect, socket, [{ path: file }]));
  const writing = requestOf((socket) => void socket.write('x'));
  if (connecting === null) throw new Error('this version of Node keeps its sockets otherwise');
  return { Pipe: pipe, Connecting: connecting, Writing: writing } as Classes;
}

/** Null where Node gives the handle none. */
function requestOf(act: (socket: net.Socket) => void): unknown {
  let found: unknown;
  const nothing = (): number => 0;
  const take = (request: object | null): number => {
    found = request?.constructor ?? null;
    return 0;
  };
  const asks = { connect: take, writeLatin1String: take, writeUtf8String: take, writeBuffer: take };
  const handle = { ...asks, close: nothing, ref: nothing, unref: nothing, readStart: nothing, readStop: nothing };
  const socket = new Socket({ handle, readable: false, writable: true } as net.SocketConstructorOpts);
  socket.on('error', () => {});
  act(socket);
  if (found !== null && typeof found !== 'function')
    throw new Error('this version of Node keeps its sockets otherwise');
  return found;
}
