import { calls, constants, pure } from '../build.js';
import type { PackageModel } from '../types.js';

export const os = {
  name: 'os',
  module: {
    members: {
      ...pure(`arch availableParallelism endianness homedir hostname machine platform release tmpdir totalmem type
        userInfo version`),
      // These differ from one moment to the next.
      ...calls('cpus freemem loadavg networkInterfaces uptime', { does: ['clock'] }),
      ...calls('getPriority setPriority', { does: ['process'] }),
      ...constants('EOL constants devNull'),
    },
  },
} satisfies PackageModel;
