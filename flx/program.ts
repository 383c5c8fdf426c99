/**
 * The program after the pipeliner: plain data, no methods. Everything after the pipeliner (text, JSON, graphs, emitted
 * modules, explanation, runtime) reads this and nothing else.
 */

/** A module's path relative to the program's root folder, with forward slashes: `routes/users.js`. */
export type ModuleId = string & { readonly __brand?: 'ModuleId' };
export type FluxionId = string & { readonly __brand?: 'FluxionId' };
export type GroupTag = string & { readonly __brand?: 'GroupTag' };

/** `line` counts from 1; `column` counts from 1 as well, in UTF-16 units, as editors and stack traces do. */
export interface Loc {
  readonly line: number;
  readonly column: number;
}

export interface Place extends Loc {
  readonly module: ModuleId;
}

/** Where the pipeliner expects a fluxion to run; the linker has the last word. */
export type Placement = 'home' | 'group' | 'replicated';

export type StreamType = 'start' | 'post';

export interface Stream {
  readonly type: StreamType;
  readonly dest: readonly FluxionId[];
  readonly message: readonly string[];
}

/** One fluxion as the fluxional language writes it. */
export interface FlxFluxion {
  readonly id: FluxionId;
  readonly tags: readonly GroupTag[];
  readonly context: readonly string[];
  readonly streams: readonly Stream[];
  /** Where it came from and where it is expected to run: the superset's part of the header. */
  readonly at: Place | null;
  readonly placement: Placement | null;
  /** Source text, without common indentation, with `>> id` and `-> id` in place of the callbacks that were cut out. */
  readonly code: string;
}

/** Top-level code of a module other than the entry, which is the code of `main`. */
export interface FlxModule {
  readonly id: ModuleId;
  readonly code: string;
}

/** What flx text says, no more and no less: print and parse are inverse on it. */
export interface FlxProgram {
  readonly fluxions: readonly FlxFluxion[];
  readonly modules: readonly FlxModule[];
}

// ---------------------------------------------------------------------------------------------------------------

export interface Reason {
  readonly code: string;
  readonly message: string;
  readonly loc: Place | null;
  /** What would lift it; empty where nothing has to be lifted. */
  readonly lift: string;
}

export interface StreamFact extends Stream {
  readonly callee: string;
  readonly loc: Place;
  /** True where no table entry names the callee and the shape of the call says it is asynchronous. */
  readonly inferred: boolean;
  /** For a route: `GET /users/:id`; for a listener or timer: what starts it; else null. */
  readonly label: string | null;
}

export type FluxionKind =
  /** The start-up code. */
  | 'main'
  /** A callback that the outside calls again and again. */
  | 'start'
  /** A callback that continues one flow. */
  | 'post'
  /** The rest of an async function behind an `await`. */
  | 'rest';

export interface Fluxion extends FlxFluxion {
  readonly kind: FluxionKind;
  readonly at: Place;
  readonly placement: Placement;
  readonly streams: readonly StreamFact[];
  readonly reasons: readonly Reason[];
}

export type StateClass = 'scope' | 'stream' | 'share';

/** A variable that crosses a cut, and what keeps it alive across it. */
export interface StateVariable {
  readonly name: string;
  readonly module: ModuleId;
  readonly loc: Place;
  readonly class: StateClass;
  readonly tag: GroupTag | null;
  readonly fluxions: readonly FluxionId[];
  readonly writes: readonly Place[];
  readonly reads: readonly Place[];
}

export interface Unresolved {
  readonly callee: string;
  readonly loc: Place;
  readonly code: string;
  readonly reason: string;
  readonly lift: string;
}

/** A place at which a message may leave the loop that runs the module. Offsets are UTF-16 units of the module's source. */
export type Cut =
  /** The callback at start…end continues as fluxion `dest`, which needs the variables of `message` from around it. */
  | {
      readonly kind: 'callback';
      readonly module: ModuleId;
      readonly dest: FluxionId;
      readonly message: readonly string[];
      readonly start: number;
      readonly end: number;
    }
  /** What stands at start…end of an async function's body continues as fluxion `dest`; `openTries` of the `try` statements
   *  around `start` end behind it. `bound` are the variables that the awaited value has just been given to. */
  | {
      readonly kind: 'rest';
      readonly module: ModuleId;
      readonly dest: FluxionId;
      readonly message: readonly string[];
      readonly start: number;
      readonly end: number;
      readonly openTries: number;
      readonly bound: readonly string[];
    };

/** A module as it was read. */
export interface ModuleSource {
  readonly id: ModuleId;
  /** Absolute. */
  readonly file: string;
  readonly kind: 'commonjs' | 'module';
  readonly text: string;
  /** Behind the hashbang and the directives (`'use strict'`). */
  readonly codeStart: number;
}

/** What is shown of a program: as text, data or a picture. */
export interface ShownProgram {
  readonly version: 1;
  readonly entry: ModuleId;
  /** Files in load order; those of the app, not of packages. */
  readonly modules: readonly FlxModule[];
  readonly fluxions: readonly Fluxion[];
  readonly variables: readonly StateVariable[];
  readonly unresolved: readonly Unresolved[];
  readonly sources: readonly ModuleSource[];
  /** Modules of packages that were read with the app's own. They are no part of the text, and are run as they are. */
  readonly packages: readonly ModuleSource[];
  readonly cuts: readonly Cut[];
  /** Fluxions that some stream from a fluxion placed elsewhere reaches without a cut: there, whoever runs upstream runs them too. */
  readonly uncut: readonly FluxionId[];
}

/** What is run and explained. */
export interface FluxionProgram extends ShownProgram {
  readonly link: LinkFacts;
}

/** What the text does not say, and the linker of the running program has to know. */
export interface LinkFacts {
  /** Packages through which fluxions speak over the network; those that do not are left out. */
  readonly connects: readonly Connects[];
  /** Of fluxions that are one function of the source, made several times: what tells them apart in the running program. */
  readonly captures: readonly Captures[];
  /** Packages whose middleware remembers nothing from one request to the next. */
  readonly repeatable: readonly string[];
  /** Methods of responses: a request whose response has one of its own runs at home, as who follows was proven without it. */
  readonly replaced: readonly string[];
  /** Packages that wrap the app's functions and do nothing else (`asyncHandler(fn)`), so that these stand for the wrapped ones. */
  readonly wrappers: readonly string[];
  /** Of fluxions that may leave home; those that never pass a request on are left out. */
  readonly passes: readonly Passes[];
  /** Of whose callbacks one passes the request on, and another looks at it behind that. */
  readonly beside: readonly FluxionId[];
  readonly appNames: readonly AppName[];
  /** Fluxions that put something on their request which comes from a database, or after one was asked; and what. */
  readonly brings: readonly Brings[];
  readonly late: Late;
  /** They, or what goes on behind them, ask for the context that they are called in. */
  readonly asking: readonly FluxionId[];
  /** They do so in callbacks of a request or a response. */
  readonly straying: readonly FluxionId[];
  readonly order: Order;
  /** Packages that hold a function of the app which changes something. */
  readonly holds: readonly Holds[];
  /** Fluxions of which the running app can tell more, and the variables that say it. */
  readonly open: readonly OpenFluxion[];
  /** Classes of which it can tell what their fields hold. */
  readonly openClasses: readonly OpenClass[];
  /** Of fluxions that stand for closures of the running app: which ones these are. */
  readonly closures: readonly ClosureFluxion[];
  /** Variables that start-up sets some time after its first turn, and nobody else. */
  readonly once: readonly VariableName[];
}

/** A name that the program puts together, whatever it is. */
export const ANY_NAME = '*';

/** What the program calls a property of its apps that is none of Express's own. */
export interface AppName {
  readonly name: string;
  /** Something of what it holds changes after start-up. */
  readonly changes: boolean;
  /** Of an object that is written out, and of which something changes. */
  readonly fields: readonly { readonly name: string; readonly changes: boolean }[];
}

export interface OpenFluxion {
  readonly fluxion: FluxionId;
  readonly variables: readonly string[];
}

export interface OpenClass {
  readonly at: Place;
  /** Of its constructor; it may be empty. */
  readonly name: string;
  readonly fields: readonly string[];
}

export interface ClosureFluxion {
  readonly fluxion: FluxionId;
  readonly at: Place;
  readonly index: number;
}

export interface VariableName {
  readonly module: ModuleId;
  readonly name: string;
}

export const noLinkFacts: LinkFacts = {
  connects: [],
  captures: [],
  repeatable: [],
  replaced: [],
  wrappers: [],
  appNames: [],
  passes: [],
  beside: [],
  brings: [],
  late: { writes: [], byPackages: [], reads: [] },
  asking: [],
  straying: [],
  order: { packages: [], isLoose: false, asking: [] },
  holds: [],
  open: [],
  openClasses: [],
  closures: [],
  once: [],
};

export interface Holds {
  readonly package: string;
  readonly at: Place;
}

/** What is asked of packages that have one connection, on which all is done in the order in which it was asked. */
export interface Order {
  readonly packages: readonly string[];
  /** Something is asked for a request, and nobody waits for the answer. */
  readonly isLoose: boolean;
  /** Functions that reply (`calls`), and ask (`noticed`). */
  readonly asking: readonly Passing[];
}

export interface Brings {
  readonly fluxion: FluxionId;
  readonly what: string;
  /** It calls this, whose errors hold live objects. */
  readonly isError: boolean;
}

/** What is put on requests some time after they came; `*` stands for names that are put together. */
export interface Late {
  readonly writes: readonly LateWrite[];
  /** What middleware of packages puts there once it has passed them on. */
  readonly byPackages: readonly string[];
  /** Fluxions that read it behind a wait of their own. */
  readonly reads: readonly LateRead[];
}

/** Callbacks of a call put it there; `calls`: that one, and those that lead to it. `passing`: where the fluxion passes its request on, null where that
 *  cannot be told. */
export interface LateWrite {
  readonly fluxion: FluxionId;
  readonly names: readonly string[];
  readonly calls: readonly { readonly module: ModuleId; readonly call: Span }[];
  readonly passing: readonly Passing[] | null;
}

export interface LateRead {
  readonly fluxion: FluxionId;
  readonly names: readonly string[];
}

/** What a fluxion does where it passes its request on. */
export interface Passes {
  readonly fluxion: FluxionId;
  readonly passing: readonly Passing[];
  /** It gives `next` to code that nobody knows, by one of the calls or in another way. */
  readonly isUnclear: boolean;
}

/** One function that calls `next` or an app, or what calls them, and what else it does that somebody could notice. */
export interface Passing {
  readonly module: ModuleId;
  readonly calls: readonly Span[];
  readonly noticed: readonly Span[];
}

/** Offsets in the module's text. Calls have an end, which tells those apart that begin at the same place. */
export interface Span {
  readonly start: number;
  readonly end: number | null;
}

export interface Captures {
  readonly fluxion: FluxionId;
  readonly variables: readonly CapturedFunctions[];
}

/** A variable around a function, and the functions that it may hold; it holds nothing else. */
export interface CapturedFunctions {
  readonly name: string;
  readonly functions: readonly Place[];
}

export interface Connects {
  readonly fluxion: FluxionId;
  readonly packages: readonly string[];
}
