/** Redis. A client is a connection that may be opened once for each loop; a subscription is not. */
import { callbackOrPromise, each, emitter, post, pure, values, withDefault } from '../build.js';
import type { Call, PackageModel, TypeModel } from '../types.js';

const does = ['network'] as const;
const client = (type: string): Call => ({ returns: type, keeps: [-1], connects: true });

/** Commands are methods. What comes in by subscription comes to each loop that subscribed, so that stays with one. */
const REDIS: TypeModel = {
  ...emitter({
    ...callbackOrPromise('connect', { does, mutates: ['this'], returns: 'this' }),
    ...callbackOrPromise('disconnect quit', { does, mutates: ['this'] }),
    ...each('subscribe pSubscribe psubscribe unsubscribe punsubscribe', {
      call: {
        ruptures: [{ kind: 'start', callback: 'last' }],
        promiseWithoutCallback: true,
        returns: 'fresh',
        does,
        mutates: ['this'],
        stateful: true,
      },
    }),
    // What these say holds for the connection, whoever uses it next.
    ...callbackOrPromise(
      `select SELECT auth AUTH watch WATCH unwatch UNWATCH discard DISCARD monitor MONITOR reset RESET
      clientTracking CLIENT_TRACKING readonly READONLY readwrite READWRITE asking ASKING hello HELLO`,
      { does, mutates: ['this'], stateful: true },
    ),
    ...each('multi pipeline batch', { call: { returns: 'redis.Multi' } }),
    ...pure('duplicate', 'redis.Client'),
    ...values('isOpen isReady status connected'),
  }),
  ordered: true,
  others: { ruptures: [post('last', ['fresh', 'fresh'])], promiseWithoutCallback: true, returns: 'fresh', does },
};

export const redis = {
  name: 'redis',
  module: { members: each('createClient createCluster', { call: client('redis.Client') }) },
  types: {
    Client: REDIS,
    Multi: {
      members: callbackOrPromise('exec EXEC execAsPipeline', { does, mutates: ['this'] }),
      others: { returns: 'this', mutates: ['this'], keeps: [-1] },
    },
  },
} satisfies PackageModel;

export const ioredis = {
  name: 'ioredis',
  module: withDefault({
    construct: client('redis.Client'),
    members: each('Redis Cluster', { construct: client('redis.Client') }),
  }),
} satisfies PackageModel;
