/**
 * Gives: what Node's own requests and responses are, as this module finds it: it is loaded before the app, which may
 * replace methods later. The bridge calls these where a replacement has run on the other loop already.
 */

import { Socket } from 'node:net';
import { createServer, IncomingMessage, OutgoingMessage, ServerResponse } from '../node-http.js';

const response = ServerResponse.prototype;

export const genuine = {
  writeHead: response.writeHead,
  write: response.write,
  end: response.end,
  cork: response.cork,
  uncork: response.uncork,
  flushHeaders: response.flushHeaders,
  addTrailers: response.addTrailers,
  writeContinue: response.writeContinue,
  writeProcessing: response.writeProcessing,
  writeEarlyHints: response.writeEarlyHints,
  setHeader: OutgoingMessage.prototype.setHeader,
  removeHeader: OutgoingMessage.prototype.removeHeader,
  hasHeader: OutgoingMessage.prototype.hasHeader,
  getHeader: OutgoingMessage.prototype.getHeader,
  getRawHeaderNames: rawHeaderNames(),
} as const;

/** Node has it since 15.4; its types do not say so for responses. */
function rawHeaderNames(): () => string[] {
  const found: unknown = Reflect.get(OutgoingMessage.prototype, 'getRawHeaderNames');
  if (typeof found !== 'function') throw new Error('this version of Node has other responses');
  return function getRawHeaderNames(this: object): string[] {
    return found.call(this);
  };
}

const request = sampleRequest();
const reply = sampleResponse(request);

/** Own properties that Node itself gives a request or a response. */
export const NODES_OWN_REQ: ReadonlySet<string | symbol> = new Set([...Reflect.ownKeys(request), 'socket', 'client']);
export const NODES_OWN_RES: ReadonlySet<string | symbol> = new Set([
  ...Reflect.ownKeys(reply),
  // A server hands some of its own on to each response.
  ...Object.getOwnPropertySymbols(createServer()),
  'socket',
  'statusCode',
  'statusMessage',
  '_onPendingData',
  '_keepAliveTimeout',
  '_maxRequestsPerSocket',
  '_expect_continue',
  '_sent100',
  '_timeout',
  '_traceEventId',
]);

/** Those that a connection of a server has, with and without TLS. */
export const NODES_OWN_SOCKET: ReadonlySet<string> = new Set([
  ...Object.keys(new Socket()),
  ...['parser', 'on', 'addListener', 'prependListener', 'setEncoding', '_paused', '_httpMessage', 'timeout', '_parent'],
  ...[
    '_tlsOptions',
    '_secureEstablished',
    '_securePending',
    '_newSessionPending',
    '_controlReleased',
    'secureConnecting',
  ],
  ...['_SNICallback', 'servername', 'alpnProtocol', 'authorized', 'authorizationError', 'encrypted', 'ssl'],
  ...['_requestCert', '_rejectUnauthorized', '_peername', '_sockname', '_server', 'server', '_hadError', 'isServer'],
]);

/** Some of them come with use only. */
function sampleRequest(): IncomingMessage {
  const req = new IncomingMessage(new Socket());
  for (const name of ['headers', 'headersDistinct', 'trailers', 'trailersDistinct', 'signal']) Reflect.get(req, name);
  return req;
}

function sampleResponse(req: IncomingMessage): ServerResponse {
  const res = new ServerResponse(req);
  res.end('', () => {});
  return res;
}

/** Node remembers under it that somebody waits for 'drain'. */
export const NEED_DRAIN: symbol | undefined = Object.getOwnPropertySymbols(reply).find(
  ({ description }) => description === 'kNeedDrain',
);

/** Under this is what it keeps back, to send it as one chunk. */
export const KEPT_BACK: symbol | undefined = Object.getOwnPropertySymbols(reply).find(
  ({ description }) => description === 'kChunkedBuffer',
);

/** And under this that all of a response was sent. */
export const FINISHED: symbol | undefined = Object.getOwnPropertySymbols(reply).find(
  ({ description }) => description === 'kWritableFinished',
);
