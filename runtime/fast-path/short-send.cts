/**
 * Reads: an Express app that serves.
 * Gives: to the responses of its Express, a `send` that answers texts in fewer steps: their type is not taken apart and put
 *        together again each time, their tag is made by one call, and head and body become one text.
 *
 * What comes out is the same, byte for byte, and nothing that the app could have put in between is passed over: where anything
 * that the long way calls is not what Node and Express have made, the long way is taken. So no code of the app's runs on top of this.
 */
import buffer = require('node:buffer');

import crypto = require('node:crypto');
import http = require('node:http');
import net = require('node:net');
import util = require('node:util');

import texts = require('./express-texts.cjs');

interface App {
  (): void;
  readonly get: unknown;
  readonly set: unknown;
  readonly settings: { readonly [name: string]: unknown };
}

interface Response extends Omit<http.ServerResponse, 'req'> {
  readonly req?: http.IncomingMessage & { readonly fresh: unknown };
  readonly app?: App;
  readonly get: unknown;
  readonly set: unknown;
  readonly status: (code: number) => unknown;
}

const { Buffer } = buffer;
const { createHash, hash } = crypto;
const { getHeader, setHeader, removeHeader, end } = http.ServerResponse.prototype;
const { write } = net.Socket.prototype;
const { isProxy } = util.types;

/** Node's own, and not what somebody has put there before this was loaded. */
const areNodes =
  [getHeader, setHeader, removeHeader].every((fn) => /\bkOutHeaders\b/.test(`${fn}`)) && /\bkCorked\b/.test(`${end}`);

/** Of so many types of answers it is remembered what comes of them. */
const MOST_TYPES = 64;
/** Of what is shorter Express makes no buffer, if it needs no tag. */
const SHORT = 1000;

function apply(app: object): void {
  const found = areNodes ? texts.findSend(app) : null;
  if (found === null) return;
  const { holder, send: long, get, set, status, appGet, appSet, isFive, tags, isUntouched } = found;
  /** What the long way makes of a type. */
  const types = new Map<string, string>();

  /** What it calls on the long way, and this calls or leaves out. */
  const isPlain = (res: Response): boolean =>
    res.get === get &&
    res.set === set &&
    res.status === status &&
    res.getHeader === getHeader &&
    res.setHeader === setHeader &&
    res.removeHeader === removeHeader &&
    res.end === end &&
    crypto.createHash === createHash &&
    isUntouched();

  const learn = (res: Response, body: string, type: string): unknown => {
    const sent = Reflect.apply(long, res, [body]);
    const given = isPlain(res) ? res.getHeader('Content-Type') : undefined;
    if (typeof given === 'string' && types.size < MOST_TYPES) types.set(type, given);
    return sent;
  };

  holder.send = function send(this: Response, body: unknown, ...more: unknown[]): unknown {
    const { app, req, socket, statusCode } = this;
    const isStrange =
      typeof body !== 'string' ||
      more.length > 0 ||
      isProxy(this) ||
      typeof app !== 'function' ||
      !isObject(req) ||
      !isPlain(this) ||
      app.get !== appGet ||
      app.set !== appSet ||
      // Behind others that come first, somebody may yet look at what is written.
      socket?.write !== write ||
      this.headersSent ||
      !(statusCode >= 200) ||
      EMPTY.has(statusCode) ||
      this.getHeader('Transfer-Encoding') !== undefined;
    if (isStrange) return Reflect.apply(long, this, [body, ...more]);

    const type = this.getHeader('Content-Type');
    const tagging = this.getHeader('ETag') ? undefined : app.settings['etag fn'];
    const isTagged = typeof tagging === 'function';
    if (typeof type !== 'string' || (isTagged && tagging !== tags.weak && tagging !== tags.strong))
      return Reflect.apply(long, this, [body]);
    const given = types.get(type);
    if (given === undefined) return learn(this, body, type);

    const length = Buffer.byteLength(body);
    this.setHeader('Content-Type', given);
    this.setHeader('Content-Length', `${length}`);
    if (isTagged) this.setHeader('ETag', `${tagging === tags.weak ? 'W/' : ''}"${tagOf(body, length)}"`);
    const isFresh = Boolean(req.fresh);
    if (isFresh) {
      if (isFive) this.status(304);
      else this.statusCode = 304;
      for (const name of OF_BODIES) this.removeHeader(name);
    }
    if (req.method === 'HEAD') this.end();
    else if (isFresh) this.end('', 'utf8');
    else if (!isTagged && body.length < SHORT) this.end(body, 'utf8');
    // Its bytes are its characters. The head is written as ever, which it would not be beside other text.
    else if (length === body.length) this.end(body, 'latin1');
    else this.end(Buffer.from(body));
    return this;
  };
}

const OF_BODIES = ['Content-Type', 'Content-Length', 'Transfer-Encoding'];
/** These have no body, or are to have none. */
const EMPTY = new Set([204, 205, 304]);

function tagOf(body: string, length: number): string {
  if (length === 0) return EMPTY_TAG;
  return `${length.toString(16)}-${hash('sha1', body, 'base64').substring(0, 27)}`;
}

const EMPTY_TAG = '0-2jmj7l5rSw0yVb/vlWAYkK/YBwk';

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

export = { apply };
