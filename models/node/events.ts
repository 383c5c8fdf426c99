import { calls, constants, pure, values } from '../build.js';
import type { Call, PackageModel } from '../types.js';

/** `emitter.on(event, listener)`: called as often as the event comes. */
const listen: Call = {
  ruptures: [{ kind: 'start', callback: 1, label: 0, thisIsReceiver: true }],
  returns: 'this',
  mutates: ['this'],
  keeps: [1],
};
const listenOnce: Call = { ...listen, ruptures: [{ kind: 'post', callback: 1, label: 0, thisIsReceiver: true }] };

export const events = {
  name: 'events',
  module: {
    construct: { returns: 'events.EventEmitter' },
    members: {
      EventEmitter: { construct: { returns: 'events.EventEmitter' } },
      EventEmitterAsyncResource: { construct: { returns: 'events.EventEmitter' } },
      once: { call: { promise: true, returns: 'copy 0 | unknown', mutates: [0] } },
      on: { call: { returns: 'unknown', mutates: [0] } },
      addAbortListener: {
        call: { ruptures: [{ kind: 'post', callback: 1 }], returns: 'fresh', mutates: [0], keeps: [1] },
      },
      ...calls('setMaxListeners', { mutates: [-1], stateful: true }),
      ...pure('getEventListeners', 'contents 0'),
      ...pure('getMaxListeners listenerCount'),
      ...constants('errorMonitor captureRejectionSymbol'),
      ...values('defaultMaxListeners captureRejections'),
    },
  },
  types: {
    EventEmitter: {
      identity: true,
      complete: true,
      members: {
        on: { call: listen },
        addListener: { call: listen },
        prependListener: { call: listen },
        once: { call: listenOnce },
        prependOnceListener: { call: listenOnce },
        // The listeners run in place and are not known here: whoever emits acts on all that the emitter holds.
        emit: { call: { returns: 'fresh', mutates: ['this'], keeps: [-1], data: true } },
        off: { call: { returns: 'this', mutates: ['this'] } },
        removeListener: { call: { returns: 'this', mutates: ['this'] } },
        removeAllListeners: { call: { returns: 'this', mutates: ['this'] } },
        setMaxListeners: { call: { returns: 'this', mutates: ['this'] } },
        ...pure('getMaxListeners listenerCount eventNames'),
        ...pure('listeners rawListeners', 'copy'),
      },
      events: { error: { params: ['fresh'] } },
    },
  },
} satisfies PackageModel;
