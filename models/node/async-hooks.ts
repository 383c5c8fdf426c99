import { calls, mutating, pure, sync } from '../build.js';
import type { PackageModel } from '../types.js';

const stateful = true;

export const asyncHooks = {
  name: 'async_hooks',
  module: {
    members: {
      AsyncLocalStorage: {
        construct: { returns: 'async_hooks.AsyncLocalStorage' },
        members: { bind: { call: { returns: 'bound argument 0', stateful } } },
      },
      AsyncResource: {
        construct: { returns: 'async_hooks.AsyncResource' },
        members: { bind: { call: { returns: 'bound argument 0', stateful } } },
      },
      ...calls('executionAsyncId triggerAsyncId executionAsyncResource', { stateful, returns: 'unknown' }),
    },
  },
  types: {
    /** What is kept here hangs on the request that is at work. Who asks for it may run on another loop, which is given it along with the request; who sets it may
     *  not, as what comes behind would not have it. */
    AsyncLocalStorage: {
      identity: true,
      keepsForRequest: true,
      members: {
        run: { call: { ruptures: [sync(1, ['argument 2', 'argument 3'])], returns: 'result 1', keeps: [0], stateful } },
        exit: { call: { ruptures: [sync(0, ['argument 1', 'argument 2'])], returns: 'result 0', stateful } },
        enterWith: { call: { returns: 'fresh', keeps: [0], stateful } },
        getStore: { call: { returns: 'contents', asksContext: true } },
        ...mutating('disable', { stateful }),
      },
    },
    AsyncResource: {
      members: {
        runInAsyncScope: { call: { ruptures: [sync(0, ['argument 2', 'argument 3'])], returns: 'result 0', stateful } },
        bind: { call: { returns: 'bound argument 0', stateful } },
        ...pure('asyncId triggerAsyncId'),
        ...mutating('emitDestroy'),
      },
    },
  },
} satisfies PackageModel;
