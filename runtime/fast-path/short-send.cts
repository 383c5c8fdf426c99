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
import util = require('node:util');

import type texts = require('./express-texts.cjs');

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

type Answering = Required<Pick<Response, 'app' | 'req'>>;

const { Buffer } = buffer;
const { getHeader, setHeader, removeHeader, end } = http.ServerResponse.prototype;
const { isProxy } = util.types;

/** Node's own, and not what somebody has put there before this was loaded. */
const areNodes =
  [getHeader, setHeader, removeHeader].every((fn) => /\bkOutHeaders\b/.test(`${fn}`)) && /\bkCorked\b/.test(`${end}`);

/** Of so many types of answers it is remembered what comes of them. */
const MOST_TYPES = 64;
/** Of what is shorter Express makes no buffer, if it needs no tag. */
const SHORT = 1000;

/** What Fluxion puts in the place of `end` for its stand-ins, which is Node's own to all other responses. */
let recordedEnd: unknown = end;

function knowEnd(recorded: unknown): void {
  recordedEnd = recorded;
}

function apply(app: object, { findSend, asLoaded }: typeof texts): void {
  const found = areNodes ? findSend(app) : null;
  if (found === null) return;
  const { holder, send: long, get, set, status, appGet, appSet, isFive, tags, setCharset, isUntouched } = found;
  const { createHash, hash, write } = asLoaded;
  /** What becomes of types. */
  const types = new Map<string, string>();

  /** What it calls on the long way, and this calls or leaves out. */
  const isPlain = (res: Response): boolean =>
    res.get === get &&
    res.set === set &&
    res.status === status &&
    res.getHeader === getHeader &&
    res.setHeader === setHeader &&
    res.removeHeader === removeHeader &&
    (res.end === end || res.end === recordedEnd) &&
    crypto.createHash === createHash &&
    isUntouched();

  /** What Express makes of a type; empty where it makes an error of it. */
  const givenFor = (type: unknown): string => {
    if (typeof type !== 'string') return '';
    const known = types.get(type);
    if (known !== undefined) return known;
    const given = withCharset(setCharset, type);
    if (types.size < MOST_TYPES) types.set(type, given);
    return given;
  };

  /** The tag that Express would make is one that is known here, or none. */
  const isTagKnown = (tagging: unknown): boolean =>
    typeof tagging !== 'function' || tagging === tags.weak || tagging === tags.strong;

  const isShort = (res: Response): boolean => {
    const { app, socket, statusCode } = res;
    return (
      typeof app === 'function' &&
      isObject(res.req) &&
      !isProxy(res) &&
      isPlain(res) &&
      app.get === appGet &&
      app.set === appSet &&
      // Not of stand-ins. Behind others that come first, somebody may yet look at what is written.
      socket?.write === write &&
      !res.headersSent &&
      statusCode >= 200 &&
      !EMPTY.has(statusCode) &&
      givenFor(res.getHeader('Content-Type')) !== '' &&
      isTagKnown(app.settings['etag fn']) &&
      res.getHeader('Transfer-Encoding') === undefined
    );
  };

  function send(this: Response, body: unknown, ...more: unknown[]): unknown {
    // What its argument is made of may have changed all of that.
    if (typeof body !== 'string' || more.length > 0 || !isShort(this))
      return Reflect.apply(long, this, [body, ...more]);
    const { app, req } = this as Answering;
    const tagging = this.getHeader('ETag') ? undefined : app.settings['etag fn'];
    const isTagged = typeof tagging === 'function';
    const length = Buffer.byteLength(body);
    this.setHeader('Content-Type', givenFor(this.getHeader('Content-Type')));
    this.setHeader('Content-Length', `${length}`);
    if (isTagged) {
      const tag = length === 0 ? EMPTY_TAG : `${length.toString(16)}-${hash('sha1', body, 'base64').substring(0, 27)}`;
      this.setHeader('ETag', tagging === tags.weak ? `W/"${tag}"` : `"${tag}"`);
    }
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
  }

  // Express's own function is what the app finds where the long way is to be taken: it then has no frame of ours on top of it.
  const { enumerable = true } = Object.getOwnPropertyDescriptor(holder, 'send') ?? {};
  Object.defineProperty(holder, 'send', {
    get(this: Response) {
      return isShort(this) ? send : long;
    },
    set(this: object, value: unknown) {
      const isOwn = this === holder;
      const descriptor = { value, writable: true, enumerable: isOwn ? enumerable : true, configurable: true };
      Reflect.defineProperty(this, 'send', descriptor);
    },
    enumerable,
    configurable: true,
  });
}

const OF_BODIES = ['Content-Type', 'Content-Length', 'Transfer-Encoding'];
/** These have no body, or are to have none. */
const EMPTY = new Set([204, 205, 304]);

/** All that Express does with a type has been done then: it looks no more at one that says its charset. */
function withCharset(setCharset: (type: string, charset: string) => unknown, type: string): string {
  try {
    const given = setCharset(type, 'utf-8');
    return typeof given === 'string' && /^[^;]+\/.*; charset=utf-8/.test(given) ? given : '';
  } catch {
    return '';
  }
}

const EMPTY_TAG = '0-2jmj7l5rSw0yVb/vlWAYkK/YBwk';

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

export = { apply, knowEnd };
