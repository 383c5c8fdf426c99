import { calls, post, promising, pure, start, sync, withDefault } from '../build.js';
import type { PackageModel } from '../types.js';

export const bluebird = {
  name: 'bluebird',
  module: {
    construct: { ruptures: [sync(0, ['Resolver', 'Resolver'])], promise: true, returns: 'unknown' },
    members: {
      ...promising('resolve cast', { returns: 'argument 0' }),
      ...promising('reject'),
      ...promising('all props', { returns: 'copy 0' }),
      ...promising('race any some', { returns: 'unknown' }),
      delay: { call: { promise: true, returns: 'argument 1', does: ['timer'] } },
      promisify: { call: { returns: 'promisified argument 0' } },
      ...calls('promisifyAll', { mutates: [0], returns: 'argument 0' }),
      ...calls('method', { returns: 'bound argument 0' }),
      ...calls('try attempt', { ruptures: [sync(0, [])], promise: true, returns: 'result 0' }),
      ...calls('map filter each mapSeries', {
        ruptures: [start(1, ['contents 0', 'fresh'])],
        promise: true,
        returns: 'unknown',
      }),
      join: { call: { ruptures: [post('last', ['unknown'])], promise: true, returns: 'unknown' } },
    },
  },
} satisfies PackageModel;

export const q = {
  name: 'q',
  module: {
    call: { promise: true, returns: 'argument 0' },
    members: {
      ...promising('resolve', { returns: 'argument 0' }),
      ...promising('reject'),
      when: {
        call: {
          ruptures: [post(1, ['unknown']), post(2, ['unknown'])],
          promise: true,
          returns: 'argument 0 | result 1 | result 2',
        },
      },
      ...promising('all allSettled', { returns: 'copy 0' }),
      ...pure('isPromise isFulfilled isRejected isPending'),
      ...calls('denodeify nfbind', { returns: 'promisified argument 0' }),
    },
  },
} satisfies PackageModel;

export const pLimit = {
  name: 'p-limit',
  module: withDefault({ call: { returns: 'p-limit.Limit' } }),
  types: {
    Limit: {
      identity: true,
      members: {},
      call: {
        ruptures: [post(0, ['argument 1', 'argument 2'])],
        promise: true,
        returns: 'result 0',
        mutates: ['this'],
      },
    },
  },
} satisfies PackageModel;

export const pMap = {
  name: 'p-map',
  module: withDefault({ call: { ruptures: [start(1, ['contents 0', 'fresh'])], promise: true, returns: 'results 1' } }),
} satisfies PackageModel;

export const expressAsyncHandler = {
  name: 'express-async-handler',
  module: { call: { returns: 'bound argument 0' }, members: { default: { call: { returns: 'bound argument 0' } } } },
} satisfies PackageModel;

/** What it exports is of no use: it puts an accessor in the place of what the layers of Express 4 hold. */
export const expressAsyncErrors = {
  name: 'express-async-errors',
  module: {},
  wrapsHandlers: true,
} satisfies PackageModel;
