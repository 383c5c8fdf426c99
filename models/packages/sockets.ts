import { callbackLast, calls, chained, each, emitter, events, mutating, post, pure, start, values } from '../build.js';
import type { Call, Member, PackageModel, TypeModel } from '../types.js';

const does = ['network'] as const;
const stateful = true;
const serve: Call = { returns: 'socket.io.Server', mutates: [0], keeps: [-1], does };

/** Rooms and connections are known to the server that accepted them, so all of this stays with it. */
const BROADCAST: Member = { call: { returns: 'socket.io.Broadcast', stateful } };
const SENDING: TypeModel['members'] = {
  ...each('to in except timeout compress', BROADCAST),
  ...each('volatile local', { is: 'socket.io.Broadcast' }),
  emit: { call: { ruptures: [post('last')], returns: 'fresh', mutates: ['this'], keeps: [-1], does, stateful } },
  ...calls('send write', { returns: 'this', mutates: ['this'], keeps: [-1], does, stateful }),
};

const SERVER: TypeModel['members'] = {
  ...SENDING,
  use: {
    call: {
      ruptures: [start(0, ['socket.io.Socket', 'express.Next'])],
      returns: 'this',
      mutates: ['this'],
      keeps: [0],
      stateful,
    },
  },
  of: { call: { returns: 'socket.io.Server', mutates: ['this'], stateful, shared: true } },
  ...calls('listen attach', { returns: 'this', mutates: ['this', 0], does, stateful }),
  ...callbackLast('close', { mutates: ['this'], does, stateful }, ['fresh']),
  ...each('fetchSockets allSockets', { call: { promise: true, returns: 'unknown', stateful } }),
  ...mutating('socketsJoin socketsLeave disconnectSockets', { does, stateful }),
  ...values('sockets engine'),
};

export const socketIo = {
  name: 'socket.io',
  module: {
    call: serve,
    construct: serve,
    members: { Server: { call: serve, construct: serve } },
  },
  types: {
    Server: emitter(SERVER, events('connection connect', { params: ['socket.io.Socket'] })),
    Broadcast: { members: SENDING },
    Socket: emitter(
      {
        ...SENDING,
        broadcast: { is: 'socket.io.Broadcast' },
        ...mutating('join leave leaveAll disconnect', { does, stateful }),
        use: {
          call: { ruptures: [start(0, ['unknown', 'express.Next'])], returns: 'this', mutates: ['this'], stateful },
        },
        onAny: { call: { ruptures: [start(0, ['fresh', 'fresh'])], returns: 'this', mutates: ['this'], stateful } },
        ...values('id handshake data rooms request connected disconnected conn'),
      },
      events('disconnect disconnecting', { params: ['fresh', 'fresh'], once: true }),
    ),
  },
} satisfies PackageModel;

const webSocketServer: Member = {
  construct: { ruptures: [post('last', [])], returns: 'ws.Server', mutates: [0], keeps: [-1], does },
};

export const ws = {
  name: 'ws',
  module: {
    construct: { returns: 'ws.WebSocket', does },
    members: {
      ...each('Server WebSocketServer', webSocketServer),
      WebSocket: { construct: { returns: 'ws.WebSocket', does } },
      ...each('CONNECTING OPEN CLOSING CLOSED', { is: 'fresh' }),
    },
  },
  types: {
    Server: emitter(
      {
        ...callbackLast('close', { mutates: ['this'], does }, ['fresh']),
        handleUpgrade: {
          call: {
            ruptures: [start(3, ['ws.WebSocket', 'http.IncomingMessage'])],
            returns: 'fresh',
            mutates: ['this', 0, 1],
            does,
          },
        },
        ...pure('address shouldHandle'),
        ...values('clients options path'),
      },
      { connection: { params: ['ws.WebSocket', 'http.IncomingMessage'] }, listening: { params: [] } },
    ),
    WebSocket: emitter(
      {
        ...callbackLast('send ping pong', { mutates: ['this'], does }, ['fresh']),
        ...mutating('close terminate pause resume', { does }),
        addEventListener: {
          call: { ruptures: [start(1, ['fresh'], { label: 0 })], returns: 'fresh', mutates: ['this'], keeps: [1] },
        },
        ...chained('removeEventListener'),
        ...values('readyState bufferedAmount protocol url onopen onclose onerror onmessage'),
      },
      {
        message: { params: ['fresh', 'fresh'] },
        open: { params: [], once: true },
        close: { params: ['fresh', 'fresh'], once: true },
        ...events('ping pong', { params: ['fresh'] }),
      },
    ),
  },
} satisfies PackageModel;

/** Another implementation of `events`. */
export const eventemitter3 = {
  name: 'eventemitter3',
  module: {
    construct: { returns: 'events.EventEmitter' },
    members: { EventEmitter: { construct: { returns: 'events.EventEmitter' } } },
  },
} satisfies PackageModel;

/** Every open picture is a reply that waits in the object: whoever writes a frame writes to all of them. */
export const gifsockets = {
  name: 'gifsockets',
  // Of its options it takes the numbers.
  module: { construct: { returns: 'gifsockets.Gifsocket' } },
  types: {
    Gifsocket: {
      identity: true,
      members: {
        addListener: { call: { ruptures: [post(1, ['fresh'])], returns: 'fresh', mutates: ['this', 0], keeps: [0] } },
        ...callbackLast('writeRgbFrame writeRgbaFrame closeAll', { mutates: ['this'] }, ['fresh']),
        ...values('width height firstConnections secondConnections'),
      },
    },
  },
} satisfies PackageModel;
