/**
 * What home's start-up saw, and what stands between a replica's start-up and the outside: types only.
 *
 * A record is plain data that survives a structured clone. `calls` holds, for each callee and place of call, the
 * results in the order in which home got them.
 */
import type { AsyncLocalStorage } from 'node:async_hooks';

/** A result as plain data: values are themselves; what has an identity or a class is tagged. */
export type Encoded =
  | string
  | number
  | boolean
  | bigint
  | null
  | undefined
  | { readonly is: 'buffer'; readonly bytes: Uint8Array }
  | { readonly is: 'array'; readonly items: Encoded[] }
  | { readonly is: 'object'; readonly bare: boolean; readonly entries: [string, Encoded][] }
  | { readonly is: 'map'; readonly entries: [Encoded, Encoded][] }
  | { readonly is: 'set'; readonly items: Encoded[] }
  | { readonly is: 'date'; readonly time: number }
  | { readonly is: 'error'; readonly type: string; readonly entries: [string, Encoded][] }
  | { readonly is: 'stats'; readonly type: StatsType; readonly entries: [string, Encoded][] }
  | { readonly is: 'dirent'; readonly name: Encoded; readonly type: number; readonly folder: string }
  /** the structured clone keeps it whole: typed arrays, keys */
  | { readonly is: 'whole'; readonly value: unknown }
  /** the call gave one of its own arguments */
  | { readonly is: 'argument'; readonly index: number };

export type StatsType = 'Stats' | 'BigIntStats' | 'StatFs';

export type Outcome =
  | { readonly kind: 'gave'; readonly value: Encoded; readonly written?: Written }
  | { readonly kind: 'threw'; readonly error: Encoded }
  /** a promise that had not settled when the record was taken */
  | { readonly kind: 'pending' }
  /** cannot be told as data */
  | { readonly kind: 'live' };

/** What a call wrote into the buffers of its argument `index`. */
export interface Written {
  readonly index: number;
  readonly bytes: readonly Uint8Array[];
}

export interface StreamFacts {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  readonly rows: number | undefined;
  readonly colorDepth: number;
}

/** What the process is like when home's start-up begins. */
export interface ProcessFacts {
  readonly argv: readonly string[];
  readonly argv0: string;
  readonly execArgv: readonly string[];
  readonly execPath: string;
  readonly title: string;
  readonly cwd: string;
  readonly umask: number;
  readonly pid: number;
  readonly ppid: number;
  readonly env: { readonly [name: string]: string };
  readonly hasChannel: boolean;
  readonly stdinIsTTY: boolean;
  readonly stdout: StreamFacts;
  readonly stderr: StreamFacts;
  readonly isClusterWorker: boolean;
  readonly timeOrigin: number;
}

export interface StartupRecord {
  readonly facts: ProcessFacts;
  readonly calls: ReadonlyMap<string, readonly Outcome[]>;
  /** Clocks and sources of chance that start-up asked too often: the record has their first results only. */
  readonly exhausted: readonly string[];
  /** Addresses of home's servers, by the place of `listen`. */
  readonly listens: ReadonlyMap<string, readonly Encoded[]>;
  /** Why nothing more was recorded; replicas cannot start from such a record. */
  readonly tooLarge: string | null;
}

export interface Recorder {
  /** Puts the originals back. What the app took before passes straight through. */
  stop(): void;
  /** Resolves when no recorded promise is pending any more. */
  settled(): Promise<void>;
  /** What start-up makes to keep contexts of requests in, by names that are the same on all loops. */
  readonly contexts: ReadonlyMap<string, AsyncLocalStorage<unknown>>;
  take(): StartupRecord;
}

export interface FirewallOptions {
  /** Packages whose model says that making a connection is safe to repeat. */
  readonly repeatable?: (packageName: string) => boolean;
  /** Packages that connect at start-up do so. */
  readonly connects?: boolean;
  /** Native addons that are known to have no outside effect when they are loaded and used at start-up. */
  readonly addon?: (packageName: string | null, file: string) => boolean;
  /** True if this thread's environment is a copy of its own: it then begins as home's did. */
  readonly ownEnv?: boolean;
}

/** A call at start-up that the outside would have seen, or that would have called back. */
export interface Blocked {
  readonly package: string | null;
  /** the file of the call */
  readonly module: string | null;
  readonly what: string;
  readonly at: string | null;
  readonly repeatable: boolean;
}

/** A call that home did not make at start-up, or not in this place. */
export interface Miss {
  readonly what: string;
  readonly at: string | null;
  /** `real`: answered by this thread's own clock, random numbers or files; `nothing`: not answered. */
  readonly answer: 'real' | 'nothing';
}

export interface CapturedServer {
  readonly server: import('node:net').Server;
  readonly args: readonly unknown[];
  readonly at: string | null;
  /** where home listens, if it did by the time the record was taken */
  readonly address: unknown;
}

export interface LiftHooks {
  /** Must not come back. */
  exit(code: unknown): never;
  /** `byDescriptor`: not by its stream. */
  output(fd: 1 | 2, chunk: Uint8Array, byDescriptor: boolean): void;
  process(name: string, args: readonly unknown[]): unknown;
  listen(server: import('node:net').Server, args: readonly unknown[]): void;
  /** The first outside effect since `armed()`. */
  effect(kind: EffectKind, what: string): void;
  /** Something that start-up made in this thread, and that is dead, has been used. */
  dead?(what: string): void;
}

export type EffectKind = 'files' | 'network' | 'subprocess' | 'thread' | 'other';

export interface Firewall {
  readonly servers: readonly CapturedServer[];
  readonly blocked: readonly Blocked[];
  readonly misses: readonly Miss[];
  /** The first reason for which this replica cannot be used; the thread ends once the listener has returned. */
  gaveUp(listener: (reason: string, isUnconnected: boolean) => void): void;
  /** Packages that nobody has connected here, and that serve nobody before that. */
  unready(): readonly string[];
  /** Clients of packages that are connected here. */
  clients(): readonly object[];
  /** As the recorder's. */
  readonly contexts: ReadonlyMap<string, AsyncLocalStorage<unknown>>;
  /** `listener` is told of each that is asked and has nothing. */
  onEmptyContext(listener: (context: object) => void): void;
  /** Calls made inside are the runtime's own: they go straight through. For synchronous code. */
  outside<T>(work: () => T): T;
  /** Resolves when start-up has nothing left that may still run: it must have before `lift`. */
  settled(): Promise<void>;
  lift(hooks: LiftHooks): void;
  /** From now on the next outside effect is told. */
  armed(): void;
}
