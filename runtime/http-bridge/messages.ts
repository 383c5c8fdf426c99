/**
 * All that crosses for an exchange: a request and its response that home holds and a replica works with. Plain data for
 * structured clone; nothing assumes shared memory. What the app put there is encoded (../codec.ts), with the fixes of
 * a whole message in one list.
 */
import type { Fix } from '../codec.js';
import type { Addresses } from './addresses.js';
import type { Flow } from './kept-back.js';

export type ExchangeId = number;

/** Names and values of properties, side by side. */
export interface Properties {
  readonly names: readonly string[];
  readonly values: readonly unknown[];
  /** Those that could not travel: name, why, name, why, … */
  readonly traps: readonly string[];
}

/** What of a TLS connection is known from its beginning, and stays so. */
export const TLS_FACTS = ['authorized', 'authorizationError', 'alpnProtocol', 'servername'] as const;

export interface Connection extends Addresses {
  /** The app has asked at home who the client is: it can still be told when the connection is gone. */
  readonly isAsked: boolean;
  /** Null without TLS. */
  readonly tls: { readonly [name in (typeof TLS_FACTS)[number]]: unknown } | null;
  /** Two options of the server by which newer versions of Node check the headers of a response. */
  readonly httpValidation: unknown;
  readonly insecureHTTPParser: unknown;
  /** Names of properties that the app put on the socket. */
  readonly traps: readonly string[];
}

/** A name as it was written, and its value: name, value, name, value, … */
export type RawHeaders = readonly (string | HeaderValue)[];
export type HeaderValue = string | number | readonly string[];

export interface ResponseState {
  readonly statusCode: number;
  readonly statusMessage: string | undefined;
  readonly headers: RawHeaders;
  readonly flags: number;
}

/** `none`: there is none. `consumed`: it was read at home. `stream`: it comes when it is asked for. */
export type BodyState = 'none' | 'consumed' | 'stream';

/** The client had gone before: how its request was left. */
export interface Gone {
  readonly hasEnded: boolean;
  readonly hasError: boolean;
}

export interface Envelope {
  readonly id: ExchangeId;
  readonly httpVersion: string;
  readonly rawHeaders: readonly string[];
  /** Where they are no longer what the raw ones say. */
  readonly headers: { readonly [name: string]: unknown } | null;
  readonly rawTrailers: readonly string[];
  readonly connection: Connection;
  readonly body: BodyState;
  /** All of it has been received at home. */
  readonly isComplete: boolean;
  readonly gone: Gone | null;
  /** Name of the Express app whose prototypes both have; null without Express. */
  readonly app: unknown;
  readonly req: Properties;
  readonly res: Properties;
  /** What the handler is called with beside request, response and `next`: an error, the value of a parameter. */
  readonly args: Properties | null;
  /** The contexts that the handler is called in; null where it does not ask for any. */
  readonly stores: Properties | null;
  readonly response: ResponseState;
  /** `finished`: all of it was sent. `unsent`: it has ended, and not even its head was made, as the client had gone. */
  readonly progress: 'open' | 'head-sent' | 'unsent' | 'ended' | 'finished';
  /** How often handlers elsewhere have said `cork()` and not yet `uncork()`. */
  readonly corks: number;
  readonly fixes: readonly Fix[] | null;
}

/** Values by the path to them: `['body', 'name']`. */
export interface Changes {
  readonly req: ObjectChanges | null;
  readonly res: ObjectChanges | null;
  readonly args: ObjectChanges | null;
  readonly stores: ObjectChanges | null;
  /** What was put on the connection. */
  readonly socket: ObjectChanges | null;
  /** All of `req.headers`, where something was changed there. */
  readonly reqHeaders: { readonly [name: string]: unknown } | null;
  readonly fixes: readonly Fix[] | null;
}

export interface ObjectChanges {
  readonly paths: readonly (readonly string[])[];
  readonly values: readonly unknown[];
  readonly removed: readonly (readonly string[])[];
}

/** What is different from the response that the replica was given. */
export interface HeadChange {
  readonly statusCode: number;
  readonly statusMessage: string | undefined;
  readonly removed: readonly string[];
  readonly set: RawHeaders;
  readonly flags: number;
}

/** `_getpeername`: who the client is was asked for, which Node's socket remembers. */
export type SocketMethod = 'setNoDelay' | 'setKeepAlive' | 'end' | '_getpeername';

export type Chunk = string | Uint8Array;

/** One call at the replica, to be done again on what home holds; in order. */
export type Step =
  | { readonly do: 'change'; readonly changes: Changes }
  | { readonly do: 'head'; readonly head: HeadChange }
  /** Servers of frameworks tell Node the length before they write the head. */
  | { readonly do: 'writeHead'; readonly args: readonly unknown[]; readonly length: number | null }
  | {
      readonly do: 'write';
      readonly chunk: Chunk;
      readonly encoding: string | undefined;
      readonly callback: number;
      readonly full: boolean;
      readonly flow: Flow;
    }
  | {
      readonly do: 'end';
      readonly chunk: Chunk | undefined;
      readonly encoding: string | undefined;
      readonly tell: boolean;
      /** What was kept back before goes with it. */
      readonly joins: boolean;
    }
  | { readonly do: 'cork' }
  | { readonly do: 'uncork' }
  | { readonly do: 'flushHeaders' }
  | { readonly do: 'addTrailers'; readonly trailers: unknown }
  | {
      readonly do: 'inform';
      readonly method: 'writeContinue' | 'writeProcessing' | 'writeEarlyHints';
      readonly args: readonly unknown[];
      readonly callback: number;
    }
  /** Who listens for it keeps the connection. */
  | { readonly do: 'setTimeout'; readonly ms: number; readonly req: boolean; readonly res: boolean }
  | { readonly do: 'socket'; readonly method: SocketMethod; readonly args: readonly unknown[] }
  | {
      readonly do: 'destroy';
      readonly what: 'res' | 'socket';
      readonly error: readonly unknown[];
      readonly fixes: readonly Fix[] | null;
    }
  /** Whoever read the body has stopped: all but so many bytes of it is left to those that come next. */
  | { readonly do: 'unread'; readonly taken: number }
  /** Something was put on `req` or `res` that home does not get, now that the response has ended. */
  | { readonly do: 'lost'; readonly what: string; readonly why: string }
  | {
      readonly do: 'next';
      readonly arg: readonly unknown[];
      /** Of the stack on which it was called, the app's: what follows shows them in its traces. */
      readonly frames: readonly string[];
      /** The handler had not returned. */
      readonly isInCall: boolean;
      readonly fixes: readonly Fix[] | null;
    }
  | { readonly do: 'threw'; readonly error: readonly unknown[]; readonly fixes: readonly Fix[] | null }
  | { readonly do: 'rejected'; readonly error: readonly unknown[]; readonly fixes: readonly Fix[] | null };

export type ToHome =
  | { readonly kind: 'steps'; readonly id: ExchangeId; readonly steps: readonly Step[] }
  /** More of the body, please: so many bytes have been taken in all. */
  | { readonly kind: 'pull'; readonly id: ExchangeId; readonly taken: number }
  | { readonly kind: 'cannot-travel'; readonly id: ExchangeId; readonly what: string; readonly why: string }
  /** The replica forgets this exchange; nothing more is to be told. */
  | { readonly kind: 'done'; readonly id: ExchangeId };

export type ToReplica =
  | {
      readonly kind: 'body';
      readonly id: ExchangeId;
      readonly chunks: readonly Uint8Array[];
      readonly trailers: readonly string[] | null;
    }
  | { readonly kind: 'drain'; readonly id: ExchangeId }
  | { readonly kind: 'called'; readonly id: ExchangeId; readonly callback: number; readonly failed: boolean }
  | { readonly kind: 'timeout'; readonly id: ExchangeId; readonly of: 'req' | 'res' }
  | {
      readonly kind: 'finish';
      readonly id: ExchangeId;
      readonly response: ResponseState;
      readonly isComplete: boolean;
    }
  /** The connection is gone; `error` is its own, if it had one. Had all of the request been received? Does Node know who it was? */
  | {
      readonly kind: 'close';
      readonly id: ExchangeId;
      readonly isComplete: boolean;
      readonly isAsked: boolean;
      readonly error: { readonly message: string; readonly code: unknown } | null;
    };
