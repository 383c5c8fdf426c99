/**
 * Reads:   a request and its response as earlier middleware left them at home.
 * Gives:   the envelope from which a replica makes its stand-ins; home's own objects are only looked at.
 * Reports: CannotTravel where a handler in the replica would see something else.
 */

import type { Socket } from 'node:net';
import { CannotTravel, Encoder, type Refs } from '../codec.js';
import { IncomingMessage, ServerResponse } from '../node-http.js';
import { addressesOf, isAsked } from './addresses.js';
import { NODES_OWN_SOCKET } from './genuine.js';
import { headersIntact, readResponse } from './headers.js';
import { corksOf } from './kept-back.js';
import { type BodyState, type Connection, type Envelope, type ExchangeId, type Gone, TLS_FACTS } from './messages.js';
import type { Args } from './names.js';
import { packArgs, packReq, packRes, packStores } from './properties.js';

interface Packed {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly args?: Args;
  readonly stores?: Args;
}

export function packExchange(id: ExchangeId, { req, res, args, stores }: Packed, refs: Refs): Envelope {
  const encoder = new Encoder(refs);
  const app = appOf(req, res, refs);
  const body = bodyState(req);
  const reqProperties = packReq(req, encoder);
  const resProperties = packRes(res, encoder);
  return {
    id,
    httpVersion: req.httpVersion,
    rawHeaders: req.rawHeaders,
    headers: headersIntact(req) ? null : { ...req.headers },
    rawTrailers: req.rawTrailers,
    connection: connectionOf(req.socket),
    body,
    isComplete: req.complete,
    gone: goneOf(req, res),
    app,
    req: reqProperties,
    res: resProperties,
    args: args === undefined ? null : packArgs(args, encoder),
    stores: stores === undefined ? null : packStores(stores, encoder),
    response: readResponse(res),
    progress: progressOf(res),
    corks: corksOf(res),
    fixes: encoder.fixes,
  };
}

/** Express gives both the prototypes of the app that has them at the moment. */
function appOf(req: IncomingMessage, res: ServerResponse, refs: Refs): unknown {
  const reqPrototype: unknown = Object.getPrototypeOf(req);
  const resPrototype: unknown = Object.getPrototypeOf(res);
  if (reqPrototype === IncomingMessage.prototype && resPrototype === ServerResponse.prototype) return null;
  const app: unknown = Reflect.get(req, 'app');
  if (typeof app === 'function' && isOwn(app, 'request', reqPrototype) && isOwn(app, 'response', resPrototype)) {
    const name = refs.nameOf(app);
    if (name !== undefined) return name;
  }
  throw new CannotTravel('req', 'it is no request of Node or of a known Express app');
}

function isOwn(app: object, name: string, prototype: unknown): boolean {
  return Reflect.get(app, name) === prototype;
}

function bodyState(req: IncomingMessage): BodyState {
  if (req.readableEnded || req.destroyed) return 'consumed';
  if (hasBody(req)) {
    // What somebody at home reads as well cannot be held back until the replica asks for it.
    if (req.readableFlowing !== null || req.listenerCount('readable') > 0) {
      if (!req.isPaused() || req.listenerCount('data') > 0) throw new CannotTravel('req', 'its body is being read');
    }
    return 'stream';
  }
  // Whoever listens at home hears of the end when it is resumed there.
  if (req.isPaused() && ['data', 'end'].some((event) => req.listenerCount(event) > 0))
    throw new CannotTravel('req', 'its end is waited for');
  return 'none';
}

function goneOf(req: IncomingMessage, res: ServerResponse): Gone | null {
  if (!req.aborted || !res.destroyed) return null;
  return { hasEnded: req.readableEnded, hasError: req.errored !== null };
}

function hasBody({ headers }: IncomingMessage): boolean {
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = headers['content-length'];
  return length !== undefined && length !== '0';
}

interface Known {
  readonly connection: Connection;
  /** How many own properties the socket had. */
  readonly size: number;
}

const connections = new WeakMap<Socket, Known>();

/** All of it stays the same as long as the connection does, but for what the app puts on the socket. */
function connectionOf(socket: Socket): Connection {
  const names = Object.keys(socket);
  const known = connections.get(socket);
  if (known !== undefined && known.size === names.length) return known.connection;
  const tls = Reflect.get(socket, 'encrypted') === true ? tlsFacts(socket) : null;
  const traps = names.filter((name) => !NODES_OWN_SOCKET.has(name));
  const asked = { ...addressesOf(socket), isAsked: isAsked(socket) };
  const connection = { ...asked, tls, traps, ...validationOf(Reflect.get(socket, 'server')) };
  connections.set(socket, { connection, size: names.length });
  return connection;
}

/** Errors of TLS are told by their codes. */
function tlsFacts(socket: Socket): Connection['tls'] {
  const read = (name: string): unknown => {
    const value: unknown = Reflect.get(socket, name);
    return typeof value === 'object' && value !== null ? String(value) : value;
  };
  const [authorized, authorizationError, alpnProtocol, servername] = TLS_FACTS.map(read);
  return { authorized, authorizationError, alpnProtocol, servername };
}

function validationOf(server: unknown): Pick<Connection, 'httpValidation' | 'insecureHTTPParser'> {
  const read = (name: string, type: string): unknown => {
    const value: unknown = typeof server === 'object' && server !== null ? Reflect.get(server, name) : undefined;
    // Node looks at these types only.
    return typeof value === type ? value : undefined;
  };
  return {
    httpValidation: read('httpValidation', 'string'),
    insecureHTTPParser: read('insecureHTTPParser', 'boolean'),
  };
}

function progressOf(res: ServerResponse): Envelope['progress'] {
  if (res.writableEnded && !res.headersSent) return 'unsent';
  if (res.writableEnded) return res.writableFinished ? 'finished' : 'ended';
  return res.headersSent ? 'head-sent' : 'open';
}
