/**
 * What the linker found in the running app: part of the report of `fluxion run`, and what `fluxion explain --live` shows.
 */
import type { FluxionId } from './program.js';

/** Of a handler that is in the program, and not among the routes of the running app. */
export const NOT_CALLED = 'no router of the running app calls it';

export interface LinkReport {
  /** False: some replica that was to tell has not started yet. */
  readonly isDone: boolean;
  /** Functions that the routers call for requests; those of the app; those that may run on a replica. */
  readonly handlers: number;
  readonly own: number;
  readonly moving: number;
  /** Those that are no fluxions, by name and place: of packages, or of the app where the compiler could not follow it. */
  readonly others: readonly string[];
  readonly fluxions: readonly LinkedFluxion[];
}

export interface LinkedFluxion {
  readonly id: FluxionId;
  readonly moves: boolean;
  /** Why it stays home, or does in some of the places where it is called; empty where the program text says it all. */
  readonly reasons: readonly string[];
  /** Null for a fluxion of the program; else one of the running app's closures that it stands for. */
  readonly closure: LinkedClosure | null;
}

export interface LinkedClosure {
  readonly of: FluxionId;
  /** The routes that it handles, as the routers have them: `GET /sum/:n`. */
  readonly labels: readonly string[];
}

/** What `fluxion explain --live` reads of a report. */
export interface LiveReport extends LinkReport {
  /** Why nothing is gained from other threads; null where something is, or may be. */
  readonly aside: string | null;
  /** Why the main thread takes all connections of a server itself; null where threads may take some. */
  readonly alone: readonly (string | null)[];
}
