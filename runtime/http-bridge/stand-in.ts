/**
 * Reads: an envelope.
 * Gives: a request and a response of Node with the prototypes of the app's own, in the state in which home's are.
 */
import { IncomingMessage, ServerResponse } from '../node-http.js';
import { FINISHED, genuine, NEED_DRAIN } from './genuine.js';
import { setResponse } from './headers.js';
import type { BodyState, Envelope, Gone } from './messages.js';
import type { StandInSocket } from './stand-in-socket.js';

export function makeRequest(envelope: Envelope, socket: StandInSocket): IncomingMessage {
  const req = new IncomingMessage(socket);
  const [major, minor] = envelope.httpVersion.split('.');
  req.httpVersion = envelope.httpVersion;
  req.httpVersionMajor = Number(major);
  req.httpVersionMinor = Number(minor);
  setRawHeaders(req, envelope.rawHeaders);
  if (envelope.headers !== null) Reflect.set(req, 'headers', envelope.headers);
  req.upgrade = false;
  const method = envelope.req.values[envelope.req.names.indexOf('method')];
  if (typeof method === 'string') req.method = method;
  req.complete = envelope.isComplete;
  if (envelope.gone === null) setBody(req, envelope.body, envelope.rawTrailers);
  else setGone(req, envelope.gone, envelope.rawTrailers);
  return req;
}

declare module 'node:http' {
  interface OutgoingMessage {
    _contentLength: number | null;
  }
  interface IncomingMessage {
    upgrade: boolean | null;
    _addHeaderLines(headers: readonly string[], count: number): void;
    _dump(): void;
  }
}

function setRawHeaders(req: IncomingMessage, raw: readonly string[]): void {
  req._addHeaderLines(raw, raw.length);
}

function setBody(req: IncomingMessage, body: BodyState, trailers: readonly string[]): void {
  if (body === 'stream') return;
  req.rawTrailers = [...trailers];
  if (body === 'none') {
    // As the parser does when the listener has returned.
    if (!req.complete) process.nextTick(complete, req);
    req.push(null);
    return;
  }
  setState(req, ['ended', 'endEmitted', 'destroyed', 'closed', 'closeEmitted']);
}

function complete(req: IncomingMessage): void {
  req.complete = true;
}

function setState(req: IncomingMessage, names: readonly string[]): void {
  const state: unknown = Reflect.get(req, '_readableState');
  if (typeof state !== 'object' || state === null) return;
  for (const name of names) Reflect.set(state, name, true);
}

/** The client went away before: all events of that are over. */
function setGone(req: IncomingMessage, { hasEnded, hasError }: Gone, trailers: readonly string[]): void {
  req.rawTrailers = [...trailers];
  req.aborted = true;
  setState(req, ['destroyed', 'closed', 'closeEmitted', ...(hasEnded ? ['ended', 'endEmitted'] : [])]);
  if (!hasError) return;
  const state: unknown = Reflect.get(req, '_readableState');
  if (typeof state !== 'object' || state === null) return;
  Reflect.set(state, 'errored', abortError());
  Reflect.set(state, 'errorEmitted', true);
}

export function makeResponse(envelope: Envelope, req: IncomingMessage, socket: StandInSocket): ServerResponse {
  const res = new ServerResponse(req);
  setResponse(res, envelope.response);
  res.assignSocket(socket);
  if (envelope.gone === null) return res;
  Reflect.set(socket, 'destroyed', true);
  res.destroyed = true;
  Reflect.set(res, '_closed', true);
  return res;
}

/** What home has sent already; the socket takes it and nobody is told. */
export function catchUp(res: ServerResponse, progress: Envelope['progress']): void {
  if (progress === 'open') return;
  // As Node's `end` leaves it when it was given something to send.
  if (progress === 'unsent') return void Reflect.set(res, 'finished', true);
  if (!res.headersSent) {
    genuine.writeHead.call(res, res.statusCode);
    genuine.flushHeaders.call(res);
  }
  if (progress !== 'head-sent') endUncounted(res);
  // Newer versions of Node note it, older ones look.
  if (progress === 'finished' && FINISHED !== undefined) Reflect.set(res, FINISHED, true);
}

/** Of what home has sent nothing was counted here. */
function endUncounted(res: ServerResponse): void {
  const { strictContentLength } = res;
  res.strictContentLength = false;
  Reflect.apply(genuine.end, res, []);
  res.strictContentLength = strictContentLength;
}

// --- what home tells later ----------------------------------------------------------------------------------------------

export function endRequest(req: IncomingMessage, trailers: readonly string[]): void {
  req.complete = true;
  req._addHeaderLines(trailers, trailers.length);
  req.push(null);
}

export function drain(res: ServerResponse): void {
  if (res.writableEnded || NEED_DRAIN === undefined || Reflect.get(res, NEED_DRAIN) !== true) return;
  Reflect.set(res, NEED_DRAIN, false);
  res.emit('drain');
}

/** What Node's server does when a response has been sent. */
export function closeAfterFinish(req: IncomingMessage, res: ServerResponse, socket: StandInSocket): void {
  const state: unknown = Reflect.get(req, '_readableState');
  const resumes = typeof state === 'object' && state !== null && Reflect.get(state, 'resumeScheduled') === true;
  if (Reflect.get(req, '_consuming') !== true && !resumes) req._dump();
  if (res.socket !== null) res.detachSocket(socket);
  process.nextTick(closeResponse, res);
}

function closeResponse(res: ServerResponse): void {
  if (res.closed) return;
  res.destroyed = true;
  Reflect.set(res, '_closed', true);
  res.emit('close');
}

/** What it does when the connection is gone. */
export function abort(req: IncomingMessage): void {
  if (req.destroyed) return;
  if (!req.readableEnded || !req.complete) req.destroy(abortError());
  else req.destroy();
}

/** `before` its listeners are told that it is closed. */
export function closeSocket(socket: StandInSocket, error: Error | null, before: () => void = () => {}): void {
  Reflect.set(socket, 'destroyed', true);
  if (error !== null && socket.listenerCount('error') > 0) socket.emit('error', error);
  before();
  socket.close(error !== null);
}

function abortError(): Error {
  const error: Error & { code?: string } = new Error('aborted');
  error.code = 'ECONNRESET';
  return error;
}

/** As Express does when a request enters an app. */
export function setAppPrototypes(req: IncomingMessage, res: ServerResponse, app: object): void {
  const request: unknown = Reflect.get(app, 'request');
  const response: unknown = Reflect.get(app, 'response');
  if (typeof request === 'object') Object.setPrototypeOf(req, request);
  if (typeof response === 'object') Object.setPrototypeOf(res, response);
}
