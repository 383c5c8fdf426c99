/** A database inside the process may live in memory, so it stays with its owner. */
import { callbackLast, emitter, mutating, post } from '../build.js';
import type { PackageModel } from '../types.js';

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
