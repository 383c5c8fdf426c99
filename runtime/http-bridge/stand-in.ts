/**
 * Reads: an envelope.
 * Gives: a request and a response of Node with the prototypes of the app's own, in the state in which home's are.
 */
import { IncomingMessage, ServerResponse } from 'node:http';
import { genuine } from './genuine.js';
import { setResponse } from './headers.js';
import type { BodyState, Envelope } from './messages.js';
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
  setBody(req, envelope.body, envelope.rawTrailers);
  return req;
}

declare module 'node:http' {
  interface IncomingMessage {
    upgrade: boolean | null;
    _addHeaderLines(headers: readonly string[], count: number): void;
  }
}

function setRawHeaders(req: IncomingMessage, raw: readonly string[]): void {
  req._addHeaderLines(raw, raw.length);
}

function setBody(req: IncomingMessage, body: BodyState, trailers: readonly string[]): void {
  if (body === 'stream') return;
  req.complete = true;
  req.rawTrailers = [...trailers];
  if (body === 'none') {
    req.push(null);
    return;
  }
  const state: unknown = Reflect.get(req, '_readableState');
  if (typeof state !== 'object' || state === null) return;
  for (const name of ['ended', 'endEmitted', 'destroyed', 'closed', 'closeEmitted']) Reflect.set(state, name, true);
}

export function makeResponse(envelope: Envelope, req: IncomingMessage, socket: StandInSocket): ServerResponse {
  const res = new ServerResponse(req);
  setResponse(res, envelope.response);
  res.assignSocket(socket);
  return res;
}

/** What home has sent already; the socket takes it and nobody is told. */
export function catchUp(res: ServerResponse, progress: Envelope['progress']): void {
  if (progress === 'open') return;
  if (!res.headersSent) {
    genuine.writeHead.call(res, res.statusCode);
    genuine.flushHeaders.call(res);
  }
  if (progress === 'ended') Reflect.apply(genuine.end, res, []);
}

/** As Express does when a request enters an app. */
export function setAppPrototypes(req: IncomingMessage, res: ServerResponse, app: object): void {
  const request: unknown = Reflect.get(app, 'request');
  const response: unknown = Reflect.get(app, 'response');
  if (typeof request === 'object') Object.setPrototypeOf(req, request);
  if (typeof response === 'object') Object.setPrototypeOf(res, response);
}
