/** Caches inside the process: objects like a Map, told apart by where they were made. */
import { calls, chained, each, emitter, mutating, pure, syncCallback, values, withDefault } from '../build.js';
import type { Call, PackageModel } from '../types.js';

const construct: Call = { returns: 'lru-cache.LRUCache', keeps: [-1] };

export const lruCache = {
  name: 'lru-cache',
  module: withDefault({
    construct,
    call: construct,
    members: { LRUCache: { construct } },
  }),
  types: {
    LRUCache: {
      identity: true,
      members: {
        // Reading makes an entry the youngest.
        ...mutating('get', { returns: 'contents' }),
        ...pure('peek', 'contents'),
        ...mutating('has'),
        ...chained('set'),
        ...mutating('delete del clear reset prune purgeStale'),
        ...pure('keys values entries dump', 'copy'),
        ...syncCallback('forEach', ['contents', 'contents', 'this']),
        fetch: { call: { promise: true, returns: 'contents', mutates: ['this'] } },
        ...values('size length max maxSize itemCount'),
      },
    },
  },
} satisfies PackageModel;

/** With `useClones` off it gives the value itself; a listener hears of each change. */
export const nodeCache = {
  name: 'node-cache',
  module: { construct: { returns: 'node-cache.Cache', keeps: [-1] } },
  types: {
    Cache: emitter({
      ...mutating('get mget take', { returns: 'contents' }),
      ...mutating('set mset', { keeps: [-1] }),
      ...mutating('del ttl flushAll flushStats close has'),
      ...pure('keys getTtl getStats'),
      ...values('options stats'),
    }),
  },
} satisfies PackageModel;

const MEMORY = {
  ...mutating('get', { returns: 'contents' }),
  ...mutating('put', { keeps: [1], returns: 'argument 1', does: ['timer'] }),
  ...mutating('del clear importJson debug'),
  ...pure('size memsize hits misses keys exportJson'),
};

/** The package itself is one cache. */
export const memoryCache = {
  name: 'memory-cache',
  module: {
    members: {
      ...each('get', { call: { returns: 'contents', mutates: ['this'], stateful: true } }),
      ...calls('put', { returns: 'argument 1', mutates: ['this'], keeps: [1], does: ['timer'], stateful: true }),
      ...calls('del clear importJson debug', { mutates: ['this'], stateful: true }),
      ...calls('size memsize hits misses keys exportJson', { stateful: true }),
      Cache: { construct: { returns: 'memory-cache.Cache' } },
    },
  },
  types: { Cache: { identity: true, members: MEMORY } },
} satisfies PackageModel;
