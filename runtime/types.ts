/** What the files of the runtime say to each other within one thread. What crosses between loops is in messages.ts. */
import type { Placement } from '../flx/program.js';

export type PlacementMode = 'auto' | 'eager' | 'loopback' | Extract<Placement, 'home'>;
export type LogLevel = 'silent' | 'error' | 'warn' | 'info' | 'debug';

export interface RunOptions {
  /** How many loops beside home. */
  readonly threads: number | 'auto';
  readonly placement: PlacementMode;
  readonly config: string | null;
  /** Absolute. */
  readonly report: string | null;
  /** Absolute: where requests are written to. */
  readonly record: string | null;
  readonly logLevel: LogLevel;
  /** Who accepts connections: replicas too where that pays, or wherever they can. */
  readonly accept: 'auto' | 'home' | 'every';
  /** Requests and responses are born as Express wants them. */
  readonly fastPath: boolean;
  /** Look after each request whether what was proven holds. */
  readonly sanitize: boolean;
  /** A replica that has not answered for so long is taken for lost; 0 waits for ever. */
  readonly maxBlockMs: number;
  /** What a request gets when every loop has as many as it may. */
  readonly overload: 'wait' | '503';
}

export type Code = (this: unknown, ...args: unknown[]) => unknown;
export type Make = (...vars: unknown[]) => Code;

/** What emitted modules know of the loop that they run on; docs/ARCHITECTURE.md says more. */
export interface Loop {
  /** `make`, called with the variables of the message, gives the code that fluxion `id` runs. */
  define(id: string, make: Make): void;
  /** What is to be called back in place of `closure`; `vars` gives the message's variables as they are by then. */
  post(id: string, closure: Code, vars: () => unknown[]): Code;
  /** True if the rest of an async function is to run on another loop; it is then sent there, and its result awaited. */
  away(id: string): boolean;
  send(id: string, vars: unknown[]): unknown;
}

/** Decides, once the app serves, what leaves this loop. */
export type Cuts = Pick<Loop, 'post' | 'away' | 'send'>;

/** The registry of a loop: everything goes on in place until somebody is set to decide otherwise. */
export interface SwitchableLoop extends Loop {
  readonly makes: ReadonlyMap<string, Make>;
  decide(cuts: Cuts | null): void;
  /** `passed` is called at each cut for as long as nobody decides. */
  noticed(passed: () => void): void;
}

/** A module's text as it is to be evaluated in place of what stands in its file. */
export interface Emitted {
  /** Absolute: the original's place, under which the emitted text runs. */
  readonly original: string;
  readonly text: string;
  readonly kind: 'commonjs' | 'module';
  /** False: there is no such file, only this text. */
  readonly isOnDisk: boolean;
}

/** What is wrong with the words of `fluxion run`. */
export type Problem =
  | { readonly kind: 'old-node'; readonly version: string }
  | { readonly kind: 'missing-entry' }
  | { readonly kind: 'unknown-flag'; readonly flag: string; readonly flags: readonly string[] }
  | { readonly kind: 'bad-value'; readonly flag: string; readonly message: string; readonly lift: string };
