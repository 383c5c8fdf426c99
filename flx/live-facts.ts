/**
 * What the running app tells the compiler, and what the compiler makes of it.
 *
 * One function of the source may be many handlers: `(req, res) => instance[key](req, res)` is made for each route, and only
 * its variables say what it does. Where start-up alone makes such functions, and nobody changes these variables later, the
 * functions that are there when the app serves are all that there will ever be, and what they hold is what they hold for good.
 */
import type { Place } from './program.js';

export interface LiveFacts {
  readonly version: 1;
  readonly functions: readonly LiveFunction[];
  readonly classes: readonly LiveClass[];
}

/** What is in the fields of all instances of a class. */
export interface LiveClass {
  /** Where the class begins in the source. */
  readonly at: Place;
  readonly fields: { readonly [name: string]: readonly LiveValue[] };
}

export interface LiveFunction {
  /** Where the function begins in the source. */
  readonly at: Place;
  /** All of its closures that differ in what they hold. */
  readonly closures: readonly LiveClosure[];
}

/** By name; variables of which there is nothing to say are left out. */
export type LiveClosure = { readonly [variable: string]: LiveValue };

/** Places are V8's: of a function its parameters, of a class somewhere in it. */
export type LiveValue =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'function'; readonly at: Place }
  | { readonly kind: 'instance'; readonly of: Place }
  /** An object that is of no class, known by a function in it. */
  | { readonly kind: 'object'; readonly name: string; readonly at: Place }
  /** One that the language made: an object, list, Map or Set of no class of the program. */
  | { readonly kind: 'plain' };

/** What `fluxion run` adds to link.json. */
export interface Lift {
  readonly version: 1;
  /** Hashes of the texts that it was made from. */
  readonly sources: { readonly [module: string]: string };
  readonly closures: readonly LiftedClosure[];
  /** Handlers that are one function each, and may run on any loop as things are in the running app. */
  readonly functions: readonly LiftedFunction[];
  /** In place of what link.json says. */
  readonly changing: { readonly [module: string]: readonly string[] };
}

export interface LiftedFunction {
  readonly at: Place;
  /** It may run on any loop, with all that goes on behind it. */
  readonly movable: boolean;
  readonly reasons: readonly string[];
  readonly connects: readonly string[];
}

export interface LiftedClosure extends LiftedFunction {
  /** Which of the closures that the facts list. */
  readonly index: number;
}
