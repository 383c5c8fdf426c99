/**
 * All that crosses between home and a replica, one union per direction. What is not here does not cross; nothing of it
 * assumes that the two share memory.
 */

import type { MessagePort } from 'node:worker_threads';
import type { Lift } from '../flx/live-facts.js';
import type { Stay } from './accept/meets.js';
import type { SecureSettings } from './accept/secure-settings.js';
import type { ServerSettings } from './accept/server-settings.js';
import type { Encoded } from './codec.js';
import type { EffectKind, StartupRecord } from './firewall/startup-record.cjs';
import type { Address } from './http-bridge/addresses.js';
import type { Envelope, ToHome as ExchangeToHome, ToReplica as ExchangeToReplica } from './http-bridge/messages.js';
import type { Reached } from './link/compare.js';
import type { FunctionPlace, Signs } from './link/reflect.js';
import type { WarningMessage } from './warnings.js';

/** What a thread needs to become a replica. */
export interface ReplicaTask {
  readonly setup: ReplicaSetup;
  readonly port: MessagePort;
  /** Where loops share memory: how many runs were begun here. What had not begun when a thread died is run again as if
   *  it had never been sent. */
  readonly begun: Int32Array;
  /** 1 as soon as the thread has loaded what it needs to be a replica. */
  readonly loaded: Int32Array;
}

export interface ReplicaSetup {
  readonly id: string;
  /** With start.json and link.json in it. */
  readonly folder: string;
  /** What is to be put in the place of parts of link.json. */
  readonly lift: Lift | null;
  readonly record: StartupRecord;
  readonly sanitize: boolean;
  /** It may have to serve whole connections. */
  readonly accepts: boolean;
  /** There is a report. */
  readonly counts: boolean;
  readonly fastPath: boolean;
  /** Packages that connect while the app starts do so there. */
  readonly connects: boolean;
}

/** The first that a thread says, and the last before it can be given work or has to end. */
export type ReplicaStarted =
  | {
      readonly kind: 'ready';
      readonly slots: readonly RemoteSlot[];
      readonly cuts: readonly RemoteCut[];
      readonly apps: readonly RemoteApp[];
      /** Packages whose connection start-up makes: here it was not made, and is not to be used. */
      readonly unconnected: readonly string[];
      /** Calls of start-up that home did not make, or not in the same place: what they gave may differ. */
      readonly misses: readonly string[];
    }
  /** Start-up went a way here that home's did not go: this thread cannot be a replica, and ends. */
  /** `isUnconnected`: another one may be of use that does not connect at all. */
  | { readonly kind: 'gave-up'; readonly reason: string; readonly isUnconnected: boolean };

/** How often a fluxion has run, and what it has computed before its first wait. */
export interface CountedRuns {
  readonly fluxion: string;
  readonly runs: number;
  readonly cpuMs: number;
}

/** A function that a replica would call for requests, and where it hangs there. */
export interface RemoteSlot {
  /** The server's or app's name in that replica: `server0`, `app1`. */
  readonly root: string;
  readonly path: string;
  readonly place: FunctionPlace;
  /** What it reaches; null where it may not be sent for in any case. */
  readonly reached: Reached | null;
  /** The same, of what a replica may run where it runs all of a request; null for what it may not. */
  readonly whole: Reached | null;
}

/** An app, and where it hangs in that replica. */
export interface RemoteApp {
  readonly root: string;
  readonly path: string;
  readonly reached: Reached;
}

/** A fluxion behind a cut that a replica could go on with. */
export interface RemoteCut {
  readonly id: string;
  readonly reached: Reached;
}

/** Home gives each run that it sends to a replica a number; a replica those that it sends home. */
export type RunId = number;

/**
 * What becomes of the connections of a server that takes no more: home takes each back as soon as nothing on it is under way; as
 * Node's `close()` has it; all end at once.
 */
export type Ending = 'give-back' | 'close' | 'at-once';

export type ToReplica =
  | ExchangeToReplica
  /** A handler is to take a request. */
  | {
      readonly kind: 'dispatch';
      readonly run: RunId;
      readonly slot: string;
      readonly envelope: Envelope;
      readonly at: number;
      /** Frames below the handler at home, for traces that are taken there; null where they have been told before. */
      readonly below: readonly string[] | null;
    }
  /** A fluxion behind a cut is to go on with a message. */
  | (RunMessage & { readonly envelope: Envelope | null })
  | ResultMessage
  | AcceptMessage
  /** Keys of slots, and cuts, that reach the same here and at home: what these reach is named in messages from now on. */
  | { readonly kind: 'signs'; readonly signs: Signs }
  | { readonly kind: 'linked'; readonly slots: readonly string[]; readonly cuts: readonly string[] }
  | { readonly kind: 'ping' }
  /** Comes back as it is, behind all that was sent before. */
  | { readonly kind: 'echo'; readonly ask: number }
  /** Could it end now? */
  | { readonly kind: 'retire' };

export type ToHome =
  | ReplicaStarted
  | ExchangeToHome
  | RunMessage
  | ResultMessage
  /** The computing for a run has ended, as far as it is known. `isLate`: something may still come of it, until `forgot`. */
  | {
      readonly kind: 'ran';
      readonly run: RunId;
      readonly cpuMs: number;
      readonly waitMs: number;
      readonly isLate: boolean;
    }
  | { readonly kind: 'pong'; readonly memory: number }
  | { readonly kind: 'echo'; readonly ask: number }
  /** What keeps it from ending; null where nothing does. */
  | { readonly kind: 'may-retire'; readonly holds: string | null }
  /** How many requests it has answered by itself, and how many connections it has; `isOver`: there will be no more. */
  | {
      readonly kind: 'accepts';
      readonly home: string;
      readonly requests: number;
      /** Of these, how many held its loop up for long. */
      readonly long: number;
      readonly connections: number;
      readonly isOver: boolean;
      /** Since it was last told; only where there is a report. */
      readonly runs: readonly CountedRuns[];
      /** The question that this answers; null where nobody asked. */
      readonly ask: number | null;
    }
  /** Of a connection of the replica's, what home is to serve. */
  | {
      readonly kind: 'far';
      readonly home: string;
      readonly connection: number;
      /**
       * Bytes have been read; these, and from now on all, as the connection is home's; all that was sent `much` has been written; there
       * will be no more; it is closed.
       */
      readonly what: 'bytes' | 'all' | 'wrote' | 'end' | 'close';
      readonly bytes: string;
      /** Who is at its ends; with the first bytes. */
      readonly peer: FarPeer | null;
    }
  /** It has the settings of that number. */
  | { readonly kind: 'renewed'; readonly home: string; readonly number: number }
  /** A request has come to a function that has to run at home, which was not to be foreseen. Home has it now, unless it is lost. */
  | {
      readonly kind: 'astray';
      readonly home: string;
      readonly what: string;
      readonly to: string;
      readonly isLost: boolean;
    }
  /** Something that was proven to stay as it was has changed here. */
  | { readonly kind: 'changed'; readonly what: string }
  /** What was proven does not hold here. */
  | { readonly kind: 'diverged'; readonly text: string }
  /** Something was done that the outside can see: none of these may be run again. */
  | { readonly kind: 'effect'; readonly effect: EffectKind; readonly what: string; readonly runs: readonly RunId[] }
  /** A message of a flow that is over could not be sent. */
  | {
      readonly kind: 'lost';
      readonly to: string;
      readonly what: string;
      readonly why: string;
      readonly cause: RunId | null;
    }
  /** Nothing more will come of these, and messages from here will never again name them. */
  | { readonly kind: 'forgot'; readonly runs: readonly RunId[] }
  | { readonly kind: 'output'; readonly fd: 1 | 2; readonly chunk: Uint8Array; readonly byDescriptor: boolean }
  | { readonly kind: 'exit'; readonly code: unknown }
  | { readonly kind: 'process'; readonly name: string; readonly args: readonly unknown[] }
  | WarningMessage
  /** The thread is about to end by an error of Fluxion's own. */
  | { readonly kind: 'crash'; readonly stack: string }
  /** Nobody has caught this there: it is home's, as it would be had it come about there. */
  | {
      readonly kind: 'uncaught';
      readonly how: 'thrown' | 'rejected';
      readonly error: Encoded;
      /** Whose it is; null where that cannot be told. */
      readonly run: RunId | null;
      /** Of a promise, for when somebody catches it after all. */
      readonly promise: number;
      /** The thread stands still until home has written here what becomes of it. */
      readonly verdict: Int32Array;
    }
  /** The promise was caught after all; or nobody has it any more. */
  | { readonly kind: 'caught-late' | 'dropped'; readonly promise: number };

export interface RunMessage {
  readonly kind: 'run';
  readonly run: RunId;
  readonly to: string;
  readonly vars: Encoded;
  readonly args: Encoded;
  /** Those of whose requests or responses it speaks. */
  readonly exchanges: readonly RunId[];
  /** The run that it comes from, where that is known. */
  readonly cause: RunId | null;
  /** Milliseconds on the clock that all threads of a machine share. */
  readonly at: number;
}

export interface ResultMessage {
  readonly kind: 'result';
  readonly run: RunId;
  readonly how: 'gave' | 'threw' | 'cannot-travel';
  readonly value: Encoded;
}

export interface FarPeer {
  readonly remote: Address;
  readonly local: Address;
  /** Of a TLS connection: its fields, and what its methods give. Null without. */
  readonly secure: { readonly fields: object; readonly methods: { readonly [name: string]: unknown } } | null;
}

/**
 * Bytes of it, or many, after which home waits; all of it; no more will come; the connection is to be closed. Nothing more is to be sent for
 * now; it is again.
 */
export type FarAnswer = 'bytes' | 'much' | 'answered' | 'end' | 'close' | 'hold' | 'go';

export type AcceptMessage =
  /** Of the answer to what home has of one of the replica's connections. */
  | {
      readonly kind: 'far-answer';
      readonly home: string;
      readonly connection: number;
      readonly what: FarAnswer;
      readonly bytes: string;
    }
  /** It is to serve connections of the server that home calls `home` and itself calls `root`. */
  | {
      readonly kind: 'accept';
      readonly root: string;
      readonly home: string;
      /** Its end of a pipe by which sockets come and go: first the listening one, then connections. */
      readonly fd: number;
      /** In the first place, how many connections it has: home counts those that it sends, the replica those that end. */
      readonly open: Int32Array;
      readonly settings: ServerSettings;
      /**
       * Some requests are for home: those that ask for another protocol, those that may come to one of `stays`, and, of connections that
       * cannot move, all that come when the replica is to serve no more.
       */
      readonly isPart: boolean;
      readonly stays: readonly Stay[];
    }
  /** What it needs for new TLS connections has changed. */
  | { readonly kind: 'renew'; readonly home: string; readonly number: number; readonly secure: SecureSettings }
  /** It is to serve connections after all. */
  | { readonly kind: 'resume-accept'; readonly home: string }
  /** Connections that wait for their next request are closed. */
  | { readonly kind: 'close-idle'; readonly home: string }
  /** How many connections has it now? */
  | { readonly kind: 'count-accepted'; readonly home: string; readonly ask: number }
  | { readonly kind: 'stop-accept'; readonly home: string; readonly connections: Ending };

/** What a replica finds in the first word of a verdict. */
export const GOES_ON = 1;
export const DIES = 2;
