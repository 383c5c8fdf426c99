/**
 * Mappers and query builders. They may sit on an SQLite database in memory, of which there is one: then a client is its owner's
 * only. Where no such database is installed they have a server, and a pool that opens when it is first used.
 */
import {
  chained,
  constants,
  each,
  listed,
  type Members,
  post,
  promising,
  pure,
  sync,
  values,
  withDefault,
} from '../build.js';
import type { Call, PackageModel } from '../types.js';

const does = ['network'] as const;
const failsLive = true;

const IN_MEMORY =
  listed(`sqlite3 better-sqlite3 @vscode/sqlite3 libsql @libsql/client @libsql/sqlite3 @libsql/knex-libsql
  @electric-sql/pglite knex-pglite pg-mem sql.js node-sqlite3-wasm duckdb @duckdb/node-api mock-knex knex-mock-client sequelize-mock`);
const mapper = (type: string): Call => ({
  returns: type,
  keeps: [-1],
  connects: true,
  statefulWith: { installed: IN_MEMORY, options: ['client', 'dialect', 'dialectModule'] },
});

/** What programs may call on a model, a sequelize, or the class; `addHook` and the like are given a function. */
const HOOKS = chained(`addHook removeHook beforeValidate afterValidate validationFailed beforeCreate afterCreate
  beforeDestroy afterDestroy beforeRestore afterRestore beforeUpdate afterUpdate beforeSave afterSave beforeUpsert
  afterUpsert beforeBulkCreate afterBulkCreate beforeBulkDestroy afterBulkDestroy beforeBulkRestore afterBulkRestore
  beforeBulkUpdate afterBulkUpdate beforeFind beforeFindAfterExpandIncludeAll beforeFindAfterOptions afterFind
  beforeCount beforeSync afterSync beforeBulkSync afterBulkSync beforeDefine afterDefine beforeInit afterInit
  beforeAssociate afterAssociate beforeConnect afterConnect beforeDisconnect afterDisconnect beforePoolAcquire
  afterPoolAcquire beforeQuery afterQuery`);

/** Of what `define()` gives, and of classes that extend `Model`. */
const MODEL: Members = {
  ...HOOKS,
  ...promising('findAll', { does, returns: 'list of sequelize.Instance' }),
  ...promising('findOne findByPk', { does, returns: 'sequelize.Instance' }),
  // Their errors name the instance that was refused.
  ...promising('create upsert', { does, returns: 'sequelize.Instance', failsLive }),
  ...promising('findOrCreate bulkCreate', { does, returns: 'unknown | list of sequelize.Instance', failsLive }),
  ...promising('findAndCountAll', { does, returns: 'unknown | sequelize.Page' }),
  ...promising('update', { does, failsLive }),
  ...promising('count max min sum destroy restore increment decrement truncate aggregate sync drop describe', { does }),
  build: { call: { returns: 'sequelize.Instance', keeps: [0] } },
  ...chained('belongsTo hasOne hasMany belongsToMany addScope', { returns: 'unknown' }),
  ...values(`name associations rawAttributes model queryInterface queryGenerator getAttributes refreshAttributes
    removeAttribute dropSchema schema getTableName unscoped scope warnOnInvalidOptions bulkBuild findOrBuild
    findCreateFind hasAlias getAssociations getAssociationForAlias default runHooks hasHook hasHooks sequelize options
    underscored tableName primaryKeys fieldRawAttributesMap uniqueKeys fieldAttributeMap tableAttributes
    primaryKeyAttributes primaryKeyAttribute primaryKeyField autoIncrementAttribute _scope _scopeNames _schema
    _schemaDelimiter _indexes _timestampAttributes _findAutoIncrementAttribute _virtualAttributes`),
  // The same as with classes: `User.prototype.fullName = function () { … }`.
  prototype: { lends: 'sequelize.Instance', is: 'sequelize.Instance', members: {} },
};

/** `require('sequelize')` is the class, which has itself as `Sequelize`. */
const STATIC: Members = {
  ...HOOKS,
  Sequelize: { is: 'sequelize.Static' },
  default: { is: 'sequelize.Static' },
  Model: { is: 'sequelize.ModelClass' },
  ...values(`DataTypes Op QueryTypes TableHints IndexHints Transaction Validator QueryInterface BelongsTo HasOne HasMany
    BelongsToMany Deferrable Association Utils Error options version name prototype postgres mysql mariadb sqlite mssql
    runHooks hasHook hasHooks useCLS ABSTRACT STRING CHAR TEXT NUMBER TINYINT SMALLINT MEDIUMINT INTEGER BIGINT FLOAT TIME
    DATE DATEONLY BOOLEAN NOW BLOB DECIMAL NUMERIC UUID UUIDV1 UUIDV4 HSTORE JSON JSONB VIRTUAL ARRAY ENUM RANGE REAL
    DOUBLE GEOMETRY GEOGRAPHY CIDR INET MACADDR CITEXT TSVECTOR useInflection BaseError ValidationError
    ValidationErrorItem UniqueConstraintError ForeignKeyConstraintError ExclusionConstraintError UnknownConstraintError
    DatabaseError TimeoutError ConnectionError ConnectionRefusedError AccessDeniedError HostNotFoundError
    HostNotReachableError InvalidConnectionError ConnectionTimedOutError ConnectionAcquireTimeoutError AggregateError
    AssociationError AsyncQueueError BulkRecordError EagerLoadingError EmptyResultError InstanceError
    OptimisticLockError QueryError SequelizeScopeError`),
  ...pure('fn col literal where and or json cast'),
};

export const sequelize = {
  name: 'sequelize',
  module: { is: 'sequelize.Static', construct: mapper('sequelize.Sequelize'), members: STATIC },
  types: {
    /** The class. Where the program asks it for `associate`, as it asks all that is in `db`, there is none. */
    Static: { complete: true, construct: mapper('sequelize.Sequelize'), members: STATIC },
    Sequelize: {
      identity: true,
      complete: true,
      members: {
        ...HOOKS,
        ...promising('authenticate sync query close drop truncate', { does }),
        define: { call: { returns: 'sequelize.Model', mutates: ['this'], keeps: [-1], shared: true } },
        model: { call: { returns: 'sequelize.Model', shared: true } },
        transaction: {
          call: { ruptures: [post('last', ['unknown'])], promise: true, returns: 'unknown', does },
        },
        ...pure('fn col literal where and or json cast escape getDialect isDefined'),
        models: { is: 'sequelize.Models' },
        ...values(`options config dialect queryInterface modelManager connectionManager constructor refreshTypes
          getDatabaseName getQueryInterface set createSchema showAllSchemas dropSchema dropAllSchemas databaseVersion
          random log normalizeDataType normalizeAttribute validate Sequelize QueryTypes Validator Association runHooks
          hasHook hasHooks import getDatabaseVersion`),
      },
    },
    // `define('user')` and `model('user')` give the same one: what hangs on one hangs on all.
    Model: {
      identity: true,
      one: true,
      complete: true,
      construct: { returns: 'sequelize.Instance', keeps: [0] },
      members: MODEL,
    },
    /** What classes of the program extend: what else these have they have themselves. */
    ModelClass: {
      complete: true,
      construct: { returns: 'sequelize.Instance', keeps: [0] },
      members: { ...MODEL, ...chained('init') },
    },
    Models: { members: {}, othersAre: 'sequelize.Model' },
    /** Whose methods the language calls in `rows`, it calls of each. */
    Page: { members: { ...constants('count'), rows: { is: 'sequelize.Instance' } } },
    Instance: {
      members: {
        ...promising('save update destroy reload restore increment decrement validate', {
          does,
          failsLive,
          mutates: ['this'],
          returns: 'this',
        }),
        ...pure('toJSON equals changed previous'),
        ...pure('get getDataValue', 'contents'),
        ...chained('set setDataValue', { returns: 'fresh' }),
        ...values('dataValues id'),
      },
    },
  },
} satisfies PackageModel;

const BUILDING: Call = { returns: 'this', mutates: ['this'], keeps: [-1] };

/** It is a query that holds what is given here, and nothing else does. */
const QUERYING: Call = { returns: 'knex.Builder', keeps: [-1], keepsApart: true };

export const knex = {
  name: 'knex',
  module: withDefault({
    call: mapper('knex.Knex'),
    members: { knex: { call: mapper('knex.Knex') } },
  }),
  types: {
    Knex: {
      identity: true,
      call: QUERYING,
      members: {
        ...each('select from insert update where table with into', { call: QUERYING }),
        raw: { call: QUERYING },
        transaction: { call: { ruptures: [post(0, ['unknown'])], promise: true, returns: 'unknown', does } },
        destroy: { call: { ruptures: [post('last')], promise: true, returns: 'fresh', does, mutates: ['this'] } },
        schema: { is: 'knex.Schema' },
        fn: { members: { now: { call: { returns: 'fresh' } } } },
      },
    },
    Builder: {
      extends: 'Promise',
      resolves: 'fresh',
      members: { ...pure('toString toSQL toQuery'), ...pure('clone', 'knex.Builder'), stream: {} },
      others: BUILDING,
    },
    Schema: {
      extends: 'Promise',
      resolves: 'fresh',
      members: {
        ...pure('toString toSQL toQuery'),
        ...each('createTable createTableIfNotExists alterTable table createView alterView', {
          call: { ...BUILDING, ruptures: [sync('last', ['knex.Table'])] },
        }),
      },
      others: BUILDING,
    },
    Table: { members: {}, others: { returns: 'this', mutates: ['this'] } },
  },
} satisfies PackageModel;
