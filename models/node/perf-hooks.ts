import { calls, constants, mutating, start, values } from '../build.js';
import type { Member, PackageModel } from '../types.js';

/** Also the global. */
export const PERFORMANCE: Member = {
  members: {
    ...calls('now toJSON eventLoopUtilization', { does: ['clock'] }),
    ...calls('mark measure', { does: ['clock'], stateful: true }),
    ...calls('clearMarks clearMeasures clearResourceTimings getEntries getEntriesByName getEntriesByType', {
      stateful: true,
    }),
    ...constants('timeOrigin'),
    ...values('nodeTiming'),
  },
};

export const perfHooks = {
  name: 'perf_hooks',
  module: {
    members: {
      performance: PERFORMANCE,
      PerformanceObserver: {
        construct: { ruptures: [start(0, ['fresh', 'this'])], returns: 'perf_hooks.Observer' },
      },
      ...calls('monitorEventLoopDelay createHistogram', { returns: 'perf_hooks.Histogram' }),
      ...constants('constants'),
    },
  },
  types: {
    Observer: { members: mutating('observe disconnect takeRecords', { stateful: true }) },
    Histogram: {
      members: {
        ...mutating('enable disable reset record recordDelta add', { does: ['clock'] }),
        ...calls('percentile percentileBigInt', {}),
        ...values('count exceeds max mean min percentiles stddev'),
      },
    },
  },
} satisfies PackageModel;
