import type { Members } from '../build.js';
import { calls } from '../build.js';
import type { PackageModel } from '../types.js';

const does = ['output'] as const;

const MEMBERS: Members = {
  ...calls('assert debug dir dirxml error info log table trace warn', { does, data: true }),
  // Counters, running timers and the indentation belong to all who write.
  ...calls('count countReset group groupCollapsed groupEnd time timeEnd timeLog', { does, stateful: true }),
  ...calls('profile profileEnd timeStamp', { stateful: true }),
  ...calls('clear', { does }),
};

const OWN: Members = calls('assert debug dir dirxml error info log table trace warn', {
  does,
  data: true,
  mutates: ['this'],
});

export const consoleModel = {
  name: 'console',
  module: {
    is: 'console.Console',
    members: { Console: { construct: { returns: 'console.Own', keeps: [-1] } } },
  },
  types: {
    Console: { members: MEMBERS },
    // It writes to what it was given, which may be of the program.
    Own: { extends: 'console.Console', identity: true, members: OWN },
  },
} satisfies PackageModel;
