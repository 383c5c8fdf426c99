import {
  callbackLast,
  calls,
  chained,
  classes,
  constants,
  each,
  emitter,
  events,
  mutating,
  post,
  pure,
  start,
  values,
} from '../build.js';
import type { Call, PackageModel } from '../types.js';

const does = ['network'] as const;
const connect: Call = { ruptures: [post('last', [])], returns: 'net.Socket', does };
/** The callback listens to the server's own event. */
const onServer: Call = { does, mutates: ['this'], returns: 'this' };
const serve: Call = { ruptures: [start('last', ['net.Socket'])], returns: 'net.Server', keeps: [-1] };

export const net = {
  name: 'net',
  module: {
    members: {
      ...each('connect createConnection', { call: connect }),
      createServer: { call: serve },
      Server: { call: serve, construct: serve },
      ...classes('Socket Stream', () => 'net.Socket'),
      ...classes('BlockList SocketAddress', (name) => `net.${name}`),
      ...pure('isIP isIPv4 isIPv6'),
      ...calls('getDefaultAutoSelectFamily getDefaultAutoSelectFamilyAttemptTimeout', { stateful: true }),
      ...calls('setDefaultAutoSelectFamily setDefaultAutoSelectFamilyAttemptTimeout', { stateful: true }),
    },
  },
  types: {
    Server: emitter(
      {
        listen: { call: { ...onServer, ruptures: [post('last', [], { thisIsReceiver: true })] } },
        close: { call: { ...onServer, ruptures: [post('last', ['fresh'], { thisIsReceiver: true })] } },
        ...callbackLast('getConnections', { stateful: true }, ['fresh', 'fresh']),
        ...pure('address'),
        ...chained('ref unref'),
        ...constants('listening'),
        ...values('maxConnections'),
      },
      {
        connection: { params: ['net.Socket'] },
        listening: { params: [] },
        close: { params: [] },
        drop: { params: ['fresh'] },
      },
    ),
    Socket: {
      extends: 'stream.Duplex',
      members: {
        ...callbackLast('connect setTimeout', { does, mutates: ['this'], returns: 'this' }, []),
        ...chained('setNoDelay setKeepAlive ref unref resetAndDestroy', { does }),
        ...mutating('destroySoon', { does }),
        ...pure('address'),
        ...constants(`bytesRead bytesWritten connecting localAddress localFamily localPort pending readyState
          remoteAddress remoteFamily remotePort`),
      },
      events: {
        ...events('connect ready', { params: [], once: true }),
        timeout: { params: [] },
        lookup: { params: ['fresh', 'fresh', 'fresh', 'fresh'] },
      },
    },
    BlockList: {
      members: { ...mutating('addAddress addRange addSubnet'), ...pure('check'), ...values('rules') },
    },
    SocketAddress: { travels: 'clone', members: constants('address family port flowlabel') },
  },
} satisfies PackageModel;
