import {
  callbackLast,
  calls,
  chained,
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

const EXCHANGE = ['http2.Http2ServerRequest', 'http2.Http2ServerResponse'] as const;

const createServer: Call = {
  ruptures: [start('last', EXCHANGE, { request: true })],
  returns: 'http2.Http2Server',
  keeps: [-1],
};

/** Requests and responses are HTTP/2 streams of one connection; there is no bridge for them. */
export const http2 = {
  name: 'http2',
  module: {
    members: {
      ...each('createServer createSecureServer', { call: createServer }),
      connect: {
        call: {
          ruptures: [post('last', ['http2.Session', 'net.Socket'])],
          returns: 'http2.Session',
          does: ['network'],
        },
      },
      ...pure('getDefaultSettings getPackedSettings getUnpackedSettings'),
      ...constants('constants sensitiveHeaders'),
    },
  },
  types: {
    Http2Server: {
      extends: 'net.Server',
      identity: true,
      members: {
        setTimeout: { call: { ruptures: [start('last', [])], returns: 'this', mutates: ['this'] } },
        ...mutating('updateSettings'),
        ...values('timeout'),
      },
      events: {
        request: { params: EXCHANGE, request: true },
        session: { params: ['http2.Session'] },
        stream: { params: ['http2.Stream', 'fresh', 'fresh', 'fresh'] },
      },
    },
    Http2ServerRequest: {
      extends: 'stream.Readable',
      perRequest: true,
      members: {
        ...values('headers rawHeaders trailers rawTrailers'),
        ...constants('aborted authority complete httpVersion method scheme url'),
        ...each('socket connection', { is: 'http.Connection' }),
        stream: { is: 'http2.Stream' },
        ...callbackLast('setTimeout', { mutates: ['this'], returns: 'this' }, []),
      },
      events: { aborted: { once: true, params: [] } },
    },
    Http2ServerResponse: {
      extends: 'http.OutgoingMessage',
      perRequest: true,
      reply: true,
      members: {
        ...chained('writeHead'),
        ...mutating('writeContinue'),
        ...values('statusCode statusMessage sendDate'),
        stream: { is: 'http2.Stream' },
        req: { is: 'http2.Http2ServerRequest' },
        createPushResponse: {
          call: {
            ruptures: [post('last', ['fresh', 'http2.Http2ServerResponse'])],
            returns: 'fresh',
            mutates: ['this'],
          },
        },
      },
    },
    Session: emitter(
      {
        ...callbackLast('close ping settings setTimeout', { mutates: ['this'], does: ['network'] }),
        ...mutating('destroy goaway ref unref', { does: ['network'] }),
        ...calls('request', { returns: 'http2.Stream', mutates: ['this'], does: ['network'] }),
      },
      { ...events('close connect', { once: true }), stream: { params: ['http2.Stream', 'fresh', 'fresh', 'fresh'] } },
    ),
    Stream: {
      extends: 'stream.Duplex',
      members: {
        ...mutating('respond additionalHeaders sendTrailers respondWithFile respondWithFD priority'),
        ...callbackLast('close setTimeout', { mutates: ['this'] }, []),
        pushStream: {
          call: { ruptures: [post('last', ['fresh', 'http2.Stream', 'fresh'])], returns: 'fresh', mutates: ['this'] },
        },
      },
      events: { ...events('response headers push trailers', { params: ['fresh', 'fresh'] }) },
    },
  },
} satisfies PackageModel;
