import { calls, emitter, mutating, post, values } from '../build.js';
import type { PackageModel } from '../types.js';

/** `isPrimary`, `isWorker` and `worker` say which process reads them, so they stay unknown. */
export const cluster = {
  name: 'cluster',
  module: {
    is: 'cluster.Cluster',
    members: {
      ...calls('fork', { returns: 'cluster.Worker', does: ['subprocess'], stateful: true }),
      disconnect: { call: { ruptures: [post('last', [])], returns: 'fresh', does: ['subprocess'], stateful: true } },
      ...calls('setupPrimary setupMaster', { stateful: true }),
      ...values('settings workers schedulingPolicy'),
    },
  },
  types: {
    Cluster: emitter({}),
    Worker: emitter({ ...mutating('send kill destroy disconnect isConnected isDead'), ...values('id process') }),
  },
} satisfies PackageModel;
