import { callbackLast, chained, emitter, mutating, pure, start } from '../build.js';
import type { Call, PackageModel } from '../types.js';

const does = ['network'] as const;
const create: Call = { ruptures: [start('last', ['fresh', 'fresh'])], returns: 'dgram.Socket' };

export const dgram = {
  name: 'dgram',
  module: { members: { createSocket: { call: create }, Socket: { call: create, construct: create } } },
  types: {
    Socket: emitter(
      {
        ...callbackLast('bind close', { does, mutates: ['this'], returns: 'this' }, []),
        ...callbackLast('send connect', { does, mutates: ['this'] }),
        ...pure('address remoteAddress getRecvBufferSize getSendBufferSize getSendQueueSize getSendQueueCount'),
        ...mutating(
          `disconnect setBroadcast setTTL setMulticastTTL setMulticastLoopback setMulticastInterface addMembership
          dropMembership addSourceSpecificMembership dropSourceSpecificMembership setRecvBufferSize setSendBufferSize`,
          { does },
        ),
        ...chained('ref unref'),
      },
      {
        message: { params: ['fresh', 'fresh'] },
        close: { params: [], once: true },
        connect: { params: [] },
        listening: { params: [], once: true },
      },
    ),
  },
} satisfies PackageModel;
