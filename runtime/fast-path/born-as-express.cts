/**
 * Reads: a server that listens, whose only listener is an Express app.
 * Gives: to that server, requests and responses that are born with the prototypes which Express is about to set. It then sets
 *        what is already there, and the objects stay what V8 makes fast: changing the prototype of an object that exists makes
 *        each later access to it slow, and costs two thirds of all that a light request takes on Node 20 and 22.
 *
 * Nobody may see the difference. Between birth and the moment at which Express sets the prototypes, only Node and Express look
 * at the objects, and both find what they would have found: no property that they touch until then may be one that the app
 * has put on Express's prototypes. What can change later is looked at for each request, and the next one is born as ever.
 */
import diagnostics = require('node:diagnostics_channel');

import events = require('node:events');

import http = require('node:http');
import process = require('node:process');
import timers = require('node:timers');
import util = require('node:util');

import texts = require('./express-texts.cjs');

type Made = new (...args: never[]) => object;
type Class = 'IncomingMessage' | 'ServerResponse';

const { IncomingMessage, ServerResponse } = http;
const { isMap } = util.types;
const native = { IncomingMessage, ServerResponse };

/** What Node and Express touch by these names before, besides all that the classes have themselves. */
const TOUCHED = ['req', 'res', 'next', 'app', 'locals', 'params', 'baseUrl', 'originalUrl', '_parsedUrl'];
/** Express 4 parses it before. */
const TOUCHED_4 = ['query', ...TOUCHED];
/** Methods that are called before, and that some app might replace while it runs. */
const CALLED: { readonly [name in Class]: readonly string[] } = {
  IncomingMessage: ['on', 'emit', 'push', '_addHeaderLines', '_addHeaderLine'],
  ServerResponse: ['on', 'emit', 'setHeader', 'assignSocket'],
};
/** Whoever listens to these has the objects before Express. */
const CHANNELS = ['http.server.request.start', 'http.server.response.created'].map((name) => diagnostics.channel(name));
const HEARD_BEFORE = ['checkContinue', 'checkExpectation', 'upgrade', 'connect'];

/** On what is made here, and on listeners for requests that look at nothing that is changed here. It may be loaded more than once. */
const OURS = Symbol.for('fluxion.fast-path');
const { emit } = events.EventEmitter.prototype;
const { setTimeout } = timers;

const LATER_MS = 100;

/**
 * A constructor that calls the other one is slow on one half of V8's versions, and `Reflect.construct` on the other half: measured
 * on Node 20, 22, 24.
 */
const constructs = Number(process.versions.v8.split('.')[0]) >= 12;

function apply(server: http.Server): boolean {
  const symbols = {
    IncomingMessage: symbolOf(server, 'IncomingMessage'),
    ServerResponse: symbolOf(server, 'ServerResponse'),
  };
  const app = theOnly(server);
  if (app === null || symbols.IncomingMessage === null || symbols.ServerResponse === null) return false;
  for (const name of ['IncomingMessage', 'ServerResponse'] as const) {
    if (Reflect.get(server, symbols[name] ?? '') !== native[name] || http[name] !== native[name]) return false;
  }
  if (!texts.isKnown(app) || HEARD_BEFORE.some((event) => server.listenerCount(event) > 0)) return false;
  const { request, response, handle } = app;
  const touched = Reflect.has(app, '_router') && Reflect.get(app, '_router') !== undefined ? TOUCHED_4 : TOUCHED;
  if (!isUntouched(request, app, 'IncomingMessage', touched)) return false;
  if (!isUntouched(response, app, 'ServerResponse', touched)) return false;

  const looks = new Look(server, app);
  const isAsEver = (): boolean =>
    looks.isAlone() &&
    app.handle === handle &&
    app.request === request &&
    app.response === response &&
    !CHANNELS.some(isHeard);
  Reflect.set(server, symbols.IncomingMessage, classFor(request, 'IncomingMessage', isAsEver));
  Reflect.set(server, symbols.ServerResponse, classFor(response, 'ServerResponse', isAsEver));
  return true;
}

type Shorter = { apply(app: object, known: typeof texts): void };

/** What takes a while, and is for later: an app has its first answers without it. */
function shorten(server: http.Server): void {
  const app = theOnly(server);
  if (app === null) return;
  shorter ??= ['./short-send.cjs', './quick-match.cjs'].map(loadUnseen);
  for (const each of shorter) each.apply(app, texts);
}

let shorter: readonly Shorter[] | null = null;

/** What is loaded of ours while the app runs it need not see. */
function loadUnseen(name: string): Shorter {
  const loaded: Shorter = require(name);
  Reflect.deleteProperty(require.cache, require.resolve(name));
  return loaded;
}

/** Start-up is over by then. */
function shortenLater(server: http.Server): void {
  setTimeout(() => shorten(server), LATER_MS).unref();
}

function classFor(prototype: object, name: Class, isAsEver: () => boolean): Made {
  const plain = native[name];
  const [first, second, third, fourth, fifth] = CALLED[name];
  const has = (method: string | undefined): unknown => (method === undefined ? null : Reflect.get(prototype, method));
  const before = [has(first), has(second), has(third), has(fourth), has(fifth)];
  const shown: { readonly [name: string]: unknown } = prototype as { readonly [name: string]: unknown };
  const isSame = (): boolean =>
    shown[first ?? ''] === before[0] &&
    shown[second ?? ''] === before[1] &&
    shown[third ?? ''] === before[2] &&
    shown[fourth ?? ''] === before[3] &&
    (fifth === undefined || shown[fifth] === before[4]);
  const made = (constructs ? CONSTRUCTING : CALLING)[name](plain, () => isAsEver() && isSame());
  made.prototype = prototype;
  mark(made);
  return made;
}

type Make = (plain: Made, isAsEver: () => boolean) => Made & { prototype: object };

/** Stack traces say what made an object by the name that stands in the text of its constructor. */
const CONSTRUCTING: { readonly [name in Class]: Make } = {
  IncomingMessage: (plain, isAsEver) => {
    const made = function IncomingMessage(one: never): object {
      return Reflect.construct(plain, [one], isAsEver() ? made : plain);
    } as unknown as ReturnType<Make>;
    return made;
  },
  ServerResponse: (plain, isAsEver) => {
    const made = function ServerResponse(one: never, other: never): object {
      return Reflect.construct(plain, [one, other], isAsEver() ? made : plain);
    } as unknown as ReturnType<Make>;
    return made;
  },
};
const CALLING: { readonly [name in Class]: Make } = {
  IncomingMessage: (plain, isAsEver) =>
    function IncomingMessage(this: object, one: never): object | undefined {
      if (!isAsEver()) return Reflect.construct(plain, [one]);
      Reflect.apply(plain, this, [one]);
      return undefined;
    } as unknown as ReturnType<Make>,
  ServerResponse: (plain, isAsEver) =>
    function ServerResponse(this: object, one: never, other: never): object | undefined {
      if (!isAsEver()) return Reflect.construct(plain, [one, other]);
      Reflect.apply(plain, this, [one, other]);
      return undefined;
    } as unknown as ReturnType<Make>,
};

/** Whether the app, and nobody else, is called with each request. */
class Look {
  readonly #server: http.Server;
  readonly #app: object;
  #listeners: unknown = null;
  #count = 0;
  #isAlone = false;

  constructor(server: http.Server, app: object) {
    this.#server = server;
    this.#app = app;
  }

  isAlone(): boolean {
    const events: { readonly request?: unknown } = Reflect.get(this.#server, '_events');
    const { request } = events;
    const count = Array.isArray(request) ? request.length : 1;
    if (request !== this.#listeners || count !== this.#count) {
      this.#listeners = request;
      this.#count = count;
      this.#isAlone = theOnly(this.#server) === this.#app;
    }
    return this.#isAlone && this.#server.emit === emit;
  }
}

function theOnly(server: http.Server): object | null {
  const others = server.rawListeners('request').filter((listener) => !isOurs(listener));
  return others.length === 1 && server.emit === emit ? (others[0] ?? null) : null;
}

function isHeard(channel: diagnostics.Channel): boolean {
  if (!channel.hasSubscribers) return false;
  const { _subscribers: listeners, _stores: stores } = channel as unknown as {
    _subscribers: unknown;
    _stores: unknown;
  };
  // Node's is a Map that inherits nothing from Map.
  return !Array.isArray(listeners) || !listeners.every(isOurs) || !isMap(stores) || stores.size > 0;
}

/** What stands between Express's prototype and Node's has nothing that is touched before it is set. */
function isUntouched(prototype: object, app: object, name: Class, touched: readonly string[]): boolean {
  const names = new Set<string | symbol>([...touched, ...namesOf(name)]);
  let each: object | null = prototype;
  for (; each !== null && each !== native[name].prototype; each = Object.getPrototypeOf(each)) {
    for (const key of Reflect.ownKeys(each)) {
      // Express has put that there itself.
      if (each === prototype && key === 'app' && Reflect.get(each, 'app') === app) continue;
      if (typeof key === 'symbol' || names.has(key)) return false;
    }
  }
  return each !== null;
}

function namesOf(name: Class): readonly (string | symbol)[] {
  const request = new IncomingMessage(null as never);
  let each: object | null = name === 'IncomingMessage' ? request : new ServerResponse(request);
  const names: (string | symbol)[] = [];
  for (; each !== null; each = Object.getPrototypeOf(each)) names.push(...Reflect.ownKeys(each));
  return names;
}

function symbolOf(server: http.Server, name: Class): symbol | null {
  return Object.getOwnPropertySymbols(server).find(({ description }) => description === name) ?? null;
}

/** Made here, in the place of one of Node's classes. */
function isOurs(value: unknown): boolean {
  return typeof value === 'function' && OURS in value;
}

function isHarmless(listener: object): void {
  mark(listener);
}

function mark(value: object): void {
  Object.defineProperty(value, OURS, { value: true });
}

export = { apply, shorten, shortenLater, isOurs, isHarmless };
