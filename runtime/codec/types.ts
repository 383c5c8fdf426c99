/** What a message may hold besides plain data, and how the other side is told what to do about it. */

/** Live objects that both sides have, each under a name that structured clone carries. */
export interface Refs {
  /** Undefined: this one is not known to the other side. */
  nameOf(thing: object): unknown;
  thingOf(name: unknown): unknown;
  /** Prototypes of classes that are the same on both sides. */
  classOf?(prototype: object): string | undefined;
  prototypeOf?(name: string): object | undefined;
  /** Symbols that both sides have. */
  symbolName?(symbol: symbol): string | undefined;
  symbolOf?(name: string): symbol | undefined;
  /** Of what the other side makes anew: of what, by its name there, and of which texts. */
  makingOf?(thing: object): Making | undefined;
  make?(making: Making): object | undefined;
  /** Something that the other side would call without looking first. */
  isCalled?(thing: object): boolean;
}

export interface Making {
  readonly of: unknown;
  readonly texts: readonly string[];
}

export const NO_REFS: Refs = { nameOf: () => undefined, thingOf: () => undefined };

/** What is still to be done to a message once structured clone has carried it. */
export type Fix =
  | { readonly fix: 'prototype'; readonly of: object; readonly name: string }
  | {
      readonly fix: 'hide';
      readonly in: object;
      readonly key: string;
      readonly holder: readonly unknown[];
      readonly configurable: boolean;
    }
  | { readonly fix: 'integrity'; readonly of: object; readonly level: Integrity }
  | { readonly fix: 'last-index'; readonly of: RegExp; readonly at: number }
  | { readonly fix: 'put'; readonly into: object; readonly at: string | number; readonly special: Special }
  | { readonly fix: 'fill'; readonly what: Map<unknown, unknown> | Set<unknown>; readonly with: unknown[] };

export type Integrity = 'frozen' | 'sealed' | 'closed';

export type Special =
  | { readonly is: 'reference'; readonly name: unknown }
  | { readonly is: 'url'; readonly href: string }
  | { readonly is: 'search-params'; readonly text: string }
  | { readonly is: 'dom-exception'; readonly message: string; readonly name: string; readonly stack: unknown }
  | {
      readonly is: 'error';
      readonly id: number;
      readonly name: string;
      readonly properties: unknown[];
      readonly level: Integrity | undefined;
    }
  | { readonly is: 'made'; readonly id: number; readonly making: Making }
  | { readonly is: 'again'; readonly id: number };

export interface Encoded {
  readonly holder: unknown[];
  readonly fixes: readonly Fix[] | null;
}

/** Stands before the name of a class of the program's, or of a package's. */
export const CLASS = 'class:';

export class CannotTravel extends Error {
  override readonly name = 'CannotTravel';
  constructor(
    readonly path: string,
    readonly why: string,
    /** Who has it may call it: that it is missing must not show when something has been done already. */
    readonly isCalled = false,
  ) {
    super(`${path} cannot travel: ${why}`);
  }
}
