/**
 * drizzle-orm over servers: a client asks by the pool that it was given, and a query is built anew for each question. What asks a
 * database in the process (better-sqlite3, libsql, PGlite, expo) is left out.
 */
import type { Members } from '../build.js';
import { constants, each, listed, post, promising, pure, sync, values } from '../build.js';
import type { Call, Member, PackageModel } from '../types.js';

const does = ['network'] as const;

/** What it gives refers to tables and to values that are asked for. */
const expression: Call = { returns: 'drizzle-orm.Expression', keeps: [-1] };

const EXPRESSIONS = `eq ne gt gte lt lte and or not isNull isNotNull inArray notInArray exists notExists between notBetween like notLike
  ilike notIlike asc desc arrayContains arrayContained arrayOverlaps count countDistinct sum sumDistinct avg avgDistinct max min`;

const SQL: Member = {
  call: expression,
  members: { ...each('raw join identifier placeholder param empty fromList', { call: expression }) },
};

const HELPERS: Members = {
  ...each(EXPRESSIONS, { call: expression }),
  sql: SQL,
  getTableColumns: { call: { returns: 'contents 0' } },
  getTableName: { call: { returns: 'fresh' } },
  // Called with `one` and `many` when a client first looks at the relations.
  relations: {
    call: {
      ruptures: [sync(1, ['drizzle-orm.Relating'])],
      returns: 'drizzle-orm.Table',
      keeps: [-1],
    },
  },
};

const CLIENT: Call = { returns: 'drizzle-orm.Client', keeps: [-1], connects: true };

const OVER = listed('node-postgres postgres-js mysql2 neon-http vercel-postgres');

/** Columns, the tables that have them, and what else a schema is made of. */
const COLUMNS: { readonly [dialect: string]: { readonly table: string; readonly columns: string } } = {
  pg: {
    table: 'pgTable',
    columns: `bigint bigserial boolean char cidr date decimal doublePrecision inet integer interval json jsonb line macaddr macaddr8 numeric
      point real serial smallint smallserial text time timestamp uuid varchar vector bit geometry`,
  },
  mysql: {
    table: 'mysqlTable',
    columns: `bigint binary boolean char date datetime decimal double float int json longtext mediumint mediumtext real serial smallint text
      time timestamp tinyint tinytext varbinary varchar year`,
  },
};

function core(dialect: 'pg' | 'mysql'): PackageModel {
  const { table, columns } = COLUMNS[dialect] as { table: string; columns: string };
  const column: Member = { call: { returns: 'drizzle-orm.Building', keeps: [-1] } };
  return {
    name: `drizzle-orm/${dialect}-core`,
    module: {
      members: {
        [table]: { call: { returns: 'drizzle-orm.Table', keeps: [-1] } },
        ...each(`${columns} index uniqueIndex primaryKey foreignKey unique check`, column),
        // What it gives makes columns.
        ...each(`${dialect}Enum`, { call: { returns: 'drizzle-orm.Enum', keeps: [-1] } }),
      },
    },
  };
}

export const drizzleModels: readonly PackageModel[] = [
  {
    name: 'drizzle-orm',
    module: { members: HELPERS },
    types: {
      Expression: { members: { ...pure('as inlineParams getSQL', 'this'), mapWith: { call: expression } } },
      Relating: { members: {}, others: { returns: 'fresh', keeps: [-1] } },
      Building: { members: {}, others: { returns: 'this', mutates: ['this'], keeps: [-1] } },
      Enum: { members: constants('enumValues enumName'), call: { returns: 'drizzle-orm.Building', keeps: [-1] } },
      Table: { identity: true, members: values('_ $inferSelect $inferInsert'), othersAre: 'drizzle-orm.Column' },
      Column: { members: constants('name table columnType dataType notNull hasDefault primary') },
      Query: {
        extends: 'Promise',
        resolves: 'fresh',
        members: {
          ...pure('toSQL getSQL'),
          as: { call: expression },
          ...promising('execute', { does }),
          ...values('prepare $dynamic iterator'),
        },
        others: { returns: 'this', mutates: ['this'], keeps: [-1] },
      },
      Client: {
        identity: true,
        members: {
          ...each('select selectDistinct selectDistinctOn insert update delete', {
            call: { returns: 'drizzle-orm.Query', keeps: [-1] },
          }),
          ...promising('execute $count', { does }),
          transaction: {
            call: { ruptures: [post(0, ['unknown'])], promise: true, returns: 'result 0 | unknown', does },
          },
          query: { is: 'drizzle-orm.Questions' },
          ...values('$with with $client batch refreshMaterializedView'),
        },
      },
      Questions: { members: {}, othersAre: 'drizzle-orm.Relational' },
      Relational: { members: promising('findMany findFirst', { does }) },
    },
  },
  core('pg'),
  core('mysql'),
  ...OVER.map(
    (name): PackageModel => ({ name: `drizzle-orm/${name}`, module: { members: { drizzle: { call: CLIENT } } } }),
  ),
];
