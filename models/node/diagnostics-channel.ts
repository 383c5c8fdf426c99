import { calls, constants, start } from '../build.js';
import type { PackageModel } from '../types.js';

const stateful = true;

export const diagnosticsChannel = {
  name: 'diagnostics_channel',
  module: {
    members: {
      ...calls('channel', { returns: 'diagnostics_channel.Channel', shared: true }),
      ...calls('hasSubscribers unsubscribe', { stateful }),
      subscribe: {
        call: { ruptures: [start(1, ['unknown', 'fresh'], { label: 0 })], returns: 'fresh', stateful },
      },
    },
  },
  types: {
    Channel: {
      identity: true,
      members: {
        publish: { call: { returns: 'fresh', mutates: ['this'], keeps: [0], stateful } },
        subscribe: {
          call: { ruptures: [start(0, ['unknown', 'fresh'])], returns: 'fresh', mutates: ['this'], stateful },
        },
        ...calls('unsubscribe', { mutates: ['this'], stateful }),
        ...constants('name hasSubscribers'),
      },
    },
  },
} satisfies PackageModel;
