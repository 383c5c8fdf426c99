import { calls, emitter, events, mutating, promising, values } from '../build.js';
import type { PackageModel } from '../types.js';

/** `isMainThread`, `threadId`, `parentPort` and `workerData` say which thread reads them, so they stay unknown. */
export const workerThreads = {
  name: 'worker_threads',
  module: {
    members: {
      Worker: { construct: { returns: 'worker_threads.Worker', does: ['subprocess'] } },
      MessageChannel: { construct: { returns: 'worker_threads.MessageChannel' } },
      ...calls('markAsUntransferable markAsUncloneable', { mutates: [0] }),
      ...calls('isMarkedAsUntransferable', {}),
      ...calls('setEnvironmentData', { stateful: true }),
      ...calls('getEnvironmentData', { stateful: true, returns: 'unknown' }),
      ...calls('receiveMessageOnPort', { mutates: [0] }),
    },
  },
  types: {
    Worker: emitter(
      {
        ...mutating('postMessage ref unref'),
        ...promising('terminate getHeapSnapshot', { mutates: ['this'] }),
        ...values('threadId resourceLimits performance'),
        stdin: { is: 'stream.Writable' },
        stdout: { is: 'stream.Readable' },
        stderr: { is: 'stream.Readable' },
      },
      { message: { params: ['fresh'] }, ...events('online exit', { params: ['fresh'], once: true }) },
    ),
    MessageChannel: {
      members: { port1: { is: 'worker_threads.MessagePort' }, port2: { is: 'worker_threads.MessagePort' } },
    },
    MessagePort: emitter(mutating('postMessage start close ref unref'), {
      message: { params: ['fresh'] },
      close: { params: [], once: true },
    }),
  },
} satisfies PackageModel;
