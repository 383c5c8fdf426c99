/**
 * What the firewall has to know of packages that connect while an app starts, so that a replica gets connections of its own
 * and nothing else of start-up is said over them.
 *
 *     at a replica's start-up     connecting (`mongoose.connect()`)       really done, and waited for
 *                                 anything that is asked (a query)        not done, and never answered
 *
 * The places are inside of the packages, where all that their users ask of them passes by. A version that has not all of these
 * places is not known: its sockets stay closed, as those of any other package do.
 */

/**
 * `asked`: a user of the package asks for something. `passes`: the same, unless the package itself is all that is on the stack,
 * as when it says who it is. `connects`: gives a promise, or calls back, once the connection is there. `made`: a class of whose
 * instances each has to be connected before it serves. `counts`: a class that numbers its instances, from a chance beginning on.
 */
type PointKind = 'asked' | 'passes' | 'connects' | 'made' | 'counts';

interface Point {
  /** within the package's folder */
  readonly file: string;
  /** among what the file exports; '' is all of it */
  readonly at: string;
  readonly kind: PointKind;
  /** some versions have no such place */
  readonly optional?: boolean;
  /** what is given back in place of an answer, where that is no promise */
  readonly gives?: 'emitter';
}

interface Driver {
  readonly package: string;
  /** Its sockets, timers and questions about names are real at a replica's start-up; false where it connects when it is used. */
  readonly opens: boolean;
  /** Who asks it for something before it was told to connect waits, or is refused. */
  readonly waits?: boolean;
  readonly points: readonly Point[];
}

const DRIVERS: readonly Driver[] = [
  {
    package: 'mongodb',
    opens: true,
    points: [
      { file: 'lib/operations/execute_operation.js', at: 'executeOperation', kind: 'asked' },
      { file: 'lib/mongo_client.js', at: 'MongoClient.prototype.connect', kind: 'connects' },
    ],
  },
  {
    package: 'mongoose',
    opens: false,
    waits: true,
    points: [{ file: 'lib/connection.js', at: 'prototype.openUri', kind: 'connects' }],
  },
  {
    package: 'ioredis',
    opens: true,
    points: [
      { file: 'built/Redis.js', at: 'default.prototype.sendCommand', kind: 'passes' },
      { file: 'built/Redis.js', at: 'default.prototype.connect', kind: 'connects' },
      { file: 'built/cluster/index.js', at: 'default.prototype.sendCommand', kind: 'passes' },
      { file: 'built/cluster/index.js', at: 'default.prototype.connect', kind: 'connects' },
    ],
  },
  {
    package: '@redis/client',
    opens: true,
    waits: true,
    points: [
      { file: 'dist/lib/client/commands-queue.js', at: 'default.prototype.addCommand', kind: 'passes' },
      { file: 'dist/lib/client/commands-queue.js', at: 'default.prototype.subscribe', kind: 'passes' },
      { file: 'dist/lib/client/commands-queue.js', at: 'default.prototype.unsubscribe', kind: 'passes' },
      { file: 'dist/lib/client/commands-queue.js', at: 'default', kind: 'made' },
      { file: 'dist/lib/client/index.js', at: 'default.prototype.connect', kind: 'connects' },
      { file: 'dist/lib/client/index.js', at: 'default.prototype.MONITOR', kind: 'asked', optional: true },
    ],
  },
  {
    package: 'pg-pool',
    opens: false,
    points: [{ file: 'index.js', at: 'prototype.connect', kind: 'asked' }],
  },
  {
    package: 'mysql2',
    opens: false,
    points: [
      { file: 'lib/base/pool.js', at: 'prototype.getConnection', kind: 'asked' },
      { file: 'lib/base/pool.js', at: 'prototype.query', kind: 'asked', gives: 'emitter' },
      { file: 'lib/base/pool.js', at: 'prototype.execute', kind: 'asked' },
    ],
  },
  {
    package: 'mysql',
    opens: false,
    points: [
      { file: 'lib/Pool.js', at: 'prototype.getConnection', kind: 'asked' },
      { file: 'lib/Pool.js', at: 'prototype.query', kind: 'asked', gives: 'emitter' },
    ],
  },
  {
    package: 'knex',
    opens: false,
    points: [{ file: 'lib/client.js', at: 'prototype.acquireConnection', kind: 'asked' }],
  },
  {
    package: 'sequelize',
    opens: false,
    points: [
      { file: 'lib/sequelize.js', at: 'prototype.query', kind: 'asked' },
      { file: 'lib/dialects/abstract/connection-manager.js', at: 'prototype.getConnection', kind: 'asked' },
    ],
  },
  {
    // Ids are made of the time, of what is the process's own, and of a number.
    package: 'bson',
    opens: false,
    points: [
      { file: 'lib/bson.cjs', at: 'ObjectId', kind: 'counts' },
      { file: 'lib/objectid.js', at: 'ObjectId', kind: 'counts' },
      { file: 'lib/bson/objectid.js', at: '', kind: 'counts' },
    ],
  },
];

export = { DRIVERS };
