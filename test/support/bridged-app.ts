/**
 * Two copies of one app in one thread: "home" serves, and calls of its handlers cross a MessageChannel to the "replica".
 * What the runtime does with threads, linker and placement is done here by hand, as simply as possible.
 */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { decode, type Encoded, encode } from '../../runtime/codec.js';
import {
  type AppNames,
  Below,
  CannotTravel,
  type Envelope,
  HomeExchange,
  type Outcome,
  openExchange,
  type ReplicaExchange,
  recordResponses,
  runAtHome,
  type ToHome,
  type ToReplica,
} from '../../runtime/http-bridge/index.js';

type Fn = (this: unknown, ...args: unknown[]) => unknown;

interface Slot {
  readonly name: string;
  readonly fn: Fn;
  set(fn: Fn): void;
}

type Down =
  | { readonly kind: 'open'; readonly slot: string; readonly envelope: Envelope; readonly extra: Encoded }
  | ToReplica;

export interface Bridge {
  readonly server: Server;
  readonly port: number;
  /** What the handlers came to, besides answers. */
  readonly outcomes: Outcome[];
  /** Names of handlers that ran at the replica, or had to run at home. */
  readonly ran: string[];
  readonly messages: { toReplica: number; toHome: number; open: number };
  readonly home: unknown;
  /** Exchanges that are open at home and at the replica. */
  open(): readonly [number, number];
  close(): Promise<void>;
}

export interface BridgeOptions {
  /** A listener without Express. */
  readonly plain?: boolean;
  readonly express?: 3 | 4 | 5;
}

/** Handlers with this property stay where they are. */
export function atHome<F extends object>(handler: F): F {
  return Object.assign(handler, { staysAtHome: true });
}

export async function serve(listener: RequestListener): Promise<{ server: Server; port: number }> {
  const server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address() as AddressInfo;
  return { server, port: address.port };
}

export async function bridge(make: () => RequestListener, options: BridgeOptions = {}): Promise<Bridge> {
  recordResponses();
  const home = make();
  const away = make();
  const channel = new MessageChannel();
  const side = new Home(channel.port1, names(home), options);
  const replica = new Replica(channel.port2, away, names(away), options);
  let listener = home;
  if (options.plain === true) {
    listener = side.stub({ name: 'listener', fn: home as Fn, set: () => {} }) as RequestListener;
  } else for (const slot of slots(home)) if (!Reflect.has(slot.fn, 'staysAtHome')) slot.set(side.stub(slot));
  const { server, port } = await serve(listener);
  return {
    server,
    port,
    home,
    open: () => [side.table.size, replica.table.size],
    outcomes: side.outcomes,
    ran: replica.ran,
    messages: side.messages,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      channel.port1.close();
      channel.port2.close();
    },
  };
}

class Home {
  readonly outcomes: Outcome[] = [];
  readonly messages = { toReplica: 0, toHome: 0, open: 0 };
  readonly table = new Map<number, HomeExchange>();
  /** Of what is over something may come late. */
  readonly #over = new Map<number, HomeExchange>();
  #last = 0;

  constructor(
    readonly port: MessagePort,
    readonly names: AppNames,
    readonly options: BridgeOptions,
  ) {
    port.on('message', (message: ToHome) => {
      this.messages.toHome++;
      (this.table.get(message.id) ?? this.#over.get(message.id))?.receive(message);
    });
    port.unref();
  }

  stub(slot: Slot): Fn {
    const side = this;
    const isError = slot.fn.length === 4;
    const send = function (this: unknown, args: unknown[], below: Below): unknown {
      return side.#dispatch(slot, this, args, isError, below);
    };
    // Arity tells Express what a handler is.
    const stub: Fn = isError
      ? function (this: unknown, err: unknown, req: unknown, res: unknown, next: unknown) {
          return send.call(this, [err, req, res, next], new Below(stub));
        }
      : function (this: unknown, req: unknown, res: unknown, next: unknown) {
          return send.call(this, [req, res, next], new Below(stub));
        };
    return stub;
  }

  #dispatch(slot: Slot, receiver: unknown, args: unknown[], isError: boolean, below: Below): unknown {
    const [req, res, next] = (isError ? args.slice(1) : args) as [IncomingMessage, ServerResponse, unknown];
    const settle = (outcome: Outcome): void => {
      this.#settle(outcome, next, () => runAtHome(slot.fn, receiver, args, below, settle));
    };
    let exchange: HomeExchange;
    let extra: Encoded;
    try {
      const id = ++this.#last;
      const closed = (): void => {
        this.#over.set(id, exchange);
        this.table.delete(id);
      };
      const send = (message: ToReplica): void => this.#post(message);
      exchange = new HomeExchange({ id, req, res, next, app: this.names, below, send, settle, closed });
      this.table.set(id, exchange);
      extra = encode(isError ? args[0] : undefined, exchange.refs);
    } catch (error) {
      if (!(error instanceof CannotTravel)) throw error;
      this.outcomes.push({ kind: 'cannot-travel', what: error.path, why: error.why, untouched: true });
      return slot.fn.apply(receiver, args);
    }
    this.messages.open++;
    this.#post({ kind: 'open', slot: slot.name, envelope: exchange.envelope, extra });
    return undefined;
  }

  #post(message: Down): void {
    this.messages.toReplica++;
    this.port.postMessage(message);
  }

  #settle(outcome: Outcome, next: unknown, runHere: () => unknown): void {
    this.outcomes.push(outcome);
    const go = typeof next === 'function' ? next : undefined;
    switch (outcome.kind) {
      case 'next':
        return outcome.given ? go?.(outcome.arg) : go?.();
      case 'threw':
        if (go === undefined) throw outcome.error;
        return go(outcome.error);
      case 'rejected':
        if (this.options.express !== 5) return void Promise.reject(outcome.error);
        return go?.(outcome.error ?? new Error('Rejected promise'));
      case 'cannot-travel':
        if (outcome.untouched) runHere();
        return;
      case 'lost':
        return;
    }
  }
}

class Replica {
  readonly ran: string[] = [];
  readonly table = new Map<number, ReplicaExchange>();
  readonly #handlers = new Map<string, Fn>();

  constructor(
    readonly port: MessagePort,
    app: RequestListener,
    readonly names: AppNames,
    options: BridgeOptions,
  ) {
    if (options.plain === true) this.#handlers.set('listener', app as Fn);
    else for (const { name, fn } of slots(app)) this.#handlers.set(name, fn);
    port.on('message', (message: Down) => this.#receive(message));
    port.unref();
  }

  #receive(message: Down): void {
    if (message.kind !== 'open') return this.table.get(message.id)?.receive(message);
    const exchange = openExchange(message.envelope, {
      app: this.names,
      send: (reply, transfer) => this.port.postMessage(reply, transfer),
      closed: (id) => void this.table.delete(id),
    });
    this.table.set(exchange.id, exchange);
    const handler = this.#handlers.get(message.slot);
    if (handler === undefined) throw new Error(`no handler ${message.slot}`);
    this.ran.push(message.slot);
    const error = handler.length === 4 ? [decode(message.extra, exchange.refs)] : [];
    exchange.run(handler, undefined, [...error, exchange.req, exchange.res, exchange.next]);
  }
}

// --- the router walk ------------------------------------------------------------------------------------------------

function names(app: unknown): AppNames {
  const byName = new Map<string, object>();
  const byThing = new Map<object, string>();
  for (const [name, thing] of things(app, 'app', new Set())) {
    byName.set(name, thing);
    byThing.set(thing, name);
  }
  return { nameOf: (thing) => byThing.get(thing), thingOf: (name) => byName.get(name) };
}

function* things(thing: unknown, name: string, seen: Set<unknown>): Generator<[string, object]> {
  if ((typeof thing !== 'object' && typeof thing !== 'function') || thing === null || seen.has(thing)) return;
  seen.add(thing);
  yield [name, thing];
  for (const [at, layer] of stackOf(thing).entries()) {
    yield* things(Reflect.get(layer, 'route'), `${name}.${at}.route`, seen);
    yield* things(Reflect.get(layer, 'handle'), `${name}.${at}`, seen);
  }
  for (const [method, routes] of Object.entries(express3Routes(thing))) {
    for (const [at, route] of routes.entries()) yield* things(route, `${name}.${method}.${at}`, seen);
  }
  for (const [path, app] of Object.entries(Reflect.get(thing, 'mountedApps') ?? {})) {
    yield* things(app, `${name}:${path}`, seen);
  }
}

function stackOf(thing: object): object[] {
  // Express 5 makes its router when it is asked for; Express 4 throws when it is.
  const router: unknown = Reflect.get(thing, '_router') ?? (Reflect.has(thing, 'stack') ? undefined : routerOf(thing));
  const stack: unknown = Reflect.get(
    typeof router === 'object' || typeof router === 'function' ? (router ?? thing) : thing,
    'stack',
  );
  if (Array.isArray(stack)) return stack;
  const own: unknown = Reflect.get(thing, 'stack');
  return Array.isArray(own) ? own : [];
}

function routerOf(thing: object): unknown {
  try {
    return Reflect.get(thing, 'router');
  } catch {
    return undefined;
  }
}

function express3Routes(thing: object): { [method: string]: { callbacks: Fn[] }[] } {
  const router: unknown = Reflect.get(thing, '_router');
  const map: unknown = typeof router === 'object' && router !== null ? Reflect.get(router, 'map') : undefined;
  return typeof map === 'object' && map !== null ? { ...map } : {};
}

const EXPRESS_OWN = new Set(['query', 'expressInit', 'router', 'mounted_app', 'initialize']);

function* slots(app: unknown, name = 'app'): Generator<Slot> {
  if (app === null || (typeof app !== 'object' && typeof app !== 'function')) return;
  for (const [at, layer] of stackOf(app).entries()) yield* layerSlots(layer, `${name}.${at}`);
  for (const [method, routes] of Object.entries(express3Routes(app))) {
    for (const [at, { callbacks }] of routes.entries()) {
      for (const [i, fn] of callbacks.flat().entries()) {
        yield { name: `${name}.${method}.${at}.${i}`, fn, set: (stub) => void (callbacks[i] = stub) };
      }
    }
  }
}

function* layerSlots(layer: object, name: string): Generator<Slot> {
  const route: unknown = Reflect.get(layer, 'route');
  if (typeof route === 'object' && route !== null) {
    yield* slots(route, `${name}.route`);
    return;
  }
  const handle: unknown = Reflect.get(layer, 'handle');
  if (typeof handle !== 'function') return;
  if (Array.isArray(Reflect.get(handle, 'stack'))) yield* slots(handle, name);
  else if (!EXPRESS_OWN.has(handle.name)) {
    yield { name, fn: handle as Fn, set: (stub) => void Reflect.set(layer, 'handle', stub) };
  }
}
