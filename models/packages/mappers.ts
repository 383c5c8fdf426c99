/**
 * Mappers and query builders. They may sit on an SQLite database in memory, of which there is one: then a client is its owner's
 * only. Where no such database is installed they have a server, and a pool that opens when it is first used.
 */
import { chained, each, listed, post, promising, pure, sync, values, withDefault } from '../build.js';
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

export const sequelize = {
  name: 'sequelize',
  module: {
    construct: mapper('sequelize.Sequelize'),
    members: {
      Sequelize: { construct: mapper('sequelize.Sequelize') },
      ...values('DataTypes Op QueryTypes Model'),
    },
  },
  types: {
    Sequelize: {
      identity: true,
      members: {
        ...promising('authenticate sync query close drop truncate', { does }),
        define: { call: { returns: 'sequelize.Model', mutates: ['this'], keeps: [-1], shared: true } },
        model: { call: { returns: 'sequelize.Model', shared: true } },
        transaction: {
          call: { ruptures: [post('last', ['unknown'])], promise: true, returns: 'unknown', does },
        },
        ...pure('fn col literal where and or json cast escape getDialect isDefined'),
      },
    },
    // `define('user')` and `model('user')` give the same one: what hangs on one hangs on all.
    Model: {
      identity: true,
      one: true,
      construct: { returns: 'sequelize.Instance', keeps: [0] },
      members: {
        ...promising('findAll', { does, returns: 'Array' }),
        ...promising('findOne findByPk', { does, returns: 'sequelize.Instance' }),
        // Their errors name the instance that was refused.
        ...promising('create upsert', { does, returns: 'sequelize.Instance', failsLive }),
        ...promising('findOrCreate bulkCreate', { does, returns: 'unknown', failsLive }),
        ...promising('findAndCountAll', { does, returns: 'unknown' }),
        ...promising('update', { does, failsLive }),
        ...promising('count max min sum destroy restore increment decrement truncate aggregate sync drop describe', {
          does,
        }),
        build: { call: { returns: 'sequelize.Instance', keeps: [0] } },
        ...chained('belongsTo hasOne hasMany belongsToMany addScope', { returns: 'unknown' }),
        ...values('name associations rawAttributes'),
      },
    },
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

export const knex = {
  name: 'knex',
  module: withDefault({
    call: mapper('knex.Knex'),
    members: { knex: { call: mapper('knex.Knex') } },
  }),
  types: {
    Knex: {
      identity: true,
      call: { returns: 'knex.Builder', keeps: [-1] },
      members: {
        ...each('select from insert update where table with into', { call: { returns: 'knex.Builder', keeps: [-1] } }),
        raw: { call: { returns: 'knex.Builder', keeps: [-1] } },
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
