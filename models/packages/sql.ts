/** Drivers of SQL servers. A client is a connection or a pool that opens when it is first used: each loop may have its own. */
import type { Members } from '../build.js';
import {
  callbackLast,
  callbackOrPromise,
  each,
  emitter,
  mutating,
  post,
  promising,
  pure,
  values,
  withDefault,
} from '../build.js';
import type { Call, PackageModel } from '../types.js';

const does = ['network'] as const;
const client = (type: string): Call => ({ returns: type, keeps: [-1], connects: true });

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
        call: {
          ruptures: [post('last', ['fresh', 'pg.Client', 'unknown'])],
          promiseWithoutCallback: true,
          returns: 'pg.Client',
          does,
        },
      },
      ...callbackOrPromise('end', { does, mutates: ['this'] }),
      ...mutating('release', { does }),
      ...pure('escapeIdentifier escapeLiteral'),
      ...values('totalCount idleCount waitingCount'),
    }),
  },
} satisfies PackageModel;
