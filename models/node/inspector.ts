import { calls } from '../build.js';
import type { PackageModel } from '../types.js';

/** A debugger's view of one thread: nothing here means the same on another one. */
export const inspector = {
  name: 'inspector',
  module: { members: calls('open close url waitForDebugger', { does: ['process'], stateful: true }) },
} satisfies PackageModel;
