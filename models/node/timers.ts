import type { Members } from '../build.js';
import { calls, chained, post, promising, pure, start } from '../build.js';
import type { PackageModel } from '../types.js';

const does = ['timer'] as const;
/** What follows the delay is given to the callback. */
const GIVEN = ['argument 2', 'argument 3', 'argument 4', 'argument 5'];

/** Also globals. */
export const timerMembers: Members = {
  setTimeout: { call: { ruptures: [post(0, GIVEN)], returns: 'timers.Timeout', does } },
  setInterval: { call: { ruptures: [start(0, GIVEN)], returns: 'timers.Timeout', does } },
  setImmediate: {
    call: { ruptures: [post(0, ['argument 1', 'argument 2', 'argument 3'])], returns: 'timers.Timeout', does },
  },
  ...calls('clearTimeout clearInterval clearImmediate', { mutates: [0], does }),
};

export const timerPromises: Members = {
  setTimeout: { call: { promise: true, returns: 'argument 1', does } },
  setImmediate: { call: { promise: true, returns: 'argument 0', does } },
  ...calls('setInterval', { does, returns: 'unknown' }),
  scheduler: { members: promising('wait yield', { does }) },
};

export const timers = {
  name: 'timers',
  module: { members: { ...timerMembers, promises: { members: timerPromises } } },
  types: {
    Timeout: { members: { ...chained('ref unref refresh close', { does }), ...pure('hasRef') } },
  },
} satisfies PackageModel;

export const timersPromises = { name: 'timers/promises', module: { members: timerPromises } } satisfies PackageModel;
