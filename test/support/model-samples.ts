/**
 * How to come by values of the types that models describe, from what the packages export. None of this speaks to anybody: clients are
 * made, and not asked. A list: one of these has it.
 */

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed here, of any version
type Any = any;

export const SAMPLES: { readonly [type: string]: (real: Any) => unknown } = {
  'mongoose.Schema': (m) => new m.Schema({ name: String }),
  'mongoose.Virtual': (m) => new m.Schema({}).virtual('x'),
  'mongoose.Model': (m) => m.models.Thing ?? m.model('Thing', new m.Schema({ name: String })),
  'mongoose.Document': (m) => new (m.models.Thing ?? m.model('Thing', new m.Schema({ name: String })))({}),
  'mongoose.Connection': (m) => m.connection,
  'mongoose.ListQuery': (m) => (m.models.Thing ?? m.model('Thing', new m.Schema({ name: String }))).find({}),
  'mongodb.MongoClient': (m) => new m.MongoClient('mongodb://127.0.0.1:1'),
  'mongodb.Db': (m) => new m.MongoClient('mongodb://127.0.0.1:1').db('x'),
  'mongodb.Collection': (m) => new m.MongoClient('mongodb://127.0.0.1:1').db('x').collection('y'),
  'mongodb.Cursor': (m) => new m.MongoClient('mongodb://127.0.0.1:1').db('x').collection('y').find({}),
  'mongodb.ObjectId': (m) => new m.ObjectId(),
  'pg.Pool': (m) => new m.Pool(),
  // The same type stands for both.
  'pg.Client': (m) => [new m.Client(), new m.Pool(), { release() {} }],
  'mysql2.Pool': (m) => m.createPool({}),
  'redis.Client': (m) => m.createClient({ socket: { port: 1 } }),
  'ioredis.Redis': (m) => new (m.default ?? m)({ lazyConnect: true }),
  'knex.Knex': (m) => (m.default ?? m)({ client: 'pg' }),
  'knex.Builder': (m) => (m.default ?? m)({ client: 'pg' })('t'),
  'winston.Logger': (m) => m.createLogger({ silent: true }),
  'pino.Logger': (m) => (m.default ?? m)({ enabled: false }),
  'bunyan.Logger': (m) => m.createLogger({ name: 'x', streams: [] }),
  'moment.Moment': (m) => (m.default ?? m)(0),
  'dayjs.Dayjs': (m) => (m.default ?? m)(0),
  'joi.Schema': (m) => m.object(),
  'yup.Schema': (m) => m.object(),
  'zod.Type': (m) => m.z.object({}),
  'ajv.Ajv': (m) => new (m.default ?? m)(),
  'lru-cache.LRUCache': (m) => new (m.LRUCache ?? m.default ?? m)({ max: 5 }),
  'node-cache.NodeCache': (m) => new (m.default ?? m)(),
  'handlebars.Handlebars': (m) => m.create(),
  'eventemitter3.EventEmitter': (m) => new (m.default ?? m)(),
  'koa.Application': (m) => new (m.default ?? m)(),
  'nodemailer.Transporter': (m) => m.createTransport({ jsonTransport: true }),
  'axios.Axios': (m) => (m.default ?? m).create(),
};
