/** Settings of a program, from its environment, its arguments and files; errors for clients. */
import { calls, chained, configures, each, promising, pure, values, withDefault } from '../build.js';
import type { Call, PackageModel } from '../types.js';

const convict: PackageModel = {
  name: 'convict',
  module: {
    call: { returns: 'convict.Config', keeps: [-1], does: ['process', 'files'], connects: true },
    members: configures('addFormat addFormats addParser', { returns: 'fresh' }),
  },
  types: {
    // What it gives are copies.
    Config: {
      identity: true,
      members: {
        ...pure('get default has getProperties getSchema getSchemaString getArgs getEnv toString'),
        ...chained('set load validate'),
        ...chained('loadFile', { does: ['files'] }),
        ...calls('reset', { mutates: ['this'] }),
      },
    },
  },
};

const NCONF = {
  ...chained('argv env defaults overrides required add use stores remove', { returns: 'this', stateful: true }),
  ...chained('file', { does: ['files'], stateful: true }),
  ...configures('set clear merge reset'),
  // The object itself, where one store has it.
  ...calls('get any', { returns: 'fresh', shared: true }),
};
const nconf: PackageModel = {
  name: 'nconf',
  module: { members: { ...NCONF, Provider: { construct: { returns: 'nconf.Provider', keeps: [-1] } } } },
  types: { Provider: { identity: true, members: NCONF } },
};

const ARGV: Call = { returns: 'yargs.Argv', keeps: [-1], does: ['process'], connects: true };
const yargs: PackageModel = {
  name: 'yargs',
  module: withDefault({ call: ARGV }),
  types: {
    Argv: {
      identity: true,
      members: {
        ...calls('parse parseSync', { returns: 'data', does: ['process'], mutates: ['this'], keeps: [-1] }),
        ...promising('parseAsync', { returns: 'data', does: ['process'], mutates: ['this'], keeps: [-1] }),
        ...values('argv'),
      },
      others: { returns: 'this', mutates: ['this'], keeps: [-1] },
    },
  },
};

const VARIABLE: Call = { returns: 'env-var.Variable' };
const envVar: PackageModel = {
  name: 'env-var',
  module: {
    members: {
      ...calls('get', VARIABLE),
      ...calls('from', { returns: 'env-var.Environment', keeps: [-1] }),
    },
  },
  types: {
    Environment: { members: calls('get', { ...VARIABLE, keeps: [-1] }) },
    Variable: {
      members: each('convertFromBase64 default required example', { call: { returns: 'this', mutates: ['this'] } }),
      others: { returns: 'fresh' },
    },
  },
};

const BOOM: Call = { returns: 'Error', keeps: [-1] };
const boom: PackageModel = {
  name: '@hapi/boom',
  module: withDefault({
    members: {
      Boom: { construct: BOOM },
      ...pure('isBoom'),
      // It adds to the error that it is given.
      boomify: { call: { returns: 'argument 0', mutates: [0], keeps: [1] } },
    },
    others: BOOM,
  }),
};

export const settingModels: readonly PackageModel[] = [convict, nconf, yargs, envVar, boom];
