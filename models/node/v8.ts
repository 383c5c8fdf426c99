import { calls, pure } from '../build.js';
import type { PackageModel } from '../types.js';

export const v8 = {
  name: 'v8',
  module: {
    members: {
      ...pure('cachedDataVersionTag deserialize serialize'),
      ...calls('getHeapCodeStatistics getHeapSpaceStatistics getHeapStatistics getCppHeapStatistics', {
        does: ['clock'],
      }),
      ...calls('setFlagsFromString setHeapSnapshotNearHeapLimit', { does: ['process'], stateful: true }),
      ...calls('takeCoverage stopCoverage writeHeapSnapshot', { does: ['files'], stateful: true }),
      ...calls('getHeapSnapshot', { returns: 'stream.Readable' }),
    },
  },
} satisfies PackageModel;
