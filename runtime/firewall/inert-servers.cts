/**
 * Reads:   `listen` of all kinds of servers.
 * Gives:   servers that believe that they listen, and a list of them.
 */
import net = require('node:net');
import patching = require('./patches.cjs');
import walls = require('./wall.cjs');

import type { CapturedServer } from './startup-record.cjs';

type Wall = InstanceType<typeof walls.Wall>;
type Patches = InstanceType<typeof patching.Patches>;

/** For good: a server of this thread listens only by what the runtime does with it. */
function captureServers(wall: Wall, patches: Patches, servers: CapturedServer[]): void {
  patches.wrap(net.Server.prototype, 'listen', (original) => ({
    apply: function trap(_target, self, args) {
      if (!(self instanceof net.Server) || wall.passing > 0) return Reflect.apply(original, self, args);
      if (!wall.up && wall.hooks !== null) {
        wall.hooks.listen(self, args);
        return self;
      }
      const site = wall.site(trap);
      // As the original would: it throws at a server that listens already.
      if (self.listening) throw alreadyListens();
      const address = wall.listensAt(site) ?? wanted(args);
      servers.push({ server: self, args, at: site.at, address });
      const callback = args.flat().findLast(patching.isFunction);
      if (callback !== undefined) self.once('listening', callback);
      Reflect.set(self, '_handle', inertHandle(address));
      process.nextTick(() => {
        if (self.listening) self.emit('listening');
      });
      return self;
    },
  }));
}

function alreadyListens(): Error {
  const error = new Error('Listen method has been called more than once without closing.');
  return Object.assign(error, { code: 'ERR_SERVER_ALREADY_LISTEN' });
}

/** What `server.address()` and `server.close()` ask. */
function inertHandle(address: unknown): object {
  const nothing = (): number => 0;
  return {
    close: (done?: () => void) => {
      if (done !== undefined) process.nextTick(done);
    },
    ref: nothing,
    unref: nothing,
    hasRef: () => true,
    getAsyncId: nothing,
    getsockname: (out: object) => {
      Object.assign(out, typeof address === 'object' ? address : {});
      return 0;
    },
  };
}

function wanted(args: readonly unknown[]): { address: string; family: string; port: number } {
  const [first, second] = args.flat();
  const options = typeof first === 'object' && first !== null ? first : { port: first, host: second };
  const port = Number(Reflect.get(options, 'port'));
  const host: unknown = Reflect.get(options, 'host');
  const address = typeof host === 'string' ? host : '::';
  return { address, family: net.isIPv4(address) ? 'IPv4' : 'IPv6', port: Number.isInteger(port) ? port : 0 };
}

export = { captureServers };
