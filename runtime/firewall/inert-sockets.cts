/**
 * Reads:   connections and datagrams of this thread.
 * Gives:   at start-up: sockets that go on connecting for ever, so that nothing is sent and nothing comes back. Later:
 *          word to the supervisor of what goes out.
 *
 * All client connections of Node's core (TCP, pipes, TLS, HTTP, HTTP/2, `fetch`) pass through `net.Socket.connect`.
 */
import dgram = require('node:dgram');
import dns = require('node:dns');
import dnsPromises = require('node:dns/promises');
import events = require('node:events');
import http = require('node:http');
import http2 = require('node:http2');
import net = require('node:net');
import patching = require('./patches.cjs');
import callSites = require('./call-site.cjs');
import inertTimers = require('./inert-timers.cjs');
import table = require('./table.cjs');
import walls = require('./wall.cjs');

type Wall = InstanceType<typeof walls.Wall>;
type Patches = InstanceType<typeof patching.Patches>;

const { apply } = Reflect;
const { isFunction } = patching;

/** `temporary` patches are restored when the firewall is lifted, `lasting` ones stay. */
function stopSockets(wall: Wall, temporary: Patches, lasting: Patches): void {
  const dead = new WeakSet<object>();
  const live = new WeakSet<object>();
  stopConnections(wall, lasting, dead, live);
  stopWrites(wall, lasting, dead, live);
  stopDescriptors(wall, temporary);
  stopRequests(wall, temporary);
  stopDatagrams(wall, lasting);
  stopNames(wall, temporary);
  stopFetch(wall, temporary);
  watchHttp2(wall, lasting);
}

/** `live`: of packages that connect. */
function stopConnections(wall: Wall, patches: Patches, dead: WeakSet<object>, live: WeakSet<object>): void {
  patches.wrap(net.Socket.prototype, 'connect', () => ({
    apply: function trap(target, self, args) {
      if (!wall.stops || !(self instanceof net.Socket)) {
        if (wall.isArmed) wall.effect('network', 'net.connect');
        return callSites.callHidden(target, self, args);
      }
      const site = wall.site(trap);
      if (wall.connects(site)) {
        live.add(self);
        return wall.outside(() => callSites.callHidden(target, self, args));
      }
      wall.note('net.connect', site);
      dead.add(self);
      // As a socket is while it connects: what is written waits.
      Reflect.set(self, 'connecting', true);
      const callback = args.flat().findLast(isFunction);
      if (callback !== undefined) self.once('connect', callback);
      return self;
    },
  }));
  // Its time-out would be kept by Node itself, and would come after start-up.
  patches.wrap(net.Socket.prototype, 'setTimeout', () => ({
    apply(target, self, args) {
      const [time, callback] = args;
      if (!(self instanceof net.Socket) || live.has(self) || !(wall.stops || dead.has(self)))
        return apply(target, self, args);
      Reflect.set(self, 'timeout', time);
      if (isFunction(callback)) self.once('timeout', callback);
      return self;
    },
  }));
}

/** What goes out by a client's connection that an earlier request opened. */
function stopWrites(wall: Wall, patches: Patches, dead: WeakSet<object>, live: WeakSet<object>): void {
  patches.wrap(net.Socket.prototype, '_writeGeneric', () => ({
    apply: function trap(target, self, args) {
      if (typeof self !== 'object' || self === null) return apply(target, self, args);
      // A socket made of an open file descriptor is connected from the beginning.
      if (wall.stops && !dead.has(self) && !isLive(self, live)) {
        wall.note('net.Socket.write', wall.site(trap));
        return undefined;
      }
      if (!wall.up) {
        if (wall.isArmed && Reflect.get(self, 'server') == null) wall.effect('network', 'net.Socket.write');
        if (dead.has(self)) wall.hooks?.dead?.('a connection made at start-up');
      }
      return apply(target, self, args);
    },
  }));
}

/** Or encrypts what goes over one that is. */
function isLive(socket: object, live: WeakSet<object>): boolean {
  const below: unknown = Reflect.get(socket, '_parent');
  return live.has(socket) || (typeof below === 'object' && below !== null && live.has(below));
}

/** All threads share open files: a socket made of one takes it from home, and closes it for home too. */
function stopDescriptors(wall: Wall, patches: Patches): void {
  for (const name of ['Socket', 'Stream']) {
    patches.wrap(net, name, () => ({
      construct: function trap(target, args, newTarget) {
        const [options] = args;
        if (
          wall.stops &&
          typeof options === 'object' &&
          options !== null &&
          typeof Reflect.get(options, 'fd') === 'number'
        ) {
          wall.giveUp(`a socket of an open file is made at ${wall.site(trap).at}`);
        }
        return Reflect.construct(target, args, newTarget);
      },
    }));
  }
}

/** A request of start-up takes no place in its agent, where later ones would wait behind it. */
function stopRequests(wall: Wall, patches: Patches): void {
  inertTimers.replaceUntilLift(wall, patches, http.Agent.prototype, 'addRequest', 'http.request', () => undefined);
}

function stopDatagrams(wall: Wall, patches: Patches): void {
  for (const name of ['bind', 'connect', 'send', 'addMembership', 'addSourceSpecificMembership']) {
    patches.wrap(dgram.Socket.prototype, name, () => ({
      apply: function trap(target, self, args) {
        if (!wall.stops) {
          if (wall.isArmed && name === 'send') wall.effect('network', 'dgram.send');
          return callSites.callHidden(target, self, args);
        }
        wall.note(`dgram.${name}`, wall.site(trap));
        return name === 'bind' ? self : undefined;
      },
    }));
  }
}

/** Functions of `dns` itself are in the table; resolvers have the same as methods. */
function stopNames(wall: Wall, patches: Patches): void {
  const queries = [...table.kindsOf('dns')].filter(([, kind]) => kind === 'later').map(([name]) => name);
  const never = inertTimers.neverSettles;
  for (const name of queries) {
    const stop = (holder: object, what: string, make: () => unknown): void =>
      inertTimers.replaceUntilLift(wall, patches, holder, name, what, make);
    stop(dnsPromises, `dns/promises.${name}`, never);
    stop(dnsPromises.Resolver.prototype, `dns/promises.Resolver.${name}`, never);
    // A query that never ends.
    stop(dns.Resolver.prototype, `dns.Resolver.${name}`, () => ({}));
  }
}

function stopFetch(wall: Wall, patches: Patches): void {
  inertTimers.replaceUntilLift(wall, patches, globalThis, 'fetch', 'fetch', inertTimers.neverSettles);
  for (const [holder, name, same] of [
    [globalThis, 'WebSocket', http],
    [http, 'WebSocket', null],
    [globalThis, 'EventSource', null],
  ] as const) {
    patches.wrapOnceRead(
      holder,
      name,
      () => ({
        construct: function trap(target, args, newTarget) {
          if (!wall.stops) return Reflect.construct(target, args, newTarget);
          wall.note(name, wall.site(trap));
          const inert = new EventTarget();
          Object.setPrototypeOf(inert, newTarget.prototype);
          const methods = { send: () => {}, close: () => {}, readyState: 0, url: String(args[0]) };
          for (const [key, value] of Object.entries(methods)) Object.defineProperty(inert, key, { value });
          return inert;
        },
      }),
      same,
    );
  }
}

/** The streams of an HTTP/2 session do not pass through the socket's methods. */
function watchHttp2(wall: Wall, patches: Patches): void {
  let known = false;
  patches.wrap(http2, 'connect', () => ({
    apply: function trap(target, self, args) {
      if (wall.stops) {
        wall.note('http2.connect', wall.site(trap));
        return inertSession();
      }
      const session = apply(target, self, args);
      if (!known && session instanceof events.EventEmitter) {
        known = true;
        watchRequests(wall, patches, Object.getPrototypeOf(session));
      }
      return session;
    },
  }));
}

function watchRequests(wall: Wall, patches: Patches, prototype: object): void {
  patches.wrap(prototype, 'request', () => ({
    apply(target, self, args) {
      if (wall.isArmed) wall.effect('network', 'http2.request');
      return apply(target, self, args);
    },
  }));
}

/** A session keeps time by itself and would end a connection that does not come about. */
function inertSession(): object {
  const session = new events.EventEmitter();
  const nothing = (): undefined => undefined;
  const stream = (): events.EventEmitter => Object.assign(new events.EventEmitter(), streamMembers);
  const streamMembers = { write: () => true, end: nothing, close: nothing, setEncoding: nothing, resume: nothing };
  return Object.assign(session, {
    closed: false,
    connecting: true,
    destroyed: false,
    request: stream,
    close: nothing,
    destroy: nothing,
    ping: () => false,
    ref: nothing,
    unref: nothing,
    settings: nothing,
    setTimeout: nothing,
    goaway: nothing,
  });
}

export = { stopSockets };
