/**
 * Where sessions and limits are kept. A store uses the connection that it is given as any of its users does; the middleware that has
 * it remembers, and stays with its loop, so the store of a replica is never asked.
 */
import type { Members } from '../build.js';
import { classes, each, listed, promising, withDefault } from '../build.js';
import type { Call, PackageModel } from '../types.js';

/** What it sweeps out by a timer is in the database. */
const STORE: Call = { returns: 'express-session.Store', keeps: [-1], does: ['network'] };
const MADE: Members = {
  create: { call: STORE },
  ...each('MongoStore RedisStore', { construct: STORE, members: { create: { call: STORE } } }),
};

/** `require('connect-redis')(session)`, and in later versions a class. */
const sessionStores: readonly PackageModel[] = listed(
  'connect-redis connect-mongo connect-pg-simple session-file-store connect-session-sequelize connect-session-knex',
).map((name) => ({
  name,
  module: withDefault({ call: { returns: `${name}.Class` }, construct: STORE, members: MADE }),
  types: { Class: { members: {}, construct: STORE } },
}));

const LIMITERS = `RateLimiterRedis RateLimiterMongo RateLimiterMySQL RateLimiterPostgres RateLimiterMemcache
  RateLimiterMemory RateLimiterPrisma RateLimiterDynamo RateLimiterSQLite`;

/** Limiters in memory count; the others remember who is over the limit. */
const rateLimiterFlexible: PackageModel = {
  name: 'rate-limiter-flexible',
  module: { members: classes(LIMITERS, () => 'rate-limiter-flexible.Limiter') },
  types: {
    Limiter: {
      identity: true,
      members: promising('consume penalty reward block get set delete', {
        does: ['network'],
        stateful: true,
      }),
    },
  },
};

const rateLimitRedis: PackageModel = {
  name: 'rate-limit-redis',
  module: withDefault({ construct: STORE, members: each('RedisStore', { construct: STORE }) }),
};

export const storeModels: readonly PackageModel[] = [...sessionStores, rateLimiterFlexible, rateLimitRedis];
