/**
 * Drivers of databases. A client is a lazy connection or pool: each loop may have its own. A database inside the process
 * (SQLite) may live in memory, so it stays with its owner.
 */
import type { Members } from '../build.js';
import {
  callbackLast,
  callbackOrPromise,
  calls,
  chained,
  each,
  emitter,
  mutating,
  post,
  promising,
  pure,
  values,
  withDefault,
} from '../build.js';
import type { Call, PackageModel, TypeModel } from '../types.js';

const does = ['network'] as const;
const client = (type: string): Call => ({ returns: type, keeps: [-1], connects: true });

// ---------------------------------------------------------------------------------------------------------- MongoDB

export const mongodb = {
  name: 'mongodb',
  module: {
    members: {
      MongoClient: {
        construct: client('mongodb.MongoClient'),
        members: callbackOrPromise('connect', { does, returns: 'mongodb.MongoClient' }, ['fresh', 'mongodb.MongoClient']),
      },
      ...each('ObjectId ObjectID', { call: { returns: 'mongodb.ObjectId' }, construct: { returns: 'mongodb.ObjectId' } }),
    },
  },
  types: {
    MongoClient: emitter({
      ...callbackOrPromise('connect', { does, returns: 'mongodb.MongoClient' }, ['fresh', 'mongodb.MongoClient']),
      ...callbackOrPromise('close', { does, mutates: ['this'] }),
      db: { call: { returns: 'mongodb.Db', shared: true } },
    }),
    Db: {
      members: {
        collection: { call: { returns: 'mongodb.Collection', shared: true } },
        ...callbackOrPromise('command stats dropDatabase dropCollection createIndex renameCollection collections', { does }),
        ...promising('createCollection', { does, returns: 'mongodb.Collection' }),
        ...each('listCollections aggregate', { call: { returns: 'mongodb.Cursor' } }),
      },
    },
    Collection: {
      members: {
        // Documents without an `_id` are given one.
        ...callbackOrPromise('insertOne insertMany', { does, mutates: [0] }),
        ...callbackOrPromise(
          `findOne updateOne updateMany replaceOne deleteOne deleteMany findOneAndUpdate findOneAndReplace
          findOneAndDelete countDocuments estimatedDocumentCount count distinct createIndex createIndexes dropIndex
          dropIndexes indexes indexExists bulkWrite rename drop isCapped`,
          { does },
        ),
        ...each('find aggregate listIndexes', { call: { returns: 'mongodb.Cursor' } }),
      },
    },
    Cursor: {
      members: {
        ...chained(`sort limit skip project filter hint batchSize maxTimeMS collation addCursorFlag comment min max
          returnKey rewind`),
        ...callbackOrPromise('toArray', { does, mutates: ['this'], returns: 'Array' }, ['fresh', 'Array']),
        ...callbackOrPromise('next hasNext tryNext close count explain', { does, mutates: ['this'] }),
        forEach: {
          call: { ruptures: [{ kind: 'start', callback: 0, params: ['fresh'] }], promise: true, returns: 'fresh', mutates: ['this'], does },
        },
        ...calls('stream', { returns: 'stream.Readable', mutates: ['this'] }),
      },
    },
    ObjectId: { members: pure('toString toHexString equals getTimestamp toJSON') },
  },
} satisfies PackageModel;

const ONE = `findOne findById findOneAndUpdate findByIdAndUpdate findOneAndDelete findByIdAndDelete findOneAndReplace
  findOneAndRemove findByIdAndRemove`;
const OTHER = `countDocuments estimatedDocumentCount count distinct updateOne updateMany replaceOne deleteOne deleteMany
  exists remove update`;
const query = (type: string): Call => ({ ruptures: [post('last', ['fresh', 'unknown'])], returns: type, does });

const QUERIES: Members = {
  ...each(ONE, { call: query('mongoose.Query') }),
  ...each(OTHER, { call: query('mongoose.Query') }),
  find: { call: query('mongoose.ListQuery') },
};

const QUERY: TypeModel = {
  extends: 'Promise',
  resolves: 'mongoose.Document',
  members: {
    ...chained(`where equals gt gte lt lte ne in nin all and or nor regex sort limit skip select populate lean session
      setOptions hint collation maxTimeMS batchSize slice elemMatch near within read comment set orFail distinct`),
    exec: {
      call: { ruptures: [post('last', ['fresh', 'unknown'])], promise: true, returns: 'mongoose.Document', does },
    },
    cursor: { call: { returns: 'stream.Readable' } },
    ...pure('getQuery getFilter getUpdate getOptions'),
  },
};

export const mongoose = {
  name: 'mongoose',
  module: withDefault({
    members: {
      ...callbackOrPromise('connect disconnect', { does, mutates: ['this'], connects: true }),
      createConnection: { call: client('mongoose.Connection') },
      model: { call: { returns: 'mongoose.Model', mutates: ['this'], keeps: [1], connects: true, shared: true } },
      Schema: {
        construct: { returns: 'mongoose.Schema', keeps: [-1], connects: true },
        members: { Types: { members: each('ObjectId Mixed Decimal128', { is: 'fresh' }) } },
      },
      ...each('set plugin', { call: { returns: 'this', mutates: ['this'], keeps: [-1] } }),
      connection: { is: 'mongoose.Connection' },
      Types: { members: each('ObjectId', { construct: { returns: 'mongodb.ObjectId' }, call: { returns: 'mongodb.ObjectId' } }) },
      ...pure('isValidObjectId isObjectIdOrHexString modelNames now'),
      ...promising('startSession', { does, returns: 'unknown' }),
      ...values('models connections Error'),
    },
  }),
  types: {
    Schema: {
      identity: true,
      members: {
        ...chained('add index plugin set method static alias loadClass queue'),
        // Hooks are called for each operation, with the document or query as `this`.
        ...each('pre post', {
          call: {
            ruptures: [{ kind: 'start', callback: 'functions', from: 1, label: 0, params: ['unknown', 'unknown'] }],
            returns: 'this',
            mutates: ['this'],
            keeps: [-1],
          },
        }),
        virtual: { call: { returns: 'mongoose.Virtual', mutates: ['this'] } },
        path: { call: { returns: 'unknown', mutates: ['this'], keeps: [1] } },
        ...values('methods statics virtuals query obj paths'),
      },
    },
    Virtual: { members: chained('get set') },
    Connection: emitter({
      ...callbackOrPromise('close openUri', { does, mutates: ['this'] }),
      model: { call: { returns: 'mongoose.Model', mutates: ['this'], keeps: [1], shared: true } },
      collection: { call: { returns: 'unknown' } },
      ...values('readyState name host port db models'),
    }),
    Model: {
      identity: true,
      construct: { returns: 'mongoose.Document', keeps: [0] },
      members: {
        ...QUERIES,
        ...callbackOrPromise('create insertMany bulkWrite', { does, returns: 'unknown' }, ['fresh', 'unknown']),
        ...callbackOrPromise('init ensureIndexes createIndexes syncIndexes createCollection', { does }),
        aggregate: { call: { returns: 'mongoose.ListQuery', does } },
        where: { call: { returns: 'mongoose.ListQuery' } },
        populate: { call: { ruptures: [post('last')], promise: true, returns: 'argument 0', mutates: [0], does } },
        hydrate: { call: { returns: 'mongoose.Document', keeps: [0] } },
        ...values('modelName schema collection'),
      },
    },
    Query: QUERY,
    ListQuery: {
      ...QUERY,
      resolves: 'Array',
      members: {
        ...QUERY.members,
        exec: { call: { ruptures: [post('last', ['fresh', 'Array'])], promise: true, returns: 'Array', does } },
        ...chained('match group project unwind lookup addFields'),
        ...each(ONE, { call: query('mongoose.Query') }),
      },
    },
    Document: {
      members: {
        ...callbackOrPromise('save validate deleteOne remove populate updateOne', { does, mutates: ['this'], returns: 'this' }),
        ...pure('toObject toJSON toString equals isModified modifiedPaths isSelected validateSync inspect'),
        ...pure('get', 'contents'),
        ...chained('set markModified unmarkModified invalidate depopulate overwrite'),
        ...values('_id id isNew errors'),
      },
    },
  },
} satisfies PackageModel;

// --------------------------------------------------------------------------------------------------------- SQL servers

const MYSQL_QUERY: Members = {
  query: {
    call: { ruptures: [post('last', ['fresh', 'fresh', 'fresh'])], returns: 'events.EventEmitter', does },
  },
  execute: { call: { ruptures: [post('last', ['fresh', 'fresh', 'fresh'])], returns: 'events.EventEmitter', does } },
  ...callbackLast('end', { does, mutates: ['this'] }),
  ...pure('escape escapeId format'),
};
const MYSQL_CONNECTION: Members = {
  ...MYSQL_QUERY,
  ...callbackLast('connect beginTransaction commit rollback ping changeUser', { does, mutates: ['this'] }),
  ...mutating('destroy release pause resume', { does }),
  ...values('threadId config state'),
};

export const mysql = {
  name: 'mysql',
  module: {
    members: {
      createConnection: { call: client('mysql.Connection') },
      createPool: { call: client('mysql.Pool') },
      ...pure('escape escapeId format raw'),
    },
  },
  types: {
    Connection: emitter(MYSQL_CONNECTION),
    Pool: emitter({
      ...MYSQL_QUERY,
      ...callbackLast('getConnection', { does }, ['fresh', 'mysql.Connection']),
      promise: { call: { returns: 'mysql2/promise.Pool' } },
    }),
  },
} satisfies PackageModel;

export const mysql2 = { ...mysql, name: 'mysql2' } satisfies PackageModel;

const PROMISED = promising('query execute end beginTransaction commit rollback ping connect changeUser', { does });

export const mysql2Promise = {
  name: 'mysql2/promise',
  module: {
    members: {
      createPool: { call: client('mysql2/promise.Pool') },
      createConnection: { call: { ...client('mysql2/promise.Connection'), promise: true, does } },
      ...pure('escape escapeId format raw'),
    },
  },
  types: {
    Connection: emitter({ ...PROMISED, ...mutating('release destroy'), ...pure('escape escapeId format') }),
    Pool: emitter({
      ...promising('query execute end', { does }),
      ...promising('getConnection', { does, returns: 'mysql2/promise.Connection' }),
      ...pure('escape escapeId format'),
    }),
  },
} satisfies PackageModel;

export const pg = {
  name: 'pg',
  module: withDefault({
    members: {
      ...each('Pool Client', { construct: client('pg.Client') }),
      ...pure('escapeIdentifier escapeLiteral'),
      ...values('types defaults'),
    },
  }),
  types: {
    Client: emitter({
      ...callbackOrPromise('query', { does }),
      connect: {
        call: { ruptures: [post('last', ['fresh', 'pg.Client', 'unknown'])], promiseWithoutCallback: true, returns: 'pg.Client', does },
      },
      ...callbackOrPromise('end', { does, mutates: ['this'] }),
      ...mutating('release', { does }),
      ...pure('escapeIdentifier escapeLiteral'),
      ...values('totalCount idleCount waitingCount'),
    }),
  },
} satisfies PackageModel;

// --------------------------------------------------------------------------------------------------------------- Redis

/** Commands are methods. What comes in by subscription comes to each loop that subscribed, so that stays with one. */
const REDIS: TypeModel = {
  ...emitter({
    ...callbackOrPromise('connect disconnect quit', { does, mutates: ['this'] }),
    ...each('subscribe pSubscribe psubscribe unsubscribe punsubscribe', {
      call: { ruptures: [{ kind: 'start', callback: 'last' }], promiseWithoutCallback: true, returns: 'fresh', does, mutates: ['this'], stateful: true },
    }),
    ...each('multi pipeline batch', { call: { returns: 'redis.Multi' } }),
    ...pure('duplicate', 'redis.Client'),
    ...values('isOpen isReady status connected'),
  }),
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

// ----------------------------------------------------------------------------------------------- mappers and builders

export const sequelize = {
  name: 'sequelize',
  module: {
    construct: client('sequelize.Sequelize'),
    members: {
      Sequelize: { construct: client('sequelize.Sequelize') },
      ...values('DataTypes Op QueryTypes Model'),
    },
  },
  types: {
    Sequelize: {
      identity: true,
      members: {
        ...promising('authenticate sync query close drop truncate', { does }),
        define: { call: { returns: 'sequelize.Model', mutates: ['this'], keeps: [-1], connects: true, shared: true } },
        model: { call: { returns: 'sequelize.Model', shared: true } },
        transaction: {
          call: { ruptures: [post('last', ['unknown'])], promise: true, returns: 'unknown', does },
        },
        ...pure('fn col literal where and or json cast escape getDialect isDefined'),
      },
    },
    Model: {
      identity: true,
      construct: { returns: 'sequelize.Instance', keeps: [0] },
      members: {
        ...promising('findAll', { does, returns: 'Array' }),
        ...promising('findOne findByPk create upsert', { does, returns: 'sequelize.Instance' }),
        ...promising('findOrCreate findAndCountAll bulkCreate', { does, returns: 'unknown' }),
        ...promising('count max min sum update destroy restore increment decrement truncate aggregate sync drop describe', { does }),
        build: { call: { returns: 'sequelize.Instance', keeps: [0] } },
        ...chained('belongsTo hasOne hasMany belongsToMany addScope', { returns: 'unknown' }),
        ...values('name associations rawAttributes'),
      },
    },
    Instance: {
      members: {
        ...promising('save update destroy reload restore increment decrement validate', { does, mutates: ['this'], returns: 'this' }),
        ...pure('toJSON equals changed previous'),
        ...pure('get getDataValue', 'contents'),
        ...chained('set setDataValue', { returns: 'fresh' }),
        ...values('dataValues id'),
      },
    },
  },
} satisfies PackageModel;

const BUILDING: Call = { returns: 'this', mutates: ['this'], keeps: [-1] };

export const knex = {
  name: 'knex',
  module: withDefault({ call: client('knex.Knex'), members: { knex: { call: client('knex.Knex') } } }),
  types: {
    Knex: {
      identity: true,
      call: { returns: 'knex.Builder', keeps: [-1] },
      members: {
        ...each('select from insert update where table with into', { call: { returns: 'knex.Builder', keeps: [-1] } }),
        raw: { call: { returns: 'knex.Builder', keeps: [-1] } },
        transaction: { call: { ruptures: [post(0, ['unknown'])], promise: true, returns: 'unknown', does } },
        destroy: { call: { ruptures: [post('last')], promise: true, returns: 'fresh', does, mutates: ['this'] } },
        schema: { is: 'knex.Builder' },
        fn: { members: { now: { call: { returns: 'fresh' } } } },
      },
    },
    Builder: {
      extends: 'Promise',
      resolves: 'fresh',
      members: { ...pure('toString toSQL toQuery'), ...pure('clone', 'knex.Builder'), stream: {} },
      others: BUILDING,
    },
  },
} satisfies PackageModel;

// -------------------------------------------------------------------------------------------------------------- SQLite

const stateful = true;

export const sqlite3 = {
  name: 'sqlite3',
  module: {
    members: {
      verbose: { call: { returns: 'this' } },
      Database: {
        construct: { ruptures: [post('last', ['fresh'])], returns: 'sqlite3.Database', stateful, does: ['files'] },
      },
    },
  },
  types: {
    Database: emitter({
      ...callbackLast('run get all exec close', { stateful, mutates: ['this'], returns: 'this', does: ['files'] }),
      each: {
        call: {
          ruptures: [{ kind: 'start', callback: 'last', params: ['fresh', 'fresh'] }],
          returns: 'this',
          mutates: ['this'],
          stateful,
          does: ['files'],
        },
      },
    }),
  },
} satisfies PackageModel;

export const betterSqlite3 = {
  name: 'better-sqlite3',
  module: {
    construct: { returns: 'better-sqlite3.Database', stateful, does: ['files'] },
    call: { returns: 'better-sqlite3.Database', stateful, does: ['files'] },
  },
  types: {
    Database: {
      identity: true,
      members: {
        prepare: { call: { returns: 'better-sqlite3.Statement', stateful } },
        ...mutating('exec pragma close', { stateful, does: ['files'] }),
        transaction: { call: { returns: 'bound argument 0', stateful, mutates: ['this'] } },
      },
    },
    Statement: {
      members: {
        ...mutating('run get all', { stateful, does: ['files'] }),
        ...mutating('pluck raw expand bind', { returns: 'this', stateful }),
      },
    },
  },
} satisfies PackageModel;
