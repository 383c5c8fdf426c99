/** MongoDB. A client is a lazy pool of connections: each loop may have its own. */
import type { Members } from '../build.js';
import {
  callbackOrPromise,
  calls,
  chained,
  each,
  emitter,
  post,
  promising,
  pure,
  start,
  sync,
  values,
  withDefault,
} from '../build.js';
import type { Call, PackageModel, Rupture, TypeModel, ValueRef } from '../types.js';

const does = ['network'] as const;
const client = (type: string): Call => ({ returns: type, keeps: [-1], connects: true });

export const mongodb = {
  name: 'mongodb',
  module: {
    members: {
      MongoClient: {
        construct: client('mongodb.MongoClient'),
        members: callbackOrPromise('connect', { does, returns: 'mongodb.MongoClient' }, [
          'fresh',
          'mongodb.MongoClient',
        ]),
      },
      ...each('ObjectId ObjectID', {
        call: { returns: 'mongodb.ObjectId' },
        construct: { returns: 'mongodb.ObjectId' },
      }),
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
        ...callbackOrPromise('command stats dropDatabase dropCollection createIndex renameCollection collections', {
          does,
        }),
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
          call: {
            ruptures: [{ kind: 'start', callback: 0, params: ['fresh'] }],
            promise: true,
            returns: 'fresh',
            mutates: ['this'],
            does,
          },
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

/** Called for each operation, with the document or the query as `this`. */
const hook = (params: readonly ValueRef[]): Rupture =>
  start('functions', params, { from: 1, label: 0, thisIs: 'mongoose.Hooked' });

const AFTER = 'mongoose.Document | mongoose.Next | fresh';

/** The document, and the plain object that has been made of it. */
const TRANSFORM = ['mongoose.Document', 'fresh', 'fresh'] as const;
const SCHEMA: Call = {
  returns: 'mongoose.Schema',
  keeps: [-1],
  connects: true,
  ruptures: ['toJSON.transform', 'toObject.transform'].map((within) => sync(1, TRANSFORM, { within, exactly: 'all' })),
};

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
    ...pure('clone', 'mongoose.Query'),
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
        construct: SCHEMA,
        call: SCHEMA,
        members: { Types: { members: each('ObjectId Mixed Decimal128', { is: 'fresh' }) } },
      },
      ...each('set plugin', { call: { returns: 'this', mutates: ['this'], keeps: [-1] } }),
      connection: { is: 'mongoose.Connection' },
      Types: {
        members: each('ObjectId', {
          construct: { returns: 'mongodb.ObjectId' },
          call: { returns: 'mongodb.ObjectId' },
        }),
      },
      ...pure('isValidObjectId isObjectIdOrHexString modelNames now'),
      ...promising('startSession', { does, returns: 'unknown' }),
      ...values('models connections Error'),
    },
  }),
  types: {
    Schema: {
      identity: true,
      members: {
        ...chained('add index method static alias loadClass queue'),
        ...chained('set', { ruptures: [sync(1, TRANSFORM, { within: 'transform', exactly: 'all' })] }),
        // It is called with the schema and its options before the call returns, and not again.
        plugin: { call: { ruptures: [sync(0, ['this', 'argument 1'])], returns: 'this', mutates: ['this'] } },
        ...chained('pre', { ruptures: [hook(['mongoose.Next', 'fresh', 'fresh'])] }),
        // After an error `post` is given that first, and all else behind it.
        ...chained('post', { ruptures: [hook([AFTER, AFTER, AFTER])] }),
        virtual: { call: { returns: 'mongoose.Virtual', mutates: ['this'] } },
        path: { call: { returns: 'mongoose.Path', mutates: ['this'], keeps: [1] } },
        methods: { lends: 'mongoose.Document' },
        statics: { lends: 'mongoose.Model' },
        options: { holdsStored: true, calledWith: TRANSFORM },
        ...values('virtuals query obj paths'),
      },
    },
    /** The document, or the query, of which a hook is called. */
    Hooked: { extends: 'mongoose.Document', members: { ...QUERIES, ...QUERY.members } },
    /** What a hook goes on by. */
    Next: { members: {}, call: { returns: 'fresh', keeps: [-1] } },
    Virtual: { members: chained('get set') },
    /** What a schema knows of a property; with two arguments `path` gives the schema. */
    Path: {
      extends: 'mongoose.Schema',
      members: chained('get set validate required default index unique sparse text immutable select ref transform ttl'),
    },
    Connection: emitter({
      ...callbackOrPromise('close openUri', { does, mutates: ['this'] }),
      model: { call: { returns: 'mongoose.Model', mutates: ['this'], keeps: [1], shared: true } },
      collection: { call: { returns: 'unknown' } },
      ...values('readyState name host port db models'),
    }),
    // The same name gives the same model, wherever it is asked for: what hangs on one hangs on all.
    Model: {
      identity: true,
      one: true,
      construct: { returns: 'mongoose.Document', keeps: [0] },
      members: {
        ...QUERIES,
        ...callbackOrPromise('create insertMany bulkWrite', { does, returns: 'unknown' }, ['fresh', 'unknown']),
        ...callbackOrPromise('init ensureIndexes createIndexes syncIndexes createCollection', { does }),
        aggregate: { call: { returns: 'mongoose.ListQuery', does } },
        where: { call: { returns: 'mongoose.ListQuery' } },
        populate: { call: { ruptures: [post('last')], promise: true, returns: 'argument 0', mutates: [0], does } },
        // Hooks of `init` run.
        hydrate: { call: { returns: 'mongoose.Document', keeps: [0], does } },
        ...values('modelName schema collection'),
      },
    },
    Query: QUERY,
    ListQuery: {
      ...QUERY,
      resolves: 'list of mongoose.Document',
      members: {
        ...QUERY.members,
        exec: {
          call: {
            ruptures: [post('last', ['fresh', 'list of mongoose.Document'])],
            promise: true,
            returns: 'list of mongoose.Document',
            does,
          },
        },
        ...chained('match group project unwind lookup addFields'),
        ...pure('clone', 'mongoose.ListQuery'),
        ...each(ONE, { call: query('mongoose.Query') }),
      },
    },
    Document: {
      members: {
        ...callbackOrPromise('save validate deleteOne remove populate updateOne', {
          does,
          mutates: ['this'],
          returns: 'this',
        }),
        ...pure('toObject toJSON toString equals isModified modifiedPaths isSelected validateSync inspect'),
        ...pure('get', 'contents'),
        ...chained('set markModified unmarkModified invalidate depopulate overwrite'),
        ...values('_id id isNew errors'),
      },
    },
  },
} satisfies PackageModel;
