import { callbackLast, calls, chained, constants, each, emitter, events, mutating, post } from '../build.js';
import type { Call, PackageModel } from '../types.js';

const does = ['subprocess'] as const;
const run: Call = { ruptures: [post('last')], returns: 'child_process.ChildProcess', does };

export const childProcess = {
  name: 'child_process',
  module: {
    members: {
      ...each('exec execFile', { call: run }),
      ...calls('spawn fork', { returns: 'child_process.ChildProcess', does }),
      ...calls('execSync execFileSync spawnSync', { does }),
      ChildProcess: { construct: { returns: 'child_process.ChildProcess', does } },
    },
  },
  types: {
    ChildProcess: emitter(
      {
        ...mutating('kill disconnect', { does }),
        ...chained('ref unref'),
        ...callbackLast('send', { does, mutates: ['this'] }, ['fresh']),
        ...constants('connected exitCode killed pid signalCode spawnargs spawnfile'),
        stdin: { is: 'stream.Writable' },
        ...each('stdout stderr', { is: 'stream.Readable' }),
        ...each('stdio channel', {}),
      },
      {
        ...events('close exit', { params: ['fresh', 'fresh'], once: true }),
        ...events('spawn disconnect', { params: [], once: true }),
        message: { params: ['fresh', 'unknown'] },
      },
    ),
  },
} satisfies PackageModel;
