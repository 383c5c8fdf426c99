/**
 * Reads: a function that a router or a server calls for requests.
 * Gives: a stub that calls it through the HTTP bridge, both of whose sides are on this loop. Each message is cloned as a port
 *        would; it arrives at once, so that order and thrown errors are as they were.
 *
 * What cannot travel is handed over as it is. Whatever hooks into the response itself is called as it always was: on
 * another loop it would have to stay at home, too.
 */

import { isDeepStrictEqual, types } from 'node:util';
import { CannotTravel, decode, encode, type Refs } from './codec.js';
import {
  Below,
  HomeExchange,
  type Outcome,
  openExchange,
  type ReplicaExchange,
  runAtHome,
} from './http-bridge/index.js';
import { isAskedFor } from './http-bridge/promised.js';
import { recorders, renewBoth } from './http-bridge/record-response.js';
import { callAs, callResumed } from './http-bridge/stack.js';
import { hasStack, isRoute, type Slot } from './link/routers.js';
import type { Log } from './log.js';
import { foundHooksIn } from './loopback-hooks.js';
import { noteStandIns } from './loopback-identity.js';
import { IncomingMessage, ServerResponse } from './node-http.js';
import { sameShape } from './stubs.js';
import { throwLater } from './uncaught.js';

type Next = (...args: unknown[]) => void;

interface Call {
  readonly self: unknown;
  readonly args: readonly unknown[];
  /** Where the request stands among the arguments; response and `next` come behind it. */
  readonly at: number;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly next: Next | null;
  readonly stub: (...args: unknown[]) => unknown;
}

function mentions(fn: object, name: string): boolean {
  return Function.prototype.toString.call(fn).includes(name);
}

export type Bridged = ReturnType<typeof sameShape>;

/** `stays` is called when it turns out that it cannot be taken. */
export function throughBridge({ fn, kind }: Slot, log: Log, stays: () => void): Bridged {
  const at = kind === 'error' ? 1 : 0;
  let staysHere = false;
  const said = new Set<string>();
  const say = (why: string): void => {
    if (said.has(why)) return;
    said.add(why);
    log.info(`${why}; "${fn.name || 'anonymous'}" is called as it is written`);
  };
  const stay = (why: string): void => {
    staysHere = true;
    foundHooksIn(fn);
    stays();
    say(why);
  };
  return sameShape(fn, (self, args, stub) => {
    const req = args[at];
    const res = args[at + 1];
    const next = args[at + 2];
    const isOther = !(req instanceof IncomingMessage) || !(res instanceof ServerResponse);
    // Within another handler that has come over the bridge, this is a plain call, as it is on another loop.
    if (staysHere || isOther || recorders.get(res) !== undefined) return Reflect.apply(fn, self, args);
    const call = { self, args, at, req, res, next: isNext(next) ? next : null, stub };
    return new LoopbackCall(fn, call, stay, say).run();
  });
}

let calls = 0;

class LoopbackCall {
  readonly #fn: Slot['fn'];
  readonly #call: Call;
  /** From now on. */
  readonly #stay: (why: string) => void;
  /** This time. */
  readonly #say: (why: string) => void;
  readonly #things: Things;
  readonly #below: Below;
  #home: HomeExchange | null = null;
  #exchange: ReplicaExchange | null = null;
  #isRunning = true;
  #threw: { readonly error: unknown } | null = null;
  /** It could not go on there, and nothing has come of it. */
  #isAgain = false;
  #reject: ((error: unknown) => void) | null = null;

  constructor(fn: Slot['fn'], call: Call, stay: (why: string) => void, say: (why: string) => void) {
    this.#fn = fn;
    this.#call = call;
    this.#stay = stay;
    this.#say = say;
    this.#below = new Below(call.stub, call.self);
    this.#things = new Things(call, (name) => this.#home?.refs.thingOf(name));
  }

  run(): unknown {
    let exchange: ReplicaExchange;
    try {
      exchange = this.#open();
    } catch (error) {
      if (!(error instanceof CannotTravel)) throw error;
      this.#say(error.message);
      return this.#asWritten();
    }
    renewBoth(this.#call.res);
    const result = exchange.run(this.#fn as Next, this.#call.self, this.#arguments(exchange), this.#below.telling());
    this.#isRunning = false;
    if (this.#isAgain) return this.#asWritten();
    if (this.#threw !== null) throw this.#threw.error;
    // Anything else that has a `then` is for its caller to ask.
    const isOurs = types.isPromise(result) && isAskedFor(result, this.#fn, this.#call.req);
    return isOurs ? this.#promise(result) : result;
  }

  #open(): ReplicaExchange {
    const { req, res, next } = this.#call;
    let exchange: ReplicaExchange | null = null;
    const home = new HomeExchange({
      id: ++calls,
      ...{ req, res, next, app: this.#things, below: this.#below, isHere: true },
      send: (message) => exchange?.receive(structuredClone(message)),
      settle: (outcome) => this.#settle(outcome),
      closed: () => {},
    });
    this.#home = home;
    const needed = [...home.envelope.req.traps, ...home.envelope.res.traps].find(
      (name, index) => index % 2 === 0 && mentions(this.#fn, name),
    );
    try {
      if (needed !== undefined) throw new CannotTravel(needed, 'it is needed here');
      exchange = openExchange(structuredClone(home.envelope), {
        app: this.#things,
        send: (message, transfer) => home.receive(structuredClone(message, { transfer })),
        closed: () => {},
        real: {
          ...{ req, res },
          keep: (thing) => `:${this.#things.keep(thing)}`,
          read: (from, part, key) => this.#read(from, part === 'req' ? req : res, key),
        },
      });
    } catch (error) {
      home.restore();
      throw error;
    }
    this.#exchange = exchange;
    noteStandIns(exchange, { req, res });
    return exchange;
  }

  /** What cannot travel stays at home, and functions of home run there: with its request, and all that was done so far. */
  #read(exchange: ReplicaExchange, real: object, key: string | symbol): unknown {
    exchange.handBack(true);
    const found: unknown = Reflect.get(real, key);
    if (typeof found !== 'function') return found;
    return new Proxy(found, { apply: (_fn, _self, args: unknown[]) => this.#callAtHome(exchange, found, real, args) });
  }

  #callAtHome(exchange: ReplicaExchange, fn: object, real: object, args: unknown[]): unknown {
    exchange.handBack(true);
    const given = args.map((arg) => this.#asHomes(exchange, arg));
    try {
      const result: unknown = Reflect.apply(fn as Next, real, given);
      if (!(result instanceof Promise)) return result;
      return result.finally(() => this.#renew(exchange));
    } finally {
      this.#renew(exchange);
    }
  }

  #asHomes(exchange: ReplicaExchange, arg: unknown): unknown {
    const { req, res } = this.#call;
    if (arg === exchange.req) return req;
    if (arg === exchange.res) return res;
    if (typeof arg !== 'function') return arg;
    const called = (_fn: object, self: unknown, results: unknown[]): unknown => {
      this.#renew(exchange);
      return Reflect.apply(arg, self, results);
    };
    return new Proxy(arg, { apply: called });
  }

  #renew(exchange: ReplicaExchange): void {
    try {
      const envelope = this.#home?.pack();
      if (envelope !== undefined) exchange.renew(structuredClone(envelope));
    } catch (error) {
      // It goes on with what it had.
      if (!(error instanceof CannotTravel)) throw error;
    }
  }

  #arguments({ req, res, next, refs }: ReplicaExchange): unknown[] {
    const { args, at } = this.#call;
    return args.map((arg, index) => {
      if (index === at) return req;
      if (index === at + 1) return res;
      return index === at + 2 ? this.#call.next && next : this.#carried(arg, refs);
    });
  }

  /** An error, or what a parameter is worth. */
  #carried(arg: unknown, refs: ReplicaExchange['refs']): unknown {
    try {
      return decode(structuredClone(encode(arg, refs)), refs);
    } catch (error) {
      if (error instanceof CannotTravel) return arg;
      throw error;
    }
  }

  #asWritten(): unknown {
    const { stub, self, args } = this.#call;
    return callAs(stub, this.#fn, self, args);
  }

  #promise(result: PromiseLike<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      // That it was rejected comes over the bridge.
      result.then(resolve, () => {});
    });
  }

  // --- what comes of it -------------------------------------------------------------------------------------------------

  #settle(outcome: Outcome): void {
    const { next } = this.#call;
    switch (outcome.kind) {
      case 'next':
        this.#exchange?.leaveToHome();
        if (next !== null) callResumed(next, outcome.given ? [outcome.arg] : []);
        return;
      case 'rejected':
        this.#reject?.(outcome.error);
        return;
      case 'threw':
        this.#thrown(outcome.error);
        return;
      case 'lost':
        this.#stay(`${outcome.what} cannot travel: ${outcome.why}`);
        return;
      case 'cannot-travel':
        this.#stay(`${outcome.what} cannot travel: ${outcome.why}`);
        this.#again(outcome.untouched, outcome.what);
    }
  }

  /** While the handler runs, its caller gets it; later, who would. */
  #thrown(error: unknown): void {
    const { next } = this.#call;
    if (this.#isRunning) this.#threw = { error };
    else if (next !== null) callResumed(next, [error]);
    else throwLater(error);
  }

  #again(untouched: boolean, what: string): void {
    const { self, args, next } = this.#call;
    if (!untouched) this.#thrown(new Error(`${what} cannot travel, and something has come of the handler already`));
    else if (this.#isRunning) this.#isAgain = true;
    else {
      const given = next === null ? args.slice(0, this.#call.at + 2) : args;
      runAtHome(this.#fn as Next, self, given, this.#below, (outcome) => this.#settle(outcome));
    }
  }
}

/** What both sides have: Express apps, routers and routes, what the program may hold, and what was handed over as it is. */
class Things {
  readonly #things: unknown[] = [];
  readonly #call: Call;
  /** What home has under a name. */
  readonly #homes: (name: unknown) => unknown;

  constructor(call: Call, homes: (name: unknown) => unknown) {
    this.#call = call;
    this.#homes = homes;
  }

  keep(thing: unknown): string {
    const known = this.#things.indexOf(thing);
    return String(known === -1 ? this.#things.push(thing) - 1 : known);
  }

  nameOf(thing: object): string | undefined {
    return hasStack(thing) || isRoute(thing) || types.isNativeError(thing) ? this.keep(thing) : undefined;
  }

  /** Its type says object; a value that was kept may be any. */
  thingOf(name: string): object | undefined {
    return this.#things[Number(name)] as object | undefined;
  }

  /**
   * The program may look for it in a list, or change it later, and on another loop it would be there by proof: so it goes as it is. What
   * would arrive is made nevertheless, and takes its place if it is not the same.
   */
  hold(thing: object, nameOf: (thing: object) => unknown): string | undefined {
    const { req } = this.#call;
    // Routers make these for each request.
    if (thing === Reflect.get(req, 'params') || thing === Reflect.get(req, 'query')) return undefined;
    return arrivesWhole(thing, this.#refs(nameOf)) ? this.keep(thing) : undefined;
  }

  /** What is another object on the other side has no name here. */
  #refs(nameOf: (thing: object) => unknown): Refs {
    return {
      nameOf: (thing) => {
        const name = nameOf(thing);
        if (name === undefined || (typeof name === 'string' && name.startsWith(':'))) return name;
        if (Array.isArray(name) && this.#homes(name) === thing) return name;
        throw new CannotTravel('value', 'it is another object there');
      },
      thingOf: (name) => (Array.isArray(name) ? this.#homes(name) : this.thingOf(String(name).slice(1))),
    };
  }
}

function arrivesWhole(thing: object, refs: Refs): boolean {
  try {
    return isDeepStrictEqual(decode(structuredClone(encode(thing, refs)), refs), thing);
  } catch (error) {
    if (error instanceof CannotTravel) return false;
    throw error;
  }
}

function isNext(value: unknown): value is Next {
  return typeof value === 'function';
}
