/**
 * Gives: each HTTP server of this process, as soon as it listens, in the order of their calls of `listen`.
 *
 * `listen` is looked up through a getter, which notes the server and gives the method as it is: unlike a function around
 * it, it leaves no frame in the stack traces of whoever listens on a port that is taken.
 */
import http = require('node:http');
import net = require('node:net');
import process = require('node:process');

import type https = require('node:https');

type WebServer = http.Server | https.Server;

function watchServers(found: (server: WebServer) => void): void {
  const seen = new WeakSet<net.Server>();
  const prototype: object = net.Server.prototype;
  let listen: unknown = Reflect.get(prototype, 'listen');
  Object.defineProperty(prototype, 'listen', {
    configurable: true,
    enumerable: true,
    get(this: unknown) {
      if (isWebServer(this) && !seen.has(this)) {
        seen.add(this);
        expect(this, found);
      }
      return listen;
    },
    set(this: object, value: unknown) {
      if (this === prototype) listen = value;
      else Object.defineProperty(this, 'listen', { value, writable: true, enumerable: true, configurable: true });
    },
  });
}

function isWebServer(value: unknown): value is WebServer {
  if (value instanceof http.Server) return true;
  if (!(value instanceof net.Server) || !wasHttpsLoaded()) return false;
  const { Server }: typeof https = require('node:https');
  return value instanceof Server;
}

/** It brings all of TLS along, which most apps do not need. Where Node does not say, it may have been. */
function wasHttpsLoaded(): boolean {
  const loaded: unknown = Reflect.get(process, 'moduleLoadList');
  return !Array.isArray(loaded) || loaded.includes('NativeModule https');
}

function expect(server: WebServer, found: (server: WebServer) => void): void {
  server.prependOnceListener('listening', () => found(server));
}

export = { watchServers };
