/**
 * What `fluxion run` has to know of a compiled program, in two files: what starts the app must be read in no time, what
 * spreads it over loops is read when it serves. Both are plain data.
 */
import type { AppName, CapturedFunctions, FluxionId, FluxionKind, ModuleId, OpenClass, Placement } from './program.js';

export interface StartManifest {
  readonly version: 1;
  readonly entry: ModuleId;
  /** False: nothing may leave home, so the app runs as it is, and nothing below is needed. Handlers of which the running app
   *  can tell more may. */
  readonly movable: boolean;
  /** Why an earlier start could not compile it, which is remembered for a while; null where it is compiled. */
  readonly failed: string | null;
  readonly modules: readonly StartModule[];
}

/** What start.json has: reading a file for each module would take longer than all else that is read. */
export interface StartFile extends StartManifest {
  readonly modules: readonly (StartModule & { readonly text: string | null })[];
}

export interface StartModule {
  readonly id: ModuleId;
  /** Absolute: the file as it was read. */
  readonly source: string;
  /** sha256 of its text, without byte order mark. */
  readonly hash: string;
  readonly kind: 'commonjs' | 'module';
  /** Where the source map of its emitted text lies, seen from the manifest and without `.map`; null where Node takes the original as it is. */
  readonly file: string | null;
  /** False: the module is known by its emitted text only. */
  readonly isOnDisk: boolean;
}

export interface LinkManifest {
  readonly version: 1;
  readonly fluxions: readonly LinkFluxion[];
  /** For each module the names of variables that are changed after start-up. */
  readonly changing: { readonly [module: ModuleId]: readonly string[] };
  /** The same of those that start-up alone sets, some time: unset on any loop, they are not known to be the same. */
  readonly once: { readonly [module: ModuleId]: readonly string[] };
  /** For each module with an emitted text: [line, column, length] of what was put in, in terms of the original. */
  readonly inserts: { readonly [module: ModuleId]: readonly (readonly [number, number, number])[] };
  /** Packages whose middleware may run on any loop: it remembers nothing from one request to the next. */
  readonly repeatable: readonly string[];
  /** Methods of responses: where one has been replaced on a response, its request does not leave. */
  readonly replaced: readonly string[];
  /** Packages whose functions stand for those of the app that they wrap. */
  readonly wrappers: readonly string[];
  readonly appNames: readonly AppName[];
  /** Classes of which the running app can tell what their fields hold. */
  readonly openClasses: readonly OpenClass[];
  /** Fluxions that keep something and were given to a method whose name is put together (`app[method](path, fn)`): routes, if a
   *  router has them; else they are run by who knows whom. */
  readonly computed: readonly FluxionId[];
  /** What the app's modules do that a loop which serves only some of its requests could not follow. */
  readonly touches: Touches;
  /** What the emitted texts were made from, where that is not what is on disk. */
  readonly texts: { readonly [module: ModuleId]: string };
}

/** In each case the first place that may do so, as `app.js:3`; null where none does. */
export interface Touches {
  /** The address or the method of a request is set anew. */
  readonly routing: string | null;
  /** More is done with connections of requests than reading their addresses. */
  readonly connections: string | null;
}

export interface LinkFluxion {
  readonly id: FluxionId;
  readonly kind: FluxionKind;
  readonly module: ModuleId;
  readonly line: number;
  readonly column: number;
  readonly placement: Placement;
  readonly tags: readonly string[];
  readonly context: readonly string[];
  /** It is called for requests and may run on any loop: itself is free, and what goes on behind it is free or is cut off. */
  readonly movable: boolean;
  /** It and all that goes on behind it may run on any loop, if nothing of its request runs on another. */
  readonly whole: boolean;
  /** It goes on behind `next()`: whoever follows it in a chain has to run where it does, in the same turn. */
  readonly holds: boolean;
  /** What keeps it home beside its placement; null where nothing does. */
  readonly why: string | null;
  /** Packages through which it, or what goes on behind it in place, speaks over the network. */
  readonly connects: readonly string[];
  /** It, or what goes on behind it, asks for the context that it is called in: that has to go along. */
  readonly asks: boolean;
  /** Somebody waits for its result: it is the rest of an async function, or what a promise goes on with. */
  readonly promised: boolean;
  /** A message can start it on another loop. */
  readonly cut: boolean;
  /** The variables of that message, in order; empty without a cut. */
  readonly message: readonly string[];
  /** What tells it from others that are the same function of the source. */
  readonly captures: readonly CapturedFunctions[];
  /** The running app can tell more of it, by these variables around it and by fields of classes; null where it cannot. */
  readonly open: readonly string[] | null;
}
