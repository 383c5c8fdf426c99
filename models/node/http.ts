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
import type { Call, PackageModel, TypeModel } from '../types.js';

export const EXCHANGE = ['http.IncomingMessage', 'http.ServerResponse'] as const;

/** Also those of `https`. */
export const createServer: Call = {
  ruptures: [start('last', EXCHANGE, { request: true })],
  returns: 'http.Server',
  keeps: [-1],
};
export const request: Call = {
  ruptures: [post('last', ['http.ClientResponse'])],
  returns: 'http.ClientRequest',
  does: ['network'],
};

const MESSAGE: TypeModel['members'] = {
  ...values('headers headersDistinct rawHeaders trailers trailersDistinct rawTrailers signal'),
  ...constants('aborted complete httpVersion httpVersionMajor httpVersionMinor method statusCode statusMessage url'),
  ...each('socket connection client', { is: 'http.Connection' }),
  ...callbackLast('setTimeout', { mutates: ['this'], returns: 'this' }, []),
};

const OUTGOING: TypeModel['members'] = {
  ...chained('setHeader setHeaders appendHeader'),
  ...pure('getHeader getHeaders', 'contents'),
  ...pure('getHeaderNames getRawHeaderNames hasHeader'),
  ...mutating('removeHeader addTrailers flushHeaders'),
  ...callbackLast('setTimeout', { mutates: ['this'], returns: 'this' }, []),
  ...constants('headersSent'),
  ...each('socket connection', { is: 'http.Connection' }),
};

export const http = {
  name: 'http',
  module: {
    members: {
      createServer: { call: createServer },
      Server: { call: createServer, construct: createServer },
      ...each('request get', { call: request }),
      ClientRequest: { construct: request },
      Agent: { construct: { returns: 'http.Agent', connects: true } },
      IncomingMessage: { construct: { returns: 'http.IncomingMessage', keeps: [0] } },
      OutgoingMessage: { construct: { returns: 'http.OutgoingMessage' } },
      ServerResponse: { construct: { returns: 'http.ServerResponse', keeps: [0] } },
      ...pure('validateHeaderName validateHeaderValue'),
      ...calls('setMaxIdleHTTPParsers', { stateful: true }),
      ...constants('METHODS STATUS_CODES maxHeaderSize'),
      globalAgent: { is: 'http.Agent' },
      WebSocket: { construct: { returns: 'unknown', does: ['network'] } },
    },
  },
  types: {
    Server: {
      extends: 'net.Server',
      identity: true,
      members: {
        ...mutating('closeAllConnections closeIdleConnections', { does: ['network'] }),
        setTimeout: { call: { ruptures: [start('last', ['net.Socket'])], returns: 'this', mutates: ['this'] } },
        ...values('timeout keepAliveTimeout headersTimeout requestTimeout maxHeadersCount maxRequestsPerSocket'),
      },
      events: {
        request: { params: EXCHANGE, request: true },
        ...events('checkContinue checkExpectation', { params: EXCHANGE }),
        ...events('upgrade connect', { params: ['http.IncomingMessage', 'net.Socket', 'fresh'] }),
        clientError: { params: ['fresh', 'net.Socket'] },
        connection: { params: ['net.Socket'] },
        dropRequest: { params: ['http.IncomingMessage', 'net.Socket'] },
      },
    },
    IncomingMessage: {
      extends: 'stream.Readable',
      travels: 'bridge',
      perRequest: true,
      members: MESSAGE,
      events: { aborted: { once: true, params: [] } },
    },
    /** The socket of a request, TLS or not: it serves others as well. */
    Connection: {
      extends: 'net.Socket',
      outlivesRequest: true,
      members: constants('encrypted authorized authorizationError socket'),
    },
    /** What `http.get` gives: like a request's message, but of a connection of our own, so it cannot be bridged. */
    ClientResponse: {
      extends: 'stream.Readable',
      members: { ...MESSAGE, req: { is: 'http.ClientRequest' } },
      events: { aborted: { once: true, params: [] } },
    },
    OutgoingMessage: { extends: 'stream.Writable', members: OUTGOING },
    ServerResponse: {
      extends: 'http.OutgoingMessage',
      travels: 'bridge',
      perRequest: true,
      reply: true,
      members: {
        ...chained('writeHead writeHeader', { keeps: [], data: true }),
        ...mutating('writeContinue writeProcessing assignSocket detachSocket'),
        ...callbackLast('writeEarlyHints writeInformation', { mutates: ['this'] }, []),
        ...values('statusCode statusMessage sendDate strictContentLength shouldKeepAlive'),
        req: { is: 'http.IncomingMessage' },
      },
    },
    ClientRequest: {
      extends: 'http.OutgoingMessage',
      members: {
        ...mutating('abort setNoDelay setSocketKeepAlive'),
        ...values('aborted reusedSocket maxHeadersCount path method host protocol'),
      },
      events: {
        response: { params: ['http.ClientResponse'], once: true },
        information: { params: ['fresh'] },
        ...events('abort continue timeout', { params: [] }),
        socket: { params: ['net.Socket'], once: true },
        ...events('upgrade connect', { params: ['http.ClientResponse', 'net.Socket', 'fresh'], once: true }),
      },
    },
    Agent: emitter({
      ...mutating('destroy', { does: ['network'] }),
      ...pure('getName'),
      ...values('freeSockets sockets requests maxFreeSockets maxSockets maxTotalSockets'),
    }),
  },
} satisfies PackageModel;
